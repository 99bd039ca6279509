//! Counting with the POPCNT instruction, which every machine with AVX2 has.

use super::scalar;

/// See [`super::ones`].
#[target_feature(enable = "popcnt")]
pub fn ones(words: &[u64]) -> usize {
    scalar::ones(words)
}

/// See [`super::take_words`].
#[target_feature(enable = "popcnt")]
pub fn take_words(words: &[u64], limit: usize) -> (usize, usize) {
    scalar::take_words(words, limit)
}
