//! count(*) of all rows of a table whose number of rows is known is that number: nothing is read for it, and where the statement asks for
//! nothing else, nothing is compiled.

use frazil_plan::{Operator, Plan, Statistics};

/// Replaces such aggregations by rows of constants.
pub fn plan(plan: &mut Plan, statistics: &dyn Statistics) {
    plan.trees_mut().0.for_each(|tree| operator(tree, statistics));
}

fn operator(op: &mut Operator, statistics: &dyn Statistics) {
    if let Some(counts) = op.known_counts(|table| statistics.exact_row_count(table)) {
        *op = counts;
    }
    op.inputs_mut()
        .into_iter()
        .for_each(|input| operator(input, statistics));
}
