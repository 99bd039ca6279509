//! SET, RESET, SHOW and DISCARD, read from their tokens.

use super::cursor::Cursor;
use super::keywords::fold;
use super::parsed::ParsedKind;
use super::tokens::is_word;
use super::transactions;
use crate::{Discard, SettingStatement};
use frazil_catalog::is_reserved;
use frazil_types::Result;
use sqlparser::keywords::Keyword;
use sqlparser::tokenizer::Token;

/// SET [SESSION | LOCAL] name { = | TO } { value, … | DEFAULT }, and the forms with words of their own.
pub(super) fn set(cursor: &mut Cursor) -> Result<ParsedKind> {
    cursor.next();
    let is_local = cursor.take("local");
    let is_session = !is_local && cursor.take("session");
    if let Some(transaction) = transactions::set(cursor)? {
        return Ok(transaction);
    }
    if cursor.word().as_deref() == Some("constraints") && !is_assignment(cursor) {
        return transactions::set_constraints(cursor);
    }
    let is_user = cursor.take("session") || is_session && cursor.word().as_deref() == Some("authorization");
    let (name, values) = match is_user {
        true => {
            cursor.expect_word("authorization")?;
            (AUTHORIZATION.to_owned(), one(cursor, &[])?)
        }
        false => match special(cursor)? {
            Some(special) => special,
            None => {
                let name = cursor.dotted_name()?;
                if !cursor.take("to") {
                    cursor.expect(&Token::Eq)?;
                }
                (name, values(cursor)?)
            }
        },
    };
    cursor.end()?;
    Ok(ParsedKind::Setting(SettingStatement::Set {
        name,
        values,
        is_local,
    }))
}

/// The settings behind SESSION AUTHORIZATION and TIME ZONE.
const AUTHORIZATION: &str = "session_authorization";
const TIME_ZONE: &str = "timezone";

/// A setting and its values, `None` for DEFAULT.
type Assignment = (String, Option<Vec<String>>);

/// True if a word is the name of a setting, because TO or `=` is behind it.
fn is_assignment(cursor: &Cursor) -> bool {
    let next = cursor.rest().get(1);
    next.is_some_and(|word| is_word(word, Keyword::TO) || word.token == Token::Eq)
}

/// NAMES, SCHEMA, ROLE, TIME ZONE and XML OPTION with their values.
fn special(cursor: &mut Cursor) -> Result<Option<Assignment>> {
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
            (TIME_ZONE, one(cursor, &["local"])?)
        }
        _ => return Ok(None),
    };
    Ok(Some((name.to_owned(), values)))
}

/// One value; `None` for DEFAULT and the words that mean it.
fn one(cursor: &mut Cursor, defaults: &[&str]) -> Result<Option<Vec<String>>> {
    let word = cursor.word().unwrap_or_default();
    if word == "default" || defaults.contains(&word.as_str()) {
        cursor.next();
        return Ok(None);
    }
    Ok(Some(vec![value(cursor)?]))
}

/// Values separated by commas; `None` for DEFAULT.
fn values(cursor: &mut Cursor) -> Result<Option<Vec<String>>> {
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
fn named(cursor: &mut Cursor) -> Result<String> {
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

/// RESET name, RESET ALL.
pub(super) fn reset(cursor: &mut Cursor) -> Result<ParsedKind> {
    cursor.next();
    if cursor.take("all") {
        cursor.end()?;
        return Ok(ParsedKind::Setting(SettingStatement::ResetAll));
    }
    let name = named(cursor)?;
    cursor.end()?;
    Ok(ParsedKind::Setting(SettingStatement::Reset { name }))
}

/// SHOW name, SHOW ALL, SHOW TABLES.
pub(super) fn show(cursor: &mut Cursor) -> Result<ParsedKind> {
    cursor.next();
    if cursor.take("all") {
        cursor.end()?;
        return Ok(ParsedKind::Setting(SettingStatement::ShowAll));
    }
    let name = named(cursor)?;
    cursor.end()?;
    Ok(match name.as_str() {
        "tables" => ParsedKind::ShowTables,
        _ => ParsedKind::Setting(SettingStatement::Show { name }),
    })
}

/// DISCARD ALL | PLANS | SEQUENCES | TEMPORARY | TEMP.
pub(super) fn discard(cursor: &mut Cursor) -> Result<ParsedKind> {
    cursor.next();
    let what = match cursor.word().unwrap_or_default().as_str() {
        "all" => Discard::All,
        "plans" => Discard::Plans,
        "sequences" => Discard::Sequences,
        "temp" | "temporary" => Discard::Temporary,
        _ => return Err(cursor.error()),
    };
    cursor.next();
    cursor.end()?;
    Ok(ParsedKind::Setting(SettingStatement::Discard(what)))
}
