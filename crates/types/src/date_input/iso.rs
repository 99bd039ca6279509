//! Dates and timestamps as ISO 8601 and this program write them. A text that is written in any other way, or that
//! names a day or time
//! that does not exist, is left to the decoders.
//!
//! Years before 1 are read here alone: `0000-03-15` is in 1 BC, `-0043-03-15` in 44 BC.

use crate::date::{MICROS_PER_DAY, calendar_day, days_in_month, is_finite};

/// Bytes that are left of a text.
struct Rest<'t>(&'t [u8]);

impl Rest<'_> {
    /// A number of `least` to `most` digits.
    fn number(&mut self, least: usize, most: usize) -> Option<i32> {
        let count = self
            .0
            .iter()
            .take(most + 1)
            .take_while(|c| c.is_ascii_digit())
            .count();
        if !(least..=most).contains(&count) {
            return None;
        }
        let (digits, rest) = self.0.split_at(count);
        self.0 = rest;
        Some(
            digits
                .iter()
                .fold(0, |value, digit| value * 10 + i32::from(digit - b'0')),
        )
    }

    /// Takes a character; false if another one is next.
    fn take(&mut self, c: u8) -> bool {
        let is_next = self.0.first() == Some(&c);
        if is_next {
            self.0 = &self.0[1..];
        }
        is_next
    }

    /// Days since 1970-01-01 of `YYYY-MM-DD`.
    fn day(&mut self) -> Option<i32> {
        let sign = if self.take(b'-') { -1 } else { 1 };
        let year = sign * self.number(4, 7)?;
        let month = self.take(b'-').then(|| self.number(2, 2))?? as u32;
        let day = self.take(b'-').then(|| self.number(2, 2))?? as u32;
        let exists = (1..=12).contains(&month) && (1..=days_in_month(year, month)).contains(&day);
        exists.then(|| calendar_day(year, month, day))?
    }

    /// Microseconds since midnight of `HH:MM[:SS[.ffffff]]`.
    fn clock(&mut self) -> Option<i64> {
        let hour = self.number(2, 2)?;
        let minute = self.take(b':').then(|| self.number(2, 2))??;
        let (mut second, mut micros) = (0, 0);
        let has_seconds = self.take(b':');
        if has_seconds {
            second = self.number(2, 2)?;
        }
        // A fraction without seconds would make minutes and seconds of the two numbers: the decoder's business.
        if has_seconds && self.take(b'.') {
            let before = self.0.len();
            let value = self.number(1, 6)?;
            micros = value * 10_i32.pow(6 - (before - self.0.len()) as u32);
        }
        let whole = (i64::from(hour) * 60 + i64::from(minute)) * 60 + i64::from(second);
        (hour < 24 && minute < 60 && second < 60).then_some(whole * 1_000_000 + i64::from(micros))
    }

    /// Seconds that `Z`, `+HH`, `+HH:MM` or `+HH:MM:SS` is ahead of UTC; the inner `None` at the end of the text.
    fn offset(&mut self) -> Option<Option<i64>> {
        let sign = match self.0 {
            [] => return Some(None),
            [b'Z' | b'z'] => return Some(Some(0)),
            [b'+', ..] => 1,
            [b'-', ..] => -1,
            _ => return None,
        };
        self.0 = &self.0[1..];
        let hours = self.number(2, 2)?;
        let mut fields = [0, 0];
        for field in &mut fields {
            if self.take(b':') {
                *field = self.number(2, 2)?;
            }
        }
        let exists = self.0.is_empty() && hours < 16 && fields[0] < 60 && fields[1] < 60;
        exists.then(|| Some(sign * i64::from((hours * 60 + fields[0]) * 60 + fields[1])))
    }
}

/// Days since 1970-01-01.
pub(super) fn date(text: &str) -> Option<i32> {
    let mut rest = Rest(text.as_bytes());
    rest.day().filter(|_| rest.0.is_empty())
}

/// Microseconds since 1970-01-01, whatever the offset.
pub(super) fn timestamp(text: &str) -> Option<i64> {
    instant(text).map(|(local, _)| local)
}

/// Microseconds since 1970-01-01 by a clock, and the seconds that it is ahead of UTC if the text says so.
pub(super) fn instant(text: &str) -> Option<(i64, Option<i64>)> {
    let mut rest = Rest(text.as_bytes());
    let days = i64::from(rest.day()?).checked_mul(MICROS_PER_DAY)?;
    if rest.0.is_empty() {
        return Some((days, None));
    }
    if !(rest.take(b' ') || rest.take(b'T')) {
        return None;
    }
    let clock = rest.clock()?;
    let offset = rest.offset()?;
    let local = days.checked_add(clock).filter(|local| is_finite(*local))?;
    Some((local, offset))
}
