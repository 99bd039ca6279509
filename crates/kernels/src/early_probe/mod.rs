//! Early probing: the keys of a join's build side as a bitmap over their range, tested for a whole vector
//! of probe keys while the table is scanned (Data Blocks, appendix E), long before a row enters generated
//! code.
//!
//! Keys that are not integers, or do not lie dense, are in a Bloom filter of their hashes (`hash_filter.rs`).
//!
//! The bitmap is exact. A test of it is one load from an array an eighth of a byte a key large, where a look-up of the
//! join's table is one from eight bytes a key and often a second one from a row.

#[cfg(target_arch = "x86_64")]
mod bmi;
pub mod hash_filter;
mod scalar;

use crate::{Isa, Kernel, Plain, counters};

/// The keys of a build side.
#[derive(Clone, Debug)]
pub struct KeyFilter {
    min: i64,
    /// Position of the first key beyond the range; its bit is never set.
    beyond: u64,
    words: Vec<u64>,
}

impl KeyFilter {
    /// Bytes a filter of keys `min..=max` takes; `None` beyond what memory can hold.
    pub fn bytes(min: i64, max: i64) -> Option<usize> {
        let span = u64::try_from(i128::from(max) - i128::from(min) + 1).ok()?;
        usize::try_from(span / 64 + 1).ok()?.checked_mul(8)
    }

    /// A filter that knows no key yet, of which all will lie in `min..=max`. Panics if `min > max`.
    pub fn new(min: i64, max: i64) -> KeyFilter {
        assert!(min <= max, "keys from {min} to {max}");
        let beyond = max.wrapping_sub(min) as u64 + 1;
        KeyFilter {
            min,
            beyond,
            words: vec![0; beyond as usize / 64 + 1],
        }
    }

    /// Adds a key. Panics if it lies outside the range.
    #[inline]
    pub fn insert(&mut self, key: i64) {
        let at = key.wrapping_sub(self.min) as u64;
        assert!(at < self.beyond, "a key outside its filter's range");
        self.words[at as usize / 64] |= 1 << (at % 64);
    }

    /// Smallest and largest key there may be.
    pub fn range(&self) -> (i64, i64) {
        (self.min, self.min.wrapping_add((self.beyond - 1) as i64))
    }
}

/// An integer that is a join key.
pub trait ProbeKey: Plain + Into<i64> {}

impl ProbeKey for i16 {}
impl ProbeKey for i32 {}
impl ProbeKey for i64 {}

/// Tests each key; bit `i` of `out` tells whether `keys[i]` is in the filter. `out` has exactly
/// `keys.len().div_ceil(64)` words; bits beyond the keys become zero.
pub fn probe<K: ProbeKey>(isa: Isa, filter: &KeyFilter, keys: &[K], out: &mut [u64]) {
    assert_eq!(out.len(), keys.len().div_ceil(64), "words of match bits");
    match counters::enter(Kernel::EarlyProbe, isa) {
        #[cfg(target_arch = "x86_64")]
        // SAFETY: `Isa::effective`, which `enter` returns, has seen that the machine has BMI.
        Isa::Avx2 | Isa::Avx512 => unsafe { bmi::probe(filter, keys, out) },
        _ => scalar::probe(filter, keys, out),
    }
}

/// Keeps of the set bits of `words`, in order, those whose bit in `dense` is set: bit `i` of `dense`
/// speaks of the i-th set bit. Panics if `dense` has too few words.
pub fn keep(isa: Isa, dense: &[u64], words: &mut [u64]) {
    match isa.effective() {
        #[cfg(target_arch = "x86_64")]
        // SAFETY: `Isa::effective` has seen that the machine has BMI.
        Isa::Avx2 | Isa::Avx512 => unsafe { bmi::keep(dense, words) },
        _ => scalar::keep(dense, words),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::HashSet;

    #[test]
    fn every_isa_finds_the_keys_and_no_other() {
        for (min, max) in [
            (0, 0),
            (-70, 900),
            (i64::MIN, i64::MIN + 100),
            (i64::MAX - 63, i64::MAX),
        ] {
            let mut filter = KeyFilter::new(min, max);
            assert_eq!(filter.range(), (min, max));
            let mut known = HashSet::new();
            for step in (0..=max.wrapping_sub(min)).step_by(3) {
                filter.insert(min + step);
                known.insert(min + step);
            }
            let keys: Vec<i64> = (0..200)
                .map(|i| min.wrapping_add(i - 20))
                .chain([0, i64::MIN, i64::MAX])
                .collect();
            for isa in Isa::available() {
                for rows in [0, 1, 63, 64, 65, keys.len()] {
                    let mut out = vec![!0; rows.div_ceil(64)];
                    probe(isa, &filter, &keys[..rows], &mut out);
                    for i in 0..out.len() * 64 {
                        let found = i < rows && known.contains(&keys[i]);
                        assert_eq!(out[i / 64] >> (i % 64) & 1 == 1, found, "{isa} {i}");
                    }
                }
            }
        }
    }

    #[test]
    fn every_isa_keeps_the_marked_bits() {
        let words: Vec<u64> = (1..40u64)
            .map(|i| i.wrapping_mul(0x9E37_79B9_7F4A_7C15) >> (i % 60))
            .chain([0, !0, 1, 1 << 63])
            .collect();
        let total: usize = words.iter().map(|w| w.count_ones() as usize).sum();
        let dense: Vec<u64> = (0..total.div_ceil(64) as u64)
            .map(|i| (i + 7).wrapping_mul(0xD134_2543_DE82_EF95))
            .collect();
        let mut expected = words.clone();
        let mut at = 0;
        for word in &mut expected {
            for bit in 0..64 {
                if *word >> bit & 1 == 1 {
                    *word &= !(u64::from(dense[at / 64] >> (at % 64) & 1 == 0) << bit);
                    at += 1;
                }
            }
        }
        for isa in Isa::available() {
            let mut kept = words.clone();
            keep(isa, &dense, &mut kept);
            assert_eq!(kept, expected, "{isa}");
        }
    }

    #[test]
    #[should_panic(expected = "outside its filter's range")]
    fn a_key_outside_the_range_is_refused() {
        KeyFilter::new(5, 9).insert(10);
    }
}
