//! Reading cells of a chunk, hot or frozen, into a buffer: what the scan's cursor, freezing and
//! statistics share.

use crate::chunk::{Chunk, ChunkSlot};
use crate::hot_chunk::HotChunk;
use frazil_block::ColumnBuffer;
use frazil_kernels::{Isa, Plain, Selection, unpack};
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
        match selection {
            _ if side_by_side => {
                unpack::copy_values(isa, hot.values::<T>(column, 0..rows), selection, values);
            }
            Selection::All { start, len } => {
                let start = start as usize;
                hot.copy_values(column, start..start + len as usize, values);
            }
            Selection::Bits { words, start, len } => {
                copy_matches(isa, hot, column, (words, start as usize, len as usize), values);
            }
            Selection::Positions(_) => copy_scattered(hot, column, selection, values),
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

/// The values of the rows from `start` on whose bits are set: from where they lie if that is one run, else 64
/// rows at a time by way of the stack.
fn copy_matches<T: Native + Plain>(
    isa: Isa,
    hot: &HotChunk,
    column: usize,
    (words, start, len): (&[u64], usize, usize),
    out: &mut [T],
) {
    let bits = |words, len: usize| Selection::Bits {
        words,
        start: 0,
        len: len as u32,
    };
    let end = start + len;
    if hot.layout().run_end(start, end) == end {
        unpack::copy_values(isa, hot.values::<T>(column, start..end), bits(words, len), out);
        return;
    }
    let mut at = 0;
    for (i, word) in words.iter().enumerate().filter(|w| *w.1 != 0) {
        let from = start + i * 64;
        let rows = (end - from).min(64);
        let mut side_by_side = [T::default(); 64];
        let side_by_side = &mut side_by_side[..rows];
        hot.copy_values(column, from..from + rows, side_by_side);
        let word = std::slice::from_ref(word);
        at += unpack::copy_values(isa, side_by_side, bits(word, rows), &mut out[at..]);
    }
}

fn copy_scattered<T: Native>(hot: &HotChunk, column: usize, selection: Selection<'_>, out: &mut [T]) {
    for (to, row) in out.iter_mut().zip(selection.rows()) {
        *to = hot.values::<T>(column, row..row + 1)[0];
    }
}
