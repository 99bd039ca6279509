//! The order of values.

use super::order_key;
use crate::decimal::POWERS_OF_TEN;
use crate::{Interval, LogicalType, Order, Value, date::MICROS_PER_DAY};
use std::cmp::Ordering;

/// Days that a month counts where intervals are compared.
const DAYS_PER_MONTH: i128 = 30;

/// Orders two values of one type; `None` where one is NULL or they are not of one type. Strings go by their bytes,
/// doubles as [`compare_doubles`], intervals as [`interval_span`].
pub fn order(a: &Value, b: &Value) -> Option<Ordering> {
    match (a, b) {
        (Value::Int(a), Value::Int(b)) => Some(a.cmp(b)),
        (Value::Text(a), Value::Text(b)) => Some(a.as_bytes().cmp(b.as_bytes())),
        (Value::Bytes(a), Value::Bytes(b)) => Some(a.cmp(b)),
        (Value::Bool(a), Value::Bool(b)) => Some(a.cmp(b)),
        (Value::Double(a), Value::Double(b)) => Some(compare_doubles(*a, *b)),
        (Value::Interval(a), Value::Interval(b)) => Some(interval_span(*a).cmp(&interval_span(*b))),
        _ => None,
    }
}

/// Orders two values of a type, as [`order`] does, but without the blanks at the end of padded texts, and by their keys values that
/// [have such](LogicalType::has_order_key).
pub fn order_as(a: &Value, b: &Value, ty: LogicalType) -> Option<Ordering> {
    match (ty.order(), a, b) {
        (Order::WithoutBlanks, Value::Text(a), Value::Text(b)) => {
            Some(a.trim_end_matches(' ').cmp(b.trim_end_matches(' ')))
        }
        (Order::Key, Value::Bytes(a), Value::Bytes(b)) => Some(order_key(a, ty).cmp(&order_key(b, ty))),
        _ => order(a, b),
    }
}

/// Orders two decimals of any scales. One that has no room at the other's scale is larger in size than every value there.
pub fn compare_decimals((a, sa): (i128, u8), (b, sb): (i128, u8)) -> Ordering {
    let at_scale = |v: i128, from: u8, to: u8| v.checked_mul(POWERS_OF_TEN[usize::from(to - from)]);
    if sa <= sb {
        at_scale(a, sa, sb).map_or(a.cmp(&0), |a| a.cmp(&b))
    } else {
        at_scale(b, sb, sa).map_or(0.cmp(&b), |b| a.cmp(&b))
    }
}

/// Orders doubles: NaN equals itself and is the largest, and −0 equals 0.
pub fn compare_doubles(a: f64, b: f64) -> Ordering {
    match a.partial_cmp(&b) {
        Some(ordering) => ordering,
        None => a.is_nan().cmp(&b.is_nan()),
    }
}

/// An interval's length in microseconds, by months of 30 days and days of 24 hours: what intervals compare by.
pub fn interval_span(i: Interval) -> i128 {
    let days = i128::from(i.months) * DAYS_PER_MONTH + i128::from(i.days);
    days * i128::from(MICROS_PER_DAY) + i128::from(i.micros)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nan_is_the_largest_and_equals_itself() {
        assert_eq!(compare_doubles(f64::NAN, f64::NAN), Ordering::Equal);
        assert_eq!(compare_doubles(f64::NAN, f64::INFINITY), Ordering::Greater);
        assert_eq!(compare_doubles(1.0, f64::NAN), Ordering::Less);
        assert_eq!(compare_doubles(-0.0, 0.0), Ordering::Equal);
    }

    #[test]
    fn decimals_of_any_scales_are_ordered() {
        let most = POWERS_OF_TEN[38] - 1;
        assert_eq!(compare_decimals((most, 0), (5, 1)), Ordering::Greater);
        assert_eq!(compare_decimals((5, 1), (most, 0)), Ordering::Less);
        assert_eq!(compare_decimals((-most, 0), (most, 38)), Ordering::Less);
        assert_eq!(compare_decimals((most, 38), (1, 0)), Ordering::Less);
        assert_eq!(compare_decimals((0, 38), (0, 0)), Ordering::Equal);
        assert_eq!(compare_decimals((150, 2), (15, 1)), Ordering::Equal);
        assert_eq!(compare_decimals((-151, 2), (-15, 1)), Ordering::Less);
    }

    #[test]
    fn intervals_compare_by_months_of_thirty_days() {
        let month = Interval {
            months: 1,
            ..Interval::default()
        };
        let days = Interval {
            days: 30,
            ..Interval::default()
        };
        let hours = Interval {
            micros: 30 * MICROS_PER_DAY,
            ..Interval::default()
        };
        assert_eq!(
            order(&Value::Interval(month), &Value::Interval(days)),
            Some(Ordering::Equal)
        );
        assert_eq!(
            order(&Value::Interval(days), &Value::Interval(hours)),
            Some(Ordering::Equal)
        );
        assert_eq!(order(&Value::Null, &Value::Null), None);
    }
}
