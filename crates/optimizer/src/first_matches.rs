//! The first matches of a join in an order: LIMIT in a lateral subquery, and the least or greatest value of a
//! correlated one.
//!
//! ```text
//! First rows for each (a.k, a.ts) by b.ts desc, limit 1      Join on b.k = a.k if b.ts <= a.ts,
//!   Join on b.k = a.k if b.ts <= a.ts                    ──▶    ordered by b.ts desc, limit 1
//!     distinct a.k, a.ts                                          build: b
//!     b                                                           probe: distinct a.k, a.ts
//! ```
//!
//! On the left all pairs are made, and then most of them are dropped. On the right the rows of `b` are sorted once by
//! their keys and then as the subquery orders them. A row of the other side finds where its run begins by a binary
//! search ([`Band`]) and takes matches until it has enough.
//!
//! An aggregation by the outer rows that only asks for the greatest `b.ts` needs a single match of each, and stays
//! above the join; with the least one rows ascend.
//!
//! The rule applies if the outer rows of a join are distinct in the columns that make groups, and the first key of the
//! order is a column that the join's condition bounds.

use crate::can_fail::may_fail;
use crate::cardinality::Estimator;
use crate::inequality_joins::may_be_computed_early;
use crate::joins::has_joins;
use crate::pushdown::take;
use crate::volatile::calls_volatile;
use frazil_plan::operators::{Aggregate, Filter, Join, Map, TopPerGroup};
use frazil_plan::{
    Band, ColumnId, Columns, Expr, FirstMatches, JoinKind, Operator, Plan, SortKey, Statistics,
};

/// Cost of a pair that is made and kept among the first rows of a group, in units of a pair that a nested loop
/// compares.
const KEPT: f64 = 4.0;
/// Cost of sorting a build row, and that for each doubling of the rows; a search costs the latter, too.
const SORTED: f64 = 16.0;
const LEVEL: f64 = 3.0;

/// Finds the joins of a plan of which only the first matches are needed.
pub fn plan(plan: &mut Plan, statistics: &dyn Statistics) {
    if !has_joins(plan) {
        return;
    }
    let estimator = &Estimator::new(plan, statistics);
    let distinct: Vec<Option<Vec<ColumnId>>> =
        plan.shared.iter().map(|tree| distinct_in(tree, &[])).collect();
    let (trees, columns) = plan.trees_mut();
    let rule = Rule {
        columns,
        estimator,
        distinct,
    };
    trees.for_each(|tree| rule.operator(tree));
}

struct Rule<'a> {
    columns: &'a Columns,
    estimator: &'a Estimator<'a>,
    /// Columns in which the rows of shared subplan `i` are distinct, if some are known.
    distinct: Vec<Option<Vec<ColumnId>>>,
}

/// The matches that are wanted of each group.
struct Wanted {
    groups: Vec<ColumnId>,
    keys: Vec<SortKey>,
    limit: Option<u64>,
    offset: u64,
}

/// A join below maps and filters.
struct Below<'a> {
    /// The maps, the topmost one first.
    maps: Vec<&'a [(ColumnId, Expr)]>,
    conditions: Vec<&'a Expr>,
    join: &'a Join,
}

impl Below<'_> {
    /// The conditions of the join, apart from its keys, and of the filters above it.
    fn conditions(&self) -> Vec<Expr> {
        let all = self.join.residual.iter().chain(self.conditions.iter().copied());
        all.flat_map(|e| e.clone().into_conjuncts()).collect()
    }
}

/// A side of a join.
#[derive(Clone, Copy)]
struct Side<'a> {
    op: &'a Operator,
    visible: &'a [ColumnId],
}

impl<'a> Side<'a> {
    fn new(op: &'a Operator, visible: &'a [ColumnId]) -> Side<'a> {
        Side { op, visible }
    }
}

/// The join as it is to be.
struct Choice {
    /// True if the build side becomes the probe side.
    exchanged: bool,
    /// All conditions that are not equal keys.
    residual: Option<Expr>,
    first: FirstMatches,
}

impl Rule<'_> {
    fn operator(&self, op: &mut Operator) {
        self.put_first(op);
        op.inputs_mut().into_iter().for_each(|input| self.operator(input));
    }

    fn put_first(&self, op: &mut Operator) {
        if let Operator::TopPerGroup(rows) = op {
            let choice = wanted_rows(rows).and_then(|wanted| self.choose(&rows.input, wanted));
            if let Some(choice) = choice {
                *op = changed(take(&mut rows.input), choice);
            }
        } else if let Operator::Aggregate(of) = op {
            let choice = wanted_extreme(of).and_then(|wanted| self.choose(&of.input, wanted));
            if let Some(choice) = choice {
                *of.input = changed(take(&mut of.input), choice);
            }
        }
    }

    /// The join below `input` as it is to be, if that costs less than all pairs.
    fn choose(&self, input: &Operator, mut wanted: Wanted) -> Option<Choice> {
        let below = below(input)?;
        let join = below.join;
        if join.kind != JoinKind::Inner || join.null_aware || join.first.is_some() {
            return None;
        }
        let resolved = |id: ColumnId| resolved(id, &below.maps);
        wanted.groups.iter_mut().for_each(|id| *id = resolved(*id));
        wanted
            .keys
            .iter_mut()
            .for_each(|key| key.column = resolved(key.column));
        let conditions = below.conditions();
        let visible = [join.build.visible(), join.probe.visible()];
        let is_of_join = |id: &ColumnId| visible.iter().any(|side| side.contains(id));
        if !conditions.iter().all(|e| e.columns_read().iter().all(is_of_join)) {
            return None;
        }
        let mut keys = join.keys.iter().flat_map(|(b, p)| [b, p]);
        if !keys.all(|e| self.is_steady(e)) || conditions.iter().any(calls_volatile) {
            return None;
        }
        let [build, probe] = &visible;
        let as_written = (Side::new(&join.build, build), Side::new(&join.probe, probe));
        let exchanged = (as_written.1, as_written.0);
        let first = |sides| self.first_matches(input, sides, &wanted, &conditions);
        let (exchanged, first) = match first(as_written) {
            Some(first) => (false, first),
            None => (true, first(exchanged)?),
        };
        Some(Choice {
            exchanged,
            residual: Expr::conjunction(conditions),
            first,
        })
    }

    /// The matches that are wanted as the first ones of each row of `outer`, in an order of the rows of `inner`. `None`
    /// if these sides do not allow it, or if making `pairs` costs less.
    fn first_matches(
        &self,
        pairs: &Operator,
        (inner, outer): (Side, Side),
        wanted: &Wanted,
        conditions: &[Expr],
    ) -> Option<FirstMatches> {
        let distinct = self.distinct(outer.op)?;
        let covers = distinct.iter().all(|id| wanted.groups.contains(id));
        if !covers || !wanted.groups.iter().all(|id| outer.visible.contains(id)) {
            return None;
        }
        let (key, then) = match wanted.keys.split_first() {
            Some((key, then)) => (Some(key), then),
            None => (None, &[][..]),
        };
        let band = match key {
            Some(key) => Band::on(key.column, conditions, inner.visible, outer.visible)?,
            None => Band::of(conditions, inner.visible, outer.visible)?,
        };
        // A key that is equal for all matches of a row does not order them.
        let then = then.iter().filter(|key| !outer.visible.contains(&key.column));
        let then: Vec<SortKey> = then.cloned().collect();
        let is_of_inner = |key: &SortKey| inner.visible.contains(&key.column);
        if !then.iter().all(is_of_inner) || !may_be_computed_early(&band, self.columns) {
            return None;
        }
        self.pays(pairs, inner.op, outer.op).then(|| FirstMatches {
            by: key.map(|key| key.column),
            descending: key.is_some_and(|key| key.descending),
            then,
            limit: wanted.limit,
            offset: wanted.offset,
        })
    }

    /// True if computing an expression for more rows, or fewer, makes no difference.
    fn is_steady(&self, e: &Expr) -> bool {
        !calls_volatile(e) && !may_fail(e, self.columns)
    }

    /// True if sorting the inner rows and searching them costs less than making all pairs.
    fn pays(&self, pairs: &Operator, inner: &Operator, outer: &Operator) -> bool {
        let rows = |op: &Operator| self.estimator.rows(op, self.columns).max(1.0);
        let (inner, outer) = (rows(inner), rows(outer));
        let levels = LEVEL * inner.max(2.0).log2();
        inner * (SORTED + levels) + outer * levels < KEPT * rows(pairs)
    }

    /// Columns in which the rows of a tree are distinct.
    fn distinct(&self, op: &Operator) -> Option<Vec<ColumnId>> {
        distinct_in(op, &self.distinct)
    }
}

/// Columns in which the rows of a tree are distinct, if some are known. `shared`: those of shared subplans.
fn distinct_in(op: &Operator, shared: &[Option<Vec<ColumnId>>]) -> Option<Vec<ColumnId>> {
    if let Operator::Aggregate(Aggregate { groups, .. }) = op {
        return Some(groups.iter().map(|(id, _)| *id).collect());
    }
    if let Operator::Filter(Filter { input, .. }) = op {
        return distinct_in(input, shared);
    }
    if let Operator::Map(Map { input, expressions }) = op {
        let distinct = distinct_in(input, shared)?;
        // Whoever reads a column by its new name finds that one.
        let renamed = |id: ColumnId| {
            let alias = expressions.iter().find(|(_, e)| e.as_column() == Some(id));
            alias.map_or(id, |(alias, _)| *alias)
        };
        return Some(distinct.into_iter().map(renamed).collect());
    }
    let Operator::Shared(read) = op else {
        return None;
    };
    let distinct = shared.get(read.id.0).cloned().flatten()?;
    let made = |id: ColumnId| Some(read.columns.iter().find(|(_, stored)| *stored == id)?.0);
    distinct.into_iter().map(made).collect()
}

/// A column as the operators below some maps know it.
fn resolved(mut id: ColumnId, maps: &[&[(ColumnId, Expr)]]) -> ColumnId {
    for (made, e) in maps.iter().flat_map(|map| map.iter().rev()) {
        if let Some(from) = e.as_column().filter(|_| *made == id) {
            id = from;
        }
    }
    id
}

fn below(mut op: &Operator) -> Option<Below<'_>> {
    let (mut maps, mut conditions) = (Vec::new(), Vec::new());
    loop {
        if let Operator::Map(Map { input, expressions }) = op {
            if expressions.iter().any(|(_, e)| calls_volatile(e)) {
                return None;
            }
            maps.push(&expressions[..]);
            op = input;
        } else if let Operator::Filter(Filter { input, predicate }) = op {
            conditions.push(predicate);
            op = input;
        } else {
            let Operator::Join(join) = op else {
                return None;
            };
            return Some(Below {
                maps,
                conditions,
                join,
            });
        }
    }
}

fn wanted_rows(rows: &TopPerGroup) -> Option<Wanted> {
    let limit = match &rows.limit {
        Some(limit) => Some(limit.constant().filter(|limit| *limit > 0)?),
        None => None,
    };
    Some(Wanted {
        groups: rows.groups.clone(),
        keys: rows.keys.clone(),
        limit,
        offset: rows.offset.constant()?,
    })
}

/// The match that gives the least or the greatest value of a column, if the aggregates are that value.
fn wanted_extreme(of: &Aggregate) -> Option<Wanted> {
    let groups = of.groups.iter().map(|(_, e)| e.as_column());
    let mut calls = of.aggregates.iter().map(|(_, call)| call);
    let call = calls.next()?;
    if of.groups.is_empty() || calls.any(|other| other != call) || call.filter.is_some() {
        return None;
    }
    let descending = call.function.is_greatest()?;
    let key = SortKey {
        column: call.argument.as_ref()?.as_column()?,
        descending,
        nulls_first: false,
    };
    Some(Wanted {
        groups: groups.collect::<Option<_>>()?,
        keys: vec![key],
        limit: Some(1),
        offset: 0,
    })
}

/// Maps over the chosen join: the filters between them are conditions of the join now.
fn changed(op: Operator, choice: Choice) -> Operator {
    if let Operator::Map(Map { input, expressions }) = op {
        return Operator::Map(Map {
            input: Box::new(changed(*input, choice)),
            expressions,
        });
    }
    if let Operator::Filter(Filter { input, .. }) = op {
        return changed(*input, choice);
    }
    let Operator::Join(join) = op else {
        return op;
    };
    let (build, probe, keys) = match choice.exchanged {
        false => (join.build, join.probe, join.keys),
        true => {
            let keys = join.keys.into_iter().map(|(b, p)| (p, b));
            (join.probe, join.build, keys.collect())
        }
    };
    Operator::Join(Join {
        kind: JoinKind::Inner,
        build,
        probe,
        keys,
        residual: choice.residual,
        null_aware: false,
        in_order: true,
        first: Some(choice.first),
    })
}
