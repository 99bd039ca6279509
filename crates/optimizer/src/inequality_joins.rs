//! Joins by inequalities.
//!
//! A join without equal keys compares every pair of rows. If its condition bounds an expression of one side by
//! expressions of the other one ([`Band`]), that side can be the build side with its rows sorted: each probe
//! row then meets a run of them. Both ways to choose the sides are weighed. A band with two ends has short
//! runs, but it may be the larger side that must be sorted.
//!
//! The build side that the join already has is sorted whenever it has a band, because a nested loop gains
//! little where few rows are expected, and costs the product of both sides where the estimate is wrong.
//!
//! A join with equal keys is a hash join unless many build rows share a key ([`LONG_CHAIN`]): then they are sorted by
//! their keys and, for equal keys, by the band, so that a probe row need not walk all rows of its key.

use crate::can_fail::may_fail;
use crate::cardinality::Estimator;
use crate::joins::has_joins;
use crate::pushdown::take;
use crate::volatile::calls_volatile;
use frazil_plan::operators::{Filter, Join};
use frazil_plan::{Band, ColumnId, Columns, Expr, ExprKind, JoinKind, Operator, Plan, Statistics};

/// Costs in units of a pair of rows that a nested loop compares. Sorting a row costs `SORTED` and `LEVEL` for
/// each doubling of the rows; so does searching with `SEARCHED`. Rough figures: they decide only between ways
/// that differ by far.
const SORTED: f64 = 16.0;
const SEARCHED: f64 = 4.0;
const LEVEL: f64 = 3.0;
/// Build rows of a key from which on they may be sorted. Hash joins of shorter chains have prefetching and early
/// probes.
const LONG_CHAIN: f64 = 32.0;
/// Cost of a row in a hash table, of its build side and of its probe side alike.
const HASHED: f64 = 4.0;
/// Share of the build rows in a run, by its number of ends.
const OF_ONE_END: f64 = 0.5;
const OF_TWO_ENDS: f64 = 0.02;

/// Finds the joins of a plan whose build rows are to be sorted.
pub fn plan(plan: &mut Plan, statistics: &dyn Statistics) {
    if !has_joins(plan) {
        return;
    }
    let estimator = &Estimator::new(plan, statistics);
    let (trees, columns) = plan.trees_mut();
    let rule = Rule { columns, estimator };
    trees.for_each(|tree| rule.operator(tree));
}

struct Rule<'a> {
    columns: &'a Columns,
    estimator: &'a Estimator<'a>,
}

impl Rule<'_> {
    fn operator(&self, op: &mut Operator) {
        op.inputs_mut().into_iter().for_each(|input| self.operator(input));
        if let Some(join) = op.join_mut() {
            self.put_in_order(join);
            return;
        }
        let Some(Filter { input, predicate }) = op.filter_mut() else {
            return;
        };
        let Some(join) = input.join_mut() else {
            return;
        };
        match self.with_conditions(join, predicate) {
            Some(Some(rest)) => *predicate = rest,
            Some(None) => *op = take(input),
            None => {}
        }
    }

    /// Moves conditions of a filter above an inner join into the join, if its rows are sorted by them. Returns
    /// what is left of the filter, or `None` if nothing changed.
    fn with_conditions(&self, join: &mut Join, predicate: &Expr) -> Option<Option<Expr>> {
        if join.kind != JoinKind::Inner || join.in_order || !may_be_in_order(join) {
            return None;
        }
        let conditions = predicate.clone().into_conjuncts();
        let band = self.choose(join, &conditions)?.band;
        let (left, moved): (Vec<Expr>, Vec<Expr>) =
            conditions.into_iter().partition(|e| band.rest.contains(e));
        let own = join.residual.take();
        join.residual = Expr::conjunction(own.iter().cloned().chain(moved).collect());
        if self.put_in_order(join) {
            return Some(Expr::conjunction(left));
        }
        join.residual = own;
        None
    }

    /// Sorts the build rows of a join, and exchanges its sides if that costs less. True if it did.
    fn put_in_order(&self, join: &mut Join) -> bool {
        let conditions = join.residual.clone().map_or(vec![], Expr::into_conjuncts);
        if !may_be_in_order(join) {
            return false;
        }
        let Some(Choice { exchanged, .. }) = self.choose(join, &conditions) else {
            return false;
        };
        if let Some(kind) = exchanged {
            std::mem::swap(&mut join.build, &mut join.probe);
            join.kind = kind;
        }
        join.in_order = true;
        true
    }

    /// The way that costs less, of those that the conditions allow.
    fn choose(&self, join: &Join, conditions: &[Expr]) -> Option<Choice> {
        let (build, probe) = (join.build.visible(), join.probe.visible());
        let rows = |op: &Operator| self.estimator.rows(op, self.columns).max(1.0);
        let (build_rows, probe_rows) = (rows(&join.build), rows(&join.probe));
        let band_of = |build: &[ColumnId], probe: &[ColumnId]| {
            Band::of(conditions, build, probe).filter(|band| may_be_computed_early(band, self.columns))
        };
        let matches =
            build_rows * (self.estimator).of_composite_key(&join.keys, build_rows, probe_rows, self.columns);
        let own = band_of(&build, &probe).map(|band| Choice {
            cost: cost(&band, join.kind, build_rows, probe_rows, matches),
            band,
            exchanged: None,
        });
        if !join.keys.is_empty() {
            let hashed = HASHED * (build_rows + probe_rows) + probe_rows * matches;
            return own.filter(|own| matches >= LONG_CHAIN && own.cost < hashed);
        }
        let other = exchanged(join.kind).and_then(|kind| {
            let band = band_of(&probe, &build)?;
            Some(Choice {
                cost: cost(&band, kind, probe_rows, build_rows, probe_rows),
                band,
                exchanged: Some(kind),
            })
        });
        match (own, other) {
            (Some(own), Some(other)) if other.cost < own.cost => Some(other),
            (Some(own), _) => Some(own),
            (None, other) => other.filter(|other| other.cost < build_rows * probe_rows),
        }
    }
}

/// True if nobody notices that the key of a band is computed for every build row, and its ends for every probe row,
/// also of rows without a partner. An end that fails is computed again for pairs (`codegen/operators/run_probe.rs`),
/// unless a call for whole vectors computes it.
pub(crate) fn may_be_computed_early(band: &Band, columns: &Columns) -> bool {
    let is_end = |e: &Expr| !calls_volatile(e) && (!may_fail(e, columns) || is_computed_for_rows(e));
    let key = &band.key;
    !calls_volatile(key) && !may_fail(key, columns) && band.ends.values().all(is_end)
}

fn is_computed_for_rows(e: &Expr) -> bool {
    let mut only = true;
    e.walk(&mut |part| only &= !matches!(part.kind, ExprKind::VectorFunction(..) | ExprKind::Subquery(_)));
    only
}

/// A way to run a join in order.
struct Choice {
    band: Band,
    /// The kind of the join once its sides are exchanged, if they are to be.
    exchanged: Option<JoinKind>,
    /// In pairs of rows.
    cost: f64,
}

/// Cost of sorting build rows, searching for each probe row and walking its run, in pairs of rows. `matches`: number of
/// build rows that have the keys of a probe row.
fn cost(band: &Band, kind: JoinKind, build: f64, probe: f64, matches: f64) -> f64 {
    let levels = LEVEL * build.max(2.0).log2();
    // The first row of a run answers whether there is a partner, unless further conditions are asked.
    let needs_one = matches!(
        kind,
        JoinKind::ProbeSemi | JoinKind::ProbeAnti | JoinKind::ProbeMark(_)
    );
    let share = match band.ends.count() {
        1 => OF_ONE_END,
        _ => OF_TWO_ENDS,
    };
    let walked = match needs_one && band.rest.is_empty() {
        true => 1.0,
        false => share * matches,
    };
    build * (SORTED + levels) + probe * (SEARCHED + levels + walked)
}

/// False for NOT IN, for joins of which the first matches are taken, and if a side has one row at most: a nested
/// loop is as good then.
fn may_be_in_order(join: &Join) -> bool {
    join.first.is_none() && !join.null_aware && !join.build.at_most_one_row() && !join.probe.at_most_one_row()
}

/// The kind of a join whose sides are exchanged.
fn exchanged(kind: JoinKind) -> Option<JoinKind> {
    Some(match kind {
        JoinKind::Inner => JoinKind::Inner,
        JoinKind::FullOuter => JoinKind::FullOuter,
        JoinKind::ProbeOuter => JoinKind::BuildOuter,
        JoinKind::BuildOuter => JoinKind::ProbeOuter,
        JoinKind::ProbeSemi => JoinKind::BuildSemi,
        JoinKind::BuildSemi => JoinKind::ProbeSemi,
        JoinKind::ProbeAnti => JoinKind::BuildAnti,
        JoinKind::BuildAnti => JoinKind::ProbeAnti,
        JoinKind::ProbeMark(_) => return None,
    })
}
