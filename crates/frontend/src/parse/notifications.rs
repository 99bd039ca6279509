//! LISTEN, UNLISTEN and NOTIFY, read from their tokens.

use super::cursor::Cursor;
use super::parsed::ParsedKind;
use crate::NotificationStatement;
use frazil_types::Result;
use sqlparser::tokenizer::Token;

/// LISTEN, UNLISTEN or NOTIFY, whose word is `first`.
pub(super) fn parse(cursor: &mut Cursor, first: &str) -> Result<ParsedKind> {
    match first {
        "listen" => listen(cursor),
        "unlisten" => unlisten(cursor),
        _ => notify(cursor),
    }
}

/// LISTEN channel.
fn listen(cursor: &mut Cursor) -> Result<ParsedKind> {
    cursor.next();
    let channel = cursor.name()?;
    cursor.end()?;
    Ok(ParsedKind::Notification(NotificationStatement::Listen {
        channel,
    }))
}

/// UNLISTEN { channel | * }.
fn unlisten(cursor: &mut Cursor) -> Result<ParsedKind> {
    cursor.next();
    let channel = match cursor.take_token(&Token::Mul) {
        true => None,
        false => Some(cursor.name()?),
    };
    cursor.end()?;
    Ok(ParsedKind::Notification(NotificationStatement::Unlisten {
        channel,
    }))
}

/// NOTIFY channel [, 'payload'].
fn notify(cursor: &mut Cursor) -> Result<ParsedKind> {
    cursor.next();
    let channel = cursor.name()?;
    let mut payload = None;
    if cursor.take_token(&Token::Comma) {
        payload = match cursor.peek().cloned() {
            Some(Token::SingleQuotedString(text) | Token::EscapedStringLiteral(text)) => Some(text),
            Some(Token::DollarQuotedString(text)) => Some(text.value),
            _ => return Err(cursor.error()),
        };
        cursor.next();
    }
    cursor.end()?;
    Ok(ParsedKind::Notification(NotificationStatement::Notify {
        channel,
        payload,
    }))
}
