//! Reading intervals.

use crate::date::MICROS_PER_DAY;
use crate::{Error, Interval, Result, SqlState};

const MONTHS_PER_YEAR: i64 = 12;
const DAYS_PER_MONTH: i64 = 30;
const MICROS_PER_SECOND: i64 = 1_000_000;

/// What `INTERVAL '…' fields` keeps, and which unit a number without one has.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum IntervalFields {
    /// YEAR.
    Year,
    /// MONTH, YEAR TO MONTH.
    Month,
    /// DAY.
    Day,
    /// HOUR, DAY TO HOUR.
    Hour,
    /// MINUTE, DAY TO MINUTE, HOUR TO MINUTE.
    Minute,
    /// SECOND, DAY TO SECOND, HOUR TO SECOND.
    Second,
    /// MINUTE TO SECOND.
    MinuteToSecond,
}

impl IntervalFields {
    /// The unit of a number without one that nothing follows.
    fn last_unit(self) -> Unit {
        match self {
            IntervalFields::Year => Unit::Years(1),
            IntervalFields::Month => Unit::Month,
            IntervalFields::Day => Unit::Days(1),
            IntervalFields::Hour => HOUR,
            IntervalFields::Minute => MINUTE,
            IntervalFields::Second | IntervalFields::MinuteToSecond => SECOND,
        }
    }
}

pub(super) fn invalid(text: &str) -> Error {
    let message = format!("invalid input syntax for type interval: \"{text}\"");
    Error::new(SqlState::INVALID_DATETIME, message)
}

pub(super) fn field_overflow(text: &str) -> Error {
    let message = format!("interval field value out of range: \"{text}\"");
    Error::new(SqlState::INTERVAL_OVERFLOW, message)
}

/// A sum in the making, wide enough that only the end is checked. Years and months are counted apart: each may be too
/// many for itself, or both together.
#[derive(Default)]
pub(super) struct Sum {
    years: i64,
    months: i64,
    days: i64,
    micros: i128,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Unit {
    Micros(i64),
    Days(i64),
    Month,
    Years(i64),
}

pub(super) const SECOND: Unit = Unit::Micros(MICROS_PER_SECOND);
pub(super) const MINUTE: Unit = Unit::Micros(60 * MICROS_PER_SECOND);
pub(super) const HOUR: Unit = Unit::Micros(3600 * MICROS_PER_SECOND);

/// Fields of an interval that a part of its text sets, one bit each: none may be set twice.
type Fields = u16;

const SECONDS: Fields = 0b111;
const CLOCK: Fields = SECONDS | 0b11000;
const MONTHS: Fields = 1 << 7;

impl Unit {
    /// The fields that a number of this unit sets: a fraction of seconds sets what is smaller, too.
    fn fields(self, fraction: f64) -> Fields {
        match self {
            SECOND if fraction != 0.0 => SECONDS,
            Unit::Micros(1) => 1,
            Unit::Micros(1_000) => 1 << 1,
            SECOND => 1 << 2,
            MINUTE => 1 << 3,
            Unit::Micros(_) => 1 << 4,
            Unit::Days(1) => 1 << 5,
            Unit::Days(_) => 1 << 6,
            Unit::Month => MONTHS,
            Unit::Years(1) => 1 << 8,
            Unit::Years(10) => 1 << 9,
            Unit::Years(100) => 1 << 10,
            Unit::Years(_) => 1 << 11,
        }
    }
}

/// A part of an interval's text.
enum Part {
    /// A number without a unit: what stands behind it tells the unit.
    Bare(Number),
    /// What is in the sum already: its fields, and the unit of a bare number in front of it.
    Added(Fields, Unit),
}

fn unit_of(name: &str) -> Option<Unit> {
    Some(match name {
        "us" | "usec" | "usecs" | "usecond" | "useconds" | "microsecond" | "microseconds" => Unit::Micros(1),
        "ms" | "msec" | "msecs" | "msecond" | "mseconds" | "millisecond" | "milliseconds" => {
            Unit::Micros(1000)
        }
        "s" | "sec" | "secs" | "second" | "seconds" => Unit::Micros(MICROS_PER_SECOND),
        "m" | "min" | "mins" | "minute" | "minutes" => Unit::Micros(60 * MICROS_PER_SECOND),
        "h" | "hr" | "hrs" | "hour" | "hours" => Unit::Micros(3600 * MICROS_PER_SECOND),
        "d" | "day" | "days" => Unit::Days(1),
        "w" | "week" | "weeks" => Unit::Days(7),
        "mon" | "mons" | "month" | "months" => Unit::Month,
        "y" | "yr" | "yrs" | "year" | "years" => Unit::Years(1),
        "dec" | "decs" | "decade" | "decades" => Unit::Years(10),
        "c" | "cent" | "century" | "centuries" => Unit::Years(100),
        "mil" | "mils" | "millennia" | "millennium" => Unit::Years(1000),
        _ => return None,
    })
}

/// A number as written: its whole part and its fraction, both with the sign.
#[derive(Clone, Copy)]
pub(super) struct Number {
    pub whole: i64,
    pub fraction: f64,
}

impl Sum {
    pub fn add(&mut self, n: Number, unit: Unit) -> Option<()> {
        match unit {
            Unit::Micros(scale) => {
                self.micros += i128::from(n.whole) * i128::from(scale);
                self.add_micros(n.fraction, scale);
            }
            Unit::Days(days) => {
                self.days = self.days.checked_add(n.whole.checked_mul(days)?)?;
                if days == 1 {
                    self.add_micros(n.fraction, MICROS_PER_DAY);
                } else {
                    self.add_days(n.fraction, days);
                }
            }
            Unit::Month => {
                self.months = self.months.checked_add(n.whole)?;
                self.add_days(n.fraction, DAYS_PER_MONTH);
            }
            Unit::Years(years) => {
                self.years = self.years.checked_add(n.whole.checked_mul(years)?)?;
                let more = (n.fraction * (years * MONTHS_PER_YEAR) as f64).round_ties_even();
                self.months = self.months.checked_add(more as i64)?;
            }
        }
        Some(())
    }

    /// A fraction of a unit of `scale` microseconds, to the nearest microsecond.
    fn add_micros(&mut self, fraction: f64, scale: i64) {
        let micros = fraction * scale as f64;
        let whole = micros.trunc();
        let rest = micros - whole;
        self.micros += whole as i128
            + if rest > 0.5 {
                1
            } else if rest < -0.5 {
                -1
            } else {
                0
            };
    }

    /// A fraction of a unit of so many days: whole days, and what is left as time.
    fn add_days(&mut self, fraction: f64, days: i64) {
        let days = fraction * days as f64;
        self.days += days.trunc() as i64;
        self.add_micros(days - days.trunc(), MICROS_PER_DAY);
    }

    /// Errors: 22015 where a field is too large for itself, 22008 where years and months are together.
    fn interval(&self, text: &str) -> Result<Interval> {
        let fields = || -> Option<(i32, i32, i32, i64)> {
            Some((
                self.years.try_into().ok()?,
                self.months.try_into().ok()?,
                self.days.try_into().ok()?,
                self.micros.try_into().ok()?,
            ))
        };
        let (years, months, days, micros) = fields().ok_or_else(|| field_overflow(text))?;
        let months = i64::from(years) * MONTHS_PER_YEAR + i64::from(months);
        let months = i32::try_from(months)
            .map_err(|_| Error::new(SqlState::DATETIME_OVERFLOW, "interval out of range"))?;
        Ok(Interval { months, days, micros })
    }
}

/// Reads a signed number at the start of `text`; returns what follows.
pub(super) fn number(text: &str) -> Option<(Number, bool, &str)> {
    let (negative, digits) = match text.as_bytes().first()? {
        b'-' => (true, text[1..].trim_start()),
        b'+' => (false, text[1..].trim_start()),
        _ => (false, text),
    };
    let end = digits
        .find(|c: char| !c.is_ascii_digit() && c != '.')
        .unwrap_or(digits.len());
    let (read, rest) = digits.split_at(end);
    let (whole, fraction) = read.split_once('.').unwrap_or((read, ""));
    if whole.is_empty() && fraction.is_empty() || fraction.contains('.') {
        return None;
    }
    let whole: i64 = if whole.is_empty() { 0 } else { whole.parse().ok()? };
    let fraction: f64 = if fraction.is_empty() {
        0.0
    } else {
        format!("0.{fraction}").parse().ok()?
    };
    let sign = if negative { -1 } else { 1 };
    let number = Number {
        whole: sign * whole,
        fraction: sign as f64 * fraction,
    };
    Some((number, negative, rest))
}

/// Reads an interval: PostgreSQL's units and clock, the SQL standard's `1-2`, and ISO 8601's `P…`. `fields` says how a
/// number without unit counts, and what is cut off. Errors 22007, 22008, 22015.
pub fn parse_interval(text: &str, fields: Option<IntervalFields>) -> Result<Interval> {
    let mut sum = Sum::default();
    match text.trim().strip_prefix('P') {
        Some(iso) => super::read_iso_interval::add(iso, text, &mut sum)?,
        None => parse_units(&separated(text), fields, text, &mut sum)?,
    }
    let interval = sum.interval(text)?;
    Ok(fields.map_or(interval, |fields| truncate(interval, fields)))
}

/// The text in lower case, with blanks in place of punctuation that separates its parts.
fn separated(text: &str) -> String {
    let shown = |c: char| match c {
        '+' | '-' | '.' | ':' | '/' | '_' => c,
        c if c.is_ascii_punctuation() => ' ',
        c => c.to_ascii_lowercase(),
    };
    text.trim().chars().map(shown).collect()
}

/// Drops what is finer than the fields asked for.
pub fn truncate(i: Interval, fields: IntervalFields) -> Interval {
    let whole = |unit: i64| i.micros / unit * unit;
    match fields {
        IntervalFields::Year => Interval {
            months: i.months / 12 * 12,
            days: 0,
            micros: 0,
        },
        IntervalFields::Month => Interval {
            days: 0,
            micros: 0,
            ..i
        },
        IntervalFields::Day => Interval { micros: 0, ..i },
        IntervalFields::Hour => Interval {
            micros: whole(3600 * MICROS_PER_SECOND),
            ..i
        },
        IntervalFields::Minute => Interval {
            micros: whole(60 * MICROS_PER_SECOND),
            ..i
        },
        IntervalFields::Second | IntervalFields::MinuteToSecond => i,
    }
}

fn parse_units(lower: &str, fields: Option<IntervalFields>, text: &str, sum: &mut Sum) -> Result<()> {
    let mut rest = lower.trim_start();
    let mut parts: Vec<Part> = Vec::new();
    let mut ago = false;
    while !rest.is_empty() {
        if let Some(after) = rest.strip_prefix("ago") {
            // What stands in front of it has a unit. It turns what follows, too.
            let has_unit = !matches!(parts.last(), Some(Part::Bare(_)));
            if !has_unit || after.starts_with(|c: char| c.is_ascii_alphanumeric()) {
                return Err(invalid(text));
            }
            ago = true;
            rest = after.trim_start();
            continue;
        }
        let (n, negative, after) = number(rest).ok_or_else(|| number_error(rest, text))?;
        let (part, after) = match after.as_bytes().first() {
            Some(b':') => {
                let after = clock(n, negative, after, fields, text, sum)?;
                (Part::Added(CLOCK, Unit::Days(1)), after)
            }
            Some(b'-') if n.fraction == 0.0 => {
                let after = years_and_months(n, negative, after, text, sum)?;
                (Part::Added(MONTHS, Unit::Month), after)
            }
            _ => with_unit(n, after, text, sum)?,
        };
        parts.push(part);
        rest = after.trim_start();
    }
    add_bare(&parts, fields, text, sum)?;
    if ago {
        *sum = Sum {
            years: -sum.years,
            months: -sum.months,
            days: -sum.days,
            micros: -sum.micros,
        };
    }
    Ok(())
}

/// 22015 for digits that are too many, else 22007.
pub(super) fn number_error(rest: &str, text: &str) -> Error {
    let digits = rest
        .trim_start_matches(['-', '+'])
        .bytes()
        .take_while(u8::is_ascii_digit)
        .count();
    if digits > 18 {
        field_overflow(text)
    } else {
        invalid(text)
    }
}

/// Adds numbers without a unit, from the last: it has that of the part behind it, days in front of hours and clocks, and at
/// the end that of the fields. 22007 for no part, and for a field that is set twice.
fn add_bare(parts: &[Part], fields: Option<IntervalFields>, text: &str, sum: &mut Sum) -> Result<()> {
    let mut unit = fields.map_or(SECOND, IntervalFields::last_unit);
    let mut set: Fields = 0;
    for part in parts.iter().rev() {
        let sets = match *part {
            Part::Bare(n) => {
                sum.add(n, unit).ok_or_else(|| field_overflow(text))?;
                let sets = unit.fields(n.fraction);
                unit = in_front_of(unit);
                sets
            }
            Part::Added(sets, in_front) => {
                unit = in_front;
                sets
            }
        };
        if set & sets != 0 {
            return Err(invalid(text));
        }
        set |= sets;
    }
    match parts.is_empty() {
        true => Err(invalid(text)),
        false => Ok(()),
    }
}

/// The unit of a bare number in front of a number of some unit.
fn in_front_of(unit: Unit) -> Unit {
    match unit {
        HOUR => Unit::Days(1),
        other => other,
    }
}

/// A number with the unit that follows it, if one does.
fn with_unit<'a>(n: Number, after: &'a str, text: &str, sum: &mut Sum) -> Result<(Part, &'a str)> {
    let unit_text = after.trim_start();
    let end = unit_text
        .find(|c: char| !c.is_ascii_alphabetic())
        .unwrap_or(unit_text.len());
    let unit = match &unit_text[..end] {
        "" | "ago" => return Ok((Part::Bare(n), unit_text)),
        name => unit_of(name).ok_or_else(|| invalid(text))?,
    };
    // A word with digits or signs behind it is a date or a zone, unless it is a word of dates itself.
    let is_of_dates = matches!(&unit_text[..end], "d" | "h" | "m" | "s" | "y" | "mon" | "dec");
    let is_longer = match unit_text[end..].chars().next() {
        Some('-' | '.' | '/' | '_') => true,
        Some('+' | '0'..='9') => !is_of_dates,
        _ => false,
    };
    if is_longer {
        return Err(invalid(text));
    }
    sum.add(n, unit).ok_or_else(|| field_overflow(text))?;
    let part = Part::Added(unit.fields(n.fraction), in_front_of(unit));
    Ok((part, &unit_text[end..]))
}

/// `-MM` of the SQL standard's `YYYY-MM`.
fn years_and_months<'a>(
    years: Number,
    negative: bool,
    after: &'a str,
    text: &str,
    sum: &mut Sum,
) -> Result<&'a str> {
    let (months, _, rest) = number(&after[1..]).ok_or_else(|| invalid(text))?;
    if !rest.is_empty() && !rest.starts_with(' ') {
        return Err(invalid(text));
    }
    if !(0..12).contains(&months.whole) || months.fraction != 0.0 {
        return Err(field_overflow(text));
    }
    let months = if negative { -months.whole } else { months.whole };
    let whole = years.whole.checked_mul(MONTHS_PER_YEAR);
    let both = whole
        .and_then(|whole| whole.checked_add(months))
        .map(|whole| Number { whole, fraction: 0.0 });
    let added = both.and_then(|both| sum.add(both, Unit::Month));
    added.ok_or_else(|| field_overflow(text))?;
    Ok(rest)
}

/// `hours:minutes[:seconds]`; in MINUTE TO SECOND two parts are minutes and seconds.
fn clock<'a>(
    first: Number,
    negative: bool,
    after: &'a str,
    fields: Option<IntervalFields>,
    text: &str,
    sum: &mut Sum,
) -> Result<&'a str> {
    let (second, _, rest) = number(&after[1..]).ok_or_else(|| invalid(text))?;
    let (third, rest) = match rest.strip_prefix(':') {
        Some(rest) => number(rest)
            .map(|(n, _, rest)| (Some(n), rest))
            .ok_or_else(|| invalid(text))?,
        None => (None, rest),
    };
    let minutes_first =
        third.is_none() && (fields == Some(IntervalFields::MinuteToSecond) || second.fraction != 0.0);
    let zero = Number {
        whole: 0,
        fraction: 0.0,
    };
    let (hours, minutes, seconds) = match third {
        Some(seconds) => (first, second, seconds),
        None if minutes_first => (zero, first, second),
        None => (first, second, zero),
    };
    let bad = |n: Number, most: i64| n.whole < 0 || n.whole > most;
    if bad(minutes, 59) && !(minutes_first && negative) || bad(seconds, 60) {
        return Err(field_overflow(text));
    }
    let flip = |n: Number| {
        if negative {
            Number {
                whole: -n.whole,
                fraction: -n.fraction,
            }
        } else {
            n
        }
    };
    let minutes = if minutes_first { minutes } else { flip(minutes) };
    let added = sum
        .add(hours, Unit::Micros(3600 * MICROS_PER_SECOND))
        .and_then(|()| sum.add(minutes, Unit::Micros(60 * MICROS_PER_SECOND)))
        .and_then(|()| sum.add(flip(seconds), Unit::Micros(MICROS_PER_SECOND)));
    added.ok_or_else(|| field_overflow(text))?;
    Ok(rest)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::date::write_interval;

    fn written(i: Interval) -> String {
        let mut out = String::new();
        write_interval(&mut out, i).unwrap();
        out
    }

    #[test]
    fn reads_as_postgresql_does() {
        for (text, expected) in [
            ("0.05 year", "1 mon"),
            ("0.05 month", "1 day 12:00:00"),
            ("1.5 weeks", "10 days 12:00:00"),
            ("1-2", "1 year 2 mons"),
            ("-1-2", "-1 years -2 mons"),
            ("1 year -3 days", "1 year -3 days"),
            ("-1 day 02:03", "-1 days +02:03:00"),
            ("2 days ago", "-2 days"),
            ("P1Y2M3DT4H5M6.5S", "1 year 2 mons 3 days 04:05:06.5"),
            ("P0001-02-03T04:05:06", "1 year 2 mons 3 days 04:05:06"),
            ("P1.5Y", "1 year 6 mons"),
            ("1:30", "01:30:00"),
            ("01:30.5", "00:01:30.5"),
            ("3 4:05:06", "3 days 04:05:06"),
            ("1.5 days", "1 day 12:00:00"),
            ("1.5 mon 1.3 h", "1 mon 15 days 01:18:00"),
            ("-1.5 month", "-1 mons -15 days"),
            ("@ 1 minute", "00:01:00"),
            ("- 1 day", "-1 days"),
            ("3 decades", "30 years"),
            ("-1:30", "-01:30:00"),
            ("30 24:00:00", "30 days 24:00:00"),
        ] {
            assert_eq!(written(parse_interval(text, None).unwrap()), expected, "{text}");
        }
    }

    #[test]
    fn what_is_not_an_interval_is_named() {
        for (text, state) in [
            ("", "22007"),
            ("fortnight", "22007"),
            ("1 fortnight", "22007"),
            ("P", "22007"),
            ("ago", "22007"),
            ("1:60:00", "22015"),
            ("2147483648 days", "22015"),
            ("99999999999 years", "22015"),
            ("P99999999999Y", "22015"),
            ("2147483648 years", "22015"),
            ("1789569700 decades", "22015"),
            ("2147483648 months", "22015"),
            ("178956970-8", "22015"),
            ("178956971 years", "22008"),
            ("178956970 years 8 months", "22008"),
            ("178956970.99 years", "22008"),
            ("2147483647 months 1 year", "22008"),
            ("-178956970 years -9 months", "22008"),
            ("P178956970Y8M", "22008"),
            ("178957 millennia", "22008"),
            ("2020-01-01", "22007"),
        ] {
            assert_eq!(parse_interval(text, None).unwrap_err().state().0, state, "{text}");
        }
    }

    #[test]
    fn fields_give_a_unit_and_cut() {
        use IntervalFields::*;
        for (text, fields, expected) in [
            ("1", Year, "1 year"),
            ("1.7", Month, "1 mon"),
            ("5:30", Second, "05:30:00"),
            ("5:30", MinuteToSecond, "00:05:30"),
            ("1 2", Hour, "1 day 02:00:00"),
            ("90", Minute, "01:30:00"),
            ("1 2:03", Hour, "1 day 02:00:00"),
        ] {
            assert_eq!(
                written(parse_interval(text, Some(fields)).unwrap()),
                expected,
                "{text}"
            );
        }
    }
}
