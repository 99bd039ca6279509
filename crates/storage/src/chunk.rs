//! A chunk in one of its states.

use crate::access_counters::BlockVisits;
use crate::built_for::{BuiltFor, Judgement};
use crate::hot_chunk::HotChunk;
use frazil_block::Block;
use std::sync::Arc;

/// Up to 65,536 rows, hot or frozen.
#[derive(Debug)]
pub(crate) enum Chunk {
    /// Uncompressed, appended to.
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
    pub visits: Arc<BlockVisits>,
    /// What it was built for.
    pub built_for: BuiltFor,
}

impl FrozenChunk {
    /// The same block, of which other columns are shown.
    pub(crate) fn reshaped(&self, block: Block, judgement: Judgement) -> FrozenChunk {
        FrozenChunk {
            block,
            origin: self.origin.clone(),
            visits: self.visits.clone(),
            built_for: BuiltFor::judged(judgement),
        }
    }
}
