//! Match bits → match positions, and range tests at positions (Data Blocks, section 4.2: find and
//! reduce matches).
//!
//! A gathered test costs about twenty fresh ones per value, so reduce pays only when few positions
//! are left; the caller decides.

#[cfg(target_arch = "x86_64")]
pub(crate) mod avx2;
#[cfg(target_arch = "x86_64")]
mod avx512;
mod scalar;

use crate::compare::RangeTest;
use crate::isa::dispatch;
use crate::{Comparable, Isa, Kernel, RangeOp, counters};

/// Appends `base + i` for every set bit `i`, ascending, and returns how many. `base` plus the last set
/// bit must fit in a `u16`: both lie in one chunk.
pub fn positions(isa: Isa, bits: &[u64], base: u16, out: &mut Vec<u16>) -> usize {
    let isa = counters::enter(Kernel::Positions, isa);
    let before = out.len();
    dispatch!(isa, positions(bits, base, out), otherwise scalar::positions(bits, base, out));
    out.len() - before
}

/// Makes room for the positions of all set bits and for `slack` more. Room for as many as there are bits is
/// as good, and then they need not be counted.
#[cfg(target_arch = "x86_64")]
#[inline(always)]
fn reserve(bits: &[u64], slack: usize, out: &mut Vec<u16>) {
    if out.capacity() - out.len() < bits.len() * 64 + slack {
        let count: usize = bits.iter().map(|word| word.count_ones() as usize).sum();
        out.reserve(count + slack);
    }
}

/// Keeps those positions whose value passes the range test, in their order. Panics on a position
/// beyond the values.
pub fn reduce_between<T: Comparable>(
    isa: Isa,
    values: &[T],
    op: RangeOp,
    low: T,
    high: T,
    positions: &mut Vec<u16>,
) {
    let isa = counters::enter(Kernel::Reduce, isa);
    macro_rules! reduce {
        ($words:expr, $low:expr, $span:expr) => {
            dispatch!(
                isa,
                reduce($words, $low, $span, op, positions),
                otherwise(0, 0)
            )
        };
    }
    // The vector units take whole groups: they have read `done` positions and kept `kept` of them.
    let (kept, done) = match T::range(values, low, high) {
        RangeTest::W8(words, low, span) => reduce!(words, low, span),
        RangeTest::W16(words, low, span) => reduce!(words, low, span),
        RangeTest::W32(words, low, span) => reduce!(words, low, span),
        RangeTest::W64(words, low, span) => reduce!(words, low, span),
        RangeTest::Double(..) | RangeTest::Nothing | RangeTest::Wide => (0, 0),
    };
    let kept = scalar::reduce(values, op, low, high, positions, (kept, done));
    positions.truncate(kept);
}
