//! The graph of a region of joins: relations, the predicates between them, and joins that have a
//! direction.
//!
//! A region is a tree of joins with the filters and maps between them. Inner joins may be done in any
//! order. A semi, anti, mark or left outer join is a **directed** relation: its right side is one relation
//! that is joined as a whole to any set of relations that holds all its condition reads. Such joins commute
//! with inner joins and filters of their left side, so the search for the best order places them too.
//! Maps are lifted to the top; predicates that read their columns read the expressions instead. A map whose columns would
//! become long expressions that way is a leaf.
//! Predicates that can fail stay on top too, among the maps as they were: a map that can fail must not see
//! the rows they drop. Equalities are an exception where nothing else connects two parts of the region.

use crate::can_fail::may_fail;
use crate::cardinality::{Estimator, unmatched};
use crate::join_weights::{Equality, JoinWeights};
use crate::pushdown::{Definitions, implied, same_native};
use crate::selectivity;
use frazil_plan::operators::{Filter, Join, Map, Scan};
use frazil_plan::{ColumnId, Columns, Expr, ExprKind, JoinKind, Operator};
use frazil_types::CompareOp;
use std::collections::HashSet;

/// Relations a region holds at most; what is beyond is a region of its own.
const MAX_RELATIONS: usize = 60;

/// A set of relations, one bit each.
pub type Set = u64;

/// A leaf of a region.
pub struct Relation {
    /// What makes its rows.
    pub op: Operator,
    /// Columns it makes.
    pub columns: Vec<ColumnId>,
    /// How it is joined, if not by inner joins.
    pub directed: Option<Directed>,
    /// Estimated rows.
    pub rows: f64,
    /// Estimated rows without its filters.
    pub base_rows: f64,
}

/// A join with a direction; the relation is its right side.
pub struct Directed {
    /// ProbeOuter, ProbeSemi, ProbeAnti or ProbeMark, the relation being the build side.
    pub kind: JoinKind,
    /// Keys: (of the relation, of the left side).
    pub keys: Vec<(Expr, Expr)>,
    /// A further condition of a match.
    pub residual: Option<Expr>,
    /// NOT IN.
    pub null_aware: bool,
    /// Relations its condition reads.
    pub requires: Set,
    /// Rows of the join for each row of the left side.
    pub factor: f64,
}

/// A condition between relations of a region.
pub struct Predicate {
    /// The condition; for a key an equality.
    pub expr: Expr,
    /// Relations it reads.
    pub reads: Set,
    /// Relations that each side of an equality reads, if they have none in common.
    pub sides: Option<(Set, Set)>,
    /// Part of rows it keeps.
    pub selectivity: f64,
    /// True if [`Graph::weights`] tells what it keeps.
    pub is_weighed: bool,
}

/// A region of joins.
#[derive(Default)]
pub struct Graph {
    /// The leaves, in an order in which they can be joined.
    pub relations: Vec<Relation>,
    /// Conditions between them.
    pub predicates: Vec<Predicate>,
    /// The weights of equalities between scans.
    pub weights: JoinWeights,
    /// What is done on top of the joins, the first first.
    pub steps: Vec<Step>,
    /// Columns that maps of the region compute, and that conditions are not to have in their own terms.
    long: HashSet<ColumnId>,
}

/// A part of a region that is no join.
pub enum Step {
    /// Columns computed.
    Map(Vec<(ColumnId, Expr)>),
    /// A condition.
    Filter(Expr),
}

/// Whether an operator belongs to a region rather than being a leaf.
pub fn is_region(op: &Operator) -> bool {
    if let Operator::Filter(Filter { input, .. }) | Operator::Map(Map { input, .. }) = op {
        return is_region(input);
    }
    let Operator::Join(Join { kind, .. }) = op else {
        return false;
    };
    matches!(
        kind,
        JoinKind::Inner
            | JoinKind::ProbeOuter
            | JoinKind::ProbeSemi
            | JoinKind::ProbeAnti
            | JoinKind::ProbeMark(_)
    )
}

impl Graph {
    /// Takes a region apart. Estimates come later, with [`Graph::estimate`].
    pub fn of(op: Operator, columns: &Columns) -> Graph {
        let mut graph = Graph {
            long: long_columns(&op),
            ..Graph::default()
        };
        graph.collect(op, 0);
        graph.finish(columns);
        graph
    }

    /// Adds the leaves of a tree; `owed` more will follow from around it.
    fn collect(&mut self, op: Operator, owed: usize) {
        if !is_region(&op) || self.relations.len() + owed + 1 >= MAX_RELATIONS {
            self.add(op, None);
            return;
        }
        if let Operator::Filter(Filter { input, predicate }) = op {
            self.collect(*input, owed);
            return self.condition(predicate);
        }
        if let Operator::Map(map) = op {
            if map.expressions.iter().any(|(id, _)| self.long.contains(id)) {
                return self.add(Operator::Map(map), None);
            }
            self.collect(*map.input, owed);
            return self.steps.push(Step::Map(map.expressions));
        }
        let Operator::Join(join) = op else {
            return self.add(op, None);
        };
        self.collect_join(join, owed);
    }

    fn collect_join(&mut self, join: Join, owed: usize) {
        let Join {
            kind,
            build,
            probe,
            keys,
            residual,
            null_aware,
            in_order: _,
            first: _,
        } = join;
        if kind == JoinKind::Inner {
            self.collect(*build, owed + 1);
            self.collect(*probe, owed);
            self.steps
                .extend(keys.into_iter().map(|(b, p)| Step::Filter(equality(b, p))));
            residual.into_iter().for_each(|e| self.condition(e));
            return;
        }
        let first = self.relations.len();
        self.collect(*probe, owed + 1);
        let left = mask_between(first, self.relations.len());
        let directed = Directed {
            kind,
            keys,
            residual,
            null_aware,
            requires: left,
            factor: 1.0,
        };
        self.add(*build, Some(directed));
    }

    fn condition(&mut self, condition: Expr) {
        self.steps
            .extend(condition.into_conjuncts().into_iter().map(Step::Filter));
    }

    fn add(&mut self, op: Operator, directed: Option<Directed>) {
        let mut columns = op.visible();
        if let Some(JoinKind::ProbeMark(mark)) = directed.as_ref().map(|d| d.kind) {
            columns.push(mark);
        }
        self.relations.push(Relation {
            op,
            columns,
            directed,
            rows: 0.0,
            base_rows: 0.0,
        });
    }

    /// Which relation makes each column: index by column id, `u8::MAX` for none.
    fn owners(&self, columns: &Columns) -> Vec<u8> {
        let mut owners = vec![u8::MAX; columns.len()];
        for (i, relation) in self.relations.iter().enumerate() {
            for id in &relation.columns {
                owners[id.0 as usize] = i as u8;
            }
        }
        owners
    }

    /// Takes the conditions that may be applied anywhere out of the steps, as predicates, and finds what
    /// directed joins require.
    fn finish(&mut self, columns: &Columns) {
        let owners = self.owners(columns);
        let reads = |e: &Expr| {
            e.columns_read()
                .into_iter()
                .fold(0, |set: Set, id| match owners[id.0 as usize] {
                    u8::MAX => set,
                    owner => set | 1 << owner,
                })
        };
        let steps = std::mem::take(&mut self.steps);
        let maps = steps.iter().filter_map(|step| match step {
            Step::Map(expressions) => Some(expressions),
            Step::Filter(_) => None,
        });
        let definitions = Definitions::new(maps.flatten());
        let predicate_of = |step: &Step| {
            let Step::Filter(condition) = step else {
                return None;
            };
            let expr = definitions.substituted(condition);
            let set = reads(&expr);
            if set == 0 {
                return None;
            }
            let mut sides = None;
            if let ExprKind::Compare(CompareOp::Eq, l, r) = &expr.kind {
                let (a, b) = (reads(l), reads(r));
                sides = (a != 0 && b != 0 && a & b == 0).then_some((a, b));
            }
            Some(Predicate {
                expr,
                reads: set,
                sides,
                selectivity: 1.0,
                is_weighed: false,
            })
        };
        let mut predicates: Vec<Option<Predicate>> = steps.iter().map(predicate_of).collect();
        for (i, relation) in self.relations.iter_mut().enumerate() {
            let Some(d) = &mut relation.directed else { continue };
            let mut required = 0;
            let mut fails = false;
            for e in d.keys.iter_mut().map(|k| &mut k.1).chain(&mut d.residual) {
                *e = definitions.substituted(e);
                required |= reads(e);
                fails |= may_fail(e, columns);
            }
            required &= !(1 << i);
            // A condition that can fail must see the rows it was written for, no others.
            if !fails {
                let first = 1 << d.requires.trailing_zeros();
                d.requires = if required == 0 { first } else { required };
            }
        }
        self.join_parts(&mut predicates, columns);
        for (step, predicate) in steps.into_iter().zip(predicates) {
            match predicate {
                Some(predicate) => self.predicates.push(predicate),
                None => self.steps.push(step),
            }
        }
    }

    /// Keeps, among predicates that may fail, the equalities between parts of the region that nothing else connects. As
    /// keys they are computed of each part's own rows, when its other joins are done: of the rows that a filter above
    /// would see. Takes the others away.
    fn join_parts(&self, predicates: &mut [Option<Predicate>], columns: &Columns) {
        let mut parts = Parts::of(self);
        let mut late = Vec::new();
        for predicate in predicates {
            match predicate {
                Some(p) if may_fail(&p.expr, columns) => late.push(predicate),
                Some(Predicate {
                    sides: Some((l, r)), ..
                }) => parts.merge(*l | *r),
                _ => {}
            }
        }
        loop {
            parts.merge_directed(self);
            let between = late.iter().find_map(|p| parts.between(p.as_ref()?));
            let Some((a, b)) = between else { break };
            late.retain_mut(|predicate| {
                let Some(p) = predicate else { return false };
                let found = parts.between(p).filter(|found| [(a, b), (b, a)].contains(found));
                if let Some(found) = found {
                    p.reads = a | b;
                    p.sides = Some(found);
                }
                found.is_none()
            });
            parts.merge(a | b);
        }
        late.into_iter().for_each(|predicate| *predicate = None);
    }

    /// Estimates rows and selectivities.
    pub fn estimate(&mut self, estimator: &Estimator<'_>, columns: &Columns) {
        for relation in &mut self.relations {
            relation.rows = estimator.rows(&relation.op, columns).max(1.0);
            relation.base_rows = estimator
                .rows(unfiltered(&relation.op), columns)
                .max(relation.rows);
            if let Some(d) = &mut relation.directed {
                let matched = estimator.matching_part(&d.keys, relation.rows, columns)
                    * estimator.residual_part(&d.residual, columns).max(0.5);
                d.factor = match d.kind {
                    JoinKind::ProbeSemi => matched,
                    JoinKind::ProbeAnti => unmatched(matched, &d.residual),
                    JoinKind::ProbeOuter => {
                        let keys = d
                            .keys
                            .iter()
                            .map(|(b, p)| estimator.of_equal_keys(b, p, relation.base_rows, 1.0, columns));
                        (relation.rows * keys.product::<f64>()).max(1.0)
                    }
                    _ => 1.0,
                };
            }
        }
        let selectivities: Vec<f64> = (0..self.predicates.len())
            .map(|i| self.selectivity(i, estimator, columns))
            .collect();
        for (predicate, selectivity) in self.predicates.iter_mut().zip(selectivities) {
            predicate.selectivity = selectivity;
        }
        self.weigh(estimator);
    }

    /// Weighs the equalities of columns of scans.
    fn weigh(&mut self, estimator: &Estimator<'_>) {
        let equalities = self.predicates.iter().enumerate();
        let equalities = equalities.filter_map(|(i, predicate)| Some((i, self.equality(predicate)?)));
        let (places, equalities): (Vec<usize>, Vec<Equality>) = equalities.unzip();
        self.weights = JoinWeights::new(&equalities, estimator);
        for (i, place) in places.into_iter().enumerate() {
            self.predicates[place].is_weighed = self.weights.weighs(i);
        }
    }

    /// The equality of two columns, if each is made by a scan that inner joins join.
    fn equality(&self, predicate: &Predicate) -> Option<Equality> {
        let (left, right) = predicate.sides?;
        let ExprKind::Compare(_, l, r) = &predicate.expr.kind else {
            return None;
        };
        let is_scanned = |relations: Set, column: ColumnId| {
            let relation = &self.relations[relations.trailing_zeros() as usize];
            let scan = unfiltered(&relation.op).filtered_scan();
            let makes = |(scan, _): (&Scan, _)| scan.columns.iter().any(|made| made.0 == column);
            relations.count_ones() == 1 && relation.directed.is_none() && scan.is_some_and(makes)
        };
        let columns = [l.as_column()?, r.as_column()?];
        (is_scanned(left, columns[0]) && is_scanned(right, columns[1])).then_some(Equality {
            columns,
            relations: [left, right],
        })
    }

    fn selectivity(&self, i: usize, estimator: &Estimator<'_>, columns: &Columns) -> f64 {
        let predicate = &self.predicates[i];
        let (ExprKind::Compare(_, l, r), Some(sides)) = (&predicate.expr.kind, predicate.sides) else {
            return self.of_condition(predicate, estimator, columns);
        };
        let base = |set: Set| match set.count_ones() {
            1 => self.relations[set.trailing_zeros() as usize].base_rows,
            _ => 1e6,
        };
        // Equalities between the same two relations are one key; what those before this one keep is taken
        // out of what all up to this one keep together.
        let mut keys = Vec::new();
        for other in &self.predicates[..i] {
            let ExprKind::Compare(_, a, b) = &other.expr.kind else {
                continue;
            };
            if other.sides == Some(sides) {
                keys.push(((**a).clone(), (**b).clone()));
            } else if other.sides == Some((sides.1, sides.0)) {
                keys.push(((**b).clone(), (**a).clone()));
            }
        }
        let of =
            |keys: &[(Expr, Expr)]| estimator.of_composite_key(keys, base(sides.0), base(sides.1), columns);
        let before = of(&keys);
        keys.push(((**l).clone(), (**r).clone()));
        (of(&keys) / before).min(1.0)
    }

    fn of_condition(&self, predicate: &Predicate, estimator: &Estimator<'_>, columns: &Columns) -> f64 {
        let kept = selectivity::of_predicate(&predicate.expr, columns, estimator);
        // What it implies for a single relation has been counted there.
        let mut implied_part = 1.0;
        for (i, relation) in self.relations.iter().enumerate() {
            if predicate.reads & 1 << i != 0
                && predicate.reads != 1 << i
                && let Some(e) = implied(&predicate.expr, &relation.columns, columns)
            {
                implied_part *= selectivity::of_predicate(&e, columns, estimator);
            }
        }
        (kept / implied_part.max(1e-9)).min(1.0)
    }
}

/// Relations of a region by what equalities connect. A directed relation is in no part before all that it requires is
/// in one.
struct Parts(Vec<Set>);

impl Parts {
    fn of(graph: &Graph) -> Parts {
        let relations = graph.relations.iter().enumerate();
        let plain = relations.filter(|(_, relation)| relation.directed.is_none());
        Parts(plain.map(|(i, _)| 1 << i).collect())
    }

    /// Makes one part of those that have relations of a set.
    fn merge(&mut self, set: Set) {
        let joined = self
            .0
            .extract_if(.., |part| *part & set != 0)
            .fold(set, |a, b| a | b);
        self.0.push(joined);
    }

    /// The part that has all relations of a set.
    fn whole(&self, set: Set) -> Option<Set> {
        self.0.iter().copied().find(|part| set & !part == 0)
    }

    fn merge_directed(&mut self, graph: &Graph) {
        for (i, relation) in graph.relations.iter().enumerate() {
            let requires = relation.directed.as_ref().map(|d| d.requires);
            if let Some(part) = requires.and_then(|requires| self.whole(requires)) {
                self.merge(part | 1 << i);
            }
        }
    }

    /// The two parts that hold an equality's sides.
    fn between(&self, p: &Predicate) -> Option<(Set, Set)> {
        let (l, r) = p.sides?;
        let (l, r) = (self.whole(l)?, self.whole(r)?);
        (l != r).then_some((l, r))
    }
}

fn equality(a: Expr, b: Expr) -> Expr {
    let (a, b) = same_native(a, b);
    let nullable = a.nullable || b.nullable;
    Expr::boolean(
        ExprKind::Compare(CompareOp::Eq, Box::new(a), Box::new(b)),
        nullable,
    )
}

/// Columns of a region's maps that would be long expressions in terms of its leaves.
fn long_columns(op: &Operator) -> HashSet<ColumnId> {
    fn maps<'a>(op: &'a Operator, joins: usize, found: &mut Vec<&'a (ColumnId, Expr)>) {
        // Below so many joins another region begins.
        if joins > MAX_RELATIONS || !is_region(op) {
            return;
        }
        let joins = joins + usize::from(matches!(op, Operator::Join(_)));
        op.inputs()
            .into_iter()
            .for_each(|input| maps(input, joins, found));
        if let Operator::Map(Map { expressions, .. }) = op {
            found.extend(expressions);
        }
    }
    let mut found = Vec::new();
    maps(op, 0, &mut found);
    let definitions = Definitions::new(found.iter().copied());
    let long = found.iter().filter(|(_, e)| definitions.makes_long(e));
    long.map(|(id, _)| *id).collect()
}

/// Relations `from..to`.
fn mask_between(from: usize, to: usize) -> Set {
    (from..to).fold(0, |set, i| set | 1 << i)
}

/// A relation below its filters.
fn unfiltered(op: &Operator) -> &Operator {
    if let Operator::Filter(Filter { input, .. }) | Operator::Map(Map { input, .. }) = op {
        return unfiltered(input);
    }
    op
}
