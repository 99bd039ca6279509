//! DECLARE, FETCH, MOVE and CLOSE of cursors, read from their tokens.

use super::cursor::Cursor;
use super::parsed::ParsedKind;
use crate::{CursorOptions, CursorStatement, FetchDirection};
use frazil_types::{Error, Result, SqlState};
use sqlparser::tokenizer::Token;

/// Reads DECLARE name [options] CURSOR [WITH HOLD | WITHOUT HOLD] FOR; the query follows. 42601; 42P11 for options that
/// exclude each other.
pub(super) fn declare(cursor: &mut Cursor) -> Result<(String, CursorOptions)> {
    cursor.next();
    let name = cursor.name()?;
    let mut options = CursorOptions::default();
    let (mut is_insensitive, mut is_asensitive, mut no_scroll) = (false, false, false);
    loop {
        if cursor.take("binary") {
            options.is_binary = true;
        } else if cursor.take("insensitive") {
            is_insensitive = true;
        } else if cursor.take("asensitive") {
            is_asensitive = true;
        } else if cursor.take("scroll") {
            options.is_scrollable = true;
        } else if cursor.take("no") {
            cursor.expect_word("scroll")?;
            no_scroll = true;
        } else {
            cursor.expect_word("cursor")?;
            break;
        }
    }
    if cursor.take("with") {
        cursor.expect_word("hold")?;
        options.is_held = true;
    } else if cursor.take("without") {
        cursor.expect_word("hold")?;
    }
    cursor.expect_word("for")?;
    let excluded = [
        (options.is_scrollable && no_scroll, "SCROLL", "NO SCROLL"),
        (is_insensitive && is_asensitive, "INSENSITIVE", "ASENSITIVE"),
    ];
    if let Some((_, one, other)) = excluded.iter().find(|(are_both, ..)| *are_both) {
        let message = format!("cannot specify both {one} and {other}");
        return Err(Error::new(SqlState::INVALID_CURSOR_DEFINITION, message));
    }
    Ok((name, options))
}

/// Reads FETCH or MOVE with a direction and the name of a cursor. 42601.
pub(super) fn fetch(cursor: &mut Cursor, is_move: bool) -> Result<ParsedKind> {
    cursor.next();
    // The word of a direction alone is a name.
    let direction = match cursor.rest().len() {
        1 => FetchDirection::Forward(1),
        _ => direction(cursor)?,
    };
    if !cursor.take("from") {
        cursor.take("in");
    }
    let name = cursor.name()?;
    cursor.end()?;
    Ok(ParsedKind::Cursor(CursorStatement::Fetch {
        name,
        direction,
        is_move,
    }))
}

fn direction(cursor: &mut Cursor) -> Result<FetchDirection> {
    let word = cursor.word().unwrap_or_default();
    let plain = match word.as_str() {
        "next" => Some(FetchDirection::Forward(1)),
        "prior" => Some(FetchDirection::Forward(-1)),
        "first" => Some(FetchDirection::Absolute(1)),
        "last" => Some(FetchDirection::Absolute(-1)),
        "all" => Some(FetchDirection::ForwardAll),
        _ => None,
    };
    if let Some(direction) = plain {
        cursor.next();
        return Ok(direction);
    }
    match word.as_str() {
        "absolute" => {
            cursor.next();
            number(cursor).map(FetchDirection::Absolute)
        }
        "relative" => {
            cursor.next();
            number(cursor).map(FetchDirection::Relative)
        }
        "forward" | "backward" => {
            cursor.next();
            let is_forward = word == "forward";
            if cursor.take("all") {
                return Ok(match is_forward {
                    true => FetchDirection::ForwardAll,
                    false => FetchDirection::BackwardAll,
                });
            }
            let count = if is_number(cursor) { number(cursor)? } else { 1 };
            Ok(FetchDirection::Forward(if is_forward { count } else { -count }))
        }
        _ if is_number(cursor) => number(cursor).map(FetchDirection::Forward),
        _ => Ok(FetchDirection::Forward(1)),
    }
}

fn is_number(cursor: &Cursor) -> bool {
    matches!(
        cursor.peek(),
        Some(Token::Number(..) | Token::Minus | Token::Plus)
    )
}

/// A number of 32 bits, perhaps with its sign before it.
fn number(cursor: &mut Cursor) -> Result<i64> {
    let is_negative = cursor.take_token(&Token::Minus);
    if !is_negative {
        cursor.take_token(&Token::Plus);
    }
    let digits = match cursor.peek() {
        Some(Token::Number(digits, _)) => digits.parse::<i32>().ok(),
        _ => None,
    };
    let digits = i64::from(digits.ok_or_else(|| cursor.error())?);
    cursor.next();
    Ok(if is_negative { -digits } else { digits })
}

/// Reads CLOSE of a cursor, or of ALL. 42601.
pub(super) fn close(cursor: &mut Cursor) -> Result<ParsedKind> {
    cursor.next();
    let name = match cursor.take("all") {
        true => None,
        false => Some(cursor.name()?),
    };
    cursor.end()?;
    Ok(ParsedKind::Cursor(CursorStatement::Close { name }))
}
