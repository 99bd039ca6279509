//! VBP, vertical bit-parallel: the bits of a code lie apart, plane by plane (Li and Patel: BitWeaving,
//! SIGMOD 2013; ByteSlice, section 2.2).
//!
//! Codes are cut into segments of 512 rows, the width of the widest register. A segment of codes of
//! `k` bits is `k` planes of 512 bits, the most significant bit first; bit `r` of a plane belongs to row
//! `r` of the segment. A plane is a cache line, and the planes of a segment lie one behind the other.
//!
//! ```text
//! segment 0                                segment 1
//! plane 0  bit k-1 of rows 0 … 511         plane 0  bit k-1 of rows 512 … 1023
//! …                                        …
//! plane k-1  bit 0 of rows 0 … 511         plane k-1  …
//! ```
//!
//! A range test works on 512 rows with a handful of logical operations a plane, and stops when no row
//! of the segment is undecided. No bit is lost to padding but in the last segment, which is filled up
//! with zeros. Getting one code costs a load a plane: that is what this layout is bad at.

#[cfg(target_arch = "x86_64")]
mod avx2;
#[cfg(target_arch = "x86_64")]
mod avx512;
mod bounds;
pub(crate) mod planes;
mod scalar;
mod scan;
mod transpose;

use crate::isa::dispatch;
use crate::packed::{CodeRange, match_all_or_none, set_test};
use crate::prefetch::{first_asked, prefetch_read};
use crate::{CodeWord, Combine, Isa, Kernel, Packed, RangeOp, Selection, counters};
use planes::{PLANE_BYTES, Planes, SEGMENT_ROWS};
use std::ops::Range;

/// Size of `rows` codes of `bits` bits, a multiple of 64.
pub fn bytes(rows: usize, bits: u32) -> usize {
    rows.div_ceil(SEGMENT_ROWS) * bits as usize * PLANE_BYTES
}

/// Writes codes of `bits` bits, 1 to 64, into `out`, which has exactly [`bytes`] for them. Rows of
/// padding are zero.
pub fn pack(codes: &[u64], bits: u32, out: &mut [u8]) {
    assert_eq!(out.len(), bytes(codes.len(), bits), "bytes of VBP codes");
    let isa = counters::enter(Kernel::Vbp, Isa::detect());
    if let Some(last) = out.len().checked_sub(bits as usize * PLANE_BYTES) {
        out[last..].fill(0);
    }
    dispatch!(isa, pack(codes, bits, out), otherwise scalar::pack(codes, bits, out))
}

/// Tests the codes of `rows` against `low..=high`; bit `i` of `out` speaks of row `rows.start + i`,
/// which is a multiple of 64. `out` has exactly `rows.len().div_ceil(64)` words; bits beyond the rows
/// become zero. `high` may lie beyond the largest code.
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
    codes.check_rows(&rows, out);
    let planes = Planes::of(codes);
    let isa = counters::enter(Kernel::Vbp, isa);
    match CodeRange::of(low, high, codes.bits) {
        CodeRange::Nothing => match_all_or_none(op == RangeOp::Outside, rows.len(), combine, out),
        CodeRange::Everything => match_all_or_none(op == RangeOp::Inside, rows.len(), combine, out),
        range => {
            dispatch!(
                isa,
                between(planes, rows, range, op, combine, out),
                otherwise scalar::between(planes, rows, range, op, combine, out)
            )
        }
    }
}

set_test!(pub fn in_set, Kernel::Vbp);

/// Writes the codes of the selected rows densely from `out[0]` and returns their number. Panics if a
/// row lies beyond the column, `out` is too short or `C` narrower than the codes.
pub fn unpack<C: CodeWord>(isa: Isa, codes: Packed<'_>, selection: Selection<'_>, out: &mut [C]) -> usize {
    codes.check_words::<C>();
    let planes = Planes::of(codes);
    let isa = counters::enter(Kernel::Vbp, isa);
    dispatch!(isa, unpack(planes, selection, out), otherwise scalar::unpack(planes, selection, out))
}

/// Asks for the cache lines of the first codes at positions, for [`unpack`] to find them in cache a while later.
/// Positions beyond the codes are harmless.
pub fn prefetch(codes: Packed<'_>, positions: &[u16]) {
    let planes = Planes::of(codes);
    for &position in first_asked(positions) {
        let row = usize::from(position);
        if row >= planes.rows {
            continue;
        }
        let first = planes.register(row / 64);
        for j in 0..planes.bits {
            prefetch_read(first.wrapping_add(j * PLANE_BYTES));
        }
    }
}

/// One code. Panics if `row` lies beyond the column.
#[inline]
pub fn get(codes: Packed<'_>, row: usize) -> u64 {
    let planes = Planes::of(codes);
    assert!(row < codes.rows, "row beyond the column");
    planes.code(row)
}
