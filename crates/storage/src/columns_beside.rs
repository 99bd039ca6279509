//! A column of a chunk that was computed for all of its rows after they were written: ALTER COLUMN … TYPE, ADD COLUMN
//! with a value for each row, the hidden columns of an index on expressions. The rows stay where they are, with their
//! ids, their marks and all other columns. A hot chunk gets cells beside its own, a frozen one a block of the column
//! beside its own.
//!
//! A chunk with such a column takes no further rows, and is written to a segment as a whole: only the record of the
//! transaction that computed the column knows that it was apart. Freezing, thawing and rewriting a chunk build
//! it of what it shows, and leave no column apart.

use crate::chunk::Chunk;
use crate::chunk_entry::ChunkEntry;
use crate::filled_column::{FilledColumn, cells_of};
use crate::reshape::Reshape;
use crate::snapshot::{TableSnapshot, take_in};
use frazil_block::Block;
use frazil_types::{ColumnNumber, Error, Result, SqlState};
use std::collections::BTreeMap;
use std::sync::Arc;

/// The columns that chunks get, by the numbers of the chunks.
pub(crate) type FilledColumns = BTreeMap<u32, Vec<(ColumnNumber, FilledColumn)>>;

impl ChunkEntry {
    /// Returns an entry of the same rows whose chunk stores further columns. An internal error if it stores one of
    /// them already.
    fn filled(&self, columns: &[(ColumnNumber, FilledColumn)]) -> Result<ChunkEntry> {
        let numbers = columns.iter().map(|(number, _)| *number);
        if numbers.clone().any(|number| self.stored().contains(&number)) {
            return Err(Error::internal("a column is filled that has values"));
        }
        let stored: Arc<[ColumnNumber]> = self.stored().iter().copied().chain(numbers).collect();
        let other_form = || Error::internal("a column was computed for a chunk of another state");
        let chunk = match &**self.chunk() {
            Chunk::Hot(hot) => {
                let cells = columns.iter().map(|(_, column)| match column {
                    FilledColumn::Cells(cells) => Some(cells.clone()),
                    FilledColumn::Block(_) => None,
                });
                let cells = cells.collect::<Option<Vec<_>>>().ok_or_else(other_form)?;
                Chunk::Hot(hot.with_filled(cells))
            }
            Chunk::Frozen(frozen) => {
                let blocks = columns.iter().map(|(_, column)| match column {
                    FilledColumn::Block(block) => Some(block.clone()),
                    FilledColumn::Cells(_) => None,
                });
                let blocks = blocks.collect::<Option<Vec<_>>>().ok_or_else(other_form)?;
                let block = frozen.block.with_columns(&blocks)?;
                Chunk::Frozen(frozen.reshaped(block, frozen.built_for.judgement().clone()))
            }
        };
        Ok(self.with_chunk(chunk, &stored))
    }
}

impl TableSnapshot {
    /// Gives chunks further columns, which are columns of the table. The table's bounds take their values in. Rows
    /// that come get a new chunk.
    pub(crate) fn fill(&mut self, filled: &FilledColumns) -> Result<()> {
        self.seal_tail();
        let table = self.table().clone();
        let reshape = Reshape::new(table.schema().clone(), None)?;
        for (number, columns) in filled {
            let missing = || Error::internal(format!("chunk {number} is gone, which gets a column"));
            let before = self.entry(*number).ok_or_else(missing)?;
            let shown = reshape.show(&before.filled(columns)?)?;
            take_in(&table, &shown);
            self.change(*number, |entry| *entry = shown);
        }
        table.forget_distinct();
        Ok(())
    }

    /// Gives a chunk a column again. XX001 if the block does not have the column's values for the rows of the chunk.
    /// A chunk that had no rows left may not be there.
    pub fn replay_filled(&mut self, chunk: u32, column: ColumnNumber, block: Block) -> Result<()> {
        let Some(entry) = self.entry(chunk) else {
            return Ok(());
        };
        let damaged = |what: &str| {
            let table = self.table().name();
            let what = format!("the log does not fit table \"{table}\": {what} for chunk {chunk}");
            Error::new(SqlState::DATA_CORRUPTED, what)
        };
        let def = self.schema().columns.iter().find(|def| def.number == column);
        let def = def.ok_or_else(|| damaged("a column that the table does not have"))?;
        if block.columns() != 1 || !block.entry(0).fits(def.ty) {
            return Err(damaged("values of another type"));
        }
        if entry.stored().contains(&column) {
            return Err(damaged("a column that is there already"));
        }
        if block.rows() != entry.view().rows() {
            return Err(damaged("a column of other rows"));
        }
        let filled = match entry.is_hot() {
            true => FilledColumn::Cells(Arc::new(cells_of(&block, def.ty)?)),
            false => FilledColumn::Block(block),
        };
        self.fill(&BTreeMap::from([(chunk, vec![(column, filled)])]))
    }
}
