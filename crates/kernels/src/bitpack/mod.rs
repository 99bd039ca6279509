//! Bit-packed codes, in an order that suits vectors (ByteSlice, section 2.1).
//!
//! A group of 512 rows of codes of k bits is exactly k vectors of 64 bytes, whatever k: no bit is lost. How the codes
//! lie in it is chosen by what limits them; the bytes are the same on every instruction set, and 256-bit units read a
//! vector as two halves.
//!
//! ```text
//! bits of a code   order in a group                                     decided by
//!         1 to 3   64 lanes of 8 bits, eight consecutive rows in each   tests: bit v of a match byte is that of code v
//!         4 to 7   dealt to 64 lanes of 8 bits, row by row              tests, unpacking: one shift and no shuffle
//!        9 to 15   dealt to 32 lanes of 16 bits, row by row             tests, unpacking: one shift and no shuffle
//!       17 to 31   one behind the other                                 positions: one load fetches any code
//!       33 to 63   dealt to 8 lanes of 64 bits, row by row              tests and unpacking
//!  8, 16, 32, 64   words of the machine                                 both
//! ```
//!
//! Lanes (after Lemire and Boytsov's SIMD-BP128 and FastLanes) are bit strings of their own, with a word in each of
//! the k vectors: code number v of every lane begins at bit v·k, so one shift, known at compile time, brings as many
//! codes to where they can be compared as there are lanes. Where the codes of a row of lanes are those of consecutive
//! rows, the compare's mask is the answer; taking the mask of 32 bytes out of a vector takes two cycles on the
//! machines we know, though, twice as long as testing the narrowest codes, so those are dealt the other way around: a
//! byte of the answer is made in the lane its codes lie in, by tables, for some shuffles when they are unpacked.
//!
//! A code that crosses from one word of its lane to the next lies in two lines of the cache. Wide codes do so more
//! often than not, and fetching them at positions out of cache took twice as long as fetching words. So they are
//! packed code after code, as those of the ByteSlice paper's bit-packed rival: a load of 8 bytes has all of any code,
//! and a scan shuffles bytes into lanes before it shifts and compares, which costs a third more in cache and nothing
//! out of it.

#[cfg(target_arch = "x86_64")]
mod avx2;
#[cfg(target_arch = "x86_64")]
mod avx512;
#[cfg(target_arch = "x86_64")]
mod groups;
#[cfg(target_arch = "x86_64")]
mod instantiate;
mod place;
#[cfg(target_arch = "x86_64")]
mod rows;
mod scalar;
#[cfg(target_arch = "x86_64")]
mod sparse;
#[cfg(target_arch = "x86_64")]
mod tables;
#[cfg(target_arch = "x86_64")]
mod wide;

use crate::isa::dispatch;
use crate::packed::{cut_tail, match_all_or_none, set_test};
use crate::prefetch::{first_asked, prefetch_read};
use crate::unpack::Reference;
use crate::{CodeWord, Combine, Isa, Kernel, Packed, RangeOp, Selection, counters};
use place::{GROUP, group_bytes, in_a_row, lane_bits, place};
use std::ops::Range;

/// Rows of a frame of reference (Integer Compression, section 3.2), of which groups have whole ones.
pub const FRAME: usize = 128;

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
            otherwise scalar::between(codes, rows, op, span, combine, out),
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
    if let Selection::Positions(&[row]) = selection {
        // On the way through the unit's functions to one code more time is spent than on the code.
        out[0] = C::from_u64(get(codes, row.into()));
        return 1;
    }
    dispatch!(
        isa,
        unpack(codes, selection, out),
        otherwise scalar::unpack(codes, selection, out),
    )
}

/// Writes codes of up to 16 bits as values of 32 bits, each added to the reference of its row's frame, modulo 2^32.
/// `references` has one for each [`FRAME`] rows from row 0 on, `out` room for each of `rows`.
///
/// Codes are widened while they are in registers: unpacking them to words of their own and adding references to these
/// takes up to a half longer.
pub fn unpack_frames<T: Reference>(
    isa: Isa,
    codes: Packed<'_>,
    rows: Range<usize>,
    references: &[T],
    out: &mut [T],
) {
    check(codes);
    assert!(codes.bits <= 16, "codes of up to 16 bits");
    assert!(
        rows.start <= rows.end && rows.end <= codes.rows,
        "rows beyond the codes"
    );
    assert!(
        references.len() >= rows.end.div_ceil(FRAME),
        "a reference for each frame"
    );
    assert_eq!(out.len(), rows.len(), "room for each row");
    assert_eq!(size_of::<T>(), size_of::<u32>(), "values of 32 bits");
    // SAFETY: plain values of 32 bits, of which every pattern of bits is one; they are as aligned as words are.
    let (references, out) = unsafe {
        (
            std::slice::from_raw_parts(references.as_ptr().cast::<u32>(), references.len()),
            std::slice::from_raw_parts_mut(out.as_mut_ptr().cast::<u32>(), out.len()),
        )
    };
    let isa = counters::enter(Kernel::BitPacked, isa);
    dispatch!(
        isa,
        unpack_frames(codes, rows, references, out),
        otherwise scalar::unpack_frames(codes, rows, references, out),
    )
}

/// Asks for the cache lines of the first codes at positions, for [`unpack`] to find them in cache a while later.
/// Positions beyond the codes are harmless.
pub fn prefetch(codes: Packed<'_>, positions: &[u16]) {
    let Packed { bytes, bits, .. } = codes;
    assert!((1..=64).contains(&bits), "codes of 1 to 64 bits");
    for &position in first_asked(positions) {
        if in_a_row(bits) {
            prefetch_read(
                bytes
                    .as_ptr()
                    .wrapping_add(usize::from(position) * bits as usize / 8),
            );
            continue;
        }
        let place = place(lane_bits(bits), bits, position.into());
        prefetch_read(bytes.as_ptr().wrapping_add(place.low as usize));
        prefetch_read(bytes.as_ptr().wrapping_add(place.high as usize));
    }
}

/// The code of one row. Panics if there is no such row.
#[inline(always)]
pub fn get(codes: Packed<'_>, row: usize) -> u64 {
    assert!(row < codes.rows, "row beyond the codes");
    scalar::get(codes, row)
}

#[inline]
fn check(codes: Packed<'_>) {
    assert!((1..=64).contains(&codes.bits), "codes of 1 to 64 bits");
    assert!(
        codes.bytes.len() >= bytes(codes.rows, codes.bits),
        "bytes of bit-packed codes"
    );
}
