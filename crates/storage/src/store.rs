//! All tables of a database: the current version, and the lock of its one writer.

use crate::persistent_map::PersistentMap;
use crate::snapshot::{Snapshot, TableSnapshot};
use crate::transaction::Transaction;
use arc_swap::ArcSwap;
use frazil_catalog::Catalog;
use frazil_types::{Cancel, Error, Result, SqlState};
use std::sync::{Arc, Condvar, Mutex};
use std::time::{Duration, Instant};

/// The tables of a database. Reading takes no lock; writing takes turns.
#[derive(Debug)]
pub struct Store {
    current: ArcSwap<Snapshot>,
    writing: Mutex<bool>,
    writer_left: Condvar,
}

impl Store {
    /// A store without tables.
    pub fn new() -> Arc<Store> {
        Store::restore(Catalog::new(), 0, Vec::new())
    }

    /// A store of these tables, as read from a directory.
    pub fn restore(catalog: Catalog, timestamp: u64, tables: Vec<TableSnapshot>) -> Arc<Store> {
        let mut map = PersistentMap::default();
        for table in tables {
            map.insert(table.table().id().0, Arc::new(table));
        }
        Arc::new(Store {
            current: ArcSwap::from_pointee(Snapshot {
                timestamp,
                catalog: Arc::new(catalog),
                tables: map,
            }),
            writing: Mutex::new(false),
            writer_left: Condvar::new(),
        })
    }

    /// The committed state. Cheap; never waits.
    pub fn snapshot(&self) -> Arc<Snapshot> {
        self.current.load_full()
    }

    /// Begins a transaction that may write; waits for the one before it, at most `timeout`, then 55P03.
    pub fn begin(self: &Arc<Store>, timeout: Duration, cancel: &Cancel) -> Result<Transaction> {
        let until = Instant::now() + timeout;
        let mut writing = self.writing.lock().unwrap_or_else(|e| e.into_inner());
        while *writing {
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
            writing = (self.writer_left.wait_timeout(writing, wait))
                .unwrap_or_else(|e| e.into_inner())
                .0;
        }
        *writing = true;
        drop(writing);
        Ok(Transaction::new(self.clone(), self.snapshot()))
    }

    /// Makes `next` the committed state. Called by the one writer.
    pub(crate) fn publish(&self, next: Arc<Snapshot>) {
        self.current.store(next);
    }

    pub(crate) fn writer_ends(&self) {
        *self.writing.lock().unwrap_or_else(|e| e.into_inner()) = false;
        self.writer_left.notify_one();
    }
}
