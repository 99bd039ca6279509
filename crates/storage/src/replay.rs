//! Changes done again, as the log has them: rows come to the offsets that they had, whatever the order of these is.
//!
//! The version is nobody else's yet, and has no indexes: they are built when the last change is done.

use crate::chunk_entry::ChunkEntry;
use crate::columns::Columns;
use crate::hot_chunk::HotChunk;
use crate::new_rows::{check_shape, refuse_nulls};
use crate::snapshot::TableSnapshot;
use crate::table_indexes::TableIndexes;
use frazil_catalog::TableEntry;
use frazil_types::{CHUNK_ROWS, Error, Result, RowBatch, RowId, SqlState};
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

    /// Inserts rows again, of which the first one had this id and the others followed in its chunk. XX001 where such
    /// rows cannot have been inserted.
    ///
    /// Rows come in the order of their commits, which need not be the order of their slots. Slots before them that no
    /// row came to yet get marks; their rows come later, or never, if their transactions were rolled back.
    pub fn replay_insert(&mut self, first: RowId, rows: &RowBatch, timestamp: u64) -> Result<()> {
        let table = self.table().clone();
        check_shape(&table, rows)
            .and_then(|()| refuse_nulls(&table, rows))
            .map_err(|e| self.damaged(e.message()))?;
        let (number, start) = (first.chunk(), usize::from(first.offset()));
        if start + rows.rows > CHUNK_ROWS {
            let what = format!("{} rows cannot come to offset {start} of a chunk", rows.rows);
            return Err(self.damaged(&what));
        }
        let slots = start as u32..(start + rows.rows) as u32;
        self.replay_hot(number)?;
        let filled = self.change(number, |entry| {
            if let Some(taken) = entry.first_row_in(slots.clone()) {
                return Ok(Some(taken));
            }
            let widening = Some(table.bounds().widening());
            // SAFETY: nobody else knows the version or its chunks, which are hot and have the table's columns now;
            // the rows keep their strings alive.
            unsafe { entry.fill(Columns::Batch(&rows.columns), slots, widening, timestamp) }.map(|()| None)
        });
        match filled {
            Some(Ok(None)) => Ok(()),
            Some(Ok(Some(taken))) => {
                Err(self.damaged(&format!("row {taken} of chunk {number} is there already")))
            }
            Some(Err(e)) => Err(e),
            None => Err(Error::internal("a chunk that was begun again is not there")),
        }
    }

    /// Makes sure that a chunk is there and takes rows: begins the chunk if it is not there, and thaws one that a
    /// checkpoint wrote as a block, or before its table had its columns of now. The chunk of the greatest number
    /// takes the rows that come after recovery.
    fn replay_hot(&mut self, number: u32) -> Result<()> {
        let table = self.table().clone();
        let thawed = match self.entry(number) {
            Some(entry) if entry.takes(table.schema()) => return Ok(()),
            Some(entry) => Some(entry.thaw(&table)?),
            None => None,
        };
        if let Some(thawed) = thawed {
            self.change(number, |entry| *entry = thawed);
            return Ok(());
        }
        table.skip_chunk_number(number);
        let hot = HotChunk::new(table.layout().clone())?;
        if self.chunk_count() > 0 {
            hot.expect_to_fill();
        }
        let begun = ChunkEntry::hot(number, hot, table.numbers().clone());
        match self.tail().is_none_or(|tail| tail.number() < number) {
            true => self.begin_tail(begun),
            false => self.add_sealed(begun),
        }
        Ok(())
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
