//! What the front end sees of the catalog.

use crate::file_source::FileSource;
use frazil_catalog::{Constraint, IndexEntry, Reading, TypeEntry, ViewEntry};
use frazil_types::{ObjectId, Result, Schema};
use std::sync::Arc;

/// A table as the front end sees it.
#[derive(Clone, Debug, PartialEq)]
pub struct TableEntry {
    /// Its identity in plans.
    pub id: ObjectId,
    /// Its name, folded to lower case unless it was quoted.
    pub name: String,
    /// Its columns.
    pub schema: Arc<Schema>,
    /// Rows it has, about.
    pub row_count: u64,
    /// Its keys and checks, in the order in which they were made.
    pub constraints: Vec<Constraint>,
    /// Its indexes, in the order in which they were made.
    pub indexes: Vec<Arc<IndexEntry>>,
}

/// What a name in FROM stands for.
#[derive(Clone, Debug, PartialEq)]
pub enum Relation {
    /// A table.
    Table(TableEntry),
    /// A view.
    View(Arc<ViewEntry>),
}

/// One version of the catalog. Names are folded.
pub trait CatalogView: Sync {
    /// A table or view by its name.
    fn relation(&self, name: &str) -> Option<Relation>;
    /// The relation that the query of a view reads under a name.
    fn read_by(&self, reading: &Reading) -> Option<Relation>;
    /// The identity of a table in the catalog; `None` for a system table, which is found by its name alone.
    fn catalog_id(&self, table: ObjectId) -> Option<ObjectId>;
    /// Files as a table, which statements may only read. Errors of reading them.
    fn file(&self, source: &FileSource) -> Result<TableEntry>;
    /// A type that a statement defined, by its name.
    fn user_type(&self, name: &str) -> Option<Arc<TypeEntry>>;
    /// The same by its identity.
    fn user_type_of(&self, id: ObjectId) -> Option<Arc<TypeEntry>>;
    /// The names of all tables and views, for hints.
    fn relation_names(&self) -> Vec<String>;

    /// The same without those of the system.
    fn own_relation_names(&self) -> Vec<String>;
}
