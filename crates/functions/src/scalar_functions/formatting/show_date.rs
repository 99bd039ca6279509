//! `to_char` of timestamps and intervals.

use super::date_pattern::{DAYS, Field, Letters, MONTHS, Ordinal, Part, Pattern, Place, ROMAN};
use frazil_types::date::{MICROS_PER_DAY, civil_from_days, days_from_civil};
use frazil_types::zone::ZoneOffset;
use frazil_types::{Error, Interval, Result, SqlState};
use std::fmt::Write;

/// What a pattern shows of a timestamp, or of an interval, which has neither a weekday nor a month's name.
pub(super) struct Moment {
    is_interval: bool,
    /// Year 0 is 1 BC.
    year: i64,
    month: i64,
    day: i64,
    /// Days since 1970-01-01; of an interval 0.
    days: i64,
    hour: i64,
    minute: i64,
    second: i64,
    micros: i64,
    /// The zone's clock; `None` for a timestamp, which has none and shows an offset of 0.
    zone: Option<ZoneOffset>,
}

const MICROS_PER_SECOND: i64 = 1_000_000;
/// Days from Julian day 0 to 1970-01-01.
const JULIAN_EPOCH: i64 = 2_440_588;

impl Moment {
    /// The same, shown by a zone's clock.
    pub fn in_zone(self, zone: ZoneOffset) -> Moment {
        Moment {
            zone: Some(zone),
            ..self
        }
    }

    pub fn of_timestamp(micros: i64) -> Moment {
        let days = micros.div_euclid(MICROS_PER_DAY);
        let (year, month, day) = civil_from_days(days as i32);
        let moment = Moment {
            is_interval: false,
            year: year.into(),
            month: month.into(),
            day: day.into(),
            days,
            ..Moment::NOTHING
        };
        moment.at(micros.rem_euclid(MICROS_PER_DAY))
    }

    pub fn of_interval(i: Interval) -> Moment {
        let moment = Moment {
            year: (i.months / 12).into(),
            month: (i.months % 12).into(),
            day: i.days.into(),
            ..Moment::NOTHING
        };
        moment.at(i.micros)
    }

    const NOTHING: Moment = Moment {
        is_interval: true,
        year: 0,
        month: 0,
        day: 0,
        days: 0,
        hour: 0,
        minute: 0,
        second: 0,
        micros: 0,
        zone: None,
    };

    fn at(self, clock: i64) -> Moment {
        let seconds = clock / MICROS_PER_SECOND;
        Moment {
            hour: seconds / 3600,
            minute: seconds / 60 % 60,
            second: seconds % 60,
            micros: clock % MICROS_PER_SECOND,
            ..self
        }
    }

    /// Years as they are counted: there is no year 0.
    fn counted(&self, year: i64) -> i64 {
        if self.is_interval || year > 0 {
            year
        } else {
            1 - year
        }
    }

    fn day_of_year(&self) -> i64 {
        match self.is_interval {
            true => (self.year * 12 + self.month) * 30 + self.day,
            false => self.days - i64::from(days_from_civil(self.year as i32, 1, 1)) + 1,
        }
    }

    /// Of an interval the day with its years, months and days as numbers, as PostgreSQL computes it.
    fn julian_day(&self) -> i64 {
        if !self.is_interval {
            return self.days + JULIAN_EPOCH;
        }
        let (month, year) = match self.month > 2 {
            true => (self.month + 1, self.year + 4800),
            false => (self.month + 13, self.year + 4799),
        };
        let century = year / 100;
        let days = year * 365 - 32_167 + year / 4 - century + century / 4;
        days + 7834 * month / 256 + self.day
    }

    /// The place of the month among those of a year. An interval counts back from the year's end if it is negative; whole years
    /// are in the month before their first one.
    fn roman_month(&self) -> usize {
        let month = match self.month {
            0 if self.year < 0 => 1,
            month if month <= 0 => 12 + month + i64::from(month < 0),
            month => month,
        };
        (month - 1) as usize
    }

    /// 0 is Sunday.
    fn weekday(&self) -> i64 {
        (self.days + 4).rem_euclid(7)
    }

    /// The year and week of ISO 8601.
    fn iso(&self) -> (i64, i64) {
        let thursday = self.days - (self.days + 3).rem_euclid(7) + 3;
        let (year, _, _) = civil_from_days(thursday as i32);
        let first = i64::from(days_from_civil(year, 1, 1));
        (year.into(), (thursday - first) / 7 + 1)
    }

    fn century(&self) -> i64 {
        match self.year {
            year if self.is_interval => year / 100,
            year if year > 0 => (year - 1) / 100 + 1,
            year => year / 100 - 1,
        }
    }
}

/// Writes a moment by a pattern. Error 22007 for fields that an interval lacks.
pub(super) fn show(moment: &Moment, pattern: &Pattern, out: &mut String) -> Result<()> {
    for part in pattern {
        match part {
            Part::Separator(c) | Part::Letter(c) => out.push(*c),
            Part::Field(place) => field(moment, place, out)?,
        }
    }
    Ok(())
}

fn field(m: &Moment, place: &Place, out: &mut String) -> Result<()> {
    let start = out.len();
    match place.field {
        Field::Era | Field::Half => half_or_era(m, place, out)?,
        Field::DayName | Field::DayShort | Field::MonthName | Field::MonthShort | Field::RomanMonth => {
            name(m, place, out)?;
        }
        Field::Exact | Field::ZoneName | Field::ZoneHour | Field::ZoneMinute | Field::Offset => {
            zone(m, place, out)?
        }
        _ => number(m, place, out)?,
    }
    let is_zone = matches!(place.field, Field::ZoneHour | Field::ZoneMinute);
    if place.ordinal != Ordinal::None && place.is_number() && !is_zone && out.len() > start {
        out.push_str(ending(&out[start..], place.ordinal));
    }
    Ok(())
}

/// The ending that makes a number's text ordinal.
pub(super) fn ending(number: &str, ordinal: Ordinal) -> &'static str {
    let mut digits = number.bytes().rev();
    let (last, before) = (digits.next(), digits.next());
    let (upper, lower) = match last {
        Some(b'1') if before != Some(b'1') => ("ST", "st"),
        Some(b'2') if before != Some(b'1') => ("ND", "nd"),
        Some(b'3') if before != Some(b'1') => ("RD", "rd"),
        _ => ("TH", "th"),
    };
    if ordinal == Ordinal::Upper { upper } else { lower }
}

fn half_or_era(m: &Moment, place: &Place, out: &mut String) -> Result<()> {
    let first = match place.field {
        Field::Half if m.hour % 24 >= 12 => 'P',
        Field::Half => 'A',
        _ => {
            refuse_interval(m)?;
            if m.year <= 0 { 'B' } else { 'A' }
        }
    };
    let second = match (place.field, first) {
        (Field::Half, _) => 'M',
        (_, 'B') => 'C',
        _ => 'D',
    };
    let dot = if place.keyword.contains('.') { "." } else { "" };
    let text = format!("{first}{dot}{second}{dot}");
    out.push_str(&match place.letters() {
        Letters::Lower => text.to_ascii_lowercase(),
        Letters::Upper | Letters::Capital => text,
    });
    Ok(())
}

fn name(m: &Moment, place: &Place, out: &mut String) -> Result<()> {
    let (text, width) = match place.field {
        Field::RomanMonth if m.month == 0 && m.year == 0 => return Ok(()),
        Field::RomanMonth => (ROMAN[m.roman_month()], 4),
        Field::MonthName | Field::MonthShort => {
            refuse_interval(m)?;
            (MONTHS[(m.month - 1) as usize], 9)
        }
        _ => {
            refuse_interval(m)?;
            (DAYS[m.weekday() as usize], 9)
        }
    };
    let text = match place.field {
        Field::MonthShort | Field::DayShort => &text[..3],
        _ => text,
    };
    let start = out.len();
    match (place.letters(), place.field) {
        (Letters::Lower, _) => out.push_str(&text.to_ascii_lowercase()),
        (Letters::Upper, _) => out.push_str(&text.to_ascii_uppercase()),
        (Letters::Capital, _) => out.push_str(text),
    }
    let is_translated = place.is_translated && place.field != Field::RomanMonth;
    if !place.is_tight && !is_translated && !matches!(place.field, Field::MonthShort | Field::DayShort) {
        let blanks = width - (out.len() - start).min(width);
        out.extend(std::iter::repeat_n(' ', blanks));
    }
    Ok(())
}

fn refuse_interval(m: &Moment) -> Result<()> {
    match m.is_interval {
        false => Ok(()),
        true => Err(Error::new(
            SqlState::INVALID_DATETIME,
            "invalid format specification for an interval value",
        )
        .with_hint("Intervals are not tied to specific calendar dates.")),
    }
}

/// The zone of a timestamp; of one that has none the offset from UTC is 0.
fn zone(m: &Moment, place: &Place, out: &mut String) -> Result<()> {
    if place.field == Field::Exact {
        return Ok(());
    }
    refuse_interval(m)?;
    let seconds = m.zone.as_ref().map_or(0, |zone| zone.seconds);
    let (hours, minutes) = (seconds.unsigned_abs() / 3600, seconds.unsigned_abs() / 60 % 60);
    let sign = if seconds < 0 { '-' } else { '+' };
    let width = if place.is_tight { 1 } else { 2 };
    // A String takes all that is written.
    let _ = match place.field {
        Field::ZoneMinute => write!(out, "{minutes:02}"),
        Field::ZoneName => {
            if let Some(zone) = &m.zone {
                // chrono's tables call a zone without letters by its offset, as PostgreSQL does.
                match place.letters() {
                    Letters::Lower => out.push_str(&zone.abbreviation.to_ascii_lowercase()),
                    Letters::Upper | Letters::Capital => out.push_str(&zone.abbreviation),
                }
            }
            Ok(())
        }
        Field::Offset => {
            let _ = write!(out, "{sign}{hours:0width$}");
            if minutes == 0 {
                Ok(())
            } else {
                write!(out, ":{minutes:02}")
            }
        }
        _ => write!(out, "{sign}{hours:02}"),
    };
    Ok(())
}

/// Writes a number with zeros in front, up to `width` digits; with a sign in front one more.
fn padded(out: &mut String, value: i64, width: usize, is_tight: bool) {
    let width = match (is_tight, value < 0) {
        (true, _) => 0,
        (false, true) => width + 1,
        (false, false) => width,
    };
    if width == 2 && (0..100).contains(&value) {
        out.extend([value / 10, value % 10].map(|digit| char::from(b'0' + digit as u8)));
        return;
    }
    // A String takes all that is written.
    let _ = write!(out, "{value:0width$}");
}

/// The same with the sign as one of the digits.
fn padded_with_sign(out: &mut String, value: i64, width: usize, is_tight: bool) {
    padded(out, value, width - usize::from(value < 0), is_tight);
}

fn number(m: &Moment, place: &Place, out: &mut String) -> Result<()> {
    let tight = place.is_tight;
    match place.field {
        Field::Hour12 => {
            let hour = if m.hour % 12 == 0 { 12 } else { m.hour % 12 };
            match m.hour < 0 && hour > 0 {
                true => padded(out, hour, 3, tight),
                false => padded(out, hour, 2, tight),
            }
        }
        Field::Hour24 => padded(out, m.hour, 2, tight),
        Field::Minute => padded(out, m.minute, 2, tight),
        Field::Second => padded(out, m.second, 2, tight),
        Field::Fraction(digits) => {
            let fraction = m.micros / 10_i64.pow(6 - digits as u32);
            padded_with_sign(out, fraction, digits, false);
        }
        Field::Millisecond => padded_with_sign(out, m.micros / 1000, 3, false),
        Field::Microsecond => padded_with_sign(out, m.micros, 6, false),
        Field::SecondOfDay => padded(out, (m.hour * 60 + m.minute) * 60 + m.second, 0, true),
        Field::Month => padded(out, m.month, 2, tight),
        Field::DayOfMonth => padded_with_sign(out, m.day, 2, tight),
        Field::DayOfYear => padded_with_sign(out, m.day_of_year(), 3, tight),
        Field::WeekOfMonth => padded(out, (m.day - 1) / 7 + 1, 0, true),
        Field::Week => padded(out, (m.day_of_year() - 1) / 7 + 1, 2, tight),
        Field::Quarter if m.month == 0 => {}
        Field::Quarter => padded(out, (m.month - 1) / 3 + 1, 0, true),
        Field::JulianDay => padded(out, m.julian_day(), 0, true),
        Field::Century => {
            let century = m.century();
            match century.abs() < 100 {
                true => padded(out, century, 2, tight),
                false => padded(out, century, 0, true),
            }
        }
        Field::DayOfWeek => {
            refuse_interval(m)?;
            padded(out, m.weekday() + 1, 0, true);
        }
        Field::IsoDayOfWeek => {
            refuse_interval(m)?;
            padded(out, (m.weekday() + 6) % 7 + 1, 0, true);
        }
        Field::IsoWeek => padded(out, m.iso().1, 2, tight),
        Field::IsoDayOfYear => {
            let (_, week) = m.iso();
            padded(out, (week - 1) * 7 + (m.weekday() + 6) % 7 + 1, 3, tight);
        }
        Field::IsoYear(digits) => year(m, m.iso().0, digits, tight, out),
        Field::Year(digits) => year(m, m.year, digits, tight, out),
        Field::YearWithComma => {
            let year = m.counted(m.year);
            let _ = write!(out, "{},{:03}", year / 1000, year % 1000);
        }
        other => return Err(Error::internal(format!("{other:?} as a number"))),
    }
    Ok(())
}

fn year(m: &Moment, year: i64, digits: usize, tight: bool, out: &mut String) {
    let year = m.counted(year);
    match digits {
        4 => padded(out, year, 4, tight),
        digits => padded(out, year % 10_i64.pow(digits as u32), digits, tight),
    }
}
