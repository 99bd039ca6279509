//! Which expressions can raise an error, value bounds taken into account: one that provably fits its
//! type may be evaluated anywhere.

use frazil_plan::{ArithmeticOp, Bounds, Columns, Expr, ExprKind, ScalarFunction, bounds};
use frazil_types::{LogicalType, Value};

/// Days from 1970 within which dates and intervals of up to a thousand years are added without leaving
/// the calendar.
const SAFE_DAYS: Bounds = Bounds {
    min: -700_000,
    max: 2_500_000,
};

/// Whether evaluating an expression can raise an error.
pub fn may_fail(e: &Expr, columns: &Columns) -> bool {
    node_may_fail(e, columns) || e.children().into_iter().any(|c| may_fail(c, columns))
}

fn node_may_fail(e: &Expr, columns: &Columns) -> bool {
    match &e.kind {
        ExprKind::Arithmetic(op, _, r) => match op {
            ArithmeticOp::Add | ArithmeticOp::Sub | ArithmeticOp::Mul => !is_proved(e, columns),
            ArithmeticOp::Div | ArithmeticOp::Rem => {
                let nonzero = bounds::of_expression(r, columns)
                    .range()
                    .is_some_and(|b| !b.contains(0));
                !(nonzero && e.ty.is_integer() && is_proved(e, columns))
            }
        },
        ExprKind::Negate(_) => !is_proved(e, columns),
        ExprKind::Cast(v) => cast_may_fail(e, v, columns),
        ExprKind::AddInterval(v, i) => {
            let small = i.months.abs() < 12_000 && i.days.abs() < 365_000 && i.micros == 0;
            let dated = v.ty == LogicalType::Date && e.ty == LogicalType::Date;
            !(small && dated && within(v, SAFE_DAYS, columns))
        }
        ExprKind::VectorFunction(..) => true,
        ExprKind::Function(f, list) => match f {
            ScalarFunction::Substring => match list.get(2).map(|l| &l.kind) {
                Some(ExprKind::Constant(Value::Int(n))) => *n < 0,
                Some(_) => true,
                None => false,
            },
            _ => e.can_fail(),
        },
        _ => false,
    }
}

fn within(e: &Expr, range: Bounds, columns: &Columns) -> bool {
    let known = bounds::of_expression(e, columns);
    known.range().is_some_and(|b| b.within(range))
}

/// Whether the result is proved to fit its type.
fn is_proved(e: &Expr, columns: &Columns) -> bool {
    bounds::of_expression(e, columns).proved().is_some()
}

fn cast_may_fail(e: &Expr, v: &Expr, columns: &Columns) -> bool {
    let to = e.ty;
    if to.is_string() && to != LogicalType::Char(1) {
        return false;
    }
    if to == LogicalType::Double {
        return !v.ty.is_numeric();
    }
    if v.ty == LogicalType::Date && to == LogicalType::Timestamp {
        return !within(v, SAFE_DAYS, columns);
    }
    v.ty != to && !is_proved(e, columns)
}
