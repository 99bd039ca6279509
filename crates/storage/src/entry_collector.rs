//! Entries of deleted rows leave the indexes of a table when no version is alive that shows the rows.
//!
//! Each commit hands over the version of the table that it replaces, and the rows that it deleted. A version is alive as long
//! as somebody holds it, whom its weak reference tells of: readers do nothing for it. Rows of a commit leave when
//! all versions before it are gone; that is looked at with each commit to the table, which removes a bounded number of entries,
//! and by the background freezer, which removes the others.

use crate::index_log::IndexedRows;
use std::collections::VecDeque;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, Weak};

/// Replaced versions that are kept in mind before dead ones among them are looked for: fewer cost nothing.
const FEW_VERSIONS: usize = 64;

/// What waits to leave the indexes of one table, whose versions are `V`.
#[derive(Debug)]
pub(crate) struct EntryCollector<V> {
    inner: Mutex<Waiting<V>>,
    /// Rows in `inner`, to be read without its lock.
    rows: AtomicU64,
}

#[derive(Debug)]
struct Waiting<V> {
    /// Versions that were replaced, with the timestamp of the commit that did so, ascending.
    replaced: VecDeque<(u64, Weak<V>)>,
    /// Length of `replaced` at which dead versions behind a living one are dropped.
    crowded: usize,
    /// Rows that were deleted, with the timestamp of the commit, ascending.
    dead: VecDeque<(u64, Vec<IndexedRows>)>,
}

impl<V> Waiting<V> {
    /// Drops the dead versions before the oldest living one.
    fn drop_dead(&mut self) {
        while (self.replaced.front()).is_some_and(|(_, version)| version.strong_count() == 0) {
            self.replaced.pop_front();
        }
    }
}

impl<V> Default for EntryCollector<V> {
    fn default() -> EntryCollector<V> {
        EntryCollector {
            inner: Mutex::new(Waiting {
                replaced: VecDeque::new(),
                crowded: 0,
                dead: VecDeque::new(),
            }),
            rows: AtomicU64::new(0),
        }
    }
}

impl<V> EntryCollector<V> {
    /// A commit with a timestamp replaced a version, if the table was there before, and deleted rows.
    pub fn add(&self, timestamp: u64, replaced: Option<&Arc<V>>, deleted: Vec<IndexedRows>) {
        let mut inner = self.inner.lock().unwrap_or_else(|e| e.into_inner());
        inner.drop_dead();
        let replaced = replaced.map(|version| (timestamp, Arc::downgrade(version)));
        inner.replaced.extend(replaced);
        if inner.replaced.len() > inner.crowded.max(FEW_VERSIONS) {
            inner.replaced.retain(|(_, version)| version.strong_count() > 0);
            inner.crowded = inner.replaced.len() * 2;
        }
        if !deleted.is_empty() {
            let rows: usize = deleted.iter().map(IndexedRows::len).sum();
            self.rows.fetch_add(rows as u64, Ordering::Relaxed);
            inner.dead.push_back((timestamp, deleted));
        }
    }

    /// Rows whose entries wait to leave.
    pub fn waiting(&self) -> u64 {
        self.rows.load(Ordering::Relaxed)
    }

    /// Takes over rows of a transaction that was undone: no version shows them.
    pub fn add_undone(&self, undone: IndexedRows) {
        let mut inner = self.inner.lock().unwrap_or_else(|e| e.into_inner());
        self.rows.fetch_add(undone.len() as u64, Ordering::Relaxed);
        inner.dead.push_front((0, vec![undone]));
    }

    /// Removes the entries of rows that no living version shows, of `most` rows at most.
    pub fn collect(&self, most: usize) {
        // Most commits delete nothing: of the versions they replaced the dead ones are dropped many at a time.
        if self.waiting() == 0 {
            return;
        }
        let mut left = most;
        while left > 0
            && let Some((timestamp, mut dead)) = self.next_dead()
        {
            while left > 0
                && let Some(rows) = dead.last_mut()
            {
                let count = rows.remove_entries(left);
                self.rows.fetch_sub(count as u64, Ordering::Relaxed);
                left -= count;
                if rows.len() == 0 {
                    dead.pop();
                }
            }
            if !dead.is_empty() {
                let mut inner = self.inner.lock().unwrap_or_else(|e| e.into_inner());
                inner.dead.push_front((timestamp, dead));
            }
        }
    }

    fn next_dead(&self) -> Option<(u64, Vec<IndexedRows>)> {
        let mut inner = self.inner.lock().unwrap_or_else(|e| e.into_inner());
        inner.drop_dead();
        // The oldest living version was replaced by this commit: it shows the rows which this and later commits deleted.
        let shown_from = inner
            .replaced
            .front()
            .map_or(u64::MAX, |&(timestamp, _)| timestamp);
        let free = inner
            .dead
            .front()
            .is_some_and(|&(timestamp, _)| timestamp < shown_from);
        free.then(|| inner.dead.pop_front()).flatten()
    }
}
