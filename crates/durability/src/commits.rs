//! How commits end in the files of a directory: as records of its log, or whole, by a checkpoint.
//!
//! A commit that is whole replaces the manifest by one that has it, at the place where the log ends: no record says what it did. It
//! has the next timestamp all the same, so that recovery finds no gap behind the manifest. Nobody appends meanwhile.

use crate::catalog_change::CatalogChange;
use crate::checkpoint::History;
use crate::directory::Files;
use crate::progress::CheckpointCause;
use crate::segment::BlocksToName;
use crate::state::State;
use frazil_catalog::Catalog;
use frazil_storage::{Durability, Log, Lsn, NamedBlocks, Reserved, Snapshot};
use frazil_types::{Error, Result, SqlState};
use std::sync::atomic::Ordering;
use std::sync::{Arc, MutexGuard};

/// Bytes that may wait to be written without anybody waiting for them.
const MOST_PENDING: usize = 4 << 20;

impl Files {
    pub(crate) fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(|e| e.into_inner())
    }

    /// The same, for somebody who does not wait while the checkpoint that has it takes its time.
    pub(crate) fn state_at_once(&self) -> MutexGuard<'_, State> {
        self.waiting.fetch_add(1, Ordering::Relaxed);
        let state = self.state();
        self.waiting.fetch_sub(1, Ordering::Relaxed);
        state
    }

    pub(crate) fn history(&self) -> MutexGuard<'_, History> {
        self.history.lock().unwrap_or_else(|e| e.into_inner())
    }
}

impl Log for Files {
    fn reserve(&self, redo: &[u8]) -> Result<Reserved> {
        self.wal.reserve(redo)
    }

    fn append_beside(&self, redo: &[u8]) -> Result<Lsn> {
        self.lock.check_owner()?;
        self.wal.append_beside(redo)
    }

    fn wait(&self, lsn: Lsn) -> Result<()> {
        self.wal.wait(lsn)
    }

    fn check(&self) -> Result<()> {
        self.wal.check()
    }
}

impl Durability for Files {
    fn commit_whole(&self, next: &Snapshot) -> Result<Lsn> {
        self.lock.check_owner()?;
        self.wal.check()?;
        let lsn = self.wal.end();
        // What is unknown then is the outcome of others.
        self.wal
            .wait(lsn)
            .or_else(|unknown| self.wal.check().and(Err(unknown)))?;
        match self.checkpoint(
            &mut self.state_at_once(),
            next,
            lsn,
            (CheckpointCause::Commit, &|_| ()),
        ) {
            Ok(_) => {
                let timestamp = self.wal.pass();
                debug_assert_eq!(timestamp, next.timestamp());
                Ok(lsn)
            }
            Err(failure) if failure.is_unknown => {
                let why = failure.error.message().to_string();
                self.wal.fail(failure.error);
                Err(Error::new(
                    SqlState::TRANSACTION_RESOLUTION_UNKNOWN,
                    format!("it is unknown whether the transaction is committed: {why}"),
                )
                .with_hint("close and reopen the database; it then has everything that is durable"))
            }
            Err(failure) => Err(failure.error),
        }
    }

    fn catalog_change(&self, before: &Catalog, after: &Catalog) -> Result<Vec<u8>> {
        CatalogChange::between(before, after).to_checked_bytes(before)
    }

    fn no_catalog_change(&self, catalog: &Catalog) -> Vec<u8> {
        CatalogChange::none(catalog).to_bytes(catalog)
    }

    fn write_blocks(self: Arc<Self>) -> Result<Box<dyn NamedBlocks>> {
        self.lock.check_owner()?;
        self.wal.check()?;
        Ok(Box::new(BlocksToName::new(&self.segments)))
    }

    fn make_room(&self, redo: usize) {
        self.wal.make_room(redo);
    }

    fn follow(&self, lsn: Lsn) -> Result<()> {
        match self.wal.pending() > MOST_PENDING {
            true => self.wal.wait(lsn),
            false => Ok(()),
        }
    }
}

/// The log of a database that is closed.
#[derive(Debug)]
pub(crate) struct ClosedLog;

impl Log for ClosedLog {
    fn reserve(&self, _redo: &[u8]) -> Result<Reserved> {
        Err(closed())
    }

    fn append_beside(&self, _redo: &[u8]) -> Result<Lsn> {
        Err(closed())
    }

    fn wait(&self, _lsn: Lsn) -> Result<()> {
        Ok(())
    }

    fn check(&self) -> Result<()> {
        Err(closed())
    }
}

impl Durability for ClosedLog {
    fn commit_whole(&self, _next: &Snapshot) -> Result<Lsn> {
        Err(closed())
    }

    fn catalog_change(&self, _before: &Catalog, _after: &Catalog) -> Result<Vec<u8>> {
        Ok(Vec::new())
    }

    fn no_catalog_change(&self, _catalog: &Catalog) -> Vec<u8> {
        Vec::new()
    }

    fn write_blocks(self: Arc<Self>) -> Result<Box<dyn NamedBlocks>> {
        Err(closed())
    }

    fn make_room(&self, _redo: usize) {}

    fn follow(&self, _lsn: Lsn) -> Result<()> {
        Ok(())
    }
}

fn closed() -> Error {
    Error::new(SqlState::CONNECTION_DOES_NOT_EXIST, "the database is closed")
}
