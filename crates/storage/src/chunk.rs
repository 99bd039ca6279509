//! A chunk in one of its states, and what one version of a table shows of it.

use crate::bounds::ColumnBounds;
use crate::hot_chunk::HotChunk;
use frazil_types::MatchBits;
use std::sync::Arc;

/// Up to 65,536 rows, hot or frozen.
#[derive(Debug)]
pub enum Chunk {
    /// Uncompressed, appended to by the one writer.
    Hot(HotChunk),
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
    /// Bounds per column over the rows shown.
    pub bounds: Arc<[ColumnBounds]>,
}

impl ChunkSlot {
    /// Rows shown and not deleted.
    pub fn live_rows(&self) -> u32 {
        self.rows - self.deleted.as_ref().map_or(0, |d| d.count)
    }

    /// The hot chunk, if it is one.
    pub fn hot(&self) -> Option<&HotChunk> {
        match &*self.chunk {
            Chunk::Hot(hot) => Some(hot),
        }
    }
}
