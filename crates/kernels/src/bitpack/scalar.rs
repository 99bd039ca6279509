//! The oracle of bit-packed codes: one code at a time, found by [`place`].

use super::place::{GROUP, Place, group_bytes, lane_bits, place};
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
    let group = row / GROUP * group_bytes(codes.bits);
    // SAFETY: by contract.
    unsafe { get_of_group(codes.bytes.as_ptr().wrapping_add(group), codes.bits, row) }
}

/// The code of `bits` bits of a row whose group begins at an address.
///
/// # Safety
/// The group is there.
#[inline(always)]
pub unsafe fn get_of_group(group: *const u8, bits: u32, row: usize) -> u64 {
    // A body for each lane, so that the arithmetic of places is by constants.
    macro_rules! code {
        ($lane:ty) => {{
            // SAFETY: by contract, all words asked for lie in the row's group.
            let word = |byte: u32| unsafe {
                <$lane>::from_le(group.add(byte as usize).cast::<$lane>().read_unaligned())
            };
            // Codes as wide as their lanes stand row by row.
            if bits == <$lane>::BITS {
                return word((row % GROUP) as u32 * (<$lane>::BITS / 8)).into();
            }
            let place = place(<$lane>::BITS, bits, row as u32);
            join::<$lane>(word(place.low).into(), word(place.high).into(), place.shift)
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
    let lane_bytes = lane_bits(bits) as usize / 8;
    for (group, out) in codes.chunks(GROUP).zip(out.chunks_mut(group_bytes(bits))) {
        for (row, &code) in group.iter().enumerate() {
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
