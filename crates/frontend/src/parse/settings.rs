//! SET, RESET, SHOW and DISCARD, read from their tokens.

use super::cursor::Cursor;
use super::parsed::ParsedKind;
use super::setting_values::{AUTHORIZATION, is_assignment, named, one, special, values};
use super::transactions;
use crate::{Discard, SettingStatement};
use frazil_types::Result;
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
