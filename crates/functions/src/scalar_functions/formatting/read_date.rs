//! `to_date` and `to_timestamp`: reading a timestamp by a pattern. As in PostgreSQL, blanks and separators of the text need not be
//! those of the pattern, and a letter of the pattern stands for any character.

use super::date_pattern::{DAYS, Field, Letters, MONTHS, Ordinal, Part, Pattern, Place, ROMAN};
use frazil_types::date::{MICROS_PER_DAY, calendar_day, civil_from_days, days_from_civil, days_in_month};
use frazil_types::{Error, Result, SqlState};

const MICROS_PER_SECOND: i64 = 1_000_000;

/// Ways to name a day, which do not mix.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Convention {
    Gregorian,
    Iso,
}

/// What was read. 0 stands for a field that was not.
#[derive(Debug, Default)]
pub(super) struct Read {
    convention: Option<Convention>,
    hour: i64,
    minute: i64,
    second: i64,
    second_of_day: i64,
    weekday: i64,
    day: i64,
    day_of_year: i64,
    month: i64,
    millis: i64,
    micros: i64,
    year: i64,
    is_bc: bool,
    week: i64,
    week_of_month: i64,
    century: i64,
    julian: i64,
    year_digits: usize,
    /// Digits of a second that a keyword asks for, `FF3`.
    fraction_digits: Option<u8>,
    is_pm: bool,
    is_twelve_hours: bool,
}

/// The text that is left.
pub(super) struct Input<'t> {
    pub rest: &'t str,
    /// Blanks that were passed over and that the pattern did not have.
    pub skipped: i64,
}

pub(super) fn invalid(message: String) -> Error {
    Error::new(SqlState::INVALID_DATETIME, message)
}

pub(super) fn out_of_range(text: &str) -> Error {
    let message = format!("date/time field value out of range: \"{text}\"");
    Error::new(SqlState::DATETIME_OVERFLOW, message)
}

impl<'t> Input<'t> {
    fn skip_blanks(&mut self) {
        let rest = self.rest.trim_start();
        self.skipped += (self.rest.len() - rest.len()) as i64;
        self.rest = rest;
    }

    pub fn skip_character(&mut self) {
        let mut rest = self.rest.chars();
        rest.next();
        self.rest = rest.as_str();
    }

    /// A whole number of at most `length` digits; of any number of them where the field ends by itself. And how many characters
    /// it had. Error 22007.
    pub fn number(&mut self, length: usize, place: &Place, ends: bool) -> Result<(i64, usize)> {
        self.rest = self.rest.trim_start();
        let name = &place.keyword;
        let most: &str = match ends {
            true => self.rest,
            false => {
                let end = self
                    .rest
                    .char_indices()
                    .nth(length)
                    .map_or(self.rest.len(), |(at, _)| at);
                &self.rest[..end]
            }
        };
        if !ends && most.chars().count() < length {
            let message = format!("source string too short for \"{name}\" formatting field");
            return Err(invalid(message));
        }
        let digits = most.strip_prefix(['+', '-']).unwrap_or(most);
        let signed = most.len() - digits.len();
        let count = digits.bytes().take_while(u8::is_ascii_digit).count();
        let taken = if count == 0 { 0 } else { signed + count };
        let refused = |detail: String| {
            let message = format!("invalid value \"{most}\" for \"{name}\"");
            Err(invalid(message).with_detail(detail))
        };
        if taken == 0 {
            return refused("Value must be an integer.".to_owned());
        }
        if !ends && taken < length {
            return refused(format!(
                "Field requires {length} characters, but only {taken} could be parsed."
            ));
        }
        let value: i64 = most[..taken].parse().unwrap_or(i64::MAX);
        if i32::try_from(value).is_err() {
            let message = format!("value for \"{name}\" in source string is out of range");
            return Err(Error::new(SqlState::DATETIME_OVERFLOW, message));
        }
        self.rest = &self.rest[taken..];
        Ok((value, taken))
    }

    /// Which of some names the text begins with, in any letters. Error 22007.
    fn one_of(&mut self, names: &[&str], place: &Place) -> Result<usize> {
        let is_there = |name: &&str| {
            let start = self.rest.get(..name.len());
            start.is_some_and(|start| start.eq_ignore_ascii_case(name))
        };
        // The longest of those that begin alike.
        let found = (0..names.len())
            .filter(|&i| is_there(&names[i]))
            .max_by_key(|&i| names[i].len());
        match found {
            Some(found) => {
                self.rest = &self.rest[names[found].len()..];
                Ok(found)
            }
            None => {
                let word: String = self
                    .rest
                    .split_whitespace()
                    .next()
                    .unwrap_or("")
                    .chars()
                    .take(20)
                    .collect();
                let message = format!("invalid value \"{word}\" for \"{}\"", place.keyword);
                let detail = "The given value did not match any of the allowed values for this field.";
                Err(invalid(message).with_detail(detail))
            }
        }
    }
}

/// Sets a field that may be given only once, or twice alike. Error 22007.
fn set(field: &mut i64, value: i64, place: &Place) -> Result<()> {
    if *field != 0 && *field != value {
        let message = format!(
            "conflicting values for \"{}\" field in formatting string",
            place.keyword
        );
        let detail = "This value contradicts a previous setting for the same field type.";
        return Err(invalid(message).with_detail(detail));
    }
    *field = value;
    Ok(())
}

/// The timestamp that a text shows by a pattern, and the digits of a second that the pattern asks for (`FF3`). Errors: 22007, 22008; 0A000 for fields that only `to_char` has.
pub(super) fn read(text: &str, pattern: &Pattern) -> Result<(i64, Option<u8>)> {
    let mut read = Read::default();
    let mut input = Input {
        rest: text,
        skipped: 0,
    };
    let mut is_exact = false;
    for (at, part) in pattern.iter().enumerate() {
        if input.rest.is_empty() {
            break;
        }
        if !is_exact && (matches!(part, Part::Field(_)) || at == 0) {
            input.skip_blanks();
        }
        match part {
            Part::Separator(_) if is_exact => input.skip_character(),
            Part::Separator(_) => {
                input.skipped -= 1;
                let is_separator = |c: char| c.is_ascii() && !c.is_ascii_alphanumeric();
                if input.rest.starts_with(is_separator) {
                    input.skip_character();
                    input.skipped += 1;
                }
            }
            Part::Letter(_) if !is_exact && input.skipped > 0 => input.skipped -= 1,
            Part::Letter(_) => input.skip_character(),
            Part::Field(place) if place.field == Field::Exact => is_exact = true,
            Part::Field(place) => {
                read.field(place, ends(pattern, at), &mut input)?;
                if place.ordinal != Ordinal::None {
                    (0..2).for_each(|_| input.skip_character());
                }
                if !is_exact {
                    input.skipped = 0;
                    input.skip_blanks();
                }
            }
        }
    }
    Ok((read.timestamp(text)?, read.fraction_digits))
}

/// Whether a number of the pattern ends where its digits do: what follows is not a digit.
pub(super) fn ends(pattern: &Pattern, at: usize) -> bool {
    let Part::Field(place) = &pattern[at] else {
        return true;
    };
    if place.is_tight || place.ordinal != Ordinal::None {
        return true;
    }
    match pattern.get(at + 1) {
        None => true,
        Some(Part::Field(next)) => !next.is_number(),
        Some(Part::Separator(c) | Part::Letter(c)) => !c.is_ascii_digit(),
    }
}

impl Read {
    pub fn field(&mut self, place: &Place, ends: bool, input: &mut Input<'_>) -> Result<()> {
        self.check_convention(place)?;
        let dotted = place.keyword.contains('.');
        let mut number = |length: usize| input.number(length, place, ends);
        match place.field {
            Field::Hour12 => {
                self.is_twelve_hours = true;
                set(&mut self.hour, number(2)?.0, place)
            }
            Field::Hour24 => set(&mut self.hour, number(2)?.0, place),
            Field::Minute => set(&mut self.minute, number(2)?.0, place),
            Field::Second => set(&mut self.second, number(2)?.0, place),
            Field::SecondOfDay => set(&mut self.second_of_day, number(place.keyword.len())?.0, place),
            Field::Millisecond => {
                let (value, digits) = number(3)?;
                set(&mut self.millis, scaled(value, digits, 3), place)
            }
            Field::Microsecond => {
                let (value, digits) = number(6)?;
                set(&mut self.micros, scaled(value, digits, 6), place)
            }
            Field::Fraction(length) => {
                self.fraction_digits = Some(length as u8);
                let (value, digits) = number(length)?;
                set(&mut self.micros, scaled(value, digits, 6), place)
            }
            Field::Half => {
                let names: &[&str] = if dotted { &["A.M.", "P.M."] } else { &["AM", "PM"] };
                self.is_pm = input.one_of(names, place)? == 1;
                self.is_twelve_hours = true;
                Ok(())
            }
            Field::Era => {
                let names: &[&str] = if dotted { &["A.D.", "B.C."] } else { &["AD", "BC"] };
                self.is_bc = input.one_of(names, place)? == 1;
                Ok(())
            }
            _ => self.field_of_day(place, ends, input),
        }
    }

    fn field_of_day(&mut self, place: &Place, ends: bool, input: &mut Input<'_>) -> Result<()> {
        let short = |names: &[&'static str]| -> Vec<&'static str> { names.iter().map(|n| &n[..3]).collect() };
        let mut number = |length: usize| input.number(length, place, ends);
        match place.field {
            Field::MonthName => {
                let month = input.one_of(&MONTHS, place)? as i64 + 1;
                set(&mut self.month, month, place)
            }
            Field::MonthShort => {
                let month = input.one_of(&short(&MONTHS), place)? as i64 + 1;
                set(&mut self.month, month, place)
            }
            Field::RomanMonth => {
                debug_assert!(place.letters() != Letters::Capital);
                let month = input.one_of(&ROMAN, place)? as i64 + 1;
                set(&mut self.month, month, place)
            }
            Field::DayName | Field::DayShort => {
                let day = match place.field {
                    Field::DayName => input.one_of(&DAYS, place)?,
                    _ => input.one_of(&short(&DAYS), place)?,
                };
                // Compared with what was given before while Sunday is still 0, as in PostgreSQL.
                set(&mut self.weekday, day as i64, place)?;
                self.weekday += 1;
                Ok(())
            }
            Field::Month => set(&mut self.month, number(2)?.0, place),
            Field::DayOfMonth => set(&mut self.day, number(2)?.0, place),
            Field::DayOfYear => set(&mut self.day_of_year, number(3)?.0, place),
            Field::IsoDayOfYear => set(&mut self.day_of_year, number(4)?.0, place),
            Field::DayOfWeek => set(&mut self.weekday, number(1)?.0, place),
            Field::IsoDayOfWeek => {
                // Sunday is 1 inside, and 7 in the text.
                set(&mut self.weekday, number(1)?.0, place)?;
                self.weekday = if self.weekday > 6 { 1 } else { self.weekday + 1 };
                Ok(())
            }
            Field::Week | Field::IsoWeek => set(&mut self.week, number(2)?.0, place),
            Field::WeekOfMonth => set(&mut self.week_of_month, number(1)?.0, place),
            // It does not say which day: PostgreSQL passes it over.
            Field::Quarter => number(1).map(|_| ()),
            Field::Century => set(&mut self.century, number(2)?.0, place),
            Field::JulianDay => set(&mut self.julian, number(1)?.0, place),
            Field::YearWithComma => self.year_with_comma(place, input),
            Field::Year(length) | Field::IsoYear(length) => {
                let (value, digits) = number(length)?;
                self.year_digits = length;
                set(&mut self.year, value, place)?;
                if length < 4 && digits < 4 {
                    self.year = near_2020(value);
                }
                Ok(())
            }
            _ => Err(Error::unsupported(format!(
                "formatting field \"{}\" in anything but to_char",
                place.keyword
            ))),
        }
    }

    /// Error 22007 where fields of the Gregorian calendar and of ISO's weeks meet.
    fn check_convention(&mut self, place: &Place) -> Result<()> {
        let own = match place.field {
            Field::IsoYear(_) | Field::IsoWeek | Field::IsoDayOfYear | Field::IsoDayOfWeek => Convention::Iso,
            Field::DayOfYear
            | Field::DayOfMonth
            | Field::DayOfWeek
            | Field::Month
            | Field::MonthName
            | Field::MonthShort
            | Field::RomanMonth
            | Field::Week
            | Field::WeekOfMonth
            | Field::YearWithComma
            | Field::Year(_) => Convention::Gregorian,
            _ => return Ok(()),
        };
        if *self.convention.get_or_insert(own) == own {
            return Ok(());
        }
        let hint = "Do not mix Gregorian and ISO week date conventions in a formatting template.";
        Err(invalid("invalid combination of date conventions".to_owned()).with_hint(hint))
    }

    fn year_with_comma(&mut self, place: &Place, input: &mut Input<'_>) -> Result<()> {
        let parts = input.rest.split_once(',').and_then(|(thousands, rest)| {
            let end = rest.bytes().take_while(u8::is_ascii_digit).take(3).count();
            let year: i64 = thousands.parse::<i64>().ok()? * 1000 + rest[..end].parse::<i64>().ok()?;
            Some((year, &rest[end..]))
        });
        let Some((year, rest)) = parts else {
            return Err(invalid("invalid input string for \"Y,YYY\"".to_owned()));
        };
        input.rest = rest;
        self.year_digits = 4;
        set(&mut self.year, year, place)
    }

    /// Hour, minute, second and microseconds. Errors 22007, 22008.
    fn clock(&self, text: &str) -> Result<i64> {
        let given = |field: i64, otherwise: i64| if field == 0 { otherwise } else { field };
        let mut hour = given(self.hour, self.second_of_day / 3600);
        let minute = given(self.minute, self.second_of_day / 60 % 60);
        let second = given(self.second, self.second_of_day % 60);
        if self.is_twelve_hours {
            if !(1..=12).contains(&hour) {
                let message = format!("hour \"{hour}\" is invalid for the 12-hour clock");
                let hint = "Use the 24-hour clock, or give an hour between 1 and 12.";
                return Err(invalid(message).with_hint(hint));
            }
            hour = hour % 12 + if self.is_pm { 12 } else { 0 };
        }
        let micros = self.millis * 1000 + self.micros;
        if micros >= MICROS_PER_SECOND
            || !(0..24).contains(&hour)
            || !(0..60).contains(&minute)
            || !(0..60).contains(&second)
        {
            return Err(out_of_range(text));
        }
        Ok(((hour * 60 + minute) * 60 + second) * MICROS_PER_SECOND + micros)
    }

    /// The year that was read, year 0 being 1 BC.
    fn calendar_year(&self) -> i64 {
        let century = if self.is_bc { -self.century } else { self.century };
        match (self.year, century) {
            (0, 0) => 0,
            (0, century) if century >= 0 => (century - 1) * 100 + 1,
            (0, century) => century * 100 + 1,
            (year, century) if century != 0 && self.year_digits <= 2 => match (year % 100, century >= 0) {
                (0, true) => century * 100,
                (0, false) => century * 100 + 1,
                (year, true) => (century - 1) * 100 + year,
                (year, false) => (century + 1) * 100 - year + 1,
            },
            // A year with a sign is one before 1 as well, and one of both after 1.
            (year, _) => {
                let year = if self.is_bc { -year } else { year };
                year + i64::from(year < 0)
            }
        }
    }

    /// The timestamp of the fields that were read. Errors 22007, 22008.
    pub fn timestamp(&self, text: &str) -> Result<i64> {
        let clock = self.clock(text)?;
        let year = self.calendar_year();
        let (mut year, mut month, mut day) = (year, 1, 1);
        let mut day_of_year = self.day_of_year;
        if self.julian > 0 {
            let civil = civil_from_days((self.julian - 2_440_588) as i32);
            (year, month, day) = (civil.0.into(), civil.1.into(), civil.2.into());
        }
        let is_iso = self.convention == Some(Convention::Iso);
        if self.week > 0 && is_iso {
            // Monday where there is no day.
            let weekday = if self.weekday == 0 {
                0
            } else {
                (self.weekday + 5) % 7
            };
            let civil = civil_from_days((iso_start(year) + (self.week - 1) * 7 + weekday) as i32);
            (year, month, day) = (civil.0.into(), civil.1.into(), civil.2.into());
        } else if self.week > 0 {
            day_of_year = (self.week - 1) * 7 + 1;
        }
        if self.week_of_month > 0 {
            day = (self.week_of_month - 1) * 7 + 1;
        } else if self.day != 0 {
            day = self.day;
        }
        if self.month != 0 {
            month = self.month;
        }
        if day_of_year > 0 && (month <= 1 || day <= 1) {
            if year == 0 && !self.is_bc {
                let message = "cannot calculate day of year without year information";
                return Err(invalid(message.to_owned()));
            }
            let start = match is_iso {
                true => iso_start(year),
                false => i64::from(days_from_civil(year as i32, 1, 1)),
            };
            let civil = civil_from_days((start + day_of_year - 1) as i32);
            if !is_iso && i64::from(civil.0) != year {
                return Err(out_of_range(text));
            }
            // A month or day that was given stays.
            if is_iso {
                year = civil.0.into();
            }
            if month <= 1 || is_iso {
                month = civil.1.into();
            }
            if day <= 1 || is_iso {
                day = civil.2.into();
            }
        }
        let year = i32::try_from(year).map_err(|_| out_of_range(text))?;
        let is_day =
            (1..=12).contains(&month) && (1..=i64::from(days_in_month(year, month as u32))).contains(&day);
        let days = if is_day {
            calendar_day(year, month as u32, day as u32)
        } else {
            None
        };
        let days = i64::from(days.ok_or_else(|| out_of_range(text))?);
        let whole = days
            .checked_mul(MICROS_PER_DAY)
            .and_then(|days| days.checked_add(clock));
        whole.ok_or_else(|| out_of_range(text))
    }
}

/// Days since 1970-01-01 of the Monday that ISO's year begins with.
fn iso_start(year: i64) -> i64 {
    let fourth = i64::from(days_from_civil(year as i32, 1, 4));
    fourth - (fourth + 3).rem_euclid(7)
}

/// Digits behind a point as a number of so many digits.
fn scaled(value: i64, digits: usize, wanted: usize) -> i64 {
    value * 10_i64.pow(wanted.saturating_sub(digits) as u32)
}

/// A year of few digits as one near 2020.
fn near_2020(year: i64) -> i64 {
    year + match year {
        ..70 => 2000,
        70..100 => 1900,
        100..520 => 2000,
        520..1000 => 1000,
        _ => 0,
    }
}
