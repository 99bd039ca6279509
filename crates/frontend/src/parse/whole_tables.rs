//! LOCK TABLE and TRUNCATE, read from their tokens.

use super::cursor::Cursor;
use super::parsed::{LockedTables, ParsedKind};
use crate::LockMode;
use frazil_catalog::WrittenName;
use frazil_types::{Error, Result};
use sqlparser::tokenizer::Token;

/// LOCK TABLE or TRUNCATE, whose word is `first`.
pub(super) fn parse(cursor: &mut Cursor, first: &str) -> Result<ParsedKind> {
    match first {
        "lock" => lock(cursor),
        _ => truncate(cursor),
    }
}

/// TRUNCATE [TABLE] [ONLY] table [*], … [RESTART IDENTITY | CONTINUE IDENTITY] [CASCADE | RESTRICT].
fn truncate(cursor: &mut Cursor) -> Result<ParsedKind> {
    cursor.next();
    cursor.take("table");
    let mut tables = Vec::new();
    loop {
        cursor.take("only");
        tables.push(cursor.table_name()?);
        cursor.take_token(&Token::Mul);
        if !cursor.take_token(&Token::Comma) {
            break;
        }
    }
    let restarts = cursor.take("restart");
    if restarts || cursor.take("continue") {
        cursor.expect_word("identity")?;
    }
    let cascade = cursor.take("cascade");
    if !cascade {
        cursor.take("restrict");
    }
    cursor.end()?;
    Ok(ParsedKind::Truncate {
        tables,
        restarts,
        cascade,
    })
}

/// LOCK [TABLE] [ONLY] name [*], … [IN mode MODE] [NOWAIT].
fn lock(cursor: &mut Cursor) -> Result<ParsedKind> {
    cursor.next();
    cursor.take("table");
    let mut tables = Vec::new();
    loop {
        tables.push(table(cursor)?);
        if !cursor.take_token(&Token::Comma) {
            break;
        }
    }
    let mode = match cursor.take("in") {
        true => mode(cursor)?,
        false => LockMode::AccessExclusive,
    };
    let nowait = cursor.take("nowait");
    cursor.end()?;
    Ok(ParsedKind::LockTable(LockedTables { tables, mode, nowait }))
}

/// A table, to which ONLY and `*` add nothing: no table inherits of another.
fn table(cursor: &mut Cursor) -> Result<WrittenName> {
    if !cursor.take("only") {
        let name = name(cursor)?;
        cursor.take_token(&Token::Mul);
        return Ok(name);
    }
    let is_enclosed = cursor.take_token(&Token::LParen);
    let name = name(cursor)?;
    if is_enclosed {
        cursor.expect(&Token::RParen)?;
    }
    Ok(name)
}

/// A table's name. 0A000 for one with a database.
fn name(cursor: &mut Cursor) -> Result<WrittenName> {
    let name = cursor.table_name()?;
    match cursor.peek() {
        Some(Token::Period) => Err(Error::unsupported("a table of another database")),
        _ => Ok(name),
    }
}

/// The words between IN and MODE, with MODE.
fn mode(cursor: &mut Cursor) -> Result<LockMode> {
    let mode = if cursor.take("access") {
        match cursor.take("share") {
            true => LockMode::AccessShare,
            false => {
                cursor.expect_word("exclusive")?;
                LockMode::AccessExclusive
            }
        }
    } else if cursor.take("row") {
        match cursor.take("share") {
            true => LockMode::RowShare,
            false => {
                cursor.expect_word("exclusive")?;
                LockMode::RowExclusive
            }
        }
    } else if cursor.take("share") {
        share(cursor)?
    } else {
        cursor.expect_word("exclusive")?;
        LockMode::Exclusive
    };
    cursor.expect_word("mode")?;
    Ok(mode)
}

/// The mode that begins with SHARE, which was read.
fn share(cursor: &mut Cursor) -> Result<LockMode> {
    if cursor.take("update") {
        cursor.expect_word("exclusive")?;
        return Ok(LockMode::ShareUpdateExclusive);
    }
    if cursor.take("row") {
        cursor.expect_word("exclusive")?;
        return Ok(LockMode::ShareRowExclusive);
    }
    Ok(LockMode::Share)
}
