//! Which expressions can raise an error, value bounds taken into account: one that provably fits its
//! type may be evaluated anywhere.

use frazil_plan::{ArithmeticOp, Bounds, Columns, Expr, ExprKind, ScalarFunction, bounds};
use frazil_types::{LogicalType, Value, decimal};

/// Values up to this are multiplied without leaving 128 bits.
const SAFE: i128 = 1_000_000_000_000_000_000;
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
        ExprKind::Arithmetic(op, l, r) => match op {
            ArithmeticOp::Add | ArithmeticOp::Sub | ArithmeticOp::Mul => {
                !(is_safe(l, columns) && is_safe(r, columns) && fits(e, e.ty, columns))
            }
            ArithmeticOp::Div | ArithmeticOp::Rem => {
                let positive = matches!(r.kind, ExprKind::Constant(Value::Int(v)) if v > 0);
                !(positive && e.ty.is_integer())
            }
        },
        ExprKind::Negate(v) => !(is_safe(v, columns) && fits(e, e.ty, columns)),
        ExprKind::Cast(v) => cast_may_fail(v, e.ty, columns),
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
    bounds::of_expression(e, columns).is_some_and(|b| range.min <= b.min && b.max <= range.max)
}

fn is_safe(e: &Expr, columns: &Columns) -> bool {
    let safe = Bounds {
        min: -SAFE,
        max: SAFE,
    };
    within(e, safe, columns)
}

fn fits(e: &Expr, ty: LogicalType, columns: &Columns) -> bool {
    bounds::of_type(ty).is_some_and(|t| within(e, t, columns))
}

fn cast_may_fail(v: &Expr, to: LogicalType, columns: &Columns) -> bool {
    if to.is_string() && to != LogicalType::Char(1) {
        return false;
    }
    if to == LogicalType::Double {
        return !v.ty.is_numeric();
    }
    if v.ty == LogicalType::Date && to == LogicalType::Timestamp {
        return !within(v, SAFE_DAYS, columns);
    }
    let rescaled = || {
        let (from, scale) = (v.ty.scale()?, to.scale()?);
        let b = bounds::of_expression(v, columns)?;
        let target = bounds::of_type(to)?;
        let min = decimal::rescale(b.min, from, scale)?;
        let max = decimal::rescale(b.max, from, scale)?;
        Some(target.min <= min && max <= target.max)
    };
    v.ty != to && !rescaled().unwrap_or(false)
}
