//! Ranges of a series: `n < 100` above `generate_series(1, 1000000)` is a series that ends before.

use frazil_plan::{ColumnId, Expansion, Expr, ExprKind};
use frazil_types::value_ops::Series;
use frazil_types::{CompareOp, Value};

/// The functions with a shorter series, which gives the rows for which a predicate is true. `None` where the predicate has to
/// be asked: it is none on a series of constants, or rows are counted.
pub fn narrowed(expansion: &Expansion, predicate: &Expr) -> Option<Expansion> {
    let ([(id, call)], None) = (&expansion.calls[..], expansion.ordinality) else {
        return None;
    };
    let (op, bound) = compared(*id, predicate)?;
    let series = call.constant_series()?;
    if series.is_uneven == 1 || series.left == u64::MAX || series.left == 0 {
        return None;
    }
    let (first, last) = ends(series, op, bound)?;
    let mut narrowed = expansion.clone();
    let [start, stop, _] = &mut narrowed.calls[0].1.arguments[..] else {
        return None;
    };
    start.kind = ExprKind::Constant(Value::Int(first));
    stop.kind = ExprKind::Constant(Value::Int(last));
    Some(narrowed)
}

/// What a column is compared with.
fn compared(id: ColumnId, predicate: &Expr) -> Option<(CompareOp, i128)> {
    let ExprKind::Compare(op, l, r) = &predicate.kind else {
        return None;
    };
    match (&l.kind, &r.kind) {
        (ExprKind::Column(column), ExprKind::Constant(Value::Int(bound))) if *column == id => {
            Some((*op, *bound))
        }
        (ExprKind::Constant(Value::Int(bound)), ExprKind::Column(column)) if *column == id => {
            Some((op.flip(), *bound))
        }
        _ => None,
    }
}

/// Start and stop of the values of a series that has rows that satisfy a comparison.
fn ends(series: Series, op: CompareOp, bound: i128) -> Option<(i128, i128)> {
    let (first, last, step) = (series.value, series.last()?, series.step);
    // Of a series that falls, the values without their signs rise.
    let sign = step.signum();
    let (op, bound) = match sign < 0 {
        true => (op.flip(), bound.checked_neg()?),
        false => (op, bound),
    };
    let (first, last, step) = (first * sign, last * sign, step * sign);
    let distance = bound.checked_sub(first)?;
    // The nearest values of the series, were it longer, that are not greater and not less than the bound.
    let below = first.checked_add(distance.div_euclid(step).checked_mul(step)?)?;
    let above = match below == bound {
        true => below,
        false => below.checked_add(step)?,
    };
    let (first, last) = match op {
        CompareOp::Eq => (first.max(above), last.min(below)),
        CompareOp::Ge => (first.max(above), last),
        CompareOp::Gt => (first.max(below.checked_add(step)?), last),
        CompareOp::Le => (first, last.min(below)),
        CompareOp::Lt => (first, last.min(above.checked_sub(step)?)),
        CompareOp::Ne => return None,
    };
    match first <= last {
        true => Some((first * sign, last * sign)),
        // No rows: a series that ends a step before it begins.
        false => {
            let start = series.value;
            Some((start, start.checked_sub(series.step)?))
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn values(start: i128, stop: i128, step: i128) -> Vec<i128> {
        let mut series = Series::of_integers(start, stop, step).unwrap();
        let mut found = Vec::new();
        while series.left > 0 {
            found.push(series.value);
            series.skip(1);
        }
        found
    }

    #[test]
    fn a_range_has_the_values_that_satisfy_the_comparison() {
        use CompareOp::*;
        for (start, stop, step) in [(1, 10, 1), (-7, 8, 3), (10, 1, -1), (8, -8, -5), (4, 4, 1)] {
            for bound in -12..=12 {
                for op in [Eq, Ge, Gt, Le, Lt] {
                    let holds = |v: &i128| match op {
                        Eq => *v == bound,
                        Ge => *v >= bound,
                        Gt => *v > bound,
                        Le => *v <= bound,
                        _ => *v < bound,
                    };
                    let all = values(start, stop, step);
                    let wanted: Vec<i128> = all.into_iter().filter(holds).collect();
                    let series = Series::of_integers(start, stop, step).unwrap();
                    let (first, last) = ends(series, op, bound).unwrap();
                    assert_eq!(
                        values(first, last, step),
                        wanted,
                        "{start} {stop} {step} {op:?} {bound}"
                    );
                }
            }
        }
    }
}
