//! Thawing: a block becomes a hot chunk again, so that rows can be appended to it.

use crate::chunk::Chunk;
use crate::chunk_entry::ChunkEntry;
use crate::columns::Columns;
use crate::hot_chunk::HotChunk;
use crate::new_rows::{check_shape, null_refused};
use crate::snapshot::Table;
use frazil_block::ColumnBuffer;
use frazil_kernels::{Isa, Selection};
use frazil_types::{ColumnVector, Result, RowBatch, dispatch_native};

/// All rows of a chunk as a batch, whose strings point into the chunk and into buffers beside it.
pub(crate) struct WholeChunk {
    pub batch: RowBatch,
    _strings: Vec<ColumnBuffer>,
}

impl WholeChunk {
    /// Reads the rows an entry shows, deleted ones included.
    pub fn read(table: &Table, entry: &ChunkEntry) -> Result<WholeChunk> {
        let view = entry.view();
        let rows = view.rows() as usize;
        let mut columns = Vec::new();
        let mut strings = Vec::new();
        for (column, def) in table.schema().columns.iter().enumerate() {
            let mut buffer = ColumnBuffer::new();
            (view.read(Isa::detect(), column, Selection::all(0..view.rows()), &mut buffer))
                .map_err(|e| entry.blame(table.entry(), e))?;
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

impl ChunkEntry {
    /// The same rows, hot, at the same offsets, deleted ones among them.
    pub fn thaw(&self, table: &Table) -> Result<ChunkEntry> {
        let whole = WholeChunk::read(table, self)?;
        (check_shape(table, &whole.batch).and_then(|()| self.refuse_live_nulls(table, &whole.batch)))
            .map_err(|e| self.blame(table.entry(), e))?;
        let hot = HotChunk::new(table.layout().clone())?;
        // SAFETY: nobody else knows the chunk yet; it is empty and takes 65,536 rows; the strings live in
        // this entry's chunk and in `whole`.
        unsafe { hot.append(Columns::Batch(&whole.batch.columns), 0, whole.batch.rows, None) };
        Ok(self.with_chunk(Chunk::Hot(hot), table.numbers()))
    }

    /// 23502 if a live row has NULL in a NOT NULL column; rows that are deleted may be older than NOT NULL.
    fn refuse_live_nulls(&self, table: &Table, batch: &RowBatch) -> Result<()> {
        let view = self.view();
        let columns = table.schema().columns.iter().zip(&batch.columns).enumerate();
        for (column, (def, values)) in columns {
            let nulls = values.nulls().filter(|_| !def.nullable);
            let mut rows = nulls.into_iter().flat_map(|nulls| nulls.iter());
            if rows.any(|row| !view.is_deleted(row)) {
                return Err(null_refused(table, column));
            }
        }
        Ok(())
    }
}
