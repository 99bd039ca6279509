//! The one writing transaction: it makes a version of the store of its own, statement by statement, and lists what it
//! does ([`crate::changes`]). A commit merges the list into the newest version. Rolling back drops the own version;
//! nothing that was published has been touched. A savepoint is a mark in the list.
//!
//! With a log, it also writes down what it does ([`crate::redo`]), and a commit goes through four moments. The commit gets its place in
//! the log, while nobody else writes; from then on nothing undoes it. The next writer is let in, which begins with what this
//! one left. The log is waited for. Then the commit is visible. Who reads what is not durable yet, as the next writer does,
//! waits for it before anybody hears of it ([`Transaction::settle`]).

use crate::changes::{Changes, Mark};
use crate::chunk::Chunk;
use crate::chunk_entry::ChunkEntry;
use crate::index_log::{IndexLog, IndexedRows, LogMark};
use crate::log::{Acknowledge, Durability};
use crate::redo::TransactionRedo;
use crate::snapshot::{Snapshot, Table, TableSnapshot};
use crate::store::Store;
use crate::writer_memory::WriterMemory;
use frazil_catalog::Catalog;
use frazil_types::{Cancel, Error, MemoryBudget, ObjectId, Reservation, Result, RowId};
use std::sync::Arc;

/// Rows whose entries a transaction takes out of indexes when it ends; the others leave later. Some 30 ms where the indexes do not
/// fit into caches.
const MOST_COLLECTED: usize = 16 << 10;
/// Rows that are written between two looks at whether the statement is to stop, and bytes between two at the memory limit.
const ROWS_UNWATCHED: usize = 1 << 10;
const BYTES_UNWATCHED: usize = 64 << 10;

/// A transaction that may write. Dropped without [`Transaction::commit`], it leaves no trace.
#[derive(Debug)]
pub struct Transaction {
    store: Arc<Store>,
    /// The version that it began with, until it commits.
    base: Option<Arc<Snapshot>>,
    /// The base with all that it did; in the end the version that it leaves.
    next: Arc<Snapshot>,
    /// The lists that it needs, in memory that others had before it.
    memory: WriterMemory,
    /// What it did, for the log.
    redo: TransactionRedo,
    /// What it began with is durable.
    is_settled: bool,
    /// Whether it keeps other writers out.
    is_writer: bool,
    watch: Option<Watch>,
}

/// What stops a transaction that writes much.
#[derive(Debug)]
struct Watch {
    cancel: Cancel,
    /// Bytes of new rows and entries, until the transaction ends: then they are the table's.
    memory: Reservation,
    /// Rows and bytes since they were last looked at.
    rows: usize,
    bytes: usize,
    /// Bytes of redo that are counted.
    redo: usize,
}

/// A moment of a transaction that it can return to, several times.
#[derive(Clone, Debug)]
pub struct Savepoint {
    changes: Mark,
    index_log: LogMark,
    redo: usize,
}

impl Watch {
    /// Rows and so many bytes, estimated, were written; the redo has so many bytes now.
    fn wrote(&mut self, rows: usize, bytes: usize, redo: usize) -> Result<()> {
        self.rows += rows;
        self.bytes += bytes;
        if self.bytes >= BYTES_UNWATCHED {
            self.memory.grow(std::mem::take(&mut self.bytes))?;
        }
        if redo >= self.redo + BYTES_UNWATCHED {
            self.memory.grow(redo - self.redo)?;
            self.redo = redo;
        } else if redo < self.redo {
            // A savepoint was returned to, or the transaction became too large for a record.
            self.memory.shrink(self.redo - redo);
            self.redo = redo;
        }
        if self.rows >= ROWS_UNWATCHED {
            self.rows = 0;
            self.cancel.check()?;
        }
        Ok(())
    }
}

/// Where is noted what becomes of the entries of a table.
pub(crate) struct Noting<'a> {
    log: &'a mut IndexLog,
    watch: &'a mut Option<Watch>,
    /// Bytes of the transaction's redo.
    redo: usize,
}

impl Noting<'_> {
    /// Notes that entries of a row of a chunk, of so many bytes, are being added to the table's indexes. 57014, 53200.
    pub fn added(&mut self, of: &TableSnapshot, entry: &ChunkEntry, row: RowId, bytes: usize) -> Result<()> {
        if let Some(watch) = self.watch {
            watch.wrote(1, bytes, self.redo)?;
        }
        (self.log).adds(of.table().id(), of.indexes(), entry.chunk(), row);
        Ok(())
    }

    /// Notes that a row of a chunk was deleted.
    pub fn deleted(&mut self, of: &TableSnapshot, entry: &ChunkEntry, row: RowId) {
        (self.log).deletes(of.table().id(), of.indexes(), entry.chunk(), row);
    }
}

impl Transaction {
    pub(crate) fn new(
        store: Arc<Store>,
        next: Arc<Snapshot>,
        memory: WriterMemory,
        has_log: bool,
    ) -> Transaction {
        Transaction {
            store,
            base: Some(next.clone()),
            next,
            memory,
            watch: None,
            redo: TransactionRedo::new(has_log),
            is_settled: !has_log,
            is_writer: true,
        }
    }

    /// The same, stopped by a flag (57014), and by a budget (53200) that what it writes counts against.
    pub fn within(mut self, budget: &MemoryBudget, cancel: &Cancel) -> Transaction {
        self.watch = Some(Watch {
            cancel: cancel.clone(),
            memory: budget.reservation(),
            rows: 0,
            bytes: 0,
            redo: 0,
        });
        self
    }

    /// Notes that rows and so many bytes, estimated, were written. 57014, 53200.
    pub(crate) fn wrote(&mut self, rows: usize, bytes: usize) -> Result<()> {
        let redo = self.redo.len();
        (self.watch.as_mut()).map_or(Ok(()), |watch| watch.wrote(rows, bytes, redo))
    }

    /// What counts the memory that it writes; none if there is no budget.
    pub(crate) fn held(&mut self) -> Option<&mut Reservation> {
        self.watch.as_mut().map(|watch| &mut watch.memory)
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
    pub fn savepoint(&mut self) -> Savepoint {
        Savepoint {
            changes: self.memory.changes.mark(),
            index_log: self.memory.index_log.mark(),
            redo: self.redo.mark(),
        }
    }

    /// Undoes everything since `savepoint`.
    pub fn rollback_to(&mut self, savepoint: Savepoint) {
        let next = Arc::make_mut(&mut self.next);
        self.memory.changes.undo_to(savepoint.changes, next);
        // A table that was replaced may be one again that others have, too.
        let tables = &next.tables;
        (self.memory.own).retain(|id| tables.get(id.0).is_none_or(|table| table.is_private()));
        debug_assert_eq!(self.difference(), None);
        self.memory.index_log.undo_to(savepoint.index_log);
        self.redo.truncate(savepoint.redo);
    }

    /// Commits what was done, durably: see [`Transaction::commit_as`].
    pub fn commit(self) -> Result<u64> {
        self.commit_as(Acknowledge::Durable)
    }

    /// Commits what was done and lets the next writer in. Returns the timestamp of the commit, which is visible then. 08007: it is
    /// unknown whether it is committed. After another error it is not: 58030 once writing the log has failed, 53100 if the disk is
    /// full, 08003 once the database is closed.
    pub fn commit_as(mut self, acknowledge: Acknowledge) -> Result<u64> {
        if self.memory.changes.is_empty() {
            return self.settle().map(|()| self.next.timestamp);
        }
        let newest = self.merge()?;
        self.take_place(acknowledge)?;
        // From here on nothing undoes it.
        let timestamp = self.next.timestamp;
        let tables = self.hand_over_entries(&newest, timestamp);
        drop(newest);
        let memory = std::mem::take(&mut self.memory).emptied();
        self.is_writer = false;
        match self.log() {
            Some(log) => {
                let next = &self.next;
                self.store.append(next.clone(), memory);
                match acknowledge {
                    Acknowledge::Durable => log.wait(next.lsn)?,
                    // It is seen no earlier than those before it that are waited for.
                    Acknowledge::Placed => log.wait(next.visible_at).and_then(|()| log.follow(next.lsn))?,
                }
                self.store.publish(next);
            }
            // There is nothing to wait for.
            None => {
                self.store.show(&self.next);
                self.store.append(self.next.clone(), memory);
            }
        }
        (tables.iter()).for_each(|table| table.collector().collect(MOST_COLLECTED));
        Ok(timestamp)
    }

    /// Returns when everything is durable that the transaction saw of others: nobody may hear of it earlier, not even by an error.
    /// 58030 if that can no longer be.
    pub fn settle(&mut self) -> Result<()> {
        if !self.is_settled {
            if let Some(log) = self.log() {
                // It is not this transaction whose outcome is unknown.
                log.wait(self.next.visible_at)
                    .or_else(|unknown| log.check().and(Err(unknown)))?;
            }
            self.is_settled = true;
        }
        Ok(())
    }

    /// Merges what was done into the newest version, which is returned. An internal error, and nothing is committed,
    /// if another transaction has changed what this one had claimed.
    fn merge(&mut self) -> Result<Arc<Snapshot>> {
        debug_assert_eq!(self.difference(), None);
        let base = (self.base.take()).ok_or_else(|| Error::internal("a transaction commits twice"))?;
        if self.store.is_newest(&base) {
            // The own version is what the merge would make.
            return Ok(base);
        }
        let newest = self.store.newest();
        self.next = Arc::new(self.memory.changes.on(&newest, &base, &self.next)?);
        Ok(newest)
    }

    /// Describes how the own version differs from the base with the changes; `None` if it does not.
    fn difference(&self) -> Option<String> {
        let base = self.base.as_ref()?;
        self.memory.changes.difference(base, &self.next)
    }

    /// Gives the next version its timestamp and its place in the log.
    fn take_place(&mut self, acknowledge: Acknowledge) -> Result<()> {
        let timestamp = self.coming_timestamp();
        let next = Arc::make_mut(&mut self.next);
        next.timestamp = timestamp;
        for id in &self.memory.own {
            // A table that was dropped afterwards is not there, and one whose changes were all undone is others'.
            if let Some(table) = next.tables.get_mut(id.0).filter(|table| table.is_private()) {
                Arc::make_mut(table).stamp(timestamp);
            }
        }
        let Some(log) = self.log() else { return Ok(()) };
        let lsn = match self.redo.reserve(&*log, &self.next)? {
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

    /// The log, if it has one.
    fn log(&self) -> Option<Arc<dyn Durability>> {
        self.redo.is_wanted().then(|| self.store.log()).flatten()
    }

    /// Writes down that it goes over to another version of the catalog. An internal error, and nothing is written
    /// down, if recovery would refuse that version.
    pub(crate) fn note_catalog(&mut self, after: &Catalog) -> Result<()> {
        if let Some(log) = self.log() {
            let change = log.catalog_change(self.next.catalog(), after)?;
            self.redo.catalog(&change);
        }
        Ok(())
    }

    /// Writes down that a table got a chunk that is a block, which goes to a file.
    pub(crate) fn note_block(&mut self, table: ObjectId, number: u32) -> Result<()> {
        let Some(log) = self.log() else { return Ok(()) };
        match self.next.table(table)?.entry(number) {
            Some(entry) => self.redo.block(&log, table, entry),
            None => Ok(()),
        }
    }

    /// Memory for what a statement needs: it is empty, and is put back empty.
    pub(crate) fn memory(&mut self) -> &mut WriterMemory {
        &mut self.memory
    }

    /// What it writes down of what it does.
    pub(crate) fn redo(&mut self) -> &mut TransactionRedo {
        &mut self.redo
    }

    /// Lets entries of deleted rows leave the indexes when nobody reads the versions that were replaced. Returns the tables that may have
    /// such. Called before the next writer is let in, so that commits come in their order.
    fn hand_over_entries(&mut self, before: &Snapshot, timestamp: u64) -> Vec<Arc<Table>> {
        let mut deleted = self.memory.index_log.commit();
        let mut tables = Vec::new();
        for &id in &self.memory.own {
            let Some(new) = self.next.tables.get(id.0) else {
                continue;
            };
            // `None`: the table is the transaction's own, and nobody else ever saw the rows that it deleted.
            let old = before.tables.get(id.0);
            if new.indexes().is_empty() && old.is_none_or(|old| old.indexes().is_empty()) {
                continue;
            }
            let rows: Vec<IndexedRows> = deleted.extract_if(.., |rows| rows.table == id).collect();
            new.table().collector().add(timestamp, old, rows);
            if new.table().collector().waiting() > 0 {
                tables.push(new.table().clone());
            }
        }
        tables
    }

    /// Notes that rows of a chunk lie in another one, at the same offsets.
    pub(crate) fn note_held(&mut self, before: &Arc<Chunk>, now: &Arc<Chunk>) {
        self.memory.index_log.held(before, now);
    }

    /// The transaction's version of a table, and where is noted what becomes of its entries.
    pub(crate) fn noting(&mut self, table: ObjectId) -> Result<(&TableSnapshot, Noting<'_>)> {
        let version = self.next.table(table)?;
        let noting = Noting {
            log: &mut self.memory.index_log,
            watch: &mut self.watch,
            redo: self.redo.len(),
        };
        Ok((version, noting))
    }

    /// The timestamp that a commit will have: there is one writer.
    pub(crate) fn coming_timestamp(&self) -> u64 {
        self.next.timestamp + 1
    }

    /// Drops what was done and lets the next writer in.
    pub fn rollback(self) {}

    /// Goes over to another version of the catalog.
    pub(crate) fn replace_catalog(&mut self, catalog: Catalog) {
        self.memory.changes.catalog(self.next.catalog.clone());
        Arc::make_mut(&mut self.next).catalog = Arc::new(catalog);
    }

    /// Takes a table away.
    pub(crate) fn remove_table(&mut self, id: ObjectId) {
        self.memory
            .changes
            .replaced(id, self.next.tables.get(id.0).cloned());
        Arc::make_mut(&mut self.next).tables.remove(id.0);
    }

    /// Takes a table into the transaction that is its own.
    pub(crate) fn add_table(&mut self, version: TableSnapshot) {
        let id = version.table().id();
        self.memory.changes.replaced(id, None);
        let mut version = version;
        version.make_private();
        Arc::make_mut(&mut self.next)
            .tables
            .insert(id.0, Arc::new(version));
        self.memory.own.push(id);
    }

    /// The transaction's version of a table, to be changed as a whole: nobody else may have written to the table.
    pub(crate) fn table_mut(&mut self, id: ObjectId) -> Result<&mut TableSnapshot> {
        let before = self.next.tables.get(id.0).cloned();
        if before.is_some() {
            self.memory.changes.replaced(id, before);
        }
        self.rows_mut(id).map(|(version, _)| version)
    }

    /// The transaction's version of a table, to have rows inserted and deleted, and the list where each such change
    /// is noted.
    pub(crate) fn rows_mut(&mut self, id: ObjectId) -> Result<(&mut TableSnapshot, &mut Changes)> {
        if self.next.tables.get(id.0).is_none() {
            return Err(self.next.missing(id));
        }
        let table = (Arc::make_mut(&mut self.next).tables.get_mut(id.0))
            .ok_or_else(|| Error::internal(format!("table {} is not in the transaction", id.0)))?;
        let version = Arc::make_mut(table);
        if !version.is_private() {
            version.make_private();
            self.memory.own.push(id);
        }
        Ok((version, &mut self.memory.changes))
    }
}

impl Drop for Transaction {
    fn drop(&mut self) {
        if !self.is_writer {
            // Nothing is left to undo after a commit.
            return;
        }
        // The entries of many rows leave later, so that whoever cancels need not wait for them: they are candidates of rows that nobody
        // shows, and whose ids are not used again.
        for rows in self.memory.index_log.undo(MOST_COLLECTED) {
            if let Some(version) = self.store.newest().tables.get(rows.table.0) {
                version.table().collector().add_undone(rows);
            }
        }
        self.store.writer_ends();
    }
}
