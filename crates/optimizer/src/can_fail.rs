//! Which expressions can raise an error, value bounds taken into account: one that provably fits its
//! type may be evaluated anywhere.

use frazil_plan::bounds::{self, Part};
use frazil_plan::{ArithmeticOp, Bounds, Columns, Expr, ExprKind, ScalarFunction, ValueBounds};
use frazil_types::logical_type::WITHOUT_LENGTH;
use frazil_types::value_ops::casts::{self, CastFailure};
use frazil_types::{LogicalType, Value};

/// Days from 1970 within which dates and intervals of up to a thousand years are added without leaving
/// the calendar.
const SAFE_DAYS: Bounds = Bounds {
    min: -700_000,
    max: 2_500_000,
};

/// True if evaluating an expression can raise an error.
pub fn may_fail(e: &Expr, columns: &Columns) -> bool {
    let mut fails = false;
    // What is known of the part before: for a whole, of the last of its parts.
    let mut last = ValueBounds::Unknown;
    bounds::each_part(e, columns, &mut |part, known| {
        let Part::Expression(part) = part else { return };
        let known = match known {
            ValueBounds::Proved(_) if columns.proofs_forgotten() => ValueBounds::of_type(part.ty),
            known => known,
        };
        fails = fails || node_may_fail(part, known, last);
        last = known;
    });
    fails
}

/// Whether an expression can raise an error where its parts do not, by what is known of its value and of the value of
/// its last part.
fn node_may_fail(e: &Expr, known: ValueBounds, last: ValueBounds) -> bool {
    let is_proved = known.proved().is_some();
    match &e.kind {
        ExprKind::Arithmetic(op, ..) => match op {
            ArithmeticOp::Add | ArithmeticOp::Sub | ArithmeticOp::Mul => !is_proved,
            ArithmeticOp::Div | ArithmeticOp::Rem => {
                let nonzero = last.range().is_some_and(|divisor| !divisor.contains(0));
                !(nonzero && e.ty.is_integer() && is_proved)
            }
        },
        ExprKind::Negate(_) => !is_proved,
        ExprKind::Cast(v) => cast_may_fail(v, e.ty, is_proved),
        ExprKind::AddInterval(v, i) => {
            let small = i.months.abs() < 12_000 && i.days.abs() < 365_000 && i.micros == 0;
            let dated = v.ty.is_day() && e.ty.is_day();
            !(small && dated && within(last, SAFE_DAYS))
        }
        ExprKind::VectorFunction(f, _) => f.0.can_fail(),
        ExprKind::Function(f, list) => match f {
            ScalarFunction::Substring => match list.get(2).map(|l| &l.kind) {
                Some(ExprKind::Constant(Value::Int(n))) => *n < 0,
                Some(_) => true,
                None => false,
            },
            other => other.can_fail(),
        },
        ExprKind::Column(_)
        | ExprKind::Constant(_)
        | ExprKind::Parameter(_)
        | ExprKind::ScalarSubquery(_)
        | ExprKind::Subquery(_)
        | ExprKind::Let { .. }
        | ExprKind::Compare(..)
        | ExprKind::Distinct { .. }
        | ExprKind::And(_)
        | ExprKind::Or(_)
        | ExprKind::Not(_)
        | ExprKind::IsNull(_)
        | ExprKind::Case { .. }
        | ExprKind::Like { .. }
        | ExprKind::InList { .. }
        | ExprKind::Extract(..) => false,
    }
}

fn within(known: ValueBounds, range: Bounds) -> bool {
    known.range().is_some_and(|b| b.within(range))
}

/// Whether every value of an expression is a text that a string type has room for.
fn surely_fits(value: &Expr, to: LogicalType) -> bool {
    let room = match to.length() {
        Some(WITHOUT_LENGTH) => return true,
        Some(n) => n,
        None => return false,
    };
    if let Some(n) = value.ty.length().filter(|n| *n != WITHOUT_LENGTH) {
        return n <= room;
    }
    // An explicit cast cuts the text by substring.
    let ExprKind::Function(ScalarFunction::Substring, list) = &value.kind else {
        return false;
    };
    let cut = list.get(2).and_then(Expr::as_constant);
    matches!(cut, Some(Value::Int(n)) if *n <= i128::from(room))
}

/// Whether a cast can raise an error. `is_proved`: its result is known to fit its type.
fn cast_may_fail(value: &Expr, to: LogicalType, is_proved: bool) -> bool {
    match casts::between(value.ty, to).map(|cast| cast.failure) {
        Some(CastFailure::Never) => false,
        Some(CastFailure::Beyond) => !is_proved,
        Some(CastFailure::Long) => !surely_fits(value, to),
        Some(CastFailure::Any) | None => true,
    }
}
