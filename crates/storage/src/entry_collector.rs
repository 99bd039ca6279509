//! Entries of deleted rows leave the indexes of a table when no living version shows the rows.
//!
//! Each commit hands over the version of the table that it replaces, and the rows that it deleted. A version is alive
//! as long as somebody holds it, and its weak reference tells: readers do nothing for it. A deleted row can be shown
//! only by versions that were replaced by the commit that deleted it or by an earlier one, so these are asked if they
//! show the row. If none does, the entries leave, however old the oldest reader is: beside a view that is open for an hour,
//! the rows of an hour's updates come and go.
//!
//! A row that an old version shows is *held* by the latest such version, and nobody asks for it again before that
//! version is gone. Then the earlier ones are asked. Many rows of one chunk are held by one note.
//!
//! A version that a transaction made and has not committed holds the version that it derives from, so that rows of
//! others which it shows are held. Nobody but the transaction itself deletes its own rows before it commits. If its
//! versions outlive the commit, they are counted as one that shows every row which the commit and later ones deleted.
//!
//! Each commit to the table removes a bounded number of entries, or leaves them to a worker while commits come often
//! (`left_entries.rs`), and the background freezer removes the others. Old versions are asked for [`ASKED_TOGETHER`]
//! rows at a time, because looking through the versions costs as much as a commit.

use crate::index_log::IndexedRows;
use frazil_types::RowId;
use std::collections::{BTreeMap, VecDeque};
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, Weak};

/// Rows whose entries a transaction takes out of indexes when it ends; the others leave later. Some 30 ms where the
/// indexes do not fit into caches.
pub(crate) const MOST_COLLECTED: usize = 16 << 10;
/// Replaced versions that are kept in mind before dead ones among them are looked for: fewer cost nothing.
const FEW_VERSIONS: usize = 64;
/// Rows that wait beside an old reader until the old versions are asked for them. Each lookup of a key may meet as many
/// candidates in vain.
const ASKED_TOGETHER: usize = 16;
/// Old versions that are asked for a row. The next earlier one holds the row without being asked.
const MOST_ASKED: usize = 64;

/// A version of a table, as the collector sees it.
pub(crate) trait ShowsRows {
    /// True if the version shows a row.
    fn shows_row(&self, row: RowId) -> bool;
}

/// Deleted rows of one table whose entries wait to leave its indexes. Versions of the table are `V`.
#[derive(Debug)]
pub(crate) struct EntryCollector<V> {
    inner: Mutex<Waiting<V>>,
    /// Rows in `inner`, to be read without its lock.
    rows: AtomicU64,
    /// True if dead versions are to be looked for.
    is_crowded: AtomicBool,
    /// True if the table is among those that wait for a worker.
    waits: AtomicBool,
}

/// Rows of one commit, or of one version that held them.
#[derive(Debug)]
struct DeadRows {
    /// No version that was replaced after this time shows the rows.
    timestamp: u64,
    rows: Vec<IndexedRows>,
}

#[derive(Debug)]
struct Waiting<V> {
    /// Versions that were replaced, in the order of the commits that did so.
    old: VecDeque<Old<V>>,
    /// Numbers given to them so far.
    numbered: u64,
    /// Length of `old` at which dead versions behind a living one are dropped.
    crowded: usize,
    /// Rows that no version is known to show.
    dead: VecDeque<DeadRows>,
    /// Number of rows in `dead`.
    unasked: usize,
}

/// A version that was replaced.
#[derive(Debug)]
struct Old<V> {
    /// Later versions have greater numbers.
    number: u64,
    /// Timestamp of the commit that replaced it.
    timestamp: u64,
    version: Version<V>,
    /// Deleted rows that it shows and that no later one shows, by the numbers of their chunks.
    held: BTreeMap<u32, Vec<IndexedRows>>,
}

#[derive(Debug)]
enum Version<V> {
    Committed(Weak<V>),
    /// The versions of a transaction before it committed, which nobody can ask.
    Private(Weak<()>),
}

/// A version that is kept alive while it is asked.
enum Asked<V> {
    Committed(Arc<V>),
    Private(Arc<()>),
}

impl<V> Version<V> {
    fn is_alive(&self) -> bool {
        match self {
            Version::Committed(version) => version.strong_count() > 0,
            Version::Private(transaction) => transaction.strong_count() > 0,
        }
    }

    fn ask(&self) -> Option<Asked<V>> {
        match self {
            Version::Committed(version) => version.upgrade().map(Asked::Committed),
            Version::Private(transaction) => transaction.upgrade().map(Asked::Private),
        }
    }
}

impl<V: ShowsRows> Asked<V> {
    /// True if the version may show a row.
    fn shows(&self, row: RowId) -> bool {
        match self {
            Asked::Committed(version) => version.shows_row(row),
            Asked::Private(transaction) => Arc::strong_count(transaction) > 0,
        }
    }
}

/// The living versions that may show rows, the latest first: number, timestamp and version.
type Readers<V> = Vec<(u64, u64, Asked<V>)>;

impl<V> Waiting<V> {
    fn push_old(&mut self, timestamp: u64, version: Version<V>) {
        self.numbered += 1;
        self.old.push_back(Old {
            number: self.numbered,
            timestamp,
            version,
            held: BTreeMap::new(),
        });
    }

    fn push_dead(&mut self, timestamp: u64, rows: Vec<IndexedRows>) {
        self.unasked += rows.iter().map(IndexedRows::len).sum::<usize>();
        self.dead.push_front(DeadRows { timestamp, rows });
    }

    /// Lets go what a version held that is gone. Earlier versions may show the rows.
    fn let_go(&mut self, timestamp: u64, held: BTreeMap<u32, Vec<IndexedRows>>) {
        if !held.is_empty() {
            self.push_dead(timestamp, held.into_values().flatten().collect());
        }
    }

    /// Drops the dead versions before the oldest living one.
    fn drop_first_dead(&mut self) {
        while self.old.front().is_some_and(|old| !old.version.is_alive())
            && let Some(old) = self.old.pop_front()
        {
            self.let_go(old.timestamp, old.held);
        }
    }

    /// Drops all dead versions.
    fn drop_all_dead(&mut self) {
        let mut let_go = Vec::new();
        self.old.retain_mut(|old| {
            let is_alive = old.version.is_alive();
            if !is_alive {
                let_go.push((old.timestamp, std::mem::take(&mut old.held)));
            }
            is_alive
        });
        for (timestamp, held) in let_go {
            self.let_go(timestamp, held);
        }
        self.crowded = self.old.len() * 2;
    }

    /// Takes rows whose entries may leave, `most` of them and the rest of the commit that deleted the last ones, and
    /// the versions to be asked. Without `asks`, takes only rows that no living version can show.
    fn take(&mut self, most: usize, asks: bool) -> (Vec<DeadRows>, Readers<V>) {
        // The oldest living version was replaced at this time: it may show rows that were deleted then or later.
        let shown_from = self.old.front().map_or(u64::MAX, |old| old.timestamp);
        let (mut taken, mut count, mut latest) = (Vec::new(), 0, 0);
        while count < most {
            let is_free = (self.dead.front()).is_some_and(|dead| asks || dead.timestamp < shown_from);
            let Some(dead) = is_free.then(|| self.dead.pop_front()).flatten() else {
                break;
            };
            count += dead.rows.iter().map(IndexedRows::len).sum::<usize>();
            latest = latest.max(dead.timestamp);
            taken.push(dead);
        }
        self.unasked -= count;
        let old = self
            .old
            .iter()
            .rev()
            .filter(|old| asks && old.timestamp <= latest);
        let readers = old.filter_map(|old| Some((old.number, old.timestamp, old.version.ask()?)));
        (taken, readers.collect())
    }

    /// Gives rows of a chunk to a version that shows them.
    fn hold(&mut self, number: u64, timestamp: u64, rows: IndexedRows) {
        match self.old.binary_search_by_key(&number, |old| old.number) {
            Ok(at) => {
                let of_chunk = self.old[at].held.entry(rows.chunk_number()).or_default();
                if let Some(rest) = of_chunk.iter_mut().try_fold(rows, |rows, note| note.join(rows)) {
                    of_chunk.push(rest);
                }
            }
            Err(_) => self.push_dead(timestamp, vec![rows]),
        }
    }
}

impl<V> Default for EntryCollector<V> {
    fn default() -> EntryCollector<V> {
        EntryCollector {
            inner: Mutex::new(Waiting {
                old: VecDeque::new(),
                numbered: 0,
                crowded: 0,
                dead: VecDeque::new(),
                unasked: 0,
            }),
            rows: AtomicU64::new(0),
            is_crowded: AtomicBool::new(false),
            waits: AtomicBool::new(false),
        }
    }
}

impl<V> EntryCollector<V> {
    /// A commit with a timestamp replaced a version, if the table was there before, and deleted rows. `transaction` is
    /// held by the versions that the transaction had before the commit; `None` if they are gone.
    pub fn add(
        &self,
        timestamp: u64,
        (replaced, transaction): (Option<&Arc<V>>, Option<&Arc<()>>),
        deleted: Vec<IndexedRows>,
    ) {
        let mut inner = self.lock();
        if let Some(version) = replaced {
            inner.push_old(timestamp, Version::Committed(Arc::downgrade(version)));
        }
        if let Some(transaction) = transaction {
            inner.push_old(timestamp, Version::Private(Arc::downgrade(transaction)));
        }
        if inner.old.len() > inner.crowded.max(FEW_VERSIONS) {
            // Dead versions are dropped outside of the section of commits.
            self.is_crowded.store(true, Ordering::Relaxed);
        }
        if !deleted.is_empty() {
            let rows: usize = deleted.iter().map(IndexedRows::len).sum();
            self.rows.fetch_add(rows as u64, Ordering::Relaxed);
            inner.unasked += rows;
            inner.dead.push_back(DeadRows {
                timestamp,
                rows: deleted,
            });
        }
    }

    fn lock(&self) -> MutexGuard<'_, Waiting<V>> {
        self.inner.lock().unwrap_or_else(|e| e.into_inner())
    }

    /// Rows whose entries wait to leave.
    pub fn waiting(&self) -> u64 {
        self.rows.load(Ordering::Relaxed)
    }

    /// True if many replaced versions have gathered: [`EntryCollector::collect`] should look for dead ones.
    pub fn is_crowded(&self) -> bool {
        self.is_crowded.load(Ordering::Relaxed)
    }

    /// True if [`EntryCollector::collect`] should be called.
    pub fn has_work(&self) -> bool {
        self.waiting() > 0 || self.is_crowded()
    }

    /// Notes that the table waits for a worker. True if it did not wait before. False: the worker, when it comes, sees
    /// what the caller added, because one of the two exchanges of `waits` comes after the other.
    pub fn begins_to_wait(&self) -> bool {
        !self.waits.swap(true, Ordering::AcqRel)
    }

    /// Notes that a worker has come.
    pub fn ends_to_wait(&self) {
        self.waits.swap(false, Ordering::AcqRel);
    }

    /// Takes over rows of a transaction that was undone: no version shows them.
    pub fn add_undone(&self, undone: IndexedRows) {
        let mut inner = self.lock();
        self.rows.fetch_add(undone.len() as u64, Ordering::Relaxed);
        inner.push_dead(0, vec![undone]);
    }
}

impl<V: ShowsRows> EntryCollector<V> {
    /// Removes the entries of rows that no living version shows, of `most` rows at most. With `usize::MAX`, removes all
    /// of them.
    pub fn collect(&self, most: usize) {
        // Most commits delete nothing: of the versions they replaced the dead ones are dropped many at a time.
        if !self.has_work() {
            return;
        }
        let (mut taken, readers) = {
            let mut inner = self.lock();
            inner.drop_first_dead();
            let asks = most == usize::MAX || inner.unasked >= ASKED_TOGETHER;
            if asks || self.is_crowded.swap(false, Ordering::Relaxed) {
                inner.drop_all_dead();
            }
            inner.take(most, asks)
        };
        let mut left = most;
        let mut shown = Vec::new();
        for dead in &mut taken {
            let first = readers.partition_point(|(_, timestamp, _)| *timestamp > dead.timestamp);
            let reader_of = |row| {
                let mut older = readers[first..].iter().enumerate();
                older.position(|(nth, (.., version))| nth >= MOST_ASKED || version.shows(row))
            };
            while left > 0
                && let Some(rows) = dead.rows.last_mut()
            {
                let some = rows.take_last(left);
                left -= some.len();
                if rows.len() == 0 {
                    dead.rows.pop();
                }
                let count = some.len();
                let kept = some.remove_entries_unless(reader_of);
                let kept_count: usize = kept.values().map(IndexedRows::len).sum();
                self.rows
                    .fetch_sub((count - kept_count) as u64, Ordering::Relaxed);
                shown.extend(kept.into_iter().map(|(reader, rows)| (first + reader, rows)));
            }
        }
        taken.retain(|dead| !dead.rows.is_empty());
        if !shown.is_empty() || !taken.is_empty() {
            let mut inner = self.lock();
            for dead in taken.into_iter().rev() {
                inner.push_dead(dead.timestamp, dead.rows);
            }
            for (reader, rows) in shown {
                let (number, timestamp, _) = readers[reader];
                inner.hold(number, timestamp, rows);
            }
        }
        // The last ones to hold their versions free them here, outside the lock.
        drop(readers);
    }
}
