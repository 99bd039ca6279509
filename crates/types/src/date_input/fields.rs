//! The fields of a date and time, and which of them a text has set.

use super::decoded::{Decode, Refusal};
use crate::date::{MICROS_PER_DAY, calendar_day, civil_from_days, days_in_month};

/// Fields as bits.
pub(super) type Set = u16;

pub(super) const YEAR: Set = 1;
pub(super) const MONTH: Set = 1 << 1;
pub(super) const DAY: Set = 1 << 2;
pub(super) const HOUR: Set = 1 << 3;
pub(super) const MINUTE: Set = 1 << 4;
pub(super) const SECOND: Set = 1 << 5;
/// The fraction of a second.
pub(super) const FRACTION: Set = 1 << 6;
pub(super) const DAY_OF_YEAR: Set = 1 << 7;
/// A zone.
pub(super) const ZONE: Set = 1 << 8;
/// A zone whose clock is that of summer.
pub(super) const SUMMER_ZONE: Set = 1 << 9;
/// `dst` behind a zone.
pub(super) const SUMMER: Set = 1 << 10;
pub(super) const HALF: Set = 1 << 11;
pub(super) const ERA: Set = 1 << 12;
pub(super) const WEEKDAY: Set = 1 << 13;
/// A zone whose abbreviation has had several offsets.
pub(super) const MOVING_ZONE: Set = 1 << 15;
/// `epoch` or infinity: other fields beside it are read and have no effect.
pub(super) const SPECIAL: Set = 1 << 14;
pub(super) const DATE: Set = YEAR | MONTH | DAY;
pub(super) const TIME: Set = HOUR | MINUTE | SECOND | FRACTION;

/// Days from Julian day 0 to 1970-01-01.
const JULIAN_EPOCH: i32 = 2_440_588;

/// The fields that a text has set.
#[derive(Debug, Default)]
pub(super) struct Fields {
    pub set: Set,
    pub year: i32,
    pub month: i32,
    pub day: i32,
    pub hour: i32,
    pub minute: i32,
    pub second: i32,
    /// Microseconds of the second, up to 1,000,000.
    pub micros: i32,
    pub day_of_year: i32,
    /// True if the year was written with one or two digits.
    pub is_short_year: bool,
    /// `Some(true)` for PM.
    pub half: Option<bool>,
    pub is_bc: bool,
    /// True if the date was a Julian day: its year counts from 1 BC as 0.
    pub is_julian: bool,
    pub has_month_name: bool,
}

impl Fields {
    /// Notes the fields that a token has set. Refuses one that was set before.
    pub fn note(&mut self, sets: Set) -> Decode<()> {
        if self.set & sets != 0 {
            return Err(Refusal::Syntax);
        }
        self.set |= sets;
        Ok(())
    }

    /// True if all fields of `set` are set.
    pub fn has(&self, set: Set) -> bool {
        self.set & set == set
    }

    /// Sets the date to a day since 1970-01-01.
    pub fn set_day(&mut self, days: i32) {
        let (year, month, day) = civil_from_days(days);
        (self.year, self.month, self.day) = (year, month as i32, day as i32);
    }

    /// Sets the date to a Julian day, from 0 on.
    pub fn set_julian(&mut self, number: i32) {
        self.set_day(number - JULIAN_EPOCH);
        self.is_julian = true;
    }

    /// Sets the time to microseconds since midnight.
    pub fn set_clock(&mut self, micros: i64) {
        let (seconds, micros) = (micros / 1_000_000, micros % 1_000_000);
        let field = |seconds: i64| i32::try_from(seconds).unwrap_or(i32::MAX);
        (self.hour, self.minute) = (field(seconds / 3600), field(seconds / 60 % 60));
        (self.second, self.micros) = (field(seconds % 60), field(micros));
    }

    /// Microseconds since midnight.
    pub fn clock(&self) -> i64 {
        let (hour, minute, second) = (
            i64::from(self.hour),
            i64::from(self.minute),
            i64::from(self.second),
        );
        ((hour * 60 + minute) * 60 + second) * 1_000_000 + i64::from(self.micros)
    }

    /// Refuses a time that no day has: later than 24:00, or with a field beyond its range.
    pub fn check_clock(&self) -> Decode<()> {
        let is_in = |value: i32, most: i32| (0..=most).contains(&value);
        let each = is_in(self.hour, 24) && is_in(self.minute, 59) && is_in(self.second, 60);
        if each && is_in(self.micros, 1_000_000) && self.clock() <= MICROS_PER_DAY {
            return Ok(());
        }
        Err(Refusal::Field)
    }

    /// Gives the year its century and era, finds the day of a day of the year, and refuses days that do not exist.
    pub fn finish_date(&mut self) -> Decode<()> {
        if self.has(YEAR) && !self.is_julian {
            let is_two_digits = self.is_short_year && !self.is_bc;
            self.year = match self.year {
                year if is_two_digits && year < 70 => year + 2000,
                year if is_two_digits && year < 100 => year + 1900,
                year if year <= 0 && !is_two_digits => return Err(Refusal::Field),
                year if self.is_bc => 1 - year,
                year => year,
            };
        }
        if self.has(DAY_OF_YEAR) {
            let first = calendar_day(self.year, 1, 1).ok_or(Refusal::Field)?;
            self.set_day(first.saturating_add(self.day_of_year - 1));
        }
        if self.has(MONTH) && !(1..=12).contains(&self.month)
            || self.has(DAY) && !(1..=31).contains(&self.day)
        {
            return Err(Refusal::MonthOrDay);
        }
        if self.has(DATE) && self.day > days_in_month(self.year, self.month as u32) as i32 {
            return Err(Refusal::Field);
        }
        Ok(())
    }

    /// Moves the hour of a clock of twelve hours.
    pub fn finish_half(&mut self) -> Decode<()> {
        let Some(is_pm) = self.half else { return Ok(()) };
        if self.hour > 12 {
            return Err(Refusal::Field);
        }
        self.hour = self.hour % 12 + if is_pm { 12 } else { 0 };
        Ok(())
    }
}
