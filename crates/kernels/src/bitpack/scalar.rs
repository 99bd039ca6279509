//! The oracle of bit-packed codes: one code at a time, found by [`place`].

use super::place::{GROUP, Place, group_bytes, lane_bits, place};
use crate::packed::top;
use crate::selection::write_rows;
use crate::{CodeWord, Combine, Packed, RangeOp, Selection};
use std::ops::Range;

/// The lane `high:low >> shift`. Where the code lies in `low` alone, `high` adds only bits above it.
macro_rules! join {
    ($lane:ty, $low:expr, $high:expr, $shift:expr) => {
        $low >> $shift | $high << 1 << (<$lane>::BITS - 1 - $shift)
    };
}

/// See [`super::get`].
#[inline(always)]
pub fn get(codes: Packed<'_>, row: usize) -> u64 {
    let lane = lane_bits(codes.bits);
    let place = place(lane, codes.bits, row);
    macro_rules! code {
        ($lane:ty) => {{
            let at = |byte: usize| {
                let (word, _) = codes.bytes[byte..].split_first_chunk().expect("a whole lane");
                <$lane>::from_le_bytes(*word)
            };
            u64::from(join!($lane, at(place.low), at(place.high), place.shift))
        }};
    }
    let code = match lane {
        8 => code!(u8),
        16 => code!(u16),
        32 => code!(u32),
        _ => code!(u64),
    };
    code & top(codes.bits)
}

/// See [`super::pack`].
pub fn pack(codes: &[u64], bits: u32, out: &mut [u8]) {
    out.fill(0);
    let lane_bytes = lane_bits(bits) as usize / 8;
    for (group, out) in codes.chunks(GROUP).zip(out.chunks_mut(group_bytes(bits))) {
        for (row, &code) in group.iter().enumerate() {
            let Place { low, high, shift } = place(lane_bits(bits), bits, row);
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
