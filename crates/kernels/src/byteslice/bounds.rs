//! The bounds of a range test as bytes, and which slices decide anything.

use super::slices::{MOST, Slices};
use crate::packed::CodeRange;

/// The bytes of both bounds, slice by slice.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Bounds {
    /// Of the low bound; padding is zero.
    pub low: [u8; MOST],
    /// Of the high bound; padding is ones unless every slice counts.
    pub high: [u8; MOST],
    /// Slices in which both bounds are the same, if both are tested and they differ.
    pub prefix: usize,
    /// Slices to be read: those behind them decide nothing.
    pub count: usize,
}

impl Bounds {
    /// Those of a range, which is neither nothing nor everything.
    pub fn of(codes: &Slices<'_>, range: CodeRange) -> Bounds {
        let top = codes.top();
        let one_sided = |low, high| Bounds {
            prefix: 0,
            ..Bounds::between(codes, low, high)
        };
        match range {
            CodeRange::Nothing => one_sided(top, 0),
            CodeRange::Everything => one_sided(0, top),
            CodeRange::AtMost(high) => one_sided(0, high),
            CodeRange::AtLeast(low) => one_sided(low, top),
            CodeRange::Between(low, high) => Bounds::between(codes, low, high),
            CodeRange::Equal(code) => Bounds::whole(codes, code, code),
        }
    }

    /// Bounds of which every slice counts.
    pub fn whole(codes: &Slices<'_>, low: u64, high: u64) -> Bounds {
        Bounds {
            low: codes.left(low).to_be_bytes(),
            high: codes.left(high).to_be_bytes(),
            prefix: 0,
            count: codes.count,
        }
    }

    /// A low bound with nothing but zeros left expels no row, nor does a high one with only ones.
    fn between(codes: &Slices<'_>, low: u64, high: u64) -> Bounds {
        let (low, high) = (codes.left(low), codes.left(high) | codes.behind());
        let significant = |trailing: u32| (64 - trailing).div_ceil(codes.unit) as usize;
        let count = significant(low.trailing_zeros()).max(significant(high.trailing_ones()));
        Bounds {
            low: low.to_be_bytes(),
            high: high.to_be_bytes(),
            prefix: ((low ^ high).leading_zeros() / codes.unit) as usize,
            count: count.max(1),
        }
    }
}
