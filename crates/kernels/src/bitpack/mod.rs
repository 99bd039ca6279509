//! Bit-packed codes, interleaved so that vectors need no shuffle (ByteSlice, section 2.1, on the order
//! of Lemire and Boytsov's SIMD-BP128 and of FastLanes).
//!
//! Packing code after code, as the ByteSlice paper's bit-packed rival does, makes a scan shuffle bytes
//! into lanes before it can shift and compare. Here the codes of a group of 512 rows are dealt to the
//! lanes of a 512-bit vector instead, row by row, and each lane is a bit string of its own:
//!
//! ```text
//! bits of a code   lanes of a vector   codes a lane        vector v of a group holds, after a shift,
//!         1 to 8   64 of  8 bits       8                   rows v·64 .. v·64 + 64
//!        9 to 16   32 of 16 bits       16                  rows v·32 .. v·32 + 32
//!       17 to 32   16 of 32 bits       32                  rows v·16 .. v·16 + 16
//!       33 to 64    8 of 64 bits       64                  rows v·8  .. v·8  + 8
//! ```
//!
//! Whatever the lane, a group of codes of k bits is exactly k vectors of 64 bytes: no bit is lost. Code
//! number v of every lane begins at bit v·k of its string, so the same shift, known at compile time,
//! brings 64, 32, 16 or 8 consecutive rows to where they can be compared, and the compare's mask is in
//! the order of the rows. A code lies in one word of its lane or in two that are 64 bytes apart. The
//! bytes are the same on every instruction set; 256-bit units read a vector as two halves.

#[cfg(target_arch = "x86_64")]
mod avx2;
#[cfg(target_arch = "x86_64")]
mod avx512;
#[cfg(target_arch = "x86_64")]
mod groups;
mod place;
#[cfg(target_arch = "x86_64")]
mod rows;
mod scalar;
#[cfg(target_arch = "x86_64")]
mod sparse;
#[cfg(target_arch = "x86_64")]
mod wide;

use crate::isa::dispatch;
use crate::packed::{cut_tail, match_all_or_none, set_test};
use crate::prefetch::prefetch_read;
use crate::{CodeWord, Combine, Isa, Kernel, Packed, RangeOp, Selection, counters};
use place::{GROUP, group_bytes, lane_bits, place};
use std::ops::Range;

/// Bytes of `rows` codes of `bits` bits: whole groups of 512 rows.
pub fn bytes(rows: usize, bits: u32) -> usize {
    rows.div_ceil(GROUP) * group_bytes(bits)
}

/// Writes codes of `bits` bits; rows beyond them in the last group are code 0. `out` has exactly
/// [`bytes`] bytes.
pub fn pack(codes: &[u64], bits: u32, out: &mut [u8]) {
    assert_eq!(out.len(), bytes(codes.len(), bits), "bytes of bit-packed codes");
    let isa = counters::enter(Kernel::BitPacked, Isa::detect());
    dispatch!(isa, pack(codes, bits, out), otherwise scalar::pack(codes, bits, out));
}

/// Tests the codes of `rows`, which begin at a multiple of 64, against `low..=high`; bit `i` of `out`
/// speaks of row `rows.start + i`. `out` has a word for each 64 rows; bits beyond them become zero.
#[expect(
    clippy::too_many_arguments,
    reason = "the arguments of every layout's range test"
)]
pub fn between(
    isa: Isa,
    codes: Packed<'_>,
    rows: Range<usize>,
    op: RangeOp,
    low: u64,
    high: u64,
    combine: Combine,
    out: &mut [u64],
) {
    check(codes);
    codes.check_rows(&rows, out);
    let isa = counters::enter(Kernel::BitPacked, isa);
    let count = rows.len();
    match codes.span(op, low, high) {
        Ok(span) => dispatch!(
            isa,
            between(codes, rows, op, span, combine, out),
            // SAFETY: the bytes and the rows were checked.
            otherwise unsafe { scalar::between(codes, rows, op, span, combine, out) },
        ),
        Err(matches) => match_all_or_none(matches, count, combine, out),
    }
    cut_tail(count, out);
}

set_test!(pub fn in_set, Kernel::BitPacked);

/// Writes the codes of the selected rows densely and returns their number; `C` must hold `bits` bits.
pub fn unpack<C: CodeWord>(isa: Isa, codes: Packed<'_>, selection: Selection<'_>, out: &mut [C]) -> usize {
    check(codes);
    codes.check_words::<C>();
    let isa = counters::enter(Kernel::BitPacked, isa);
    dispatch!(
        isa,
        unpack(codes, selection, out),
        // SAFETY: the bytes were checked.
        otherwise unsafe { scalar::unpack(codes, selection, out) },
    )
}

/// Asks for the cache lines of the codes at positions, for [`unpack`] to find them in cache a while later.
/// Positions beyond the codes are harmless.
pub fn prefetch(codes: Packed<'_>, positions: &[u16]) {
    assert!((1..=64).contains(&codes.bits), "codes of 1 to 64 bits");
    dispatch!(Isa::detect(), prefetch(codes, positions), otherwise prefetch_one_by_one(codes, positions));
}

fn prefetch_one_by_one(codes: Packed<'_>, positions: &[u16]) {
    for &position in positions {
        let place = place(lane_bits(codes.bits), codes.bits, u32::from(position));
        let group = usize::from(position) / GROUP * group_bytes(codes.bits);
        let group = codes.bytes.as_ptr().wrapping_add(group);
        prefetch_read(group.wrapping_add(place.low as usize));
        prefetch_read(group.wrapping_add(place.high as usize));
    }
}

/// The code of one row.
#[inline]
pub fn get(codes: Packed<'_>, row: usize) -> u64 {
    assert!(row < codes.rows, "row beyond the codes");
    assert!((1..=64).contains(&codes.bits), "codes of 1 to 64 bits");
    let end = (row / GROUP + 1) * group_bytes(codes.bits);
    assert!(end <= codes.bytes.len(), "bytes of bit-packed codes");
    let group = codes.bytes.as_ptr().wrapping_add(end - group_bytes(codes.bits));
    // SAFETY: the row's group is there.
    unsafe { scalar::get_of_group(group, codes.bits, row) }
}

#[inline]
fn check(codes: Packed<'_>) {
    assert!((1..=64).contains(&codes.bits), "codes of 1 to 64 bits");
    assert!(
        codes.bytes.len() >= bytes(codes.rows, codes.bits),
        "bytes of bit-packed codes"
    );
}
