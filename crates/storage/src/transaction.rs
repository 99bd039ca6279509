//! A writing transaction: it makes a version of the store of its own, statement by statement, and lists what it does
//! ([`crate::changes`]). A commit merges the list into the newest version. Rolling back drops the own version; nothing
//! that was published has been touched. A savepoint is a mark in the list.
//!
//! Others write beside it ([`crate::other_writers`]). Between two statements the transaction can go over to a later
//! base: its list is done again on top of that. A transaction of REPEATABLE READ keeps its base.
//!
//! With a log, it also writes down what it does ([`crate::redo`]), and a commit goes through four moments. It is
//! merged, gets its place in the log and is installed as the newest version, in the section of the store; from then on
//! nothing undoes it. Its claims are freed. The log is waited for. Then the commit is visible. Who reads what is not
//! durable yet, as the next writer does, waits for it before anybody hears of it ([`crate::settling`]).

mod commit;

use crate::changes::{Changes, Mark};
use crate::chunk::Chunk;
use crate::chunk_entry::ChunkEntry;
use crate::deferred_checks::DeferredChecks;
use crate::entry_collector::MOST_COLLECTED;
use crate::index_log::{IndexLog, LogMark};
use crate::log::Durability;
use crate::other_writers::{Beside, OtherWriters, Standing};
use crate::redo::TransactionRedo;
use crate::reruns::Reruns;
use crate::row_queue::QueuedRows;
use crate::snapshot::{Snapshot, TableSnapshot};
use crate::store::Store;
use crate::watch::Watch;
use crate::writer_memory::WriterMemory;
use frazil_catalog::Catalog;
use frazil_locks::{Mode, TableMode};
use frazil_types::{Cancel, Error, MemoryBudget, ObjectId, Reservation, Result, RowId};
use std::sync::Arc;
use std::time::Duration;

/// Rows that a transaction writes to chunks into which others write. Its later rows fill chunks of its own, which
/// become blocks when they are full, and which need no marks in the versions of others.
const MOST_IN_SHARED: usize = 4 << 10;

/// A transaction that may write. Dropped without [`Transaction::commit`], it leaves no trace.
#[derive(Debug)]
pub struct Transaction {
    store: Arc<Store>,
    /// The version that it began with, until it commits.
    pub(crate) base: Option<Arc<Snapshot>>,
    /// The base with all that it did; in the end the version that it leaves.
    next: Arc<Snapshot>,
    /// The lists that it needs, in memory that others had before it.
    memory: WriterMemory,
    /// What it did, for the log.
    redo: TransactionRedo,
    /// Timestamp of a version that is visible: nobody waits before hearing of what it shows. Without a log, the last
    /// timestamp that there can be.
    pub(crate) settled: u64,
    /// True if statements begin with the visible version, and not with the newest one.
    pub(crate) begins_visible: bool,
    /// False once it is committed.
    is_open: bool,
    /// The statement that runs.
    pub(crate) reruns: Reruns,
    /// Checks of foreign keys that it put off.
    pub(crate) deferred: DeferredChecks,
    /// Its standing among those that write beside it.
    pub(crate) others: OtherWriters,
    watch: Option<Watch>,
}

/// A moment of a transaction that it can return to, several times.
#[derive(Clone, Debug)]
pub struct Savepoint {
    changes: Mark,
    index_log: LogMark,
    redo: usize,
    /// Number of entries in the list of deferred checks.
    deferred: usize,
    standing: Standing,
}

impl Savepoint {
    /// Claims and locks that the transaction held.
    pub(crate) fn standing(&self) -> Standing {
        self.standing
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
        others: OtherWriters,
        next: Arc<Snapshot>,
        (memory, has_log): (WriterMemory, bool),
    ) -> Transaction {
        Transaction {
            store,
            base: Some(next.clone()),
            next,
            memory,
            watch: None,
            redo: TransactionRedo::new(has_log),
            settled: if has_log { 0 } else { u64::MAX },
            begins_visible: false,
            is_open: true,
            reruns: Reruns::default(),
            deferred: DeferredChecks::default(),
            others,
        }
    }

    /// The same, stopped by a flag (57014), and by a budget (53200) that what it writes counts against.
    pub fn within(mut self, budget: &MemoryBudget, cancel: &Cancel) -> Transaction {
        self.watch = Some(Watch::new(cancel.clone(), budget.reservation()));
        self
    }

    /// Notes that rows and so many bytes, estimated, were written. 57014, 53200.
    pub(crate) fn wrote(&mut self, rows: usize, bytes: usize) -> Result<()> {
        let redo = self.redo.in_memory();
        (self.watch.as_mut()).map_or(Ok(()), |watch| watch.wrote(rows, bytes, redo))
    }

    /// What counts the memory that it writes; none if there is no budget.
    pub(crate) fn held(&mut self) -> Option<&mut Reservation> {
        self.watch.as_mut().map(Watch::memory)
    }

    /// True if rows are queued: see [`Transaction::take_queued`].
    pub fn has_queued(&self) -> bool {
        !self.memory.queue.is_empty()
    }

    /// Takes the rows that were written since the last call and whose foreign keys are to be checked.
    pub fn take_queued(&mut self) -> Vec<QueuedRows> {
        self.memory.queue.take()
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
            deferred: self.deferred.mark(),
            standing: self.others.mark(),
        }
    }

    /// Undoes everything since `savepoint`, and gives back what was claimed since.
    pub fn rollback_to(&mut self, savepoint: Savepoint) {
        self.undo_to(&savepoint);
        self.others.free_since(savepoint.standing);
    }

    /// True if the transaction has changed nothing.
    pub(crate) fn has_no_changes(&self) -> bool {
        self.memory.changes.is_empty()
    }

    /// Undoes everything since `savepoint`; claims are kept.
    pub(crate) fn undo_to(&mut self, savepoint: &Savepoint) {
        let next = Arc::make_mut(&mut self.next);
        self.memory.undo_to(savepoint.changes, self.base.as_deref(), next);
        debug_assert_eq!(self.difference(), None);
        self.memory.index_log.undo_to(savepoint.index_log);
        drop(self.memory.queue.take());
        self.deferred.truncate(savepoint.deferred);
        self.redo.truncate(savepoint.redo);
    }

    /// Sets how long the transaction waits for others from now on, and what cancels its waits.
    pub fn set_patience(&mut self, limit: Duration, cancel: &Cancel) {
        self.others.set_patience(limit, cancel);
    }

    /// Waits until nobody else writes, and sees what they committed. Nobody else writes until the transaction ends, or
    /// returns to a savepoint before. 55P03, 57014, 40P01; 40001 if it sees one version to its end, which is not the
    /// newest.
    pub fn alone(&mut self) -> Result<()> {
        if self.others.is_alone() {
            return Ok(());
        }
        self.others.lock_out()?;
        match self.others.keeps_base() && !self.base.as_ref().is_some_and(|base| self.store.is_newest(base)) {
            true => Err(self.others.newer()),
            false => self.renew(),
        }
    }

    /// Goes over to the newest version, unless the transaction sees one version to its end.
    pub fn renew(&mut self) -> Result<()> {
        match self.base.as_ref().is_some_and(|base| self.store.is_newest(base)) {
            true => Ok(()),
            false => self.go_over_to(self.store.newest()),
        }
    }

    /// Goes over to a version, unless it is older than what the transaction sees, or the transaction sees one version
    /// to its end.
    pub fn go_over_to(&mut self, newer: Arc<Snapshot>) -> Result<()> {
        let Some(base) = self.base.as_ref().filter(|base| base.timestamp < newer.timestamp) else {
            return Ok(());
        };
        if self.others.keeps_base() {
            return Ok(());
        }
        self.next = match self.memory.changes.is_empty() {
            true => {
                self.memory.own.clear();
                newer.clone()
            }
            false => Arc::new(self.memory.rebase((&newer, base, &self.next))?),
        };
        self.base = Some(newer);
        debug_assert_eq!(self.difference(), None);
        Ok(())
    }

    /// Sets whether the transaction sees the version that it sees now to its end.
    pub fn keep_base(&mut self, keeps: bool) {
        self.others.keep_base(keeps);
    }

    /// Claims rows that a statement is going to change or delete, before it writes anything: waits for others that have
    /// claimed them, then looks at the newest version. 40001 if one of the rows is dead there; 40P01, 55P03, 57014,
    /// 53200.
    pub fn claim(&mut self, table: ObjectId, rows: &[RowId]) -> Result<()> {
        self.claim_as(table, rows, Mode::Update)
    }

    /// Claims rows in a mode; see [`Transaction::claim`].
    pub(crate) fn claim_as(&mut self, table: ObjectId, rows: &[RowId], mode: Mode) -> Result<()> {
        self.wrote(0, self.others.claim_bytes(rows))?;
        self.others.claim(&self.store, table, rows, mode)?;
        self.look_at_newest(table, rows)
    }

    /// Claims a row unless another transaction is in the way. Returns true if the row is claimed. 40001 if the row is
    /// dead in the newest version; 53200.
    pub(crate) fn try_claim(&mut self, table: ObjectId, row: RowId, mode: Mode) -> Result<bool> {
        self.wrote(0, self.others.claim_bytes(&[row]))?;
        let is_claimed = self.others.try_claim(table, row, mode)?;
        if is_claimed {
            self.look_at_newest(table, &[row])?;
        }
        Ok(is_claimed)
    }

    /// The transaction's standing among others.
    pub(crate) fn others(&mut self) -> &mut OtherWriters {
        &mut self.others
    }

    /// Looks at rows that were claimed in the newest version. 40001 if one of them is dead there.
    pub(crate) fn look_at_newest(&self, table: ObjectId, rows: &[RowId]) -> Result<()> {
        let Some(base) = self.base.as_ref().filter(|base| !self.store.is_newest(base)) else {
            return Ok(());
        };
        let newest = self.store.newest();
        let (Some(base), now) = (base.tables.get(table.0), newest.tables.get(table.0)) else {
            return Ok(());
        };
        let is_gone = |row: &RowId| base.shows(*row) && !now.is_some_and(|now| now.shows(*row));
        if now.is_some_and(|now| Arc::ptr_eq(now, base)) || !rows.iter().any(is_gone) {
            return Ok(());
        }
        self.others.looks_at(&newest);
        Err(self.others.newer_in(table))
    }

    /// Claims rows that were inserted and are going to have entries in unique indexes. 53200.
    pub(crate) fn claim_new(&mut self, table: ObjectId, rows: &[RowId]) -> Result<()> {
        self.wrote(0, self.others.claim_bytes(rows))?;
        self.others.claim_new(&self.store, table, rows)
    }

    /// The rows of a table as this transaction and others have them.
    pub(crate) fn beside(&self, table: ObjectId) -> Result<Beside<'_>> {
        Ok(Beside {
            store: &self.store,
            others: &self.others,
            base: self.base.as_deref(),
            own: self.next.table(table)?,
        })
    }

    /// False if the tail of the own version of a table takes no rows although it has room. A large transaction leaves
    /// a tail to the others that write to it. A base that is not the newest version may have a tail that was frozen
    /// since.
    pub(crate) fn takes_rows(&self, table: ObjectId) -> Result<bool> {
        let is_large = self.memory.changes.rows() > MOST_IN_SHARED;
        let is_behind = |base: &&Arc<Snapshot>| !self.store.is_newest(base);
        let Some(base) = self.base.as_ref().filter(|base| is_large || is_behind(base)) else {
            return Ok(true);
        };
        let own = self.next.table(table)?;
        let Some(tail) = own.tail() else {
            return Ok(true);
        };
        let is_of_base = (base.tables.get(table.0)).is_some_and(|base| base.entry(tail.number()).is_some());
        if !is_of_base {
            return Ok(true);
        }
        if is_large && tail.is_shared() {
            return Ok(false);
        }
        if self.store.is_newest(base) {
            return Ok(true);
        }
        let newest = self.store.newest();
        let now = newest
            .tables
            .get(table.0)
            .and_then(|now| now.entry(tail.number()));
        Ok(now.is_some_and(|now| now.shares_chunk(tail)))
    }

    /// Describes how the own version differs from the base with the changes; `None` if it does not.
    fn difference(&self) -> Option<String> {
        let base = self.base.as_ref()?;
        self.memory.changes.difference(base, &self.next)
    }

    /// The log, if it has one.
    pub(crate) fn log(&self) -> Option<Arc<dyn Durability>> {
        self.redo.is_wanted().then(|| self.store.log()).flatten()
    }

    /// The store that it writes to.
    pub(crate) fn store(&self) -> &Arc<Store> {
        &self.store
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

    /// Redo of what the transaction does. Much redo is written to a file first; an error of that comes up when the
    /// transaction commits.
    pub(crate) fn redo(&mut self) -> &mut TransactionRedo {
        if self.redo.is_crowded()
            && let Some(log) = self.log()
        {
            let _ = self.redo.spill(&log);
        }
        &mut self.redo
    }

    /// Notes that rows of a chunk lie in another one, at the same offsets.
    pub(crate) fn note_held(&mut self, before: &Arc<Chunk>, now: &Arc<Chunk>) {
        self.memory.index_log.held(before, now);
    }

    /// The transaction's version of a table beside those of others, and where is noted what becomes of its entries.
    pub(crate) fn noting(&mut self, table: ObjectId) -> Result<(Beside<'_>, Noting<'_>)> {
        let beside = Beside {
            store: &self.store,
            others: &self.others,
            base: self.base.as_deref(),
            own: self.next.table(table)?,
        };
        let noting = Noting {
            log: &mut self.memory.index_log,
            watch: &mut self.watch,
            redo: self.redo.in_memory(),
        };
        Ok((beside, noting))
    }

    /// The timestamp that a commit will have if nobody commits before.
    pub(crate) fn coming_timestamp(&self) -> u64 {
        self.next.timestamp + 1
    }

    /// Drops what was done.
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
    pub(crate) fn add_table(&mut self, mut version: TableSnapshot) {
        let id = version.table().id();
        let first = self.memory.changes.len();
        self.memory.changes.replaced(id, None);
        version.make_private(None, &self.memory.views);
        Arc::make_mut(&mut self.next)
            .tables
            .insert(id.0, Arc::new(version));
        self.memory.own.push((id, first));
    }

    /// The transaction's version of a table, to be changed as a whole: nobody else writes to the table until the
    /// transaction ends. The errors of [`Transaction::lock_whole`].
    pub(crate) fn table_mut(&mut self, id: ObjectId) -> Result<&mut TableSnapshot> {
        self.lock_whole(id, TableMode::Share)?;
        let before = self.next.tables.get(id.0).cloned();
        let first = self.memory.changes.len();
        if before.is_some() {
            self.memory.changes.replaced(id, before);
        }
        self.version_mut(id, first).map(|(version, _)| version)
    }

    /// The transaction's version of a table, to have rows inserted and deleted, and the list where each such change
    /// is noted.
    pub(crate) fn rows_mut(&mut self, id: ObjectId) -> Result<(&mut TableSnapshot, &mut Changes)> {
        let first = self.memory.changes.len();
        self.version_mut(id, first)
    }

    /// As [`Transaction::rows_mut`]; `first` is the place of the table's first change, if it has none yet.
    fn version_mut(&mut self, id: ObjectId, first: usize) -> Result<(&mut TableSnapshot, &mut Changes)> {
        if self.next.tables.get(id.0).is_none() {
            return Err(self.next.missing(id));
        }
        // A statement locks its tables before it reads; this is for those that it comes to on its way.
        if self.take_table(id, TableMode::RowExclusive)?
            && let Err(newer) = self.check_definition(id)
        {
            if !self.reruns.can_be_undone() {
                // The statement may have written something that could not be undone, so it must not run again.
                self.others.take_behind();
            }
            return Err(newer);
        }
        let table = (Arc::make_mut(&mut self.next).tables.get_mut(id.0))
            .ok_or_else(|| Error::internal(format!("table {} is not in the transaction", id.0)))?;
        if !table.is_private() {
            let base = table.clone();
            Arc::make_mut(table).make_private(Some(base), &self.memory.views);
            self.memory.own.push((id, first));
        }
        let version = Arc::make_mut(table);
        Ok((version, &mut self.memory.changes))
    }
}

impl Drop for Transaction {
    fn drop(&mut self) {
        if !self.is_open {
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
        // Claims are freed last, with the owner.
    }
}
