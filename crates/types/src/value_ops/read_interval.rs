//! Reading intervals.

use crate::date::MICROS_PER_DAY;
use crate::date_input::{Token, TokenKind, interval_tokens};
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

/// Letters of a word that count, as in PostgreSQL.
const WORD_LETTERS: usize = 10;

/// The unit that a word names.
fn unit_of(name: &str) -> Option<Unit> {
    Some(match name.get(..WORD_LETTERS).unwrap_or(name) {
        "us" | "usec" | "usecs" | "usecond" | "useconds" | "microsecon" => Unit::Micros(1),
        "ms" | "msec" | "msecs" | "msecond" | "mseconds" | "millisecon" => Unit::Micros(1000),
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
    match text.strip_prefix('P') {
        Some(iso) => super::read_iso_interval::add(iso, text, &mut sum)?,
        None => {
            let tokens = interval_tokens(text).ok_or_else(|| invalid(text))?;
            add_tokens(&tokens, fields, text, &mut sum)?;
        }
    }
    let interval = sum.interval(text)?;
    Ok(fields.map_or(interval, |fields| truncate(interval, fields)))
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

/// Adds the tokens of a text, from the last: a word names the unit of the number in front of it. A number without a unit is one of days
/// in front of a clock, and has the unit of the fields at the end.
fn add_tokens(tokens: &[Token], fields: Option<IntervalFields>, text: &str, sum: &mut Sum) -> Result<()> {
    let mut unit = NextUnit::Last;
    let (mut set, mut is_ago): (Fields, bool) = (0, false);
    for token in tokens.iter().rev() {
        let sets = match token.kind {
            TokenKind::Time => {
                sum.micros = clock(&token.text, fields, text)?.into();
                unit = NextUnit::Of(Unit::Days(1));
                CLOCK
            }
            TokenKind::Offset | TokenKind::Date | TokenKind::Number => {
                match signed_clock(token, fields, text) {
                    Some(micros) => {
                        sum.micros = micros;
                        unit = NextUnit::Of(Unit::Days(1));
                        CLOCK
                    }
                    None => add_number(&token.text, &mut unit, fields, text, sum)?,
                }
            }
            TokenKind::Word | TokenKind::SignedWord => {
                unit = match unit_of(&token.text) {
                    Some(unit) => NextUnit::Of(unit),
                    None if token.text == "ago" => {
                        is_ago = true;
                        NextUnit::None
                    }
                    None if NO_UNITS.contains(&token.text.as_str()) => NextUnit::None,
                    None => return Err(invalid(text)),
                };
                0
            }
        };
        if set & sets != 0 {
            return Err(invalid(text));
        }
        set |= sets;
    }
    if set == 0 {
        return Err(invalid(text));
    }
    if is_ago {
        *sum = Sum {
            years: -sum.years,
            months: -sum.months,
            days: -sum.days,
            micros: -sum.micros,
        };
    }
    Ok(())
}

/// The unit of the next number to the left.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum NextUnit {
    /// Nothing has said: that of the fields, or seconds.
    Last,
    Of(Unit),
    /// No number may stand here.
    None,
}

/// Words of PostgreSQL that are units of nothing that an interval has.
const NO_UNITS: &[&str] = &["qtr", "quarter", "timezone", "timezone_h", "timezone_m"];

/// A clock with a sign, in microseconds; `None` for a token that is something else.
fn signed_clock(token: &Token, fields: Option<IntervalFields>, text: &str) -> Option<i128> {
    let is_clock = token.kind == TokenKind::Offset && token.text[1..].contains(':');
    let micros: i128 = is_clock
        .then(|| clock(&token.text[1..], fields, text).ok())??
        .into();
    Some(if token.text.starts_with('-') {
        -micros
    } else {
        micros
    })
}

/// Adds a number, `years-months` among them, and returns the fields that it sets.
fn add_number(
    token: &str,
    unit: &mut NextUnit,
    fields: Option<IntervalFields>,
    text: &str,
    sum: &mut Sum,
) -> Result<Fields> {
    let own = match *unit {
        NextUnit::Last => fields.map_or(SECOND, IntervalFields::last_unit),
        NextUnit::Of(unit) => unit,
        // A date may still be one of years and months.
        NextUnit::None => SECOND,
    };
    let is_negative = token.starts_with('-');
    let unsigned = token.strip_prefix(['-', '+']).unwrap_or(token);
    let (whole, rest) = integer(unsigned, text)?;
    let sign = if is_negative { -1 } else { 1 };
    let (number, own) = if let Some(months) = rest.strip_prefix('-') {
        let (is_below_zero, (months, rest)) = (months.starts_with('-'), integer(months, text)?);
        if months >= MONTHS_PER_YEAR || is_below_zero {
            return Err(field_overflow(text));
        }
        if !rest.is_empty() {
            return Err(invalid(text));
        }
        let all = whole
            .checked_mul(MONTHS_PER_YEAR)
            .and_then(|all| all.checked_add(months));
        let whole = sign * all.ok_or_else(|| field_overflow(text))?;
        *unit = NextUnit::Of(Unit::Month);
        (Number { whole, fraction: 0.0 }, Unit::Month)
    } else {
        let fraction: f64 = match rest {
            "" | "." => 0.0,
            rest if rest.starts_with('.') => rest.parse().map_err(|_| invalid(text))?,
            _ => return Err(invalid(text)),
        };
        if *unit == NextUnit::None {
            return Err(invalid(text));
        }
        // A number in front of hours counts days.
        *unit = NextUnit::Of(if own == HOUR { Unit::Days(1) } else { own });
        let number = Number {
            whole: sign * whole,
            fraction: sign as f64 * fraction,
        };
        (number, own)
    };
    sum.add(number, own).ok_or_else(|| field_overflow(text))?;
    Ok(own.fields(number.fraction))
}

/// The integer at the start of a text, 0 if there is none, and what follows. Error 22015.
fn integer<'t>(token: &'t str, text: &str) -> Result<(i64, &'t str)> {
    let digits = token.bytes().take_while(u8::is_ascii_digit).count();
    let (number, rest) = token.split_at(digits);
    match number {
        "" => Ok((0, rest)),
        number => Ok((number.parse().map_err(|_| field_overflow(text))?, rest)),
    }
}

/// `hours:minutes[:seconds]` in microseconds; in MINUTE TO SECOND, and with a fraction, two numbers are minutes and seconds.
/// Errors 22007, 22015.
fn clock(token: &str, fields: Option<IntervalFields>, text: &str) -> Result<i64> {
    let (first, rest) = integer(token, text)?;
    let rest = rest.strip_prefix(':').ok_or_else(|| invalid(text))?;
    let (second, rest) = integer(rest, text)?;
    let fraction = |rest: &str| match rest {
        "" | "." => Ok(0.0),
        rest if rest.starts_with('.') => rest.parse::<f64>().map_err(|_| invalid(text)),
        _ => Err(invalid(text)),
    };
    let (hours, minutes, seconds, fraction) = match rest.strip_prefix(':') {
        Some(rest) => {
            let (third, rest) = integer(rest, text)?;
            (first, second, third, fraction(rest)?)
        }
        None if rest.is_empty() && fields != Some(IntervalFields::MinuteToSecond) => (first, second, 0, 0.0),
        None => (0, first, second, fraction(rest)?),
    };
    let micros = (fraction * 1e6).round_ties_even() as i64;
    if minutes > 59 || seconds > 60 {
        return Err(field_overflow(text));
    }
    let hours = hours.checked_mul(3600 * MICROS_PER_SECOND);
    let all =
        hours.and_then(|hours| hours.checked_add((minutes * 60 + seconds) * MICROS_PER_SECOND + micros));
    all.ok_or_else(|| field_overflow(text))
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
