//! Thawing: a block becomes a hot chunk again, so that rows can be appended to it.

use crate::chunk::{Chunk, ChunkSlot};
use crate::hot_chunk::HotChunk;
use crate::read_chunk::read_column;
use crate::snapshot::Table;
use crate::transaction::check_batch;
use frazil_block::ColumnBuffer;
use frazil_kernels::{Isa, Selection};
use frazil_types::{ColumnVector, Result, RowBatch, dispatch_native};
use std::sync::Arc;

impl ChunkSlot {
    /// The same rows, hot, in the same places.
    pub fn thaw(&self, table: &Table) -> Result<ChunkSlot> {
        let rows = self.rows as usize;
        let mut batch = RowBatch {
            columns: Vec::new(),
            rows,
        };
        // Strings of the batch point into the block and these buffers until they are copied below.
        let mut buffers = Vec::new();
        for (column, def) in table.schema().columns.iter().enumerate() {
            let mut buffer = ColumnBuffer::new();
            read_column(
                Isa::detect(),
                self,
                column,
                Selection::all(0..self.rows),
                &mut buffer,
            )
            .map_err(|e| self.blame(table.entry(), e))?;
            buffer.flatten();
            let mut vector = ColumnVector::new(def.ty, rows);
            vector.resize(rows);
            dispatch_native!(def.ty.native(), T => {
                vector.values_mut::<T>().copy_from_slice(buffer.values::<T>());
            });
            for row in 0..rows {
                if buffer.validity().is_some_and(|v| v[row] == 0) {
                    vector.set_null(row);
                }
            }
            batch.columns.push(vector);
            buffers.push(buffer);
        }
        check_batch(table, &batch).map_err(|e| self.blame(table.entry(), e))?;
        let hot = HotChunk::new(table.layout().clone())?;
        // SAFETY: nobody else knows the chunk yet; it is empty and takes 65,536 rows; the strings live in
        // the block and in `buffers`.
        unsafe { hot.append(&batch, 0, rows) };
        drop(buffers);
        Ok(ChunkSlot {
            chunk: Arc::new(Chunk::Hot(hot)),
            ..self.clone()
        })
    }
}
