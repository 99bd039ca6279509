//! The scan all vector units share: 64 rows of a slice at a time → one word of match bits (ByteSlice,
//! algorithms 1 and 2, appendix B).
//!
//! The paper keeps, per vector, a mask of rows that are less than a bound and one of rows equal to it so
//! far, for each bound, and joins them at the end. Here the first mask is of rows *inside* the range if
//! nothing else comes: the first slice admits bytes from the low bound's to the high bound's, both
//! included, and later slices expel rows that were equal to a bound so far and now leave the range. So
//! the rows that are equal to a bound are always among those inside, two bounds cost a single
//! comparison more than one, and when nothing is undecided the mask is the answer.

use super::slices::{MOST, Slices};
use crate::packed::{CodeRange, cut_tail};
use crate::{Combine, RangeOp};
use std::ops::Range;

/// 64 bytes of a slice in vectors, with a truth value for each.
///
/// # Safety
/// All methods: the machine has the instruction set.
pub(super) trait Lanes: Copy {
    /// 64 truth values.
    type Mask: Copy;

    /// 64 bytes, which must be readable.
    unsafe fn load(from: *const u8) -> Self;
    /// A byte in every lane.
    unsafe fn splat(byte: u8) -> Self;
    /// `self - low <= span`, unsigned.
    unsafe fn inside(self, low: Self, span: Self) -> Self::Mask;
    /// `self == other`, of the lanes `within`.
    unsafe fn equal(self, other: Self, within: Self::Mask) -> Self::Mask;
    /// `self < other`, unsigned, of the lanes `within`.
    unsafe fn less(self, other: Self, within: Self::Mask) -> Self::Mask;
    /// Either.
    unsafe fn or(a: Self::Mask, b: Self::Mask) -> Self::Mask;
    /// The first without the second.
    unsafe fn without(a: Self::Mask, b: Self::Mask) -> Self::Mask;
    /// Condensed to one bit a lane.
    unsafe fn bits(mask: Self::Mask) -> u64;
}

/// The bytes of both bounds, slice by slice.
struct Bounds {
    low: [u8; MOST],
    high: [u8; MOST],
}

/// A form of range test, by the masks it keeps.
///
/// # Safety
/// All methods: the machine has the instruction set of `L`.
trait Test<L: Lanes> {
    /// Rows inside unless a later slice expels them, and rows equal to a bound so far.
    type State: Copy;

    /// After the first slice.
    unsafe fn first(bytes: L, bounds: &Bounds) -> Self::State;
    /// After slice `j`.
    unsafe fn next(state: Self::State, bytes: L, bounds: &Bounds, j: usize) -> Self::State;
    /// Rows inside.
    fn inside(state: Self::State) -> L::Mask;
    /// Rows that a later slice may expel; they are inside.
    unsafe fn undecided(state: Self::State) -> L::Mask;
}

struct Equal;

impl<L: Lanes> Test<L> for Equal {
    type State = L::Mask;

    #[inline(always)]
    unsafe fn first(bytes: L, bounds: &Bounds) -> L::Mask {
        // SAFETY: by contract.
        unsafe { bytes.inside(L::splat(bounds.low[0]), L::splat(0)) }
    }

    #[inline(always)]
    unsafe fn next(state: L::Mask, bytes: L, bounds: &Bounds, j: usize) -> L::Mask {
        // SAFETY: by contract.
        unsafe { bytes.equal(L::splat(bounds.low[j]), state) }
    }

    #[inline(always)]
    fn inside(state: L::Mask) -> L::Mask {
        state
    }

    #[inline(always)]
    unsafe fn undecided(state: L::Mask) -> L::Mask {
        state
    }
}

/// Rows inside, and rows equal to the bound.
type OneSided<M> = (M, M);

struct AtMost;

impl<L: Lanes> Test<L> for AtMost {
    type State = OneSided<L::Mask>;

    #[inline(always)]
    unsafe fn first(bytes: L, bounds: &Bounds) -> Self::State {
        // SAFETY: by contract.
        unsafe {
            let high = L::splat(bounds.high[0]);
            let inside = bytes.inside(L::splat(0), high);
            (inside, bytes.equal(high, inside))
        }
    }

    #[inline(always)]
    unsafe fn next((inside, equal): Self::State, bytes: L, bounds: &Bounds, j: usize) -> Self::State {
        // SAFETY: by contract.
        unsafe {
            let high = L::splat(bounds.high[j]);
            let expelled = high.less(bytes, equal);
            (L::without(inside, expelled), bytes.equal(high, equal))
        }
    }

    #[inline(always)]
    fn inside(state: Self::State) -> L::Mask {
        state.0
    }

    #[inline(always)]
    unsafe fn undecided(state: Self::State) -> L::Mask {
        state.1
    }
}

struct AtLeast;

impl<L: Lanes> Test<L> for AtLeast {
    type State = OneSided<L::Mask>;

    #[inline(always)]
    unsafe fn first(bytes: L, bounds: &Bounds) -> Self::State {
        // SAFETY: by contract.
        unsafe {
            let low = L::splat(bounds.low[0]);
            let inside = bytes.inside(low, L::splat(!bounds.low[0]));
            (inside, bytes.equal(low, inside))
        }
    }

    #[inline(always)]
    unsafe fn next((inside, equal): Self::State, bytes: L, bounds: &Bounds, j: usize) -> Self::State {
        // SAFETY: by contract.
        unsafe {
            let low = L::splat(bounds.low[j]);
            let expelled = bytes.less(low, equal);
            (L::without(inside, expelled), bytes.equal(low, equal))
        }
    }

    #[inline(always)]
    fn inside(state: Self::State) -> L::Mask {
        state.0
    }

    #[inline(always)]
    unsafe fn undecided(state: Self::State) -> L::Mask {
        state.1
    }
}

struct Between;

impl<L: Lanes> Test<L> for Between {
    /// Rows inside, rows equal to the low bound, rows equal to the high bound.
    type State = (L::Mask, L::Mask, L::Mask);

    #[inline(always)]
    unsafe fn first(bytes: L, bounds: &Bounds) -> Self::State {
        let (low, high) = (bounds.low[0], bounds.high[0]);
        // SAFETY: by contract.
        unsafe {
            let inside = bytes.inside(L::splat(low), L::splat(high - low));
            let at_low = bytes.equal(L::splat(low), inside);
            (inside, at_low, bytes.equal(L::splat(high), inside))
        }
    }

    #[inline(always)]
    unsafe fn next(
        (inside, at_low, at_high): Self::State,
        bytes: L,
        bounds: &Bounds,
        j: usize,
    ) -> Self::State {
        // SAFETY: by contract.
        unsafe {
            let (low, high) = (L::splat(bounds.low[j]), L::splat(bounds.high[j]));
            let expelled = L::or(bytes.less(low, at_low), high.less(bytes, at_high));
            (
                L::without(inside, expelled),
                bytes.equal(low, at_low),
                bytes.equal(high, at_high),
            )
        }
    }

    #[inline(always)]
    fn inside(state: Self::State) -> L::Mask {
        state.0
    }

    #[inline(always)]
    unsafe fn undecided(state: Self::State) -> L::Mask {
        // SAFETY: by contract.
        unsafe { L::or(state.1, state.2) }
    }
}

/// See [`super::between`].
///
/// # Safety
/// The machine has the instruction set of `L`; the rows lie within the codes and begin at a whole word.
#[inline(always)]
pub(super) unsafe fn scan<L: Lanes>(
    codes: Slices<'_>,
    rows: Range<usize>,
    range: CodeRange,
    op: RangeOp,
    combine: Combine,
    out: &mut [u64],
) {
    // SAFETY: by contract.
    unsafe {
        match range {
            CodeRange::Nothing | CodeRange::Everything => unreachable!("known without the codes"),
            CodeRange::Equal(code) => combined::<L, Equal>(codes, rows, (code, code), op, combine, out),
            CodeRange::AtMost(high) => combined::<L, AtMost>(codes, rows, (0, high), op, combine, out),
            CodeRange::AtLeast(low) => combined::<L, AtLeast>(codes, rows, (low, 0), op, combine, out),
            CodeRange::Between(low, high) => {
                combined::<L, Between>(codes, rows, (low, high), op, combine, out)
            }
        }
    }
}

/// One loop for each way to combine, so that the choice is not made per word.
///
/// # Safety
/// As [`scan`].
#[inline(always)]
unsafe fn combined<L: Lanes, T: Test<L>>(
    codes: Slices<'_>,
    rows: Range<usize>,
    bounds: (u64, u64),
    op: RangeOp,
    combine: Combine,
    out: &mut [u64],
) {
    let bounds = Bounds {
        low: codes.bytes_of(bounds.0),
        high: codes.bytes_of(bounds.1),
    };
    let start = rows.start;
    let flip = op.flip();
    // SAFETY: by contract.
    unsafe {
        match combine {
            Combine::Replace => run::<L, T>(codes, start, &bounds, |_| !0, |_, inside| inside ^ flip, out),
            Combine::And => run::<L, T>(
                codes,
                start,
                &bounds,
                |old| old,
                |old, inside| old & (inside ^ flip),
                out,
            ),
            Combine::Or => run::<L, T>(
                codes,
                start,
                &bounds,
                |old| !old,
                |old, inside| old | (inside ^ flip),
                out,
            ),
        }
    }
    cut_tail(rows.len(), out);
}

/// `open` yields the rows whose old bit a test can change: the others are as good as decided.
///
/// # Safety
/// As [`scan`].
#[inline(always)]
unsafe fn run<L: Lanes, T: Test<L>>(
    codes: Slices<'_>,
    start: usize,
    bounds: &Bounds,
    open: impl Fn(u64) -> u64,
    combine: impl Fn(u64, u64) -> u64,
    out: &mut [u64],
) {
    for (i, word) in out.iter_mut().enumerate() {
        let open = open(*word);
        if open == 0 {
            continue;
        }
        let from = codes.at(start + i * 64);
        // SAFETY: slices are readable in whole vectors; the rest by contract.
        unsafe {
            let mut state = T::first(L::load(from), bounds);
            for j in 1..codes.count {
                if L::bits(T::undecided(state)) & open == 0 {
                    break;
                }
                state = T::next(state, L::load(from.add(j * codes.stride)), bounds, j);
            }
            *word = combine(*word, L::bits(T::inside(state)));
        }
    }
}
