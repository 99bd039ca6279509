//! Times of day.

use super::decode_date::{abbreviated, in_summer, may_be_time, split_offset, zone};
use super::decoded::{Clock, Decode, Refusal, today};
use super::fields::{DATE, ERA, Fields, HALF, SUMMER, SUMMER_ZONE, Set, TIME, ZONE};
use super::numbers::offset;
use super::tokens::{Token, TokenKind, tokens};
use super::words::{Label, Word, word};
use crate::zone::Zone;

/// The fields and the clock decoded so far.
#[derive(Default)]
struct Decoder {
    fields: Fields,
    /// The label that the next number has.
    label: Option<Label>,
    clock: Option<Clock>,
}

/// Decodes a time whose tokens have at most `room` bytes: microseconds since midnight.
pub(super) fn decode(text: &str, room: usize) -> Decode<i64> {
    let mut tokens = tokens(text, room)?;
    let mut decoder = Decoder::default();
    for at in 0..tokens.len() {
        let sets = match tokens[at].kind {
            TokenKind::Date if at == 0 && begins_with_date(&tokens) => {
                decoder.fields.date(&tokens[0].text)?
            }
            TokenKind::Date => decoder.with_separators(&tokens[at].text)?,
            TokenKind::Time => decoder.fields.colons(&tokens[at].text)?,
            TokenKind::Offset => {
                decoder.clock = Some(Clock::Ahead(offset(&tokens[at].text)?));
                ZONE
            }
            TokenKind::Number => decoder.number(&tokens, at)?,
            TokenKind::Word | TokenKind::SignedWord => decoder.word(&tokens[at].text, tokens.get(at + 1))?,
        };
        decoder.fields.note(sets)?;
        if at > 0 && sets & ZONE != 0 {
            tokens[at].kind = TokenKind::Offset;
        }
    }
    decoder.finish()
}

/// True if the first token is a date: a time, or another token with separators, must follow.
fn begins_with_date(tokens: &[Token]) -> bool {
    let is = |token: Option<&Token>, kind: TokenKind| token.is_some_and(|t| t.kind == kind);
    tokens.len() >= 2 && (is(tokens.last(), TokenKind::Date) || is(tokens.get(1), TokenKind::Time))
}

impl Decoder {
    /// A token with separators that is not a date: a time with an offset, or a zone's name.
    fn with_separators(&mut self, text: &str) -> Decode<Set> {
        if !text.starts_with(|c: char| c.is_ascii_digit()) {
            self.clock = Some(zone(text)?);
            return Ok(ZONE);
        }
        if self.fields.has(TIME) {
            return Err(Refusal::Syntax);
        }
        let (time, clock) = split_offset(text)?;
        self.clock = Some(clock);
        Ok(self.fields.number_field(time, self.fields.set | DATE)? | ZONE)
    }

    fn number(&mut self, tokens: &[Token], at: usize) -> Decode<Set> {
        let text = &tokens[at].text;
        let fields = &mut self.fields;
        if let Some(label) = self.label.take() {
            return fields.labelled(label, text);
        }
        let set = fields.set | DATE;
        match text.find('.') {
            Some(_) if at == 0 && tokens.len() >= 2 && tokens[tokens.len() - 1].kind == TokenKind::Date => {
                fields.date(text)
            }
            Some(point) if point > 2 => fields.number_field(text, set),
            Some(_) => Err(Refusal::Syntax),
            None if text.len() > 4 => fields.number_field(text, set),
            None => fields.number(text, false, set),
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
                self.fields.set_clock(today().1);
                TIME
            }
            Word::Midnight => {
                self.fields.set_clock(0);
                self.clock = Some(Clock::Ahead(0));
                TIME | ZONE
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
            Word::DaylightSaving => {
                self.clock = in_summer(self.clock);
                SUMMER | SUMMER_ZONE
            }
            Word::Label(label) => {
                self.label = Some(label);
                0
            }
            Word::T if may_be_time(next) => {
                self.label = Some(Label::Time);
                0
            }
            Word::T | Word::Today(_) | Word::Epoch | Word::Infinity(_) | Word::Month(_) | Word::Weekday => {
                return Err(Refusal::Syntax);
            }
        })
    }

    fn finish(mut self) -> Decode<i64> {
        let fields = &mut self.fields;
        fields.finish_date()?;
        fields.finish_half()?;
        fields.check_clock()?;
        if !fields.has(TIME) {
            return Err(Refusal::Syntax);
        }
        let has_date = fields.has(DATE);
        let has_part_of_date = fields.set & DATE != 0 && !has_date;
        let is_refused = match self.clock {
            Some(Clock::Ahead(_)) => false,
            // Without a date a zone must have one clock for the whole year.
            Some(Clock::Zone(zone)) => !has_date && !zone.has_one_offset(),
            Some(Clock::Abbreviation(_)) | Some(Clock::Session) | None => has_part_of_date,
        };
        let is_summer = fields.set & SUMMER != 0 && !matches!(self.clock, Some(Clock::Ahead(_)));
        match is_refused || is_summer {
            true => Err(Refusal::Syntax),
            false => Ok(fields.clock()),
        }
    }
}
