//! Dates and times as people write them, by the rules of PostgreSQL's manual (Appendix B, "Date/Time Input
//! Interpretation") with DateStyle
//! `ISO, MDY`.
//!
//! A text is cut into tokens by the kinds of its characters ([`tokens`]). Two decoders give each token its meaning by
//! what the tokens
//! before it have said: [`decode_date`] for dates and timestamps, [`decode_time`] for times of day. Words have their
//! meaning in
//! [`words`], numbers by their number of digits and their place in [`numbers`]. No token may say what an earlier one
//! has said, and none
//! may be left without meaning, so every reader takes all of its text.
//!
//! ISO texts, which files are full of, are read by [`iso`] without tokens.

mod decode_date;
mod decode_time;
mod decoded;
mod fields;
mod iso;
mod labels;
mod numbers;
mod tokens;
mod words;

use crate::zone::Zone;
use crate::{Error, Result, SqlState};
use decoded::{Clock, Decoded, Refusal};
pub(crate) use tokens::{Token, TokenKind};

/// Reads a date; of a timestamp its day. Errors: 22007 for a text that is not a date, 22008 for a day that does not
/// exist, 22009 and
/// 22023 for a zone that does not exist.
pub fn parse_date(text: &str) -> Result<i32> {
    if let Some(days) = iso::date(text) {
        return Ok(days);
    }
    let refused = |refusal: Refusal| refusal.error("date", text);
    match decode_date::decode(text, DATE_BYTES).map_err(refused)? {
        Decoded::Infinite(micros) => Ok(crate::date::infinite_day_of_micros(micros).unwrap_or(0)),
        Decoded::Epoch => Ok(0),
        Decoded::Moment(moment) => moment.day().ok_or_else(|| out_of_range("date", text)),
    }
}

/// Reads a timestamp. A zone is read and has no effect. Errors as of [`parse_date`].
pub fn parse_timestamp(text: &str) -> Result<i64> {
    if let Some(micros) = iso::timestamp(text) {
        return Ok(micros);
    }
    match decode_date::decode(text, TIMESTAMP_BYTES).map_err(|refusal| refusal.error("timestamp", text))? {
        Decoded::Infinite(micros) => Ok(micros),
        Decoded::Epoch => Ok(0),
        Decoded::Moment(moment) => moment.local().ok_or_else(|| out_of_range("timestamp", text)),
    }
}

/// Reads a timestamp that names no zone, or UTC. Errors as of [`parse_timestamp`]; 22007 for another zone.
pub fn parse_timestamp_in_utc(text: &str) -> Result<i64> {
    if let Some((micros, None | Some(0))) = iso::instant(text) {
        return Ok(micros);
    }
    let refused = |refusal: Refusal| refusal.error("timestamp", text);
    let moment = match decode_date::decode(text, TIMESTAMP_BYTES).map_err(refused)? {
        Decoded::Moment(moment) => moment,
        Decoded::Infinite(_) | Decoded::Epoch => return Err(refused(Refusal::Syntax)),
    };
    match moment.clock {
        Clock::Session | Clock::Ahead(0) => moment.local().ok_or_else(|| out_of_range("timestamp", text)),
        Clock::Ahead(_) | Clock::Zone(_) | Clock::Abbreviation(_) => Err(refused(Refusal::Syntax)),
    }
}

/// Reads the instant that a text names, by the clock of the zone in it, or of `zone` if it names none. Errors as of
/// [`parse_date`].
pub fn parse_instant(text: &str, zone: Zone) -> Result<i64> {
    const KIND: &str = "timestamp with time zone";
    if let Some((local, ahead)) = iso::instant(text) {
        return match ahead {
            Some(seconds) => Clock::Ahead(seconds).instant(local, zone),
            None => zone.instant(local),
        };
    }
    match decode_date::decode(text, TIMESTAMP_BYTES).map_err(|refusal| refusal.error(KIND, text))? {
        Decoded::Infinite(micros) => Ok(micros),
        Decoded::Epoch => Ok(0),
        Decoded::Moment(moment) => {
            let local = moment.local().ok_or_else(|| out_of_range("timestamp", text))?;
            let instant = moment.clock.instant(local, zone);
            instant.map_err(|_| out_of_range("timestamp", text))
        }
    }
}

/// Reads a time of day, in microseconds since midnight, up to 24:00. A zone is read and has no effect. Errors as of
/// [`parse_date`].
pub fn parse_time(text: &str) -> Result<i64> {
    decode_time::decode(text, DATE_BYTES).map_err(|refusal| refusal.error("time", text))
}

/// The tokens of an interval's text; `None` if it has characters that no token has, or too many.
pub(crate) fn interval_tokens(text: &str) -> Option<Vec<Token>> {
    tokens::tokens(text, INTERVAL_BYTES).ok()
}

/// Bytes that the tokens of an interval may have, each with a byte behind it, as in PostgreSQL.
const INTERVAL_BYTES: usize = 256;
/// Bytes that the tokens of a date or time may have, each with a byte behind it, as in PostgreSQL.
const DATE_BYTES: usize = 129;
/// Bytes that the tokens of a timestamp may have.
const TIMESTAMP_BYTES: usize = 153;

fn out_of_range(kind: &str, text: &str) -> Error {
    Error::new(
        SqlState::DATETIME_OVERFLOW,
        format!("{kind} out of range: \"{text}\""),
    )
}
