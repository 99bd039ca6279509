//! Columns of a table that are fetched for rows in memory when these are read: of the rows of a scan a breaker kept the ids alone, which
//! stay those of the rows as long as the version is read that was scanned.

use crate::breakers::lays::Lays;
use frazil_plan::pipeline::LateColumns;
use frazil_runtime::abi::VectorColumn;
use frazil_runtime::{FieldPlace, LentColumns};
use frazil_storage::{RowFetch, TableSnapshot};
use frazil_types::{ColumnVector, Error, NativeType, Result, RowBatch, RowId, StringRef};
use std::sync::Arc;

/// What is fetched, and for a worker what it fetched last.
#[derive(Debug)]
pub struct LateFetch {
    table: Arc<TableSnapshot>,
    /// Where the id lies in a row of the breaker.
    row_id: FieldPlace,
    /// Positions in the table.
    columns: Arc<[usize]>,
    ids: Vec<RowId>,
    fetched: RowBatch,
    lent: LentColumns,
}

impl Clone for LateFetch {
    /// The same for another worker, which has fetched nothing.
    fn clone(&self) -> LateFetch {
        LateFetch {
            table: self.table.clone(),
            row_id: self.row_id,
            columns: self.columns.clone(),
            ids: Vec::new(),
            fetched: RowBatch::default(),
            lent: LentColumns::default(),
        }
    }
}

impl LateFetch {
    /// Columns of rows of a version, for rows of a layout. An internal error if these do not hold the ids.
    pub(crate) fn new(late: &LateColumns, layout: &dyn Lays, table: Arc<TableSnapshot>) -> Result<LateFetch> {
        let mut fields = layout.fields().into_iter();
        let row_id = fields.find(|(kept, _)| *kept == Some(late.row_id));
        let (_, row_id) = row_id.ok_or_else(|| Error::internal("row ids that no breaker keeps"))?;
        Ok(LateFetch {
            table,
            row_id,
            columns: late.columns.iter().map(|column| column.1).collect(),
            ids: Vec::new(),
            fetched: RowBatch::default(),
            lent: LentColumns::default(),
        })
    }

    /// The columns of these rows. They live until the next call.
    ///
    /// # Safety
    /// Live rows of the layout.
    pub(crate) unsafe fn fetch(&mut self, rows: &[*const u8]) -> Result<&[VectorColumn]> {
        self.ids.clear();
        // SAFETY: by contract; ids of rows are bigints.
        let ids = rows.iter().map(|&row| unsafe { self.row_id.get::<i64>(row) });
        self.ids.extend(ids.map(RowId::from_tid));
        self.fetched = RowFetch::new(&self.table).fetch_columns(&self.ids, &self.columns)?;
        self.fetched.columns.iter_mut().for_each(make_transient);
        self.lent.lend(self.fetched.columns.iter(), 0);
        Ok(self.lent.columns())
    }
}

/// Marks the strings of a vector that lives as long as the pipeline: the rows it becomes may live longer.
pub(crate) fn make_transient(vector: &mut ColumnVector) {
    if vector.native() == NativeType::String {
        for string in vector.values_mut::<StringRef>() {
            *string = string.as_transient();
        }
    }
}
