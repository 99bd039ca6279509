//! Statements read from their tokens: FREEZE, SET, SHOW, DESCRIBE, TRUNCATE.

use super::cursor::Cursor;
use super::keywords::fold;
use super::parsed::ParsedKind;
use super::transactions;
use crate::copy::query_of;
use frazil_catalog::WrittenName;
use frazil_types::{Error, Result, Value};
use sqlparser::keywords::Keyword;
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

/// SET [SESSION | LOCAL] name = value.
pub(super) fn set(cursor: &mut Cursor) -> Result<ParsedKind> {
    cursor.next();
    let is_local = cursor.take("local");
    if !is_local {
        cursor.take("session");
    }
    if let Some(transaction) = transactions::set(cursor)? {
        return Ok(transaction);
    }
    let next = cursor.rest().get(1).map(|t| &t.token);
    if let Some(word) = cursor.word()
        && ["role", "constraints", "authorization"].contains(&word.as_str())
        && matches!(
            next,
            Some(Token::Word(_) | Token::SingleQuotedString(_) | Token::Comma)
        )
        && cursor
            .rest()
            .get(1)
            .is_none_or(|t| !super::tokens::is_word(t, Keyword::TO))
    {
        return Err(Error::unsupported(format!("SET {}", word.to_uppercase())));
    }
    if cursor.take("names") {
        return names(cursor);
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
    let value = match name == SEARCH_PATH && !value.is_null() {
        true => path(cursor, value)?,
        false => list(cursor, value)?,
    };
    cursor.end()?;
    Ok(match is_local {
        true => ParsedKind::SetLocal { name, value },
        false => ParsedKind::Set { name, value },
    })
}

/// The setting whose values are names.
const SEARCH_PATH: &str = "search_path";

/// The value of [`SEARCH_PATH`]: each item is one name, whatever characters it has.
fn path(cursor: &mut Cursor, first: Value) -> Result<Value> {
    let name = |value: &Value| match value {
        Value::Text(text) => quoted(text),
        Value::Int(n) => quoted(&n.to_string()),
        other => format!("{other:?}").to_lowercase(),
    };
    let mut names = vec![name(&first)];
    while cursor.take_token(&Token::Comma) {
        names.push(match cursor.next() {
            Some(Token::SingleQuotedString(text)) => quoted(&text),
            Some(Token::Word(w)) => quoted(&fold(&w)),
            _ => return Err(cursor.error_before()),
        });
    }
    Ok(Value::Text(names.join(", ")))
}

/// A name in quotes if it needs them.
fn quoted(name: &str) -> String {
    frazil_catalog::identifier(name)
}

/// The value, or with others behind commas all of them as one text.
fn list(cursor: &mut Cursor, first: Value) -> Result<Value> {
    let text = |value: &Value| match value {
        Value::Text(text) => text.clone(),
        Value::Int(n) => n.to_string(),
        other => format!("{other:?}").to_lowercase(),
    };
    let mut items = vec![first];
    while cursor.take_token(&Token::Comma) {
        items.push(match cursor.next() {
            Some(Token::SingleQuotedString(text)) => Value::Text(text),
            Some(Token::Word(w)) => Value::Text(fold(&w)),
            Some(Token::Number(n, _)) => Value::Text(n),
            _ => return Err(cursor.error_before()),
        });
    }
    match items.len() {
        1 => Ok(items.remove(0)),
        _ => Ok(Value::Text(items.iter().map(text).collect::<Vec<_>>().join(", "))),
    }
}

/// NAMES ['encoding']: the client's encoding.
fn names(cursor: &mut Cursor) -> Result<ParsedKind> {
    let name = "client_encoding".to_owned();
    let value = match cursor.next() {
        None => Value::Null,
        Some(Token::SingleQuotedString(encoding)) => Value::Text(encoding),
        Some(Token::Word(w)) if fold(&w) == "default" => Value::Null,
        Some(_) => return Err(cursor.error_before()),
    };
    cursor.end()?;
    Ok(ParsedKind::Set { name, value })
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

/// RESET name, RESET ALL.
pub(super) fn reset(cursor: &mut Cursor) -> Result<ParsedKind> {
    cursor.next();
    if cursor.take("all") {
        cursor.end()?;
        return Ok(ParsedKind::ResetAll);
    }
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
    let name = if cursor.take("transaction") {
        cursor.expect_word("isolation")?;
        cursor.expect_word("level")?;
        "transaction_isolation".to_owned()
    } else if cursor.take("all") {
        return Err(Error::unsupported("SHOW ALL"));
    } else {
        match time_zone(cursor)? {
            Some(name) => name,
            None => cursor.dotted_name()?,
        }
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

/// A statement of one word.
pub(super) fn only(cursor: &mut Cursor, kind: ParsedKind) -> Result<ParsedKind> {
    cursor.next();
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
