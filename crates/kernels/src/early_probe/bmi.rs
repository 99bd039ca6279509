//! Early probing with the bit instructions every machine with AVX2 has. A gather of vector units is no
//! faster than loads one by one.

use super::{KeyFilter, ProbeKey, scalar};
use std::arch::x86_64::_pdep_u64;

/// See [`super::probe`].
#[target_feature(enable = "avx2,bmi1,bmi2,lzcnt,popcnt")]
pub fn probe<K: ProbeKey>(filter: &KeyFilter, keys: &[K], out: &mut [u64]) {
    scalar::probe(filter, keys, out);
}

/// See [`super::keep`].
#[target_feature(enable = "avx2,bmi1,bmi2,lzcnt,popcnt")]
pub fn keep(dense: &[u64], words: &mut [u64]) {
    let mut at = 0;
    for word in words {
        let count = word.count_ones() as usize;
        if count == 0 {
            continue;
        }
        let (first, shift) = (at / 64, at % 64);
        let mut marks = dense[first] >> shift;
        if shift + count > 64 {
            marks |= dense[first + 1] << (64 - shift);
        }
        *word = _pdep_u64(marks, *word);
        at += count;
    }
}
