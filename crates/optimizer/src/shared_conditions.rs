//! Conditions that several aggregates ask of a row: the sum of `case when p_type like 'PROMO%' then price else 0 end`
//! and the most digits after the point among its values ask the same one.
//!
//! The condition becomes a column of a map below the aggregation. Only the first condition of a CASE is taken, because
//! every row is asked for it: it fails where it failed before, and for no other row.

use crate::pushdown::take;
use crate::volatile::calls_volatile;
use frazil_plan::operators::{Aggregate, Map};
use frazil_plan::{AggregateCall, ColumnId, Columns, Expr, ExprKind, Operator, Plan};

/// Computes conditions once for each row that two or more aggregates of an operator ask.
pub fn plan(plan: &mut Plan) {
    let (trees, columns) = plan.trees_mut();
    trees.for_each(|tree| operator(tree, columns));
}

fn operator(op: &mut Operator, columns: &mut Columns) {
    op.inputs_mut()
        .into_iter()
        .for_each(|input| operator(input, columns));
    let Operator::Aggregate(aggregate) = op else {
        return;
    };
    let mut made: Vec<(ColumnId, Expr)> = vec![];
    for condition in repeated(aggregate) {
        let column = columns.add("condition", condition.ty, condition.nullable);
        let read = Expr::column(column, columns);
        for (_, call) in &mut aggregate.aggregates {
            if let Some(own) = condition_of_mut(call).filter(|own| **own == condition) {
                *own = read.clone();
            }
        }
        made.push((column, condition));
    }
    *aggregate.input = Map::above(take(&mut aggregate.input), made);
}

/// The conditions that at least two aggregates ask.
fn repeated(aggregate: &Aggregate) -> Vec<Expr> {
    let conditions: Vec<&Expr> = aggregate
        .aggregates
        .iter()
        .filter_map(|(_, call)| condition_of(call))
        .collect();
    let mut repeated: Vec<Expr> = vec![];
    for (at, condition) in conditions.iter().enumerate() {
        if conditions[at + 1..].contains(condition) && !repeated.contains(condition) {
            repeated.push((*condition).clone());
        }
    }
    repeated
}

/// The condition that an aggregate asks of every row, if it costs more than to read a column.
fn condition_of(call: &AggregateCall) -> Option<&Expr> {
    if call.filter.is_some() {
        return None;
    }
    let ExprKind::Case { branches, .. } = &call.argument.as_ref()?.kind else {
        return None;
    };
    let (condition, _) = branches.first()?;
    let is_read = matches!(
        condition.kind,
        ExprKind::Column(_) | ExprKind::Constant(_) | ExprKind::Parameter(_)
    );
    (!is_read && !calls_volatile(condition)).then_some(condition)
}

/// As [`condition_of`], to be changed.
fn condition_of_mut(call: &mut AggregateCall) -> Option<&mut Expr> {
    condition_of(call)?;
    let ExprKind::Case { branches, .. } = &mut call.argument.as_mut()?.kind else {
        return None;
    };
    branches.first_mut().map(|(condition, _)| condition)
}
