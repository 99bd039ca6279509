//! The oracle of ByteSlice codes: one code at a time.

use super::slices::{Slices, padding, slices, stride};
use crate::packed::cut_tail;
use crate::selection::write_rows;
use crate::{CodeWord, Combine, RangeOp, Selection};
use std::ops::Range;

/// See [`super::pack`]. Inlined: the vector units compile it for themselves.
#[inline(always)]
pub fn pack(codes: &[u64], bits: u32, out: &mut [u8]) {
    if codes.is_empty() {
        return;
    }
    let count = slices(bits);
    for (j, slice) in out.chunks_mut(stride(codes.len())).enumerate() {
        let shift = 8 * (count - 1 - j);
        let (bytes, rest) = slice.split_at_mut(codes.len());
        for (byte, &code) in bytes.iter_mut().zip(codes) {
            *byte = ((code << padding(bits)) >> shift) as u8;
        }
        rest.fill(0);
    }
}

/// See [`super::between`]; `code` yields that of a row.
pub fn between(
    code: impl Fn(usize) -> u64,
    rows: Range<usize>,
    bounds: (u64, u64),
    op: RangeOp,
    combine: Combine,
    out: &mut [u64],
) {
    for (i, word) in out.iter_mut().enumerate() {
        let start = rows.start + i * 64;
        let mut fresh = 0;
        for row in start..rows.end.min(start + 64) {
            let code = code(row);
            let inside = bounds.0 <= code && code <= bounds.1;
            fresh |= u64::from(inside == (op == RangeOp::Inside)) << (row - start);
        }
        *word = combine.apply(*word, fresh);
    }
    cut_tail(rows.len(), out);
}

/// See [`super::unpack`].
pub fn unpack<C: CodeWord>(codes: Slices<'_>, selection: Selection<'_>, out: &mut [C]) -> usize {
    write_rows(codes.rows, selection, out, |row| {
        // SAFETY: only rows of the checked selection are asked for.
        C::from_u64(unsafe { codes.code(row) })
    })
}
