//! Changes done again, as the log has them: rows come to the offsets that they had, whatever the order of these is.
//!
//! The version is nobody else's yet. Recovery begins with versions that have no indexes, and builds these when the last
//! change is done. A reader beside a writer ([`crate::followed`]) begins with versions that statements read: these
//! share their chunks with the version that is made, so that cells which others may read are never written, and their
//! indexes are kept: each row that comes gets its entries before anybody sees the row.

use crate::chunk_entry::ChunkEntry;
use crate::columns::Columns;
use crate::hot_chunk::HotChunk;
use crate::index_log::IndexLog;
use crate::new_rows::{check_shape, refuse_nulls};
use crate::snapshot::TableSnapshot;
use crate::table_indexes::TableIndexes;
use frazil_catalog::TableEntry;
use frazil_types::{CHUNK_ROWS, ColumnVector, Error, Result, RowBatch, RowId, SqlState};
use std::sync::Arc;

impl TableSnapshot {
    /// Removes all rows again. Empty indexes would be taken for built ones, without the rows that follow.
    pub fn replay_truncate(&mut self) {
        self.clear();
        self.set_indexes(TableIndexes::default());
    }

    /// Gives the table another entry again. Indexes that have columns of other values then are left out, to be built
    /// anew when the last change is done.
    pub fn replay_entry(&mut self, entry: Arc<TableEntry>) -> Result<()> {
        let (before, numbers) = (self.indexes().clone(), self.table().numbers().clone());
        *self = self.with_entry(entry)?;
        if !before.is_empty() {
            let table = self.table();
            self.set_indexes(before.kept_by(table.entry(), (&numbers, table.numbers()), table.schema()));
        }
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
        self.replay_hot(number, start)?;
        let filled = self.change(number, |entry| {
            if let Some(taken) = entry.first_row_in(slots.clone()) {
                return Ok(Some(taken));
            }
            let widening = Some(table.bounds().widening());
            // SAFETY: the chunk is hot and has the table's columns now. Others who know it read slots alone that were
            // written before these, because a chunk of which others may read these slots was copied. The rows keep
            // their strings alive.
            unsafe { entry.fill(Columns::Batch(&rows.columns), slots, widening, timestamp) }.map(|()| None)
        });
        match filled {
            Some(Ok(None)) => self.add_entries(first, &rows.columns),
            Some(Ok(Some(taken))) => {
                Err(self.damaged(&format!("row {taken} of chunk {number} is there already")))
            }
            Some(Err(e)) => Err(e),
            None => Err(Error::internal("a chunk that was begun again is not there")),
        }
    }

    /// Makes sure that a chunk is there and takes rows at offsets from `start` on: begins the chunk if it is not there,
    /// and thaws one that a checkpoint wrote as a block, or before its table had its columns of now. A chunk whose
    /// slots others may read is copied if the rows come to slots among these: they scan marked slots, too. The chunk of
    /// the greatest number takes the rows that come after recovery.
    fn replay_hot(&mut self, number: u32, start: usize) -> Result<()> {
        let table = self.table().clone();
        let is_ready = self.change(number, |entry| {
            entry.takes(table.schema()) && (start >= entry.written() || entry.is_alone())
        });
        let thawed = match (is_ready, self.entry(number)) {
            (Some(true), _) => return Ok(()),
            (_, Some(entry)) => Some(entry.thaw(&table)?),
            (_, None) => None,
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
        let indexes = self.indexes().clone();
        if !indexes.is_empty() {
            let view = entry.view();
            let keys = indexes
                .keys_of_chunk(view)
                .map_err(|e| entry.blame(self.table().entry(), e))?;
            let live = (0..view.rows() as usize).filter(|offset| !view.is_deleted(*offset));
            for offset in live {
                let row = RowId::new(entry.number(), offset as u16);
                indexes.replay_entries((&keys, offset), row, self.table().entry())?;
            }
        }
        self.add_sealed(entry);
        Ok(())
    }

    /// Takes chunks away again. One that had no rows left may not be there: checkpoints leave such out.
    pub fn replay_removed(&mut self, chunks: &[u32], timestamp: u64) {
        for number in chunks {
            if let Some(entry) = self.entry(*number).cloned() {
                let view = entry.view();
                let live = (0..view.rows()).filter(|offset| !view.is_deleted(*offset as usize));
                self.note_gone(&entry, live.map(|offset| offset as u16), timestamp);
            }
            self.remove(*number);
        }
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
            if let Some(entry) = self.entry(number) {
                self.note_gone(entry, run.iter().map(|row| row.offset()), timestamp);
            }
        }
        Ok(())
    }

    /// Puts the block of a chunk that somebody else froze in the place of the chunk, if it has the rows that this
    /// version shows of it, and the same columns. Returns whether it does.
    pub fn replay_frozen(&mut self, block: &ChunkEntry) -> bool {
        let number = block.number();
        let is_tail = self.tail().is_some_and(|tail| tail.number() == number);
        let fits = !is_tail
            && self.entry(number).is_some_and(|entry| {
                entry.view().rows() == block.view().rows()
                    && entry.stored() == block.stored()
                    && !entry.shows_more_than(block)
            });
        if fits {
            self.change(number, |entry| *entry = entry.held_as(block));
        }
        fits
    }

    /// Adds the entries of rows of which the first one has this id and the others follow in its chunk.
    fn add_entries(&self, first: RowId, columns: &[ColumnVector]) -> Result<()> {
        let indexes = self.indexes();
        if indexes.is_empty() {
            return Ok(());
        }
        let keys = indexes.keys(Columns::Batch(columns));
        let rows = columns.first().map_or(0, ColumnVector::len);
        (0..rows).try_for_each(|at| {
            let row = RowId::new(first.chunk(), first.offset() + at as u16);
            indexes.replay_entries((&keys, at), row, self.table().entry())
        })
    }

    /// Notes that rows of a chunk are gone: their entries leave when no version shows the rows.
    fn note_gone(&self, entry: &ChunkEntry, offsets: impl Iterator<Item = u16>, timestamp: u64) {
        let (table, indexes) = (self.table(), self.indexes());
        if indexes.is_empty() {
            return;
        }
        let mut log = IndexLog::default();
        for offset in offsets {
            log.deletes(
                table.id(),
                indexes,
                entry.chunk(),
                RowId::new(entry.number(), offset),
            );
        }
        table.collector().add(timestamp, (None, None), log.take_deleted());
    }

    fn damaged(&self, what: &str) -> Error {
        Error::new(
            SqlState::DATA_CORRUPTED,
            format!("the log does not fit table \"{}\": {what}", self.table().name()),
        )
    }
}
