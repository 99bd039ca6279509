//! Loading in bulk: rows become blocks without ever being visible as hot rows.
//!
//! Each worker has a [`ChunkLoader`], needs no transaction and no lock while it gathers and freezes,
//! and hands over what it made; the transaction adds it to the table at the end. A batch of a whole
//! chunk is frozen where it lies; smaller ones are gathered first.

use crate::chunk::{Chunk, ChunkSlot};
use crate::freeze::Freezer;
use crate::hot_chunk::HotChunk;
use crate::snapshot::Table;
use crate::thaw::WholeChunk;
use crate::transaction::{Transaction, check_batch};
use frazil_block::{Block, BuildOptions};
use frazil_types::{CHUNK_ROWS, ObjectId, Result, RowBatch};
use std::sync::Arc;

/// Fewer rows than this at the end of a load stay hot: later rows join them.
const SMALLEST_BLOCK: usize = CHUNK_ROWS / 8;

/// Makes blocks of a loader's batches. One per worker.
pub struct ChunkLoader {
    table: Arc<Table>,
    freezer: Freezer,
    gathered: Option<HotChunk>,
    loaded: LoadedRows,
}

/// Rows that are ready to join a table.
#[derive(Default)]
pub struct LoadedRows {
    blocks: Vec<Block>,
    rest: Option<HotChunk>,
}

impl LoadedRows {
    /// Number of rows.
    pub fn rows(&self) -> u64 {
        let frozen: u64 = self.blocks.iter().map(|b| u64::from(b.rows())).sum();
        frozen + self.rest.as_ref().map_or(0, HotChunk::written) as u64
    }
}

impl ChunkLoader {
    /// A loader of rows of `table`.
    pub fn new(table: Arc<Table>, options: BuildOptions) -> ChunkLoader {
        ChunkLoader {
            table,
            freezer: Freezer::new(options),
            gathered: None,
            loaded: LoadedRows::default(),
        }
    }

    /// Takes the rows of a batch; 23502 for NULL in a NOT NULL column.
    pub fn push(&mut self, batch: &RowBatch) -> Result<()> {
        check_batch(&self.table, batch)?;
        let empty = self.gathered.as_ref().is_none_or(|g| g.written() == 0);
        if batch.rows == CHUNK_ROWS && empty {
            let block = self.freezer.freeze_batch(&self.table, batch)?;
            self.loaded.blocks.push(block);
            return Ok(());
        }
        let mut done = 0;
        while done < batch.rows {
            if self.gathered.is_none() {
                self.gathered = Some(HotChunk::new(self.table.layout().clone())?);
            }
            let Some(gathered) = &self.gathered else { break };
            let count = (batch.rows - done).min(CHUNK_ROWS - gathered.written());
            // SAFETY: nobody else knows the chunk; the rows fit; the batch keeps its strings alive.
            unsafe { gathered.append(batch, done, count) };
            done += count;
            if gathered.written() == CHUNK_ROWS {
                self.freeze_gathered()?;
            }
        }
        Ok(())
    }

    /// Bytes of the blocks made so far: they are in memory until the table takes them.
    pub fn bytes(&self) -> usize {
        self.loaded.blocks.iter().map(|b| b.bytes().len()).sum()
    }

    /// The blocks made so far, for a loader that adds them to the table as it goes.
    pub fn take(&mut self) -> LoadedRows {
        LoadedRows {
            blocks: std::mem::take(&mut self.loaded.blocks),
            rest: None,
        }
    }

    /// All that was loaded and not taken.
    pub fn finish(mut self) -> Result<LoadedRows> {
        let rest = self.gathered.as_ref().map_or(0, HotChunk::written);
        if rest >= SMALLEST_BLOCK {
            self.freeze_gathered()?;
        } else if rest > 0 {
            self.loaded.rest = self.gathered.take();
        }
        Ok(self.loaded)
    }

    fn freeze_gathered(&mut self) -> Result<()> {
        let Some(gathered) = self.gathered.take() else {
            return Ok(());
        };
        let slot = slot_of(gathered);
        let frozen = (self.freezer).freeze_chunks(&self.table, std::slice::from_ref(&slot), None)?;
        self.loaded.blocks.extend(frozen.block);
        // The memory serves the next chunk: its pages are there already.
        if let Some(Chunk::Hot(mut hot)) = Arc::into_inner(slot.chunk) {
            hot.clear();
            self.gathered = Some(hot);
        }
        Ok(())
    }
}

/// A slot that shows all rows of a chunk that no table has.
fn slot_of(hot: HotChunk) -> ChunkSlot {
    ChunkSlot {
        number: 0,
        rows: hot.written() as u32,
        chunk: Arc::new(Chunk::Hot(hot)),
        deleted: None,
    }
}

impl Transaction {
    /// Adds what a loader made.
    pub fn append_loaded(&mut self, id: ObjectId, loaded: LoadedRows) -> Result<u64> {
        let rows = loaded.rows();
        for block in loaded.blocks {
            self.append_block(id, block)?;
        }
        if let Some(rest) = loaded.rest {
            let table = self.snapshot().table(id)?.table().clone();
            let slot = slot_of(rest);
            let whole = WholeChunk::read(&table, &slot)?;
            self.append(id, &whole.batch)?;
        }
        Ok(rows)
    }
}
