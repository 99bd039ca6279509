//! SELECT … FOR UPDATE and the like: claims on rows that stay as they are.
//!
//! A lock is a claim in a mode of its own ([`RowLock`]). As before a write, the rows are claimed first, and then the
//! newest version is looked at: a row that is dead there was changed by a commit that the statement does not see, so
//! the statement runs again at READ COMMITTED (40001 at REPEATABLE READ).
//!
//! FOR UPDATE keeps others from referring to the row, too: it claims the keys of the row as a DELETE does
//! ([`crate::key_claims`]). The weaker locks let children come.
//!
//! SKIP LOCKED leaves out the rows that somebody else holds, so it decides row by row. When it has to run again, it
//! first gives back what it claimed: the rows that the next attempt returns may be others, and nobody who skips
//! locked rows should miss rows that nobody returned.

use crate::other_writers::Standing;
use crate::transaction::Transaction;
use frazil_locks::Mode;
use frazil_types::{Error, ObjectId, Result, RowId, SqlState};

/// Strength of a lock on a row.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum RowLock {
    /// FOR KEY SHARE.
    KeyShare,
    /// FOR SHARE.
    Share,
    /// FOR NO KEY UPDATE.
    NoKeyUpdate,
    /// FOR UPDATE.
    Update,
}

impl RowLock {
    fn mode(self) -> Mode {
        match self {
            RowLock::KeyShare => Mode::KeyShare,
            RowLock::Share => Mode::Share,
            RowLock::NoKeyUpdate => Mode::NoKeyUpdate,
            RowLock::Update => Mode::ForUpdate,
        }
    }
}

/// The locks of a transaction at the beginning of a statement.
#[derive(Clone, Copy, Debug)]
pub struct LocksBefore(Standing);

impl Transaction {
    /// Locks rows in order, and waits for whoever is in the way. 40001 if one of them is dead in the newest version;
    /// 40P01, 55P03, 57014, 53200.
    pub fn lock_rows(&mut self, table: ObjectId, rows: &[RowId], lock: RowLock) -> Result<()> {
        match lock {
            RowLock::Update => self.claim_all(table, rows, None, lock.mode()),
            RowLock::KeyShare | RowLock::Share | RowLock::NoKeyUpdate => {
                self.claim_as(table, rows, lock.mode())
            }
        }
    }

    /// Locks a row unless another transaction is in the way. Returns true if the row is locked. 40001 if the row is
    /// dead in the newest version; 53200.
    pub fn try_lock_row(&mut self, table: ObjectId, row: RowId, lock: RowLock) -> Result<bool> {
        match lock {
            RowLock::Update => self.try_claim_all(table, row, lock.mode()),
            RowLock::KeyShare | RowLock::Share | RowLock::NoKeyUpdate => {
                self.try_claim(table, row, lock.mode())
            }
        }
    }

    /// Locks rows in order. 55P03 if another transaction is in the way of one of them, else as
    /// [`Transaction::lock_rows`].
    pub fn lock_rows_now(&mut self, table: ObjectId, rows: &[RowId], lock: RowLock) -> Result<()> {
        for row in rows {
            if !self.try_lock_row(table, *row, lock)? {
                let name = self.view().table(table)?.table().name();
                let message = format!("could not obtain lock on row in relation \"{name}\"");
                return Err(Error::new(SqlState::LOCK_NOT_AVAILABLE, message)
                    .with_hint("leave out NOWAIT to wait for the transaction in the way"));
            }
        }
        Ok(())
    }

    /// The locks that the transaction has now.
    pub fn locks_before(&mut self) -> LocksBefore {
        LocksBefore(self.others().mark())
    }

    /// Gives back the locks that came since.
    pub fn unlock_since(&mut self, before: LocksBefore) {
        self.others().free_since(before.0);
    }
}
