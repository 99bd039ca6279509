//! Whole columns of damaged blocks, for those who salvage: each column has a checksum, so that one that is damaged is
//! known apart from the others.

use crate::chunk::{Chunk, FrozenChunk};
use crate::chunk_entry::ChunkEntry;
use crate::snapshot::{Table, TableSnapshot, take_in};
use frazil_block::{Constant, ShownColumn};
use frazil_types::{Error, Result};

/// A chunk, and the columns of its table that it shows as NULL because they are damaged, each with why.
pub type WholeColumns = (ChunkEntry, Vec<(usize, Error)>);

impl ChunkEntry {
    /// Reads every column of a block. Returns the rows with NULL in the columns that are damaged; `None` if none is.
    pub fn whole_columns(&self, table: &Table) -> Result<Option<WholeColumns>> {
        let Some(frozen) = self.frozen_chunk() else {
            return Ok(None);
        };
        let mut damaged = Vec::new();
        let mut shown = Vec::new();
        for (position, column) in table.schema().columns.iter().enumerate() {
            let stored = self.stored().iter().position(|number| *number == column.number);
            let native = column.ty.native();
            shown.push(match (stored, frozen.block.touch(position)) {
                (Some(_), Err(damage)) => {
                    damaged.push((position, self.blame(table.entry(), damage)));
                    ShownColumn::Constant(Constant::null(native))
                }
                (Some(stored), Ok(())) => ShownColumn::Stored(stored),
                (None, _) => ShownColumn::Constant(Constant::new(native, column.missing.clone())?),
            });
        }
        if damaged.is_empty() {
            return Ok(None);
        }
        let judgement = frozen.built_for.judgement().clone();
        let block: FrozenChunk = frozen.reshaped(frozen.block.showing(&shown)?, judgement);
        Ok(Some((self.reshaped(Chunk::Frozen(block)), damaged)))
    }
}

impl TableSnapshot {
    /// Shows the rows of a chunk as another entry of its number does.
    pub fn show_as(&mut self, entry: ChunkEntry) {
        take_in(self.table(), &entry);
        self.change(entry.number(), |there| *there = entry);
    }
}
