//! Statements read from their tokens: FREEZE, DESCRIBE, BACKUP, PUBLISH.

use super::cursor::Cursor;
use super::parsed::ParsedKind;
use crate::PublishStatement;
use crate::copy::query_of;
use frazil_catalog::WrittenName;
use frazil_types::{Error, Result, SqlState};
use sqlparser::tokenizer::{Token, TokenWithSpan};

/// FREEZE [TABLE] table [ORDER BY column].
pub(super) fn freeze(cursor: &mut Cursor) -> Result<ParsedKind> {
    cursor.next();
    cursor.take("table");
    let table = cursor.table_name()?;
    let mut order_by = None;
    if cursor.take("order") {
        cursor.expect_word("by")?;
        order_by = Some(cursor.name()?);
        cursor.take("asc");
    }
    cursor.end()?;
    Ok(ParsedKind::Freeze { table, order_by })
}

/// What DESCRIBE and SUMMARIZE look at.
pub(super) enum Described {
    /// A table or view, and the words of a query of it.
    Relation(WrittenName, Vec<TokenWithSpan>),
    /// The words of a query.
    Query(Vec<TokenWithSpan>),
    /// Files: the words of a query of them.
    Files(Vec<TokenWithSpan>),
}

/// DESCRIBE and SUMMARIZE: [TABLE] name, a query, 'file', read_csv(…).
pub(super) fn described(cursor: &mut Cursor) -> Result<Described> {
    cursor.next();
    if cursor.peek() == Some(&Token::LParen)
        || matches!(cursor.word().as_deref(), Some("select" | "with" | "values"))
    {
        return Ok(Described::Query(cursor.rest().to_vec()));
    }
    cursor.take("table");
    let words = cursor.rest();
    let query = || query_of(words.to_vec(), &[]);
    let is_call = matches!(words, [_, open, ..] if open.token == Token::LParen);
    if matches!(cursor.peek(), Some(Token::SingleQuotedString(_))) || is_call {
        return Ok(Described::Files(query()));
    }
    let table = cursor.table_name()?;
    cursor.end()?;
    Ok(Described::Relation(table, query()))
}

/// BACKUP TO 'directory'.
pub(super) fn backup(cursor: &mut Cursor) -> Result<ParsedKind> {
    cursor.next();
    cursor.expect_word("to")?;
    let Some(Token::SingleQuotedString(directory)) = cursor.peek().cloned() else {
        return Err(cursor.error());
    };
    cursor.next();
    cursor.end()?;
    Ok(ParsedKind::Backup { directory })
}

/// PUBLISH TO 'folder' [INCREMENTAL] [KEEP number].
pub(super) fn publish(cursor: &mut Cursor) -> Result<ParsedKind> {
    cursor.next();
    cursor.expect_word("to")?;
    let Some(Token::SingleQuotedString(folder)) = cursor.peek().cloned() else {
        return Err(cursor.error());
    };
    cursor.next();
    let is_incremental = cursor.take("incremental");
    let mut keep = None;
    if cursor.take("keep") {
        keep = Some(kept_snapshots(cursor)?);
    }
    cursor.end()?;
    Ok(ParsedKind::Publish(PublishStatement {
        folder,
        is_incremental,
        keep,
    }))
}

/// The number behind KEEP. 22023 below 1.
fn kept_snapshots(cursor: &mut Cursor) -> Result<usize> {
    let number = match cursor.peek() {
        Some(Token::Number(digits, _)) => digits.parse().ok(),
        _ => None,
    };
    match number {
        None => Err(cursor.error()),
        Some(0) => Err(Error::new(
            SqlState::INVALID_PARAMETER,
            "KEEP must be at least 1: the new snapshot is one of those that stay",
        )),
        Some(number) => {
            cursor.next();
            Ok(number)
        }
    }
}

/// A statement of one word.
pub(super) fn only(cursor: &mut Cursor, kind: ParsedKind) -> Result<ParsedKind> {
    cursor.next();
    cursor.end()?;
    Ok(kind)
}

/// Whether WHERE CURRENT OF stands among the words.
pub(super) fn names_cursor(words: &[TokenWithSpan]) -> bool {
    let is = |token: &TokenWithSpan, wanted: &str| match &token.token {
        Token::Word(w) => w.quote_style.is_none() && w.value.eq_ignore_ascii_case(wanted),
        _ => false,
    };
    let names =
        |three: &[TokenWithSpan]| is(&three[0], "where") && is(&three[1], "current") && is(&three[2], "of");
    words.windows(3).any(names)
}

/// A statement of PostgreSQL that Frazil does not have.
pub(super) fn unsupported(first: &str) -> Error {
    match first {
        "from" => Error::unsupported("FROM before SELECT").with_hint("write SELECT * FROM …"),
        "replace" => Error::unsupported("REPLACE INTO").with_hint("write INSERT … ON CONFLICT … DO UPDATE"),
        first => Error::unsupported(first.to_uppercase()),
    }
}
