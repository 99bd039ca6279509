//! Keys of DEFERRABLE constraints. A row enters such an index whatever else has its key; if another row may have the
//! key, the row is contested, and its id is queued. The check looks again when the statement or the transaction ends:
//! a row that is still there and still meets another one is refused.
//!
//! One of two transactions that add the same key meets the other's entry, because an entry is added and its rivals
//! are judged under one latch. So it is enough that contested rows are checked: the check waits for the other
//! transaction to end, as an immediate key does.

use crate::other_writers::Met;
use crate::snapshot::TableSnapshot;
use crate::table_indexes::TableIndex;
use crate::transaction::Transaction;
use frazil_catalog::Deferral;
use frazil_index::OrderedIndex;
use frazil_types::{Cancel, Error, ObjectId, Result, RowId};

/// Rows between two looks at whether the statement was cancelled.
const STEP: usize = 4096;

impl TableIndex {
    /// True if two rows may share a key until they are checked.
    pub(crate) fn is_deferrable(&self) -> bool {
        match self.entry().deferral {
            Deferral::Never => false,
            Deferral::Immediate | Deferral::Deferred => self.entry().unique,
        }
    }
}

impl Transaction {
    /// The first of some rows, by its place, that is still there and has the key of another one in an index, and the
    /// error, 23505. `None` also if the index is gone. Waits for open transactions that insert or delete a row of the
    /// key: 40P01, 55P03, 57014.
    pub fn first_duplicate(
        &self,
        table: ObjectId,
        index: ObjectId,
        rows: &[RowId],
        cancel: &Cancel,
    ) -> Result<Option<(usize, Error)>> {
        let beside = self.beside(table)?;
        let version: &TableSnapshot = beside.own;
        let Some(index) = version.indexes().find(index) else {
            return Ok(None);
        };
        let mut key = Vec::new();
        for (at, &row) in rows.iter().enumerate() {
            if at % STEP == 0 {
                cancel.check()?;
            }
            let Some(entry) = version.entry(row.chunk()).filter(|_| version.shows(row)) else {
                continue;
            };
            key.clear();
            if !index.read_key(entry.view(), row.offset(), &mut key)? {
                continue;
            }
            loop {
                let mut met = None;
                index.tree().get(&key, &mut |other| {
                    met = Some((other, beside.meets(other))).filter(|met| other != row && met.1 != Met::Dead);
                    met.is_none()
                });
                match met {
                    None | Some((_, Met::Dead)) => break,
                    Some((_, Met::Live | Met::Unseen)) => return Ok(Some((at, index.taken(version, row)))),
                    Some((other, Met::Open(holder))) => beside.wait(other, holder)?,
                }
            }
        }
        Ok(None)
    }
}
