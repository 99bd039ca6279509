//! Codes in the bytes of a layout: what the kernels of `bitpack`, `byteslice`, `vbp` and `hbp` take,
//! and what they share: the cheapest form of a range test, and a set test by unpacking.

use crate::{CodeWord, Combine, Isa, RangeOp, compare};
use std::ops::Range;

/// Unsigned codes of `bits` bits in the bytes of a layout, which the module that is asked knows.
#[derive(Clone, Copy, Debug)]
pub struct Packed<'a> {
    /// The layout's bytes, padding included.
    pub bytes: &'a [u8],
    /// Number of codes.
    pub rows: usize,
    /// Width of a code, 1 to 64.
    pub bits: u32,
}

impl Packed<'_> {
    /// The largest code of this width.
    pub fn top(&self) -> u64 {
        top(self.bits)
    }

    /// Panics unless a test of `rows` writing to `out` is one the layouts' kernels take: the first row a
    /// multiple of 64, the last within the codes, and exactly a word for each 64 of them.
    pub(crate) fn check_rows(&self, rows: &Range<usize>, out: &[u64]) {
        assert!(
            rows.start.is_multiple_of(64),
            "tests begin at a multiple of 64 rows"
        );
        assert!(
            rows.start <= rows.end && rows.end <= self.rows,
            "rows beyond the codes"
        );
        assert_eq!(out.len(), rows.len().div_ceil(64), "words of match bits");
    }

    /// Panics unless words of type `C` hold the codes.
    pub(crate) fn check_words<C: CodeWord>(&self) {
        assert!(
            size_of::<C>() as u32 * 8 >= self.bits,
            "codes wider than their words"
        );
    }

    /// `low..=high` as a code to subtract and the greatest difference inside, or whether all rows match
    /// if that is already known.
    pub(crate) fn span(&self, op: RangeOp, low: u64, high: u64) -> Result<(u64, u64), bool> {
        let high = high.min(self.top());
        if low > high {
            return Err(op == RangeOp::Outside);
        }
        if high - low == self.top() {
            return Err(op == RangeOp::Inside);
        }
        Ok((low, high - low))
    }
}

/// A range of codes in the form that is cheapest to test.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum CodeRange {
    /// No code lies inside.
    Nothing,
    /// Every code does.
    Everything,
    /// This one.
    Equal(u64),
    /// This one and all smaller ones.
    AtMost(u64),
    /// This one and all greater ones.
    AtLeast(u64),
    /// From the first to the second, which is greater.
    Between(u64, u64),
}

impl CodeRange {
    /// Codes of `bits` bits from `low` to `high`.
    pub(crate) fn of(low: u64, high: u64, bits: u32) -> CodeRange {
        let top = top(bits);
        match (low, high.min(top)) {
            (low, high) if low > high => CodeRange::Nothing,
            (0, high) if high == top => CodeRange::Everything,
            (low, high) if low == high => CodeRange::Equal(low),
            (0, high) => CodeRange::AtMost(high),
            (low, high) if high == top => CodeRange::AtLeast(low),
            (low, high) => CodeRange::Between(low, high),
        }
    }
}

/// Match bits of `rows` rows that all match or none of which does.
pub(crate) fn match_all_or_none(matches: bool, rows: usize, combine: Combine, out: &mut [u64]) {
    let fresh = if matches { !0 } else { 0 };
    for word in &mut *out {
        *word = combine.apply(*word, fresh);
    }
    cut_tail(rows, out);
}

/// Clears the bits of the last word beyond `rows`.
#[inline(always)]
pub(crate) fn cut_tail(rows: usize, out: &mut [u64]) {
    if let Some(last) = out.last_mut()
        && !rows.is_multiple_of(64)
    {
        *last &= !(!0 << (rows % 64));
    }
}

/// Rows a set test unpacks at a time.
const BATCH_ROWS: usize = 1024;

/// The set test of a layout that has none of its own, in the layout's module: by its `unpack`, in the
/// narrowest words that hold the codes.
macro_rules! set_test {
    ($visibility:vis fn $in_set:ident, $kernel:expr) => {
        /// Tests the codes of `rows` for membership in `set`, a bitmap by code; codes beyond the bitmap are
        /// not in it. `rows` and `out` as in [`between`].
        $visibility fn $in_set(
            isa: Isa,
            codes: Packed<'_>,
            rows: Range<usize>,
            set: &[u64],
            combine: Combine,
            out: &mut [u64],
        ) {
            codes.check_rows(&rows, out);
            let isa = counters::enter($kernel, isa);
            match codes.bits {
                ..=8 => $crate::packed::in_set_by_unpacking::<u8>(isa, rows, set, combine, out, |rows, out| {
                    unpack(isa, codes, Selection::all(rows), out);
                }),
                9..=16 => $crate::packed::in_set_by_unpacking::<u16>(isa, rows, set, combine, out, |rows, out| {
                    unpack(isa, codes, Selection::all(rows), out);
                }),
                17..=32 => $crate::packed::in_set_by_unpacking::<u32>(isa, rows, set, combine, out, |rows, out| {
                    unpack(isa, codes, Selection::all(rows), out);
                }),
                _ => $crate::packed::in_set_by_unpacking::<u64>(isa, rows, set, combine, out, |rows, out| {
                    unpack(isa, codes, Selection::all(rows), out);
                }),
            }
        }
    };
}
pub(crate) use set_test;

/// A set test: `unpack` writes the codes of a range of rows to
/// a buffer in the first-level cache, where they are tested. Arguments as those of the layouts.
pub(crate) fn in_set_by_unpacking<C: CodeWord>(
    isa: Isa,
    rows: Range<usize>,
    set: &[u64],
    combine: Combine,
    out: &mut [u64],
    unpack: impl Fn(Range<u32>, &mut [C]),
) {
    let mut buffer = [C::default(); BATCH_ROWS];
    for (i, words) in out.chunks_mut(BATCH_ROWS / 64).enumerate() {
        let start = rows.start + i * BATCH_ROWS;
        let len = (rows.end - start).min(BATCH_ROWS);
        if !is_settled(words, len, combine) {
            unpack(start as u32..(start + len) as u32, &mut buffer[..len]);
            compare::in_set(isa, &buffer[..len], set, combine, words);
        }
    }
}

/// Whether no test can change these words (column-first evaluation: ByteSlice, section 3.1.2).
fn is_settled(words: &[u64], rows: usize, combine: Combine) -> bool {
    match combine {
        Combine::Replace => false,
        Combine::And => words.iter().all(|&word| word == 0),
        Combine::Or => rows == words.len() * 64 && words.iter().all(|&word| word == !0),
    }
}

/// The largest code of `bits` bits, 1 to 64.
#[inline(always)]
pub fn top(bits: u32) -> u64 {
    debug_assert!((1..=64).contains(&bits));
    !0 >> (64 - bits)
}

/// Bits of the smallest code width that holds `code`, at least 1.
pub fn bits_of(code: u64) -> u32 {
    (64 - code.leading_zeros()).max(1)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ranges_take_their_cheapest_form() {
        assert_eq!(CodeRange::of(3, 2, 4), CodeRange::Nothing);
        assert_eq!(CodeRange::of(16, 20, 4), CodeRange::Nothing);
        assert_eq!(CodeRange::of(0, 15, 4), CodeRange::Everything);
        assert_eq!(CodeRange::of(0, 99, 4), CodeRange::Everything);
        assert_eq!(CodeRange::of(0, 0, 4), CodeRange::Equal(0));
        assert_eq!(CodeRange::of(15, 99, 4), CodeRange::Equal(15));
        assert_eq!(CodeRange::of(0, 14, 4), CodeRange::AtMost(14));
        assert_eq!(CodeRange::of(1, 99, 4), CodeRange::AtLeast(1));
        assert_eq!(CodeRange::of(1, 14, 4), CodeRange::Between(1, 14));
        assert_eq!(CodeRange::of(1, u64::MAX, 64), CodeRange::AtLeast(1));
    }

    #[test]
    fn widths_hold_their_codes() {
        assert_eq!([0, 1, 2, 255, 256, u64::MAX].map(bits_of), [1, 1, 2, 8, 9, 64]);
        for bits in 1..=64 {
            assert_eq!(bits_of(top(bits)), bits);
        }
    }
}
