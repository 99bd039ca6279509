//! Schemas, and names of objects: in a schema, as the catalog keeps them, and as statements write them.

use crate::names::identifier;
use frazil_types::{Error, ObjectId, Result, SqlState, session_settings};
use std::fmt;

/// The schema that a new database has.
pub const PUBLIC: &str = "public";

/// The schema of built-in types and system tables. Every session finds names in it, and nobody creates any there.
pub const SYSTEM_SCHEMA: &str = "pg_catalog";

/// Another name of [`PUBLIC`], unless there is a schema of this name.
pub const PUBLIC_ALIAS: &str = "main";

/// The name by which a session writes the schema of its temporary objects.
pub const TEMPORARY_ALIAS: &str = "pg_temp";

/// The name of a session's schema before the session's number.
const PREFIX: &str = "pg_temp_";

/// The name of the schema of a session's temporary objects.
pub fn temporary_schema(session: u64) -> String {
    format!("{PREFIX}{session}")
}

/// True for the name of a schema of temporary objects.
pub fn is_temporary_schema(name: &str) -> bool {
    name.starts_with(PREFIX)
}

/// 0A000 for a type in a schema of temporary objects.
pub(crate) fn refuse_temporary_type(namespace: ObjectId) -> Result<()> {
    match namespace.is_temporary() {
        true => {
            Err(Error::unsupported("a temporary type or domain").with_hint("create it in another schema"))
        }
        false => Ok(()),
    }
}

/// A name in a schema. Both parts are folded to lower case unless they were quoted.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct QualifiedName {
    /// The schema's name.
    pub schema: String,
    /// The object's name in it.
    pub name: String,
}

impl QualifiedName {
    /// A name in a schema.
    pub fn new(schema: impl Into<String>, name: impl Into<String>) -> QualifiedName {
        QualifiedName {
            schema: schema.into(),
            name: name.into(),
        }
    }

    /// A name in [`PUBLIC`].
    pub fn in_public(name: impl Into<String>) -> QualifiedName {
        QualifiedName::new(PUBLIC, name)
    }
}

/// A name in [`PUBLIC`]. The text is static, so that a name which a statement gives is never taken for one in
/// [`PUBLIC`] without being resolved.
impl From<&'static str> for QualifiedName {
    fn from(name: &'static str) -> QualifiedName {
        QualifiedName::in_public(name)
    }
}

/// As SQL text, quoted where necessary.
impl fmt::Display for QualifiedName {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}.{}", identifier(&self.schema), identifier(&self.name))
    }
}

/// A name as a statement writes it: with or without its schema.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct WrittenName {
    /// The schema's name, if the statement gives it.
    pub schema: Option<String>,
    /// The object's name.
    pub name: String,
}

impl WrittenName {
    /// A name without a schema.
    pub fn unqualified(name: impl Into<String>) -> WrittenName {
        WrittenName {
            schema: None,
            name: name.into(),
        }
    }

    /// The name that a text gives, perhaps with its schema: folded to lower case unless it is quoted.
    pub fn read(text: &str) -> WrittenName {
        match split(text) {
            Some((first, rest)) => match split(rest) {
                Some((schema, name)) if folded(first) == session_settings::database() => WrittenName {
                    schema: Some(folded(schema)),
                    name: folded(name),
                },
                _ => WrittenName {
                    schema: Some(folded(first)),
                    name: folded(rest),
                },
            },
            None => WrittenName::unqualified(folded(text)),
        }
    }

    /// The name of the type whose arrays PostgreSQL calls by this name, `_mood` for `mood[]`; `None` for other names.
    pub fn element(&self) -> Option<WrittenName> {
        Some(WrittenName {
            schema: self.schema.clone(),
            name: self.name.strip_prefix('_')?.to_owned(),
        })
    }
}

/// The parts of a text before and behind its first point outside of quotes.
fn split(text: &str) -> Option<(&str, &str)> {
    let mut is_quoted = false;
    let (at, _) = text.char_indices().find(|&(_, c)| {
        is_quoted ^= c == '"';
        c == '.' && !is_quoted
    })?;
    Some((&text[..at], &text[at + 1..]))
}

/// A name as the catalog keeps it.
fn folded(text: &str) -> String {
    let text = text.trim();
    match text.strip_prefix('"').and_then(|t| t.strip_suffix('"')) {
        Some(quoted) => quoted.replace("\"\"", "\""),
        None => text.to_lowercase(),
    }
}

/// As messages show it: `s.t`, never quoted.
impl fmt::Display for WrittenName {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if let Some(schema) = &self.schema {
            write!(f, "{schema}.")?;
        }
        f.write_str(&self.name)
    }
}

/// A schema as the catalog knows it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SchemaEntry {
    /// Its identity; schemas, relations, indexes and types share the numbers.
    pub id: ObjectId,
    /// Its name, folded to lower case unless it was quoted.
    pub name: String,
}

impl SchemaEntry {
    /// The identity of the schema `public` that a new database has. No other object gets this number.
    pub const PUBLIC_ID: ObjectId = ObjectId(0);

    /// A schema.
    pub fn new(id: ObjectId, name: impl Into<String>) -> SchemaEntry {
        SchemaEntry {
            id,
            name: name.into(),
        }
    }

    /// True for the schema `public` that a new database has.
    pub fn is_first_public(&self) -> bool {
        self.id == SchemaEntry::PUBLIC_ID && self.name == PUBLIC
    }
}

/// 3F000.
pub fn missing_schema(name: &str) -> Error {
    let message = format!("schema \"{name}\" does not exist");
    Error::new(SqlState::INVALID_SCHEMA, message)
}
