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
    if bits <= 16 {
        // SAFETY: by contract.
        return unsafe { NARROW[bits as usize - 1](from, row as u32) };
    }
    // SAFETY: by contract, all words asked for are there.
    let word = |byte: usize| unsafe { from.add(byte).cast::<u64>().read_unaligned() };
    match bits {
        // SAFETY: as above.
        32 => u32::from_le(unsafe { from.cast::<u32>().add(row).read_unaligned() }).into(),
        64 => u64::from_le(word(row * 8)),
        _ => {
            let Place { low, high, shift } = place(64, bits, row as u32);
            let (low, high) = (
                u64::from_le(word(low as usize)),
                u64::from_le(word(high as usize)),
            );
            join::<u64>(low, high, shift) & top(bits)
        }
    }
}

/// [`get`] of each width up to 16 bits: where a code lies takes more time to compute than to read unless its width is a
/// constant.
static NARROW: [unsafe fn(*const u8, u32) -> u64; 16] = {
    macro_rules! functions {
        ($lane:ident: $($bits:literal)*; $pairs:ident: $($wide:literal)*) => {
            [$(narrow::<$lane, $bits>,)* $(narrow::<$pairs, $wide>,)*]
        };
    }
    functions!(u8: 1 2 3 4 5 6 7 8; u16: 9 10 11 12 13 14 15 16)
};

/// The code of a row, of `BITS` bits in lanes of `L`.
///
/// # Safety
/// As [`get`].
unsafe fn narrow<L: CodeWord, const BITS: u32>(from: *const u8, row: u32) -> u64 {
    let lane = size_of::<L>() as u32 * 8;
    // SAFETY: by contract, all words asked for are there.
    let word = |byte: u32| unsafe { from.add(byte as usize).cast::<L>().read_unaligned() }.to_u64();
    // Codes as wide as their lanes stand row by row.
    if BITS == lane {
        return word(row * (lane / 8));
    }
    let Place { low, high, shift } = place(lane, BITS, row);
    let code = match lane.is_multiple_of(BITS) {
        true => word(low) >> shift,
        false => join::<L>(word(low), word(high), shift),
    };
    code & top(BITS)
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
