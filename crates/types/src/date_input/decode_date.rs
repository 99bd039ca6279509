//! Dates and timestamps.

use super::decoded::{Clock, Decode, Decoded, Moment, Refusal, today};
use super::fields::{
    DATE, DAY, ERA, Fields, HALF, MONTH, MOVING_ZONE, SPECIAL, SUMMER, SUMMER_ZONE, Set, TIME, WEEKDAY, ZONE,
};
use super::numbers::{integer, offset};
use super::tokens::{Token, TokenKind, tokens};
use super::words::{Label, Word, word};
use crate::abbreviation::Abbreviation;
use crate::date::{INFINITE_MICROS, MINUS_INFINITE_MICROS};
use crate::statement_clock;
use crate::zone::Zone;

/// The fields and the clock decoded so far.
#[derive(Default)]
struct Decoder {
    fields: Fields,
    /// The label that the next number has.
    label: Option<Label>,
    clock: Option<Clock>,
    /// `epoch`, `infinity` or `-infinity`.
    special: Option<Word>,
}

/// Decodes a date or timestamp whose tokens have at most `room` bytes.
pub(super) fn decode(text: &str, room: usize) -> Decode<Decoded> {
    let tokens = tokens(text, room)?;
    let mut decoder = Decoder::default();
    for (at, token) in tokens.iter().enumerate() {
        let sets = match token.kind {
            TokenKind::Date => decoder.date(&token.text)?,
            TokenKind::Time => decoder.time(&token.text)?,
            TokenKind::Offset => {
                decoder.clock = Some(Clock::Ahead(offset(&token.text)?));
                ZONE
            }
            TokenKind::Number => decoder.number(&token.text)?,
            TokenKind::Word | TokenKind::SignedWord => decoder.word(&token.text, tokens.get(at + 1))?,
        };
        decoder.fields.note(sets)?;
    }
    decoder.finish()
}

/// True for a token that a time without colons may be, or one with them.
pub(super) fn may_be_time(token: Option<&Token>) -> bool {
    token.is_some_and(|t| matches!(t.kind, TokenKind::Number | TokenKind::Time | TokenKind::Date))
}

/// Adds the hour of `dst` to a clock.
pub(super) fn in_summer(clock: Option<Clock>) -> Option<Clock> {
    match clock {
        Some(Clock::Ahead(seconds)) => Some(Clock::Ahead(seconds + 3600)),
        // The end of the text decides if the zone takes it.
        clock => clock,
    }
}

/// The clock of an abbreviation, and the fields that it sets. `None` if there is no such abbreviation.
pub(super) fn abbreviated(name: &str) -> Option<(Clock, Set)> {
    Abbreviation::named(name).map(|abbreviation| match abbreviation {
        Abbreviation::Fixed { seconds, is_summer } => (
            Clock::Ahead(i64::from(seconds)),
            if is_summer { ZONE | SUMMER_ZONE } else { ZONE },
        ),
        Abbreviation::Moving(_) => (Clock::Abbreviation(abbreviation), ZONE | MOVING_ZONE),
    })
}

/// The clock of a zone's name. A zone of POSIX with the name of its summer time, such as `FOO5BAR`, is not known here.
pub(super) fn zone(name: &str) -> Decode<Clock> {
    let is_of_summer = |name: &str| {
        let offset = name.trim_start_matches(|c: char| c.is_ascii_alphabetic());
        let digits = offset.trim_start_matches(['+', '-']);
        let summer = digits.trim_start_matches(|c: char| c.is_ascii_digit() || c == ':');
        let is_word = !summer.is_empty() && summer.bytes().all(|c| c.is_ascii_alphabetic());
        offset.len() < name.len() && summer.len() < digits.len() && is_word
    };
    Zone::named(name)
        .map(Clock::Zone)
        .map_err(|_| match is_of_summer(name) {
            true => Refusal::Syntax,
            false => Refusal::Zone(name.to_owned()),
        })
}

/// A time without colons and the offset behind it: `040506-08`.
pub(super) fn split_offset(text: &str) -> Decode<(&str, Clock)> {
    let at = text.find('-').ok_or(Refusal::Syntax)?;
    Ok((&text[..at], Clock::Ahead(offset(&text[at..])?)))
}

impl Decoder {
    /// A token with separators: a date; or behind one a zone's name, or a time with an offset.
    fn date(&mut self, text: &str) -> Decode<Set> {
        if self.label == Some(Label::Julian) {
            let (number, rest) = integer(text, Refusal::Field)?;
            self.label = None;
            self.fields.set_julian(number);
            self.clock = Some(Clock::Ahead(offset(rest)?));
            return Ok(DATE | TIME | ZONE);
        }
        if self.label.is_none() && !self.fields.has(MONTH | DAY) {
            return self.fields.date(text);
        }
        if self.label.is_none() && !text.starts_with(|c: char| c.is_ascii_digit()) {
            self.clock = Some(zone(text)?);
            return Ok(ZONE);
        }
        if self.label.take().is_some_and(|label| label != Label::Time) || self.fields.has(TIME) {
            return Err(Refusal::Syntax);
        }
        let (time, clock) = split_offset(text)?;
        self.clock = Some(clock);
        Ok(self.fields.number_field(time, self.fields.set)? | ZONE)
    }

    /// A token with colons.
    fn time(&mut self, text: &str) -> Decode<Set> {
        if self.label.take().is_some_and(|label| label != Label::Time) {
            return Err(Refusal::Syntax);
        }
        let sets = self.fields.colons(text)?;
        self.fields.check_clock()?;
        Ok(sets)
    }

    fn number(&mut self, text: &str) -> Decode<Set> {
        if let Some(label) = self.label.take() {
            self.special = None;
            return self.fields.labelled(label, text);
        }
        let set = self.fields.set;
        let fields = &mut self.fields;
        match text.find('.') {
            Some(_) if set & DATE == 0 => fields.date(text),
            Some(point) if point > 2 => fields.number_field(text, set),
            _ if text.len() >= 6 && !(fields.has(DATE) && fields.has(TIME)) => fields.number_field(text, set),
            _ => fields.number(text, fields.has_month_name, set),
        }
    }

    fn word(&mut self, text: &str, next: Option<&Token>) -> Decode<Set> {
        if let Some((clock, sets)) = abbreviated(text) {
            self.clock = Some(clock);
            return Ok(sets);
        }
        let Some(meaning) = word(text) else {
            self.clock = Some(Clock::Zone(Zone::named(text).map_err(|_| Refusal::Syntax)?));
            return Ok(ZONE);
        };
        Ok(match meaning {
            Word::Now => {
                let (day, clock) = today();
                self.fields.set_day(day);
                self.fields.set_clock(clock);
                self.clock = Some(Clock::Zone(statement_clock::moment().zone));
                self.special = None;
                DATE | TIME | ZONE
            }
            Word::Today(behind) => {
                self.fields.set_day(today().0 + behind);
                self.special = None;
                DATE
            }
            Word::Midnight => {
                self.fields.set_clock(0);
                self.clock = Some(Clock::Ahead(0));
                self.special = None;
                TIME | ZONE
            }
            Word::Epoch | Word::Infinity(_) => {
                self.special = Some(meaning);
                SPECIAL
            }
            Word::Filler => 0,
            Word::Half(is_pm) => {
                self.fields.half = Some(is_pm);
                HALF
            }
            Word::Era(is_bc) => {
                self.fields.is_bc = is_bc;
                ERA
            }
            Word::Month(month) => self.month(month),
            Word::Weekday => WEEKDAY,
            Word::DaylightSaving => {
                self.clock = in_summer(self.clock);
                SUMMER | SUMMER_ZONE
            }
            Word::Label(label) => {
                self.label = Some(label);
                0
            }
            Word::T if self.fields.has(DATE) && may_be_time(next) => {
                self.label = Some(Label::Time);
                0
            }
            Word::T => return Err(Refusal::Syntax),
        })
    }

    /// The name of a month. A number that was taken for the month becomes the day.
    fn month(&mut self, month: i32) -> Set {
        let fields = &mut self.fields;
        let is_day = fields.has(MONTH) && !fields.has_month_name && fields.set & DAY == 0;
        let is_taken = is_day && (1..=31).contains(&fields.month);
        if is_taken {
            fields.day = fields.month;
        }
        (fields.month, fields.has_month_name) = (month, true);
        if is_taken { DAY } else { MONTH }
    }

    fn finish(mut self) -> Decode<Decoded> {
        let fields = &mut self.fields;
        fields.finish_date()?;
        fields.finish_half()?;
        match self.special {
            Some(Word::Infinity(true)) => return Ok(Decoded::Infinite(INFINITE_MICROS)),
            Some(Word::Infinity(false)) => return Ok(Decoded::Infinite(MINUS_INFINITE_MICROS)),
            Some(_) => return Ok(Decoded::Epoch),
            None => {}
        }
        if !fields.has(DATE) {
            return Err(Refusal::Syntax);
        }
        let is_summer = fields.set & SUMMER != 0;
        let clock = self.clock.unwrap_or(Clock::Session);
        if is_summer && !matches!(clock, Clock::Ahead(_)) {
            return Err(Refusal::Syntax);
        }
        Ok(Decoded::Moment(Moment {
            year: fields.year,
            month: fields.month as u32,
            day: fields.day as u32,
            micros: fields.clock(),
            clock,
        }))
    }
}
