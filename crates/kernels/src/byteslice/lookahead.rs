//! Which lower slices a scan asks for ahead of time.
//!
//! Early stopping leaves out most vectors of the lower slices, which no prefetcher of the machine foresees:
//! out of cache every vector that is needed after all waits for memory, and a few of them take longer than
//! reading the whole slice would. So a scan counts how many vectors of some rows needed a slice, and while
//! they are not rare, asks for all of its lines well ahead: they then cost bandwidth only, as if
//! all slices were read. Slices that are needed rarely are left alone and save their bandwidth.

use super::slices::{MOST, Slices};
use crate::prefetch::prefetch_read;

/// Match words after which is decided anew.
pub(super) const WORDS: usize = 16;
/// Rows from those that are tested to those whose lines are asked for: what memory delivers of two slices
/// while a line is on its way.
const AHEAD_ROWS: usize = 2048;

/// Vectors that needed each slice, lately, and the slices asked for.
pub(super) struct Lookahead {
    /// Slice `j`'s number in byte `j`.
    reads: u64,
    /// Slices below this one are asked for, but for the first, which is read from end to end.
    wanted: usize,
}

impl Lookahead {
    /// Of `count` slices, on codes that nothing is known of: on uniform ones a fifth of the vectors needs a
    /// second slice, and hardly any a third (ByteSlice, equation 2).
    #[inline(always)]
    pub fn new(count: usize) -> Lookahead {
        Lookahead {
            reads: 0,
            wanted: count.min(2),
        }
    }

    /// Notes that a vector needed slice `j`.
    #[inline(always)]
    pub fn count(&mut self, j: usize) {
        self.reads += 1 << (8 * j);
    }

    /// Decides by what was counted since it did last.
    #[inline(always)]
    pub fn decide(&mut self) {
        // One of the words that were tested is more than break-even, which is at about one in sixteen.
        self.wanted = MOST - self.reads.leading_zeros() as usize / 8;
        self.reads = 0;
    }

    /// Asks for the lines of the 64 rows some way behind `row`, whose lanes take `lane` bytes.
    #[inline(always)]
    pub fn ask(&self, codes: &Slices<'_>, row: usize, lane: usize) {
        let at = (row + AHEAD_ROWS) * lane;
        if at + 64 * lane > codes.stride {
            return;
        }
        for j in 1..self.wanted {
            for line in 0..lane {
                prefetch_read(codes.at(j * codes.stride + at + line * 64));
            }
        }
    }
}
