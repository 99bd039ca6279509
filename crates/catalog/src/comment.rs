//! COMMENT ON as data: what a comment is about, and its text.

use crate::qualified_name::QualifiedName;
use frazil_types::{ColumnNumber, ObjectId};
use std::collections::BTreeMap;
use std::sync::Arc;

/// An object that a comment is about.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Commented {
    /// The database.
    Database,
    /// A schema, table, view, index, sequence, type or constraint.
    Object(ObjectId),
    /// A column of a table, by its number, or of a view, by its position from 1.
    Column(ObjectId, ColumnNumber),
}

/// Comments by their objects.
pub type Comments = BTreeMap<Commented, Arc<str>>;

/// COMMENT ON.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct NewComment {
    /// The object.
    pub target: CommentTarget,
    /// The text; `None` or an empty text removes the comment.
    pub text: Option<String>,
}

/// The object in COMMENT ON.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum CommentTarget {
    /// DATABASE.
    Database,
    /// SCHEMA.
    Schema(String),
    /// TABLE, VIEW, INDEX, SEQUENCE.
    Relation(CommentedKind, QualifiedName),
    /// COLUMN of a table or view.
    Column(QualifiedName, String),
    /// TYPE, or DOMAIN if the field is true.
    Type(QualifiedName, bool),
    /// CONSTRAINT of a table.
    Constraint(String, QualifiedName),
    /// CONSTRAINT … ON DOMAIN.
    DomainConstraint(String, QualifiedName),
}

/// The kind of a relation in COMMENT ON.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum CommentedKind {
    /// TABLE.
    Table,
    /// VIEW.
    View,
    /// MATERIALIZED VIEW.
    MaterializedView,
    /// INDEX.
    Index,
    /// SEQUENCE.
    Sequence,
}

impl Commented {
    /// The object; `None` for the database.
    pub fn id(&self) -> Option<ObjectId> {
        match self {
            Commented::Database => None,
            Commented::Object(id) | Commented::Column(id, _) => Some(*id),
        }
    }

    /// True for a temporary object and what belongs to one.
    pub fn is_temporary(&self) -> bool {
        self.id().is_some_and(ObjectId::is_temporary)
    }
}
