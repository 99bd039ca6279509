//! A chunk in one of its states, and what one version of a table shows of it.

use crate::access_counters::BlockVisits;
use crate::bounds::ColumnBounds;
use crate::built_for::BuiltFor;
use crate::hot_chunk::HotChunk;
use frazil_block::Block;
use frazil_catalog::TableEntry;
use frazil_types::{Error, MatchBits, Result};
use std::sync::Arc;

/// Up to 65,536 rows, hot or frozen.
#[derive(Debug)]
pub enum Chunk {
    /// Uncompressed, appended to by the one writer.
    Hot(HotChunk),
    /// A Data Block: nothing can be written to it.
    Frozen(FrozenChunk),
}

/// A block and where it came from.
#[derive(Debug)]
pub struct FrozenChunk {
    /// The rows.
    pub block: Block,
    /// File and offset, for messages about its bytes; `None` for a block that was built in memory.
    pub origin: Option<Arc<str>>,
    /// How often it was visited.
    pub visits: BlockVisits,
    /// What it was built for.
    pub built_for: BuiltFor,
}

/// Rows deleted from a chunk, as one version of the table sees them.
#[derive(Clone, Debug)]
pub struct Deleted {
    /// A bit for each row of the chunk's capacity.
    pub bits: MatchBits,
    /// Bits set.
    pub count: u32,
}

/// What one version of a table shows of a chunk.
#[derive(Clone, Debug)]
pub struct ChunkSlot {
    /// The chunk's number, the upper part of its row ids.
    pub number: u32,
    /// Its rows.
    pub chunk: Arc<Chunk>,
    /// Rows this version shows, deleted ones included.
    pub rows: u32,
    /// Those of them that are deleted.
    pub deleted: Option<Arc<Deleted>>,
}

impl ChunkSlot {
    /// A slot that shows all rows of a block.
    pub fn frozen(number: u32, frozen: FrozenChunk) -> ChunkSlot {
        ChunkSlot {
            number,
            rows: frozen.block.rows(),
            chunk: Arc::new(Chunk::Frozen(frozen)),
            deleted: None,
        }
    }

    /// Bounds of a column over all rows of the chunk, those that were deleted or are not shown included: of a
    /// block they are read off its SMA.
    pub fn bounds(&self, column: usize) -> ColumnBounds {
        match &*self.chunk {
            Chunk::Hot(hot) => hot.bounds(column),
            Chunk::Frozen(frozen) => ColumnBounds {
                range: frozen.block.int_bounds(column),
                nulls: u64::from(frozen.block.entry(column).null_count),
            },
        }
    }

    /// Rows shown and not deleted.
    pub fn live_rows(&self) -> u32 {
        self.rows - self.deleted.as_ref().map_or(0, |d| d.count)
    }

    /// The hot chunk, if it is one.
    pub fn hot(&self) -> Option<&HotChunk> {
        match &*self.chunk {
            Chunk::Hot(hot) => Some(hot),
            Chunk::Frozen(_) => None,
        }
    }

    /// The block, if it is frozen.
    pub fn block(&self) -> Option<&Block> {
        self.frozen_chunk().map(|frozen| &frozen.block)
    }

    /// The block and what is known beside it, if it is frozen.
    pub fn frozen_chunk(&self) -> Option<&FrozenChunk> {
        match &*self.chunk {
            Chunk::Hot(_) => None,
            Chunk::Frozen(frozen) => Some(frozen),
        }
    }

    /// Bytes of its rows in memory, or of its block.
    pub fn bytes(&self) -> usize {
        match &*self.chunk {
            Chunk::Hot(hot) => hot.bytes(),
            Chunk::Frozen(frozen) => frozen.block.bytes().len(),
        }
    }

    /// Whether a row is deleted.
    pub fn is_deleted(&self, row: usize) -> bool {
        self.deleted.as_ref().is_some_and(|d| d.bits.get(row))
    }

    /// Says in an error about this chunk's bytes which table, chunk and file they belong to.
    pub fn blame(&self, table: &TableEntry, error: Error) -> Error {
        let place = format!("table \"{}\", chunk {}", table.name, self.number);
        match &*self.chunk {
            Chunk::Frozen(FrozenChunk {
                origin: Some(origin), ..
            }) => error.in_context(format!("{origin}, {place}")),
            _ => error.in_context(place),
        }
    }

    /// Checks all bytes of a block; a hot chunk has nothing to check.
    pub fn verify(&self, table: &TableEntry) -> Result<()> {
        match self.block() {
            Some(block) => block.verify().map_err(|e| self.blame(table, e)),
            None => Ok(()),
        }
    }
}
