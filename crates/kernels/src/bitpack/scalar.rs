//! The oracle of bit-packed codes: one code at a time, found by [`place`].

use super::place::{Place, in_a_row, lane_bits, place, window};
use crate::packed::top;
use crate::selection::write_rows;
use crate::{CodeWord, Combine, Packed, RangeOp, Selection};
use std::ops::Range;

/// The code of a row.
///
/// # Safety
/// The bytes are those of the codes, and the row is one of them.
#[inline(always)]
pub unsafe fn get(codes: Packed<'_>, row: usize) -> u64 {
    let (from, bits) = (codes.bytes.as_ptr(), codes.bits);
    if in_a_row(bits) {
        let (byte, shift) = window(8, bits, row as u32, codes.bytes.len() as u32);
        // SAFETY: no window leaves the bytes.
        let window = unsafe { from.add(byte as usize).cast::<u64>().read_unaligned() };
        return u64::from_le(window) >> shift & top(bits);
    }
    // A body for each lane, so that the arithmetic of places is by constants.
    macro_rules! code {
        ($lane:ty) => {{
            let word = |byte: usize| {
                let at = from.wrapping_add(byte).cast::<$lane>();
                // SAFETY: by contract, all words asked for are there.
                <$lane>::from_le(unsafe { at.read_unaligned() })
            };
            // Codes as wide as their lanes stand row by row.
            if bits == <$lane>::BITS {
                return word(row * size_of::<$lane>()).into();
            }
            let Place { low, high, shift } = place(<$lane>::BITS, bits, row as u32);
            join::<$lane>(word(low as usize).into(), word(high as usize).into(), shift)
        }};
    }
    let code = match lane_bits(bits) {
        8 => code!(u8),
        16 => code!(u16),
        32 => code!(u32),
        _ => code!(u64),
    };
    code & top(bits)
}

/// The low bits of lanes `high:low >> shift`. Where the code lies in one word, `high` is the same as `low`
/// and comes to stand above the code.
#[inline(always)]
pub(super) const fn join<L>(low: u64, high: u64, shift: u32) -> u64 {
    match size_of::<L>() {
        8 => low >> shift | high << 1 << (63 - shift),
        bytes => (low | high << (bytes * 8)) >> shift,
    }
}

/// See [`super::pack`].
pub fn pack(codes: &[u64], bits: u32, out: &mut [u8]) {
    out.fill(0);
    if in_a_row(bits) {
        for (row, &code) in codes.iter().enumerate() {
            let bit = row * bits as usize;
            let bytes = ((code & top(bits)) << (bit % 8)).to_le_bytes();
            merge(&mut out[bit / 8..], &bytes);
        }
        return;
    }
    let lane_bytes = lane_bits(bits) as usize / 8;
    for (row, &code) in codes.iter().enumerate() {
        let Place { low, high, shift } = place(lane_bits(bits), bits, row as u32);
        let (low, high) = (low as usize, high as usize);
        let code = (u128::from(code & top(bits)) << shift).to_le_bytes();
        let (low_word, high_word) = code.split_at(lane_bytes);
        merge(&mut out[low..][..lane_bytes], low_word);
        if high != low {
            merge(&mut out[high..][..lane_bytes], high_word);
        }
    }
}

fn merge(out: &mut [u8], bytes: &[u8]) {
    for (out, byte) in out.iter_mut().zip(bytes) {
        *out |= byte;
    }
}

/// See [`super::between`]: inside are codes at most `span` above `low`.
///
/// # Safety
/// The bytes are those of the codes, and the rows are some of them.
pub unsafe fn between(
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
            // SAFETY: by contract.
            let code = unsafe { get(codes, row) };
            let inside = code.wrapping_sub(low) <= span;
            fresh |= u64::from(inside == (op == RangeOp::Inside)) << (row - first);
        }
        *word = combine.apply(*word, fresh);
    }
}

/// See [`super::unpack`].
///
/// # Safety
/// The bytes are those of the codes.
pub unsafe fn unpack<C: CodeWord>(codes: Packed<'_>, selection: Selection<'_>, out: &mut [C]) -> usize {
    write_rows(codes.rows, selection, out, |row| {
        // SAFETY: by contract, and the selection is checked before any row is asked for.
        C::from_u64(unsafe { get(codes, row) })
    })
}
