//! Counting of match bits: how many survive, and how many words hold a stage vector's worth.

#[cfg(target_arch = "x86_64")]
mod avx2;
mod scalar;

use crate::Isa;

/// Number of set bits.
#[inline]
pub fn ones(isa: Isa, words: &[u64]) -> usize {
    match isa.effective() {
        #[cfg(target_arch = "x86_64")]
        // SAFETY: `Isa::effective` has seen that the machine has POPCNT.
        Isa::Avx2 | Isa::Avx512 => unsafe { avx2::ones(words) },
        _ => scalar::ones(words),
    }
}

/// The longest run of words from the first on that have at most `limit` set bits together: its length
/// and the number of its set bits.
#[inline]
pub fn take_words(isa: Isa, words: &[u64], limit: usize) -> (usize, usize) {
    match isa.effective() {
        #[cfg(target_arch = "x86_64")]
        // SAFETY: as above.
        Isa::Avx2 | Isa::Avx512 => unsafe { avx2::take_words(words, limit) },
        _ => scalar::take_words(words, limit),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_isa_counts_alike() {
        let words: Vec<u64> = (0..70u64)
            .map(|i| i.wrapping_mul(0x9E37_79B9_7F4A_7C15) >> (i % 64))
            .collect();
        for isa in Isa::available() {
            for len in 0..words.len() {
                let words = &words[..len];
                assert_eq!(
                    ones(isa, words),
                    words.iter().map(|w| w.count_ones() as usize).sum()
                );
                for limit in [0, 1, 64, 500, 100_000] {
                    let (taken, count) = take_words(isa, words, limit);
                    assert_eq!(count, ones(isa, &words[..taken]));
                    assert!(count <= limit);
                    assert!(taken == len || count + words[taken].count_ones() as usize > limit);
                }
            }
        }
    }
}
