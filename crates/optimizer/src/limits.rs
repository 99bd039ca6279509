//! LIMIT over ORDER BY becomes a bounded sort, which keeps only the rows it will give; LIMIT 0 becomes no rows, and what is
//! below it goes: programs ask so for the columns of a query.

use crate::pushdown::take;
use frazil_plan::operators::{Limit, Map, Sort, Values};
use frazil_plan::{Operator, Plan, RowCount};

/// Merges the limits of a plan into the sorts below them.
pub fn plan(plan: &mut Plan) {
    plan.trees_mut().0.for_each(operator);
}

/// No rows where an operator is asked for none.
pub fn unless_unasked(op: Operator) -> Operator {
    let (Operator::Limit(Limit { limit, .. }) | Operator::Sort(Sort { limit, .. })) = &op else {
        return op;
    };
    if *limit != Some(RowCount::Constant(0)) {
        return op;
    }
    Operator::Values(Values {
        columns: op.visible(),
        rows: vec![],
    })
}

fn operator(op: &mut Operator) {
    if let Operator::Limit(Limit { input, limit, offset }) = op
        && push(input, limit, offset)
    {
        *op = take(input);
    }
    op.inputs_mut().into_iter().for_each(operator);
}

/// Gives a limit to the sort below maps, if there is one without a limit of its own.
fn push(op: &mut Operator, rows: &Option<RowCount>, skipped: &RowCount) -> bool {
    if let Operator::Map(Map { input, .. }) = op {
        return push(input, rows, skipped);
    }
    let Operator::Sort(Sort {
        limit: limit @ None,
        offset: offset @ RowCount::Constant(0),
        ..
    }) = op
    else {
        return false;
    };
    *limit = rows.clone();
    *offset = skipped.clone();
    true
}
