//! Functions of times of day, and of intervals made of numbers.

use super::fields::{clock_field, timestamp_field, unknown_field};
use super::time::{clock_of, timestamp};
use crate::function::{Function, rows as over};
use crate::type_rules::Kind::{Boolean, Date, Double, Integer, Interval, Time, Timestamp, TimestampTz};
use crate::vector::{Output, Row};
use frazil_types::date::{MICROS_PER_DAY, infinite_micros_of_day, is_finite, is_finite_day};
use frazil_types::{Error, Result, SqlState, value_ops};

pub(super) const FUNCTIONS: &[Function] = &[
    Function {
        name: "date_bin",
        overloads: &[
            over(&[Interval, Timestamp, Timestamp], date_bin, Timestamp),
            over(&[Interval, TimestampTz, TimestampTz], date_bin, TimestampTz),
        ],
        description: "the start of the interval that contains a timestamp; intervals are counted from the third argument",
    },
    Function {
        name: "isfinite",
        overloads: &[
            over(&[Date], |r, o| o.bool(is_finite_day(r.int(0) as i32)), Boolean),
            over(&[Timestamp], |r, o| o.bool(is_finite(r.int(0))), Boolean),
            over(&[TimestampTz], |r, o| o.bool(is_finite(r.int(0))), Boolean),
            over(&[Interval], |_, o| o.bool(true), Boolean),
        ],
        description: "true if it is finite",
    },
    Function {
        name: "make_interval",
        overloads: &[
            over(&[], make_interval, Interval),
            over(&[Integer], make_interval, Interval),
            over(&[Integer, Integer], make_interval, Interval),
            over(&[Integer, Integer, Integer], make_interval, Interval),
            over(&[Integer, Integer, Integer, Integer], make_interval, Interval),
            over(
                &[Integer, Integer, Integer, Integer, Integer],
                make_interval,
                Interval,
            ),
            over(
                &[Integer, Integer, Integer, Integer, Integer, Integer],
                make_interval,
                Interval,
            ),
            over(
                &[Integer, Integer, Integer, Integer, Integer, Integer, Double],
                make_interval,
                Interval,
            ),
        ],
        description: "the interval of years, months, weeks, days, hours, minutes and seconds",
    },
    Function {
        name: "make_time",
        overloads: &[over(&[Integer, Integer, Double], make_time, Time)],
        description: "the time of an hour, minute and second",
    },
];

/// Functions behind operators, by PostgreSQL's names.
pub(super) const OPERATORS: &[Function] = &[
    Function {
        name: "datetime_pl",
        overloads: &[over(
            &[Date, Time],
            |r, o| date_and_time(r.int(0), r.int(1), o),
            Timestamp,
        )],
        description: "the timestamp of a date and a time",
    },
    Function {
        name: "timedate_pl",
        overloads: &[over(
            &[Time, Date],
            |r, o| date_and_time(r.int(1), r.int(0), o),
            Timestamp,
        )],
        description: "the timestamp of a date and a time",
    },
    Function {
        name: "time_pl_interval",
        overloads: &[over(
            &[Time, Interval],
            |r, o| moved_clock(r.int(0), r.interval(1).micros, o),
            Time,
        )],
        description: "a time moved by an interval, within the day",
    },
    Function {
        name: "interval_pl_time",
        overloads: &[over(
            &[Interval, Time],
            |r, o| moved_clock(r.int(1), r.interval(0).micros, o),
            Time,
        )],
        description: "a time moved by an interval, within the day",
    },
    Function {
        name: "time_mi_interval",
        overloads: &[over(
            &[Time, Interval],
            |r, o| moved_clock(r.int(0), -(r.interval(1).micros % MICROS_PER_DAY), o),
            Time,
        )],
        description: "a time moved back by an interval, within the day",
    },
    Function {
        name: "time_mi_time",
        overloads: &[over(
            &[Time, Time],
            |r, o| {
                o.interval(frazil_types::Interval {
                    micros: r.int(0) - r.int(1),
                    ..frazil_types::Interval::default()
                })
            },
            Interval,
        )],
        description: "the interval between two times",
    },
];

fn date_and_time(days: i64, micros: i64, out: &mut Output) -> Result<()> {
    if let Some(infinite) = infinite_micros_of_day(days as i32) {
        return out.int(infinite.into());
    }
    let whole = i128::from(days) * i128::from(MICROS_PER_DAY) + i128::from(micros);
    match whole > i128::from(i64::MAX) {
        true => Err(value_ops::beyond_timestamps()),
        false => timestamp(whole, out),
    }
}

/// A time moved by microseconds, of which whole days do not count.
fn moved_clock(time: i64, micros: i64, out: &mut Output) -> Result<()> {
    out.int((time + micros % MICROS_PER_DAY).rem_euclid(MICROS_PER_DAY).into())
}

/// A field of a time of day, 24:00 included. 0A000 for one that it lacks, 22023 for an unknown one.
pub(super) fn time_field(field: &str, micros: i64) -> Result<i128> {
    if let Some(number) = clock_field(field, micros) {
        return Ok(number);
    }
    match field {
        "epoch" => Ok(micros.into()),
        _ if timestamp_field(field, micros).is_err() && !field.starts_with("timezone") => {
            Err(unknown_field(field, "time without time zone"))
        }
        _ => {
            let message = format!("unit \"{field}\" not supported for type time without time zone");
            Err(Error::new(SqlState::FEATURE_NOT_SUPPORTED, message))
        }
    }
}

fn make_time(row: &Row<'_>, out: &mut Output) -> Result<()> {
    out.int(clock_of(row.int(0), row.int(1), row.double(2))?.into())
}

/// date_bin(span, timestamp, from). Errors: 0A000 for a span with months, 22008 for one that is not positive.
fn date_bin(row: &Row<'_>, out: &mut Output) -> Result<()> {
    let (span, at, from) = (row.interval(0), row.wide(1), row.wide(2));
    if !is_finite(at as i64) {
        return out.int(at);
    }
    if !is_finite(from as i64) {
        return Err(Error::new(SqlState::DATETIME_OVERFLOW, "origin out of range"));
    }
    if span.months != 0 {
        let message = "timestamps cannot be binned into intervals containing months or years";
        return Err(Error::new(SqlState::FEATURE_NOT_SUPPORTED, message));
    }
    let length = value_ops::interval_span(span);
    if length <= 0 {
        let message = "stride must be greater than zero";
        return Err(Error::new(SqlState::DATETIME_OVERFLOW, message));
    }
    timestamp(from + (at - from).div_euclid(length) * length, out)
}

/// make_interval(years, months, weeks, days, hours, minutes, seconds), those behind the last one being 0. Error 22008.
fn make_interval(row: &Row<'_>, out: &mut Output) -> Result<()> {
    let part = |at: usize| if at < row.arguments() { row.int(at) } else { 0 };
    let seconds = if row.arguments() > 6 { row.double(6) } else { 0.0 };
    let beyond = || Error::new(SqlState::DATETIME_OVERFLOW, "interval out of range");
    if !seconds.is_finite() {
        return Err(beyond());
    }
    let clock = i128::from((part(4) * 60 + part(5)) * 60) * 1_000_000;
    let micros = clock + (seconds * 1e6).round_ties_even() as i128;
    let interval = frazil_types::Interval {
        months: i32::try_from(part(0) * 12 + part(1)).map_err(|_| beyond())?,
        days: i32::try_from(part(2) * 7 + part(3)).map_err(|_| beyond())?,
        micros: i64::try_from(micros).map_err(|_| beyond())?,
    };
    out.interval(interval)
}
