//! Reading cells of a hot chunk into a buffer, wherever its partitions begin.

use crate::hot_chunk::HotChunk;
use frazil_block::ColumnBuffer;
use frazil_kernels::{Isa, Plain, Selection, Strided, strided, unpack};
use frazil_types::dispatch_native;

/// Copies the selected ones of the first `rows` rows of a hot chunk's column. Strings point into the chunk.
pub(crate) fn copy_hot(
    isa: Isa,
    hot: &HotChunk,
    column: usize,
    rows: usize,
    selection: Selection<'_>,
    out: &mut ColumnBuffer,
) {
    let native = hot.layout().column(column).native;
    if let Some(value) = hot.constant(column) {
        out.reset_constant(native, selection.count());
        dispatch_native!(native, T => {
            let cells = out.values_mut::<T>().iter_mut().zip(value.values::<T>());
            cells.for_each(|(cell, value)| *cell = *value);
        });
        if value.is_null(0) {
            out.validity_mut().fill(0);
        }
        return;
    }
    dispatch_native!(native, T => {
        let values = out.prepare::<T>(selection.count());
        copy_cells(isa, hot.cells::<T>(column, 0..rows), selection, values);
    });
    if let Some(validity) = hot.validity_cells(column, 0..rows) {
        copy_cells(isa, validity, selection, out.validity_mut());
    }
}

/// Copies selected cells of a chunk: from where they lie if that is one run, else by way of their partitions.
fn copy_cells<T: Plain>(isa: Isa, cells: Strided<'_, T>, selection: Selection<'_>, out: &mut [T]) {
    if let Some(values) = cells.side_by_side() {
        unpack::copy_values(isa, values, selection, out);
        return;
    }
    match selection {
        Selection::All { start, len } => {
            strided::copy(cells.part(start as usize..(start + len) as usize), out);
        }
        Selection::Bits { words, start, len } => {
            copy_matches(
                isa,
                cells.part(start as usize..(start + len) as usize),
                words,
                out,
            );
        }
        Selection::Positions(rows) => cells.copy_at(rows, out),
    }
}

/// The cells whose bits are set, run by run from where they lie if words of bits do not cross runs, else 64 rows at a
/// time by way of the stack.
fn copy_matches<T: Plain>(isa: Isa, cells: Strided<'_, T>, words: &[u64], out: &mut [T]) {
    let mut side_by_side = [T::default(); 64];
    let (mut from, mut at) = (0, 0);
    while from < cells.rows() {
        let rest = cells.rows() - from;
        let whole = cells.run_from(from);
        // A run that ends within a word goes on by way of the stack, but for the last one.
        let in_place = if whole == rest { whole } else { whole / 64 * 64 };
        let rows = if in_place > 0 { in_place } else { rest.min(64) };
        let words = &words[from / 64..(from + rows).div_ceil(64)];
        if words.iter().any(|w| *w != 0) {
            let cells = cells.part(from..from + rows);
            let values = match cells.side_by_side() {
                Some(values) => values,
                None => {
                    strided::copy(cells, &mut side_by_side[..rows]);
                    &side_by_side[..rows]
                }
            };
            let bits = Selection::Bits {
                words,
                start: 0,
                len: rows as u32,
            };
            at += unpack::copy_values(isa, values, bits, &mut out[at..]);
        }
        from += rows;
    }
}
