//! Match bits: one bit a row, least significant bit first in 64-bit words.

/// One bit a row of a window. Bits at and beyond `len` are always zero.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct MatchBits {
    words: Vec<u64>,
    len: usize,
}

impl MatchBits {
    /// `len` cleared bits.
    pub fn zeros(len: usize) -> MatchBits {
        MatchBits {
            words: vec![0; len.div_ceil(64)],
            len,
        }
    }

    /// `len` set bits.
    pub fn ones(len: usize) -> MatchBits {
        let mut bits = MatchBits {
            words: vec![!0; len.div_ceil(64)],
            len,
        };
        bits.clear_tail();
        bits
    }

    /// Changes the length, all bits cleared; keeps the allocation.
    pub fn reset(&mut self, len: usize) {
        self.words.clear();
        self.words.resize(len.div_ceil(64), 0);
        self.len = len;
    }

    /// Number of rows.
    pub fn len(&self) -> usize {
        self.len
    }

    /// Whether it has no rows at all.
    pub fn is_empty(&self) -> bool {
        self.len == 0
    }

    /// The words.
    pub fn words(&self) -> &[u64] {
        &self.words
    }

    /// The words, to be overwritten; the caller keeps the tail zero ([`MatchBits::clear_tail`]).
    pub fn words_mut(&mut self) -> &mut [u64] {
        &mut self.words
    }

    /// Clears the bits beyond `len` in the last word.
    pub fn clear_tail(&mut self) {
        if !self.len.is_multiple_of(64)
            && let Some(last) = self.words.last_mut()
        {
            *last &= (1 << (self.len % 64)) - 1;
        }
    }

    /// Bit of a row.
    pub fn get(&self, row: usize) -> bool {
        debug_assert!(row < self.len);
        self.words[row / 64] >> (row % 64) & 1 == 1
    }

    /// Sets the bit of a row.
    pub fn set(&mut self, row: usize, to: bool) {
        debug_assert!(row < self.len);
        let mask = 1 << (row % 64);
        if to {
            self.words[row / 64] |= mask;
        } else {
            self.words[row / 64] &= !mask;
        }
    }

    /// Set bits.
    pub fn count(&self) -> usize {
        self.words.iter().map(|w| w.count_ones() as usize).sum()
    }

    /// Keeps the bits that `other` has as well.
    pub fn and(&mut self, other: &MatchBits) {
        debug_assert_eq!(self.len, other.len);
        for (a, b) in self.words.iter_mut().zip(&other.words) {
            *a &= b;
        }
    }

    /// Adds the bits of `other`.
    pub fn or(&mut self, other: &MatchBits) {
        debug_assert_eq!(self.len, other.len);
        for (a, b) in self.words.iter_mut().zip(&other.words) {
            *a |= b;
        }
    }

    /// Inverts all bits.
    pub fn not(&mut self) {
        for w in &mut self.words {
            *w = !*w;
        }
        self.clear_tail();
    }

    /// Rows whose bit is set, ascending.
    pub fn iter(&self) -> impl Iterator<Item = usize> + '_ {
        self.words.iter().enumerate().flat_map(|(i, &w)| {
            std::iter::successors((w != 0).then_some(w), |w| {
                let rest = w & (w - 1);
                (rest != 0).then_some(rest)
            })
            .map(move |w| i * 64 + w.trailing_zeros() as usize)
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bits_beyond_the_length_stay_zero() {
        let mut bits = MatchBits::ones(70);
        assert_eq!(bits.count(), 70);
        bits.not();
        assert_eq!(bits.count(), 0);
        bits.set(69, true);
        bits.set(3, true);
        assert_eq!(bits.iter().collect::<Vec<_>>(), [3, 69]);
    }
}
