//! Names and values of settings, read from their tokens.

use super::cursor::Cursor;
use super::keywords::fold;
use super::tokens::is_word;
use frazil_catalog::is_reserved;
use frazil_types::value_ops::{IntervalFields, parse_interval};
use frazil_types::{Error, Result, SqlState};
use sqlparser::keywords::Keyword;
use sqlparser::tokenizer::Token;

/// The settings behind SESSION AUTHORIZATION and TIME ZONE.
pub(super) const AUTHORIZATION: &str = "session_authorization";
const TIME_ZONE: &str = "timezone";

/// A setting and its values, `None` for DEFAULT.
pub(super) type Assignment = (String, Option<Vec<String>>);

/// True if a word is the name of a setting, because TO or `=` is behind it.
pub(super) fn is_assignment(cursor: &Cursor) -> bool {
    let next = cursor.rest().get(1);
    next.is_some_and(|word| is_word(word, Keyword::TO) || word.token == Token::Eq)
}

/// NAMES, SCHEMA, ROLE, TIME ZONE and XML OPTION with their values.
pub(super) fn special(cursor: &mut Cursor) -> Result<Option<Assignment>> {
    if is_assignment(cursor) {
        return Ok(None);
    }
    let (name, values) = match cursor.word().unwrap_or_default().as_str() {
        "names" => {
            cursor.next();
            let values = match cursor.rest().is_empty() {
                true => None,
                false => one(cursor, &[])?,
            };
            ("client_encoding", values)
        }
        "schema" => {
            cursor.next();
            ("search_path", one(cursor, &[])?)
        }
        "role" => {
            cursor.next();
            ("role", one(cursor, &[])?)
        }
        "xml" => {
            cursor.next();
            cursor.expect_word("option")?;
            ("xmloption", one(cursor, &[])?)
        }
        "time" => {
            cursor.next();
            cursor.expect_word("zone")?;
            let interval = interval(cursor)?;
            (
                TIME_ZONE,
                match interval {
                    Some(hours) => Some(vec![hours]),
                    None => one(cursor, &["local"])?,
                },
            )
        }
        _ => return Ok(None),
    };
    Ok(Some((name.to_owned(), values)))
}

/// The hours of INTERVAL '…' with the fields behind it; `None` without INTERVAL. 22023 for one of days or months.
fn interval(cursor: &mut Cursor) -> Result<Option<String>> {
    let is_interval = cursor.word().is_some_and(|word| word == "interval");
    let text = cursor.rest().get(1).map(|next| next.token.clone());
    let (true, Some(Token::SingleQuotedString(text))) = (is_interval, text) else {
        return Ok(None);
    };
    cursor.next();
    cursor.next();
    // PostgreSQL allows these two fields.
    let fields = if cursor.take("hour") {
        let is_range = cursor.take("to");
        if is_range {
            cursor.expect_word("minute")?;
        }
        Some(if is_range {
            IntervalFields::Minute
        } else {
            IntervalFields::Hour
        })
    } else {
        cursor.take("minute").then_some(IntervalFields::Minute)
    };
    let interval = parse_interval(&text, fields)?;
    let refused = match (interval.months, interval.days) {
        (0, 0) => None,
        (0, _) => Some("days"),
        _ => Some("months"),
    };
    if let Some(refused) = refused {
        let message = format!("invalid value for parameter \"TimeZone\": \"INTERVAL '{text}'\"");
        return Err(Error::new(SqlState::INVALID_PARAMETER, message)
            .with_detail(format!("Cannot specify {refused} in time zone interval.")));
    }
    Ok(Some((interval.micros as f64 / 3.6e9).to_string()))
}

/// One value; `None` for DEFAULT and the words that mean it.
pub(super) fn one(cursor: &mut Cursor, defaults: &[&str]) -> Result<Option<Vec<String>>> {
    let word = cursor.word().unwrap_or_default();
    if word == "default" || defaults.contains(&word.as_str()) {
        cursor.next();
        return Ok(None);
    }
    Ok(Some(vec![value(cursor)?]))
}

/// Values separated by commas; `None` for DEFAULT.
pub(super) fn values(cursor: &mut Cursor) -> Result<Option<Vec<String>>> {
    if cursor.take("default") {
        return Ok(None);
    }
    let mut values = vec![value(cursor)?];
    while cursor.take_token(&Token::Comma) {
        values.push(value(cursor)?);
    }
    Ok(Some(values))
}

/// A word, a text or a number. Whole numbers lose leading zeros, as in PostgreSQL.
fn value(cursor: &mut Cursor) -> Result<String> {
    let sign = match cursor.take_token(&Token::Minus) {
        true => "-",
        false => "",
    };
    let is_signed = !sign.is_empty() || cursor.take_token(&Token::Plus);
    match cursor.next() {
        Some(Token::Number(digits, _)) => {
            let whole = digits.parse::<i64>().map(|n| n.to_string());
            Ok(format!("{sign}{}", whole.unwrap_or(digits)))
        }
        Some(Token::SingleQuotedString(text) | Token::EscapedStringLiteral(text)) if !is_signed => Ok(text),
        Some(Token::DollarQuotedString(text)) if !is_signed => Ok(text.value),
        Some(Token::Word(word)) if !is_signed => {
            let text = fold(&word);
            let is_truth = ["true", "false", "on"].contains(&text.as_str());
            match word.quote_style.is_none() && is_reserved(&text) && !is_truth {
                true => Err(cursor.error_before()),
                false => Ok(text),
            }
        }
        _ => Err(cursor.error_before()),
    }
}

/// The setting that RESET and SHOW name.
pub(super) fn named(cursor: &mut Cursor) -> Result<String> {
    let next = |cursor: &Cursor| cursor.rest().len() > 1;
    if next(cursor) && cursor.take("time") {
        cursor.expect_word("zone")?;
        return Ok(TIME_ZONE.to_owned());
    }
    if next(cursor) && cursor.take("session") {
        cursor.expect_word("authorization")?;
        return Ok(AUTHORIZATION.to_owned());
    }
    if next(cursor) && cursor.take("transaction") {
        cursor.expect_word("isolation")?;
        cursor.expect_word("level")?;
        return Ok("transaction_isolation".to_owned());
    }
    cursor.dotted_name()
}

/// A change of the settings that sessions begin with, as it is written.
#[derive(Clone, Debug)]
pub(crate) enum WrittenSetting {
    /// SET with its values; `None` for DEFAULT.
    Set(String, Option<Vec<String>>),
    /// SET … FROM CURRENT.
    FromCurrent(String),
    /// RESET of a setting, or of all.
    Reset(Option<String>),
}

/// Reads SET or RESET at the end of ALTER ROLE and ALTER DATABASE.
pub(super) fn of_sessions(cursor: &mut Cursor) -> Result<WrittenSetting> {
    let setting = match cursor.take("set") {
        true => match special(cursor)? {
            Some((name, values)) => WrittenSetting::Set(name, values),
            None => {
                let name = cursor.dotted_name()?;
                if cursor.take("from") {
                    cursor.expect_word("current")?;
                    WrittenSetting::FromCurrent(name)
                } else {
                    if !cursor.take("to") {
                        cursor.expect(&Token::Eq)?;
                    }
                    WrittenSetting::Set(name, values(cursor)?)
                }
            }
        },
        false => {
            cursor.expect_word("reset")?;
            match cursor.take("all") {
                true => WrittenSetting::Reset(None),
                false => WrittenSetting::Reset(Some(named(cursor)?)),
            }
        }
    };
    cursor.end()?;
    Ok(setting)
}
