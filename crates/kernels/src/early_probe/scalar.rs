//! The oracle of early probing, key by key.

use super::{KeyFilter, ProbeKey};

/// See [`super::probe`].
#[inline(always)]
pub fn probe<K: ProbeKey>(filter: &KeyFilter, keys: &[K], out: &mut [u64]) {
    let KeyFilter { min, beyond, words } = filter;
    for (bits, keys) in out.iter_mut().zip(keys.chunks(64)) {
        let mut found = 0;
        for (i, &key) in keys.iter().enumerate() {
            let at = (key.into().wrapping_sub(*min) as u64).min(*beyond);
            // SAFETY: `at` is at most `beyond`, and there are `beyond / 64 + 1` words.
            let word = unsafe { *words.get_unchecked(at as usize / 64) };
            found |= (word >> (at % 64) & 1) << i;
        }
        *bits = found;
    }
}

/// See [`super::keep`].
pub fn keep(dense: &[u64], words: &mut [u64]) {
    let mut at = 0;
    for word in words {
        let (mut left, mut kept) = (*word, 0);
        while left != 0 {
            let lowest = left & left.wrapping_neg();
            if dense[at / 64] >> (at % 64) & 1 == 1 {
                kept |= lowest;
            }
            at += 1;
            left &= left - 1;
        }
        *word = kept;
    }
}
