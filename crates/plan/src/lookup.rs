//! The row of a table that has a key: the source of a pipeline that needs no scan.

use crate::{ColumnId, Expr};
use frazil_types::ObjectId;

/// A lookup in a unique index, with a value for each column of its keys: one row, or none. With NULL among the values there
/// is none.
#[derive(Clone, Debug, PartialEq)]
pub struct Lookup {
    /// The table.
    pub table: ObjectId,
    /// Its name.
    pub name: String,
    /// Columns read: id, position in the table.
    pub columns: Vec<(ColumnId, usize)>,
    /// A column of row ids.
    pub row_id: Option<ColumnId>,
    /// The index.
    pub index: ObjectId,
    /// Its name.
    pub index_name: String,
    /// For each column of the index's keys, in their order, the column of the table and its value: a constant, a parameter or a
    /// scalar subquery, held natively as the column. The column need not be among those read.
    pub key: Vec<(ColumnId, Expr)>,
}

impl Lookup {
    /// Columns it makes.
    pub fn made(&self) -> Vec<ColumnId> {
        self.columns.iter().map(|c| c.0).chain(self.row_id).collect()
    }
}
