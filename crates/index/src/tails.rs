//! Tails of keys: the words that do not fit into a node, in pieces of memory whose sizes are powers of two.
//!
//! Word 0 of a piece is the number of words that follow. No number ever stands there but those that need a piece of this size, so
//! that a reader who follows a stale address reads wrong words at worst, and notices by the version of the node he came from.

use crate::memory::{Pieces, words_at};
use crate::probe::Probe;
use crate::sync::Word;
use std::cmp;

/// Pieces of 2, 4, … 1,024 words.
const SIZES: usize = 10;
/// Most words of a tail.
pub(crate) const MOST_TAIL_WORDS: usize = (1 << SIZES) - 1;

/// All tails of a tree.
#[derive(Debug)]
pub(crate) struct Tails {
    /// `sizes[i]` has pieces of `2 << i` words.
    sizes: [Pieces; SIZES],
}

/// Index into `sizes` of the pieces for tails of some words.
fn size_for(words: usize) -> usize {
    (words + 1).next_power_of_two().trailing_zeros() as usize - 1
}

impl Tails {
    /// No tails.
    pub fn new() -> Tails {
        Tails {
            sizes: std::array::from_fn(|i| Pieces::new(2 << i)),
        }
    }

    /// Adds a tail of these words, at most [`MOST_TAIL_WORDS`], and gives its address; 0 for no words.
    pub fn add(&self, words: &[u64]) -> u64 {
        if words.is_empty() {
            return 0;
        }
        let pieces = &self.sizes[size_for(words.len())];
        let address = pieces.take();
        // SAFETY: the address was just taken from these pieces.
        let piece = unsafe { pieces.words(address) };
        piece[0].write(words.len() as u64);
        for (to, &word) in piece[1..].iter().zip(words) {
            to.write(word);
        }
        address
    }

    /// Gives a tail back.
    ///
    /// # Safety
    /// As [`Tails::words`], and the tail was not removed before.
    pub unsafe fn remove(&self, tail: u64) {
        // SAFETY: by contract.
        let words = unsafe { self.words(tail) };
        if !words.is_empty() {
            self.sizes[size_for(words.len())].give_back(tail);
        }
    }

    /// The words of a tail.
    ///
    /// # Safety
    /// 0, or an address that [`Tails::add`] of this object gave, read from a node that was found valid afterwards. The tail may
    /// have been removed since: then the words are wrong.
    pub unsafe fn words(&self, tail: u64) -> &[Word] {
        if tail == 0 {
            return &[];
        }
        // SAFETY: by contract the address is that of a piece of at least two words, which lives as long as `self`.
        let len = unsafe { words_at(tail, 1) }[0].read() as usize;
        // SAFETY: the piece has the size for `len` words: a number of words for which there is another size never stands in it.
        unsafe { &words_at(tail, 1 + len)[1..] }
    }

    /// The order of a tail and the words of a probe from `from` on; what is missing on either side counts as zeros.
    ///
    /// # Safety
    /// As [`Tails::words`].
    pub unsafe fn compare(&self, tail: u64, probe: &Probe, from: usize) -> cmp::Ordering {
        // SAFETY: by contract.
        let words = unsafe { self.words(tail) };
        let theirs = probe.words().get(from..).unwrap_or(&[]);
        for i in 0..words.len().max(theirs.len()) {
            let word = words.get(i).map_or(0, |w| w.read());
            match word.cmp(theirs.get(i).unwrap_or(&0)) {
                cmp::Ordering::Equal => {}
                unequal => return unequal,
            }
        }
        cmp::Ordering::Equal
    }

    /// Bytes of all tails.
    pub fn bytes(&self) -> usize {
        self.sizes.iter().map(Pieces::bytes).sum()
    }
}
