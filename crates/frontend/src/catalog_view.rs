//! What the front end sees of the catalog.

use crate::file_source::FileSource;
use frazil_catalog::{
    Catalog, Constraint, IndexEntry, QualifiedName, Reading, RoleId, SearchPath, SequenceEntry, TypeEntry,
    ViewEntry,
};
use frazil_types::{ColumnDef, ColumnNumber, ObjectId, Result, Schema};
use std::sync::Arc;

/// A table as the front end sees it.
#[derive(Clone, Debug, PartialEq)]
pub struct TableEntry {
    /// Its identity in plans.
    pub id: ObjectId,
    /// Its oid; `None` for what `pg_class` does not show: files, frames, and Frazil's own system tables.
    pub oid: Option<u32>,
    /// The name of its schema.
    pub schema_name: String,
    /// Its name, folded to lower case unless it was quoted.
    pub name: String,
    /// Its columns.
    pub schema: Arc<Schema>,
    /// Columns that statements do not see: see [`frazil_catalog::TableEntry::hidden`].
    pub hidden: Vec<ColumnDef>,
    /// Rows it has, about.
    pub row_count: u64,
    /// Its keys and checks, in the order in which they were made.
    pub constraints: Vec<Constraint>,
    /// Its indexes, in the order in which they were made.
    pub indexes: Vec<Arc<IndexEntry>>,
    /// The view whose rows it has, if that is materialized, and true if it has them.
    pub materialized: Option<(Arc<ViewEntry>, bool)>,
}

impl TableEntry {
    /// Its name in its schema.
    pub fn qualified(&self) -> QualifiedName {
        QualifiedName::new(&self.schema_name, &self.name)
    }

    /// The columns that rows store: the visible ones, and the hidden ones behind them.
    pub fn stored_columns(&self) -> impl Iterator<Item = &ColumnDef> {
        self.schema.columns.iter().chain(&self.hidden)
    }

    /// The column at a position among [`TableEntry::stored_columns`].
    pub fn stored_column(&self, position: usize) -> Option<&ColumnDef> {
        self.stored_columns().nth(position)
    }
}

/// What a name in FROM stands for.
#[derive(Clone, Debug, PartialEq)]
pub enum Relation {
    /// A table.
    Table(TableEntry),
    /// A view.
    View(Arc<ViewEntry>),
}

/// The roles of a session.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct UserRoles {
    /// The role by whose rights statements run: SET ROLE changes it.
    pub current: RoleId,
    /// The role of the session: SET SESSION AUTHORIZATION changes it.
    pub session: RoleId,
}

impl UserRoles {
    /// The first superuser.
    pub const SUPERUSER: UserRoles = UserRoles {
        current: RoleId::SUPERUSER,
        session: RoleId::SUPERUSER,
    };
}

/// One version of the catalog. Names are folded.
pub trait CatalogView: Sync {
    /// The roles of the session.
    fn user(&self) -> UserRoles;
    /// The catalog, to be asked for roles, owners and privileges. A plan depends on these from then on.
    fn guard(&self) -> &Catalog;
    /// The session's search path.
    fn path(&self) -> &SearchPath;
    /// True if there is a schema of the name.
    fn has_schema(&self, name: &str) -> bool;
    /// The identity of a schema by its name.
    fn schema_id(&self, name: &str) -> Option<ObjectId>;
    /// The identity of an index by its name.
    fn index_id(&self, name: &QualifiedName) -> Option<ObjectId>;
    /// A table or view by its name.
    fn relation(&self, name: &QualifiedName) -> Option<Relation>;
    /// True if a table, view, index or sequence has the name.
    fn has_relation(&self, name: &QualifiedName) -> bool;
    /// A table or view by its identity in the catalog.
    fn relation_of(&self, id: ObjectId) -> Option<Relation>;
    /// The name of the schema of a type that a statement defined, by the type's identity.
    fn type_schema(&self, id: ObjectId) -> Option<String>;
    /// The relation that the query of a view reads under a name.
    fn read_by(&self, reading: &Reading) -> Option<Relation>;
    /// The identity of a table in the catalog; `None` for a system table, which is found by its name alone.
    fn catalog_id(&self, table: ObjectId) -> Option<ObjectId>;
    /// Files as a table, which statements may only read. Errors of reading them.
    fn file(&self, source: &FileSource) -> Result<TableEntry>;
    /// A type that a statement defined, by its name.
    fn user_type(&self, name: &QualifiedName) -> Option<Arc<TypeEntry>>;
    /// The same by its identity.
    fn user_type_of(&self, id: ObjectId) -> Option<Arc<TypeEntry>>;
    /// The tables that have columns of a domain: their identities, their columns, and the positions of these.
    fn columns_of_domain(&self, domain: ObjectId) -> Vec<(ObjectId, Arc<Schema>, Vec<usize>)>;
    /// A sequence by its name.
    fn sequence(&self, name: &QualifiedName) -> Option<Arc<SequenceEntry>>;
    /// A sequence by its identity.
    fn sequence_of(&self, id: ObjectId) -> Option<Arc<SequenceEntry>>;
    /// The name of the sequence that a column of a table owns.
    fn owned_sequence(&self, table: ObjectId, column: ColumnNumber) -> Option<QualifiedName>;
    /// 55006 if the session itself uses a table that a statement defines otherwise. `what`: the statement.
    fn refuse_used(&self, table: ObjectId, what: &str) -> Result<()>;
    /// The names of all tables and views, for hints.
    fn relation_names(&self) -> Vec<QualifiedName>;

    /// The names of tables and views without those of the system.
    fn own_relation_names(&self) -> Vec<QualifiedName>;
}
