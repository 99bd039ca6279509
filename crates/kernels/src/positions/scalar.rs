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

/// See [`super::reduce_between`]. Branch-free: writes every position and advances past the kept.
pub fn reduce_between<T: Comparable>(values: &[T], op: RangeOp, low: T, high: T, positions: &mut Vec<u16>) {
    let mut kept = 0;
    for i in 0..positions.len() {
        let position = positions[i];
        let value = values[position as usize];
        let inside = value.order(low) != Ordering::Less && value.order(high) != Ordering::Greater;
        positions[kept] = position;
        kept += usize::from(inside == (op == RangeOp::Inside));
    }
    positions.truncate(kept);
}
