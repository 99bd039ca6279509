//! Which part of its rows a predicate keeps: interpolation between value bounds, distinct counts, and
//! the usual guesses where nothing is known.

use crate::cardinality::Estimator;
use frazil_plan::operators::ScanRestrictionKind;
use frazil_plan::{
    Bounds, Columns, Expr, ExprKind, ScalarFunction, ScanDisjunction, ScanRestriction, bounds,
};
use frazil_types::{CompareOp, Value};

/// A comparison of which nothing is known.
const UNKNOWN_EQUAL: f64 = 0.05;
const UNKNOWN_RANGE: f64 = 0.3;
const UNKNOWN: f64 = 0.3;
/// HAVING sum(x) > 300: people ask for the exceptions.
const UNKNOWN_AGGREGATED: f64 = 0.02;
/// LIKE 'prefix%', LIKE '%middle%', and LIKE with several pieces.
const LIKE_PREFIX: f64 = 0.02;
const LIKE_MIDDLE: f64 = 0.06;
const LIKE_PIECES: f64 = 0.02;

/// Part of rows for which a predicate is true.
pub fn of_predicate(e: &Expr, columns: &Columns, estimator: &Estimator<'_>) -> f64 {
    let of = |e: &Expr| of_predicate(e, columns, estimator);
    let kept = match &e.kind {
        ExprKind::Constant(Value::Bool(true)) => 1.0,
        ExprKind::Constant(_) => 0.0,
        ExprKind::And(list) => of_conjuncts(list, columns, estimator),
        ExprKind::Or(list) => 1.0 - list.iter().map(|e| 1.0 - of(e)).product::<f64>(),
        ExprKind::Not(e) => 1.0 - of(e),
        ExprKind::Compare(op, l, r) => of_comparison(*op, l, r, columns, estimator),
        ExprKind::Function(ScalarFunction::Compare(op), sides) => match &sides[..] {
            [l, r] => of_comparison(*op, l, r, columns, estimator),
            _ => UNKNOWN,
        },
        ExprKind::Distinct { negated: true, .. } => UNKNOWN_EQUAL,
        ExprKind::Distinct { .. } => 1.0 - UNKNOWN_EQUAL,
        ExprKind::IsNull(e) => estimator.null_fraction(e),
        ExprKind::Like { pattern, negated, .. } => of_like(pattern, *negated),
        ExprKind::InList { value, list, negated } => {
            let kept = (list.len() as f64 * of_equal(value, columns, estimator)).min(1.0);
            if *negated { 1.0 - kept } else { kept }
        }
        ExprKind::Column(_) => 0.5,
        ExprKind::Let { body, .. } => of(body),
        ExprKind::Parameter(_)
        | ExprKind::ScalarSubquery(_)
        | ExprKind::Subquery(_)
        | ExprKind::Arithmetic(..)
        | ExprKind::Negate(_)
        | ExprKind::Cast(_)
        | ExprKind::Case { .. }
        | ExprKind::Extract(..)
        | ExprKind::AddInterval(..)
        | ExprKind::Function(..)
        | ExprKind::VectorFunction(..) => UNKNOWN,
    };
    kept.clamp(0.0, 1.0)
}

/// Part of a table's rows that satisfy a restriction.
pub fn of_restriction(r: &ScanRestriction, columns: &Columns, estimator: &Estimator<'_>) -> f64 {
    let column = Expr::column(r.column, columns);
    let kept = match &r.kind {
        ScanRestrictionKind::Compare(op, e) => of_comparison(*op, &column, e, columns, estimator),
        ScanRestrictionKind::Between(low, high) => of_between(&column, low, high, columns),
        ScanRestrictionKind::In(list) => list.len() as f64 * of_equal(&column, columns, estimator),
        ScanRestrictionKind::IsNull => estimator.null_fraction(&column),
        ScanRestrictionKind::IsNotNull => 1.0 - estimator.null_fraction(&column),
        ScanRestrictionKind::Prefix(_) => LIKE_PREFIX,
        ScanRestrictionKind::Like { pattern, negated } => of_like(pattern, *negated),
    };
    kept.clamp(0.0, 1.0)
}

/// Part of a table's rows that satisfy one of the alternatives.
pub fn of_disjunction(d: &ScanDisjunction, columns: &Columns, estimator: &Estimator<'_>) -> f64 {
    let all = |alternative: &Vec<ScanRestriction>| -> f64 {
        (alternative.iter().map(|r| of_restriction(r, columns, estimator))).product()
    };
    1.0 - d.alternatives.iter().map(|a| 1.0 - all(a)).product::<f64>()
}

/// Part of rows for which all conjuncts are true. A lower and an upper bound of one expression are one range, not two
/// independent conditions.
pub fn of_conjuncts(list: &[Expr], columns: &Columns, estimator: &Estimator<'_>) -> f64 {
    let mut kept = 1.0;
    let mut used = vec![false; list.len()];
    for i in 0..list.len() {
        if used[i] {
            continue;
        }
        if let Some((value, low)) = one_sided(&list[i], CompareOp::Ge)
            && let Some(j) = (0..list.len())
                .find(|&j| !used[j] && one_sided(&list[j], CompareOp::Le).is_some_and(|(v, _)| v == value))
            && let Some((_, high)) = one_sided(&list[j], CompareOp::Le)
        {
            used[j] = true;
            kept *= of_between(value, low, high, columns);
        } else if let Some((value, _)) = one_sided(&list[i], CompareOp::Le)
            && list[i + 1..]
                .iter()
                .any(|e| one_sided(e, CompareOp::Ge).is_some_and(|(v, _)| v == value))
        {
            continue;
        } else {
            kept *= of_predicate(&list[i], columns, estimator);
        }
    }
    kept
}

/// `value >= bound` (or `>`) for Ge, `value <= bound` (or `<`) for Le.
fn one_sided(e: &Expr, side: CompareOp) -> Option<(&Expr, &Expr)> {
    let ExprKind::Compare(op, l, r) = &e.kind else {
        return None;
    };
    let wanted = match side {
        CompareOp::Ge => matches!(op, CompareOp::Ge | CompareOp::Gt),
        _ => matches!(op, CompareOp::Le | CompareOp::Lt),
    };
    (wanted && matches!(r.kind, ExprKind::Constant(_))).then_some((&**l, &**r))
}

/// Part of rows equal to one value.
fn of_equal(value: &Expr, columns: &Columns, estimator: &Estimator<'_>) -> f64 {
    match estimator.distinct(value, columns) {
        Some(n) => 1.0 / n.max(1.0),
        None => UNKNOWN_EQUAL,
    }
}

fn of_comparison(op: CompareOp, l: &Expr, r: &Expr, columns: &Columns, estimator: &Estimator<'_>) -> f64 {
    let is_fixed = |e: &Expr| e.columns_read().is_empty();
    if is_fixed(l) && !is_fixed(r) {
        return of_comparison(op.flip(), r, l, columns, estimator);
    }
    let fixed = is_fixed(r);
    match op {
        CompareOp::Eq | CompareOp::Ne => {
            let mut equal = of_equal(l, columns, estimator);
            if !fixed {
                equal = equal.min(of_equal(r, columns, estimator));
            }
            if op == CompareOp::Eq { equal } else { 1.0 - equal }
        }
        // Two columns of one table, such as a promised and an actual date.
        _ if !fixed => 0.5,
        _ if estimator.is_aggregated(l) => UNKNOWN_AGGREGATED,
        _ => match (bounds::expected(l, columns), constant(r)) {
            (Some(b), Some(v)) if l.ty.scale() == r.ty.scale() && b != bounds::of_type(l.ty).unwrap_or(b) => {
                match op {
                    CompareOp::Lt | CompareOp::Le => part_below(b, v),
                    _ => 1.0 - part_below(b, v),
                }
            }
            _ => UNKNOWN_RANGE,
        },
    }
}

fn of_between(value: &Expr, low: &Expr, high: &Expr, columns: &Columns) -> f64 {
    match (bounds::expected(value, columns), constant(low), constant(high)) {
        (Some(b), Some(low), Some(high)) if b != bounds::of_type(value.ty).unwrap_or(b) => {
            let one = 1.0 / b.width().map_or(f64::MAX, |w| w.max(1) as f64);
            (part_below(b, high) - part_below(b, low) + one).clamp(one, 1.0)
        }
        _ => UNKNOWN_RANGE / 2.0,
    }
}

fn constant(e: &Expr) -> Option<i128> {
    match e.as_constant()? {
        Value::Int(v) => Some(*v),
        _ => None,
    }
}

/// Part of evenly spread values up to `v`.
fn part_below(b: Bounds, v: i128) -> f64 {
    if v < b.min {
        return 0.0;
    }
    if v >= b.max {
        return 1.0;
    }
    (v.saturating_sub(b.min) as f64 + 1.0) / (b.max.saturating_sub(b.min) as f64 + 1.0)
}

fn of_like(pattern: &str, negated: bool) -> f64 {
    let pieces = pattern.split('%').filter(|p| !p.is_empty()).count();
    let kept = match pieces {
        0 => 1.0,
        1 if pattern.starts_with('%') => LIKE_MIDDLE,
        1 => LIKE_PREFIX,
        _ => LIKE_PIECES,
    };
    if negated { 1.0 - kept } else { kept }
}
