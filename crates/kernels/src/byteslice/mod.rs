//! ByteSlice: the bytes of a code lie apart, slice by slice (Feng, Lo, Kao, Xu: ByteSlice, SIGMOD
//! 2015).
//!
//! ```text
//! code of 11 bits   a a a a a a a a b b b          slice 0   aaaaaaaa aaaaaaaa aaaaaaaa …  row by row
//!                   └─ slice 0 ───┘ └ slice 1      slice 1   bbb00000 bbb00000 bbb00000 …
//! ```
//!
//! A slice is contiguous and has one byte a row, rounded up to whole vectors of 64 rows; the most
//! significant slice comes first. A range test compares 64 rows a vector, a slice at a time, and stops
//! when no row of the vector is undecided: on spread-out codes mostly after the first slice, whatever
//! their width. Getting one code costs a load a slice.
//!
//! **Padding.** Codes are shifted to the left so that the zero bits lie at the end of the last slice
//! (section 3): the first slice then carries eight bits of the code and decides most rows. With the
//! padding in front a code of 9 bits would have one bit there. Only codes of a single slice stand as
//! they are, because shifting them decides nothing: their slice is a byte-packed column, and the
//! kernels of byte-packed columns serve it.

#[cfg(target_arch = "x86_64")]
pub(crate) mod avx2;
#[cfg(target_arch = "x86_64")]
pub(crate) mod avx512;
mod bounds;
pub mod early_stop;
pub(crate) mod gather;
#[cfg(target_arch = "x86_64")]
mod lookahead;
mod scalar;
#[cfg(target_arch = "x86_64")]
mod scan;
mod slices;
pub mod slicing;
#[cfg(target_arch = "x86_64")]
mod widen;

use crate::isa::dispatch;
use crate::packed::{CodeRange, match_all_or_none, set_test};
use crate::prefetch::{first_asked, prefetch_read};
use crate::{
    CodeWord, Combine, Isa, Kernel, Packed, RangeOp, Selection, compare, counters, unpack as byte_packed,
};
use slices::{Slices, slices, stride};
use std::ops::Range;

/// Size of `rows` codes of `bits` bits, a multiple of 64.
pub fn bytes(rows: usize, bits: u32) -> usize {
    slices(bits) * stride(rows)
}

/// Writes codes of `bits` bits, 1 to 64, into `out`, which has exactly [`bytes`] for them. Rows of
/// padding are zero.
pub fn pack(codes: &[u64], bits: u32, out: &mut [u8]) {
    assert_eq!(out.len(), bytes(codes.len(), bits), "bytes of ByteSlice codes");
    let isa = counters::enter(Kernel::ByteSlice, Isa::detect());
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
    let slices = Slices::of(codes);
    let isa = counters::enter(Kernel::ByteSlice, isa);
    match CodeRange::of(low, high, codes.bits) {
        CodeRange::Nothing => match_all_or_none(op == RangeOp::Outside, rows.len(), combine, out),
        CodeRange::Everything => match_all_or_none(op == RangeOp::Inside, rows.len(), combine, out),
        _ if slices.count == 1 => {
            let high = high.min(codes.top());
            compare::between(isa, &codes.bytes[rows], op, low as u8, high as u8, combine, out);
        }
        range => {
            // SAFETY: the rows were checked.
            let code = |row| unsafe { slices.code(row) };
            dispatch!(
                isa,
                between(slices, rows, range, op, combine, out),
                otherwise scalar::between(code, rows, (low, high), op, combine, out),
            )
        }
    }
}

/// Tests the codes of `rows` for membership in `set`, a bitmap by code; codes beyond it are not in it.
/// `rows` and `out` as in [`between`].
pub fn in_set(
    isa: Isa,
    codes: Packed<'_>,
    rows: Range<usize>,
    set: &[u64],
    combine: Combine,
    out: &mut [u64],
) {
    codes.check_rows(&rows, out);
    let isa = counters::enter(Kernel::ByteSlice, isa);
    match slices(codes.bits) {
        1 => compare::in_set(isa, &codes.bytes[rows], set, combine, out),
        _ => in_set_of_slices(isa, codes, rows, set, combine, out),
    }
}

set_test!(fn in_set_of_slices, Kernel::ByteSlice);

/// Writes the codes of the selected rows densely from `out[0]` and returns their number. Panics if a
/// row lies beyond the column, `out` is too short or `C` narrower than the codes.
pub fn unpack<C: CodeWord>(isa: Isa, codes: Packed<'_>, selection: Selection<'_>, out: &mut [C]) -> usize {
    codes.check_words::<C>();
    let slices = Slices::of(codes);
    let isa = counters::enter(Kernel::ByteSlice, isa);
    if slices.count == 1
        && let Some(out) = C::as_bytes(out)
    {
        return byte_packed::copy_values(isa, &codes.bytes[..codes.rows], selection, out);
    }
    dispatch!(isa, unpack(slices, selection, out), otherwise scalar::unpack(slices, selection, out))
}

/// Asks for the cache lines of the first codes at positions, for [`unpack`] to find them in cache a while later.
/// Positions beyond the codes are harmless.
pub fn prefetch(codes: Packed<'_>, positions: &[u16]) {
    let slices = Slices::of(codes);
    for &position in first_asked(positions) {
        for j in 0..slices.count {
            prefetch_read(slices.at(j * slices.stride + usize::from(position)));
        }
    }
}

/// One code. Panics if `row` lies beyond the column.
#[inline]
pub fn get(codes: Packed<'_>, row: usize) -> u64 {
    let slices = Slices::of(codes);
    assert!(row < codes.rows, "row beyond the column");
    // SAFETY: just checked.
    unsafe { slices.code(row) }
}
