//! Fields of dates and timestamps, and moving them by intervals.

use crate::date::{
    MICROS_PER_DAY, add_interval_to_date, add_interval_to_timestamp, civil_from_days, days_from_civil,
    infinite_day_of_micros, infinite_micros_of_day, is_finite, is_finite_day,
};
use crate::{Error, Interval, LogicalType, Result, Value};

/// A field of a date or timestamp.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum DatePart {
    /// Year.
    Year,
    /// Quarter, 1–4.
    Quarter,
    /// Month, 1–12.
    Month,
    /// ISO week.
    Week,
    /// Day of the month.
    Day,
    /// Day of the week, Sunday 0.
    DayOfWeek,
    /// Day of the year from 1.
    DayOfYear,
    /// Hour.
    Hour,
    /// Minute.
    Minute,
    /// Seconds of the minute, in microseconds.
    Second,
    /// Seconds since 1970: whole ones of a date, microseconds of a timestamp.
    Epoch,
}

impl DatePart {
    /// True for a field that grows with time: of `infinity` it is beyond all finite values' fields, while the other
    /// fields are NULL.
    pub fn grows(self) -> bool {
        match self {
            DatePart::Year | DatePart::Epoch => true,
            DatePart::Quarter
            | DatePart::Month
            | DatePart::Week
            | DatePart::Day
            | DatePart::DayOfWeek
            | DatePart::DayOfYear
            | DatePart::Hour
            | DatePart::Minute
            | DatePart::Second => false,
        }
    }

    /// The field of an infinite date or timestamp, `micros` as a timestamp: 0 in place of NULL.
    fn of_infinity(self, micros: i64) -> i64 {
        match self {
            DatePart::Year => micros.signum() * INFINITE_YEAR,
            DatePart::Epoch => micros,
            DatePart::Quarter
            | DatePart::Month
            | DatePart::Week
            | DatePart::Day
            | DatePart::DayOfWeek
            | DatePart::DayOfYear
            | DatePart::Hour
            | DatePart::Minute
            | DatePart::Second => 0,
        }
    }
}

/// The year of `infinity`, the greatest number of 7 digits; years of dates end before it.
pub const INFINITE_YEAR: i64 = 9_999_999;

/// The epoch of the date `infinity`, the greatest number of 15 digits.
pub const INFINITE_EPOCH: i64 = 999_999_999_999_999;

/// Microseconds of a minute.
const MICROS_PER_MINUTE: i64 = 60_000_000;

/// A field of a date, whose time of day is midnight; the epoch in seconds. The year before year 1 is −1. Of `infinity`
/// the year is [`INFINITE_YEAR`] and the epoch [`INFINITE_EPOCH`], of `-infinity` they are negative, and the other
/// fields are 0 in place of NULL.
pub fn date_part(part: DatePart, days: i32) -> i64 {
    if let Some(micros) = infinite_micros_of_day(days) {
        return match part {
            DatePart::Epoch => micros.signum() * INFINITE_EPOCH,
            part => part.of_infinity(micros),
        };
    }
    let (year, month, day) = civil_from_days(days);
    match part {
        // A year 0 is not counted: the year before 1 is −1.
        DatePart::Year => i64::from(year) - i64::from(year <= 0),
        DatePart::Quarter => i64::from((month - 1) / 3 + 1),
        DatePart::Month => month.into(),
        DatePart::Week => iso_week(days, year),
        DatePart::Day => day.into(),
        // 1970-01-01 was a Thursday.
        DatePart::DayOfWeek => (i64::from(days) + 4).rem_euclid(7),
        DatePart::DayOfYear => i64::from(days) - i64::from(days_from_civil(year, 1, 1)) + 1,
        DatePart::Hour | DatePart::Minute | DatePart::Second => 0,
        DatePart::Epoch => i64::from(days) * 86_400,
    }
}

/// A field of a timestamp; seconds and epoch in microseconds. Of an infinite one the epoch is the timestamp itself, and
/// other fields are as of [`date_part`].
pub fn timestamp_part(part: DatePart, micros: i64) -> i64 {
    if infinite_day_of_micros(micros).is_some() {
        return part.of_infinity(micros);
    }
    let seconds = micros.rem_euclid(MICROS_PER_DAY) / 1_000_000;
    match part {
        DatePart::Hour => seconds / 3600,
        DatePart::Minute => seconds / 60 % 60,
        DatePart::Second => micros.rem_euclid(MICROS_PER_MINUTE),
        DatePart::Epoch => micros,
        of_day => date_part(of_day, micros.div_euclid(MICROS_PER_DAY) as i32),
    }
}

/// A field of a date or timestamp, as [`date_part`] and [`timestamp_part`] have it; NULL of NULL, and of infinity
/// unless the field grows with time. An internal error for another type.
pub fn extract(part: DatePart, value: &Value, ty: LogicalType) -> Result<Value> {
    match (value, ty) {
        (Value::Null, _) => Ok(Value::Null),
        (Value::Int(value), ty) if !part.grows() && is_infinite(*value, ty) => Ok(Value::Null),
        (Value::Int(days), ty) if ty.is_day() => Ok(Value::Int(date_part(part, *days as i32).into())),
        (Value::Int(micros), ty) if ty.is_local_time() => {
            Ok(Value::Int(timestamp_part(part, *micros as i64).into()))
        }
        (_, ty) => Err(Error::internal(format!("a field of a {ty}"))),
    }
}

/// True for an infinite date or timestamp.
fn is_infinite(value: i128, ty: LogicalType) -> bool {
    match ty.is_day() {
        true => !is_finite_day(value as i32),
        false => !is_finite(value as i64),
    }
}

/// A date or timestamp moved by an interval, as `to`, one of these types; NULL of NULL. Error 22008; an internal error for other types.
pub fn add_interval(value: &Value, from: LogicalType, interval: Interval, to: LogicalType) -> Result<Value> {
    match (super::cast(value, from, to, super::CastLength::Refuse)?, to) {
        (Value::Null, _) => Ok(Value::Null),
        (Value::Int(days), to) if to.is_day() => {
            add_interval_to_date(days as i32, interval).map(|days| Value::Int(days.into()))
        }
        (Value::Int(micros), to) if to.is_local_time() => {
            add_interval_to_timestamp(micros as i64, interval).map(|micros| Value::Int(micros.into()))
        }
        (_, to) => Err(Error::internal(format!("{to} plus an interval"))),
    }
}

/// The ISO week: that of the year to which the week's Thursday belongs.
fn iso_week(days: i32, year: i32) -> i64 {
    let from_monday = (i64::from(days) + 3).rem_euclid(7);
    let thursday = i64::from(days) - from_monday + 3;
    let begin = |year| i64::from(days_from_civil(year, 1, 1));
    let start = [year + 1, year, year - 1]
        .into_iter()
        .map(begin)
        .find(|&b| b <= thursday)
        .unwrap_or(thursday);
    (thursday - start) / 7 + 1
}
