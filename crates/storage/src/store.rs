//! All tables of a database: the current version, and the lock of its one writer.
//!
//! With a log there are two current versions. The *newest* one has every commit that has its place in the log: the next
//! writer begins with it. The *visible* one has the commits that are durable, without a gap: readers begin with it. A writer lets the
//! next one in when its commit is in the log, and makes it visible when that is durable, so that commits share syncs.

use crate::log::{Durability, Lsn};
use crate::persistent_map::PersistentMap;
use crate::snapshot::{Snapshot, TableSnapshot};
use crate::transaction::Transaction;
use crate::writer_memory::WriterMemory;
use arc_swap::ArcSwap;
use frazil_catalog::Catalog;
use frazil_types::{Cancel, Error, ObjectId, Result, SqlState};
use std::collections::BTreeMap;
use std::ops::Deref;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, Condvar, Mutex, MutexGuard};
use std::time::{Duration, Instant};

/// The tables of a database. Reading takes no lock; writing takes turns.
#[derive(Debug)]
pub struct Store {
    /// The visible version.
    current: ArcSwap<Snapshot>,
    writing: Mutex<Writing>,
    writer_left: Condvar,
    /// Timestamp of the newest version.
    newest: AtomicU64,
    /// No transaction begins that may write.
    is_read_only: AtomicBool,
}

/// 25006.
pub fn read_only() -> Error {
    Error::new(
        SqlState::READ_ONLY_TRANSACTION,
        "the database was opened read-only: nothing can be written",
    )
    .with_hint("close it and open it for writing")
}

/// What the one writer has.
#[derive(Debug)]
struct Writing {
    is_taken: bool,
    /// Writers that wait for it to leave.
    waiting: usize,
    /// For the next one.
    memory: WriterMemory,
    /// The newest version.
    newest: Arc<Snapshot>,
    /// Where commits go; `None`: nowhere but into memory.
    log: Option<Arc<dyn Durability>>,
}

impl Store {
    /// A store without tables.
    pub fn new() -> Arc<Store> {
        Store::restore(Catalog::new(), (Lsn(0), 0), Vec::new(), BTreeMap::new())
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
        let mut catalog = catalog;
        let identified = catalog.identify_constraints();
        let mut map = PersistentMap::default();
        for table in tables {
            let id = table.table().id();
            let table = match identified.iter().find(|entry| entry.id == id) {
                Some(entry) => table.renamed(entry.clone()),
                None => table,
            };
            map.insert(id.0, Arc::new(table));
        }
        let snapshot = Arc::new(Snapshot {
            timestamp,
            lsn,
            visible_at: lsn,
            catalog: Arc::new(catalog),
            tables: map,
            damaged: Arc::new(damaged),
        });
        Arc::new(Store {
            current: ArcSwap::new(snapshot.clone()),
            writing: Mutex::new(Writing {
                is_taken: false,
                waiting: 0,
                memory: WriterMemory::default(),
                newest: snapshot,
                log: None,
            }),
            writer_left: Condvar::new(),
            newest: AtomicU64::new(timestamp),
            is_read_only: AtomicBool::new(false),
        })
    }

    /// Lets the commits of transactions that begin from now on go to a log. Called before the first one begins, and at the end,
    /// with a log that takes none.
    pub fn set_log(&self, log: Arc<dyn Durability>) {
        self.writing().log = Some(log);
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
        self.writing().log.clone()
    }

    /// The committed state. Cheap; never waits.
    pub fn snapshot(&self) -> Arc<Snapshot> {
        self.current.load_full()
    }

    /// The same for a while: cheaper still, as long as a thread has few of them.
    pub fn look(&self) -> impl Deref<Target = Arc<Snapshot>> + use<> {
        self.current.load()
    }

    fn writing(&self) -> MutexGuard<'_, Writing> {
        self.writing.lock().unwrap_or_else(|e| e.into_inner())
    }

    /// Begins a transaction that may write; waits for the one before it, at most `timeout`, then 55P03. 25006 where nobody writes.
    pub fn begin(self: &Arc<Store>, timeout: Duration, cancel: &Cancel) -> Result<Transaction> {
        if self.is_read_only() {
            return Err(read_only());
        }
        let mut writing = self.writing();
        if writing.is_taken {
            writing = self.wait_for_writer(writing, timeout, cancel)?;
        }
        writing.is_taken = true;
        let (newest, has_log) = (writing.newest.clone(), writing.log.is_some());
        let memory = std::mem::take(&mut writing.memory);
        drop(writing);
        Ok(Transaction::new(self.clone(), newest, memory, has_log))
    }

    /// Returns when no writer is there. 57014, 55P03.
    fn wait_for_writer<'a>(
        &'a self,
        mut writing: MutexGuard<'a, Writing>,
        timeout: Duration,
        cancel: &Cancel,
    ) -> Result<MutexGuard<'a, Writing>> {
        let until = Instant::now() + timeout;
        while writing.is_taken {
            cancel.check()?;
            let left = until.saturating_duration_since(Instant::now());
            if left.is_zero() {
                return Err(Error::new(
                    SqlState::LOCK_NOT_AVAILABLE,
                    "another transaction is writing and did not end in time",
                )
                .with_hint("one transaction writes at a time; end the other one, or raise lock_timeout"));
            }
            // Short waits, because a cancelled statement is not notified here.
            let wait = left.min(Duration::from_millis(10));
            writing.waiting += 1;
            writing = (self.writer_left.wait_timeout(writing, wait))
                .unwrap_or_else(|e| e.into_inner())
                .0;
            writing.waiting -= 1;
        }
        Ok(writing)
    }

    /// The writer leaves; what it leaves behind, `after` makes of the newest version.
    fn leave(&self, after: impl FnOnce(&mut Writing) -> Option<Arc<Snapshot>>) {
        let mut writing = self.writing();
        let before = after(&mut writing);
        writing.is_taken = false;
        let is_awaited = writing.waiting > 0;
        drop(writing);
        // Waking somebody asks the system, whether anybody is there or not.
        if is_awaited {
            self.writer_left.notify_one();
        }
        // Outside of the lock: it may be the last one of many versions of tables.
        drop(before);
    }

    /// The newest version, which the one writer began with.
    pub(crate) fn newest(&self) -> Arc<Snapshot> {
        self.writing().newest.clone()
    }

    /// True if a version is the newest one.
    pub(crate) fn is_newest(&self, version: &Snapshot) -> bool {
        self.newest.load(Ordering::Acquire) == version.timestamp
    }

    /// Makes `next` the newest version and lets the next writer in, with the memory of this one. Called by the one writer.
    pub(crate) fn append(&self, next: Arc<Snapshot>, memory: WriterMemory) {
        self.leave(|writing| {
            writing.memory = memory;
            self.newest.store(next.timestamp, Ordering::Release);
            Some(std::mem::replace(&mut writing.newest, next))
        });
    }

    /// Makes `next` the visible version. Called by the one writer where nothing is waited for: later ones come later.
    pub(crate) fn show(&self, next: &Arc<Snapshot>) {
        debug_assert!(self.current.load().timestamp < next.timestamp);
        self.current.store(next.clone());
    }

    /// Makes `next` the visible version, unless a later one is.
    pub(crate) fn publish(&self, next: &Arc<Snapshot>) {
        let mut seen = self.current.load();
        while seen.timestamp < next.timestamp {
            let before = self.current.compare_and_swap(&*seen, next.clone());
            if Arc::ptr_eq(&before, &seen) {
                return;
            }
            seen = before;
        }
    }

    pub(crate) fn writer_ends(&self) {
        self.leave(|_| None);
    }
}
