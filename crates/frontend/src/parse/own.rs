//! Statements read from their tokens: EXPLAIN, FREEZE, SET, SHOW, DESCRIBE, transactions.

use super::cursor::Cursor;
use super::{ParsedKind, fold};
use crate::ExplainMode;
use crate::copy::query_of;
use frazil_types::{Error, Result, SqlState, Value};
use sqlparser::tokenizer::{Token, TokenWithSpan};

/// EXPLAIN [ANALYZE] [(option, …)]; the statement follows.
pub(super) fn explain(cursor: &mut Cursor) -> Result<(ExplainMode, bool)> {
    cursor.next();
    let (mut mode, mut analyze) = (ExplainMode::Plan, false);
    if cursor.take("analyze") {
        analyze = true;
    }
    if cursor.take_token(&Token::LParen) {
        loop {
            match cursor.word().unwrap_or_default().as_str() {
                "plan" => mode = ExplainMode::Plan,
                "pipelines" => mode = ExplainMode::Pipelines,
                "stages" => mode = ExplainMode::Stages,
                "clif" => mode = ExplainMode::Clif,
                "analyze" => analyze = true,
                other => {
                    return Err(Error::unsupported(format!("EXPLAIN ({other})"))
                        .with_hint("the options are ANALYZE, PLAN, PIPELINES, STAGES and CLIF"));
                }
            }
            cursor.next();
            if !cursor.take_token(&Token::Comma) {
                break;
            }
        }
        cursor.expect(&Token::RParen)?;
    }
    if cursor.take("analyze") {
        analyze = true;
    }
    Ok((mode, analyze))
}

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

/// SET [SESSION | LOCAL] name = value.
pub(super) fn set(cursor: &mut Cursor) -> Result<ParsedKind> {
    cursor.next();
    let is_local = cursor.take("local");
    if !is_local {
        cursor.take("session");
    }
    if matches!(cursor.word().as_deref(), Some("transaction" | "role")) {
        let word = cursor.word().unwrap_or_default().to_uppercase();
        return Err(Error::unsupported(format!("SET {word}")));
    }
    let name = match time_zone(cursor)? {
        Some(name) => name,
        None => {
            let name = cursor.dotted_name()?;
            if !cursor.take("to") {
                cursor.expect(&Token::Eq)?;
            }
            name
        }
    };
    let negative = cursor.take_token(&Token::Minus);
    let value = match cursor.next() {
        Some(Token::Number(n, _)) => match n.parse::<i128>() {
            Ok(v) => Value::Int(if negative { -v } else { v }),
            Err(_) => Value::Double(n.parse::<f64>().unwrap_or(f64::NAN) * if negative { -1.0 } else { 1.0 }),
        },
        Some(Token::SingleQuotedString(text)) => Value::Text(text),
        Some(Token::Word(w)) => match fold(&w).as_str() {
            "default" | "local" if name == TIME_ZONE => Value::Null,
            "default" => Value::Null,
            "true" | "on" => Value::Bool(true),
            "false" | "off" => Value::Bool(false),
            other => Value::Text(other.to_string()),
        },
        _ => return Err(cursor.error_before()),
    };
    cursor.end()?;
    Ok(match is_local {
        true => ParsedKind::SetLocal { name, value },
        false => ParsedKind::Set { name, value },
    })
}

/// The setting of the session's time zone.
const TIME_ZONE: &str = "timezone";

/// TIME ZONE, which says the name of a setting.
fn time_zone(cursor: &mut Cursor) -> Result<Option<String>> {
    if !cursor.take("time") {
        return Ok(None);
    }
    cursor.expect_word("zone")?;
    Ok(Some(TIME_ZONE.to_owned()))
}

/// RESET name.
pub(super) fn reset(cursor: &mut Cursor) -> Result<ParsedKind> {
    cursor.next();
    let name = match time_zone(cursor)? {
        Some(name) => name,
        None => cursor.dotted_name()?,
    };
    cursor.end()?;
    Ok(ParsedKind::Set {
        name,
        value: Value::Null,
    })
}

/// SHOW name, SHOW TABLES.
pub(super) fn show(cursor: &mut Cursor) -> Result<ParsedKind> {
    cursor.next();
    let name = match time_zone(cursor)? {
        Some(name) => name,
        None => cursor.dotted_name()?,
    };
    cursor.end()?;
    Ok(match name.as_str() {
        "tables" => ParsedKind::ShowTables,
        _ => ParsedKind::Show { name },
    })
}

/// What DESCRIBE and SUMMARIZE look at.
pub(super) enum Described {
    /// A table or view, and the words of a query of it.
    Relation(String, Vec<TokenWithSpan>),
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

/// A statement of one word.
pub(super) fn only(cursor: &mut Cursor, kind: ParsedKind) -> Result<ParsedKind> {
    cursor.next();
    cursor.end()?;
    Ok(kind)
}

/// BEGIN, COMMIT, ROLLBACK and their synonyms.
pub(super) fn transaction(cursor: &mut Cursor, kind: ParsedKind) -> Result<ParsedKind> {
    let start = cursor.word().as_deref() == Some("start");
    cursor.next();
    if start {
        cursor.expect_word("transaction")?;
    } else if !cursor.take("work") {
        cursor.take("transaction");
    }
    if matches!(kind, ParsedKind::Rollback) && cursor.take("to") {
        take_savepoint(cursor);
        let name = cursor.name()?;
        cursor.end()?;
        return Ok(ParsedKind::RollbackTo { name });
    }
    if let Some(word) = cursor.word() {
        let what = match word.as_str() {
            "isolation" => "SET of an ISOLATION LEVEL".to_string(),
            other => format!("transaction option {}", other.to_uppercase()),
        };
        return Err(Error::unsupported(what));
    }
    cursor.end()?;
    Ok(kind)
}

/// TRUNCATE [TABLE] [ONLY] table [*], … [RESTART IDENTITY | CONTINUE IDENTITY] [CASCADE | RESTRICT]. There are neither
/// sequences nor foreign keys, so that the last words change nothing.
pub(super) fn truncate(cursor: &mut Cursor) -> Result<ParsedKind> {
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
    if cursor.take("restart") || cursor.take("continue") {
        cursor.expect_word("identity")?;
    }
    if !cursor.take("cascade") {
        cursor.take("restrict");
    }
    cursor.end()?;
    Ok(ParsedKind::Truncate { tables })
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

/// Reads past the word SAVEPOINT, unless it is the name.
fn take_savepoint(cursor: &mut Cursor) {
    if cursor.rest().len() > 1 {
        cursor.take("savepoint");
    }
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
    Error::new(
        SqlState::FEATURE_NOT_SUPPORTED,
        format!("{} is not supported", first.to_uppercase()),
    )
}
