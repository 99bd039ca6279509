//! The end of a transaction that wrote something: its changes are merged into the newest version, get their place in
//! the log and are installed, then its claims are freed, the log is waited for, and the commit is visible.
//!
//! Commits take turns from the merge to the installing. What can be done before a turn or after it is not done in it:
//! large redo is in a file before, the merge is made before and again only if another commit came between, and old
//! versions are dropped after it.

use super::Transaction;
use crate::changes::{dead_blocks, remove_chunks};
use crate::index_log::IndexedRows;
use crate::log::{Acknowledge, Durability};
use crate::snapshot::{Snapshot, Table};
use frazil_types::{Error, Result};
use std::sync::Arc;

/// A commit that waits for its turn.
#[derive(Debug)]
pub(crate) struct MergedAhead {
    /// The base of the transaction.
    base: Arc<Snapshot>,
    /// The version into which the commit was merged.
    newest: Arc<Snapshot>,
    /// The merged version; `None` if it is the transaction's own one.
    next: Option<Arc<Snapshot>>,
    log: Option<Arc<dyn Durability>>,
}

impl Transaction {
    /// Commits what was done, durably: see [`Transaction::commit_as`].
    pub fn commit(self) -> Result<u64> {
        self.commit_as(Acknowledge::Durable)
    }

    /// Commits what was done. Returns the timestamp of the commit, which is visible then. 08007: it is
    /// unknown whether it is committed. After another error it is not: 58030 once writing the log has failed, 53100 if
    /// the disk is full, 08003 once the database is closed.
    pub fn commit_as(mut self, acknowledge: Acknowledge) -> Result<u64> {
        if self.memory.changes.is_empty() {
            return self.settle().map(|()| self.next.timestamp);
        }
        let ahead = self.merge_ahead()?;
        self.commit_merged(ahead, acknowledge)
    }

    /// Does all of a commit that needs no turn.
    pub(crate) fn merge_ahead(&mut self) -> Result<MergedAhead> {
        self.end_temporary()?;
        let log = self.log();
        self.redo.prepare(log.as_ref())?;
        debug_assert_eq!(self.difference(), None);
        self.hide_own();
        let base = (self.base.take()).ok_or_else(|| Error::internal("a transaction commits twice"))?;
        let (newest, next) = self.merge(&base)?;
        Ok(MergedAhead {
            base,
            newest,
            next,
            log,
        })
    }

    /// Does the rest of a commit: see [`Transaction::commit_as`].
    pub(crate) fn commit_merged(mut self, ahead: MergedAhead, acknowledge: Acknowledge) -> Result<u64> {
        let MergedAhead {
            base,
            newest,
            next,
            log,
        } = ahead;
        let store = self.store.clone();
        let deleted = self.memory.index_log.take_deleted();
        let mut merged = (newest, next);
        let section = store.section();
        let spoilt = match store.is_newest(&merged.0) {
            true => None,
            // Another commit came between.
            false => Some(std::mem::replace(&mut merged, self.merge(&base)?)),
        };
        let (newest, own) = (
            merged.0,
            merged.1.map(|next| std::mem::replace(&mut self.next, next)),
        );
        let sequences = self.private_sequences(&newest);
        for sequence in &sequences {
            self.redo.sequence(sequence.id, sequence.state.shown().0);
        }
        // No file has temporary objects, so that a commit of such need not be durable.
        let acknowledge = match self.redo.is_of_temporary() {
            true => Acknowledge::Placed,
            false => acknowledge,
        };
        self.take_place(acknowledge, log.as_deref())?;
        // From here on nothing undoes it.
        self.share_sequences(&newest, &sequences);
        let timestamp = self.next.timestamp;
        let tables = self.hand_over_entries((&newest, timestamp), deleted);
        // Without a log there is nothing to wait for.
        let hidden = log.is_none().then(|| store.show(&self.next));
        let before = store.install(self.next.clone());
        drop(section);
        self.is_open = false;
        self.others.leave(log.is_some().then_some(timestamp));
        debug_assert_eq!(self.memory.changes.difference(&newest, &self.next), None);
        // Outside of the section: these may be the last ones of many versions of tables.
        drop((hidden, newest, before, own, spoilt, base));
        store.keep_memory(std::mem::take(&mut self.memory).emptied());
        match log {
            Some(log) => {
                let next = &self.next;
                match acknowledge {
                    Acknowledge::Durable => log.wait(next.lsn)?,
                    // The commit is seen no earlier than those before it that are waited for.
                    Acknowledge::Placed => log.wait(next.visible_at).and_then(|()| log.follow(next.lsn))?,
                }
                store.publish(next);
            }
            None => store.tidy_visible(),
        }
        (tables.iter()).for_each(|table| store.left_entries().settle(table.collector()));
        Ok(timestamp)
    }

    /// Makes the versions of tables that the transaction leaves ones that nobody else has, to be stamped.
    fn hide_own(&mut self) {
        let next = Arc::make_mut(&mut self.next);
        for (id, _) in &self.memory.own {
            if let Some(table) = next.tables.get_mut(id.0).filter(|table| table.is_private()) {
                Arc::make_mut(table).make_unseen();
            }
        }
    }

    /// Merges what was done into the newest version. Returns that version and the merged one; `None` if the own version
    /// is what a merge would make, because nobody has committed since the base. Blocks whose last rows are deleted are
    /// left out. An internal error, and nothing is committed, if another transaction has changed what this one had
    /// claimed.
    fn merge(&self, base: &Arc<Snapshot>) -> Result<(Arc<Snapshot>, Option<Arc<Snapshot>>)> {
        let tables = self.memory.own.iter().map(|(id, _)| *id);
        let (newest, mut merged) = match self.store.is_newest(base) {
            true => {
                let dead = dead_blocks(tables.clone(), (&self.next, base));
                if dead.is_empty() {
                    return Ok((base.clone(), None));
                }
                (base.clone(), (*self.next).clone())
            }
            false => {
                let newest = self.store.newest();
                let merged = self.memory.merge((&newest, base, &self.next))?;
                (newest, merged)
            }
        };
        let dead = dead_blocks(tables, (&merged, &newest));
        remove_chunks(&mut merged, &dead);
        Ok((newest, Some(Arc::new(merged))))
    }

    /// Gives the next version its timestamp and its place in the log.
    fn take_place(&mut self, acknowledge: Acknowledge, log: Option<&dyn Durability>) -> Result<()> {
        let timestamp = self.coming_timestamp();
        let next = Arc::make_mut(&mut self.next);
        next.timestamp = timestamp;
        for (id, _) in &self.memory.own {
            // A table that was dropped afterwards is not there, and one whose changes were all undone is others'.
            if let Some(table) = next.tables.get(id.0).filter(|table| table.is_private()) {
                table.stamp(timestamp);
            }
        }
        let Some(log) = log else { return Ok(()) };
        if self.redo.is_of_temporary() {
            // Each commit has a record, so that the log's timestamps have no gap.
            self.redo.catalog(&log.no_catalog_change(self.next.catalog()));
        }
        let lsn = match self.redo.reserve(log, &self.next)? {
            Some(reserved) => {
                debug_assert_eq!(reserved.timestamp, timestamp);
                reserved.lsn
            }
            None => log.commit_whole(&self.next)?,
        };
        let next = Arc::make_mut(&mut self.next);
        next.lsn = lsn;
        if acknowledge == Acknowledge::Durable {
            next.visible_at = lsn;
        }
        Ok(())
    }

    /// Lets entries of deleted rows leave the indexes when no living version shows the rows. Returns the tables that
    /// may have such. Called in the section, so that commits come in their order.
    fn hand_over_entries(
        &self,
        (before, timestamp): (&Snapshot, u64),
        mut deleted: Vec<IndexedRows>,
    ) -> Vec<Arc<Table>> {
        let mut tables = Vec::new();
        let views = self.memory.views_that_others_have();
        for &(id, _) in &self.memory.own {
            let Some(new) = self.next.tables.get(id.0) else {
                continue;
            };
            // `None`: the table is the transaction's own, and nobody else ever saw the rows that it deleted.
            let old = before.tables.get(id.0);
            if new.indexes().is_empty() && old.is_none_or(|old| old.indexes().is_empty()) {
                continue;
            }
            let rows: Vec<IndexedRows> = deleted.extract_if(.., |rows| rows.table == id).collect();
            new.table()
                .collector()
                .add(timestamp, (old, views.as_ref()), rows);
            if new.table().collector().has_work() {
                tables.push(new.table().clone());
            }
        }
        tables
    }
}
