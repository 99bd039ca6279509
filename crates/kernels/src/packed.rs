//! Codes in the bytes of a layout: what the kernels of `bitpack`, `byteslice`, `vbp` and `hbp` take.

use crate::{Combine, RangeOp};
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
    fn widths_hold_their_codes() {
        assert_eq!([0, 1, 2, 255, 256, u64::MAX].map(bits_of), [1, 1, 2, 8, 9, 64]);
        for bits in 1..=64 {
            assert_eq!(bits_of(top(bits)), bits);
        }
    }
}
