//! Constraints and indexes of tables, as the catalog knows them: names and columns. `storage` holds the entries of an index,
//! `frontend` binds the text of a CHECK.

use crate::TableEntry;
use frazil_types::ObjectId;
use std::sync::Arc;

/// A constraint of a table. NOT NULL is a field of the column.
#[derive(Clone, Debug, PartialEq)]
pub struct Constraint {
    /// Its name, unlike those of the table's other constraints.
    pub name: String,
    /// What it asks of rows.
    pub kind: ConstraintKind,
}

/// What a constraint asks of rows.
#[derive(Clone, Debug, PartialEq)]
pub enum ConstraintKind {
    /// No two rows have one key, and no column of the key is NULL.
    PrimaryKey {
        /// The unique index that enforces it, of the constraint's name.
        index: ObjectId,
    },
    /// No two rows have one key.
    Unique {
        /// The unique index that enforces it, of the constraint's name.
        index: ObjectId,
    },
    /// A condition is not false.
    Check {
        /// The condition as SQL text.
        expression: String,
        /// Positions of the columns that the condition reads, ascending.
        columns: Vec<usize>,
    },
}

/// An index of a table. Its name stands among those of tables and views.
#[derive(Clone, Debug, PartialEq)]
pub struct IndexEntry {
    /// Its identity.
    pub id: ObjectId,
    /// Its name, folded to lower case unless it was quoted.
    pub name: String,
    /// The table.
    pub table: ObjectId,
    /// The columns of its keys, the most significant first.
    pub keys: Vec<IndexKey>,
    /// Positions of the columns of INCLUDE, which are not part of keys.
    pub include: Vec<usize>,
    /// Whether no two rows may have one key.
    pub unique: bool,
    /// Whether keys with NULL differ from each other; else they are equal if the rest is (NULLS NOT DISTINCT).
    pub nulls_distinct: bool,
    /// The name of the constraint that made the index.
    pub constraint: Option<String>,
}

/// A column of an index's keys.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct IndexKey {
    /// Its position in the table.
    pub column: usize,
    /// DESC.
    pub descending: bool,
    /// NULLS FIRST; by default DESC has it.
    pub nulls_first: bool,
}

impl Constraint {
    /// The index that enforces the constraint; `None` for a CHECK.
    pub fn index(&self) -> Option<ObjectId> {
        match self.kind {
            ConstraintKind::PrimaryKey { index } | ConstraintKind::Unique { index } => Some(index),
            ConstraintKind::Check { .. } => None,
        }
    }
}

impl TableEntry {
    /// A constraint by its name.
    pub fn constraint(&self, name: &str) -> Option<&Constraint> {
        self.constraints.iter().find(|c| c.name == name)
    }

    /// An index by its identity.
    pub fn index(&self, id: ObjectId) -> Option<&Arc<IndexEntry>> {
        self.indexes.iter().find(|i| i.id == id)
    }

    /// The index of the primary key.
    pub fn primary_key(&self) -> Option<&Arc<IndexEntry>> {
        let is_primary = |c: &&crate::Constraint| matches!(c.kind, ConstraintKind::PrimaryKey { .. });
        self.index(self.constraints.iter().find(is_primary)?.index()?)
    }
}
