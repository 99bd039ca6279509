//! BEGIN, COMMIT, ROLLBACK with their options, SET TRANSACTION and SET SESSION CHARACTERISTICS, savepoints.

use super::cursor::Cursor;
use super::parsed::ParsedKind;
use crate::{Isolation, SetConstraints, TransactionModes};
use frazil_types::{Error, Result};
use sqlparser::tokenizer::Token;

/// BEGIN [WORK | TRANSACTION] [mode …], START TRANSACTION [mode …].
pub(super) fn begin(cursor: &mut Cursor) -> Result<ParsedKind> {
    let start = cursor.word().as_deref() == Some("start");
    cursor.next();
    if start {
        cursor.expect_word("transaction")?;
    } else {
        take_work(cursor);
    }
    let modes = match cursor.rest().is_empty() {
        true => TransactionModes::default(),
        false => modes(cursor)?,
    };
    let tag = if start { "START TRANSACTION" } else { "BEGIN" };
    Ok(ParsedKind::Begin { modes, tag })
}

/// COMMIT | END [WORK | TRANSACTION] [AND [NO] CHAIN].
pub(super) fn commit(cursor: &mut Cursor) -> Result<ParsedKind> {
    cursor.next();
    if cursor.word().as_deref() == Some("prepared") {
        return Err(Error::unsupported("COMMIT PREPARED"));
    }
    take_work(cursor);
    let chain = chain(cursor)?;
    cursor.end()?;
    Ok(ParsedKind::Commit { chain })
}

/// ROLLBACK | ABORT [WORK | TRANSACTION] [AND [NO] CHAIN], ROLLBACK [WORK | TRANSACTION] TO [SAVEPOINT] name.
pub(super) fn rollback(cursor: &mut Cursor) -> Result<ParsedKind> {
    let may_return = cursor.word().as_deref() == Some("rollback");
    cursor.next();
    if cursor.word().as_deref() == Some("prepared") {
        return Err(Error::unsupported("ROLLBACK PREPARED"));
    }
    take_work(cursor);
    if may_return && cursor.take("to") {
        take_savepoint(cursor);
        let name = cursor.name()?;
        cursor.end()?;
        return Ok(ParsedKind::RollbackTo { name });
    }
    let chain = chain(cursor)?;
    cursor.end()?;
    Ok(ParsedKind::Rollback { chain })
}

/// CONSTRAINTS { ALL | name, … } { DEFERRED | IMMEDIATE }, behind SET.
pub(super) fn set_constraints(cursor: &mut Cursor) -> Result<ParsedKind> {
    cursor.next();
    let mut names = None;
    if !cursor.take("all") {
        let named = names.get_or_insert_with(Vec::new);
        named.push(cursor.table_name()?);
        while cursor.take_token(&Token::Comma) {
            named.push(cursor.table_name()?);
        }
    }
    let is_deferred = cursor.take("deferred");
    if !is_deferred {
        cursor.expect_word("immediate")?;
    }
    cursor.end()?;
    Ok(ParsedKind::SetConstraints(SetConstraints { names, is_deferred }))
}

/// SAVEPOINT name.
pub(super) fn savepoint(cursor: &mut Cursor) -> Result<ParsedKind> {
    cursor.next();
    let name = cursor.name()?;
    cursor.end()?;
    Ok(ParsedKind::Savepoint { name })
}

/// RELEASE [SAVEPOINT] name.
pub(super) fn release(cursor: &mut Cursor) -> Result<ParsedKind> {
    cursor.next();
    take_savepoint(cursor);
    let name = cursor.name()?;
    cursor.end()?;
    Ok(ParsedKind::Release { name })
}

/// TRANSACTION mode … behind SET, or SESSION CHARACTERISTICS AS TRANSACTION mode …; `None` for any other SET.
pub(super) fn set(cursor: &mut Cursor) -> Result<Option<ParsedKind>> {
    if cursor.take("transaction") {
        if cursor.take("snapshot") {
            return Err(Error::unsupported("SET TRANSACTION SNAPSHOT"));
        }
        let modes = modes(cursor)?;
        return Ok(Some(ParsedKind::SetTransaction { modes }));
    }
    if !cursor.take("characteristics") {
        return Ok(None);
    }
    cursor.expect_word("as")?;
    cursor.expect_word("transaction")?;
    let modes = modes(cursor)?;
    Ok(Some(ParsedKind::SetSessionTransaction { modes }))
}

/// Modes to the end of the statement, at least one, with or without commas between. The last of a kind counts.
fn modes(cursor: &mut Cursor) -> Result<TransactionModes> {
    let mut modes = TransactionModes::default();
    loop {
        if cursor.take("isolation") {
            cursor.expect_word("level")?;
            modes.isolation = Some(isolation(cursor)?);
        } else if cursor.take("read") {
            modes.read_only = Some(cursor.take("only"));
            if modes.read_only == Some(false) {
                cursor.expect_word("write")?;
            }
        } else if cursor.take("not") {
            cursor.expect_word("deferrable")?;
        } else if !cursor.take("deferrable") {
            return Err(cursor.error());
        }
        let goes_on = cursor.take_token(&Token::Comma);
        if !goes_on && cursor.rest().is_empty() {
            return Ok(modes);
        }
    }
}

fn isolation(cursor: &mut Cursor) -> Result<Isolation> {
    if cursor.take("serializable") {
        return Ok(Isolation::Serializable);
    }
    if cursor.take("repeatable") {
        cursor.expect_word("read")?;
        return Ok(Isolation::RepeatableRead);
    }
    cursor.expect_word("read")?;
    if cursor.take("committed") {
        return Ok(Isolation::ReadCommitted);
    }
    cursor.expect_word("uncommitted")?;
    Ok(Isolation::ReadUncommitted)
}

fn take_work(cursor: &mut Cursor) {
    if !cursor.take("work") {
        cursor.take("transaction");
    }
}

/// AND CHAIN; AND NO CHAIN and nothing say no.
fn chain(cursor: &mut Cursor) -> Result<bool> {
    if !cursor.take("and") {
        return Ok(false);
    }
    let chain = !cursor.take("no");
    cursor.expect_word("chain")?;
    Ok(chain)
}

/// Reads past the word SAVEPOINT, unless it is the name.
fn take_savepoint(cursor: &mut Cursor) {
    if cursor.rest().len() > 1 {
        cursor.take("savepoint");
    }
}
