//! `to_char` of timestamps by patterns of nothing but pairs of digits and what stands between, such as `YYYY-MM-DD
//! HH24:MI:SS`. Every text of such a pattern has the same length, so that a thread keeps the last one and only writes
//! the pairs anew, those of the date only for another day. The texts are those that `show_date` makes.

use super::date_pattern::{Field, Ordinal, Part, Place, with_pattern};
use frazil_types::date::{MICROS_PER_DAY, civil_from_days};
use std::cell::RefCell;

/// Years of four digits after Christ.
const YEARS: std::ops::RangeInclusive<i32> = 1..=9999;

/// Two digits of a date or of a time of day.
#[derive(Clone, Copy, Debug)]
enum Pair {
    YearHigh,
    YearLow,
    Month,
    Day,
    Hour24,
    Hour12,
    Minute,
    Second,
    /// Microseconds divided by this number, without hundreds.
    Micros(u32),
}

/// Where pairs of digits begin in a text, in bytes.
type Places = Vec<(usize, Pair)>;

struct FixedPattern {
    /// As it was written.
    pattern: String,
    /// Whether texts of the pattern have pairs of digits alone; if not, the other fields are empty.
    is_fixed: bool,
    date: Places,
    clock: Places,
    /// The last text.
    text: Vec<u8>,
    /// Days since 1970-01-01 of the date that `text` shows.
    day: Option<i64>,
}

/// Calls `take` with the text of a finite timestamp, microseconds since 1970-01-01, by a pattern; `None` where the
/// pattern has other fields, or the year other than four digits.
pub(super) fn shown<R>(pattern: &str, micros: i64, take: impl FnOnce(&str) -> R) -> Option<R> {
    thread_local! {
        static LAST: RefCell<Option<FixedPattern>> = const { RefCell::new(None) };
    }
    LAST.with_borrow_mut(|last| {
        let last = match last {
            Some(last) if last.pattern == pattern => last,
            other => other.insert(FixedPattern::of(pattern)),
        };
        last.shown(micros).map(take)
    })
}

impl FixedPattern {
    fn of(pattern: &str) -> FixedPattern {
        let mut made = FixedPattern {
            pattern: pattern.to_owned(),
            is_fixed: !pattern.is_empty(),
            date: Vec::new(),
            clock: Vec::new(),
            text: Vec::new(),
            day: None,
        };
        with_pattern(pattern, |parts| {
            made.is_fixed &= parts.iter().all(|part| made.add(part));
        });
        made
    }

    /// Puts a part behind the others; whether it always has the same length.
    fn add(&mut self, part: &Part) -> bool {
        match part {
            Part::Separator(c) | Part::Letter(c) => {
                self.text.extend_from_slice(c.encode_utf8(&mut [0; 4]).as_bytes());
                true
            }
            Part::Field(place) if place.is_tight || place.ordinal != Ordinal::None => false,
            Part::Field(place) => self.add_field(place),
        }
    }

    fn add_field(&mut self, place: &Place) -> bool {
        let (pairs, is_date): (&[Pair], bool) = match place.field {
            Field::Year(4) => (&[Pair::YearHigh, Pair::YearLow], true),
            Field::Year(2) => (&[Pair::YearLow], true),
            Field::Month => (&[Pair::Month], true),
            Field::DayOfMonth => (&[Pair::Day], true),
            Field::Hour24 => (&[Pair::Hour24], false),
            Field::Hour12 => (&[Pair::Hour12], false),
            Field::Minute => (&[Pair::Minute], false),
            Field::Second => (&[Pair::Second], false),
            Field::Microsecond | Field::Fraction(6) => {
                (&[Pair::Micros(10_000), Pair::Micros(100), Pair::Micros(1)], false)
            }
            _ => return false,
        };
        for pair in pairs {
            let places = if is_date { &mut self.date } else { &mut self.clock };
            places.push((self.text.len(), *pair));
            self.text.extend_from_slice(b"00");
        }
        true
    }

    fn shown(&mut self, micros: i64) -> Option<&str> {
        if !self.is_fixed {
            return None;
        }
        let day = micros.div_euclid(MICROS_PER_DAY);
        if self.day != Some(day) {
            self.show_date(day)?;
        }
        let micros = micros - day * MICROS_PER_DAY;
        let (seconds, micros) = ((micros / 1_000_000) as u32, (micros % 1_000_000) as u32);
        let hour = seconds / 3600;
        for &(at, pair) in &self.clock {
            let value = match pair {
                Pair::Hour24 => hour,
                Pair::Hour12 => (hour + 11) % 12 + 1,
                Pair::Minute => seconds / 60 % 60,
                Pair::Second => seconds % 60,
                Pair::Micros(unit) => micros / unit % 100,
                Pair::YearHigh | Pair::YearLow | Pair::Month | Pair::Day => continue,
            };
            write(&mut self.text, at, value);
        }
        std::str::from_utf8(&self.text).ok()
    }

    /// Writes the pairs of a date; `None` for a year of other than four digits.
    fn show_date(&mut self, days: i64) -> Option<()> {
        let (year, month, day) = civil_from_days(days as i32);
        if !YEARS.contains(&year) {
            return None;
        }
        for &(at, pair) in &self.date {
            let value = match pair {
                Pair::YearHigh => year as u32 / 100,
                Pair::YearLow => year as u32 % 100,
                Pair::Month => month,
                Pair::Day => day,
                Pair::Hour24 | Pair::Hour12 | Pair::Minute | Pair::Second | Pair::Micros(_) => continue,
            };
            write(&mut self.text, at, value);
        }
        self.day = Some(days);
        Some(())
    }
}

/// Writes a number below 100 as two digits.
fn write(text: &mut [u8], at: usize, value: u32) {
    if let Some(place) = text.get_mut(at..at + 2) {
        place.copy_from_slice(&[b'0' + (value / 10) as u8, b'0' + (value % 10) as u8]);
    }
}

#[cfg(test)]
mod tests {
    use super::super::show_date::{Moment, show};
    use super::*;

    #[test]
    fn texts_are_those_of_any_pattern() {
        let patterns = [
            "YYYY-MM-DD HH24:MI:SS",
            "YYYY-MM-DD HH24:MI",
            "YYYYMMDD\"T\"HH24MISS.US",
            "dd.mm.yy hh12:mi ü",
            "HH:MI FF6 YYYY YYYY",
            "MM",
            "/",
        ];
        let mut at = 3_u64;
        for pattern in patterns {
            for round in 0..20_000 {
                at = at
                    .wrapping_mul(6_364_136_223_846_793_005)
                    .wrapping_add(1_442_695_040_888_963_407);
                let micros = match round % 3 {
                    0 => (at >> 7) as i64 - (1 << 56),
                    1 => (at >> 24) as i64 - (1 << 39),
                    _ => i64::from(round) * 3_600_000_007 - 62_135_596_800_000_000,
                };
                let mut expected = String::new();
                let moment = Moment::of_timestamp(micros);
                with_pattern(pattern, |p| show(&moment, p, &mut expected)).unwrap();
                let made = shown(pattern, micros, str::to_owned);
                let is_year = YEARS.contains(&civil_from_days(micros.div_euclid(MICROS_PER_DAY) as i32).0);
                assert_eq!(made.is_some(), is_year, "{pattern} of {micros}");
                assert_eq!(
                    made.unwrap_or(expected.clone()),
                    expected,
                    "{pattern} of {micros}"
                );
            }
        }
        for other in ["", "FMMM", "MMth", "YYYY-Mon", "Y", "YYYY-MM-DD TZ", "MS", "D"] {
            assert!(shown(other, 0, str::len).is_none(), "{other}");
        }
    }
}
