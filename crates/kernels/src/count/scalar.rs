//! The oracle of counting.

/// See [`super::ones`].
#[inline(always)]
pub fn ones(words: &[u64]) -> usize {
    words.iter().map(|w| w.count_ones() as usize).sum()
}

/// See [`super::take_words`].
#[inline(always)]
pub fn take_words(words: &[u64], limit: usize) -> (usize, usize) {
    let mut count = 0;
    for (i, word) in words.iter().enumerate() {
        let fresh = word.count_ones() as usize;
        if count + fresh > limit {
            return (i, count);
        }
        count += fresh;
    }
    (words.len(), count)
}
