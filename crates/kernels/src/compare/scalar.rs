//! The oracle of range and set tests: one value at a time.

use super::{Combine, Comparable, RangeOp};
use crate::CodeWord;
use std::cmp::Ordering;

/// See [`super::between`].
pub fn between<T: Comparable>(values: &[T], op: RangeOp, low: T, high: T, combine: Combine, out: &mut [u64]) {
    let matches = |v: T| {
        let inside = v.order(low) != Ordering::Less && v.order(high) != Ordering::Greater;
        inside == (op == RangeOp::Inside)
    };
    match_words(values, matches, combine, out);
}

/// See [`super::in_set`].
pub fn in_set<C: CodeWord>(codes: &[C], set: &[u64], combine: Combine, out: &mut [u64]) {
    let matches = |code: C| {
        let code = code.to_u64();
        set.get((code / 64) as usize)
            .is_some_and(|word| word >> (code % 64) & 1 == 1)
    };
    match_words(codes, matches, combine, out);
}

fn match_words<T: Copy>(values: &[T], matches: impl Fn(T) -> bool, combine: Combine, out: &mut [u64]) {
    for (values, word) in values.chunks(64).zip(out) {
        let mut fresh = 0;
        for (i, &value) in values.iter().enumerate() {
            fresh |= u64::from(matches(value)) << i;
        }
        let tail = !0 >> (64 - values.len());
        *word = combine.apply(*word, fresh) & tail;
    }
}
