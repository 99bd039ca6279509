//! count(*) of all rows of a table whose number of rows is known is that number: nothing is read for it, and where the statement asks for
//! nothing else, nothing is compiled.

use frazil_plan::operators::{Aggregate, Scan, Values};
use frazil_plan::{AggregateCall, AggregateFunction, Expr, Operator, Plan, Statistics};
use frazil_types::Value;

/// Replaces such aggregations by rows of constants.
pub fn plan(plan: &mut Plan, statistics: &dyn Statistics) {
    plan.trees_mut().0.for_each(|tree| operator(tree, statistics));
}

fn operator(op: &mut Operator, statistics: &dyn Statistics) {
    if let Some(counts) = counts(op, statistics) {
        *op = counts;
    }
    op.inputs_mut()
        .into_iter()
        .for_each(|input| operator(input, statistics));
}

fn counts(op: &Operator, statistics: &dyn Statistics) -> Option<Operator> {
    let Operator::Aggregate(Aggregate {
        input,
        groups,
        aggregates,
    }) = op
    else {
        return None;
    };
    let Operator::Scan(scan) = &**input else {
        return None;
    };
    if !groups.is_empty() || !reads_all(scan) || !aggregates.iter().all(|(_, call)| is_of_all_rows(call)) {
        return None;
    }
    let rows = statistics.exact_row_count(scan.table)?;
    let count = |call: &AggregateCall| Expr::constant(Value::Int(rows.into()), call.ty);
    Some(Operator::Values(Values {
        columns: aggregates.iter().map(|(id, _)| *id).collect(),
        rows: vec![aggregates.iter().map(|(_, call)| count(call)).collect()],
    }))
}

fn reads_all(scan: &Scan) -> bool {
    scan.restrictions.is_empty() && scan.disjunctions.is_empty()
}

fn is_of_all_rows(call: &AggregateCall) -> bool {
    call.function == AggregateFunction::CountRows && !call.distinct && call.filter.is_none()
}
