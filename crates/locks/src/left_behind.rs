//! Numbers that holders leave behind: whoever takes the same row or key later finds the greatest one.
//!
//! A commit frees its claims when its version is installed, and readers see the version later, once it is durable. A
//! transaction that begins its statements with what readers see must not miss the commit of whoever held a row before
//! it. *A locks a row, inserts others and commits. B locks the row next, and its following statement does not see what
//! A inserted.* So a commit leaves its timestamp behind before it frees its claims, and B begins its statements with
//! that version or a later one.
//!
//! Targets share slots by their hashes: a number that was left for another target makes B see more than it must, and
//! nothing else. Nothing is left for tables, whose locks writers share. A commit with a lock that keeps writers away
//! from a table, or with many claims, leaves its number for all targets.

use crate::hashing::hash_of;
use crate::held::Target;
use std::sync::atomic::{AtomicU64, Ordering};

/// Slots: some ten times the claims of the commits that are on their way to the disk.
const SLOTS: usize = 4096;

/// Numbers by target, and one for all targets. No access orders anything: a number is left before the target is freed
/// and looked for after it was taken, and the latch of the target's shard orders these two.
pub(crate) struct LeftBehind {
    everywhere: AtomicU64,
    slots: Box<[AtomicU64]>,
}

impl LeftBehind {
    pub fn new() -> LeftBehind {
        LeftBehind {
            everywhere: AtomicU64::new(0),
            slots: (0..SLOTS).map(|_| AtomicU64::new(0)).collect(),
        }
    }

    fn slot(&self, target: Target) -> &AtomicU64 {
        &self.slots[(hash_of(target) >> 40) as usize % SLOTS]
    }

    /// Leaves a number for whoever takes a target.
    pub fn leave(&self, target: Target, number: u64) {
        self.slot(target).fetch_max(number, Ordering::Relaxed);
    }

    /// Leaves a number for whoever takes anything.
    pub fn leave_everywhere(&self, number: u64) {
        self.everywhere.fetch_max(number, Ordering::Relaxed);
    }

    /// The greatest number that was left for a target, or for all; 0 if none was.
    pub fn of(&self, target: Target) -> u64 {
        let everywhere = self.everywhere.load(Ordering::Relaxed);
        match target {
            Target::Table(_) => everywhere,
            Target::Row(..) | Target::Key(..) => everywhere.max(self.slot(target).load(Ordering::Relaxed)),
        }
    }
}
