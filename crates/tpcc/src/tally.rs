//! Counts and times of transactions.

use crate::latencies::Latencies;
use crate::transactions::{Ended, Kind};
use std::time::Duration;

/// Counts and times of the transactions of one kind.
#[derive(Clone, Debug, Default)]
pub struct Counts {
    /// Times of all transactions, from their first try on; those that rolled back as intended are among them.
    pub latencies: Latencies,
    /// New orders that rolled back, because they named an item that does not exist.
    pub rolled_back: u64,
    /// Tries that failed with 40001 and were repeated.
    pub conflicts: u64,
    /// Tries that failed with 40P01 and were repeated.
    pub deadlocks: u64,
}

/// Counts and times of all transactions.
#[derive(Clone, Debug, Default)]
pub struct Tally {
    /// `kinds[kind as usize]` has those of a kind.
    kinds: [Counts; Kind::ALL.len()],
}

impl Tally {
    /// The transactions of a kind.
    pub fn of(&self, kind: Kind) -> &Counts {
        &self.kinds[kind as usize]
    }

    /// Transactions of all kinds.
    pub fn transactions(&self) -> u64 {
        self.kinds.iter().map(|counts| counts.latencies.count()).sum()
    }

    /// Times of all transactions, whatever their kind.
    pub fn latencies(&self) -> Latencies {
        let mut all = Latencies::default();
        for counts in &self.kinds {
            all.merge(&counts.latencies);
        }
        all
    }

    /// New orders that committed.
    pub fn orders(&self) -> u64 {
        let counts = self.of(Kind::NewOrder);
        counts.latencies.count() - counts.rolled_back
    }

    /// Tries of all kinds that failed and were repeated.
    pub fn repeated(&self) -> u64 {
        self.kinds
            .iter()
            .map(|counts| counts.conflicts + counts.deadlocks)
            .sum()
    }

    /// Adds all of another tally.
    pub fn merge(&mut self, other: &Tally) {
        for (counts, other) in self.kinds.iter_mut().zip(&other.kinds) {
            counts.latencies.merge(&other.latencies);
            counts.rolled_back += other.rolled_back;
            counts.conflicts += other.conflicts;
            counts.deadlocks += other.deadlocks;
        }
    }

    pub(crate) fn add(&mut self, kind: Kind, ended: Ended, time: Duration) {
        let counts = &mut self.kinds[kind as usize];
        counts.latencies.add(time);
        counts.rolled_back += u64::from(ended == Ended::RolledBack);
    }

    pub(crate) fn of_mut(&mut self, kind: Kind) -> &mut Counts {
        &mut self.kinds[kind as usize]
    }
}
