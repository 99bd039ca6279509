//! ALTER TABLE … ALTER COLUMN … SET STATISTICS, SET STORAGE and SET COMPRESSION, each alone in its statement as dumps
//! have them. They advise PostgreSQL how to keep a column; Frazil decides by itself.

use super::cursor::Cursor;
use frazil_catalog::WrittenName;
use frazil_types::{Error, Result, SqlState};
use sqlparser::tokenizer::Token;

/// The statement as written.
#[derive(Clone, Debug)]
pub(crate) struct ColumnAdvice {
    pub table: WrittenName,
    pub if_exists: bool,
    pub column: String,
    pub what: Advice,
}

/// The kind of the advice.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Advice {
    Statistics,
    Storage { is_plain: bool },
    Compression,
}

const STORAGES: [&str; 4] = ["plain", "external", "extended", "main"];
const COMPRESSIONS: [&str; 3] = ["default", "pglz", "lz4"];

/// Reads such a statement; `None` for any other one. 22023 for a value that the advice does not take.
pub(super) fn parse(mut cursor: Cursor<'_>) -> Result<Option<ColumnAdvice>> {
    match read(&mut cursor)? {
        Some(advice) if cursor.rest().is_empty() => Ok(Some(advice)),
        Some(_) | None => Ok(None),
    }
}

fn read(cursor: &mut Cursor<'_>) -> Result<Option<ColumnAdvice>> {
    if !cursor.take("alter") || !cursor.take("table") {
        return Ok(None);
    }
    let if_exists = cursor.take("if") && cursor.take("exists");
    cursor.take("only");
    let Ok(table) = cursor.table_name() else {
        return Ok(None);
    };
    cursor.take_token(&Token::Mul);
    if !cursor.take("alter") {
        return Ok(None);
    }
    cursor.take("column");
    let Ok(column) = cursor.name() else {
        return Ok(None);
    };
    if !cursor.take("set") {
        return Ok(None);
    }
    let kind = cursor.word().unwrap_or_default();
    let what = match kind.as_str() {
        "statistics" => {
            cursor.next();
            statistics(cursor)?
        }
        "storage" | "compression" => {
            cursor.next();
            let Some(value) = cursor.word() else {
                return Ok(None);
            };
            cursor.next();
            named(&kind, &value)?
        }
        _ => return Ok(None),
    };
    Ok(Some(ColumnAdvice {
        table,
        if_exists,
        column,
        what,
    }))
}

/// A number of values, or -1.
fn statistics(cursor: &mut Cursor<'_>) -> Result<Advice> {
    let is_negative = cursor.take_token(&Token::Minus);
    let Some(Token::Number(number, _)) = cursor.next() else {
        return Err(cursor.error_before());
    };
    match number.parse::<i64>() {
        Ok(number) if is_negative && number > 1 => Err(Error::new(
            SqlState::INVALID_PARAMETER,
            format!("statistics target -{number} is too low"),
        )),
        Ok(_) => Ok(Advice::Statistics),
        Err(_) => Err(cursor.error_before()),
    }
}

fn named(kind: &str, value: &str) -> Result<Advice> {
    match kind {
        "storage" if STORAGES.contains(&value) => Ok(Advice::Storage {
            is_plain: value == "plain",
        }),
        "compression" if COMPRESSIONS.contains(&value) => Ok(Advice::Compression),
        "storage" => Err(Error::new(
            SqlState::INVALID_PARAMETER,
            format!("invalid storage type \"{value}\""),
        )),
        _ => Err(Error::new(
            SqlState::INVALID_PARAMETER,
            format!("invalid compression method \"{value}\""),
        )),
    }
}
