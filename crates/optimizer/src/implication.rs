//! Implication between conditions: a query may use a partial index, and ON CONFLICT means it, if a predicate implies
//! the index's condition.

use crate::pushdown::rejects_null;
use crate::simplify;
use frazil_plan::same::same;
use frazil_plan::{Expr, ExprKind, bounds};
use frazil_types::{CompareOp, LogicalType, Value};
use std::borrow::Cow;

/// A copy whose parts are all nullable, so that copies are equal that differ in what is known of NULLs alone.
pub fn without_nullability(e: &Expr) -> Expr {
    fn clear(e: &mut Expr) {
        e.nullable = true;
        e.children_mut().into_iter().for_each(clear);
    }
    let mut copy = e.clone();
    clear(&mut copy);
    copy
}

/// A copy without casts of varchar to text, which change no value: `lower(v)` and `lower(v::text)` are the same.
/// PostgreSQL adds such casts itself, and writes them into the definitions that it dumps.
pub fn without_relabels(e: &Expr) -> Expr {
    fn strip(e: &mut Expr) {
        while let ExprKind::Cast(inner) = &mut e.kind
            && e.ty == LogicalType::Text
            && matches!(inner.ty, LogicalType::Varchar(_))
        {
            *e = std::mem::replace(&mut **inner, Expr::unknown());
        }
        e.children_mut().into_iter().for_each(strip);
    }
    let mut copy = e.clone();
    strip(&mut copy);
    copy
}

/// A boolean that is compared with a constant, as the boolean or its negation; any other expression as it is.
fn as_condition(e: &Expr) -> Cow<'_, Expr> {
    let ExprKind::Compare(op, l, r) = &e.kind else {
        return Cow::Borrowed(e);
    };
    let (value, constant) = match (l.as_constant(), r.as_constant()) {
        (None, Some(Value::Bool(constant))) => (&**l, *constant),
        (Some(Value::Bool(constant)), None) => (&**r, *constant),
        _ => return Cow::Borrowed(e),
    };
    match (op, constant) {
        (CompareOp::Eq, true) | (CompareOp::Ne, false) => Cow::Borrowed(value),
        (CompareOp::Eq, false) | (CompareOp::Ne, true) => {
            Cow::Owned(Expr::boolean(ExprKind::Not(Box::new(value.clone())), true))
        }
        (CompareOp::Lt | CompareOp::Le | CompareOp::Gt | CompareOp::Ge, _) => Cow::Borrowed(e),
    }
}

/// True if a condition is true wherever all of some predicates are. Like PostgreSQL's `predicate_implied_by`, it may
/// answer false for a condition that is implied.
pub fn implies(predicates: &[Expr], condition: &Expr) -> bool {
    if simplify::is_bool(condition, true) {
        return true;
    }
    if let ExprKind::And(parts) = &condition.kind {
        return parts.iter().all(|part| implies(predicates, part));
    }
    if let ExprKind::Or(parts) = &condition.kind
        && parts.iter().any(|part| implies(predicates, part))
    {
        return true;
    }
    predicates
        .iter()
        .any(|predicate| one_implies(predicate, condition))
}

fn one_implies(predicate: &Expr, condition: &Expr) -> bool {
    let (predicate, condition) = (as_condition(predicate), as_condition(condition));
    let (predicate, condition) = (&*predicate, &*condition);
    if same(predicate, condition) {
        return true;
    }
    if let ExprKind::Or(parts) = &predicate.kind {
        return parts.iter().all(|part| {
            let conjuncts = part.clone().into_conjuncts();
            implies(&conjuncts, condition)
        });
    }
    if let ExprKind::And(parts) = &predicate.kind {
        return implies(parts, condition);
    }
    if let ExprKind::Not(inner) = &condition.kind
        && let ExprKind::IsNull(value) = &inner.kind
    {
        let column = value.as_column();
        return column.is_some_and(|column| rejects_null(predicate, &[column]));
    }
    test_implies(predicate, condition)
}

/// A comparison of a value with a constant, or a value in a list, or not in it.
enum Test<'e> {
    Compare(CompareOp, &'e Value),
    List(&'e [Value]),
    NotList(&'e [Value]),
}

/// A test of a value with constants, and the value.
fn test(e: &Expr) -> Option<(&Expr, Test<'_>)> {
    if let ExprKind::InList { value, list, negated } = &e.kind {
        return Some(match negated {
            true => (value, Test::NotList(list)),
            false => (value, Test::List(list)),
        });
    }
    let ExprKind::Compare(op, l, r) = &e.kind else {
        return None;
    };
    match (l.as_constant(), r.as_constant()) {
        (None, Some(constant)) => Some((l, Test::Compare(*op, constant))),
        (Some(constant), None) => Some((r, Test::Compare(op.flip(), constant))),
        (None, None) | (Some(_), Some(_)) => None,
    }
}

/// True if a test of a value with constants passes only values that pass another.
fn test_implies(predicate: &Expr, condition: &Expr) -> bool {
    let (Some((tested, known)), Some((value, wanted))) = (test(predicate), test(condition)) else {
        return false;
    };
    if tested != value || !is_exact(value.ty) {
        return false;
    }
    match known {
        Test::Compare(CompareOp::Eq, constant) => passes(constant, &wanted),
        Test::List(list) => list.iter().all(|constant| passes(constant, &wanted)),
        Test::Compare(known, constant) => bound_implies(known, constant, &wanted),
        Test::NotList(known) => match wanted {
            Test::Compare(CompareOp::Ne, constant) => known.contains(constant),
            Test::NotList(wanted) => wanted.iter().all(|constant| known.contains(constant)),
            Test::Compare(..) | Test::List(_) => false,
        },
    }
}

/// True for types whose values are equal exactly if they are written alike.
fn is_exact(ty: LogicalType) -> bool {
    bounds::of_type(ty).is_some() || matches!(ty, LogicalType::Text | LogicalType::Varchar(_))
}

/// True if a constant passes a test.
fn passes(constant: &Value, wanted: &Test<'_>) -> bool {
    match wanted {
        Test::List(list) => list.contains(constant),
        Test::NotList(list) => !list.contains(constant) && !constant.is_null(),
        Test::Compare(CompareOp::Eq, other) => constant == *other,
        Test::Compare(CompareOp::Ne, other) => constant != *other && !constant.is_null() && !other.is_null(),
        Test::Compare(op, Value::Int(other)) => match constant {
            Value::Int(constant) => match op {
                CompareOp::Lt => constant < other,
                CompareOp::Le => constant <= other,
                CompareOp::Gt => constant > other,
                CompareOp::Ge => constant >= other,
                CompareOp::Eq => constant == other,
                CompareOp::Ne => constant != other,
            },
            _ => false,
        },
        Test::Compare(..) => false,
    }
}

/// True if values that compare so with a constant pass a test.
fn bound_implies(known: CompareOp, constant: &Value, wanted: &Test<'_>) -> bool {
    if let Test::Compare(op, other) = wanted
        && *op == known
        && *other == constant
    {
        return true;
    }
    let Value::Int(constant) = constant else {
        return false;
    };
    let Test::Compare(op, Value::Int(other)) = wanted else {
        return false;
    };
    use CompareOp::{Eq, Ge, Gt, Le, Lt, Ne};
    match (known, op) {
        (Gt, Gt | Ge | Ne) | (Ge, Ge) => constant >= other,
        (Ge, Gt | Ne) => constant > other,
        (Lt, Lt | Le | Ne) | (Le, Le) => constant <= other,
        (Le, Lt | Ne) => constant < other,
        (Gt | Ge, Lt | Le | Eq) | (Lt | Le, Gt | Ge | Eq) | (Eq | Ne, _) => false,
    }
}
