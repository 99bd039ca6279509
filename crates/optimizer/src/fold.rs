//! Constant folding in checked arithmetic. What would raise an error is left as it is, so that the error
//! comes at run time and only if the expression is reached.

use frazil_plan::{ArithmeticOp, DatePart, Expr, ExprKind, ScalarFunction, bounds};
use frazil_types::{CompareOp, LogicalType, Value, date, decimal, value_ops};
use std::cmp::Ordering;

/// Replaces an expression of constants by its value, if it has one. Its parts are folded before.
pub fn fold(e: &mut Expr) {
    if let Some(value) = value_of(e) {
        *e = Expr::constant(value, e.ty).at(e.span);
    }
}

fn constant(e: &Expr) -> Option<&Value> {
    match &e.kind {
        ExprKind::Constant(value) => Some(value),
        _ => None,
    }
}

/// The comparison of two exact numbers of different scales.
fn compare_scales(op: CompareOp, l: &Expr, r: &Expr) -> Option<Value> {
    match (constant(l)?, constant(r)?) {
        (Value::Int(a), Value::Int(b)) => {
            let order = value_ops::compare_decimals((*a, l.ty.scale()?), (*b, r.ty.scale()?));
            Some(Value::Bool(op.holds(order)))
        }
        (a, b) => (a.is_null() || b.is_null()).then_some(Value::Null),
    }
}

fn value_of(e: &Expr) -> Option<Value> {
    match &e.kind {
        ExprKind::Compare(op, l, r) => match (constant(l)?, constant(r)?) {
            (Value::Null, _) | (_, Value::Null) => Some(Value::Null),
            (a, b) => Some(Value::Bool(op.holds(compare(a, b)?))),
        },
        ExprKind::Function(ScalarFunction::Compare(op), sides) => match &sides[..] {
            [l, r] => compare_scales(*op, l, r),
            _ => None,
        },
        ExprKind::IsNull(v) if !v.nullable && !matches!(v.kind, ExprKind::Constant(_)) => None,
        ExprKind::IsNull(v) => Some(Value::Bool(constant(v)?.is_null())),
        ExprKind::Arithmetic(op, l, r) => {
            let (a, b) = (constant(l)?, constant(r)?);
            if a.is_null() || b.is_null() {
                return Some(Value::Null);
            }
            arithmetic(*op, e.ty, (a, l.ty), (b, r.ty))
        }
        ExprKind::Negate(v) => match constant(v)? {
            Value::Int(n) => in_type(n.checked_neg()?, e.ty),
            Value::Double(d) => Some(Value::Double(-d)),
            Value::Null => Some(Value::Null),
            _ => None,
        },
        ExprKind::Cast(v) => cast(constant(v)?, v.ty, e.ty),
        ExprKind::InList { value, list, negated } => match constant(value)? {
            Value::Null => Some(Value::Null),
            v => {
                let found = list.iter().any(|x| compare(v, x) == Some(Ordering::Equal));
                Some(Value::Bool(found != *negated))
            }
        },
        ExprKind::Extract(part, v) => extract(*part, constant(v)?, v.ty),
        ExprKind::AddInterval(v, interval) => match (constant(v)?, v.ty, e.ty) {
            (Value::Null, ..) => Some(Value::Null),
            (Value::Int(d), LogicalType::Date, LogicalType::Date) => {
                let days = date::add_interval_to_date(i32::try_from(*d).ok()?, *interval).ok()?;
                Some(Value::Int(days.into()))
            }
            (Value::Int(t), from, LogicalType::Timestamp) => {
                let day = if from == LogicalType::Date { DAY } else { 1 };
                let micros = i64::try_from(t.checked_mul(day)?).ok()?;
                let sum = date::add_interval_to_timestamp(micros, *interval).ok()?;
                Some(Value::Int(sum.into()))
            }
            _ => None,
        },
        _ => None,
    }
}

/// Microseconds of a day.
pub const DAY: i128 = 86_400_000_000;

/// Order of two constants of one type; `None` for what only the runtime compares.
pub fn compare(a: &Value, b: &Value) -> Option<Ordering> {
    match (a, b) {
        (Value::Int(a), Value::Int(b)) => Some(a.cmp(b)),
        (Value::Bool(a), Value::Bool(b)) => Some(a.cmp(b)),
        (Value::Text(a), Value::Text(b)) => Some(a.as_bytes().cmp(b.as_bytes())),
        // PostgreSQL: NaN is equal to itself and larger than all else.
        (Value::Double(a), Value::Double(b)) => match (a.is_nan(), b.is_nan()) {
            (false, false) => a.partial_cmp(b),
            (x, y) => Some(x.cmp(&y)),
        },
        _ => None,
    }
}

fn in_type(v: i128, ty: LogicalType) -> Option<Value> {
    let b = bounds::of_type(ty)?;
    (b.min <= v && v <= b.max).then_some(Value::Int(v))
}

fn arithmetic(
    op: ArithmeticOp,
    ty: LogicalType,
    (a, a_ty): (&Value, LogicalType),
    (b, b_ty): (&Value, LogicalType),
) -> Option<Value> {
    if let (Value::Double(a), Value::Double(b)) = (a, b) {
        let v = match op {
            ArithmeticOp::Add => a + b,
            ArithmeticOp::Sub => a - b,
            ArithmeticOp::Mul => a * b,
            ArithmeticOp::Div if *b != 0.0 => a / b,
            _ => return None,
        };
        let vanished = match op {
            ArithmeticOp::Mul => v == 0.0 && *a != 0.0 && *b != 0.0,
            ArithmeticOp::Div => v == 0.0 && *a != 0.0 && b.is_finite(),
            _ => false,
        };
        return (v.is_finite() && !vanished).then_some(Value::Double(v));
    }
    let (Value::Int(a), Value::Int(b)) = (a, b) else {
        return None;
    };
    let v = match op {
        ArithmeticOp::Add => a.checked_add(*b)?,
        ArithmeticOp::Sub => a.checked_sub(*b)?,
        ArithmeticOp::Mul => a.checked_mul(*b)?,
        _ if *b == 0 => return None,
        ArithmeticOp::Rem => a.checked_rem(*b)?,
        ArithmeticOp::Div => match ty {
            LogicalType::Decimal { scale, .. } => {
                let shift = scale.checked_add(b_ty.scale()?)?.checked_sub(a_ty.scale()?)?;
                decimal::divide_round(
                    a.checked_mul(*decimal::POWERS_OF_TEN.get(usize::from(shift))?)?,
                    *b,
                )
            }
            _ => a.checked_div(*b)?,
        },
    };
    in_type(v, ty)
}

fn cast(v: &Value, from: LogicalType, to: LogicalType) -> Option<Value> {
    if v.is_null() || from == to {
        return Some(v.clone());
    }
    match v {
        Value::Int(n) => match (from, to) {
            (LogicalType::Date, LogicalType::Timestamp) => in_type(n.checked_mul(DAY)?, to),
            (LogicalType::Timestamp, LogicalType::Date) => in_type(n.div_euclid(DAY), to),
            (from, LogicalType::Double) if from.is_integer() => Some(Value::Double(*n as f64)),
            _ => in_type(decimal::rescale(*n, from.scale()?, to.scale()?)?, to),
        },
        Value::Text(t) => match to {
            LogicalType::Text => Some(v.clone()),
            LogicalType::Varchar(n) if t.chars().count() <= n as usize && !is_char(from) => Some(v.clone()),
            LogicalType::Date if !is_char(from) => Some(Value::Int(date::parse_date(t).ok()?.into())),
            LogicalType::Timestamp if !is_char(from) => {
                Some(Value::Int(date::parse_timestamp(t).ok()?.into()))
            }
            _ => None,
        }
        .filter(|_| !is_char(from)),
        _ => None,
    }
}

fn is_char(ty: LogicalType) -> bool {
    matches!(ty, LogicalType::Char(_))
}

fn extract(part: DatePart, v: &Value, ty: LogicalType) -> Option<Value> {
    let Value::Int(n) = v else {
        return v.is_null().then_some(Value::Null);
    };
    let days = match ty {
        LogicalType::Date => *n,
        LogicalType::Timestamp => n.div_euclid(DAY),
        _ => return None,
    };
    let (year, month, day) = date::civil_from_days(i32::try_from(days).ok()?);
    let field = match part {
        DatePart::Year if year > 0 => i128::from(year),
        DatePart::Quarter => i128::from((month - 1) / 3 + 1),
        DatePart::Month => month.into(),
        DatePart::Day => day.into(),
        _ => return None,
    };
    Some(Value::Int(field))
}
