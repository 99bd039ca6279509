//! The oracle of bit-packed codes: one code at a time, found by [`place`].

use super::FRAME;
use super::place::{GROUP, Place, group_bytes, in_a_row, lane_bits, place, window};
use crate::packed::top;
use crate::selection::write_rows;
use crate::{CodeWord, Combine, Packed, RangeOp, Selection};
use std::ops::Range;

/// The code of a row. Panics if the bytes do not have it. Codes that no word shares with a part of another are a load
/// and little more: an indirect jump would take as long.
#[inline(always)]
pub fn get(Packed { bytes, bits, .. }: Packed<'_>, row: usize) -> u64 {
    let row = row as u32;
    match bits {
        4 => code::<u8, 4>(bytes, row),
        8 => code::<u8, 8>(bytes, row),
        16 => code::<u16, 16>(bytes, row),
        32 => code::<u32, 32>(bytes, row),
        _ => GET
            .get((bits as usize).wrapping_sub(1))
            .expect("codes of 1 to 64 bits")(bytes, row),
    }
}

/// [`code`] of each width: where a code lies takes more time to compute than to read unless its width is a constant.
static GET: [fn(&[u8], u32) -> u64; 64] = {
    macro_rules! functions {
        ($($lane:ident: $($bits:literal)*;)*) => { [$($(code::<$lane, $bits>,)*)*] };
    }
    functions!(
        u8: 1 2 3 4 5 6 7 8;
        u16: 9 10 11 12 13 14 15 16;
        u32: 17 18 19 20 21 22 23 24 25 26 27 28 29 30 31 32;
        u64: 33 34 35 36 37 38 39 40 41 42 43 44 45 46 47 48 49 50 51 52 53 54 55 56 57 58 59 60 61 62 63 64;
    )
};

/// The code of a row, of `BITS` bits in lanes of `L`.
#[inline(always)]
fn code<L: CodeWord, const BITS: u32>(bytes: &[u8], row: u32) -> u64 {
    let lane = size_of::<L>() as u32 * 8;
    // Codes as wide as their lanes stand row by row.
    if BITS == lane {
        return word::<L>(bytes, row * (lane / 8));
    }
    if in_a_row(BITS) {
        let group = group_bytes(BITS) as u32;
        let (byte, shift) = window(8, BITS, row % GROUP as u32, group);
        return word::<u64>(bytes, row / GROUP as u32 * group + byte) >> shift & top(BITS);
    }
    let Place { low, high, shift } = place(lane, BITS, row);
    let code = match lane.is_multiple_of(BITS) {
        true => word::<L>(bytes, low) >> shift,
        false => join::<L>(word::<L>(bytes, low), word::<L>(bytes, high), shift),
    };
    code & top(BITS)
}

/// The word that begins at a byte, the least of its bytes first. Panics if it is not there: one comparison, where
/// asking for the row's whole group takes a multiplication too.
#[inline(always)]
fn word<W: CodeWord>(bytes: &[u8], byte: u32) -> u64 {
    let byte = byte as usize;
    let word = bytes.get(byte..byte + size_of::<W>());
    let mut all = [0; 8];
    all[..size_of::<W>()].copy_from_slice(word.expect("bytes of bit-packed codes"));
    u64::from_le_bytes(all)
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
            let code = get(codes, row);
            let inside = code.wrapping_sub(low) <= span;
            fresh |= u64::from(inside == (op == RangeOp::Inside)) << (row - first);
        }
        *word = combine.apply(*word, fresh);
    }
}

/// See [`super::unpack`].
pub fn unpack<C: CodeWord>(codes: Packed<'_>, selection: Selection<'_>, out: &mut [C]) -> usize {
    write_rows(codes.rows, selection, out, |row| C::from_u64(get(codes, row)))
}

/// See [`super::unpack_frames`].
pub fn unpack_frames(codes: Packed<'_>, rows: Range<usize>, references: &[u32], out: &mut [u32]) {
    for (out, row) in out.iter_mut().zip(rows) {
        *out = references[row / FRAME].wrapping_add(get(codes, row) as u32);
    }
}
