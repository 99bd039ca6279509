//! Sums of one value with different constants added: `sum(width), sum(width + 1), sum(width + 2)`.
//!
//! `sum(x + c)` is `sum(x) + c * count(x)`, also where NULLs are left out, and NULL without values. Three or more such
//! sums of an aggregation become one sum and one count, and a map above computes each sum from these two for each
//! group. An addition that may fail stays where it is, because rows must raise its error.

use crate::can_fail::may_fail;
use frazil_plan::operators::Aggregate;
use frazil_plan::{AggregateCall, ArithmeticOp, COUNT, ColumnId, Columns, Expr, ExprKind, Plan};
use frazil_types::{LogicalType, Value};

/// Sums of a value from which on they are computed from a single sum and a count.
const FEWEST: usize = 3;
/// Bits of a constant at most, and of what is added to: the product with a number of rows then stays within 64 bits.
const SHIFT_BITS: u32 = 31;

/// Computes sums that differ by constants from one sum and a count.
pub fn plan(plan: &mut Plan) {
    let (trees, columns) = plan.trees_mut();
    let mut rewritten = |aggregate: &mut Aggregate| rewrite(&mut aggregate.aggregates, columns);
    trees.for_each(|tree| tree.rewrite_aggregations(&mut rewritten));
}

/// Replaces calls by fewer ones. Returns the columns that the replaced calls made, as expressions over the new ones.
fn rewrite(calls: &mut Vec<(ColumnId, AggregateCall)>, columns: &mut Columns) -> Vec<(ColumnId, Expr)> {
    let mut values: Vec<(Expr, usize)> = vec![];
    for (_, call) in calls.iter() {
        let Some((value, _)) = shifted(call, columns) else {
            continue;
        };
        match values.iter_mut().find(|(known, _)| *known == value) {
            Some((_, number)) => *number += 1,
            None => values.push((value, 1)),
        }
    }
    let mut above = vec![];
    for (value, _) in values.into_iter().filter(|(_, number)| *number >= FEWEST) {
        let sum = columns.add("sum", COUNT, true);
        let count = columns.add("count", COUNT, false);
        calls.retain(|(made, call)| {
            let Some((_, shift)) = shifted(call, columns).filter(|(other, _)| *other == value) else {
                return true;
            };
            above.push((*made, with_shift(sum, count, shift, columns)));
            false
        });
        calls.push((sum, AggregateCall::sum(value.clone(), COUNT)));
        calls.push((count, AggregateCall::count(Some(value))));
    }
    above
}

/// `sum + shift * count`.
fn with_shift(sum: ColumnId, count: ColumnId, shift: i128, columns: &Columns) -> Expr {
    let ty = COUNT;
    let sum = Expr::column(sum, columns);
    if shift == 0 {
        return sum;
    }
    let [shift, count] = [
        Expr::constant(Value::Int(shift), ty),
        Expr::column(count, columns),
    ]
    .map(Box::new);
    let product = Expr::new(ExprKind::Arithmetic(ArithmeticOp::Mul, shift, count), ty, false);
    let sides = [sum, product].map(Box::new);
    let [left, right] = sides;
    Expr::new(ExprKind::Arithmetic(ArithmeticOp::Add, left, right), ty, true)
}

/// The value that a call sums up, and the constant that it adds to it in each row: of a sum of integers of at most 32
/// bits, whose computation does not fail.
fn shifted(call: &AggregateCall, columns: &Columns) -> Option<(Expr, i128)> {
    let is_plain = call.is_plain_sum() && call.ty == COUNT;
    let argument = call.argument.as_ref().filter(|_| is_plain)?;
    if !is_short(argument.ty) {
        return None;
    }
    let (mut value, mut shift) = (argument, 0_i128);
    loop {
        if let ExprKind::Cast(inner) = &value.kind
            && is_short(inner.ty)
            && is_short(value.ty)
        {
            value = inner;
        } else if let ExprKind::Arithmetic(op, left, right) = &value.kind {
            let (next, by) = match (constant(left), constant(right), op) {
                (_, Some(by), ArithmeticOp::Add) => (left, by),
                (_, Some(by), ArithmeticOp::Sub) => (left, -by),
                (Some(by), _, ArithmeticOp::Add) => (right, by),
                _ => break,
            };
            (value, shift) = (next, shift + by);
        } else {
            break;
        }
    }
    let fits = shift.unsigned_abs() >> SHIFT_BITS == 0 && is_short(value.ty);
    (fits && !may_fail(argument, columns)).then(|| (value.clone(), shift))
}

/// True for integers of at most 32 bits.
fn is_short(ty: LogicalType) -> bool {
    ty.is_integer() && ty != COUNT
}

/// The integer that a constant is, in a type of at most 32 bits.
fn constant(e: &Expr) -> Option<i128> {
    if !is_short(e.ty) {
        return None;
    }
    if let ExprKind::Constant(Value::Int(value)) = &e.kind {
        return Some(*value);
    }
    let ExprKind::Cast(inner) = &e.kind else {
        return None;
    };
    constant(inner)
}
