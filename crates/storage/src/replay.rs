//! Changes done again, as the log has them: rows come to the offsets that they had.
//!
//! The version is nobody else's yet, and has no indexes: they are built when the last change is done.

use crate::chunk_entry::ChunkEntry;
use crate::columns::Columns;
use crate::hot_chunk::HotChunk;
use crate::new_rows::{check_shape, refuse_nulls};
use crate::snapshot::TableSnapshot;
use crate::table_indexes::TableIndexes;
use frazil_catalog::TableEntry;
use frazil_types::{Error, Result, RowBatch, RowId, SqlState};
use std::sync::Arc;

impl TableSnapshot {
    /// Removes all rows again. Empty indexes would be taken for built ones, without the rows that follow.
    pub fn replay_truncate(&mut self) {
        self.clear();
        self.set_indexes(TableIndexes::default());
    }

    /// Gives the table another entry again.
    pub fn replay_entry(&mut self, entry: Arc<TableEntry>) -> Result<()> {
        *self = self.with_entry(entry)?;
        Ok(())
    }

    /// Inserts rows again, of which the first one had this id and the others followed in its chunk. Cells between the last row and them
    /// were those of transactions that were rolled back. XX001 where such rows cannot have been inserted.
    pub fn replay_insert(&mut self, first: RowId, rows: &RowBatch, timestamp: u64) -> Result<()> {
        let table = self.table().clone();
        check_shape(&table, rows)
            .and_then(|()| refuse_nulls(&table, rows))
            .map_err(|e| self.damaged(e.message()))?;
        let number = first.chunk();
        if self.tail().is_none_or(|tail| tail.number() != number) {
            if self.entry(number).is_some() {
                return Err(self.damaged(&format!("chunk {number} takes no further rows")));
            }
            table.skip_chunk_number(number);
            let hot = HotChunk::new(table.layout().clone())?;
            if self.chunk_count() > 0 {
                hot.expect_to_fill();
            }
            self.begin_tail(ChunkEntry::hot(number, hot, table.numbers().clone()));
        }
        let columns = Columns::Batch(&rows.columns);
        let at = u32::from(first.offset());
        // SAFETY: nobody else knows the version, and the rows keep their strings alive.
        let appended = self.change(number, |tail| unsafe {
            let mut dead = at.checked_sub(tail.view().rows())?;
            while dead > 0 {
                let some = dead.min(rows.rows as u32);
                tail.append_dead(columns, some as usize);
                dead -= some;
            }
            let widening = Some(table.bounds().widening());
            Some(tail.append(columns, 0..rows.rows, widening, timestamp))
        });
        match appended.flatten() {
            Some(Ok(offsets)) if offsets.len() == rows.rows => Ok(()),
            Some(Err(e)) => Err(e),
            _ => Err(self.damaged(&format!(
                "{} rows cannot come to offset {at} of chunk {number}",
                rows.rows
            ))),
        }
    }

    /// Adds a chunk again, which is a block. XX001 if its number is taken.
    pub fn replay_block(&mut self, entry: ChunkEntry) -> Result<()> {
        if self.entry(entry.number()).is_some() {
            return Err(self.damaged(&format!("chunk {} is there already", entry.number())));
        }
        self.table().skip_chunk_number(entry.number());
        self.add_sealed(entry);
        Ok(())
    }

    /// Takes chunks away again. One that had no rows left may not be there: checkpoints leave such out.
    pub fn replay_removed(&mut self, chunks: &[u32]) {
        chunks.iter().for_each(|number| self.remove(*number));
    }

    /// Deletes rows again. XX001 for the first one that is not there, with its id.
    pub fn replay_delete(&mut self, rows: &[RowId], timestamp: u64) -> Result<(), (RowId, Error)> {
        for run in rows.chunk_by(|a, b| a.chunk() == b.chunk()) {
            let number = run[0].chunk();
            let missing = self.change(number, |entry| {
                let most = entry.view().rows();
                let is_missing =
                    |id: &&RowId| u32::from(id.offset()) >= most || !entry.delete(id.offset(), timestamp);
                run.iter().find(is_missing)
            });
            if let Some(row) = missing.unwrap_or(run.first()) {
                let what = format!("deleted row {} of chunk {number} is not there", row.offset());
                return Err((*row, self.damaged(&what)));
            }
        }
        Ok(())
    }

    fn damaged(&self, what: &str) -> Error {
        Error::new(
            SqlState::DATA_CORRUPTED,
            format!("the log does not fit table \"{}\": {what}", self.table().name()),
        )
    }
}
