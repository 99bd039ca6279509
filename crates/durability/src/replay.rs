//! Changes of the log done again: those of a table by one thread, in their order, those of several tables beside each other.
//!
//! One thread reads the log and deals the changes out, gathered to [`PORTION`] bytes a table. What is not about the rows of one table
//! (the catalog, blocks in segments) waits until all that came before it is done, and is done by the thread that reads.
//!
//! Within a portion neighbouring inserts are done as one, and deletes last: a row that is deleted was inserted before, and no
//! row id comes again. So what commits of one row wrote is done again in large strides.

use frazil_storage::TableSnapshot;
use frazil_storage::redo::{Change, RedoColumns, changes_at};
use frazil_types::{Error, LogicalType, ObjectId, Result, RowId};
use std::collections::BTreeMap;
use std::ops::Range;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::mpsc::{Receiver, SyncSender, sync_channel};
use std::sync::{Arc, Condvar, Mutex, MutexGuard};
use std::thread::Scope;

/// Bytes of redo of a table that are done at once.
const PORTION: usize = 1 << 20;
/// Portions that may wait for a thread.
const WAITING: usize = 4;
/// Rows that are inserted as one.
const STRIDE: usize = 1 << 12;

/// A table that is changed by one thread at a time.
type Shared = Arc<Mutex<TableSnapshot>>;

/// A change of a table, and where it comes from.
struct Piece {
    /// Of its record in the log.
    position: u64,
    timestamp: u64,
    /// Its first byte in the record's redo.
    offset: usize,
    /// Its bytes in the portion.
    range: Range<usize>,
}

/// Changes of one table, in order.
#[derive(Default)]
struct Portion {
    bytes: Vec<u8>,
    pieces: Vec<Piece>,
}

/// What threads share.
#[derive(Default)]
struct State {
    /// Portions that were dealt out and are not done.
    open: Mutex<usize>,
    done: Condvar,
    /// Rows inserted and deleted.
    rows: AtomicU64,
    /// Changes that failed, by the positions of their records, with their tables: the first one of each table.
    failed: Mutex<Vec<(u64, ObjectId, Error)>>,
    /// If a change of one table fails, only further changes of this table are left out. Deletes of rows that are
    /// absent are left out, too.
    salvages: bool,
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(|e| e.into_inner())
}

/// Deals changes out to threads.
pub(crate) struct Dealer<'scope, 'env> {
    scope: &'scope Scope<'scope, 'env>,
    state: Arc<State>,
    tables: BTreeMap<ObjectId, (Shared, Portion)>,
    /// Those that run; the ones that are missing at the end are not needed yet, or the system gives no more.
    threads: Vec<SyncSender<(Shared, Portion)>>,
    /// How many there may be.
    most_threads: usize,
    /// The system gave no further thread.
    is_refused: bool,
}

impl<'scope, 'env> Dealer<'scope, 'env> {
    /// Changes of these tables are done by so many threads; by the caller's if that is one. `salvages`: a change that
    /// fails stops the changes of its table alone.
    pub fn new(
        scope: &'scope Scope<'scope, 'env>,
        tables: BTreeMap<ObjectId, TableSnapshot>,
        threads: usize,
        salvages: bool,
    ) -> Dealer<'scope, 'env> {
        let shared = |table| (Arc::new(Mutex::new(table)), Portion::default());
        Dealer {
            scope,
            state: Arc::new(State {
                salvages,
                ..State::default()
            }),
            tables: tables
                .into_iter()
                .map(|(id, table)| (id, shared(table)))
                .collect(),
            threads: Vec::new(),
            most_threads: threads,
            is_refused: false,
        }
    }

    /// Rows that were inserted and deleted so far.
    pub fn rows(&self) -> u64 {
        self.state.rows.load(Ordering::Relaxed)
    }

    /// Counts rows that were inserted otherwise.
    pub fn count(&self, rows: u64) {
        self.state.rows.fetch_add(rows, Ordering::Relaxed);
    }

    /// True if there is such a table.
    pub fn has(&self, table: ObjectId) -> bool {
        self.tables.contains_key(&table)
    }

    /// Takes in a table that is to be changed.
    pub fn take_in(&mut self, id: ObjectId, table: TableSnapshot) {
        let shared = (Arc::new(Mutex::new(table)), Portion::default());
        self.tables.insert(id, shared);
    }

    /// The table of the first change that failed.
    pub fn failed_table(&self) -> Option<ObjectId> {
        let failed = lock(&self.state.failed);
        failed
            .iter()
            .min_by_key(|(position, ..)| *position)
            .map(|(_, table, _)| *table)
    }

    /// The changes that failed where that stops their tables alone.
    pub fn take_failed(&self) -> Vec<(ObjectId, Error)> {
        let failed = std::mem::take(&mut *lock(&self.state.failed)).into_iter();
        failed.map(|(_, table, error)| (table, error)).collect()
    }

    /// A change of the rows of a table, from a record's redo at `offset`; false if there is no such table. An error may be that of an earlier change.
    pub fn change(
        &mut self,
        table: ObjectId,
        (position, timestamp): (u64, u64),
        bytes: &[u8],
        offset: usize,
    ) -> Result<bool> {
        let Some((_, portion)) = self.tables.get_mut(&table) else {
            return Ok(false);
        };
        let start = portion.bytes.len();
        portion.bytes.extend_from_slice(bytes);
        portion.pieces.push(Piece {
            position,
            timestamp,
            offset,
            range: start..portion.bytes.len(),
        });
        if portion.bytes.len() >= PORTION {
            self.deal(table);
            self.state.check()?;
        }
        Ok(true)
    }

    /// Returns when everything is done, with the tables to be changed.
    pub fn rest(&mut self) -> Result<BTreeMap<ObjectId, TableSnapshot>> {
        let ids: Vec<ObjectId> = self.tables.keys().copied().collect();
        ids.into_iter().for_each(|id| self.deal(id));
        self.state.wait();
        self.state.check()?;
        let tables = std::mem::take(&mut self.tables).into_iter();
        let own = |(id, (table, _)): (ObjectId, (Shared, Portion))| match Arc::try_unwrap(table) {
            Ok(table) => Ok((id, table.into_inner().unwrap_or_else(|e| e.into_inner()))),
            Err(_) => Err(Error::internal("a table is still being recovered")),
        };
        tables.map(own).collect()
    }

    /// Gives the tables back that [`Dealer::rest`] gave.
    pub fn go_on(&mut self, tables: BTreeMap<ObjectId, TableSnapshot>) {
        let shared = |(id, table)| (id, (Arc::new(Mutex::new(table)), Portion::default()));
        self.tables = tables.into_iter().map(shared).collect();
    }

    /// Hands what was gathered of a table to its thread.
    fn deal(&mut self, id: ObjectId) {
        let Some((table, portion)) = self.tables.get_mut(&id) else {
            return;
        };
        let (table, portion) = (table.clone(), std::mem::take(portion));
        if portion.pieces.is_empty() {
            return;
        }
        // The same thread for the same table, always. Small logs are done before a thread has begun.
        let thread = id.0 as usize % self.most_threads;
        if portion.bytes.len() >= PORTION && self.most_threads > 1 {
            self.begin_threads(thread);
        }
        *lock(&self.state.open) += 1;
        let sent = match self.threads.get(thread) {
            Some(thread) => thread.send((table, portion)).map_err(|unsent| unsent.0),
            None => Err((table, portion)),
        };
        if let Err((table, portion)) = sent {
            self.state.work_on(table, &portion);
        }
    }
    /// Begins threads up to this one.
    fn begin_threads(&mut self, thread: usize) {
        while self.threads.len() <= thread && !self.is_refused {
            let (sender, receiver) = sync_channel(WAITING);
            let state = self.state.clone();
            let begun = std::thread::Builder::new().spawn_scoped(self.scope, move || state.work(&receiver));
            match begun {
                Ok(_) => self.threads.push(sender),
                // The tables of this one and of those behind it are changed by the thread that reads.
                Err(_) => self.is_refused = true,
            }
        }
    }
}

impl State {
    /// What a thread does until there is nothing more to come.
    fn work(&self, portions: &Receiver<(Shared, Portion)>) {
        while let Ok((table, portion)) = portions.recv() {
            self.work_on(table, &portion);
        }
    }

    /// Does a portion, unless something has failed.
    fn work_on(&self, table: Shared, portion: &Portion) {
        let id = lock(&table).table().id();
        if !self.is_stopped(id) {
            let mut position = 0;
            let work = || replay(&mut lock(&table), portion, &mut position, self.salvages);
            let done = catch_unwind(AssertUnwindSafe(work)).unwrap_or_else(|p| Err(Error::of_panic(&*p)));
            match done {
                Ok(rows) => drop(self.rows.fetch_add(rows, Ordering::Relaxed)),
                Err(error) => self.fail(position, id, error),
            }
        }
        // Who waits takes the tables to be nobody else's.
        drop(table);
        *lock(&self.open) -= 1;
        self.done.notify_all();
    }

    fn fail(&self, position: u64, table: ObjectId, error: Error) {
        let error = error.in_context(format!("position {position}"));
        lock(&self.failed).push((position, table, error));
    }

    /// True if no change of a table is to be done any more.
    fn is_stopped(&self, table: ObjectId) -> bool {
        let failed = lock(&self.failed);
        match self.salvages {
            true => failed.iter().any(|(_, failed, _)| *failed == table),
            false => !failed.is_empty(),
        }
    }

    /// Returns when nothing is open.
    fn wait(&self) {
        let mut open = lock(&self.open);
        while *open > 0 {
            open = self.done.wait(open).unwrap_or_else(|e| e.into_inner());
        }
    }

    /// What failed.
    fn check(&self) -> Result<()> {
        let failed = lock(&self.failed);
        match failed.iter().min_by_key(|(position, ..)| *position) {
            Some((_, _, error)) if !self.salvages => Err(error.clone()),
            _ => Ok(()),
        }
    }
}

/// Neighbouring inserts that were read and not done, and deletes.
#[derive(Default)]
struct Stride<'a> {
    /// The id of the first row that is to be inserted.
    first: Option<RowId>,
    rows: usize,
    inserts: Vec<RedoColumns<'a>>,
    /// Rows, and the positions of the records that delete them.
    deletes: Vec<(RowId, u64)>,
    /// Of the last change.
    timestamp: u64,
    /// Rows to be deleted may be left out with their chunk.
    salvages: bool,
}

impl<'a> Stride<'a> {
    /// Whether rows that begin with this one are the next ones of the stride.
    fn takes(&self, first: RowId) -> bool {
        let next = |begun: RowId| begun.0 + self.rows as u64;
        (self.first).is_some_and(|begun| {
            begun.chunk() == first.chunk() && next(begun) == first.0 && self.rows < STRIDE
        })
    }

    fn insert(&mut self, first: RowId, columns: RedoColumns<'a>) {
        self.first.get_or_insert(first);
        self.rows += columns.rows();
        self.inserts.push(columns);
    }

    /// Inserts what is to be inserted.
    fn flush(&mut self, table: &mut TableSnapshot) -> Result<()> {
        let Some(first) = self.first.take() else {
            return Ok(());
        };
        let types: Vec<LogicalType> = table.schema().columns.iter().map(|c| c.ty).collect();
        let batch = RedoColumns::read_all(&self.inserts, &types)?;
        self.inserts.clear();
        self.rows = 0;
        table.replay_insert(first, &batch, self.timestamp)
    }

    /// Does everything. `position` as in [`replay`].
    fn finish(&mut self, table: &mut TableSnapshot, position: &mut u64) -> Result<()> {
        self.flush(table)?;
        let mut deletes = std::mem::take(&mut self.deletes);
        deletes.sort_unstable();
        if self.salvages {
            for (row, _) in deletes {
                let _ = table.replay_delete(&[row], self.timestamp);
            }
            return Ok(());
        }
        let rows: Vec<RowId> = deletes.iter().map(|(row, _)| *row).collect();
        let done = table.replay_delete(&rows, self.timestamp);
        done.map_err(|(missing, error)| {
            // Of two that delete it the second one is wrong.
            let last = deletes.iter().rfind(|(row, _)| *row == missing);
            *position = last.map_or(*position, |(_, position)| *position);
            error
        })
    }
}

/// Does the changes of a portion again; how many rows they inserted and deleted. `position`: that of the record that failed, or of one
/// before which nothing is left to be done.
fn replay(table: &mut TableSnapshot, portion: &Portion, position: &mut u64, salvages: bool) -> Result<u64> {
    let mut stride = Stride {
        salvages,
        ..Stride::default()
    };
    let mut rows = 0;
    for piece in &portion.pieces {
        for change in changes_at(&portion.bytes[piece.range.clone()], piece.offset) {
            match change.inspect_err(|_| *position = piece.position)? {
                Change::Insert { first, columns, .. } => {
                    if !stride.takes(first) {
                        stride.flush(table)?;
                        *position = piece.position;
                    }
                    stride.insert(first, columns);
                    rows += columns.rows() as u64;
                }
                Change::Delete { rows: deleted, .. } => {
                    rows += deleted.len() as u64;
                    stride
                        .deletes
                        .extend(deleted.into_iter().map(|row| (row, piece.position)));
                }
                Change::Truncate(_) => {
                    stride.finish(table, position)?;
                    table.replay_truncate();
                }
                Change::Removed { chunks, .. } => {
                    stride.finish(table, position)?;
                    table.replay_removed(&chunks, piece.timestamp);
                }
                Change::Filled {
                    chunk, column, block, ..
                } => {
                    stride.finish(table, position)?;
                    *position = piece.position;
                    table.replay_filled(chunk, column, block)?;
                }
                // Blocks that no checkpoint has are built again when their rows are cold.
                Change::Held(_) => {}
                Change::Catalog(_) | Change::Load { .. } | Change::Sequence { .. } | Change::Elsewhere(_) => {
                    return Err(Error::internal(
                        "a change that is not a table's own was dealt out",
                    ));
                }
            }
            stride.timestamp = piece.timestamp;
        }
    }
    stride.finish(table, position).map(|()| rows)
}
