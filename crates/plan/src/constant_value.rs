//! The value of an expression whose parts have values, as `types/value_ops` has it.

use crate::{Expr, ExprKind, ScalarFunction};
use frazil_types::value_ops::{self, CastLength};
use frazil_types::{CompareOp, Result, Value};
use std::borrow::Cow;

/// The value of an expression by the values of its parts, which `part` knows; `None` if one that is needed has none, or if
/// only a row decides. Errors are those of its casts and arithmetic.
pub fn value_by_parts<'e>(
    e: &'e Expr,
    part: impl Fn(&'e Expr) -> Result<Option<Cow<'e, Value>>>,
) -> Result<Option<Value>> {
    let both = |l: &'e Expr, r: &'e Expr| -> Result<Option<(Cow<'e, Value>, Cow<'e, Value>)>> {
        let Some(l) = part(l)? else { return Ok(None) };
        Ok(part(r)?.map(|r| (l, r)))
    };
    Ok(match &e.kind {
        ExprKind::Constant(value) => Some(value.clone()),
        ExprKind::Compare(op, l, r) => both(l, r)?.and_then(|(a, b)| compare(*op, &a, &b)),
        ExprKind::Function(ScalarFunction::Compare(op), sides) => match &sides[..] {
            [l, r] => both(l, r)?.and_then(|(a, b)| compare_scales(*op, (&a, l), (&b, r))),
            _ => None,
        },
        // Of a value that is never NULL, more than its constant is known elsewhere.
        ExprKind::IsNull(v) if !v.nullable && !matches!(v.kind, ExprKind::Constant(_)) => None,
        ExprKind::IsNull(v) => part(v)?.map(|v| Value::Bool(v.is_null())),
        ExprKind::Arithmetic(op, l, r) => match both(l, r)? {
            Some((a, b)) => Some(value_ops::arithmetic(*op, (&a, l.ty), (&b, r.ty), e.ty)?),
            None => None,
        },
        ExprKind::Negate(v) => match part(v)? {
            Some(value) => Some(value_ops::negate(&value, e.ty)?),
            None => None,
        },
        ExprKind::Cast(v) => match part(v)? {
            Some(value) => Some(value_ops::cast(&value, v.ty, e.ty, CastLength::Refuse)?),
            None => None,
        },
        ExprKind::InList { value, list, negated } => part(value)?.map(|v| match &*v {
            Value::Null => Value::Null,
            v => Value::Bool(
                list.iter()
                    .any(|x| value_ops::order(v, x).is_some_and(|o| o.is_eq()))
                    != *negated,
            ),
        }),
        ExprKind::Extract(field, v) => match part(v)? {
            Some(value) => Some(value_ops::extract(*field, &value, v.ty)?),
            None => None,
        },
        ExprKind::AddInterval(v, interval) => match part(v)? {
            Some(value) => Some(value_ops::add_interval(&value, v.ty, *interval, e.ty)?),
            None => None,
        },
        ExprKind::Column(_)
        | ExprKind::Parameter(_)
        | ExprKind::ScalarSubquery(_)
        | ExprKind::Subquery(_)
        | ExprKind::Let { .. }
        | ExprKind::Distinct { .. }
        | ExprKind::And(_)
        | ExprKind::Or(_)
        | ExprKind::Not(_)
        | ExprKind::Case { .. }
        | ExprKind::Like { .. }
        | ExprKind::Function(..)
        | ExprKind::VectorFunction(..) => None,
    })
}

fn compare(op: CompareOp, a: &Value, b: &Value) -> Option<Value> {
    if a.is_null() || b.is_null() {
        return Some(Value::Null);
    }
    value_ops::order(a, b).map(|order| Value::Bool(op.holds(order)))
}

/// The comparison of two exact numbers of different scales.
fn compare_scales(op: CompareOp, (a, l): (&Value, &Expr), (b, r): (&Value, &Expr)) -> Option<Value> {
    match (a, b) {
        (Value::Int(a), Value::Int(b)) => {
            let order = value_ops::compare_decimals((*a, l.ty.scale()?), (*b, r.ty.scale()?));
            Some(Value::Bool(op.holds(order)))
        }
        (a, b) => (a.is_null() || b.is_null()).then_some(Value::Null),
    }
}
