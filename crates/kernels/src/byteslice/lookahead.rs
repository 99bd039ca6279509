//! Which lower slices a scan asks for ahead of time, and which it reads without looking whether it must.
//!
//! Early stopping leaves out most vectors of the lower slices, which no prefetcher of the machine foresees: out of
//! cache every vector that is needed after all waits for memory, and a few of them take longer than reading the whole
//! slice would. So a scan counts how many vectors of some rows needed a slice, and while they are not rare, asks for
//! all of its lines well ahead: they then cost bandwidth only, as if all slices were read. Slices that are needed
//! rarely are left alone and save their bandwidth. Slices that are read from end to end are asked for alike where
//! they are several: a machine's prefetchers may follow one stream as fast as memory is, and two at half of that (Zen
//! 5).
//!
//! A slice that a fifth of the vectors needs is the worst case for a branch, in cache or out of it: foretold wrong
//! once in five times, it takes longer than comparing the slice's bytes every time. So where enough vectors need a
//! slice, it is read of all rows for a while, and then counted again, still without a branch. That is where we depart
//! from algorithm 1: on uniform codes the second slice is read as a whole, and stopping begins behind it.

use super::slices::{MOST, Slices};
use crate::prefetch::prefetch_read;
use std::ops::Range;

/// Match words after which is decided anew.
const WORDS: usize = 16;
/// Rows from those that are tested to those whose lines are asked for: what memory delivers of two slices
/// while a line is on its way.
const AHEAD_ROWS: usize = 4096;

/// Times [`WORDS`] match words for which slices are read unasked after many vectors needed one. A comparison takes
/// three cycles, a branch foretold wrong some eighteen, so one vector in sixteen is break-even.
const UNASKED: u32 = 63;
/// The same after a single vector did, which says little.
const UNASKED_IN_DOUBT: u32 = 3;

/// Slices that may be read unasked: the third is hardly ever needed.
pub(super) const SURE: usize = 2;

/// Where a scan stops reading slices of 64 rows.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Stops {
    /// Nowhere.
    Never,
    /// Nowhere: the slices are [`SURE`] all in all.
    NeverOfSure,
    /// Where nothing is undecided any more, but not before the first [`SURE`] slices.
    BehindSure,
    /// There, counting which slices were needed.
    BehindSureCounting,
    /// Where nothing is undecided any more, counting.
    Anywhere,
}

/// Vectors that needed each slice, lately, and what follows for the slices.
pub(super) struct Lookahead {
    /// Slice `j`'s number in byte `j`.
    needed: u64,
    /// Slices below this one are asked for, but for the first, which is read from end to end.
    wanted: usize,
    /// Whether the second slice is read unasked.
    is_sure: bool,
    /// Times for which it is, and is not counted.
    uncounted: u32,
}

impl Lookahead {
    /// Of `count` slices, on codes that nothing is known of: on uniform ones a fifth of the vectors needs a
    /// second slice, and hardly any a third (ByteSlice, equation 2).
    #[inline(always)]
    pub fn new(count: usize) -> Lookahead {
        Lookahead {
            needed: 0,
            wanted: count.min(2),
            is_sure: true,
            uncounted: 0,
        }
    }

    /// How the next [`WORDS`] words are made, from `count` slices.
    #[inline(always)]
    pub fn stops(&self, count: usize) -> Stops {
        match (self.uncounted, self.is_sure) {
            _ if count < SURE => Stops::Never,
            (1.., _) if count == SURE => Stops::NeverOfSure,
            (1.., _) => Stops::BehindSure,
            (0, true) => Stops::BehindSureCounting,
            (0, false) => Stops::Anywhere,
        }
    }

    /// Match words until is decided anew, of `left`.
    #[inline(always)]
    pub fn words(&self, left: usize) -> usize {
        left.min(WORDS * self.uncounted.max(1) as usize)
    }

    /// Counts a vector that needs slice `j`, or does not.
    #[inline(always)]
    pub fn count(&mut self, j: usize, is_needed: bool) {
        self.needed += u64::from(is_needed) << (8 * j);
    }

    /// Decides by what was counted since it did last.
    #[inline(always)]
    pub fn decide(&mut self) {
        if self.uncounted > 0 {
            self.uncounted = 0;
            return;
        }
        // One of the words that were tested is more than break-even. A slice that was needed before is asked for once
        // more.
        let wanted = MOST - self.needed.leading_zeros() as usize / 8;
        let before = if self.is_sure { self.wanted.min(SURE) } else { 0 };
        self.wanted = wanted.max(before);
        self.uncounted = match self.needed >> 8 & 0xff {
            0 => 0,
            1 if self.is_sure => UNASKED_IN_DOUBT,
            1 => 0,
            _ => UNASKED,
        };
        self.is_sure = self.uncounted > 0;
        self.needed = 0;
    }

    /// The slices after the first to ask for where a scan stops [anywhere](Stops::Anywhere).
    #[inline(always)]
    pub fn wanted(&self) -> Range<usize> {
        1..self.wanted
    }
}

/// Asks for the lines, in some slices, of the 64 rows some way behind `row`, whose lanes take `lane` bytes.
#[inline(always)]
pub(super) fn ask(codes: &Slices<'_>, slices: Range<usize>, row: usize, lane: usize) {
    let at = (row + AHEAD_ROWS) * lane;
    if at + 64 * lane > codes.stride {
        return;
    }
    for j in slices {
        for line in 0..lane {
            prefetch_read(codes.at(j * codes.stride + at + line * 64));
        }
    }
}
