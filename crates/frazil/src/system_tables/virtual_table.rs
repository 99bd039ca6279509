//! A system table as data: a schema, a name, columns and a function that makes the rows.

use super::cells::{self, Cells};
use super::kept;
use super::wanted::{Cell, Wanted};
use crate::made_table;
use crate::session_view::SessionView;
use frazil_catalog::{Catalog, SearchPath, is_temporary_schema};
use frazil_durability::Directory;
use frazil_frontend::UserRoles;
use frazil_storage::{Snapshot, TableSnapshot};
use frazil_types::{Cancel, ColumnDef, ColumnVector, Error, LogicalType, Result, RowBatch, Schema, Value};
use std::sync::{Arc, OnceLock};

/// The schema of the SQL standard's views of the catalog.
pub const STANDARD_SCHEMA: &str = "information_schema";

/// Most values of a column that restrict another table.
const MOST_VALUES: usize = 100;

/// A statement's view of the database, from which rows are made.
pub struct Context<'a> {
    /// The snapshot of the statement.
    pub snapshot: &'a Snapshot,
    /// The path of the session.
    pub path: &'a SearchPath,
    /// The roles of the session.
    pub user: UserRoles,
    /// The session of the statement; `None` for a statement of the database's own.
    pub session: Option<Arc<dyn SessionView>>,
    /// The database's directory, if it has one.
    pub directory: Option<&'a Directory>,
    /// All system tables, which have rows in some of them.
    pub system: &'static [VirtualTable],
    /// The rows that are needed. Others may be left out.
    pub wanted: &'a Wanted,
}

impl Context<'_> {
    /// True for a schema of another session's temporary objects.
    pub fn is_of_others(&self, schema: &str) -> bool {
        is_temporary_schema(schema) && self.path.temporary() != Some(schema)
    }

    /// False if no row with these cells is needed.
    pub fn wants(&self, cells: &[(&str, Cell<'_>)]) -> bool {
        self.wanted.has(cells)
    }

    /// The catalog that the statement sees.
    pub fn catalog(&self) -> &Catalog {
        self.snapshot.catalog()
    }
}

/// Names and types of a table's columns.
pub(crate) type Columns = &'static [(&'static str, &'static str)];
/// Makes rows whose values are in the order of the columns.
pub type RowsOf = fn(&Context<'_>) -> Result<Vec<Vec<Value>>>;
/// Makes rows whose values are named; those that are not named are empty.
pub type CellsOf = fn(&Context<'_>) -> Result<Vec<Cells>>;

/// The function that makes the rows.
#[derive(Clone, Copy)]
pub enum Made {
    /// For each statement: they show more than the catalog.
    Anew(RowsOf),
    /// From the catalog alone.
    FromCatalog(CellsOf),
    /// From the catalog and what changes beside it, for each statement.
    Live(CellsOf),
    /// There are none.
    Empty,
}

/// A table of the database's own state.
pub struct VirtualTable {
    /// Its schema.
    pub schema: &'static str,
    /// Its name.
    pub name: String,
    /// PostgreSQL's number of the table; `None` of Frazil's own.
    pub oid: Option<u32>,
    /// True for what PostgreSQL has as a view.
    pub is_view: bool,
    /// Its columns.
    pub columns: Schema,
    /// Its rows.
    pub made: Made,
    /// Its columns as statements read them, once one has.
    pub read_columns: OnceLock<Arc<Schema>>,
}

impl VirtualTable {
    /// The rows that the context wants, as a table.
    pub fn table(&'static self, context: &Context<'_>) -> Result<Arc<TableSnapshot>> {
        match self.made {
            Made::Anew(rows) => self.materialize(&rows(context)?),
            Made::FromCatalog(cells) if *context.wanted == Wanted::All => {
                let (catalog, temporary) = (context.snapshot.catalog(), context.path.temporary());
                let name = (self.schema, self.name.as_str());
                kept::of_catalog(catalog, temporary, name, || {
                    self.of_cells(cells(context)?, &Wanted::All)
                })
            }
            Made::FromCatalog(cells) | Made::Live(cells) => self.of_cells(cells(context)?, context.wanted),
            Made::Empty => self.materialize(&[]),
        }
    }

    /// All rows, if they can be had without being made; `None` if a plan should first say which are needed.
    pub fn kept(&'static self, context: &Context<'_>) -> Option<Result<Arc<TableSnapshot>>> {
        match self.made {
            Made::FromCatalog(_) => {
                let (catalog, temporary) = (context.snapshot.catalog(), context.path.temporary());
                kept::find(catalog, temporary, (self.schema, self.name.as_str())).map(Ok)
            }
            Made::Anew(_) | Made::Live(_) | Made::Empty => Some(self.table(context)),
        }
    }

    /// The values of a column in the rows that the context wants; `None` if they are many, or do not derive from the
    /// catalog alone.
    pub fn values(&self, context: &Context<'_>, column: usize) -> Option<Vec<Value>> {
        let Made::FromCatalog(cells) = self.made else {
            return None;
        };
        let rows = cells(context).ok()?.into_iter();
        let rows = rows.filter_map(|row| self.row(row).ok());
        let rows = rows.filter(|row| context.wanted.has_row(&self.columns, row));
        let values = rows.take(MOST_VALUES + 1);
        let values: Vec<Value> = values.map(|mut row| row.swap_remove(column)).collect();
        (values.len() <= MOST_VALUES).then_some(values)
    }

    /// Its columns as statements read them.
    pub fn read_columns(&self) -> Result<Arc<Schema>> {
        if let Some(known) = self.read_columns.get() {
            return Ok(known.clone());
        }
        let columns = self.materialize(&[])?.schema().clone();
        Ok(self.read_columns.get_or_init(|| columns).clone())
    }

    fn of_cells(&self, cells: Vec<Cells>, wanted: &Wanted) -> Result<Arc<TableSnapshot>> {
        let mut rows = Vec::with_capacity(cells.len());
        for cells in cells {
            let row = self.row(cells)?;
            if wanted.has_row(&self.columns, &row) {
                rows.push(row);
            }
        }
        self.materialize(&rows)
    }

    /// The values in the order of the columns. XX000 for a name that no column has.
    fn row(&self, cells: Cells) -> Result<Vec<Value>> {
        let mut row: Vec<Value> = self.columns.columns.iter().map(cells::empty).collect();
        for (name, value) in cells.0 {
            let at = self.columns.columns.iter().position(|column| column.name == name);
            let at = at.ok_or_else(|| Error::internal(format!("{} has no column {name}", self.name)))?;
            row[at] = value;
        }
        Ok(row)
    }

    /// A table of these rows outside every catalog.
    fn materialize(&self, rows: &[Vec<Value>]) -> Result<Arc<TableSnapshot>> {
        let columns = self.columns.columns.iter().enumerate().map(|(i, c)| {
            let values: Vec<Value> = rows.iter().map(|r| r[i].clone()).collect();
            ColumnVector::from_values(c.ty, &values)
        });
        let batch = RowBatch {
            columns: columns.collect(),
            rows: rows.len(),
        };
        // NOT NULL marks columns that each row fills: no plan relies on it.
        let columns = self.columns.columns.iter();
        let columns = columns.map(|column| ColumnDef {
            nullable: true,
            ..column.clone()
        });
        made_table::make(
            &self.name,
            Schema::new(columns.collect()),
            vec![batch],
            None,
            &Cancel::new(),
        )
    }
}

/// Columns by name and by name of type, as CREATE TABLE would have them.
pub(crate) fn schema(columns: &[(&str, &str)]) -> Result<Schema> {
    let typed = columns.iter().map(|(name, ty)| {
        let ty = LogicalType::parse(ty);
        let ty = ty.ok_or_else(|| Error::internal("a column of a system table has a type of another name"));
        ty.map(|ty| ColumnDef::new(*name, ty))
    });
    typed.collect::<Result<_>>().map(Schema::new)
}
