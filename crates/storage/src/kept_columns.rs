//! What an UPDATE leaves of its rows as it is: their other columns.
//!
//! Those of many rows are columns of their own. A statement that changes one row gets them in the table's [`KeptRow`].

use crate::kept_row::KeptRow;
use crate::row_fetch::RowFetch;
use crate::snapshot::TableSnapshot;
use frazil_types::{ColumnVector, Result, RowBatch, RowId};

/// The columns of rows that an UPDATE does not set.
#[derive(Debug)]
pub(crate) enum KeptColumns {
    /// Of a single row.
    One(Box<KeptRow>),
    /// Of other numbers of rows: in the order of the table's columns.
    Many(RowBatch),
}

impl KeptColumns {
    /// The columns of rows that are not among `set`. An id that names no row is an internal error.
    pub fn of(version: &TableSnapshot, ids: &[RowId], set: &[usize]) -> Result<KeptColumns> {
        let schema = version.schema();
        if let [id] = ids {
            let spare = version.table().spare_row().take();
            let mut row = spare.unwrap_or_else(|| Box::new(KeptRow::new(schema)));
            let found = version.written_row(*id)?;
            (row.fetch(found.entry(), id.offset(), set))
                .map_err(|e| found.entry().blame(version.table().entry(), e))?;
            return Ok(KeptColumns::One(row));
        }
        let others: Vec<usize> = (0..schema.columns.len()).filter(|c| !set.contains(c)).collect();
        let kept = RowFetch::new(version).fetch_columns(ids, &others)?;
        Ok(KeptColumns::Many(kept))
    }

    /// Whole rows of the table: its columns at the positions `set` are those of `new`, in their order, the others are kept.
    pub fn beside<'a>(&'a self, set: &[usize], new: &'a RowBatch) -> Vec<&'a ColumnVector> {
        let set_at = |position| set.iter().position(|&s| s == position);
        match self {
            KeptColumns::One(row) => (row.columns().iter().enumerate())
                .map(|(position, kept)| set_at(position).map_or(kept, |at| &new.columns[at]))
                .collect(),
            KeptColumns::Many(kept) => {
                let count = set.len() + kept.columns.len();
                let mut kept = kept.columns.iter();
                let column = |position| match set_at(position) {
                    Some(at) => new.columns.get(at),
                    None => kept.next(),
                };
                (0..count).filter_map(column).collect()
            }
        }
    }

    /// The rows are written: what held them serves the table's next UPDATE.
    pub fn give_back(self, version: &TableSnapshot) {
        if let KeptColumns::One(mut row) = self {
            row.rest();
            version.table().spare_row().put(row);
        }
    }
}
