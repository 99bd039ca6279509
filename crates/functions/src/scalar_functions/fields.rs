//! Fields of dates, times, timestamps and intervals: `extract` and `date_part`.

use super::time::INTERVAL;
use super::time_of_day::time_field;
use super::zones::instant_field;
use crate::build::{TEXT, constant_of, is_null_constant, null, text as text_constant};
use crate::convert::convert;
use crate::resolve::no_function;
use crate::type_rules::Kind::{self, Date, Interval, Time, Timestamp, TimestampTz};
use crate::vector::{OnNull, Output, Row, RowFn, rows};
use crate::{CastContext, Operand, Typing};
use frazil_plan::{DatePart, Expr, ExprKind};
use frazil_types::date::{MICROS_PER_DAY, civil_from_days, days_from_civil, is_finite, is_finite_day};
use frazil_types::value_ops::{self, CastLength};
use frazil_types::{Error, LogicalType, NativeType, Result, Span, SqlState, Value, decimal};

const TIMESTAMP: LogicalType = LogicalType::TIMESTAMP;
const MICROS_PER_SECOND: i64 = 1_000_000;

impl Typing {
    /// `extract(field from x)`, of the field's [`field_type`], and `date_part(field, x)`, a double. Errors: 22023 for
    /// an unknown field, 0A000 for a field that the type lacks.
    pub(super) fn extract(&self, name: &str, mut arguments: Vec<Operand>) -> Result<Expr> {
        let value = arguments
            .pop()
            .ok_or_else(|| Error::internal("extract from nothing"))?;
        let field = arguments
            .pop()
            .ok_or_else(|| Error::internal("extract of nothing"))?;
        let given = value.ty().map(Kind::of);
        if !matches!(
            given,
            None | Some(Date | Time | Timestamp | TimestampTz | Interval)
        ) {
            return Err(no_function(name, &[field, value]));
        }
        let at = field.span();
        let (run, result): (RowFn, LogicalType) = match name {
            "extract" => (extract_row, LogicalType::widest_exact(JULIAN_SCALE)),
            _ => (part_row, LogicalType::Double),
        };
        let field = self.cast(field, TEXT, CastContext::Implicit, Span::NONE)?;
        let mut value = match value {
            Operand::Typed(e) => e,
            unknown => self.cast(unknown, TIMESTAMP, CastContext::Implicit, Span::NONE)?,
        };
        if is_null_constant(&field) || is_null_constant(&value) {
            return Ok(null(result));
        }
        let Some(Value::Text(name_of_field)) = constant_of(&field) else {
            if value.ty.is_day() && name != "extract" {
                value = convert(value, TIMESTAMP, CastLength::Refuse);
            }
            return Ok(rows("date_part", OnNull::Null, run, vec![field, value], result));
        };
        let lower = unit_name(name_of_field);
        // Asked of one value, so that an unknown field is an error before the first row.
        let checked = match value.ty {
            INTERVAL => interval_field(&lower, frazil_types::Interval::default()),
            ty if ty.is_day() && name != "extract" => timestamp_field(&lower, 0),
            ty => moment_field(&lower, 0, ty),
        };
        checked.map_err(|e| e.at_span(at))?;
        let exact = field_type(&lower, value.ty);
        let inline = inline_part(&lower).filter(|part| {
            let is_held = value.ty.is_day() || value.ty == TIMESTAMP && exact.native() == NativeType::I64;
            // The double of an infinite date's year is infinite, the decimal is not.
            constant_of(&value).is_none() && is_held && (name == "extract" || !part.grows())
        });
        if let Some(part) = inline {
            let nullable = value.nullable || !part.grows();
            let number = Expr::new(ExprKind::Extract(part, Box::new(value)), exact, nullable);
            return Ok(match name {
                "extract" => number,
                _ => convert(number, result, CastLength::Refuse),
            });
        }
        let result = if name == "extract" { exact } else { result };
        if value.ty.is_day() && name != "extract" {
            value = convert(value, TIMESTAMP, CastLength::Refuse);
        }
        let arguments = vec![text_constant(lower), value];
        Ok(rows("date_part", OnNull::Null, run, arguments, result))
    }
}

/// A field's or unit's name in lower case, PostgreSQL's abbreviations spelled out.
pub(super) fn unit_name(name: &str) -> String {
    let lower = name.to_ascii_lowercase();
    let spelled = match lower.as_str() {
        "us" | "usec" | "usecs" | "usecond" | "useconds" => "microseconds",
        "ms" | "msec" | "msecs" | "msecond" | "mseconds" => "milliseconds",
        "s" | "sec" | "secs" => "second",
        "m" | "min" | "mins" => "minute",
        "h" | "hr" | "hrs" => "hour",
        "d" => "day",
        "w" => "week",
        "mon" | "mons" => "month",
        "qtr" => "quarter",
        "y" | "yr" | "yrs" => "year",
        "dec" | "decs" => "decade",
        "c" | "cent" => "century",
        "mil" | "mils" => "millennium",
        _ => return lower,
    };
    spelled.to_owned()
}

pub(super) fn is_time_field(field: &str) -> bool {
    matches!(
        field,
        "hour"
            | "hours"
            | "minute"
            | "minutes"
            | "second"
            | "seconds"
            | "millisecond"
            | "milliseconds"
            | "microsecond"
            | "microseconds"
            | "timezone"
            | "timezone_hour"
            | "timezone_minute"
    )
}

fn inline_part(field: &str) -> Option<DatePart> {
    Some(match field {
        "year" | "years" => DatePart::Year,
        "quarter" => DatePart::Quarter,
        "month" | "months" => DatePart::Month,
        "week" | "weeks" => DatePart::Week,
        "day" | "days" => DatePart::Day,
        "dow" => DatePart::DayOfWeek,
        "doy" => DatePart::DayOfYear,
        "hour" | "hours" => DatePart::Hour,
        "minute" | "minutes" => DatePart::Minute,
        "second" | "seconds" => DatePart::Second,
        "epoch" => DatePart::Epoch,
        _ => return None,
    })
}

/// Digits after the point of a timestamp's Julian day.
const JULIAN_SCALE: u8 = 20;

/// The decimal of a field, spelled out, of a date, time, timestamp or interval: PostgreSQL's digits after the point,
/// and room for the field of every value.
fn field_type(field: &str, of: LogicalType) -> LogicalType {
    let kind = of.kind();
    let (precision, scale) = match (field, kind) {
        ("second" | "seconds", _) => (8, 6),
        ("millisecond" | "milliseconds", _) => (8, 3),
        ("microsecond" | "microseconds", _) => (8, 0),
        ("epoch", Date) => (15, 0),
        ("epoch", Time) => (11, 6),
        ("epoch", Interval) => (22, 6),
        ("epoch", _) => (19, 6),
        ("julian", Date) => (10, 0),
        ("julian", _) => (30, JULIAN_SCALE),
        (_, Interval) => (10, 0),
        (field, _) if grows(field) => (7, 0),
        ("timezone", _) => (6, 0),
        _ => (3, 0),
    };
    LogicalType::Decimal { precision, scale }
}

/// A field of a value.
enum Field {
    /// A finite one, at the scale of the field's type.
    Number(i128),
    /// The field of an infinite value, if the field grows with time.
    Infinite { negative: bool },
    /// The field of an infinite value, if the field does not grow with time.
    Unknown,
}

/// The field of a row's date, time, timestamp or interval, spelled out. Errors 22023, 0A000.
fn field_of(row: &Row<'_>, field: &str) -> Result<Field> {
    let ty = row.ty(1);
    if ty.is_span() {
        return interval_field(field, row.interval(1)).map(Field::Number);
    }
    let moment = row.int(1);
    let is_infinite = match ty.kind() {
        Date => !is_finite_day(moment as i32),
        Timestamp | TimestampTz => !is_finite(moment),
        _ => false,
    };
    // An unknown field is an error of any value.
    let number = moment_field(field, if is_infinite { 0 } else { moment }, ty)?;
    Ok(match is_infinite {
        false => Field::Number(number),
        true if grows(field) => Field::Infinite { negative: moment < 0 },
        true => Field::Unknown,
    })
}

/// The field of a date, time, timestamp or instant that is finite.
fn moment_field(field: &str, moment: i64, ty: LogicalType) -> Result<i128> {
    match ty.kind() {
        Date => date_field(field, moment),
        Time => time_field(field, moment),
        TimestampTz => instant_field(field, moment, ty.zone()),
        _ => timestamp_field(field, moment),
    }
}

/// extract: a decimal. Infinity is the greatest or least one of its type.
fn extract_row(row: &Row<'_>, out: &mut Output) -> Result<()> {
    let field = unit_name(row.text(0));
    let exact = field_type(&field, row.ty(1));
    let number = match field_of(row, &field)? {
        Field::Number(number) => number,
        Field::Infinite { negative } => {
            let (least, greatest) = exact.range().unwrap_or_default();
            if negative { least } else { greatest }
        }
        Field::Unknown => return out.null(),
    };
    // A field that only the row names has the scale of all.
    let scales = (exact.scale().unwrap_or(0), out.ty().scale().unwrap_or(0));
    let number = decimal::rescale(number, scales.0, scales.1);
    out.int(number.ok_or_else(|| out.ty().overflow())?)
}

/// Seconds of an interval, by years of 365.25 days and months of 30; added in PostgreSQL's order, so that the last
/// digit is the same.
fn interval_seconds(i: frazil_types::Interval) -> f64 {
    let (years, months) = (f64::from(i.months / 12), f64::from(i.months % 12));
    let clock = i.micros as f64 / MICROS_PER_SECOND as f64;
    clock + 31_557_600.0 * years + 2_592_000.0 * months + 86_400.0 * f64::from(i.days)
}

/// date_part: a double.
fn part_row(row: &Row<'_>, out: &mut Output) -> Result<()> {
    let field = unit_name(row.text(0));
    if row.ty(1).is_span() && field == "epoch" {
        return out.value(&Value::Double(interval_seconds(row.interval(1))));
    }
    match field_of(row, &field)? {
        Field::Number(number) => {
            let exact = field_type(&field, row.ty(1));
            let double = value_ops::cast(
                &Value::Int(number),
                exact,
                LogicalType::Double,
                CastLength::Refuse,
            )?;
            out.value(&double)
        }
        Field::Infinite { negative: true } => out.value(&Value::Double(f64::NEG_INFINITY)),
        Field::Infinite { negative: false } => out.value(&Value::Double(f64::INFINITY)),
        Field::Unknown => out.null(),
    }
}

pub(super) fn unknown_field(field: &str, ty: &str) -> Error {
    let message = format!("unit \"{field}\" not recognized for type {ty}");
    Error::new(SqlState::INVALID_PARAMETER, message)
}

/// Years by centuries or millennia, which begin with year 1.
fn rounded_years(year: i64, span: i64) -> i64 {
    if year > 0 {
        (year + span - 1) / span
    } else {
        -((span - 1 - (year - 1)) / span)
    }
}

/// True for a field that grows with time: of infinity it is infinite, while the other fields are NULL.
fn grows(field: &str) -> bool {
    let fields = [
        "year",
        "years",
        "isoyear",
        "epoch",
        "decade",
        "decades",
        "century",
        "centuries",
        "millennium",
        "millennia",
        "julian",
    ];
    fields.contains(&field)
}

/// A field of a finite timestamp, at the scale of its [`field_type`]. Errors: 22023 for an unknown one, 0A000 for the
/// zone.
pub(super) fn timestamp_field(field: &str, micros: i64) -> Result<i128> {
    let (days, clock) = (
        micros.div_euclid(MICROS_PER_DAY),
        micros.rem_euclid(MICROS_PER_DAY),
    );
    if let Some(number) = clock_field(field, clock) {
        return Ok(number);
    }
    match field {
        "epoch" => Ok(micros.into()),
        "julian" => {
            let one = decimal::power_of_ten(JULIAN_SCALE);
            let fraction = decimal::divide_round(i128::from(clock) * one, MICROS_PER_DAY.into());
            Ok(julian_day(days) * one + fraction)
        }
        _ => day_field(field, days)?.ok_or_else(|| {
            if field.starts_with("timezone") && is_time_field(field) {
                let message = format!("unit \"{field}\" not supported for type timestamp without time zone");
                return Error::new(SqlState::FEATURE_NOT_SUPPORTED, message);
            }
            unknown_field(field, "timestamp without time zone")
        }),
    }
}

/// A field of the microseconds since midnight, at the scale of its [`field_type`]; `None` for what is not one.
pub(super) fn clock_field(field: &str, micros: i64) -> Option<i128> {
    let number = match field {
        "second" | "seconds" | "millisecond" | "milliseconds" | "microsecond" | "microseconds" => {
            micros % (60 * MICROS_PER_SECOND)
        }
        "minute" | "minutes" => micros / (60 * MICROS_PER_SECOND) % 60,
        "hour" | "hours" => micros / (3600 * MICROS_PER_SECOND),
        _ => return None,
    };
    Some(number.into())
}

/// The number of a day since Julian day 0, 4714-11-24 BC.
fn julian_day(days: i64) -> i128 {
    i128::from(days) + 2_440_588
}

/// A field of a finite date, at the scale of its [`field_type`]. Errors: 22023 for an unknown one, 0A000 for those of
/// times of day.
fn date_field(field: &str, days: i64) -> Result<i128> {
    match field {
        "epoch" => Ok(i128::from(days) * 86_400),
        "julian" => Ok(julian_day(days)),
        field if is_time_field(field) => {
            let message = format!("unit \"{field}\" not supported for type date");
            Err(Error::new(SqlState::FEATURE_NOT_SUPPORTED, message))
        }
        _ => day_field(field, days)?.ok_or_else(|| unknown_field(field, "date")),
    }
}

/// A field of the calendar; `None` for what is not one.
fn day_field(field: &str, days: i64) -> Result<Option<i128>> {
    let day_number = i32::try_from(days).map_err(|_| Error::internal("a day beyond dates"))?;
    let (year, month, day) = civil_from_days(day_number);
    let year = i64::from(year);
    // 1970-01-01 was a Thursday.
    let weekday = (days + 4).rem_euclid(7);
    let first = |year: i64| i64::from(days_from_civil(year as i32, 1, 1));
    let (iso_year, iso_week) = iso_week(days);
    let number = match field {
        // A year 0 is not counted: the year before 1 is −1.
        "year" | "years" => year - i64::from(year <= 0),
        "isoyear" => iso_year - i64::from(iso_year <= 0),
        "quarter" => (i64::from(month) - 1) / 3 + 1,
        "month" | "months" => month.into(),
        "week" | "weeks" => iso_week,
        "day" | "days" => day.into(),
        "dow" => weekday,
        "isodow" => (weekday + 6) % 7 + 1,
        "doy" => days - first(year) + 1,
        "decade" | "decades" => year.div_euclid(10),
        "century" | "centuries" => rounded_years(year, 100),
        "millennium" | "millennia" => rounded_years(year, 1000),
        _ => return Ok(None),
    };
    Ok(Some(number.into()))
}

/// ISO year and week of a day.
fn iso_week(days: i64) -> (i64, i64) {
    // The Thursday of the same week decides the year.
    let thursday = days - (days + 3).rem_euclid(7) + 3;
    let (year, _, _) = civil_from_days(thursday as i32);
    let first = i64::from(days_from_civil(year, 1, 1));
    (year.into(), (thursday - first) / 7 + 1)
}

/// A field of an interval, at the scale of its [`field_type`]. Errors: 22023 for an unknown one, 0A000 for one that
/// intervals lack.
fn interval_field(field: &str, i: frazil_types::Interval) -> Result<i128> {
    let (years, months) = (i64::from(i.months / 12), i64::from(i.months % 12));
    if let Some(number) = clock_field(field, i.micros) {
        return Ok(number);
    }
    let number = match field {
        "year" | "years" => years,
        "quarter" => months / 3 + 1,
        "month" | "months" => months,
        "day" | "days" => i.days.into(),
        "decade" | "decades" => years / 10,
        "century" | "centuries" => years / 100,
        "millennium" | "millennia" => years / 1000,
        // A year has 365.25 days here, a month that is left 30.
        "epoch" => {
            let days = i128::from(i.days) + i128::from(months) * 30;
            let seconds = i128::from(years) * 31_557_600 + days * 86_400;
            return Ok(seconds * i128::from(MICROS_PER_SECOND) + i128::from(i.micros));
        }
        "week" | "weeks" | "dow" | "isodow" | "doy" | "isoyear" | "julian" => {
            let message = format!("unit \"{field}\" not supported for type interval");
            return Err(Error::new(SqlState::FEATURE_NOT_SUPPORTED, message));
        }
        _ => return Err(unknown_field(field, "interval")),
    };
    Ok(number.into())
}
