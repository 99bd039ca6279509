//! LIMIT over ORDER BY becomes a bounded sort, which keeps only the rows it will give; LIMIT 0 becomes no rows, and what is
//! below it goes: programs ask so for the columns of a query.

use crate::pushdown::take;
use crate::volatile::calls_volatile;
use frazil_plan::operators::{Limit, Map, Sort, Values};
use frazil_plan::{Operator, Plan, RowCount};

/// Merges the limits of a plan into the sorts below them, and tells recursions when nobody asks for more rows.
pub fn plan(plan: &mut Plan) {
    plan.trees_mut().0.for_each(operator);
    plan.trees_mut().0.for_each(|tree| tell_recursions(tree, None));
}

/// Tells the recursions of a tree of which `most` rows are asked for how many are enough. One that several read stands in a shared
/// subplan, of which all rows are asked for.
fn tell_recursions(op: &mut Operator, most: Option<u64>) {
    let mut below = most.filter(|_| matches!(op, Operator::Map(_)));
    if let Operator::Limit(Limit { limit, offset, .. }) = op {
        let rows = limit.as_ref().and_then(RowCount::constant);
        below = rows
            .zip(offset.constant())
            .map(|(n, skipped)| n.saturating_add(skipped));
    } else if let Operator::Recursion(recursion) = op {
        recursion.enough = most;
    }
    let inputs = op.inputs_mut().into_iter();
    inputs.for_each(|input| tell_recursions(input, below));
}

/// No rows where an operator is asked for none.
pub fn unless_unasked(op: Operator) -> Operator {
    let (Operator::Limit(Limit { limit, .. }) | Operator::Sort(Sort { limit, .. })) = &op else {
        return op;
    };
    if *limit != Some(RowCount::Constant(0)) {
        return op;
    }
    no_rows_of(&op)
}

/// An empty list of values with the columns of an operator.
pub fn no_rows_of(op: &Operator) -> Operator {
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

/// Gives a limit to the sort below maps, if there is one without a limit of its own. Volatile functions are also
/// computed for the rows that OFFSET skips: the sort below them keeps both kinds of rows. Returns true if the limit is
/// not needed any more.
fn push(op: &mut Operator, rows: &Option<RowCount>, skipped: &RowCount) -> bool {
    if let Operator::Map(Map { input, expressions }) = op {
        if skipped.is_zero() || !expressions.iter().any(|(_, e)| calls_volatile(e)) {
            return push(input, rows, skipped);
        }
        let rows = rows.as_ref().and_then(RowCount::constant);
        if let (Some(rows), Some(skipped)) = (rows, skipped.constant()) {
            let all = Some(RowCount::Constant(rows.saturating_add(skipped)));
            push(input, &all, &RowCount::Constant(0));
        }
        return false;
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
