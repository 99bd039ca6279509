//! Counters that many sessions add to, and few read.

use std::sync::atomic::{AtomicU64, Ordering};

/// Sets of counters: sessions of different sets do not meet in a cache line.
const SETS: u64 = 8;

/// `N` counters.
#[derive(Debug)]
pub struct Counts<const N: usize>([Line<N>; SETS as usize]);

/// A set of counters in a cache line.
#[derive(Debug)]
#[repr(align(64))]
struct Line<const N: usize>([AtomicU64; N]);

impl<const N: usize> Default for Counts<N> {
    fn default() -> Counts<N> {
        Counts(std::array::from_fn(|_| {
            Line(std::array::from_fn(|_| AtomicU64::new(0)))
        }))
    }
}

impl<const N: usize> Counts<N> {
    /// Adds to the counters, each by its position, for the session of a number.
    pub fn add(&self, session: u64, added: [u64; N]) {
        let set = &self.0[(session % SETS) as usize].0;
        for (counter, added) in set.iter().zip(added) {
            if added > 0 {
                counter.fetch_add(added, Ordering::Relaxed);
            }
        }
    }

    /// Counts anew. What sessions add meanwhile is kept.
    pub fn reset(&self) {
        let sums = self.sums();
        for (counter, sum) in self.0[0].0.iter().zip(sums) {
            counter.fetch_sub(sum, Ordering::Relaxed);
        }
    }

    /// Returns the sums, which wrap.
    pub fn sums(&self) -> [u64; N] {
        std::array::from_fn(|at| {
            let counters = self.0.iter().map(|set| set.0[at].load(Ordering::Relaxed));
            counters.fold(0, u64::wrapping_add)
        })
    }
}
