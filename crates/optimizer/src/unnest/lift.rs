//! The simple correlations: conjuncts that read outer columns are lifted as they stand, through filters, maps and inner
//! joins freely, through groups where they say `inner = outer`, which makes `inner` a group. At the top they become
//! conditions of the join that takes the subquery's place.
//!
//! What is lifted no longer stands in front of what is computed above it. So a tree whose expressions may fail is not
//! lifted from, save conjuncts of the same filter, which are lifted along.
//!
//! LATERAL of functions that give rows needs no condition either: what stands on one row without columns stands on the outer
//! rows as well, and gives for each of them what it would give for that row.

use super::Unnesting;
use crate::can_fail::may_fail;
use frazil_plan::operators::{Aggregate, Expand, Filter, Join, Map, Sort, Values};
use frazil_plan::{
    AggregateCall, ColumnId, Columns, Expr, ExprKind, JoinKind, Operator, RowCount, RowsCall, RowsFunction,
    columns_made, free_columns,
};
use frazil_types::{CompareOp, Value};
use std::collections::BTreeSet;

/// What the rows of a tree are wanted for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Wanted {
    /// All of them, each as often as it comes.
    Rows,
    /// Whether there is one that satisfies the conditions.
    Existence,
}

/// A tree without outer references, and the conditions that had them.
pub struct Lifted {
    /// The tree.
    pub op: Operator,
    /// The conditions, on its columns and those of the queries around it.
    pub conjuncts: Vec<Expr>,
}

/// Lifts all outer references out of a tree; `None` where one is in a place that conjuncts cannot leave.
pub fn lift(op: &Operator, wanted: Wanted, columns: &mut Columns) -> Option<Lifted> {
    let mut lifting = Lifting {
        own: columns_made(op),
        wanted,
        columns,
    };
    let (op, conjuncts) = lifting.lift(op)?;
    Some(Lifted { op, conjuncts })
}

struct Lifting<'a> {
    own: BTreeSet<ColumnId>,
    wanted: Wanted,
    columns: &'a mut Columns,
}

type Parts = (Operator, Vec<Expr>);

impl Lifting<'_> {
    fn is_free(&self, e: &Expr) -> bool {
        e.columns_read().iter().any(|c| !self.own.contains(c))
    }

    fn lift(&mut self, op: &Operator) -> Option<Parts> {
        if free_columns(op).is_empty() {
            return Some((op.clone(), vec![]));
        }
        // An operator that is not named here is left to the general way, by a domain.
        if let Operator::Filter(filter) = op {
            self.filter(filter)
        } else if let Operator::Map(map) = op {
            self.map(map)
        } else if let Operator::Join(join) = op {
            self.join(join)
        } else if let Operator::Aggregate(aggregate) = op
            && !aggregate.groups.is_empty()
        {
            self.aggregate(aggregate)
        } else if let Operator::Sort(Sort {
            input,
            limit: None,
            offset: RowCount::Constant(0),
            ..
        }) = op
        {
            self.lift(input)
        } else {
            None
        }
    }

    fn filter(&mut self, Filter { input, predicate }: &Filter) -> Option<Parts> {
        let (input, mut lifted) = self.lift(input)?;
        let all = predicate.clone().into_conjuncts();
        let depends = !lifted.is_empty() || all.iter().any(|e| self.is_free(e));
        let goes = |e: &Expr| self.is_free(e) || depends && may_fail(e, self.columns);
        let (free, kept): (Vec<_>, Vec<_>) = all.into_iter().partition(goes);
        lifted.extend(free);
        Some((super::filtered(input, kept), lifted))
    }

    fn map(&mut self, Map { input, expressions }: &Map) -> Option<Parts> {
        let (input, lifted) = self.lift(input)?;
        let stays = |e: &Expr| !self.is_free(e) && !may_fail(e, self.columns);
        (expressions.iter().all(|(_, e)| stays(e))).then(|| {
            let expressions = expressions.clone();
            let input = Box::new(input);
            (Operator::Map(Map { input, expressions }), lifted)
        })
    }

    fn join(&mut self, join: &Join) -> Option<Parts> {
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
        let inner = *kind == JoinKind::Inner;
        let (build, from_build) = self.lift(build)?;
        let (probe, mut lifted) = self.lift(probe)?;
        let keeps_probe = matches!(
            kind,
            JoinKind::ProbeOuter | JoinKind::ProbeSemi | JoinKind::ProbeAnti | JoinKind::ProbeMark(_)
        );
        if !(inner || keeps_probe && from_build.is_empty()) {
            return None;
        }
        lifted.extend(from_build);
        let (mut kept_keys, mut kept) = (Vec::new(), Vec::new());
        for (b, p) in keys.clone() {
            match self.is_free(&b) || self.is_free(&p) {
                true => kept.push(super::compare(CompareOp::Eq, b, p)),
                false => kept_keys.push((b, p)),
            }
        }
        kept.extend(residual.iter().cloned().flat_map(Expr::into_conjuncts));
        let (free, kept): (Vec<_>, Vec<_>) =
            (kept.into_iter()).partition(|e| self.is_free(e) || may_fail(e, self.columns));
        // A condition of a join that keeps rows is no filter above it.
        if !inner && !free.is_empty() {
            return None;
        }
        lifted.extend(free);
        let op = Operator::Join(Join {
            kind: *kind,
            build: Box::new(build),
            probe: Box::new(probe),
            keys: kept_keys,
            residual: Expr::conjunction(kept),
            null_aware: *null_aware,
            in_order: false,
            first: None,
        });
        Some((op, lifted))
    }

    fn aggregate(&mut self, aggregate: &Aggregate) -> Option<Parts> {
        let Aggregate {
            input,
            groups,
            aggregates,
        } = aggregate;
        let mut groups = groups.clone();
        let (input, lifted) = self.lift(input)?;
        let computed = groups.iter().map(|g| &g.1).chain(arguments(aggregates));
        if !computed.into_iter().all(|e| self.stays(e)) {
            return None;
        }
        let above = self.as_groups(lifted, &mut groups, aggregates.is_empty())?;
        let op = Operator::Aggregate(Aggregate {
            input: Box::new(input),
            groups,
            aggregates: aggregates.to_vec(),
        });
        Some((op, above))
    }

    fn stays(&self, e: &Expr) -> bool {
        !self.is_free(e) && !may_fail(e, self.columns)
    }

    /// Makes groups of what lifted conjuncts say of a tree's own columns; the conjuncts as they stand above the
    /// groups. Where only the existence of distinct rows counts, grouping by more columns keeps every match.
    fn as_groups(
        &mut self,
        lifted: Vec<Expr>,
        groups: &mut Vec<(ColumnId, Expr)>,
        distinct: bool,
    ) -> Option<Vec<Expr>> {
        let mut above = Vec::new();
        for mut conjunct in lifted {
            if let Some((inner, outer)) = self.equality(&conjunct) {
                let column = self.group(groups, inner);
                above.push(super::compare(CompareOp::Eq, column, outer));
            } else if distinct && self.wanted == Wanted::Existence {
                let own = conjunct.columns_read().into_iter();
                for id in own.filter(|c| self.own.contains(c)).collect::<Vec<_>>() {
                    let e = Expr::column(id, self.columns);
                    let column = self.group(groups, e);
                    conjunct.replace_columns(&|c| (c == id).then(|| column.clone()));
                }
                above.push(conjunct);
            } else {
                return None;
            }
        }
        Some(above)
    }

    /// The sides of `inner = outer`, neither of which may fail: as keys they are computed for all rows.
    fn equality(&self, conjunct: &Expr) -> Option<(Expr, Expr)> {
        let ExprKind::Compare(CompareOp::Eq, l, r) = &conjunct.kind else {
            return None;
        };
        if may_fail(conjunct, self.columns) {
            return None;
        }
        let is_own = |e: &Expr| !self.is_free(e) && !e.columns_read().is_empty();
        let is_outer = |e: &Expr| e.columns_read().iter().all(|c| !self.own.contains(c));
        if is_own(l) && is_outer(r) {
            Some(((**l).clone(), (**r).clone()))
        } else if is_own(r) && is_outer(l) {
            Some(((**r).clone(), (**l).clone()))
        } else {
            None
        }
    }

    fn group(&mut self, groups: &mut Vec<(ColumnId, Expr)>, e: Expr) -> Expr {
        if let Some((id, _)) = groups.iter().find(|g| g.1 == e) {
            return Expr::column(*id, self.columns);
        }
        let label = e.label(self.columns, "group");
        let id = self.columns.add(label, e.ty, e.nullable);
        self.own.insert(id);
        groups.push((id, e));
        Expr::column(id, self.columns)
    }
}

/// The expressions of aggregates.
fn arguments(aggregates: &[(ColumnId, AggregateCall)]) -> impl Iterator<Item = &Expr> {
    aggregates.iter().flat_map(|a| a.1.expressions())
}

/// Lifts the outer references out of an aggregation without groups by grouping it: the groups made, as conditions
/// `group = outer expression`. Rows without a group have the aggregates of no rows. Without outer references it stays
/// as it is.
pub fn lift_ungrouped(
    input: &Operator,
    aggregates: &[(ColumnId, AggregateCall)],
    columns: &mut Columns,
) -> Option<Lifted> {
    let mut own = columns_made(input);
    own.extend(aggregates.iter().map(|a| a.0));
    let mut lifting = Lifting {
        own,
        wanted: Wanted::Rows,
        columns,
    };
    let closed = free_columns(input).is_empty() && !arguments(aggregates).any(|e| lifting.is_free(e));
    let (input, lifted) = lifting.lift(input)?;
    if !closed && !arguments(aggregates).all(|e| lifting.stays(e)) {
        return None;
    }
    let mut groups = Vec::new();
    let conjuncts = lifting.as_groups(lifted, &mut groups, false)?;
    let op = Operator::Aggregate(Aggregate {
        input: Box::new(input),
        groups,
        aggregates: aggregates.to_vec(),
    });
    Some(Lifted { op, conjuncts })
}

/// Whether a tree is maps, filters and functions that give rows, at least one of these, on one row without columns.
pub fn is_expansion(op: &Operator) -> bool {
    fn stands(op: &Operator, found: bool) -> bool {
        if let Operator::Values(Values { columns, rows }) = op {
            return found && columns.is_empty() && rows.len() == 1;
        }
        if let Operator::Map(Map { input, .. }) | Operator::Filter(Filter { input, .. }) = op {
            return stands(input, found);
        }
        matches!(op, Operator::Expand(Expand { input, .. }) if stands(input, true))
    }
    stands(op, false)
}

/// An expansion on other rows.
fn on(op: Operator, rows: Operator) -> Operator {
    if let Operator::Map(Map { input, expressions }) = op {
        return super::mapped(on(*input, rows), expressions);
    }
    if let Operator::Filter(Filter { input, predicate }) = op {
        return super::filtered(on(*input, rows), vec![predicate]);
    }
    if let Operator::Expand(Expand { input, expansion }) = op {
        let input = Box::new(on(*input, rows));
        return Operator::Expand(Expand { input, expansion });
    }
    rows
}

/// A dependent join as an expansion of its outer rows.
pub fn expanded_inner(outer: Operator, inner: Operator, condition: Option<Expr>) -> Operator {
    super::filtered(on(inner, outer), condition.into_iter().collect())
}

impl Unnesting<'_> {
    /// A dependent join that keeps outer rows, as an expansion of them: beside functions of which none gives a row stands one
    /// that gives one always. Else the outer rows and the tree again: where a condition drops rows, or rows are counted.
    #[expect(
        clippy::result_large_err,
        reason = "what is given back is what was given, once a join"
    )]
    pub fn keeping_expansion(
        &mut self,
        outer: Operator,
        inner: Operator,
        condition: Option<&Expr>,
    ) -> Result<Operator, (Operator, Operator)> {
        let asks_nothing = condition.is_none_or(|e| matches!(e.kind, ExprKind::Constant(Value::Bool(true))));
        let is_plain = |expand: &Expand| {
            matches!(*expand.input, Operator::Values(_)) && expand.expansion.ordinality.is_none()
        };
        let Operator::Expand(mut expand) = inner else {
            return Err((outer, inner));
        };
        if !asks_nothing || !is_plain(&expand) {
            return Err((outer, Operator::Expand(expand)));
        }
        let always = Expr::truth(true);
        let ty = always.ty;
        let row = self.columns.add("row", ty, true);
        let call = RowsCall {
            function: RowsFunction::Once,
            arguments: vec![always],
            ty,
        };
        expand.expansion.calls.push((row, call));
        *expand.input = outer;
        Ok(Operator::Expand(expand))
    }
}
