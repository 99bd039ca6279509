//! What the front end sees of the catalog, and tables as DataFusion sees them.

use crate::sql_type;
use arrow::datatypes::{Field, Schema as ArrowSchema, SchemaRef};
use datafusion_expr::{TableSource, TableType};
use frazil_plan::{SharedId, TableId};
use frazil_types::{ColumnDef, LogicalType, Schema};
use std::sync::Arc;

/// A table as the front end sees it.
#[derive(Clone, Debug, PartialEq)]
pub struct TableEntry {
    /// Its identity in plans.
    pub id: TableId,
    /// Its name, folded to lower case unless it was quoted.
    pub name: String,
    /// Its columns.
    pub schema: Schema,
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

/// The column that DELETE reads: no SQL name folds to it, since it has a blank.
pub(crate) const ROW_ID: &str = "row id";

/// What a scan of a [`Source`] reads.
pub(crate) enum SourceKind {
    /// A table; with its row ids as a last column for DELETE.
    Table { id: TableId, name: String },
    /// A shared subplan.
    Shared(SharedId),
}

/// A table or shared subplan behind DataFusion's trait; keeps our types beside Arrow's.
pub(crate) struct Source {
    pub kind: SourceKind,
    pub columns: Vec<ColumnDef>,
    arrow: SchemaRef,
}

impl Source {
    fn new(kind: SourceKind, columns: Vec<ColumnDef>) -> Source {
        let fields: Vec<Field> = columns
            .iter()
            .map(|c| Field::new(&c.name, sql_type::to_arrow(c.ty), c.nullable))
            .collect();
        Source {
            kind,
            columns,
            arrow: Arc::new(ArrowSchema::new(fields)),
        }
    }

    pub fn table(entry: TableEntry) -> Source {
        let kind = SourceKind::Table {
            id: entry.id,
            name: entry.name,
        };
        Source::new(kind, entry.schema.columns)
    }

    pub fn table_with_row_ids(entry: TableEntry) -> Source {
        let kind = SourceKind::Table {
            id: entry.id,
            name: entry.name,
        };
        let mut columns = entry.schema.columns;
        columns.push(ColumnDef::new(ROW_ID, LogicalType::BigInt).not_null());
        Source::new(kind, columns)
    }

    pub fn shared(id: SharedId, columns: Vec<ColumnDef>) -> Source {
        Source::new(SourceKind::Shared(id), columns)
    }
}

impl TableSource for Source {
    fn schema(&self) -> SchemaRef {
        Arc::clone(&self.arrow)
    }

    fn table_type(&self) -> TableType {
        TableType::Base
    }
}
