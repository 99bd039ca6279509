//! The one way into a table: every row that enters, changes or leaves it passes a [`TableWriter`], and is checked
//! here, once.
//!
//! A statement reads all of its rows before it writes any, so a writer gets whole batches. UPDATE is delete and
//! insert: a row that is updated gets a new id. What is refused leaves the rows before it in the transaction's
//! private version; whoever runs the statement drops the transaction, or returns to a savepoint.

use crate::changes::Changes;
use crate::chunk::FrozenChunk;
use crate::chunk_entry::ChunkEntry;
use crate::columns::Columns;
use crate::hot_chunk::HotChunk;
use crate::kept_columns::KeptColumns;
use crate::new_rows::{NewRows, check_block, check_shape, check_update, first_fault, refuse_unchecked};
use crate::row_counts::RowCounts;
use crate::row_queue::{Contested, RowQueue};
use crate::snapshot::{Table, TableSnapshot};
use crate::table_indexes::TableIndexes;
use crate::transaction::Transaction;
use crate::unique_keys::Rivals;
use frazil_block::Block;
use frazil_types::{CHUNK_ROWS, EncodedKeys, Error, ObjectId, Result, RowBatch, RowId};
use std::collections::{HashMap, HashSet};
use std::mem::take;
use std::ops::Range;
use std::sync::Arc;

/// Bytes that an index takes for an entry beside its key: measured, 24.6 with one of 8 bytes.
const ENTRY_BYTES: usize = 16;

/// Bytes of both notes of neighbouring rows that are deleted, their offsets apart.
const RUN_BYTES: usize = 64 + Changes::BYTES;

/// What becomes of a row whose key is there already.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Conflict<'a> {
    /// The statement fails: 23505.
    Fail,
    /// The row is left out, also if the row in the way came with the same statement.
    Skip {
        /// The unique indexes that count; with an empty list all of the table's. A conflict in another one fails.
        arbiters: &'a [ObjectId],
    },
}

/// What a call of a writer did.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Written {
    /// Rows that were inserted, updated or deleted.
    pub count: u64,
    /// For each input row the id of the row that was inserted, that the update made, or that was deleted. `None`:
    /// nothing was written for this input row.
    pub rows: Vec<Option<RowId>>,
}

/// Writes to one table within a transaction.
#[derive(Debug)]
pub struct TableWriter<'a> {
    transaction: &'a mut Transaction,
    table: ObjectId,
}

impl Transaction {
    /// A writer of a table. An internal error if the transaction does not see the table.
    pub fn writer(&mut self, table: ObjectId) -> Result<TableWriter<'_>> {
        self.view().table(table)?;
        Ok(TableWriter {
            transaction: self,
            table,
        })
    }
}

impl TableWriter<'_> {
    /// An internal error unless a batch has the columns of the table.
    pub fn check_shape(&self, batch: &RowBatch) -> Result<()> {
        check_shape(self.current()?.table(), batch)
    }

    /// Appends rows, whose columns are the table's. The first row that is refused decides about the error: 23502 for
    /// NULL in a NOT NULL column, 23514 for a CHECK constraint that does not hold, 54000 for a key that is too long, 23505 for
    /// one that another row has.
    pub fn insert(&mut self, rows: &NewRows<'_>, conflict: Conflict<'_>) -> Result<Written> {
        let (good, fault) = self.good_rows(rows)?;
        let mut written = Written::default();
        if !good.is_empty() {
            let columns = Columns::Batch(&rows.batch.columns);
            written = self.insert_good(columns, good, conflict)?;
            self.queue(|queue, table| {
                let rows = written.rows.iter().flatten();
                rows.for_each(|row| queue.inserted(table, *row));
            });
            self.counts()?.insert(written.count);
        }
        fault.map_or(Ok(written), Err)
    }

    /// The same with [`Conflict::Fail`], for who only asks how many rows were inserted.
    pub fn insert_all(&mut self, rows: &NewRows<'_>) -> Result<u64> {
        let (good, fault) = self.good_rows(rows)?;
        let count = good.len() as u64;
        if !good.is_empty() {
            let columns = Columns::Batch(&rows.batch.columns);
            let memory = self.transaction.memory();
            let (mut keys, mut ids) = (take(&mut memory.keys), take(&mut memory.ids));
            self.current()?.indexes().keys_into(columns, &mut keys);
            self.append_to(&mut ids, columns, good, &keys, &Rivals::Live)?;
            self.queue(|queue, table| ids.iter().for_each(|row| queue.inserted(table, *row)));
            ids.clear();
            let memory = self.transaction.memory();
            (memory.keys, memory.ids) = (keys, ids);
            self.counts()?.insert(count);
        }
        fault.map_or(Ok(count), Err)
    }

    /// The rows before the first one that is refused for another reason than its keys, as far as they need be written, and why it
    /// is.
    fn good_rows(&self, rows: &NewRows<'_>) -> Result<(Range<usize>, Option<Error>)> {
        let version = self.current()?;
        let table = version.table();
        check_shape(table, rows.batch).and_then(|()| refuse_unchecked(table, rows.checks))?;
        let every = 0..table.schema().columns.len();
        Ok(match first_fault(table, every, rows, &|_| true) {
            None => (0..rows.batch.rows, None),
            // A row before it may have a key that is taken.
            Some((row, error)) if !version.indexes().is_empty() => (0..row, Some(error)),
            Some((_, error)) => (0..0, Some(error)),
        })
    }

    /// Appends rows that were checked but for their keys.
    fn insert_good(
        &mut self,
        columns: Columns<'_>,
        rows: Range<usize>,
        conflict: Conflict<'_>,
    ) -> Result<Written> {
        let indexes = self.current()?.indexes().clone();
        let keys = indexes.keys(columns);
        let mut written = Written::default();
        match conflict {
            Conflict::Skip { arbiters } if indexes.iter().any(|i| TableIndexes::is_arbiter(i, arbiters)) => {
                for row in rows {
                    let beside = self.transaction.beside(self.table)?;
                    let free = indexes.conflict(&beside, &keys, row, arbiters)?.is_none();
                    let rivals = Rivals::OfSkip(arbiters);
                    let new = free.then(|| self.append(columns, row..row + 1, &keys, &rivals));
                    written.rows.push(new.transpose()?.map(|new| new[0]));
                }
                written.count = written.rows.iter().flatten().count() as u64;
            }
            Conflict::Fail | Conflict::Skip { .. } => {
                written.count = rows.len() as u64;
                let new = self.append(columns, rows, &keys, &Rivals::Live)?;
                written.rows = new.into_iter().map(Some).collect();
            }
        }
        Ok(written)
    }

    /// Appends some rows of columns, and adds their entries to the table's indexes; `keys` are those of all rows, for each index.
    /// The ids of the rows. 54000, 23505.
    pub(crate) fn append(
        &mut self,
        columns: Columns<'_>,
        rows: Range<usize>,
        keys: &[EncodedKeys],
        rivals: &Rivals<'_>,
    ) -> Result<Vec<RowId>> {
        let mut ids = Vec::new();
        self.append_to(&mut ids, columns, rows, keys, rivals)?;
        Ok(ids)
    }

    /// The same, the ids going into a list that is empty.
    fn append_to(
        &mut self,
        ids: &mut Vec<RowId>,
        columns: Columns<'_>,
        rows: Range<usize>,
        keys: &[EncodedKeys],
        rivals: &Rivals<'_>,
    ) -> Result<()> {
        let now = self.transaction.coming_timestamp();
        ids.reserve(rows.len());
        let mut from = rows.start;
        while from < rows.end {
            let part = self.rows_at_once(from..rows.end)?;
            from = part.end;
            let bytes = columns.bytes(part.clone());
            self.transaction.wrote(part.len(), bytes + Changes::BYTES)?;
            let takes_rows = self.transaction.takes_rows(self.table)?;
            let (version, changes) = self.transaction.rows_mut(self.table)?;
            let known = ids.len();
            append(
                (&mut *version, changes),
                (columns, part.clone()),
                (now, takes_rows),
                ids,
            )?;
            let tail = version.tail().map(|tail| (tail.number(), tail.is_full()));
            // There are several chunks if others filled the tail meanwhile, or without a log.
            let mut from = part.start;
            for run in ids[known..].chunk_by(|a, b| a.chunk() == b.chunk()) {
                let rows = from..from + run.len();
                from = rows.end;
                let is_full = tail.is_none_or(|tail| tail == (run[0].chunk(), true));
                let is_tail = tail.is_none_or(|tail| tail.0 == run[0].chunk());
                let (table, bytes) = (self.table, bytes * run.len() / part.len());
                let is_filled = is_tail && self.transaction.redo().is_filled(table, run[0], bytes, is_full);
                if !(is_filled && self.freeze_filled()?) {
                    self.transaction.redo().insert(table, run, columns, rows);
                }
            }
        }
        self.add_entries(ids, rows, keys, rivals)
    }

    /// Adds the entries of rows that were written, whose keys are those of `rows`.
    fn add_entries(
        &mut self,
        ids: &[RowId],
        rows: impl Iterator<Item = usize>,
        keys: &[EncodedKeys],
        rivals: &Rivals<'_>,
    ) -> Result<()> {
        if keys.is_empty() {
            return Ok(());
        }
        let (table, is_unique) = (self.table, self.current()?.indexes().has_unique());
        if is_unique {
            self.transaction.claim_new(table, ids)?;
        }
        let (beside, mut noting) = self.transaction.noting(table)?;
        let version = beside.own;
        let mut contested = Contested::new();
        for (&id, row) in ids.iter().zip(rows) {
            let entry = version
                .entry(id.chunk())
                .ok_or_else(|| no_such_row(version.table(), id.chunk()))?;
            let bytes = keys.iter().map(|keys| keys.key(row).len() + ENTRY_BYTES).sum();
            noting.added(version, entry, id, bytes)?;
            version
                .indexes()
                .add(&beside, (keys, row), id, rivals, &mut contested)?;
        }
        if !contested.is_empty() {
            self.transaction.memory().queue.contested(table, contested);
        }
        Ok(())
    }

    /// Gives rows other values in `columns` (positions in the table, each once), whose values are the columns of the
    /// batch, one row for each id. An id that comes twice counts once: its first values win. The id of a row that is
    /// deleted counts nothing; one that names no row is an internal error. The first row that is refused decides about the
    /// error, as in [`TableWriter::insert`].
    pub fn update(&mut self, ids: &[RowId], columns: &[usize], rows: &NewRows<'_>) -> Result<Written> {
        let bytes = ids.len() * self.update_bytes(columns)?;
        self.counted(bytes, |writer| writer.update_rows(ids, columns, rows))
    }

    /// Bytes for each row of an update beside the new row: the row's id, its other columns, and its place among the
    /// rows if the row may get the key of another one.
    fn update_bytes(&mut self, columns: &[usize]) -> Result<usize> {
        let version = self.current()?;
        let kept = (version.schema().columns.iter().enumerate())
            .filter(|(i, _)| !columns.contains(i))
            .map(|(_, column)| column.ty.native().size() + 1);
        let place = match version.indexes().sets_a_key(columns) {
            true => 2 * size_of::<(RowId, usize)>(),
            false => 0,
        };
        Ok(size_of::<RowId>() + kept.sum::<usize>() + place)
    }

    /// Does some work, and counts `bytes` more of the transaction's memory meanwhile. 53200 beyond the limit.
    fn counted<T>(&mut self, bytes: usize, work: impl FnOnce(&mut Self) -> Result<T>) -> Result<T> {
        if let Some(held) = self.transaction.held() {
            held.grow(bytes)?;
        }
        let done = work(self);
        if let Some(held) = self.transaction.held() {
            held.shrink(bytes);
        }
        done
    }

    fn update_rows(&mut self, ids: &[RowId], columns: &[usize], rows: &NewRows<'_>) -> Result<Written> {
        let version = self.current()?;
        check_update(version.table(), ids, columns, rows.batch)?;
        let may_conflict = version.indexes().sets_a_key(columns);
        let (end, fault) = match first_update_fault(version, ids, columns, rows) {
            None => (ids.len(), None),
            // A row before it may have a key that is taken.
            Some((row, error)) if may_conflict => (row, Some(error)),
            Some((_, error)) => return Err(error),
        };
        let kept = KeptColumns::of(self.current()?, ids, columns)?;
        let updated = kept.beside(columns, rows.batch);
        let written = self.replace(ids, Columns::Mixed(&updated), end, may_conflict)?;
        self.queue(|queue, table| {
            let pairs = ids[..end].iter().zip(&written.rows);
            let pairs = pairs.filter_map(|(before, after)| Some((*before, (*after)?)));
            pairs.for_each(|(before, after)| queue.updated(table, before, after));
        });
        kept.give_back(self.current()?);
        self.counts()?.update(written.count);
        fault.map_or(Ok(written), Err)
    }

    /// Puts rows in the place of others, all of which are deleted; those from `end` on are not written. `may_conflict`: whether
    /// a row may get a key that another one has.
    fn replace(
        &mut self,
        ids: &[RowId],
        columns: Columns<'_>,
        end: usize,
        may_conflict: bool,
    ) -> Result<Written> {
        let mut keys = take(&mut self.transaction.memory().keys);
        self.current()?.indexes().keys_into(columns, &mut keys);
        let mut written = self.delete_counted(ids)?;
        // Rows that are replaced later still have their keys when a row before them is written.
        let places: HashMap<RowId, usize> = match may_conflict && ids.len() > 1 {
            true => (written.rows.iter().enumerate())
                .filter_map(|(at, id)| Some(((*id)?, at)))
                .collect(),
            false => HashMap::new(),
        };
        let mut from = 0;
        // Runs of neighbouring input rows, all written or none; one by one where keys may conflict.
        while from < end {
            let is_live = written.rows[from].is_some();
            let run = written.rows[from..end]
                .iter()
                .take_while(|w| w.is_some() == is_live);
            let part = from..from + if may_conflict { 1 } else { run.count() };
            from = part.end;
            if is_live {
                let later = |id: RowId| places.get(&id).is_some_and(|&at| at >= from);
                let rivals = if may_conflict {
                    Rivals::LiveOr(&later)
                } else {
                    Rivals::Kept
                };
                let new = self.append(columns, part.clone(), &keys, &rivals)?;
                part.zip(new).for_each(|(row, id)| written.rows[row] = Some(id));
            }
        }
        self.transaction.memory().keys = keys;
        Ok(written)
    }

    /// Deletes rows. An id that comes twice counts once, the id of a row that is deleted already counts nothing. One
    /// that names no row is an internal error. 57014, 53200.
    pub fn delete(&mut self, ids: &[RowId]) -> Result<Written> {
        let written = self.delete_counted(ids)?;
        self.queue(|queue, table| {
            let rows = written.rows.iter().flatten();
            rows.for_each(|row| queue.deleted(table, *row));
        });
        self.counts()?.delete(written.count);
        Ok(written)
    }

    /// The counts of the table's rows.
    fn counts(&self) -> Result<&RowCounts> {
        Ok(self.current()?.table().row_counts())
    }

    /// Queues rows for the check of foreign keys, if the table is part of any.
    pub(crate) fn queue(&mut self, work: impl FnOnce(&mut RowQueue, ObjectId)) {
        if RowQueue::wants(self.transaction.view().catalog(), self.table) {
            work(&mut self.transaction.memory().queue, self.table);
        }
    }

    /// Deletes rows, which counts against the transaction's memory.
    pub(crate) fn delete_counted(&mut self, ids: &[RowId]) -> Result<Written> {
        let bytes = size_of_val(ids) + ids.len() * size_of::<Option<RowId>>();
        self.counted(bytes, |writer| writer.delete_rows(ids))
    }

    fn delete_rows(&mut self, ids: &[RowId]) -> Result<Written> {
        let mut written = Written {
            count: 0,
            rows: vec![None; ids.len()],
        };
        if ids.is_empty() {
            return Ok(written);
        }
        let now = self.transaction.coming_timestamp();
        // Runs of ids in one chunk, as a scan returns them; the first of equal ids comes first.
        let mut rows = 0;
        for run in ids.chunk_by(|a, b| a.chunk() == b.chunk()) {
            let number = run[0].chunk();
            let written_of_run = &mut written.rows[rows..rows + run.len()];
            let (version, changes) = self.transaction.rows_mut(self.table)?;
            let deleted = version.change(number, |entry| {
                let most = entry.view().rows();
                let had_marks = entry.view().deleted().is_some();
                for (id, written) in run.iter().zip(&mut *written_of_run) {
                    if u32::from(id.offset()) >= most {
                        return None;
                    }
                    *written = entry.delete(id.offset(), now).then_some(*id);
                }
                Some(had_marks)
            });
            let fresh = written_of_run.iter().flatten().map(|id| id.offset());
            changes.deleted(self.table, number, fresh);
            let Some(had_marks) = deleted.flatten() else {
                return Err(no_such_row(version.table(), number));
            };
            // Marks that are copied take the place of others, which are gone with the versions that have them.
            let marks = if had_marks { 0 } else { CHUNK_ROWS / 8 };
            self.transaction
                .wrote(run.len(), marks + RUN_BYTES + run.len() * 2 * size_of::<u16>())?;
            rows += run.len();
        }
        written.count = written.rows.iter().flatten().count() as u64;
        self.transaction.redo().delete(self.table, &written.rows);
        let (beside, mut noting) = self.transaction.noting(self.table)?;
        let version = beside.own;
        if !version.indexes().is_empty() {
            for &id in written.rows.iter().flatten() {
                let entry = version
                    .entry(id.chunk())
                    .ok_or_else(|| no_such_row(version.table(), id.chunk()))?;
                noting.deleted(version, entry, id);
            }
        }
        Ok(written)
    }

    /// Adds a block, whose columns are the table's, as a chunk of its own: what a bulk load makes. Returns the number
    /// of its rows. 23502 for NULL in a NOT NULL column; 54000 and 23505 as [`TableWriter::insert`]; what fails where it is written for the log.
    pub fn block(&mut self, block: Block) -> Result<u64> {
        let table = self.current()?.table();
        check_block(table, &block).and_then(|()| refuse_unchecked(table, &[]))?;
        let rows = u64::from(block.rows());
        let (version, changes) = self.transaction.rows_mut(self.table)?;
        let number = version.table().take_chunk_number();
        let frozen = FrozenChunk::joining(version, block, Arc::new(version.build_options()));
        let entry = ChunkEntry::frozen(number, frozen, version.table().numbers().clone());
        let entry = Arc::new(entry);
        version.join(entry.clone(), false);
        changes.sealed(self.table, entry, None);
        self.add_chunk_entries(number, &Rivals::Live)?;
        self.transaction.note_block(self.table, number)?;
        self.queue(|queue, table| queue.inserted_chunk(table, number, rows as u32));
        self.counts()?.insert(rows);
        Ok(rows)
    }

    /// Adds the entries of the live rows of a chunk that joined the table. Rows may have been deleted while it was made: no version
    /// shows them by the numbers that they have in it.
    pub(crate) fn add_chunk_entries(&mut self, number: u32, rivals: &Rivals<'_>) -> Result<()> {
        let version = self.current()?.clone();
        let Some(entry) = version.entry(number).filter(|_| !version.indexes().is_empty()) else {
            return Ok(());
        };
        let view = entry.view();
        let keys =
            (version.indexes().keys_of_chunk(view)).map_err(|e| entry.blame(version.table().entry(), e))?;
        let live = (0..view.rows() as usize).filter(|&offset| !view.is_deleted(offset));
        let ids: Vec<RowId> = (live.clone())
            .map(|offset| RowId::new(number, offset as u16))
            .collect();
        self.add_entries(&ids, live, &keys, rivals)
    }

    /// Moves entries along with rows that got new ids: chunks of `before` that are gone, and such as are new.
    pub(crate) fn follow_moved_rows(&mut self, before: &TableSnapshot) -> Result<()> {
        if before.indexes().is_empty() {
            return Ok(());
        }
        let after = self.current()?.clone();
        for entry in after
            .chunks()
            .filter(|entry| before.entry(entry.number()).is_none())
        {
            self.add_chunk_entries(entry.number(), &Rivals::None)?;
        }
        let (_, mut noting) = self.transaction.noting(self.table)?;
        for entry in before
            .chunks()
            .filter(|entry| after.entry(entry.number()).is_none())
        {
            let view = entry.view();
            let live = (0..view.rows()).filter(|&offset| !view.is_deleted(offset as usize));
            for offset in live {
                noting.deleted(&after, entry, RowId::new(entry.number(), offset as u16));
            }
        }
        Ok(())
    }

    pub(crate) fn transaction(&mut self) -> &mut Transaction {
        self.transaction
    }

    pub(crate) fn table(&self) -> ObjectId {
        self.table
    }

    pub(crate) fn current(&self) -> Result<&Arc<TableSnapshot>> {
        self.transaction.view().table(self.table)
    }
}

/// The first row of an UPDATE that is refused, keys apart, and the error. Rows that change nothing do not count.
fn first_update_fault(
    version: &TableSnapshot,
    ids: &[RowId],
    columns: &[usize],
    rows: &NewRows<'_>,
) -> Option<(usize, Error)> {
    let first =
        |counts: &dyn Fn(usize) -> bool| first_fault(version.table(), columns.iter().copied(), rows, counts);
    first(&|_| true)?;
    let mut known = HashSet::with_capacity(ids.len());
    let fresh: Vec<bool> = (ids.iter())
        .map(|id| known.insert(*id) && version.shows(*id))
        .collect();
    first(&|row| fresh[row])
}

fn no_such_row(table: &Table, chunk: u32) -> Error {
    Error::internal(format!(
        "a row to delete lies in chunk {chunk}, which table \"{}\" does not have",
        table.name()
    ))
}

/// Appends some rows of columns that were checked, and notes it; `ids` gets theirs. `takes_rows`: false if the tail
/// takes no more rows.
fn append(
    (version, changes): (&mut TableSnapshot, &mut Changes),
    (columns, rows): (Columns<'_>, Range<usize>),
    (now, takes_rows): (u64, bool),
    ids: &mut Vec<RowId>,
) -> Result<()> {
    let (mut done, mut takes_rows) = (rows.start, takes_rows);
    while done < rows.end {
        let number = match version.tail() {
            // Dead cells at the end of a full one, if a rollback left some, are simply not shown.
            Some(tail) if takes_rows && !tail.is_full() => tail.number(),
            _ => begin_tail(version, changes)?,
        };
        takes_rows = true;
        let shown = version.tail().map_or(0, |tail| tail.view().rows());
        let appended = version.change_tail(|tail, table| {
            // Before anybody can see the rows.
            let widening = Some(table.bounds().widening());
            // SAFETY: the columns keep their strings alive.
            unsafe { tail.append(columns, done..rows.end, widening, now) }
        });
        let offsets = appended.unwrap_or_else(|| Err(Error::internal("the tail of a table is gone")))?;
        done += offsets.len();
        if offsets.is_empty() {
            // Others have taken the last slots meanwhile.
            continue;
        }
        let slots = offsets.start as u32..offsets.end as u32;
        changes.inserted(version.table().id(), number, slots, shown);
        ids.extend(offsets.map(|offset| RowId::new(number, offset as u16)));
    }
    Ok(())
}

fn begin_tail(version: &mut TableSnapshot, changes: &mut Changes) -> Result<u32> {
    let hot = HotChunk::new(version.table().layout().clone())?;
    if version.chunk_count() > 0 {
        // A table that has filled one chunk will fill another; one of a few rows stays small.
        hot.expect_to_fill();
    }
    let number = version.table().take_chunk_number();
    let begun = ChunkEntry::hot(number, hot, version.table().numbers().clone());
    let tail = version.tail().map(|tail| tail.number());
    changes.began(version.table().id(), begun.clone(), tail);
    version.begin_tail(begun);
    Ok(number)
}
