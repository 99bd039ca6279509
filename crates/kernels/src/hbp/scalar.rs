//! The oracle of horizontally packed codes: one code at a time, found by [`Fields::place`].

use super::fields::{Fields, SEGMENTS, VECTOR};
use crate::packed::top;
use crate::selection::write_rows;
use crate::{CodeWord, Combine, Packed, RangeOp, Selection};
use std::ops::Range;

/// See [`super::get`].
#[inline(always)]
pub fn get(codes: Packed<'_>, row: usize) -> u64 {
    let (byte, shift) = Fields::of(codes.bits).place(row);
    let (word, _) = codes.bytes[byte..].split_first_chunk().expect("a whole word");
    u64::from_le_bytes(*word) >> shift & top(codes.bits)
}

/// See [`super::pack`].
pub fn pack(codes: &[u64], bits: u32, out: &mut [u8]) {
    let fields = Fields::of(bits);
    for (codes, out) in codes
        .chunks(fields.group())
        .zip(out.chunks_mut(fields.group_bytes()))
    {
        let (words, _) = out.as_chunks_mut::<8>();
        for (at, word) in words.iter_mut().enumerate() {
            let (row, segment) = (at / (VECTOR / 8), at % SEGMENTS);
            let first = segment * fields.segment() + row;
            let codes = codes.get(first..).unwrap_or_default();
            let codes = codes.iter().step_by(fields.width).take(fields.per_word);
            *word = codes
                .zip((0u32..).step_by(fields.width))
                .fold(0, |word, (code, shift)| word | (code & top(bits)) << shift)
                .to_le_bytes();
        }
    }
}

/// See [`super::between`]: inside are codes at most `span` above `low`.
pub fn between(
    codes: Packed<'_>,
    rows: Range<usize>,
    op: RangeOp,
    (low, span): (u64, u64),
    combine: Combine,
    out: &mut [u64],
) {
    for (word, first) in out.iter_mut().zip(rows.clone().step_by(64)) {
        let mut fresh = 0;
        for row in first..(first + 64).min(rows.end) {
            let inside = get(codes, row).wrapping_sub(low) <= span;
            fresh |= u64::from(inside == (op == RangeOp::Inside)) << (row - first);
        }
        *word = combine.apply(*word, fresh);
    }
}

/// See [`super::unpack`].
pub fn unpack<C: CodeWord>(codes: Packed<'_>, selection: Selection<'_>, out: &mut [C]) -> usize {
    write_rows(codes.rows, selection, out, |row| C::from_u64(get(codes, row)))
}
