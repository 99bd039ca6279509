//! A blocked Bloom filter: a key sets a few bits of one word, so that a test of it is one load.

/// Bits for each key, at least: about one of a hundred other keys passes then.
const BITS_PER_KEY: usize = 16;
/// Bits of the word's position in a hash, below those that are tested.
const POSITION_SHIFT: u32 = 32;

/// The hashes of a build side's keys. It may hold others, too.
#[derive(Clone, Debug)]
pub struct HashFilter {
    /// A power of two of words.
    words: Vec<u64>,
}

impl HashFilter {
    /// Bytes of a filter for a number of keys.
    pub fn bytes(keys: usize) -> usize {
        (keys * BITS_PER_KEY / 8).next_power_of_two().max(64)
    }

    /// A filter for about as many keys, without any.
    pub fn new(keys: usize) -> HashFilter {
        HashFilter {
            words: vec![0; HashFilter::bytes(keys) / size_of::<u64>()],
        }
    }

    /// Adds a hash.
    #[inline]
    pub fn insert(&mut self, hash: u64) {
        let at = self.position(hash);
        self.words[at] |= bits(hash);
    }

    /// Returns true if the hash may have been added; always if it was.
    #[inline]
    pub fn may_have(&self, hash: u64) -> bool {
        self.words[self.position(hash)] & bits(hash) == bits(hash)
    }

    /// Tests each hash; bit `i` of `out` tells if `hashes[i]` may have been added. `out` has exactly
    /// `hashes.len().div_ceil(64)` words; bits beyond the hashes become zero.
    pub fn probe(&self, hashes: &[u64], out: &mut [u64]) {
        assert_eq!(out.len(), hashes.len().div_ceil(64), "words of match bits");
        for (word, hashes) in out.iter_mut().zip(hashes.chunks(64)) {
            let tests = hashes.iter().enumerate();
            *word = tests.fold(0, |found, (i, &hash)| found | u64::from(self.may_have(hash)) << i);
        }
    }

    #[inline]
    fn position(&self, hash: u64) -> usize {
        (hash >> POSITION_SHIFT) as usize & (self.words.len() - 1)
    }
}

/// The bits of a hash in its word: four, some of which may be the same.
#[inline]
fn bits(hash: u64) -> u64 {
    1 << (hash & 63) | 1 << (hash >> 6 & 63) | 1 << (hash >> 12 & 63) | 1 << (hash >> 18 & 63)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::hash::hash_u64;

    #[test]
    fn all_keys_pass_and_few_others() {
        for keys in [0, 1, 100, 10_000] {
            let mut filter = HashFilter::new(keys);
            (0..keys as u64).for_each(|key| filter.insert(hash_u64(key * 1_000_003)));
            let hashes: Vec<u64> = (0..keys as u64 + 10_000)
                .map(|key| hash_u64(key * 1_000_003))
                .collect();
            let mut out = vec![!0; hashes.len().div_ceil(64)];
            filter.probe(&hashes, &mut out);
            let passes = |i: usize| out[i / 64] >> (i % 64) & 1 == 1;
            assert!((0..keys).all(passes));
            let others = (keys..hashes.len()).filter(|&i| passes(i)).count();
            assert!(others < 300, "{others} of 10,000");
            assert!((hashes.len()..out.len() * 64).all(|i| !passes(i)));
        }
    }
}
