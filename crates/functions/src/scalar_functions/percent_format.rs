//! Dates and timestamps by C's and DuckDB's `%` patterns, and as numbers of seconds since 1970.

use super::formatting::{DAYS, MONTHS};
use crate::function::{Function, functions, rows};
use crate::type_rules::Kind::{BigInt, Date, Double, Interval, Text, Timestamp, TimestampTz};
use crate::vector::{Output, Row};
use frazil_types::date::{MICROS_PER_DAY, calendar_day, civil_from_days, days_from_civil, days_in_month};
use frazil_types::value_ops::interval_span;
use frazil_types::{Error, LogicalType, Result, SqlState};
use std::fmt::Write;

pub(super) const FUNCTIONS: &[Function] = functions! {
    "epoch", [
        rows(&[Date], |r, o| o.double(day_start(r)? as f64 / 1e6), Double),
        rows(&[Timestamp], |r, o| o.double(r.int(0) as f64 / 1e6), Double),
        rows(&[TimestampTz], |r, o| o.double(r.int(0) as f64 / 1e6), Double),
        rows(&[Interval], |r, o| o.double(interval_span(r.interval(0)) as f64 / 1e6), Double),
    ], "seconds since 1970, or of an interval";
    "epoch_ms", [
        rows(&[Date], |r, o| o.int(i128::from(day_start(r)? / 1000)), BigInt),
        rows(&[Timestamp], |r, o| o.int((r.int(0) / 1000).into()), BigInt),
        rows(&[TimestampTz], |r, o| o.int((r.int(0) / 1000).into()), BigInt),
        rows(&[Interval], |r, o| o.int(interval_span(r.interval(0)) / 1000), BigInt),
        rows(&[BigInt], |r, o| o.int(r.wide(0) * 1000), Timestamp),
    ], "milliseconds since 1970, or of an interval; the timestamp of a number of them";
    "epoch_us", [
        rows(&[Date], |r, o| o.int(day_start(r)?.into()), BigInt),
        rows(&[Timestamp], |r, o| o.int(r.wide(0)), BigInt),
        rows(&[TimestampTz], |r, o| o.int(r.wide(0)), BigInt),
        rows(&[Interval], |r, o| o.int(interval_span(r.interval(0))), BigInt),
    ], "microseconds since 1970, or of an interval";
    "strftime", [
        rows(&[Date, Text], |r, o| show(day_start(r)?, r.text(1), o), Text),
        rows(&[Timestamp, Text], |r, o| show(r.int(0), r.text(1), o), Text),
    ], "a date or timestamp as a text in a format of C's strftime, such as `%Y-%m-%d %H:%M:%S.%f`";
    "strptime", [rows(&[Text, Text], |r, o| o.int(read(r.text(0), r.text(1))?.into()), Timestamp)],
        "the timestamp of a text in a format of C's strptime";
};

/// Letters of a name that is cut.
const CUT: usize = 3;

/// Microseconds at which a day begins. Error 22008.
fn day_start(row: &Row<'_>) -> Result<i64> {
    row.int(0)
        .checked_mul(MICROS_PER_DAY)
        .ok_or_else(|| LogicalType::TIMESTAMP.overflow())
}

fn unknown(specifier: &str) -> Error {
    let message = format!("unrecognized format specifier \"%{specifier}\"");
    Error::new(SqlState::INVALID_PARAMETER, message)
}

/// A part of a pattern.
enum Part {
    Letter(char),
    /// `%d`, or `%-d`, which is not filled with zeros.
    Field {
        letter: char,
        is_short: bool,
    },
}

/// The parts of a pattern. Error 22023 for a `%` at its end.
fn parts(pattern: &str) -> impl Iterator<Item = Result<Part>> {
    let mut chars = pattern.chars();
    std::iter::from_fn(move || {
        let c = chars.next()?;
        if c != '%' {
            return Some(Ok(Part::Letter(c)));
        }
        let mut letter = chars.next();
        let is_short = letter == Some('-');
        if is_short {
            letter = chars.next();
        }
        Some(letter.map_or_else(|| Err(unknown("")), |letter| Ok(Part::Field { letter, is_short })))
    })
}

// --- Writing -----------------------------------------------------------------------------------

/// A timestamp as a calendar and a clock show it.
struct Moment {
    days: i64,
    year: i64,
    month: u32,
    day: u32,
    /// Sunday is 0.
    weekday: i64,
    /// From 1.
    day_of_year: i64,
    /// Microseconds of the day.
    clock: i64,
}

impl Moment {
    fn new(micros: i64) -> Moment {
        let days = micros.div_euclid(MICROS_PER_DAY);
        let (year, month, day) = civil_from_days(days as i32);
        Moment {
            days,
            year: year.into(),
            month,
            day,
            // 1970-01-01 was a Thursday.
            weekday: (days + 4).rem_euclid(7),
            day_of_year: days - i64::from(days_from_civil(year, 1, 1)) + 1,
            clock: micros.rem_euclid(MICROS_PER_DAY),
        }
    }

    fn hour(&self) -> i64 {
        self.clock / 3_600_000_000
    }

    /// The hour of a clock with twelve.
    fn half_day_hour(&self) -> i64 {
        (self.hour() + 11) % 12 + 1
    }

    /// Year and week of ISO 8601: a week belongs to the year of its Thursday.
    fn iso_week(&self) -> (i64, i64) {
        let thursday = self.days - (self.weekday + 6) % 7 + 3;
        let (year, ..) = civil_from_days(thursday as i32);
        (
            year.into(),
            (thursday - i64::from(days_from_civil(year, 1, 1))) / 7 + 1,
        )
    }

    /// The week of the year, 0 before its first `first` weekday.
    fn week_from(&self, first: i64) -> i64 {
        (self.day_of_year - 1 + 7 - (self.weekday + 7 - first) % 7) / 7
    }
}

/// Writes a timestamp by a pattern. Error 22023.
fn show(micros: i64, pattern: &str, out: &mut Output) -> Result<()> {
    let moment = Moment::new(micros);
    for part in parts(pattern) {
        match part? {
            Part::Letter(c) => out.scratch.push(c),
            Part::Field { letter, is_short } => show_field(&moment, letter, is_short, &mut out.scratch)?,
        }
    }
    out.scratch()
}

fn show_field(moment: &Moment, letter: char, is_short: bool, out: &mut String) -> Result<()> {
    let weekday = DAYS[moment.weekday as usize];
    let month = MONTHS[moment.month as usize - 1];
    let seconds = moment.clock / 1_000_000;
    let text = match letter {
        'a' => Some(&weekday[..CUT]),
        'A' => Some(weekday),
        'b' | 'h' => Some(&month[..CUT]),
        'B' => Some(month),
        'p' => Some(if moment.hour() < 12 { "AM" } else { "PM" }),
        'z' => Some("+00"),
        'Z' => Some(""),
        '%' => Some("%"),
        _ => None,
    };
    if let Some(text) = text.filter(|_| !is_short) {
        out.push_str(text);
        return Ok(());
    }
    let (number, width) = match letter {
        'w' => (moment.weekday, 1),
        'u' => ((moment.weekday + 6) % 7 + 1, 1),
        'd' => (moment.day.into(), 2),
        'm' => (moment.month.into(), 2),
        'y' => (moment.year.rem_euclid(100), 2),
        'Y' => (moment.year, 4),
        'G' => (moment.iso_week().0, 4),
        'H' => (moment.hour(), 2),
        'I' => (moment.half_day_hour(), 2),
        'M' => (seconds / 60 % 60, 2),
        'S' => (seconds % 60, 2),
        'f' => (moment.clock % 1_000_000, 6),
        'g' => (moment.clock / 1000 % 1000, 3),
        'n' => (moment.clock % 1_000_000 * 1000, 9),
        'j' => (moment.day_of_year, 3),
        'U' => (moment.week_from(0), 2),
        'W' => (moment.week_from(1), 2),
        'V' => (moment.iso_week().1, 2),
        'c' | 'x' | 'X' if !is_short => {
            let fields: &str = match letter {
                'c' => "Y-m-d H:M:S",
                'x' => "Y-m-d",
                _ => "H:M:S",
            };
            return fields.chars().try_for_each(|c| match c.is_ascii_alphabetic() {
                true => show_field(moment, c, false, out),
                false => {
                    out.push(c);
                    Ok(())
                }
            });
        }
        other => return Err(unknown(&format!("{}{other}", if is_short { "-" } else { "" }))),
    };
    let width = if is_short { 0 } else { width };
    // A String takes all that is written.
    let _ = write!(out, "{number:0width$}");
    Ok(())
}

// --- Reading -----------------------------------------------------------------------------------

/// What a text has said so far.
struct Said {
    year: i64,
    month: i64,
    day: i64,
    day_of_year: Option<i64>,
    hour: i64,
    is_afternoon: Option<bool>,
    minute: i64,
    second: i64,
    micros: i64,
}

/// A number of at most `digits` digits within `range`, taken from the beginning.
fn take_number(rest: &mut &str, digits: usize, range: std::ops::RangeInclusive<i64>) -> Option<i64> {
    let end = rest.bytes().take(digits).take_while(u8::is_ascii_digit).count();
    let number = rest[..end].parse().ok().filter(|n| range.contains(n))?;
    *rest = &rest[end..];
    Some(number)
}

/// The place of the name at the beginning, whole or cut, in any case.
fn take_name(rest: &mut &str, names: &[&str], is_whole: bool) -> Option<i64> {
    let length = |name: &str| if is_whole { name.len() } else { CUT };
    let at = names.iter().position(|name| {
        let beginning = rest.get(..length(name));
        beginning.is_some_and(|b| b.eq_ignore_ascii_case(&name[..length(name)]))
    })?;
    *rest = &rest[length(names[at])..];
    Some(at as i64)
}

/// Digits after the point of a second, as so many as `digits` are.
fn take_fraction(rest: &mut &str, digits: usize) -> Option<i64> {
    let length = rest.bytes().take(digits).take_while(u8::is_ascii_digit).count();
    let number = take_number(rest, digits, 0..=i64::MAX)?;
    Some(number * 10_i64.pow((digits - length) as u32))
}

impl Said {
    /// Takes what a field shows; `None` where the text shows something else. Error 22023 for a field that is not known.
    fn take(&mut self, letter: char, rest: &mut &str) -> Result<Option<()>> {
        let put = |place: &mut i64, read: Option<i64>| read.map(|n| *place = n);
        Ok(match letter {
            'Y' => put(&mut self.year, take_number(rest, 4, 0..=9999)),
            'y' => {
                let read = take_number(rest, 2, 0..=99);
                put(
                    &mut self.year,
                    read.map(|n| if n < 70 { n + 2000 } else { n + 1900 }),
                )
            }
            'm' => put(&mut self.month, take_number(rest, 2, 1..=12)),
            'd' => put(&mut self.day, take_number(rest, 2, 1..=31)),
            'H' => put(&mut self.hour, take_number(rest, 2, 0..=23)),
            'I' => put(&mut self.hour, take_number(rest, 2, 1..=12)),
            'M' => put(&mut self.minute, take_number(rest, 2, 0..=59)),
            'S' => put(&mut self.second, take_number(rest, 2, 0..=59)),
            'f' => put(&mut self.micros, take_fraction(rest, 6)),
            'g' => put(&mut self.micros, take_fraction(rest, 3).map(|n| n * 1000)),
            'n' => put(&mut self.micros, take_fraction(rest, 9).map(|n| n / 1000)),
            'b' | 'h' => put(&mut self.month, take_name(rest, &MONTHS, false).map(|n| n + 1)),
            'B' => put(&mut self.month, take_name(rest, &MONTHS, true).map(|n| n + 1)),
            'a' => take_name(rest, &DAYS, false).map(|_| ()),
            'A' => take_name(rest, &DAYS, true).map(|_| ()),
            'p' => take_name(rest, &["AM", "PM"], true).map(|n| self.is_afternoon = Some(n == 1)),
            'j' => take_number(rest, 3, 1..=366).map(|n| self.day_of_year = Some(n)),
            '%' => rest.strip_prefix('%').map(|behind| *rest = behind),
            other => return Err(unknown(&other.to_string())),
        })
    }

    /// Microseconds since 1970; `None` for a day that is not in the calendar.
    fn timestamp(&self) -> Option<i64> {
        let days = match self.day_of_year {
            Some(day) => i64::from(days_from_civil(self.year as i32, 1, 1)) + day - 1,
            None => {
                let (year, month) = (self.year as i32, self.month as u32);
                let is_there = self.day <= days_in_month(year, month).into();
                i64::from(calendar_day(year, month, self.day as u32).filter(|_| is_there)?)
            }
        };
        let hour = match self.is_afternoon {
            Some(is_afternoon) => self.hour % 12 + if is_afternoon { 12 } else { 0 },
            None => self.hour,
        };
        let seconds = (hour * 60 + self.minute) * 60 + self.second;
        Some(days * MICROS_PER_DAY + seconds * 1_000_000 + self.micros)
    }
}

/// The timestamp that a text shows by a pattern. Errors 22023 for the pattern, 22007 for the text.
fn read(text: &str, pattern: &str) -> Result<i64> {
    let mut said = Said {
        year: 1900,
        month: 1,
        day: 1,
        day_of_year: None,
        hour: 0,
        is_afternoon: None,
        minute: 0,
        second: 0,
        micros: 0,
    };
    let refused = || {
        let message = format!("could not read \"{text}\" by the pattern \"{pattern}\"");
        Error::new(SqlState("22007"), message)
    };
    let mut rest = text.trim_start();
    for part in parts(pattern) {
        let taken = match part? {
            Part::Letter(c) if c.is_whitespace() => {
                rest = rest.trim_start();
                Some(())
            }
            Part::Letter(c) => rest.strip_prefix(c).map(|behind| rest = behind),
            Part::Field { letter, .. } => said.take(letter, &mut rest)?,
        };
        taken.ok_or_else(refused)?;
    }
    match said.timestamp().filter(|_| rest.trim_end().is_empty()) {
        Some(micros) => Ok(micros),
        None => Err(refused()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn shown(micros: i64, pattern: &str) -> String {
        let mut out = String::new();
        let moment = Moment::new(micros);
        for part in parts(pattern) {
            match part.unwrap() {
                Part::Letter(c) => out.push(c),
                Part::Field { letter, is_short } => show_field(&moment, letter, is_short, &mut out).unwrap(),
            }
        }
        out
    }

    #[test]
    fn timestamps_are_shown_as_duckdb_shows_them() {
        let micros = read("2024-02-09 03:04:05.678901", "%Y-%m-%d %H:%M:%S.%f").unwrap();
        for (pattern, expected) in [
            ("%a|%A|%w|%u|%d|%-d", "Fri|Friday|5|5|09|9"),
            ("%b|%h|%B|%m|%-m|%y|%-y|%Y", "Feb|Feb|February|02|2|24|24|2024"),
            ("%H|%-H|%I|%-I|%p|%M|%-M|%S|%-S", "03|3|03|3|AM|04|4|05|5"),
            ("%f|%g|%n|%z|%Z|%j|%-j", "678901|678|678901000|+00||040|40"),
            (
                "%U|%W|%V|%G|%c|%x|%X|%%",
                "05|06|06|2024|2024-02-09 03:04:05|2024-02-09|03:04:05|%",
            ),
        ] {
            assert_eq!(shown(micros, pattern), expected);
        }
        let day = read("2023-01-01", "%Y-%m-%d").unwrap();
        assert_eq!(shown(day, "%j %U %W %V %G %u %w"), "001 01 00 52 2022 7 0");
    }

    #[test]
    fn texts_are_read_as_duckdb_reads_them() {
        for (text, pattern, expected) in [
            ("9 Feb 2024 3 PM", "%d %b %Y %I %p", "2024-02-09 15"),
            ("24", "%y", "2024-01-01 00"),
            ("70", "%y", "1970-01-01 00"),
            ("2024 100", "%Y %j", "2024-04-09 00"),
            ("  2024", "%Y", "2024-01-01 00"),
            ("Friday", "%A", "1900-01-01 00"),
            ("2024-1-5", "%Y-%m-%d", "2024-01-05 00"),
        ] {
            assert_eq!(
                shown(read(text, pattern).unwrap(), "%Y-%m-%d %H"),
                expected,
                "{text}"
            );
        }
        let state = |text, pattern| read(text, pattern).unwrap_err().state().0;
        for (text, pattern) in [
            ("2024-13-01", "%Y-%m-%d"),
            ("x", "%Y"),
            ("2024 x", "%Y"),
            ("2023-02-29", "%Y-%m-%d"),
        ] {
            assert_eq!(state(text, pattern), "22007");
        }
        assert_eq!(state("2024", "%Q"), "22023");
        assert_eq!(state("2024", "%Y%"), "22023");
    }
}
