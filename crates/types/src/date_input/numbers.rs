//! Numbers of dates and times, whose meaning depends on their digits and on what was read before them.

use super::decoded::{Decode, Refusal};
use super::fields::{DATE, DAY, DAY_OF_YEAR, FRACTION, Fields, MONTH, SECOND, Set, TIME, YEAR, ZONE};
use super::words::{Word, word};

/// Farthest hour that a zone is from UTC.
const MOST_HOURS_AHEAD: i32 = 15;

/// The integer at the start of a text, 0 if there is none, and what follows. `beyond` is the refusal of one that 32
/// bits do not hold.
pub(super) fn integer(text: &str, beyond: Refusal) -> Decode<(i32, &str)> {
    let digits = text.bytes().take_while(u8::is_ascii_digit).count();
    let (number, rest) = text.split_at(digits);
    match number {
        "" => Ok((0, rest)),
        number => Ok((number.parse().map_err(|_| beyond)?, rest)),
    }
}

/// The fraction that a point and digits are, below 1.
pub(super) fn fraction(text: &str) -> Decode<f64> {
    match text {
        "." => Ok(0.0),
        text => text.parse().map_err(|_| Refusal::Syntax),
    }
}

/// A fraction of a second, in microseconds.
pub(super) fn second_fraction(text: &str) -> Decode<i32> {
    Ok((fraction(text)? * 1e6).round_ties_even() as i32)
}

/// Digits as a number. One that 32 bits do not hold is another number, which is out of the range of all fields.
fn digits(text: &str) -> i32 {
    text.parse::<i64>().unwrap_or(i64::MAX) as i32
}

/// Reads an offset from UTC behind its sign: `+2`, `+02`, `+0200`, `+02:00` or `+02:00:00`. In seconds, east is
/// positive.
pub(super) fn offset(text: &str) -> Decode<i64> {
    let beyond = || Refusal::Displacement;
    let sign = match text.as_bytes().first() {
        Some(b'+') => 1,
        Some(b'-') => -1,
        _ => return Err(Refusal::Syntax),
    };
    if text[1..].starts_with('-') {
        return Err(beyond());
    }
    let (mut hours, mut rest) = integer(&text[1..], beyond())?;
    let (mut minutes, mut seconds) = (0, 0);
    if let Some(behind) = rest.strip_prefix(':') {
        (minutes, rest) = integer(behind, beyond())?;
        if let Some(behind) = rest.strip_prefix(':') {
            (seconds, rest) = integer(behind, beyond())?;
        }
    } else if rest.is_empty() && text.len() > 3 {
        (hours, minutes) = (hours / 100, hours % 100);
    }
    if hours > MOST_HOURS_AHEAD || minutes > 59 || seconds > 59 {
        return Err(Refusal::Displacement);
    }
    match rest {
        "" => Ok(sign * i64::from((hours * 60 + minutes) * 60 + seconds)),
        _ => Err(Refusal::Syntax),
    }
}

impl Fields {
    /// Reads `HH:MM[:SS[.ffffff]]` or `MM:SS.ffffff`.
    pub fn colons(&mut self, text: &str) -> Decode<Set> {
        let (hour, rest) = integer(text, Refusal::Field)?;
        let behind = rest.strip_prefix(':').ok_or(Refusal::Syntax)?;
        let (minute, rest) = integer(behind, Refusal::Field)?;
        (self.hour, self.minute, self.second, self.micros) = (hour, minute, 0, 0);
        if rest.starts_with('.') {
            self.micros = second_fraction(rest)?;
            (self.hour, self.minute, self.second) = (0, hour, minute);
        } else if let Some(behind) = rest.strip_prefix(':') {
            let (second, rest) = integer(behind, Refusal::Field)?;
            self.second = second;
            if !rest.is_empty() {
                let is_fraction = rest.starts_with('.');
                self.micros = if is_fraction {
                    second_fraction(rest)?
                } else {
                    return Err(Refusal::Syntax);
                };
            }
        } else if !rest.is_empty() {
            return Err(Refusal::Syntax);
        }
        if self.minute > 59 || self.second > 60 || self.micros > 1_000_000 {
            return Err(Refusal::Field);
        }
        Ok(TIME)
    }

    /// Reads the parts of a date with any separators between them: numbers, and perhaps the name of a month.
    pub fn date(&mut self, text: &str) -> Decode<Set> {
        let parts = date_parts(text)?;
        let before = self.set;
        let mut has_month_name = false;
        let (words, numbers): (Vec<&str>, Vec<&str>) = parts
            .into_iter()
            .partition(|part| part.starts_with(|c: char| c.is_ascii_alphabetic()));
        for part in words {
            let Some(Word::Month(month)) = word(part) else {
                return Err(Refusal::Syntax);
            };
            (self.month, has_month_name) = (month, true);
            self.note(MONTH)?;
        }
        for part in numbers {
            let sets = self.number(part, has_month_name, self.set)?;
            self.note(sets)?;
        }
        if self.set & !(DAY_OF_YEAR | ZONE) != DATE {
            return Err(Refusal::Syntax);
        }
        // The caller notes what this date has set.
        let sets = self.set & !before;
        self.set = before;
        Ok(sets)
    }

    /// Reads a number whose meaning is that of its place, where the fields of `set` have been read: year, month and
    /// day, month, day and
    /// year, or the day of a year.
    pub fn number(&mut self, text: &str, has_month_name: bool, set: Set) -> Decode<Set> {
        let (value, rest) = integer(text, Refusal::Field)?;
        if rest.len() == text.len() {
            return Err(Refusal::Syntax);
        }
        if rest.starts_with('.') {
            if text.len() - rest.len() > 2 {
                return self.number_field(text, set | DATE);
            }
            self.micros = second_fraction(rest)?;
        } else if !rest.is_empty() {
            return Err(Refusal::Syntax);
        }
        if text.len() == 3 && set & DATE == YEAR && (1..=366).contains(&value) {
            self.day_of_year = value;
            return Ok(DAY_OF_YEAR | MONTH | DAY);
        }
        let is_year = text.len() >= 3;
        let sets = match (set & DATE, has_month_name) {
            (0, _) if is_year => YEAR,
            (0, _) => MONTH,
            (YEAR, _) => MONTH,
            (MONTH, true) if is_year => YEAR,
            (MONTH, _) => DAY,
            (set, true) if set == YEAR | MONTH && is_year && self.is_short_year => {
                // The number that was taken for the year was the day.
                (self.day, self.year, self.is_short_year) = (self.year, value, false);
                return Ok(DAY);
            }
            (set, _) if set == YEAR | MONTH => DAY,
            (DAY, _) => MONTH,
            (set, _) if set == MONTH | DAY => YEAR,
            (DATE, _) => return self.number_field(text, set),
            _ => return Err(Refusal::Syntax),
        };
        match sets {
            YEAR => (self.year, self.is_short_year) = (value, text.len() <= 2),
            MONTH => self.month = value,
            _ => self.day = value,
        }
        Ok(sets)
    }

    /// Reads digits without separators, where the fields of `set` have been read: a date such as 20011225, or a time
    /// such as 040506.789.
    pub fn number_field(&mut self, text: &str, set: Set) -> Decode<Set> {
        let whole = match text.find('.') {
            Some(point) => {
                self.micros = second_fraction(&text[point..])?;
                &text[..point]
            }
            None => text,
        };
        let pair = |behind: usize| digits(&whole[whole.len() - behind..whole.len() - behind + 2]);
        if whole.len() == text.len() && set & DATE != DATE && whole.len() >= 6 {
            (self.day, self.month) = (pair(2), pair(4));
            self.year = digits(&whole[..whole.len() - 4]);
            // A year of four digits or more leaves what was known before.
            self.is_short_year |= whole.len() == 6;
            return Ok(DATE);
        }
        if set & TIME == TIME {
            return Err(Refusal::Syntax);
        }
        match whole.len() {
            6 => (self.hour, self.minute, self.second) = (pair(6), pair(4), pair(2)),
            4 => (self.hour, self.minute, self.second) = (pair(4), pair(2), 0),
            _ => return Err(Refusal::Syntax),
        }
        Ok(TIME)
    }

    /// Sets seconds and their fraction, `rest` being what follows the whole number.
    pub fn seconds(&mut self, value: i32, rest: &str) -> Decode<Set> {
        self.second = value;
        if rest.is_empty() {
            return Ok(SECOND);
        }
        self.micros = second_fraction(rest)?;
        Ok(SECOND | FRACTION)
    }
}

/// Letters or digits between other characters, of which one may stand behind each part: a letter there is one as well.
fn date_parts(text: &str) -> Decode<Vec<&str>> {
    let mut parts = Vec::new();
    let mut rest = text;
    while !rest.is_empty() {
        rest = rest.trim_start_matches(|c: char| !c.is_ascii_alphanumeric());
        let Some(first) = rest.bytes().next() else {
            return Err(Refusal::Syntax);
        };
        let is_alike = |c: &u8| match first.is_ascii_digit() {
            true => c.is_ascii_digit(),
            false => c.is_ascii_alphabetic(),
        };
        let length = rest.bytes().take_while(is_alike).count();
        parts.push(&rest[..length]);
        rest = rest.get(length + 1..).unwrap_or("");
    }
    Ok(parts)
}
