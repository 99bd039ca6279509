//! Commits of others that a transaction sees before they are durable, and who waits for them.
//!
//! A statement of a transaction block begins with the *visible* version, which is durable, so that what it shows need
//! not be waited for. It comes to a later version in two ways: it meets a row that a later commit has changed, and runs
//! again on the newest version; or the transaction *follows* a commit, because it has claimed a row that the commit
//! had, or looked at what the commit did ([`OtherWriters::follows`]). *A locks a row, inserts others and commits. B
//! locks the row next: its following statement must see what A inserted, although readers do not see it yet.*
//!
//! The number of rows that a statement of a block wrote is told at once. It is worth nothing before the end of the
//! transaction, and the end waits: COMMIT for its own place in the log, which is behind all that the transaction saw,
//! and ROLLBACK for the latter ([`Transaction::rollback_settled`]). So a row for which others wait is held no longer
//! than its transaction works. Whatever else is told, rows and errors, waits first ([`Transaction::settle`]).
//!
//! [`OtherWriters::follows`]: crate::other_writers::OtherWriters::follows

use crate::log::Durability;
use crate::snapshot::Snapshot;
use crate::store::Store;
use crate::transaction::Transaction;
use frazil_types::{Error, Result};
use std::sync::Arc;

impl Transaction {
    /// Begins a statement of a transaction whose statements begin with the visible version. A transaction that knows of
    /// a later commit, by what it has claimed or looked at, goes over to the newest version.
    pub fn see_visible(&mut self) -> Result<()> {
        let visible = self.store().snapshot();
        if visible.timestamp < self.others.follows() {
            return self.renew();
        }
        self.settled = self.settled.max(visible.timestamp);
        self.go_over_to(visible)
    }

    /// The same transaction, whose statements begin with the visible version. It has begun with that one.
    pub(crate) fn beginning_visible(mut self, visible: u64) -> Transaction {
        self.begins_visible = true;
        self.settled = self.settled.max(visible);
        self
    }

    /// 58030 if nothing can be committed any more: a statement that writes says so, although its transaction could go
    /// on until COMMIT. 08003 once the database is closed.
    pub fn check_log(&self) -> Result<()> {
        self.log().map_or(Ok(()), |log| log.check())
    }

    /// True if the transaction sees all commits that it knows of.
    pub(crate) fn sees_what_it_follows(&self) -> bool {
        (self.base.as_ref()).is_some_and(|base| base.timestamp >= self.others.follows())
    }

    /// Returns when everything is durable that the transaction saw of others: nobody may hear of it earlier, not even
    /// by an error. It is visible then, although the threads that committed it may not have come to that: the next
    /// statement of whoever heard of a table must find the table. 58030 if that can no longer be.
    pub fn settle(&mut self) -> Result<()> {
        if let Some(seen) = self.unsettled()? {
            if let Some(log) = self.log() {
                settle(self.store(), &seen, &*log)?;
            }
            self.settled = seen.timestamp;
        }
        Ok(())
    }

    /// A version that has everything that the transaction saw; `None` if that is visible.
    fn unsettled(&self) -> Result<Option<Arc<Snapshot>>> {
        let base = (self.base.as_ref())
            .ok_or_else(|| Error::internal("a transaction is settled that has committed"))?;
        let looked_at = self.others.looked_at();
        if base.timestamp.max(looked_at) <= self.settled {
            return Ok(None);
        }
        Ok(Some(match looked_at > base.timestamp {
            // The newest version has all that it looked at.
            true => self.store().newest(),
            false => base.clone(),
        }))
    }

    /// Drops what was done, and then waits for what the transaction saw, as [`Transaction::settle`] does.
    pub fn rollback_settled(self) -> Result<()> {
        let (seen, log, store) = (self.unsettled()?, self.log(), self.store().clone());
        // Nobody waits for its claims meanwhile.
        drop(self);
        match (seen, log) {
            (Some(seen), Some(log)) => settle(&store, &seen, &*log),
            (_, None) | (None, _) => Ok(()),
        }
    }
}

/// Waits until a version is durable, and makes it visible. 58030 if that can no longer be.
fn settle(store: &Store, seen: &Arc<Snapshot>, log: &dyn Durability) -> Result<()> {
    // The unknown outcome is another transaction's.
    (log.wait(seen.visible_at)).or_else(|unknown| log.check().and(Err(unknown)))?;
    store.publish(seen);
    Ok(())
}
