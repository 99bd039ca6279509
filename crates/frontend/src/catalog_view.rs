//! What the front end sees of the catalog.

use frazil_plan::TableId;
use frazil_types::Schema;
use std::sync::Arc;

/// A table as the front end sees it.
#[derive(Clone, Debug, PartialEq)]
pub struct TableEntry {
    /// Its identity in plans.
    pub id: TableId,
    /// Its name, folded to lower case unless it was quoted.
    pub name: String,
    /// Its columns.
    pub schema: Arc<Schema>,
    /// Rows it has, about.
    pub row_count: u64,
}

/// One version of the catalog. Names are folded.
pub trait CatalogView: Sync {
    /// A table by its name.
    fn table(&self, name: &str) -> Option<TableEntry>;
    /// The names of all tables, for hints.
    fn table_names(&self) -> Vec<String>;
}
