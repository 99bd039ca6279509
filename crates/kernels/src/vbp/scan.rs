//! The scan all registers share: planes of as many rows as a register has bits → words of match bits
//! (ByteSlice, section 2.2).
//!
//! Where both bounds have the same bits in front, a row inside has them too: one operation a plane.
//! From the first plane on in which they differ, a row equal to the low bound so far is expelled by a
//! zero where that bound has a one, and a row equal to the high bound by a one where that has a zero.
//! Every fourth plane the rows that are still equal to a bound are looked at, and if there is none whose
//! match bit is open, the rest of the planes is skipped.

use super::bounds::Bounds;
use super::planes::{PLANE_BYTES, Planes, SEGMENT_ROWS};
use crate::packed::{CodeRange, cut_tail};
use crate::{Combine, RangeOp};
use std::ops::Range;

/// Planes between two looks whether the rest may be skipped: the paper's τ.
const PLANES_A_LOOK: usize = 4;
/// Words of match bits of the widest register.
const MOST_WORDS: usize = SEGMENT_ROWS / 64;

/// A register of bits.
///
/// # Safety
/// All methods: the machine has the instruction set.
pub(super) trait Register: Copy {
    /// Its 64-bit words.
    const WORDS: usize;

    /// As many bytes as a register has, which must be readable.
    unsafe fn load(from: *const u8) -> Self;
    /// The same, written.
    unsafe fn store(self, to: *mut u64);
    /// A word everywhere.
    unsafe fn splat(word: u64) -> Self;
    /// `self & other`.
    unsafe fn and(self, other: Self) -> Self;
    /// `self | other`.
    unsafe fn or(self, other: Self) -> Self;
    /// `self & !other`.
    unsafe fn without(self, other: Self) -> Self;
    /// `self & a & !b`.
    unsafe fn and_without(self, a: Self, b: Self) -> Self;
    /// `self & !(a ^ b)`: where both are the same.
    unsafe fn where_same(self, a: Self, b: Self) -> Self;
    /// Whether no bit is set.
    unsafe fn is_zero(self) -> bool;
}

/// See [`super::between`].
///
/// # Safety
/// The machine has the instruction set of `R`; the rows lie within the codes and begin at a whole word.
#[inline(always)]
pub(super) unsafe fn scan<R: Register>(
    codes: Planes<'_>,
    rows: Range<usize>,
    range: CodeRange,
    op: RangeOp,
    combine: Combine,
    out: &mut [u64],
) {
    let bounds = Bounds::of(range, codes.bits);
    let first = rows.start / 64;
    // SAFETY: by contract.
    unsafe {
        match (bounds.has_low, bounds.has_high) {
            (false, false) => run::<R, false, false>(codes, first, &bounds, op, combine, out),
            (false, true) => run::<R, false, true>(codes, first, &bounds, op, combine, out),
            (true, false) => run::<R, true, false>(codes, first, &bounds, op, combine, out),
            (true, true) => run::<R, true, true>(codes, first, &bounds, op, combine, out),
        }
    }
    cut_tail(rows.len(), out);
}

/// `first` is the word of the first row.
///
/// # Safety
/// As [`scan`].
#[inline(always)]
unsafe fn run<R: Register, const LOW: bool, const HIGH: bool>(
    codes: Planes<'_>,
    first: usize,
    bounds: &Bounds,
    op: RangeOp,
    combine: Combine,
    out: &mut [u64],
) {
    let (mut word, mut rest) = (first, out);
    while !rest.is_empty() {
        // A register begins at a multiple of its words: the first and the last may stand out.
        let skipped = word % R::WORDS;
        let (words, behind) = rest.split_at_mut(rest.len().min(R::WORDS - skipped));
        let from = codes.register(word - skipped);
        // SAFETY: by contract; registers do not cross segments.
        unsafe {
            if words.len() == R::WORDS {
                register::<R, LOW, HIGH>(from, bounds, op, combine, words.as_mut_ptr(), !0);
            } else {
                let mut old = [0; MOST_WORDS];
                // Words that nobody asks for are as good as decided.
                old[skipped..][..words.len()].copy_from_slice(words);
                let asked = !(!0 << words.len()) << skipped;
                register::<R, LOW, HIGH>(from, bounds, op, combine, old.as_mut_ptr(), asked);
                words.copy_from_slice(&old[skipped..][..words.len()]);
            }
        }
        word += words.len();
        rest = behind;
    }
}

/// Tests the rows of a register; `asked` has a bit for each of its words that are of interest.
///
/// # Safety
/// The machine has the instruction set of `R`, and `words` has those of a register.
#[inline(always)]
unsafe fn register<R: Register, const LOW: bool, const HIGH: bool>(
    from: *const u8,
    bounds: &Bounds,
    op: RangeOp,
    combine: Combine,
    words: *mut u64,
    asked: u32,
) {
    // SAFETY: by contract.
    unsafe {
        let ones = R::splat(!0);
        let old = R::load(words.cast());
        let mut open = match combine {
            Combine::Replace => ones,
            Combine::And => old,
            Combine::Or => ones.without(old),
        };
        if asked != !0 {
            let asked: [u64; MOST_WORDS] =
                std::array::from_fn(|i| 0u64.wrapping_sub((asked >> i & 1).into()));
            open = open.and(R::load(asked.as_ptr().cast()));
        }
        if open.is_zero() {
            return;
        }
        let inside = matches::<R, LOW, HIGH>(from, bounds, open);
        let fresh = match op {
            RangeOp::Inside => inside,
            RangeOp::Outside => ones.without(inside),
        };
        let new = match combine {
            Combine::Replace => fresh,
            Combine::And => old.and(fresh),
            Combine::Or => old.or(fresh),
        };
        new.store(words);
    }
}

/// The rows inside among those of a register; what it says of rows outside `open` is anything.
///
/// # Safety
/// As [`register`].
#[inline(always)]
unsafe fn matches<R: Register, const LOW: bool, const HIGH: bool>(
    from: *const u8,
    bounds: &Bounds,
    open: R,
) -> R {
    // SAFETY: by contract.
    unsafe {
        let plane = |j: usize| R::load(from.add(j * PLANE_BYTES));
        let mut equal = open;
        for j in 0..bounds.prefix {
            equal = equal.where_same(plane(j), R::splat(bounds.low[j]));
            if j % PLANES_A_LOOK == PLANES_A_LOOK - 1 && equal.is_zero() {
                return equal;
            }
        }
        let (mut inside, mut at_low, mut at_high) = (equal, equal, equal);
        for j in bounds.prefix..bounds.count {
            let plane = plane(j);
            let mut undecided = R::splat(0);
            if LOW {
                let low = R::splat(bounds.low[j]);
                inside = inside.without(at_low.and_without(low, plane));
                at_low = at_low.where_same(plane, low);
                undecided = undecided.or(at_low);
            }
            if HIGH {
                let high = R::splat(bounds.high[j]);
                inside = inside.without(at_high.and_without(plane, high));
                at_high = at_high.where_same(plane, high);
                undecided = undecided.or(at_high);
            }
            if j % PLANES_A_LOOK == PLANES_A_LOOK - 1 && undecided.is_zero() {
                break;
            }
        }
        inside
    }
}
