//! Reading cells of a chunk, hot or frozen, into a buffer: what the scan's cursor, freezing and
//! statistics share.

use crate::chunk::{Chunk, ChunkSlot};
use crate::hot_chunk::HotChunk;
use frazil_block::ColumnBuffer;
use frazil_kernels::{Isa, Selection, unpack};
use frazil_types::{Native, Result, dispatch_native};

/// Unpacks the selected rows of a column. Strings point into the chunk, or are transient and live in
/// the buffer.
pub fn read_column(
    isa: Isa,
    slot: &ChunkSlot,
    column: usize,
    selection: Selection<'_>,
    out: &mut ColumnBuffer,
) -> Result<()> {
    match &*slot.chunk {
        Chunk::Hot(hot) => {
            copy_hot(isa, hot, column, slot.rows as usize, selection, out);
            Ok(())
        }
        Chunk::Frozen(frozen) => frozen.block.unpack(isa, column, selection, out),
    }
}

fn copy_hot(
    isa: Isa,
    hot: &HotChunk,
    column: usize,
    rows: usize,
    selection: Selection<'_>,
    out: &mut ColumnBuffer,
) {
    let count = selection.count();
    let native = hot.layout().column(column).native;
    let side_by_side = hot.layout().run_end(0, rows) == rows;
    dispatch_native!(native, T => {
        let values = out.prepare::<T>(count);
        if side_by_side {
            unpack::copy_values(isa, hot.values::<T>(column, 0..rows), selection, values);
        } else {
            copy_scattered(hot, column, selection, values);
        }
    });
    if !hot.has_nulls(column) {
        return;
    }
    let validity = out.validity_mut();
    match hot.validity(column, 0..if side_by_side { rows } else { 0 }) {
        Some(bytes) => {
            unpack::copy_values(isa, bytes, selection, validity);
        }
        None => {
            for (to, row) in validity.iter_mut().zip(selection.rows()) {
                *to = hot.validity(column, row..row + 1).map_or(1, |v| v[0]);
            }
        }
    }
}

fn copy_scattered<T: Native>(hot: &HotChunk, column: usize, selection: Selection<'_>, out: &mut [T]) {
    for (to, row) in out.iter_mut().zip(selection.rows()) {
        *to = hot.values::<T>(column, row..row + 1)[0];
    }
}
