//! What the readers of a shared subplan ask of its rows is asked in it, too: a row that none of them keeps is not made
//! (TPC-DS 4, 31, 39: groups of all years, of which the readers want two).
//!
//! Every reader keeps its filter, because others may keep rows that it drops. What can fail stays with its reader.

use crate::can_fail::may_fail;
use crate::pushdown::{push, take};
use crate::rename::{Names, renamed};
use crate::simplify::{self, any_of, is_bool};
use frazil_plan::operators::{Filter, Shared};
use frazil_plan::{Columns, Expr, ExprKind, Operator, Plan};

/// Parts of the expressions that one subplan gets, at most: each reader adds its own.
const MOST_PARTS: usize = 100;

/// What the readers of a subplan want of its rows.
#[derive(Clone)]
enum Wanted {
    /// Rows that satisfy one of the expressions over the subplan's columns, which have so many parts; those of no reader
    /// yet if there is none.
    Some(Vec<Expr>, usize),
    /// All rows.
    All,
}

/// Asks in the shared subplans of a plan what their readers ask.
pub fn plan(plan: &mut Plan) {
    let mut wanted = vec![Wanted::Some(vec![], 0); plan.shared.len()];
    for tree in plan.unshared_trees() {
        gather(tree, &mut vec![], &plan.columns, &mut wanted);
    }
    // A subplan is read by those behind it only: what they ask is known when its turn comes.
    for at in (0..plan.shared.len()).rev() {
        if let Some(predicate) = predicate(std::mem::replace(&mut wanted[at], Wanted::All), &plan.columns) {
            let tree = take(&mut plan.shared[at]);
            plan.shared[at] = push(tree, predicate.into_conjuncts(), &plan.columns);
        }
        gather(&plan.shared[at], &mut vec![], &plan.columns, &mut wanted);
    }
}

/// The readings in a tree, with the filters above each.
fn gather<'a>(op: &'a Operator, filters: &mut Vec<&'a Expr>, columns: &Columns, wanted: &mut [Wanted]) {
    if let Operator::Filter(Filter { input, predicate }) = op {
        filters.push(predicate);
        gather(input, filters, columns, wanted);
        filters.pop();
        return;
    }
    if let Operator::Shared(shared) = op {
        wanted[shared.id.0].add(asked(shared, filters, columns));
    }
    for input in op.inputs() {
        gather(input, &mut vec![], columns, wanted);
    }
}

/// What filters ask of one reading, over the subplan's columns. Values of scalar subqueries do not count: a subquery may
/// read the same subplan.
fn asked(shared: &Shared, filters: &[&Expr], columns: &Columns) -> Option<Expr> {
    let names: Names = shared.columns.iter().copied().collect();
    let is_own = |e: &Expr| {
        let read = e.columns_read();
        let mut has_subquery = false;
        e.walk(&mut |part| has_subquery |= matches!(part.kind, ExprKind::ScalarSubquery(_)));
        let reads_own = !read.is_empty() && read.iter().all(|id| names.contains_key(id));
        reads_own && !has_subquery && !may_fail(e, columns)
    };
    let parts = filters.iter().flat_map(|e| (*e).clone().into_conjuncts());
    Expr::conjunction(parts.filter(is_own).map(|e| renamed(e, &names)).collect())
}

impl Wanted {
    fn add(&mut self, asked: Option<Expr>) {
        if let (Wanted::Some(alternatives, parts), Some(e)) = (&mut *self, asked) {
            e.walk(&mut |_| *parts += 1);
            if *parts <= MOST_PARTS {
                return alternatives.push(e);
            }
        }
        *self = Wanted::All;
    }
}

/// What holds for every row that is wanted, if it says anything.
fn predicate(wanted: Wanted, columns: &Columns) -> Option<Expr> {
    let Wanted::Some(alternatives, _) = wanted else {
        return None;
    };
    if alternatives.is_empty() {
        return None;
    }
    let mut any = any_of(alternatives);
    simplify::expression(&mut any, columns);
    (!is_bool(&any, true)).then_some(any)
}
