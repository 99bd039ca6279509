//! The oracle of VBP codes: one code at a time.

use super::planes::{PLANE_BYTES, Planes, SEGMENT_ROWS};
use crate::packed::cut_tail;
use crate::selection::write_rows;
use crate::{CodeWord, Combine, RangeOp, Selection};
use std::ops::Range;

/// See [`super::pack`]; `out` is zero.
pub fn pack(codes: &[u64], bits: u32, out: &mut [u8]) {
    let size = bits as usize * PLANE_BYTES;
    for (codes, segment) in codes.chunks(SEGMENT_ROWS).zip(out.chunks_mut(size)) {
        for (row, code) in codes.iter().enumerate() {
            for plane in 0..bits as usize {
                let bit = (code >> (bits as usize - 1 - plane) & 1) as u8;
                segment[plane * PLANE_BYTES + row / 8] |= bit << (row % 8);
            }
        }
    }
}

/// See [`super::between`].
pub fn between(
    codes: Planes<'_>,
    rows: Range<usize>,
    op: RangeOp,
    bounds: (u64, u64),
    combine: Combine,
    out: &mut [u64],
) {
    for (i, word) in out.iter_mut().enumerate() {
        let start = rows.start + i * 64;
        let mut fresh = 0;
        for row in start..rows.end.min(start + 64) {
            let code = codes.code(row);
            let inside = bounds.0 <= code && code <= bounds.1;
            fresh |= u64::from(inside == (op == RangeOp::Inside)) << (row - start);
        }
        *word = combine.apply(*word, fresh);
    }
    cut_tail(rows.len(), out);
}

/// See [`super::unpack`].
pub fn unpack<C: CodeWord>(codes: Planes<'_>, selection: Selection<'_>, out: &mut [C]) -> usize {
    write_rows(codes.rows, selection, out, |row| C::from_u64(codes.code(row)))
}
