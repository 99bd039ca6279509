//! Dates, times of day, timestamps and instants.

use frazil_types::date::{self, DAYS, MICROS_PER_DAY};
use frazil_types::value_ops::{CastLength, cast};
use frazil_types::{Error, LogicalType, Result, SqlState, Value as RawValue};
use std::fmt;
use std::str::FromStr;
use std::time::{Duration, SystemTime, UNIX_EPOCH};

/// A day of the Gregorian calendar, `infinity` or `-infinity`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Date(i32);

/// A time of day without a zone: 00:00 to 24:00.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Time(i64);

/// A date and time of day without a zone, `infinity` or `-infinity`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Timestamp(i64);

/// An instant, `infinity` or `-infinity`. It has no zone of its own: a zone's clock shows it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct TimestampTz(i64);

/// 22008 for a value of a type that is out of range.
fn out_of_range(ty: LogicalType) -> Error {
    Error::new(SqlState::DATETIME_OVERFLOW, format!("{} out of range", ty.name()))
}

/// The microseconds of a timestamp of type `ty`. 22008 for a day that is not in the calendar.
fn checked_micros(micros: i64, ty: LogicalType) -> Result<i64> {
    let in_calendar = i32::try_from(micros.div_euclid(MICROS_PER_DAY)).is_ok_and(|day| DAYS.contains(&day));
    match in_calendar || !date::is_finite(micros) {
        true => Ok(micros),
        false => Err(out_of_range(ty)),
    }
}

impl Date {
    /// Later than every day.
    pub const INFINITY: Date = Date(date::INFINITE_DAY);
    /// Earlier than every day.
    pub const MINUS_INFINITY: Date = Date(date::MINUS_INFINITE_DAY);

    /// The day of a month, 1 to 12, of a year, where 0 is 1 BC. 22008 for a day that the calendar does not have.
    pub fn new(year: i32, month: u32, day: u32) -> Result<Date> {
        let is_day = (1..=12).contains(&month) && day >= 1 && day <= date::days_in_month(year, month);
        let days = is_day.then(|| date::calendar_day(year, month, day)).flatten();
        days.map(Date).ok_or_else(|| out_of_range(LogicalType::Date))
    }

    /// The day `days` days after 1970-01-01. 22008 for a day that the calendar does not have.
    pub fn from_days(days: i32) -> Result<Date> {
        match DAYS.contains(&days) || !date::is_finite_day(days) {
            true => Ok(Date(days)),
            false => Err(out_of_range(LogicalType::Date)),
        }
    }

    /// Days since 1970-01-01; `i32::MAX` and `i32::MIN` for the infinite ones.
    pub fn days(self) -> i32 {
        self.0
    }

    /// Year, month and day; `None` for the infinite ones.
    pub fn year_month_day(self) -> Option<(i32, u32, u32)> {
        date::is_finite_day(self.0).then(|| date::civil_from_days(self.0))
    }

    pub(super) fn of_raw(days: i32) -> Date {
        Date(days)
    }
}

impl Time {
    /// The time of day of an hour, minute, second and microsecond. 22008 beyond 24:00.
    pub fn new(hour: u32, minute: u32, second: u32, micro: u32) -> Result<Time> {
        if minute > 59 || second > 59 || micro > 999_999 {
            return Err(out_of_range(LogicalType::TIME));
        }
        let seconds = i64::from(hour) * 3600 + i64::from(minute) * 60 + i64::from(second);
        Time::from_micros(seconds * 1_000_000 + i64::from(micro))
    }

    /// The time of day `micros` microseconds after midnight. 22008 beyond 24:00.
    pub fn from_micros(micros: i64) -> Result<Time> {
        match (0..=MICROS_PER_DAY).contains(&micros) {
            true => Ok(Time(micros)),
            false => Err(out_of_range(LogicalType::TIME)),
        }
    }

    /// Microseconds since midnight.
    pub fn micros(self) -> i64 {
        self.0
    }

    pub(super) fn of_raw(micros: i64) -> Time {
        Time(micros)
    }
}

impl Timestamp {
    /// Later than every other one.
    pub const INFINITY: Timestamp = Timestamp(date::INFINITE_MICROS);
    /// Earlier than every other one.
    pub const MINUS_INFINITY: Timestamp = Timestamp(date::MINUS_INFINITE_MICROS);

    /// A time of a day. 22008 for an infinite day, and for a timestamp that the calendar does not have.
    pub fn new(day: Date, time: Time) -> Result<Timestamp> {
        let midnight = i64::from(day.0).checked_mul(MICROS_PER_DAY);
        let micros = midnight.and_then(|midnight| midnight.checked_add(time.0));
        match micros.filter(|_| date::is_finite_day(day.0)) {
            Some(micros) => Timestamp::from_micros(micros),
            None => Err(out_of_range(LogicalType::TIMESTAMP)),
        }
    }

    /// The timestamp `micros` microseconds after 1970-01-01 00:00. 22008 for one that the calendar does not have.
    pub fn from_micros(micros: i64) -> Result<Timestamp> {
        checked_micros(micros, LogicalType::TIMESTAMP).map(Timestamp)
    }

    /// Microseconds since 1970-01-01 00:00; `i64::MAX` and `i64::MIN` for the infinite ones.
    pub fn micros(self) -> i64 {
        self.0
    }

    /// Its day and time of day; `None` for the infinite ones.
    pub fn day_and_time(self) -> Option<(Date, Time)> {
        let day = self.0.div_euclid(MICROS_PER_DAY) as i32;
        date::is_finite(self.0).then(|| (Date(day), Time(self.0.rem_euclid(MICROS_PER_DAY))))
    }

    pub(super) fn of_raw(micros: i64) -> Timestamp {
        Timestamp(micros)
    }
}

impl TimestampTz {
    /// Later than every other one.
    pub const INFINITY: TimestampTz = TimestampTz(date::INFINITE_MICROS);
    /// Earlier than every other one.
    pub const MINUS_INFINITY: TimestampTz = TimestampTz(date::MINUS_INFINITE_MICROS);

    /// The instant `micros` microseconds after 1970-01-01 00:00 UTC. 22008 for one that the calendar does not have.
    pub fn from_micros(micros: i64) -> Result<TimestampTz> {
        checked_micros(micros, LogicalType::TIMESTAMPTZ).map(TimestampTz)
    }

    /// Microseconds since 1970-01-01 00:00 UTC; `i64::MAX` and `i64::MIN` for the infinite ones.
    pub fn micros(self) -> i64 {
        self.0
    }

    /// The instant of the operating system's clock; `None` for the infinite ones.
    pub fn to_system_time(self) -> Option<SystemTime> {
        let distance = Duration::from_micros(self.0.unsigned_abs());
        match (date::is_finite(self.0), self.0 >= 0) {
            (false, _) => None,
            (true, true) => UNIX_EPOCH.checked_add(distance),
            (true, false) => UNIX_EPOCH.checked_sub(distance),
        }
    }

    pub(super) fn of_raw(micros: i64) -> TimestampTz {
        TimestampTz(micros)
    }
}

impl TryFrom<SystemTime> for TimestampTz {
    type Error = Error;

    /// The microsecond at or before an instant. 22008 for one that the calendar does not have.
    fn try_from(time: SystemTime) -> Result<TimestampTz> {
        let micros = match time.duration_since(UNIX_EPOCH) {
            Ok(since) => i64::try_from(since.as_micros()).ok(),
            Err(before) => i64::try_from(before.duration().as_nanos().div_ceil(1000))
                .ok()
                .map(|micros| -micros),
        };
        let micros = micros.ok_or_else(|| out_of_range(LogicalType::TIMESTAMPTZ))?;
        TimestampTz::from_micros(micros)
    }
}

/// Reads a text as SQL does, and writes it as SQL does.
macro_rules! written_as {
    ($($name:ident of $native:ty: $ty:expr;)*) => {$(
        impl fmt::Display for $name {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                write!(f, "{}", RawValue::Int(self.0.into()).display($ty))
            }
        }

        impl FromStr for $name {
            type Err = Error;

            /// Reads every form that SQL reads, in UTC: 22007, 22008.
            fn from_str(text: &str) -> Result<$name> {
                let text = RawValue::Text(text.to_owned());
                let native = cast(&text, LogicalType::Text, $ty, CastLength::Refuse)?.as_int();
                let native = native.and_then(|native| <$native>::try_from(native).ok());
                native.map($name).ok_or_else(|| out_of_range($ty))
            }
        }
    )*};
}

written_as! {
    Date of i32: LogicalType::Date;
    Time of i64: LogicalType::TIME;
    Timestamp of i64: LogicalType::TIMESTAMP;
    TimestampTz of i64: LogicalType::TIMESTAMPTZ;
}
