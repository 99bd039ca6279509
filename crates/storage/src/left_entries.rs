//! Index entries of deleted rows that commits leave to a worker in the background.
//!
//! A commit removes the entries of the rows that it deleted, if no living version shows them: two thirds of a commit's
//! time in TPC-C. As long as commits come often, a worker takes over: commits leave the rows, and the worker comes each
//! millisecond. While commits are rare they remove entries themselves, so that an index has no entries that nobody
//! needs when a commit returns, and the worker need not wake up.
//!
//! A lookup of a key meets the entries that are left as candidates in vain, and the notes of rows keep their chunks. So
//! a commit that finds more than [`MOST_LEFT`] rows of a table removes entries as if there were no worker: a writer
//! that never rests beside a worker that is kept from its work leaves no more than these.

use crate::entry_collector::{EntryCollector, MOST_COLLECTED, ShowsRows};
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

/// Rows of one table whose entries a commit leaves at most: those of some milliseconds of TPC-C on one core.
const MOST_LEFT: u64 = 256;
/// Commits with entries to remove, between two calls of [`LeftEntries::serve`], from which on a worker takes over. With
/// two calls a second, fewer commits remove entries for some milliseconds of a second at most.
const FREQUENT: u64 = 100;

/// Tables whose entries wait for the worker. Versions of tables are `V`.
#[derive(Debug)]
pub(crate) struct LeftEntries<V> {
    /// True if commits leave entries.
    is_served: AtomicBool,
    /// Commits to tables with entries to remove, since the worker last decided.
    commits: AtomicU64,
    /// The tables' collectors, each once.
    waiting: Mutex<Vec<Arc<EntryCollector<V>>>>,
}

impl<V> Default for LeftEntries<V> {
    fn default() -> LeftEntries<V> {
        LeftEntries {
            is_served: AtomicBool::new(false),
            commits: AtomicU64::new(0),
            waiting: Mutex::default(),
        }
    }
}

impl<V: ShowsRows> LeftEntries<V> {
    /// Removes the entries of rows that a commit to a table deleted, or leaves them to the worker.
    pub fn settle(&self, collector: &Arc<EntryCollector<V>>) {
        self.commits.fetch_add(1, Ordering::Relaxed);
        let is_left = self.is_served.load(Ordering::Relaxed)
            && collector.waiting() <= MOST_LEFT
            && !collector.is_crowded();
        if !is_left {
            collector.collect(MOST_COLLECTED);
        } else if collector.begins_to_wait() {
            self.lock().push(collector.clone());
        }
    }

    /// Decides by the commits since the last call if others leave entries from now on. Removes those that were left.
    pub fn serve(&self) -> bool {
        let is_served = self.commits.swap(0, Ordering::Relaxed) >= FREQUENT;
        self.is_served.store(is_served, Ordering::Relaxed);
        // A commit that saw the decision before this one leaves entries even now: the next call removes them.
        self.remove();
        is_served
    }

    /// Lets commits remove entries themselves from now on: the worker ends.
    pub fn stop(&self) {
        self.is_served.store(false, Ordering::Relaxed);
        self.remove();
    }

    /// Removes the entries that were left, but for those of rows that a living version shows.
    pub fn remove(&self) {
        let waiting = std::mem::take(&mut *self.lock());
        for collector in waiting {
            // A commit that comes from now on makes the table wait again.
            collector.ends_to_wait();
            collector.collect(MOST_COLLECTED);
        }
    }

    fn lock(&self) -> MutexGuard<'_, Vec<Arc<EntryCollector<V>>>> {
        self.waiting.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
