//! COMMENT ON, read from its tokens.

use super::cursor::Cursor;
use frazil_catalog::{CommentedKind, WrittenName};
use frazil_types::{Error, Result};
use sqlparser::tokenizer::Token;

/// COMMENT ON as written.
#[derive(Clone, Debug)]
pub(crate) struct CommentOn {
    pub object: CommentedName,
    /// `None` for NULL.
    pub text: Option<String>,
}

/// The object of a comment as written.
#[derive(Clone, Debug)]
pub(crate) enum CommentedName {
    /// The name of the database.
    Database(String),
    Schema(String),
    Relation(CommentedKind, WrittenName),
    /// A relation and a column of it.
    Column(WrittenName, String),
    /// A type; true: it must be a domain.
    Type(WrittenName, bool),
    /// A constraint and its table.
    Constraint(String, WrittenName),
    /// A constraint and its domain.
    DomainConstraint(String, WrittenName),
}

/// COMMENT ON kind name IS 'text' | NULL. 0A000 for a kind of objects that there is not.
pub(super) fn parse(cursor: &mut Cursor) -> Result<CommentOn> {
    cursor.expect_word("comment")?;
    cursor.expect_word("on")?;
    let object = object(cursor)?;
    cursor.expect_word("is")?;
    let text = match cursor.peek().cloned() {
        Some(
            Token::SingleQuotedString(text)
            | Token::EscapedStringLiteral(text)
            | Token::UnicodeStringLiteral(text),
        ) => Some(text),
        Some(Token::DollarQuotedString(text)) => Some(text.value),
        Some(Token::Word(w)) if w.quote_style.is_none() && w.value.eq_ignore_ascii_case("null") => None,
        Some(_) | None => return Err(cursor.error()),
    };
    cursor.next();
    cursor.end()?;
    Ok(CommentOn { object, text })
}

fn object(cursor: &mut Cursor) -> Result<CommentedName> {
    let kind = cursor.word().unwrap_or_default();
    cursor.next();
    let relation = |kind, cursor: &mut Cursor| Ok(CommentedName::Relation(kind, cursor.table_name()?));
    match kind.as_str() {
        "table" => relation(CommentedKind::Table, cursor),
        "view" => relation(CommentedKind::View, cursor),
        "materialized" => {
            cursor.expect_word("view")?;
            relation(CommentedKind::MaterializedView, cursor)
        }
        "index" => relation(CommentedKind::Index, cursor),
        "sequence" => relation(CommentedKind::Sequence, cursor),
        "database" => Ok(CommentedName::Database(cursor.name()?)),
        "schema" => Ok(CommentedName::Schema(cursor.name()?)),
        "type" => Ok(CommentedName::Type(cursor.table_name()?, false)),
        "domain" => Ok(CommentedName::Type(cursor.table_name()?, true)),
        "column" => column(cursor),
        "constraint" => {
            let name = cursor.name()?;
            cursor.expect_word("on")?;
            if cursor.word().as_deref() == Some("domain") && cursor.peek_behind().is_some_and(is_name) {
                cursor.next();
                return Ok(CommentedName::DomainConstraint(name, cursor.table_name()?));
            }
            Ok(CommentedName::Constraint(name, cursor.table_name()?))
        }
        other => Err(Error::unsupported(format!("COMMENT ON {}", other.to_uppercase()))),
    }
}

fn is_name(token: &Token) -> bool {
    matches!(token, Token::Word(w) if !w.value.eq_ignore_ascii_case("is"))
}

/// table.column or schema.table.column.
fn column(cursor: &mut Cursor) -> Result<CommentedName> {
    let mut parts = vec![cursor.name()?];
    while cursor.take_token(&Token::Period) {
        parts.push(cursor.label()?);
    }
    let (column, name) = (parts.pop().unwrap_or_default(), parts.pop());
    match (name, parts.pop(), parts.is_empty()) {
        (Some(name), schema, true) => Ok(CommentedName::Column(WrittenName { schema, name }, column)),
        (None, _, _) => Err(Error::new(
            frazil_types::SqlState::SYNTAX_ERROR,
            "column name must be qualified",
        )),
        (Some(_), _, false) => Err(cursor.error()),
    }
}
