//! `to_char`, `to_date`, `to_timestamp` and `to_number`: values as texts by a pattern, and back.

mod date_pattern;
mod fixed_pattern;
mod number_pattern;
mod read_date;
mod read_exact;
mod read_number;
mod show_date;
mod show_number;

use crate::function::{Function, Overload, rows as over};
use crate::type_rules::Kind::{
    BigInt, Date, Double, Integer, Interval, Numeric, Real, Text, Timestamp, TimestampTz,
};
use crate::vector::{Output, Row};
pub(super) use date_pattern::{DAYS, MONTHS};
use frazil_types::date::{MICROS_PER_DAY, is_finite};
use frazil_types::decimal::{self, POWERS_OF_TEN, divide_round};
use frazil_types::logical_type::DECIMAL_MAX_DIGITS;
use frazil_types::numeric::Numeric as Number;
use frazil_types::{LogicalType, Result, value_ops};
use number_pattern::NumberPattern;
pub(crate) use read_exact::{Moment as ExactMoment, MomentKind, read_by, read_iso};
use show_date::Moment;
use show_number::Digits;

/// What `numeric` without precision is.
const NUMERIC: LogicalType = LogicalType::widest_exact(NUMERIC_SCALE);
const NUMERIC_SCALE: u8 = 10;
/// Significant digits of a double, and of a real, that are shown.
const DOUBLE_DIGITS: usize = 15;
const REAL_DIGITS: usize = 6;

/// `to_timestamp` by a pattern.
pub(super) const TO_TIMESTAMP: Overload = over(
    &[Text, Text],
    |row, out| {
        let (local, digits) = by_pattern(row)?;
        let instant = out.ty().zone().instant(local)?;
        out.int(match digits {
            Some(digits) => value_ops::round_micros(instant, LogicalType::Timestamp(digits))?.into(),
            None => instant.into(),
        })
    },
    TimestampTz,
);

pub(super) const FUNCTIONS: &[Function] = &[
    Function {
        name: "to_char",
        overloads: &[
            over(&[Timestamp, Text], timestamp_to_char, Text),
            over(&[TimestampTz, Text], instant_to_char, Text),
            over(&[Interval, Text], interval_to_char, Text),
            over(&[Integer, Text], exact_to_char, Text),
            over(&[BigInt, Text], exact_to_char, Text),
            over(&[Numeric, Text], exact_to_char, Text),
            over(
                &[Real, Text],
                |row, out| double_to_char(row, REAL_DIGITS, out),
                Text,
            ),
            over(
                &[Double, Text],
                |row, out| double_to_char(row, DOUBLE_DIGITS, out),
                Text,
            ),
        ],
        description: "a date, time or number as a text in a format",
    },
    Function {
        name: "to_date",
        overloads: &[over(
            &[Text, Text],
            |row, out| out.int(by_pattern(row)?.0.div_euclid(MICROS_PER_DAY).into()),
            Date,
        )],
        description: "the date of a text in a format",
    },
    Function {
        name: "to_number",
        overloads: &[over(&[Text, Text], to_number, Numeric)],
        description: "the number of a text in a format",
    },
];

/// The timestamp of a row's text by its pattern, and the digits of a second that the pattern asks for.
fn by_pattern(row: &Row<'_>) -> Result<(i64, Option<u8>)> {
    date_pattern::with_pattern(row.text(1), |p| read_date::read(row.text(0), p))
}

fn timestamp_to_char(row: &Row<'_>, out: &mut Output) -> Result<()> {
    if !is_finite(row.int(0)) {
        return out.null();
    }
    match fixed_pattern::shown(row.text(1), row.int(0), |text| out.text(text)) {
        Some(done) => done,
        None => moment_to_char(&Moment::of_timestamp(row.int(0)), row, out),
    }
}

fn instant_to_char(row: &Row<'_>, out: &mut Output) -> Result<()> {
    if !is_finite(row.int(0)) {
        return out.null();
    }
    let zone = row.ty(0).zone();
    let local = zone.local(row.int(0))?;
    match fixed_pattern::shown(row.text(1), local, |text| out.text(text)) {
        Some(done) => done,
        None => moment_to_char(
            &Moment::of_timestamp(local).in_zone(zone.at(row.int(0))),
            row,
            out,
        ),
    }
}

fn interval_to_char(row: &Row<'_>, out: &mut Output) -> Result<()> {
    moment_to_char(&Moment::of_interval(row.interval(0)), row, out)
}

fn moment_to_char(moment: &Moment, row: &Row<'_>, out: &mut Output) -> Result<()> {
    if row.text(1).is_empty() {
        return out.null();
    }
    // The longest keyword is a month's name, which two letters may ask for.
    out.room(5 * row.text(1).len())?;
    date_pattern::with_pattern(row.text(1), |p| show_date::show(moment, p, &mut out.scratch))?;
    out.scratch()
}

fn exact_to_char(row: &Row<'_>, out: &mut Output) -> Result<()> {
    let number = row.numeric(0)?;
    let (value, scale) = (number.coefficient(), number.scale());
    out.room(16 + 4 * row.text(1).len())?;
    number_pattern::with_pattern(row.text(1), |p| {
        if p.is_scientific {
            out.scratch.push_str(&exact_scientific(value, scale, p.behind));
        } else if p.roman.is_some() {
            let whole = decimal::rescale(value, scale, 0).and_then(|v| i64::try_from(v).ok());
            show_number::show_roman(whole, p, &mut out.scratch);
        } else {
            show_number::show(p, &exact_digits(value, scale, p)?, &mut out.scratch);
        }
        Ok(())
    })?;
    out.scratch()
}

/// A number with an exponent and so many digits behind the point, rounded half away from zero: as in PostgreSQL after
/// the exponent is known, so that 9.96 becomes `10.0e+00`.
fn exact_scientific(value: i128, scale: u8, behind: usize) -> String {
    let digits = value.unsigned_abs().checked_ilog10().unwrap_or(0) as u8;
    let exponent = if value == 0 {
        0
    } else {
        i32::from(digits) - i32::from(scale)
    };
    let behind = behind.min(usize::from(DECIMAL_MAX_DIGITS)) as u8;
    let mantissa = decimal::rescale(value, if value == 0 { 0 } else { digits }, behind).unwrap_or(i128::MAX);
    let mut text = String::new();
    // A String takes all that is written.
    let _ = decimal::write(&mut text, mantissa, behind);
    scientific(&format!("{text}e{exponent}"))
}

/// A number's digits, rounded to those of a pattern. Error 22003.
fn exact_digits(value: i128, scale: u8, pattern: &NumberPattern) -> Result<Digits> {
    let behind = pattern.behind.min(usize::from(DECIMAL_MAX_DIGITS)) as u8;
    let shifted = POWERS_OF_TEN
        .get(pattern.shifted)
        .and_then(|power| value.checked_mul(*power));
    let shifted = shifted.ok_or_else(|| NUMERIC.overflow())?;
    let rounded = match scale > behind {
        true => divide_round(shifted, POWERS_OF_TEN[usize::from(scale - behind)]),
        false => shifted,
    };
    let mut text = String::new();
    let _ = decimal::write(&mut text, rounded, scale.min(behind));
    Ok(with_digits(&text, rounded < 0, pattern.behind))
}

/// A text's digits, with zeros behind the point up to so many.
fn with_digits(text: &str, is_negative: bool, behind: usize) -> Digits {
    let mut text = text.trim_start_matches('-').to_owned();
    if behind > 0 {
        let there = text.split_once('.').map_or(0, |(_, behind)| behind.len());
        if there == 0 {
            text.push('.');
        }
        text.extend(std::iter::repeat_n('0', behind - there.min(behind)));
    }
    Digits {
        is_negative,
        text,
        behind,
    }
}

/// A number with an exponent as C writes it, with a blank in place of a plus.
fn scientific(text: &str) -> String {
    let (mantissa, exponent) = text.split_once('e').unwrap_or((text, "0"));
    let exponent: i32 = exponent.parse().unwrap_or(0);
    let blank = if mantissa.starts_with('-') { "" } else { " " };
    let sign = if exponent < 0 { '-' } else { '+' };
    format!("{blank}{mantissa}e{sign}{:02}", exponent.abs())
}

fn double_to_char(row: &Row<'_>, digits: usize, out: &mut Output) -> Result<()> {
    let value = row.double(0);
    out.room(400 + 4 * row.text(1).len())?;
    number_pattern::with_pattern(row.text(1), |p| {
        if p.is_scientific && value.is_finite() {
            out.scratch
                .push_str(&scientific(&format!("{:.*e}", p.behind, value)));
        } else if p.is_scientific {
            out.scratch
                .push_str(&format!(" {}", "#".repeat(p.before + p.behind + 5)));
        } else if p.roman.is_some() {
            let rounded = value.round_ties_even();
            let whole = (rounded.abs() < 1e9).then_some(rounded as i64);
            show_number::show_roman(whole, p, &mut out.scratch);
        } else {
            let value = value * 10_f64.powi(p.shifted as i32);
            let infinite = value.is_infinite().then(|| "Infinity".to_owned());
            let whole = infinite.clone().unwrap_or_else(|| format!("{:.0}", value.abs()));
            // Beyond its significant digits a double has none.
            let behind = p.behind.min(digits.saturating_sub(whole.len()));
            let text = infinite.unwrap_or_else(|| format!("{:.*}", behind, value.abs()));
            let digits = Digits {
                // Also of a zero below zero.
                is_negative: value.is_sign_negative() && !value.is_nan(),
                text,
                behind,
            };
            show_number::show(p, &digits, &mut out.scratch);
        }
        Ok(())
    })?;
    out.scratch()
}

/// Errors 22P02, 22003.
fn to_number(row: &Row<'_>, out: &mut Output) -> Result<()> {
    if row.text(1).is_empty() {
        return out.null();
    }
    let (text, shifted) = number_pattern::with_pattern(row.text(1), |p| {
        read_number::read(row.text(0), p).map(|text| (text, p.shifted))
    })?;
    out.numeric(Number::read(&text)?.shifted(shifted))
}
