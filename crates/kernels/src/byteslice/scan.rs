//! The scan all vector units share: 64 rows of a slice at a time → one word of match bits (ByteSlice,
//! algorithms 1 and 2, appendix B).
//!
//! The paper keeps, per vector, a mask of rows that are less than a bound and one of rows equal to it so
//! far, for each bound, and joins them at the end. Here the first mask is of rows *inside* the range if
//! nothing else comes: the first slice admits bytes from the low bound's to the high bound's, both
//! included, and later slices expel rows that were equal to a bound so far and now leave the range. So
//! the rows that are equal to a bound are always among those inside, two bounds cost a single
//! comparison more than one, and when nothing is undecided the mask is the answer.
//!
//! Slices that cannot decide anything are left out: where both bounds have the same bytes in front, a
//! row inside has them too, which takes one comparison a slice; and slices where the low bound has only
//! zeros left and the high bound only ones are not read at all.

use super::bounds::Bounds;
use super::lookahead::{Lookahead, SURE, Stops, ask};
use super::slices::{MOST, Slices};
use crate::packed::{CodeRange, cut_tail};
use crate::vbp::planes::{PLANE_BYTES, Planes};
use crate::{Combine, RangeOp};
use std::ops::Range;

/// 64 rows of a slice in vectors, with a truth value for each.
///
/// # Safety
/// All methods: the machine has the instruction set.
pub(super) trait Lanes: Copy {
    /// 64 truth values.
    type Mask: Copy;

    /// Bytes of a lane: 1, or 2 where slices are pairs of bytes.
    const BYTES: usize;

    /// 64 lanes, which must be readable.
    unsafe fn load(from: *const u8) -> Self;
    /// What a bound has in slice `j`, in every lane.
    unsafe fn splat(bound: &[u8; MOST], j: usize) -> Self;
    /// `low <= self && self <= high`, unsigned, where `low <= high`.
    unsafe fn inside(self, low: Self, high: Self) -> Self::Mask;
    /// `self == other`, of the lanes `within`.
    unsafe fn equal(self, other: Self, within: Self::Mask) -> Self::Mask;
    /// `self < other`, unsigned, of the lanes `within`.
    unsafe fn less(self, other: Self, within: Self::Mask) -> Self::Mask;
    /// Both.
    unsafe fn and(a: Self::Mask, b: Self::Mask) -> Self::Mask;
    /// Either.
    unsafe fn or(a: Self::Mask, b: Self::Mask) -> Self::Mask;
    /// The first without the second.
    unsafe fn without(a: Self::Mask, b: Self::Mask) -> Self::Mask;
    /// Condensed to one bit a lane.
    unsafe fn bits(mask: Self::Mask) -> u64;
    /// Whether one of the lanes whose bits are in `of` is true.
    #[inline(always)]
    unsafe fn any(mask: Self::Mask, of: u64) -> bool {
        // SAFETY: by contract.
        unsafe { Self::bits(mask) & of != 0 }
    }
}

/// What the bounds have in a slice, in every lane.
type Splats<L> = (L, L);

/// Those of slice `j`.
///
/// # Safety
/// The machine has the instruction set of `L`.
#[inline(always)]
unsafe fn splats<L: Lanes>(bounds: &Bounds, j: usize) -> Splats<L> {
    // SAFETY: by contract.
    unsafe { (L::splat(&bounds.low, j), L::splat(&bounds.high, j)) }
}

/// A form of range test, by the masks it keeps.
///
/// # Safety
/// All methods: the machine has the instruction set of `L`.
trait Test<L: Lanes> {
    /// Rows inside unless a later slice expels them, and rows equal to a bound so far.
    type State: Copy;
    /// Whether the bounds have bytes in common.
    const PREFIXED: bool = false;

    /// After a slice, in which the bounds are the first time different.
    unsafe fn first(bytes: L, bounds: Splats<L>) -> Self::State;
    /// Only of these rows.
    unsafe fn within(state: Self::State, rows: L::Mask) -> Self::State;
    /// After another slice.
    unsafe fn next(state: Self::State, bytes: L, bounds: Splats<L>) -> Self::State;
    /// Rows inside.
    fn inside(state: Self::State) -> L::Mask;
    /// Rows that a later slice may expel; they are inside.
    unsafe fn undecided(state: Self::State) -> L::Mask;
}

struct Equal;

impl<L: Lanes> Test<L> for Equal {
    type State = L::Mask;

    #[inline(always)]
    unsafe fn first(bytes: L, (low, _): Splats<L>) -> L::Mask {
        // SAFETY: by contract.
        unsafe { bytes.inside(low, low) }
    }

    #[inline(always)]
    unsafe fn within(state: L::Mask, rows: L::Mask) -> L::Mask {
        // SAFETY: by contract.
        unsafe { L::and(state, rows) }
    }

    #[inline(always)]
    unsafe fn next(state: L::Mask, bytes: L, (low, _): Splats<L>) -> L::Mask {
        // SAFETY: by contract.
        unsafe { bytes.equal(low, state) }
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
    unsafe fn first(bytes: L, (low, high): Splats<L>) -> Self::State {
        // SAFETY: by contract.
        unsafe {
            let inside = bytes.inside(low, high);
            (inside, bytes.equal(high, inside))
        }
    }

    #[inline(always)]
    unsafe fn within((inside, equal): Self::State, rows: L::Mask) -> Self::State {
        // SAFETY: by contract.
        unsafe { (L::and(inside, rows), L::and(equal, rows)) }
    }

    #[inline(always)]
    unsafe fn next((inside, equal): Self::State, bytes: L, (_, high): Splats<L>) -> Self::State {
        // SAFETY: by contract.
        unsafe {
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
    unsafe fn first(bytes: L, (low, high): Splats<L>) -> Self::State {
        // SAFETY: by contract.
        unsafe {
            let inside = bytes.inside(low, high);
            (inside, bytes.equal(low, inside))
        }
    }

    #[inline(always)]
    unsafe fn within((inside, equal): Self::State, rows: L::Mask) -> Self::State {
        // SAFETY: by contract.
        unsafe { (L::and(inside, rows), L::and(equal, rows)) }
    }

    #[inline(always)]
    unsafe fn next((inside, equal): Self::State, bytes: L, (low, _): Splats<L>) -> Self::State {
        // SAFETY: by contract.
        unsafe {
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

/// `PREFIXED`: the bounds have bytes in common.
struct Between<const PREFIXED: bool>;

impl<L: Lanes, const PREFIXED: bool> Test<L> for Between<PREFIXED> {
    /// Rows inside, rows equal to the low bound, rows equal to the high bound.
    type State = (L::Mask, L::Mask, L::Mask);
    const PREFIXED: bool = PREFIXED;

    #[inline(always)]
    unsafe fn first(bytes: L, (low, high): Splats<L>) -> Self::State {
        // SAFETY: by contract.
        unsafe {
            let inside = bytes.inside(low, high);
            (inside, bytes.equal(low, inside), bytes.equal(high, inside))
        }
    }

    #[inline(always)]
    unsafe fn within((inside, at_low, at_high): Self::State, rows: L::Mask) -> Self::State {
        // SAFETY: by contract.
        unsafe { (L::and(inside, rows), L::and(at_low, rows), L::and(at_high, rows)) }
    }

    #[inline(always)]
    unsafe fn next((inside, at_low, at_high): Self::State, bytes: L, (low, high): Splats<L>) -> Self::State {
        // SAFETY: by contract.
        unsafe {
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

/// See [`super::between`]; without `STOPS` every slice that decides anything is read of all rows.
///
/// # Safety
/// The machine has the instruction set of `L`; the rows lie within the codes and begin at a whole word.
#[inline(always)]
pub(super) unsafe fn scan<L: Lanes, const STOPS: bool>(
    codes: Slices<'_>,
    rows: Range<usize>,
    range: CodeRange,
    op: RangeOp,
    combine: Combine,
    out: &mut [u64],
) {
    let bounds = Bounds::of(&codes, range);
    macro_rules! scan {
        ($test:ty, $bounds:expr) => {{
            let inside = |_, _, state: Option<<$test as Test<L>>::State>| match state {
                // SAFETY: by contract.
                Some(state) => unsafe { L::bits(<$test as Test<L>>::inside(state)) },
                None => 0,
            };
            // SAFETY: by contract.
            unsafe { combined::<L, $test, STOPS>(codes, rows.start, $bounds, op, combine, inside, out) }
        }};
    }
    match range {
        CodeRange::Equal(_) => scan!(Equal, &bounds),
        CodeRange::AtMost(_) => scan!(AtMost, &bounds),
        CodeRange::AtLeast(_) => scan!(AtLeast, &bounds),
        _ if bounds.prefix == 0 => scan!(Between<false>, &bounds),
        _ if bounds.prefix < bounds.count => scan!(Between<true>, &bounds),
        // All codes with the bytes in front that the bounds have in common.
        _ => scan!(Equal, &Bounds { prefix: 0, ..bounds }),
    }
    cut_tail(rows.len(), out);
}

/// [`scan`] of codes whose last bits, fewer than a slice, stand in planes behind the slices.
///
/// # Safety
/// As [`scan`]; the planes have the same rows.
#[inline(always)]
pub(super) unsafe fn scan_with_tail<L: Lanes>(
    codes: Slices<'_>,
    tail: Planes<'_>,
    rows: Range<usize>,
    (low, high): (u64, u64),
    op: RangeOp,
    combine: Combine,
    out: &mut [u64],
) {
    let bounds = Bounds::whole(&codes, low >> tail.bits, high >> tail.bits);
    let start = rows.start;
    let bits = tail.bits;
    let planes_of =
        |bound: u64| -> [u64; 8] { std::array::from_fn(|j| 0u64.wrapping_sub(bound << j >> (bits - 1) & 1)) };
    let (low, high) = (planes_of(low), planes_of(high));
    let finish = |row: usize, open: u64, state: Option<<Between<false> as Test<L>>::State>| {
        let Some((inside, at_low, at_high)) = state else {
            return 0;
        };
        // SAFETY: by contract; whole groups of 64 rows are readable.
        unsafe {
            let (mut inside, mut at_low, mut at_high) = (L::bits(inside), L::bits(at_low), L::bits(at_high));
            if (at_low | at_high) & open != 0 {
                let from = tail.register(row / 64);
                for j in 0..bits {
                    let plane = u64::from_le(from.add(j * PLANE_BYTES).cast::<u64>().read_unaligned());
                    inside &= !(at_low & low[j] & !plane | at_high & plane & !high[j]);
                    at_low &= !(plane ^ low[j]);
                    at_high &= !(plane ^ high[j]);
                }
            }
            inside
        }
    };
    // SAFETY: by contract.
    unsafe { combined::<L, Between<false>, true>(codes, start, &bounds, op, combine, finish, out) };
    cut_tail(rows.len(), out);
}

/// One loop for each way to combine, so that the choice is not made per word. `finish` makes the mask
/// of rows inside from what is known after the slices of the 64 rows from a row on.
///
/// # Safety
/// As [`scan`].
#[inline(always)]
unsafe fn combined<L: Lanes, T: Test<L>, const STOPS: bool>(
    codes: Slices<'_>,
    start: usize,
    bounds: &Bounds,
    op: RangeOp,
    combine: Combine,
    finish: impl Fn(usize, u64, Option<T::State>) -> u64,
    out: &mut [u64],
) {
    let flip = op.flip();
    let mut ahead = Lookahead::new(bounds.count);
    // The compiler would not dare to take these out of the loops: it has seen too much by then.
    // SAFETY: by contract.
    let sure = unsafe { [splats::<L>(bounds, 0), splats::<L>(bounds, 1)] };
    // `open` yields the rows whose old bit a test can change: the others are as good as decided.
    macro_rules! test {
        ($stops:expr, $row:expr, $word:expr, $open:expr, $combine:expr) => {
            let open = $open(*$word);
            if open != 0 {
                let (from, stride) = (codes.at($row * L::BYTES), codes.stride);
                // SAFETY: slices are readable in whole vectors; the rest by contract.
                let state = unsafe { matches::<L, T, $stops>(from, stride, bounds, sure, open, &mut ahead) };
                *$word = $combine(*$word, finish($row, open, state) ^ flip);
            }
        };
    }
    // `asked`: the slices whose lines are asked for ahead of the row.
    macro_rules! each {
        ($stops:expr, $asked:expr, $rows:expr, $open:expr, $combine:expr) => {
            for (row, word) in $rows {
                ask(&codes, $asked, row, L::BYTES);
                test!($stops, row, word, $open, $combine);
            }
        };
    }
    macro_rules! run {
        ($open:expr, $combine:expr) => {{
            let mut left = &mut out[..];
            let mut start = start;
            while !left.is_empty() {
                let (stops, count) = match (STOPS, bounds.count) {
                    (true, slices) => (ahead.stops(slices), ahead.words(left.len())),
                    (false, SURE) => (Stops::NeverOfSure, left.len()),
                    (false, _) => (Stops::Never, left.len()),
                };
                let (words, others) = left.split_at_mut(count);
                let rows = (start..).step_by(64).zip(words);
                match stops {
                    Stops::Never => each!(NEVER, 0..bounds.count, rows, $open, $combine),
                    Stops::NeverOfSure => each!(NEVER_OF_SURE, 0..SURE, rows, $open, $combine),
                    Stops::BehindSure => each!(BEHIND_SURE, 0..SURE, rows, $open, $combine),
                    Stops::BehindSureCounting => each!(BEHIND_SURE_COUNTING, 0..SURE, rows, $open, $combine),
                    Stops::Anywhere => each!(ANYWHERE, ahead.wanted(), rows, $open, $combine),
                }
                ahead.decide();
                (left, start) = (others, start + count * 64);
            }
        }};
    }
    match combine {
        Combine::Replace => run!(|_| !0, |_, fresh| fresh),
        Combine::And => run!(|old: u64| old, |old, fresh| old & fresh),
        Combine::Or => run!(|old: u64| !old, |old, fresh| old | fresh),
    }
}

/// Where [`matches`] stops, known at compile time.
const NEVER: u8 = Stops::Never as u8;
const NEVER_OF_SURE: u8 = Stops::NeverOfSure as u8;
const BEHIND_SURE: u8 = Stops::BehindSure as u8;
const BEHIND_SURE_COUNTING: u8 = Stops::BehindSureCounting as u8;
const ANYWHERE: u8 = Stops::Anywhere as u8;

/// What is known of the 64 rows whose first lane is at `from`, as soon as no row of `open` is undecided;
/// `None` if none of them is inside.
///
/// # Safety
/// The machine has the instruction set of `L`; 64 lanes are readable in each slice, `stride` bytes apart.
#[inline(always)]
unsafe fn matches<L: Lanes, T: Test<L>, const STOPS: u8>(
    from: *const u8,
    stride: usize,
    bounds: &Bounds,
    sure: [Splats<L>; SURE],
    open: u64,
    ahead: &mut Lookahead,
) -> Option<T::State> {
    // SAFETY: by contract.
    unsafe {
        let slice = |j: usize| L::load(from.add(j * stride));
        // Whether slice `j` is not read, given the rows that it may decide.
        let mut stops = |j: usize, undecided: L::Mask| match STOPS {
            NEVER | NEVER_OF_SURE => false,
            BEHIND_SURE => j >= SURE && !L::any(undecided, open),
            _ => {
                let is_needed = L::any(undecided, open);
                ahead.count(j, is_needed);
                !is_needed && (STOPS == ANYWHERE || j >= SURE)
            }
        };
        // Which slices are read anyway is known at compile time.
        if T::PREFIXED && STOPS == NEVER_OF_SURE {
            let (first, _) = sure[0];
            let equal = slice(0).inside(first, first);
            return Some(T::within(T::first(slice(1), sure[1]), equal));
        }
        if !T::PREFIXED && matches!(STOPS, NEVER_OF_SURE | BEHIND_SURE | BEHIND_SURE_COUNTING) {
            let mut state = T::first(slice(0), sure[0]);
            if STOPS == BEHIND_SURE_COUNTING {
                stops(1, T::undecided(state));
            }
            state = T::next(state, slice(1), sure[1]);
            if STOPS != NEVER_OF_SURE {
                for j in SURE..bounds.count {
                    if stops(j, T::undecided(state)) {
                        break;
                    }
                    state = T::next(state, slice(j), splats(bounds, j));
                }
            }
            return Some(state);
        }
        let mut state = if T::PREFIXED {
            let (first, _) = sure[0];
            let mut equal = slice(0).inside(first, first);
            for j in 1..=bounds.prefix {
                if stops(j, equal) {
                    return None;
                }
                if j < bounds.prefix {
                    equal = slice(j).equal(L::splat(&bounds.low, j), equal);
                }
            }
            T::within(
                T::first(slice(bounds.prefix), splats(bounds, bounds.prefix)),
                equal,
            )
        } else {
            T::first(slice(0), sure[0])
        };
        for j in bounds.prefix + 1..bounds.count {
            if stops(j, T::undecided(state)) {
                break;
            }
            state = T::next(state, slice(j), splats(bounds, j));
        }
        Some(state)
    }
}
