//! Match bits → match positions, and range tests at positions (Data Blocks, section 4.2: find and
//! reduce matches).
//!
//! A gathered test costs about twenty fresh ones per value, so reduce pays only when few positions
//! are left; the caller decides.

mod scalar;

use crate::{Comparable, Isa, Kernel, RangeOp, counters};

/// Appends `base + i` for every set bit `i`, ascending, and returns how many. `base` plus the last set
/// bit must fit in a `u16`: both lie in one chunk.
pub fn positions(isa: Isa, bits: &[u64], base: u16, out: &mut Vec<u16>) -> usize {
    counters::count(Kernel::Positions, isa.effective());
    let before = out.len();
    scalar::positions(bits, base, out);
    out.len() - before
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
    counters::count(Kernel::Reduce, isa.effective());
    scalar::reduce_between(values, op, low, high, positions);
}
