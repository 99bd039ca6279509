//! CREATE SCHEMA, and SET SCHEMA of tables and types, read from their tokens.

use super::cursor::Cursor;
use super::parsed::ParsedKind;
use super::roles::{self, WrittenRole};
use frazil_catalog::WrittenName;
use frazil_types::{Error, Result};

/// A kind of objects that get another name or schema. The word is that of the statement.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum MovedKind {
    Table,
    View,
    MaterializedView,
    Index,
    Type,
    Domain,
    Schema,
}

impl MovedKind {
    /// The kind of a word behind ALTER.
    pub fn of(word: &str) -> Option<MovedKind> {
        Some(match word {
            "table" => MovedKind::Table,
            "view" => MovedKind::View,
            // The word VIEW follows.
            "materialized" => MovedKind::MaterializedView,
            "index" => MovedKind::Index,
            "type" => MovedKind::Type,
            "domain" => MovedKind::Domain,
            "schema" => MovedKind::Schema,
            _ => return None,
        })
    }

    /// The tag of ALTER.
    pub fn tag(self) -> &'static str {
        match self {
            MovedKind::Table => "ALTER TABLE",
            MovedKind::View => "ALTER VIEW",
            MovedKind::MaterializedView => "ALTER MATERIALIZED VIEW",
            MovedKind::Index => "ALTER INDEX",
            MovedKind::Type => "ALTER TYPE",
            MovedKind::Domain => "ALTER DOMAIN",
            MovedKind::Schema => "ALTER SCHEMA",
        }
    }
}

/// The new name of an object or column, or the new schema.
#[derive(Clone, Debug)]
pub(crate) enum RenameTo {
    Name(String),
    Column { from: String, to: String },
    Schema(String),
}

/// ALTER VIEW, INDEX, DOMAIN or SCHEMA with RENAME.
#[derive(Clone, Debug)]
pub(crate) struct RenamedObject {
    pub kind: MovedKind,
    /// IF EXISTS.
    pub if_exists: bool,
    pub name: WrittenName,
    pub to: RenameTo,
}

/// True if the statement is ALTER VIEW, INDEX, DOMAIN or SCHEMA, and has the word RENAME behind the name.
pub(super) fn is_rename(cursor: &Cursor) -> bool {
    let words: Vec<String> = words(cursor).take(10).collect();
    let kind = words.get(1).map(String::as_str).unwrap_or_default();
    let at = words.iter().position(|word| word == "rename");
    let is_constraint = |at: usize| words.get(at + 1).is_some_and(|word| word == "constraint");
    ["view", "materialized", "index", "domain", "schema"].contains(&kind)
        && at.is_some_and(|at| at > 2 && !is_constraint(at))
}

/// ALTER VIEW [IF EXISTS] name RENAME TO name | RENAME [COLUMN] name TO name, ALTER INDEX [IF EXISTS], ALTER DOMAIN and
/// ALTER SCHEMA name RENAME TO name.
pub(super) fn rename(cursor: &mut Cursor) -> Result<ParsedKind> {
    cursor.expect_word("alter")?;
    let kind = cursor.word().as_deref().and_then(MovedKind::of);
    let kind = kind.ok_or_else(|| cursor.error())?;
    cursor.next();
    if kind == MovedKind::MaterializedView {
        cursor.expect_word("view")?;
    }
    let has_condition = matches!(
        kind,
        MovedKind::View | MovedKind::MaterializedView | MovedKind::Index
    );
    let if_exists = has_condition && cursor.take("if");
    if if_exists {
        cursor.expect_word("exists")?;
    }
    let name = cursor.table_name()?;
    cursor.expect_word("rename")?;
    let to = if cursor.take("to") {
        RenameTo::Name(cursor.name()?)
    } else if matches!(kind, MovedKind::View | MovedKind::MaterializedView) {
        cursor.take("column");
        let from = cursor.name()?;
        cursor.expect_word("to")?;
        let to = cursor.name()?;
        RenameTo::Column { from, to }
    } else {
        return Err(cursor.error());
    };
    cursor.end()?;
    Ok(ParsedKind::Rename(RenamedObject {
        kind,
        if_exists,
        name,
        to,
    }))
}

/// ALTER … SET SCHEMA.
#[derive(Clone, Debug)]
pub(crate) struct MovedObject {
    /// The kind of the object.
    pub kind: MovedKind,
    /// IF EXISTS.
    pub if_exists: bool,
    /// The object.
    pub name: WrittenName,
    /// The schema into which it is put.
    pub schema: String,
}

/// CREATE SCHEMA as written.
#[derive(Clone, Debug)]
pub(crate) struct WrittenSchema {
    /// The name; `None`: that of the owner.
    pub name: Option<String>,
    /// IF NOT EXISTS.
    pub if_not_exists: bool,
    /// AUTHORIZATION.
    pub owner: Option<WrittenRole>,
}

/// True if the statement is CREATE SCHEMA.
pub(super) fn is_create(cursor: &Cursor) -> bool {
    let mut words = words(cursor);
    words.next().as_deref() == Some("create") && words.next().as_deref() == Some("schema")
}

/// True if the statement is ALTER of a table, view, type or domain and ends with SET SCHEMA and a name.
pub(super) fn is_move(cursor: &Cursor) -> bool {
    let mut first = words(cursor).skip(1);
    let kind = first.next().unwrap_or_default();
    let words: Vec<String> = words(cursor).collect();
    let is_set = matches!(&words[..], [.., set, schema, _] if set == "set" && schema == "schema");
    is_set && ["table", "view", "materialized", "type", "domain"].contains(&kind.as_str())
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
/// definitions behind it.
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
    let owner = match cursor.take("authorization") {
        true => Some(roles::role(cursor)?),
        false => None,
    };
    if ["create", "grant"].contains(&cursor.word().unwrap_or_default().as_str()) {
        return Err(Error::unsupported("definitions in CREATE SCHEMA")
            .with_hint("write each as a statement of its own"));
    }
    cursor.end()?;
    Ok(ParsedKind::CreateSchema(WrittenSchema {
        name,
        if_not_exists,
        owner,
    }))
}

/// ALTER TABLE [IF EXISTS] [ONLY] name SET SCHEMA name, ALTER VIEW [IF EXISTS], ALTER TYPE and ALTER DOMAIN name SET
/// SCHEMA name.
pub(super) fn alter(cursor: &mut Cursor) -> Result<ParsedKind> {
    cursor.expect_word("alter")?;
    let kind = cursor.word().as_deref().and_then(MovedKind::of);
    let kind = kind.ok_or_else(|| cursor.error())?;
    cursor.next();
    if kind == MovedKind::MaterializedView {
        cursor.expect_word("view")?;
    }
    let has_condition = matches!(
        kind,
        MovedKind::Table | MovedKind::View | MovedKind::MaterializedView
    );
    let if_exists = has_condition && cursor.take("if");
    if if_exists {
        cursor.expect_word("exists")?;
    }
    if kind == MovedKind::Table {
        cursor.take("only");
    }
    let name = cursor.table_name()?;
    cursor.expect_word("set")?;
    cursor.expect_word("schema")?;
    let schema = cursor.name()?;
    cursor.end()?;
    Ok(ParsedKind::SetSchema(MovedObject {
        kind,
        if_exists,
        name,
        schema,
    }))
}
