//! The bounds of a range test as planes, and which planes decide anything.

use crate::packed::{CodeRange, top};

/// Most planes a code has.
const MOST: usize = 64;

/// The bits of both bounds, plane by plane, each as a word of ones or zeros.
pub(super) struct Bounds {
    /// Of the low bound.
    pub low: [u64; MOST],
    /// Of the high bound.
    pub high: [u64; MOST],
    /// Planes in which both bounds are the same.
    pub prefix: usize,
    /// Planes to be read: those behind them decide nothing.
    pub count: usize,
    /// Whether a code may be too small, though its first planes are those of the bounds.
    pub has_low: bool,
    /// Whether a code may be too great.
    pub has_high: bool,
}

impl Bounds {
    /// Those of a range of codes of `bits` bits.
    pub fn of(range: CodeRange, bits: usize) -> Bounds {
        let top = top(bits as u32);
        let (low, high) = match range {
            CodeRange::Nothing => (top, 0),
            CodeRange::Everything => (0, top),
            CodeRange::Equal(code) => (code, code),
            CodeRange::AtMost(high) => (0, high),
            CodeRange::AtLeast(low) => (low, top),
            CodeRange::Between(low, high) => (low, high),
        };
        // A low bound with only zeros left expels no row, nor does a high one with only ones.
        let significant = |trailing: u32| bits.saturating_sub(trailing as usize);
        let (of_low, of_high) = (
            significant(low.trailing_zeros()),
            significant(high.trailing_ones()),
        );
        let prefix = bits - (64 - (low ^ high).leading_zeros() as usize);
        let plane = |bound: u64, j: usize| match j < bits && bound >> (bits - 1 - j) & 1 == 1 {
            true => !0,
            false => 0,
        };
        Bounds {
            low: std::array::from_fn(|j| plane(low, j)),
            high: std::array::from_fn(|j| plane(high, j)),
            prefix,
            count: of_low.max(of_high).max(prefix),
            has_low: of_low > prefix,
            has_high: of_high > prefix,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn planes_that_decide_nothing_are_left_out() {
        let planes = |range| {
            let bounds = Bounds::of(range, 12);
            (bounds.prefix, bounds.count, bounds.has_low, bounds.has_high)
        };
        assert_eq!(planes(CodeRange::Equal(0)), (12, 12, false, false));
        assert_eq!(planes(CodeRange::Equal(0xFFF)), (12, 12, false, false));
        assert_eq!(planes(CodeRange::AtMost(0x0FF)), (4, 4, false, false));
        assert_eq!(planes(CodeRange::AtMost(0x1FE)), (3, 12, false, true));
        assert_eq!(planes(CodeRange::AtLeast(0x800)), (1, 1, false, false));
        assert_eq!(planes(CodeRange::AtLeast(0x700)), (0, 4, true, false));
        assert_eq!(planes(CodeRange::Between(0x120, 0x12F)), (8, 8, false, false));
        assert_eq!(planes(CodeRange::Between(0x121, 0x12F)), (8, 12, true, false));
        assert_eq!(planes(CodeRange::Between(0x121, 0x12E)), (8, 12, true, true));
    }
}
