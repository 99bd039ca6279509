//! ALTER TABLE … ALTER CONSTRAINT, alone in its statement, read from its tokens.

use super::cursor::Cursor;
use frazil_catalog::{Deferral, WrittenName};
use frazil_types::{Error, Result, SqlState};
use sqlparser::tokenizer::Token;

/// The statement as written.
#[derive(Clone, Debug)]
pub(crate) struct AlteredConstraint {
    pub table: WrittenName,
    pub if_exists: bool,
    pub name: String,
    pub deferral: Deferral,
}

/// Reads ALTER TABLE [IF EXISTS] [ONLY] name ALTER CONSTRAINT name with when it is checked; `None` for any other
/// statement, and if other actions follow.
pub(super) fn parse(mut cursor: Cursor<'_>) -> Result<Option<AlteredConstraint>> {
    if !cursor.take("alter") || !cursor.take("table") {
        return Ok(None);
    }
    let Some((table, if_exists)) = cursor.altered_table() else {
        return Ok(None);
    };
    if !cursor.take("alter") || !cursor.take("constraint") {
        return Ok(None);
    }
    let name = cursor.name()?;
    let deferral = deferral(&mut cursor)?;
    if cursor.peek() == Some(&Token::Comma) {
        return Ok(None);
    }
    cursor.end()?;
    Ok(Some(AlteredConstraint {
        table,
        if_exists,
        name,
        deferral,
    }))
}

/// [[NOT] DEFERRABLE] [INITIALLY DEFERRED | IMMEDIATE], in any order. 42601 for what excludes each other, 0A000 for NOT
/// VALID.
fn deferral(cursor: &mut Cursor<'_>) -> Result<Deferral> {
    let (mut is_deferrable, mut is_deferred) = (None, None);
    loop {
        let (given, value) = if cursor.take("not") {
            if cursor.word().as_deref() == Some("valid") {
                let message = "FOREIGN KEY constraints cannot be marked NOT VALID";
                return Err(Error::new(SqlState::FEATURE_NOT_SUPPORTED, message));
            }
            cursor.expect_word("deferrable")?;
            (&mut is_deferrable, false)
        } else if cursor.take("deferrable") {
            (&mut is_deferrable, true)
        } else if cursor.take("initially") {
            let is_deferred_now = cursor.take("deferred");
            if !is_deferred_now {
                cursor.expect_word("immediate")?;
            }
            (&mut is_deferred, is_deferred_now)
        } else {
            break;
        };
        if given.is_some_and(|before| before != value) {
            let message = "conflicting constraint properties";
            return Err(Error::new(SqlState::SYNTAX_ERROR, message));
        }
        *given = Some(value);
    }
    match (is_deferrable, is_deferred.unwrap_or(false)) {
        (Some(false), true) => {
            let message = "constraint declared INITIALLY DEFERRED must be DEFERRABLE";
            Err(Error::new(SqlState::SYNTAX_ERROR, message))
        }
        (Some(true) | None, true) => Ok(Deferral::Deferred),
        (Some(true), false) => Ok(Deferral::Immediate),
        (Some(false) | None, false) => Ok(Deferral::Never),
    }
}
