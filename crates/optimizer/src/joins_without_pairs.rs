//! Joins whose condition is false or NULL: `left join t on false`. No pair of rows matches, so that the side
//! whose rows are only partners is not read. An empty list of values takes its place.

use crate::grouping_sets::reads_turns;
use crate::limits::no_rows_of;
use frazil_plan::operators::Join;
use frazil_plan::{Expr, JoinKind, Operator, Plan};
use frazil_types::Value;

/// Empties the sides of joins that have no pairs.
pub fn plan(plan: &mut Plan) {
    let (trees, _) = plan.trees_mut();
    trees.for_each(operator);
}

fn operator(op: &mut Operator) {
    op.inputs_mut().into_iter().for_each(operator);
    let Some(join) = op.join_mut() else {
        return;
    };
    if !join.residual.as_ref().is_some_and(never_holds) {
        return;
    }
    let Some(partners) = partners(join) else {
        return;
    };
    // The rows of a recursion's last turn must be read by its term.
    if reads_turns(partners) {
        return;
    }
    *partners = no_rows_of(partners);
}

fn never_holds(e: &Expr) -> bool {
    matches!(e.as_constant(), Some(Value::Bool(false) | Value::Null))
}

/// The side whose rows come into the result only as partners of the other side's rows. A full join has no such side.
fn partners(join: &mut Join) -> Option<&mut Operator> {
    match join.kind {
        JoinKind::Inner
        | JoinKind::ProbeOuter
        | JoinKind::ProbeSemi
        | JoinKind::ProbeAnti
        | JoinKind::ProbeMark(_) => Some(&mut join.build),
        JoinKind::BuildOuter | JoinKind::BuildSemi | JoinKind::BuildAnti => Some(&mut join.probe),
        JoinKind::FullOuter => None,
    }
}
