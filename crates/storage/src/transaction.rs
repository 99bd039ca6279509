//! The one writing transaction: it makes the next version of the store in private, statement by
//! statement, and publishes it whole at commit. Rolling back drops the private version; nothing that
//! was published has been touched. A savepoint is the private version of an earlier moment.

use crate::chunk::{ChunkSlot, Deleted};
use crate::snapshot::{Snapshot, TableSnapshot};
use crate::store::Store;
use frazil_types::{CHUNK_ROWS, Error, MatchBits, ObjectId, Result};
use std::sync::Arc;

/// A transaction that may write. Dropped without [`Transaction::commit`], it leaves no trace.
#[derive(Debug)]
pub struct Transaction {
    store: Arc<Store>,
    next: Arc<Snapshot>,
    changed: bool,
    /// Tables whose version is this transaction's own, in the order in which they were first changed.
    own: Vec<ObjectId>,
}

/// A moment of a transaction that it can return to, several times.
#[derive(Clone, Debug)]
pub struct Savepoint {
    next: Arc<Snapshot>,
    changed: bool,
    own: usize,
}

impl Transaction {
    pub(crate) fn new(store: Arc<Store>, next: Arc<Snapshot>) -> Transaction {
        Transaction {
            store,
            next,
            changed: false,
            own: Vec::new(),
        }
    }

    /// What the transaction's next statement sees: the committed state and its own earlier effects.
    pub fn snapshot(&self) -> Arc<Snapshot> {
        self.next.clone()
    }

    /// The same, to be looked at.
    pub fn view(&self) -> &Snapshot {
        &self.next
    }

    /// Remembers this moment.
    pub fn savepoint(&self) -> Savepoint {
        Savepoint {
            next: self.next.clone(),
            changed: self.changed,
            own: self.own.len(),
        }
    }

    /// Undoes everything since `savepoint`.
    pub fn rollback_to(&mut self, savepoint: Savepoint) {
        self.next = savepoint.next;
        self.changed = savepoint.changed;
        self.own.truncate(savepoint.own);
    }

    /// Publishes what was done and lets the next writer in. Returns the timestamp of the commit. Distinct values of tables
    /// that a chunk was added to are estimated first, so that the next query does not wait for that.
    pub fn commit(mut self) -> u64 {
        if !self.changed {
            return self.next.timestamp;
        }
        let before = self.store.snapshot();
        let next = Arc::make_mut(&mut self.next);
        next.timestamp += 1;
        let timestamp = next.timestamp;
        for id in &self.own {
            // A table that was dropped afterwards is not there.
            let Some(table) = next.tables.get_mut(*id) else {
                continue;
            };
            if table.sealed().len() > before.tables.get(*id).map_or(0, |b| b.sealed().len()) {
                // Whoever reads a chunk that cannot be read hears of it; an estimate is not worth a failed commit.
                let _ = table.distinct();
            }
            Arc::make_mut(table).stamp(timestamp);
        }
        self.store.publish(self.next.clone());
        timestamp
    }

    /// Drops what was done and lets the next writer in.
    pub fn rollback(self) {}

    pub(crate) fn next_mut(&mut self) -> &mut Snapshot {
        self.changed = true;
        Arc::make_mut(&mut self.next)
    }

    /// Takes a table into the transaction that is its own.
    pub(crate) fn add_table(&mut self, version: TableSnapshot) {
        let id = version.table().id();
        self.next_mut().tables.insert(id, Arc::new(version));
        self.own.push(id);
    }

    pub(crate) fn table_mut(&mut self, id: ObjectId) -> Result<&mut TableSnapshot> {
        self.changed = true;
        let table = (Arc::make_mut(&mut self.next).tables.get_mut(id))
            .ok_or_else(|| Error::internal(format!("table {} is not in the transaction", id.0)))?;
        let version = Arc::make_mut(table);
        if !version.is_private() {
            version.make_private();
            self.own.push(id);
        }
        Ok(version)
    }
}

impl Drop for Transaction {
    fn drop(&mut self) {
        self.store.writer_ends();
    }
}

impl ChunkSlot {
    /// Deletes rows; says of each whether it had not been deleted before.
    pub(crate) fn delete(&mut self, offsets: &[u16]) -> Vec<bool> {
        let mut deleted = match &self.deleted {
            Some(d) => (**d).clone(),
            None => Deleted {
                bits: MatchBits::zeros(CHUNK_ROWS),
                count: 0,
            },
        };
        let mut fresh = Vec::with_capacity(offsets.len());
        for offset in offsets.iter().map(|&o| usize::from(o)) {
            fresh.push(!deleted.bits.get(offset));
            deleted.bits.set(offset, true);
        }
        deleted.count += fresh.iter().filter(|&&f| f).count() as u32;
        self.deleted = Some(Arc::new(deleted));
        fresh
    }

    /// Counts the cells from the rows shown up to `written` as deleted rows: a transaction that was
    /// rolled back wrote them.
    pub(crate) fn bury(&mut self, written: u32) {
        let dead: Vec<u16> = (self.rows..written).map(|r| r as u16).collect();
        self.rows = written;
        if !dead.is_empty() {
            self.delete(&dead);
        }
    }
}
