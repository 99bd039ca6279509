//! Functions of dates, timestamps and intervals.

use super::fields::{unit_name, unknown_field};
use super::formatting;
use super::truncation::truncated;
use super::zones::{instant_trunc, local, zone_named};
use crate::build::{LENGTH, int, text as text_constant};
use crate::function::{Function, rows as over};
use crate::type_rules::Kind::{self, Date, Double, Integer, Interval, Text, Timestamp, TimestampTz};
use crate::vector::{OnNull, Output, Row, RowFn, rows};
use crate::{CastContext, Operand, Typing, Unknown, UnknownKind};
use frazil_plan::Expr;
use frazil_types::date::{
    DAYS, INFINITE_MICROS, MICROS_PER_DAY, MINUS_INFINITE_MICROS, calendar_day, days_in_month, is_finite,
};
use frazil_types::value_ops::{self, IntervalFields, round_from_2000};
use frazil_types::{Error, LogicalType, Result, Span, SqlState, Value};

const TIMESTAMP: LogicalType = LogicalType::TIMESTAMP;
pub(crate) const INTERVAL: LogicalType = LogicalType::Interval;
const MICROS_PER_SECOND: i64 = 1_000_000;

/// A part between 0 and 1, and what has values between its values.
pub(crate) const PARTS: [&[Kind]; 2] = [&[Double, Double], &[Double, Interval]];

pub(super) const FUNCTIONS: &[Function] = &[
    Function {
        name: "age",
        overloads: &[
            over(
                &[Timestamp, Timestamp],
                |r, o| o.interval(value_ops::age(r.int(0), r.int(1))?),
                Interval,
            ),
            over(
                &[TimestampTz, TimestampTz],
                |r, o| o.interval(value_ops::age(local(r, 0)?, local(r, 1)?)?),
                Interval,
            ),
        ],
        description: "years, months, days and time between two timestamps; with one, until the current day",
    },
    Function {
        name: "date_trunc",
        overloads: &[
            over(
                &[Text, Timestamp],
                |r, o| o.int(truncated(r.text(0), r.int(1))?.into()),
                Timestamp,
            ),
            over(
                &[Text, TimestampTz],
                |r, o| o.int(instant_trunc(r.text(0), r.int(1), r.ty(1).zone())?.into()),
                TimestampTz,
            ),
            over(
                &[Text, TimestampTz, Text],
                |r, o| o.int(instant_trunc(r.text(0), r.int(1), zone_named(r.text(2), r.int(1))?)?.into()),
                TimestampTz,
            ),
            over(&[Text, Interval], interval_trunc, Interval),
        ],
        description: "the timestamp truncated to a unit",
    },
    Function {
        name: "justify_days",
        overloads: &[over(
            &[Interval],
            |r, o| o.interval(value_ops::justify_days(r.interval(0))?),
            Interval,
        )],
        description: "converts 30 days to a month",
    },
    Function {
        name: "justify_hours",
        overloads: &[over(
            &[Interval],
            |r, o| o.interval(value_ops::justify_hours(r.interval(0))?),
            Interval,
        )],
        description: "converts 24 hours to a day",
    },
    Function {
        name: "justify_interval",
        overloads: &[over(
            &[Interval],
            |r, o| o.interval(value_ops::justify_interval(r.interval(0))?),
            Interval,
        )],
        description: "converts 24 hours to a day and 30 days to a month, with one sign",
    },
    Function {
        name: "make_date",
        overloads: &[over(&[Integer, Integer, Integer], make_date, Date)],
        description: "the date of a year, month and day; negative years are BC",
    },
    Function {
        name: "make_timestamp",
        overloads: &[over(
            &[Integer, Integer, Integer, Integer, Integer, Double],
            make_timestamp,
            Timestamp,
        )],
        description: "the timestamp of a year, month, day, hour, minute and second",
    },
    Function {
        name: "to_timestamp",
        overloads: &[
            over(&[Double], to_timestamp, TimestampTz),
            formatting::TO_TIMESTAMP,
        ],
        description: "the instant n seconds after 1970-01-01 in UTC, or the instant of a text in a format",
    },
];

/// A timestamp rounded to so many digits of a second.
pub(super) fn round_timestamp(value: Expr, digits: Expr) -> Expr {
    let run: RowFn = |row, out| {
        let unit = 10i64.pow(6 - row.int(1).clamp(0, 6) as u32);
        let value = row.int(0);
        if !is_finite(value) {
            return out.int(value.into());
        }
        out.int(round_from_2000(value, unit).unwrap_or(value).into())
    };
    rows("round", OnNull::Null, run, vec![value, digits], TIMESTAMP)
}

impl Typing {
    /// `INTERVAL 'text' fields(precision)`: `fields` in lower case, empty, one or `… to …`, and the digits of a second
    /// that are kept. Errors 22007, 22008, and 42601 for fields that there are not.
    pub fn interval_literal(
        &self,
        text: &str,
        fields: &str,
        precision: Option<u64>,
        span: Span,
    ) -> Result<Operand> {
        let read = || {
            let interval = value_ops::parse_interval(text, interval_fields(fields)?)?;
            Ok(with_digits(interval, precision))
        };
        let interval = read().map_err(|e: Error| e.at_span(span))?;
        Ok(Expr::constant(Value::Interval(interval), INTERVAL)
            .at(span)
            .into())
    }

    /// An interval as one of the fields, in lower case or empty, with so many digits of a second: a cast to `interval day to
    /// second(2)`. A literal is read as such. Errors as of [`Typing::interval_literal`].
    pub fn interval_of(
        &self,
        x: Operand,
        fields: &str,
        precision: Option<u64>,
        span: Span,
    ) -> Result<Operand> {
        if let Operand::Unknown(Unknown {
            kind: UnknownKind::Literal(text),
            ..
        }) = &x
        {
            return self.interval_literal(text, fields, precision, span);
        }
        interval_fields(fields).map_err(|e| e.at_span(span))?;
        let interval = self.cast(x, INTERVAL, CastContext::Explicit, span)?;
        let digits = i128::from(precision.unwrap_or(6).min(6));
        let arguments = vec![interval, text_constant(fields), int(digits, LENGTH)];
        Ok(rows("interval", OnNull::Null, fields_row, arguments, INTERVAL)
            .at(span)
            .into())
    }

    /// What intervals and arrays, which have no order of their own in plans, are sorted, grouped and joined by; all else stands
    /// for itself.
    pub fn order_key(e: Expr) -> Expr {
        crate::compared_by(e)
    }
}

/// Seconds rounded to so many digits, of which there are at most six.
fn with_digits(mut interval: frazil_types::Interval, precision: Option<u64>) -> frazil_types::Interval {
    if let Some(digits @ 0..6) = precision {
        let unit = 10i64.pow(6 - digits as u32);
        let half = if interval.micros < 0 { -unit / 2 } else { unit / 2 };
        interval.micros = interval.micros.saturating_add(half) / unit * unit;
    }
    interval
}

fn fields_row(row: &Row<'_>, out: &mut Output) -> Result<()> {
    let interval = match interval_fields(row.text(1))? {
        Some(fields) => value_ops::truncate(row.interval(0), fields),
        None => row.interval(0),
    };
    out.interval(with_digits(interval, Some(row.wide(2) as u64)))
}

fn interval_fields(fields: &str) -> Result<Option<IntervalFields>> {
    Ok(Some(match fields {
        "" => return Ok(None),
        "year" => IntervalFields::Year,
        "month" | "year to month" => IntervalFields::Month,
        "day" => IntervalFields::Day,
        "hour" | "day to hour" => IntervalFields::Hour,
        "minute" | "day to minute" | "hour to minute" => IntervalFields::Minute,
        "second" | "day to second" | "hour to second" => IntervalFields::Second,
        "minute to second" => IntervalFields::MinuteToSecond,
        other => {
            let message = format!("syntax error: an interval has no fields {other}");
            return Err(Error::new(SqlState::SYNTAX_ERROR, message));
        }
    }))
}

fn interval_trunc(row: &Row<'_>, out: &mut Output) -> Result<()> {
    let unit = unit_name(row.text(0));
    let i = row.interval(1);
    let clock = |unit: i64| frazil_types::Interval {
        micros: i.micros / unit * unit,
        ..i
    };
    let months = |unit: i32| frazil_types::Interval {
        months: i.months / unit * unit,
        days: 0,
        micros: 0,
    };
    out.interval(match unit.as_str() {
        "microseconds" | "microsecond" => i,
        "milliseconds" | "millisecond" => clock(1000),
        "second" | "seconds" => clock(MICROS_PER_SECOND),
        "minute" | "minutes" => clock(60 * MICROS_PER_SECOND),
        "hour" | "hours" => clock(3600 * MICROS_PER_SECOND),
        "day" | "days" => frazil_types::Interval { micros: 0, ..i },
        "month" | "months" => months(1),
        "quarter" => months(3),
        "year" | "years" => months(12),
        "decade" | "decades" => months(120),
        "century" | "centuries" => months(1200),
        "millennium" | "millennia" => months(12_000),
        "week" | "weeks" => {
            return Err(Error::unsupported(
                "date_trunc of an interval to weeks, which months do not consist of,",
            ));
        }
        other => return Err(unknown_field(other, "interval")),
    })
}

/// The day of a year (negative: BC), month and day. Error 22008.
fn day_of(year: i64, month: i64, day: i64) -> Result<i32> {
    let out_of_range = || {
        let message = format!("date field value out of range: {year}-{month:02}-{day:02}");
        Error::new(SqlState::DATETIME_OVERFLOW, message)
    };
    let calendar_year = i32::try_from(year + i64::from(year < 0)).map_err(|_| out_of_range())?;
    let in_range = year != 0
        && (1..=12).contains(&month)
        && (1..=i64::from(days_in_month(calendar_year, month as u32))).contains(&day);
    if !in_range {
        return Err(out_of_range());
    }
    calendar_day(calendar_year, month as u32, day as u32).ok_or_else(out_of_range)
}

fn make_date(row: &Row<'_>, out: &mut Output) -> Result<()> {
    out.int(day_of(row.int(0), row.int(1), row.int(2))?.into())
}

/// The microseconds of a time of day. Error 22008.
pub(super) fn clock_of(hour: i64, minute: i64, second: f64) -> Result<i64> {
    let valid = (0..=24).contains(&hour) && (0..60).contains(&minute) && (0.0..=60.0).contains(&second);
    if !valid || hour == 24 && (minute, second) != (0, 0.0) {
        let message = format!("time field value out of range: {hour}:{minute:02}:{second:02}");
        return Err(Error::new(SqlState::DATETIME_OVERFLOW, message));
    }
    let micros = (second * 1e6).round_ties_even() as i64;
    Ok((hour * 60 + minute) * 60 * MICROS_PER_SECOND + micros)
}

fn make_timestamp(row: &Row<'_>, out: &mut Output) -> Result<()> {
    out.int(timestamp_of(row)?.into())
}

/// The timestamp of a row's year, month, day, hour, minute and second. Error 22008.
pub(super) fn timestamp_of(row: &Row<'_>) -> Result<i64> {
    let days = day_of(row.int(0), row.int(1), row.int(2))?;
    let clock = clock_of(row.int(3), row.int(4), row.double(5))?;
    in_range(i128::from(days) * i128::from(MICROS_PER_DAY) + i128::from(clock))
}

fn to_timestamp(row: &Row<'_>, out: &mut Output) -> Result<()> {
    let micros = (row.double(0) * 1e6).round_ties_even();
    if micros.is_infinite() {
        let infinity = if micros > 0.0 {
            INFINITE_MICROS
        } else {
            MINUS_INFINITE_MICROS
        };
        return out.int(infinity.into());
    }
    if micros.is_nan() || micros.abs() >= 1e19 {
        return Err(Error::new(SqlState::DATETIME_OVERFLOW, "timestamp out of range"));
    }
    timestamp(micros as i128, out)
}

pub(super) fn timestamp(micros: i128, out: &mut Output) -> Result<()> {
    out.int(in_range(micros)?.into())
}

/// Microseconds that are a timestamp. Error 22008.
fn in_range(micros: i128) -> Result<i64> {
    let first = i128::from(*DAYS.start()) * i128::from(MICROS_PER_DAY);
    let micros = i64::try_from(micros)
        .ok()
        .filter(|micros| i128::from(*micros) >= first && is_finite(*micros));
    micros.ok_or_else(|| Error::new(SqlState::DATETIME_OVERFLOW, "timestamp out of range"))
}
