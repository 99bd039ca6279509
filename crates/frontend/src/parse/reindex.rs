//! REINDEX, read from its tokens. Frazil's indexes need no rebuilding, so that the statement only checks what it is
//! given.

use super::cursor::Cursor;
use frazil_catalog::WrittenName;
use frazil_types::{Error, Result, SqlState};
use sqlparser::tokenizer::Token;

/// REINDEX as written.
#[derive(Clone, Debug)]
pub(crate) struct Reindex {
    pub what: Reindexed,
    pub concurrently: bool,
}

/// The object that REINDEX names.
#[derive(Clone, Debug)]
pub(crate) enum Reindexed {
    Index(WrittenName),
    Table(WrittenName),
    Schema(String),
}

/// Reads REINDEX. 42601; 0A000 for DATABASE and SYSTEM, and for a tablespace.
pub(super) fn parse(cursor: &mut Cursor) -> Result<Reindex> {
    cursor.next();
    let mut concurrently = false;
    if cursor.take_token(&Token::LParen) {
        loop {
            let name = cursor.word().ok_or_else(|| cursor.error())?;
            match name.as_str() {
                "concurrently" => concurrently = true,
                "verbose" => {}
                "tablespace" => return Err(Error::unsupported("REINDEX to a tablespace")),
                _ => {
                    let message = format!("unrecognized REINDEX option \"{name}\"");
                    return Err(cursor.error_of(SqlState::SYNTAX_ERROR, message));
                }
            }
            cursor.next();
            if !cursor.take_token(&Token::Comma) {
                cursor.expect(&Token::RParen)?;
                break;
            }
        }
    }
    let kind = cursor.word().ok_or_else(|| cursor.error())?;
    match kind.as_str() {
        "index" | "table" | "schema" => {
            cursor.next();
        }
        "database" | "system" => {
            return Err(Error::unsupported(format!("REINDEX {}", kind.to_uppercase())));
        }
        _ => return Err(cursor.error()),
    }
    concurrently |= cursor.take("concurrently");
    let what = match kind.as_str() {
        "index" => Reindexed::Index(cursor.table_name()?),
        "table" => Reindexed::Table(cursor.table_name()?),
        _ => Reindexed::Schema(cursor.name()?),
    };
    cursor.end()?;
    Ok(Reindex { what, concurrently })
}
