//! CREATE SCHEMA, and SET SCHEMA of tables and types, read from their tokens.

use super::cursor::Cursor;
use super::parsed::ParsedKind;
use frazil_catalog::{NewSchema, WrittenName};
use frazil_types::{Error, Result, USER};

/// ALTER … SET SCHEMA.
#[derive(Clone, Debug)]
pub(crate) struct MovedObject {
    /// True for a type or domain, false for a table.
    pub is_type: bool,
    /// IF EXISTS.
    pub if_exists: bool,
    /// The object.
    pub name: WrittenName,
    /// The schema into which it is put.
    pub schema: String,
}

/// True if the statement is CREATE SCHEMA.
pub(super) fn is_create(cursor: &Cursor) -> bool {
    let mut words = words(cursor);
    words.next().as_deref() == Some("create") && words.next().as_deref() == Some("schema")
}

/// True if the statement is ALTER of a table, type or domain and ends with SET SCHEMA and a name.
pub(super) fn is_move(cursor: &Cursor) -> bool {
    let mut first = words(cursor).skip(1);
    let kind = first.next().unwrap_or_default();
    let words: Vec<String> = words(cursor).collect();
    let is_set = matches!(&words[..], [.., set, schema, _] if set == "set" && schema == "schema");
    is_set && ["table", "type", "domain"].contains(&kind.as_str())
}

/// The unquoted words, folded; empty for other tokens.
fn words(cursor: &Cursor) -> impl Iterator<Item = String> {
    use sqlparser::tokenizer::Token;
    cursor.rest().iter().map(|t| match &t.token {
        Token::Word(w) if w.quote_style.is_none() => w.value.to_lowercase(),
        _ => String::new(),
    })
}

/// CREATE SCHEMA [IF NOT EXISTS] name [AUTHORIZATION user], where the name may be left out for the user's. 0A000 for
/// definitions behind it and for another user.
pub(super) fn create(cursor: &mut Cursor) -> Result<ParsedKind> {
    cursor.expect_word("create")?;
    cursor.expect_word("schema")?;
    let if_not_exists = cursor.take("if");
    if if_not_exists {
        cursor.expect_word("not")?;
        cursor.expect_word("exists")?;
    }
    let name = match cursor.word().as_deref() {
        Some("authorization") => None,
        _ => Some(cursor.name()?),
    };
    if cursor.take("authorization") {
        let user = cursor.label()?;
        if ![USER, "current_user", "session_user", "current_role"].contains(&user.as_str()) {
            return Err(Error::unsupported(format!("a schema of user \"{user}\""))
                .with_hint(format!("there is one user, {USER}")));
        }
    }
    if ["create", "grant"].contains(&cursor.word().unwrap_or_default().as_str()) {
        return Err(Error::unsupported("definitions in CREATE SCHEMA")
            .with_hint("write each as a statement of its own"));
    }
    cursor.end()?;
    Ok(ParsedKind::CreateSchema(NewSchema {
        name: name.unwrap_or_else(|| USER.to_string()),
        if_not_exists,
    }))
}

/// ALTER TABLE [IF EXISTS] [ONLY] name SET SCHEMA name, ALTER TYPE and ALTER DOMAIN name SET SCHEMA name.
pub(super) fn alter(cursor: &mut Cursor) -> Result<ParsedKind> {
    cursor.expect_word("alter")?;
    let is_type = !cursor.take("table");
    if is_type {
        cursor.next();
    }
    let if_exists = !is_type && cursor.take("if");
    if if_exists {
        cursor.expect_word("exists")?;
    }
    if !is_type {
        cursor.take("only");
    }
    let name = cursor.table_name()?;
    cursor.expect_word("set")?;
    cursor.expect_word("schema")?;
    let schema = cursor.name()?;
    cursor.end()?;
    Ok(ParsedKind::SetSchema(MovedObject {
        is_type,
        if_exists,
        name,
        schema,
    }))
}
