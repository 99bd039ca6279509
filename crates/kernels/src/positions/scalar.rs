//! The oracle of positions: one bit, one position at a time.

use crate::{Comparable, RangeOp};
use std::cmp::Ordering;

/// See [`super::positions`].
pub fn positions(bits: &[u64], base: u16, out: &mut Vec<u16>) {
    for (i, &word) in bits.iter().enumerate() {
        let mut rest = word;
        while rest != 0 {
            out.push((base as usize + i * 64 + rest.trailing_zeros() as usize) as u16);
            rest &= rest - 1;
        }
    }
}

/// See [`super::reduce_between`]: takes the positions from `done` on, keeps them from `kept` on, and
/// returns how many are kept in all. Branch-free: it writes every position and advances past the kept.
pub fn reduce<T: Comparable>(
    values: &[T],
    op: RangeOp,
    low: T,
    high: T,
    positions: &mut [u16],
    (mut kept, done): (usize, usize),
) -> usize {
    for i in done..positions.len() {
        let position = positions[i];
        let value = values[position as usize];
        let inside = value.order(low) != Ordering::Less && value.order(high) != Ordering::Greater;
        positions[kept] = position;
        kept += usize::from(inside == (op == RangeOp::Inside));
    }
    kept
}
