//! All tables of a database: the current versions, and how transactions that write begin and end.
//!
//! With a log there are two current versions. The *newest* one has every commit that has its place in the log:
//! transactions that write begin with it. The *visible* one has the commits that are durable, without a gap: readers
//! begin with it. A commit becomes the newest version when it is in the log, and visible when that is durable, so that
//! commits share syncs.
//!
//! Commits take turns in one short *section*, in which each is merged into the newest version, gets its place in the
//! log and is installed. So the order of versions is the order of the log.

use crate::left_entries::LeftEntries;
use crate::log::{Durability, Lsn};
use crate::other_writers::{OtherWriters, Room};
use crate::section::{CommitTimes, Section, Turn};
use crate::snapshot::{Snapshot, TableSnapshot};
use crate::transaction::Transaction;
use crate::visible::{Look, Visible};
use crate::writer_memory::WriterMemory;
use arc_swap::ArcSwapOption;
use frazil_catalog::Catalog;
use frazil_locks::Locks;
use frazil_types::{Cancel, Error, MemoryBudget, ObjectId, Result, SqlState};
use std::collections::BTreeMap;
use std::ops::Deref;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard};
use std::time::Duration;

/// Lists of finished transactions that wait for others.
const MOST_SPARE: usize = 16;

/// The tables of a database. Readers wait for nobody; commits take turns.
#[derive(Debug)]
pub struct Store {
    /// The visible version.
    visible: Apart<Visible>,
    /// Timestamp of the newest version.
    newest_timestamp: Apart<AtomicU64>,
    /// Held while a commit is merged, gets its place in the log and is installed.
    section: Apart<Section>,
    /// The newest version. Only those who write ask for it, so that a commit pays no more for it than a latch.
    newest: Apart<Mutex<Arc<Snapshot>>>,
    /// Memory of finished transactions.
    spare: Apart<Mutex<Vec<WriterMemory>>>,
    /// Index entries that commits leave to a worker.
    left_entries: Apart<LeftEntries<TableSnapshot>>,
    /// The log of commits; `None`: they go to memory only.
    log: ArcSwapOption<Arc<dyn Durability>>,
    /// Claims of rows, and who may write. `None`: nobody but one thread knows the store.
    locks: Option<Locks>,
    /// No transaction begins that may write.
    is_read_only: AtomicBool,
    /// The schemas of temporary objects whose sessions have ended, and which are still to be dropped.
    pub(crate) abandoned: Mutex<Vec<String>>,
}

/// 25006.
pub fn read_only() -> Error {
    Error::new(
        SqlState::READ_ONLY_TRANSACTION,
        "the database was opened read-only: nothing can be written",
    )
    .with_hint("close it and open it for writing")
}

/// Something in a pair of cache lines of its own: commits of several threads write to it, and those who read what is
/// beside it do not notice.
#[derive(Debug, Default)]
#[repr(align(128))]
struct Apart<T>(T);

impl<T> Deref for Apart<T> {
    type Target = T;

    fn deref(&self) -> &T {
        &self.0
    }
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(|e| e.into_inner())
}

impl Store {
    /// A store without tables.
    pub fn new() -> Arc<Store> {
        Store::restore(Catalog::new(), (Lsn(0), 0), Vec::new(), BTreeMap::new())
    }

    /// A store without tables for one thread: its transactions are not kept apart.
    pub fn unshared() -> Arc<Store> {
        let nothing = Snapshot::restored(Catalog::new(), (Lsn(0), 0), Vec::new(), BTreeMap::new());
        Store::of(nothing, None)
    }

    /// A store of these tables, as read from a directory: with all commits up to a place in the log and a timestamp.
    /// Constraints that have no ids get them. Statements of the `damaged` tables, which the catalog has beside them,
    /// fail with these errors.
    pub fn restore(
        catalog: Catalog,
        (lsn, timestamp): (Lsn, u64),
        tables: Vec<TableSnapshot>,
        damaged: BTreeMap<ObjectId, Error>,
    ) -> Arc<Store> {
        let snapshot = Snapshot::restored(catalog, (lsn, timestamp), tables, damaged);
        // The memory of claims is counted by the transactions that make them.
        let locks = Locks::new(MemoryBudget::unlimited());
        Store::of(snapshot, Some(locks))
    }

    fn of(snapshot: Snapshot, locks: Option<Locks>) -> Arc<Store> {
        let timestamp = snapshot.timestamp;
        let snapshot = Arc::new(snapshot);
        Arc::new(Store {
            visible: Apart(Visible::new(snapshot.clone())),
            newest_timestamp: Apart(AtomicU64::new(timestamp)),
            section: Apart::default(),
            newest: Apart(Mutex::new(snapshot)),
            spare: Apart::default(),
            left_entries: Apart::default(),
            log: ArcSwapOption::empty(),
            locks,
            is_read_only: AtomicBool::new(false),
            abandoned: Mutex::default(),
        })
    }

    /// Lets the commits of transactions that begin from now on go to a log. Called before the first one begins, and at the end,
    /// with a log that takes none.
    pub fn set_log(&self, log: Arc<dyn Durability>) {
        self.log.store(Some(Arc::new(log)));
    }

    /// Refuses whoever would write from now on: 25006.
    pub fn refuse_writers(&self) {
        self.is_read_only.store(true, Ordering::Relaxed);
    }

    /// Whether whoever would write is refused.
    pub fn is_read_only(&self) -> bool {
        self.is_read_only.load(Ordering::Relaxed)
    }

    /// Where commits go.
    pub(crate) fn log(&self) -> Option<Arc<dyn Durability>> {
        self.log.load().as_ref().map(|log| (**log).clone())
    }

    /// The committed state. Cheap; waits for nobody but whoever swaps a pointer.
    pub fn snapshot(&self) -> Arc<Snapshot> {
        self.visible.get()
    }

    /// The same for a while: cheaper still, as long as a thread has few of them.
    pub fn look(&self) -> Look {
        self.visible.look()
    }

    /// Claims of rows, who waits for whom, and who may write. `None`: see [`Store::unshared`].
    pub fn locks(&self) -> Option<&Locks> {
        self.locks.as_ref()
    }

    /// Begins a transaction that may write rows, beside others that do. Waits at most `timeout` for one that changes
    /// more than rows, then 55P03. 25006 where nobody writes.
    pub fn begin(self: &Arc<Store>, timeout: Duration, cancel: &Cancel) -> Result<Transaction> {
        self.begin_in((Room::Shared, false), None, (timeout, cancel))
    }

    /// Begins a transaction that may write rows, beside others that do, and whose statements begin with the visible
    /// version: [`Transaction::see_visible`]. What it then shows need not be waited for.
    pub fn begin_visible(self: &Arc<Store>, timeout: Duration, cancel: &Cancel) -> Result<Transaction> {
        let others = self.enter((Room::Shared, false), (timeout, cancel))?;
        let visible = self.snapshot();
        let follows = others.follows();
        let base = match visible.timestamp < follows {
            true => self.newest(),
            false => visible.clone(),
        };
        Ok(self.with(others, base).beginning_visible(visible.timestamp))
    }

    /// Begins a transaction that may change anything: waits at most `timeout` for all that write to end, then 55P03,
    /// and nobody else writes until it ends. 25006 where nobody writes.
    pub fn begin_alone(self: &Arc<Store>, timeout: Duration, cancel: &Cancel) -> Result<Transaction> {
        self.begin_in((Room::Alone, false), None, (timeout, cancel))
    }

    /// Begins a transaction that changes the catalog, beside others that write rows. Waits at most `timeout` for
    /// another one that changes the catalog, then 55P03. 25006 where nobody writes.
    pub fn begin_defining(self: &Arc<Store>, timeout: Duration, cancel: &Cancel) -> Result<Transaction> {
        self.begin_in((Room::Defining, false), None, (timeout, cancel))
    }

    /// Begins a transaction that may write rows, and sees `seen`, or the newest version, to its end.
    pub fn begin_at(
        self: &Arc<Store>,
        seen: Option<Arc<Snapshot>>,
        timeout: Duration,
        cancel: &Cancel,
    ) -> Result<Transaction> {
        self.begin_in((Room::Shared, true), seen, (timeout, cancel))
    }

    fn begin_in(
        self: &Arc<Store>,
        standing: (Room, bool),
        seen: Option<Arc<Snapshot>>,
        patience: (Duration, &Cancel),
    ) -> Result<Transaction> {
        let others = self.enter(standing, patience)?;
        let base = seen.unwrap_or_else(|| self.newest());
        Ok(self.with(others, base))
    }

    /// Waits until there is room for a transaction. 55P03, 57014; 25006 where nobody writes.
    fn enter(&self, standing: (Room, bool), (timeout, cancel): (Duration, &Cancel)) -> Result<OtherWriters> {
        match self.is_read_only() {
            true => Err(read_only()),
            false => OtherWriters::enter(self, standing, timeout, cancel),
        }
    }

    /// A transaction for which there is room, on top of a version.
    fn with(self: &Arc<Store>, others: OtherWriters, base: Arc<Snapshot>) -> Transaction {
        let memory = lock(&self.spare).pop().unwrap_or_default();
        let has_log = self.log.load().is_some();
        Transaction::new(self.clone(), others, base, (memory, has_log))
    }

    /// Takes the memory of a finished transaction, which is empty, for another one.
    pub(crate) fn keep_memory(&self, memory: WriterMemory) {
        let mut spare = lock(&self.spare);
        if spare.len() < MOST_SPARE {
            spare.push(memory);
        }
    }

    /// Index entries that commits leave to a worker.
    pub(crate) fn left_entries(&self) -> &LeftEntries<TableSnapshot> {
        &self.left_entries
    }

    /// Decides if commits leave index entries of deleted rows to the caller from now on, a worker in the background, by
    /// how many commits there were since the last call. While the result is true, the worker calls
    /// [`Store::remove_left_entries`] each millisecond or so.
    pub fn serve_commits(&self) -> bool {
        self.left_entries.serve()
    }

    /// Lets commits remove index entries themselves from now on, because the worker ends.
    pub fn stop_serving_commits(&self) {
        self.left_entries.stop();
    }

    /// Removes the index entries that commits have left, but for those of rows that a living version shows.
    pub fn remove_left_entries(&self) {
        self.left_entries.remove();
    }

    /// The newest version.
    pub(crate) fn newest(&self) -> Arc<Snapshot> {
        lock(&self.newest).clone()
    }

    /// True if a version is the newest one.
    pub(crate) fn is_newest(&self, version: &Snapshot) -> bool {
        self.newest_timestamp.load(Ordering::Acquire) == version.timestamp
    }

    /// Waits until no other commit is in the section. Nobody waits for anything else in the section.
    pub(crate) fn section(&self) -> Turn<'_> {
        self.section.enter()
    }

    /// Times commits from now on, and returns the times so far.
    pub fn time_commits(&self) -> CommitTimes {
        self.section.time()
    }

    /// Makes `next` the newest version, and returns the one before. Called in the section.
    pub(crate) fn install(&self, next: Arc<Snapshot>) -> Arc<Snapshot> {
        let timestamp = next.timestamp;
        let before = std::mem::replace(&mut *lock(&self.newest), next);
        self.newest_timestamp.store(timestamp, Ordering::Release);
        before
    }

    /// Makes `next` the visible version, and returns one that is not visible any more. Called in the section, where
    /// nothing is waited for; [`Store::tidy_visible`] is called after it.
    pub(crate) fn show(&self, next: &Arc<Snapshot>) -> Arc<Snapshot> {
        self.visible.show(next)
    }

    /// Lets go of versions that are not visible any more.
    pub(crate) fn tidy_visible(&self) {
        self.visible.tidy();
    }

    /// Makes `next` the visible version, unless a later one is.
    pub(crate) fn publish(&self, next: &Arc<Snapshot>) {
        drop(self.visible.show(next));
        self.visible.tidy();
    }
}
