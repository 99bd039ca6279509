//! Horizontally bit-parallel codes (ByteSlice, section 2.3, after Li and Patel's BitWeaving/H).
//!
//! A 64-bit word holds as many codes as fit, each in a field of k + 1 bits whose top bit, the delimiter,
//! is zero. One addition or subtraction then works on all fields of a word, and the delimiters catch the
//! carries: they are the match bits. The rows of a segment are dealt to the fields of its k + 1 words
//! column-first. For k = 3, words of four bits a field, a segment is sixteen fields × four words:
//!
//! ```text
//! word 0: rows 0 4  8 12 …    a delimiter stands every 4 bits, at bit 3 of the field:
//! word 1: rows 1 5  9 13 …    word w's, shifted right by 3 − w, are the match bits of rows
//! word 2: rows 2 6 10 14 …    w, w + 4, w + 8, … at their places, so the segment's match bits
//! word 3: rows 3 7 11 15 …    are the four results, shifted and ORed
//! ```
//!
//! A segment has (k + 1)·⌊64 / (k + 1)⌋ rows, between 44 and 64. Eight segments, interleaved word by
//! word, are a group, so that lanes of a vector work on segments of their own. From 32 bits on a word
//! holds one code; such codes are stored as they are and compared as words.

/// Instantiates the loops for one instruction set: `$features` of its range tests, `$features_of_rows` of
/// packing and unpacking.
#[cfg(target_arch = "x86_64")]
macro_rules! instantiate {
    ($unit:ty, $isa:expr, $features:literal, $features_of_rows:literal) => {
        /// See [`super::between`].
        #[target_feature(enable = $features)]
        pub fn between(
            codes: Packed<'_>,
            rows: Range<usize>,
            op: RangeOp,
            (low, span): (u64, u64),
            combine: Combine,
            out: &mut [u64],
        ) {
            if codes.bits < 32 {
                // SAFETY: this function has the features.
                return unsafe { matches::between::<$unit>(codes, rows, op, (low, span), combine, out) };
            }
            // SAFETY: this function has the features.
            let inside = |words: &[u64; 64]| unsafe {
                u64::inside::<{ crate::compare::words::INSIDE }>(words, low, span)
            };
            matches::between_words(codes, rows, op, combine, out, inside)
        }

        /// See [`super::unpack`].
        #[target_feature(enable = $features_of_rows)]
        pub fn unpack<C: CodeWord>(codes: Packed<'_>, selection: Selection<'_>, out: &mut [C]) -> usize {
            // SAFETY: the caller has checked the bytes.
            unsafe { rows::unpack($isa, codes, selection, out) }
        }

        /// See [`super::pack`].
        #[target_feature(enable = $features_of_rows)]
        pub fn pack(codes: &[u64], bits: u32, out: &mut [u8]) {
            rows::pack(codes, bits, out)
        }
    };
}
#[cfg(target_arch = "x86_64")]
use instantiate;

#[cfg(target_arch = "x86_64")]
mod avx2;
#[cfg(target_arch = "x86_64")]
mod avx512;
mod fields;
#[cfg(target_arch = "x86_64")]
mod matches;
#[cfg(target_arch = "x86_64")]
mod rows;
mod scalar;

use crate::isa::dispatch;
use crate::packed::{cut_tail, match_all_or_none, set_test};
use crate::prefetch::{first_asked, prefetch_read};
use crate::{CodeWord, Combine, Isa, Kernel, Packed, RangeOp, Selection, counters};
use fields::Fields;
use std::ops::Range;

/// Bytes of `rows` codes of `bits` bits: whole groups of at most 512 rows.
pub fn bytes(rows: usize, bits: u32) -> usize {
    let fields = Fields::of(bits);
    rows.div_ceil(fields.group()) * fields.group_bytes()
}

/// Writes codes of `bits` bits; rows beyond them in the last group are code 0. `out` has exactly
/// [`bytes`] bytes.
pub fn pack(codes: &[u64], bits: u32, out: &mut [u8]) {
    assert_eq!(
        out.len(),
        bytes(codes.len(), bits),
        "bytes of horizontally packed codes"
    );
    let isa = counters::enter(Kernel::Hbp, Isa::detect());
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
    let isa = counters::enter(Kernel::Hbp, isa);
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

set_test!(pub fn in_set, Kernel::Hbp);

/// Writes the codes of the selected rows densely and returns their number; `C` must hold `bits` bits.
pub fn unpack<C: CodeWord>(isa: Isa, codes: Packed<'_>, selection: Selection<'_>, out: &mut [C]) -> usize {
    check(codes);
    codes.check_words::<C>();
    let isa = counters::enter(Kernel::Hbp, isa);
    dispatch!(isa, unpack(codes, selection, out), otherwise scalar::unpack(codes, selection, out))
}

/// Asks for the cache lines of the first codes at positions, for [`unpack`] to find them in cache a while later.
/// Positions beyond the codes are harmless.
pub fn prefetch(codes: Packed<'_>, positions: &[u16]) {
    let fields = Fields::of(codes.bits);
    for &position in first_asked(positions) {
        let (byte, _) = fields.place(usize::from(position));
        prefetch_read(codes.bytes.as_ptr().wrapping_add(byte));
    }
}

/// The code of one row.
#[inline]
pub fn get(codes: Packed<'_>, row: usize) -> u64 {
    assert!(row < codes.rows, "row beyond the codes");
    scalar::get(codes, row)
}

fn check(codes: Packed<'_>) {
    assert!((1..=64).contains(&codes.bits), "codes of 1 to 64 bits");
    assert!(
        codes.bytes.len() >= bytes(codes.rows, codes.bits),
        "bytes of horizontally packed codes"
    );
}
