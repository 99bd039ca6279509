//! Functions that the types of dates and times share.

use super::{Measures, show_plain};
use crate::logical_type::MICRO_DIGITS;
use crate::{Error, LogicalType, Result, SqlState, Value, value_ops};
use std::fmt;

/// The digits of a second that stand in parentheses; all without them.
pub(super) fn second_digits(modifiers: &[u32]) -> Option<u8> {
    match modifiers {
        [] => Some(MICRO_DIGITS),
        [digits] => u8::try_from(*digits).ok().filter(|digits| *digits < MICRO_DIGITS),
        _ => None,
    }
}

/// Shows a type of times, with its digits of a second unless it has all.
pub(super) fn show_second_digits(ty: LogicalType, f: &mut fmt::Formatter<'_>) -> fmt::Result {
    show_plain(ty, f)?;
    match ty.second_digits() {
        Some(digits) if digits < MICRO_DIGITS => write!(f, "({digits})"),
        _ => Ok(()),
    }
}

/// Microseconds rounded to the digits of their type. Error 22008 beyond it.
pub(super) fn rounded(micros: i64, ty: LogicalType) -> Result<Value> {
    value_ops::round_micros(micros, ty).map(|micros| Value::Int(micros.into()))
}

/// `date out of range` and its like.
pub(super) fn datetime_overflow(ty: LogicalType) -> Error {
    Error::new(SqlState::DATETIME_OVERFLOW, format!("{ty} out of range"))
}

/// The digits of a second as a modifier; −1 for all of them.
pub(super) fn second_modifier(ty: LogicalType) -> i32 {
    let digits = ty.second_digits().filter(|digits| *digits < MICRO_DIGITS);
    digits.map_or(-1, i32::from)
}

/// The digits of a second.
pub(super) fn second_measures(ty: LogicalType) -> Measures {
    Measures::moment(ty.second_digits().unwrap_or(MICRO_DIGITS).into())
}
