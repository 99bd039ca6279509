//! Thawing: a block becomes a hot chunk again, so that rows can be appended to it.

use crate::chunk::{Chunk, ChunkSlot};
use crate::hot_chunk::HotChunk;
use crate::read_chunk::read_column;
use crate::snapshot::Table;
use crate::table_writer::{check_shape, refuse_nulls};
use frazil_block::ColumnBuffer;
use frazil_kernels::{Isa, Selection};
use frazil_types::{ColumnVector, Result, RowBatch, dispatch_native};
use std::sync::Arc;

/// All rows of a chunk as a batch, whose strings point into the chunk and into buffers beside it.
pub(crate) struct WholeChunk {
    pub batch: RowBatch,
    _strings: Vec<ColumnBuffer>,
}

impl WholeChunk {
    /// Reads the rows a slot shows, deleted ones included.
    pub fn read(table: &Table, slot: &ChunkSlot) -> Result<WholeChunk> {
        let rows = slot.rows as usize;
        let mut columns = Vec::new();
        let mut strings = Vec::new();
        for (column, def) in table.schema().columns.iter().enumerate() {
            let mut buffer = ColumnBuffer::new();
            read_column(
                Isa::detect(),
                slot,
                column,
                Selection::all(0..slot.rows),
                &mut buffer,
            )
            .map_err(|e| slot.blame(table.entry(), e))?;
            buffer.flatten();
            let mut vector = ColumnVector::new(def.ty, rows);
            vector.resize(rows);
            dispatch_native!(def.ty.native(), T => {
                vector.values_mut::<T>().copy_from_slice(buffer.values::<T>());
            });
            if let Some(validity) = buffer.validity() {
                let nulls = validity.iter().enumerate().filter(|(_, v)| **v == 0);
                nulls.for_each(|(row, _)| vector.set_null(row));
            }
            columns.push(vector);
            strings.push(buffer);
        }
        Ok(WholeChunk {
            batch: RowBatch { columns, rows },
            _strings: strings,
        })
    }
}

impl ChunkSlot {
    /// The same rows, hot, in the same places.
    pub fn thaw(&self, table: &Table) -> Result<ChunkSlot> {
        let whole = WholeChunk::read(table, self)?;
        (check_shape(table, &whole.batch).and_then(|()| refuse_nulls(table, &whole.batch)))
            .map_err(|e| self.blame(table.entry(), e))?;
        let hot = HotChunk::new(table.layout().clone())?;
        // SAFETY: nobody else knows the chunk yet; it is empty and takes 65,536 rows; the strings live in
        // this slot's chunk and in `whole`.
        unsafe { hot.append(&whole.batch, 0, whole.batch.rows) };
        Ok(ChunkSlot {
            chunk: Arc::new(Chunk::Hot(hot)),
            ..self.clone()
        })
    }
}
