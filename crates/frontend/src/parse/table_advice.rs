//! ALTER TABLE … ALTER COLUMN … SET STATISTICS, SET STORAGE and SET COMPRESSION, ALTER TABLE and ALTER MATERIALIZED
//! VIEW … CLUSTER ON and SET WITHOUT CLUSTER, ALTER TABLE … REPLICA IDENTITY, each alone in its statement as dumps
//! have them. They advise PostgreSQL how to keep a column or the order of rows, or what to replicate of a row; Frazil
//! decides by itself. SET WITHOUT OIDS changes nothing, because no table has oids, and ENABLE and DISABLE TRIGGER USER
//! change nothing, because there are no triggers of users.

use super::cursor::Cursor;
use frazil_catalog::WrittenName;
use frazil_types::{Error, Result, SqlState};
use sqlparser::tokenizer::Token;

/// The statement as written.
#[derive(Clone, Debug)]
pub(crate) struct TableAdvice {
    pub table: WrittenName,
    pub if_exists: bool,
    pub what: Advice,
    pub tag: &'static str,
}

/// The advice.
#[derive(Clone, Debug)]
pub(crate) enum Advice {
    Statistics {
        column: String,
    },
    Storage {
        column: String,
        is_plain: bool,
    },
    Compression {
        column: String,
    },
    /// CLUSTER ON an index; `None` for SET WITHOUT CLUSTER.
    Cluster {
        index: Option<String>,
    },
    /// REPLICA IDENTITY USING INDEX; `None` for FULL, NOTHING and DEFAULT.
    ReplicaIdentity {
        index: Option<String>,
    },
    /// A statement that changes nothing: the table has neither oids nor triggers of users.
    Nothing,
}

const STORAGES: [&str; 4] = ["plain", "external", "extended", "main"];
const COMPRESSIONS: [&str; 3] = ["default", "pglz", "lz4"];

/// Reads such a statement; `None` for any other one. 22023 for a value that the advice does not take.
pub(super) fn parse(mut cursor: Cursor<'_>) -> Result<Option<TableAdvice>> {
    match read(&mut cursor)? {
        Some(advice) if cursor.rest().is_empty() => Ok(Some(advice)),
        Some(_) | None => Ok(None),
    }
}

fn read(cursor: &mut Cursor<'_>) -> Result<Option<TableAdvice>> {
    if !cursor.take("alter") {
        return Ok(None);
    }
    let is_materialized = cursor.take("materialized");
    let (kind, tag) = match is_materialized {
        true => ("view", "ALTER MATERIALIZED VIEW"),
        false => ("table", "ALTER TABLE"),
    };
    if !cursor.take(kind) {
        return Ok(None);
    }
    let Some((table, if_exists)) = cursor.altered_table() else {
        return Ok(None);
    };
    let what = match cursor.take("alter") {
        true => of_column(cursor)?,
        false => match is_materialized {
            true => clustering(cursor),
            false => {
                let begin = cursor.clone();
                clustering(cursor).or_else(|| {
                    *cursor = begin;
                    of_table(cursor)
                })
            }
        },
    };
    Ok(what.map(|what| TableAdvice {
        table,
        if_exists,
        what,
        tag,
    }))
}

/// Reads CLUSTER ON an index, or SET WITHOUT CLUSTER.
fn clustering(cursor: &mut Cursor<'_>) -> Option<Advice> {
    if cursor.take("cluster") && cursor.take("on") {
        let index = cursor.name().ok()?;
        return Some(Advice::Cluster { index: Some(index) });
    }
    let is_without = cursor.take("set") && cursor.take("without") && cursor.take("cluster");
    is_without.then_some(Advice::Cluster { index: None })
}

/// Reads REPLICA IDENTITY, SET WITHOUT OIDS, ENABLE or DISABLE TRIGGER USER.
fn of_table(cursor: &mut Cursor<'_>) -> Option<Advice> {
    if cursor.take("replica") {
        let is_identity = cursor.take("identity");
        if is_identity && cursor.take("using") && cursor.take("index") {
            let index = cursor.name().ok()?;
            return Some(Advice::ReplicaIdentity { index: Some(index) });
        }
        let is_known = is_identity
            && ["full", "nothing", "default"]
                .iter()
                .any(|word| cursor.take(word));
        return is_known.then_some(Advice::ReplicaIdentity { index: None });
    }
    let is_nothing = match cursor.take("set") {
        true => cursor.take("without") && cursor.take("oids"),
        false => {
            (cursor.take("enable") || cursor.take("disable")) && cursor.take("trigger") && cursor.take("user")
        }
    };
    is_nothing.then_some(Advice::Nothing)
}

/// Reads an action behind ALTER.
fn of_column(cursor: &mut Cursor<'_>) -> Result<Option<Advice>> {
    cursor.take("column");
    let Ok(column) = cursor.name() else {
        return Ok(None);
    };
    if !cursor.take("set") {
        return Ok(None);
    }
    let kind = cursor.word().unwrap_or_default();
    match kind.as_str() {
        "statistics" => {
            cursor.next();
            statistics(cursor, column).map(Some)
        }
        "storage" | "compression" => {
            cursor.next();
            let Some(value) = cursor.word() else {
                return Ok(None);
            };
            cursor.next();
            named(&kind, &value, column).map(Some)
        }
        _ => Ok(None),
    }
}

/// A number of values, or -1.
fn statistics(cursor: &mut Cursor<'_>, column: String) -> Result<Advice> {
    let is_negative = cursor.take_token(&Token::Minus);
    let Some(Token::Number(number, _)) = cursor.next() else {
        return Err(cursor.error_before());
    };
    match number.parse::<i64>() {
        Ok(number) if is_negative && number > 1 => Err(Error::new(
            SqlState::INVALID_PARAMETER,
            format!("statistics target -{number} is too low"),
        )),
        Ok(_) => Ok(Advice::Statistics { column }),
        Err(_) => Err(cursor.error_before()),
    }
}

fn named(kind: &str, value: &str, column: String) -> Result<Advice> {
    match kind {
        "storage" if STORAGES.contains(&value) => Ok(Advice::Storage {
            column,
            is_plain: value == "plain",
        }),
        "compression" if COMPRESSIONS.contains(&value) => Ok(Advice::Compression { column }),
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
