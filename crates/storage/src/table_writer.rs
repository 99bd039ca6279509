//! The one way into a table: every row that enters, changes or leaves it passes a [`TableWriter`], and is checked
//! here, once.
//!
//! A statement reads all of its rows before it writes any, so a writer gets whole batches. UPDATE is delete and
//! insert: a row that is updated gets a new id. What is refused leaves the rows before it in the transaction's
//! private version; whoever runs the statement returns to its savepoint.

use crate::chunk::{Chunk, ChunkSlot, FrozenChunk};
use crate::hot_chunk::HotChunk;
use crate::row_fetch::RowFetch;
use crate::snapshot::{Table, TableSnapshot};
use crate::transaction::Transaction;
use frazil_block::Block;
use frazil_types::{CHUNK_ROWS, ColumnVector, Error, ObjectId, Result, RowBatch, RowId, SqlState};
use std::sync::Arc;

/// Rows that are to enter a table, and what its CHECK constraints say of them.
#[derive(Clone, Copy, Debug)]
pub struct NewRows<'a> {
    /// The values. The strings they point to must be alive, as those of every batch are.
    pub batch: &'a RowBatch,
    /// One for each CHECK constraint of the table that the new values may violate.
    pub checks: &'a [CheckResult<'a>],
}

impl<'a> NewRows<'a> {
    /// Rows of a table without CHECK constraints.
    pub fn of(batch: &'a RowBatch) -> NewRows<'a> {
        NewRows { batch, checks: &[] }
    }
}

/// What a CHECK constraint says of each row of a batch.
#[derive(Clone, Copy, Debug)]
pub struct CheckResult<'a> {
    /// Name of the constraint.
    pub name: &'a str,
    /// A boolean a row: false violates the constraint, NULL does not.
    pub holds: &'a ColumnVector,
}

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
    /// Appends rows, whose columns are the table's. The first row that is refused decides about the error: 23502 for
    /// NULL in a NOT NULL column, 23514 for a CHECK constraint that does not hold.
    pub fn insert(&mut self, rows: &NewRows<'_>, conflict: Conflict<'_>) -> Result<Written> {
        let table = self.current()?.table();
        check_shape(table, rows.batch)?;
        let every = 0..table.schema().columns.len();
        if let Some(fault) = first_fault(table, every, rows) {
            return Err(fault);
        }
        // Without unique indexes no row is in another one's way.
        let (Conflict::Fail | Conflict::Skip { .. }) = conflict;
        let mut written = Written::default();
        if rows.batch.rows > 0 {
            let version = self.transaction.table_mut(self.table)?;
            append(version, rows.batch, &mut written)?;
        }
        Ok(written)
    }

    /// Gives rows other values in `columns` (positions in the table, each once), whose values are the columns of the
    /// batch, one row for each id. An id that comes twice counts once: its first values win. The id of a row that is
    /// deleted counts nothing; one that names no row is an internal error. 23502 and 23514 as
    /// [`TableWriter::insert`].
    pub fn update(&mut self, ids: &[RowId], columns: &[usize], rows: &NewRows<'_>) -> Result<Written> {
        let version = self.current()?;
        let table = version.table().clone();
        check_update(&table, ids, columns, rows.batch)?;
        if let Some(fault) = first_fault(&table, columns.iter().copied(), rows) {
            return Err(fault);
        }
        let old = RowFetch::new(version.clone()).fetch(ids)?;
        let deleted = self.delete(ids)?;
        let mut updated = old;
        for (&column, values) in columns.iter().zip(&rows.batch.columns) {
            updated.columns[column] = values.clone();
        }
        let mut written = Written {
            count: 0,
            rows: vec![None; ids.len()],
        };
        let live: Vec<usize> = (0..ids.len()).filter(|&i| deleted.rows[i].is_some()).collect();
        let version = self.transaction.table_mut(self.table)?;
        // Runs of neighbouring input rows.
        for run in live.chunk_by(|a, b| a + 1 == *b) {
            let part = run[0]..run[0] + run.len();
            append_rows(version, &updated, part.clone(), |row, id| {
                written.rows[row] = Some(id)
            })?;
            written.count += part.len() as u64;
        }
        Ok(written)
    }

    /// Deletes rows. An id that comes twice counts once, the id of a row that is deleted already counts nothing. One
    /// that names no row is an internal error.
    pub fn delete(&mut self, ids: &[RowId]) -> Result<Written> {
        let mut written = Written {
            count: 0,
            rows: vec![None; ids.len()],
        };
        if ids.is_empty() {
            return Ok(written);
        }
        let mut order: Vec<usize> = (0..ids.len()).collect();
        // Stable, so that the first of equal ids comes first.
        order.sort_by_key(|&i| ids[i]);
        let version = self.transaction.table_mut(self.table)?;
        for run in order.chunk_by(|&a, &b| ids[a].chunk() == ids[b].chunk()) {
            let offsets: Vec<u16> = run.iter().map(|&i| ids[i].offset()).collect();
            let number = ids[run[0]].chunk();
            let mut fresh = version.delete_rows(number, &offsets)?.into_iter();
            for &i in run {
                if fresh.next() == Some(true) {
                    written.rows[i] = Some(ids[i]);
                    written.count += 1;
                }
            }
        }
        Ok(written)
    }

    /// Adds a block, whose columns are the table's, as a chunk of its own: what a bulk load makes. Returns the number
    /// of its rows. 23502 for NULL in a NOT NULL column.
    pub fn block(&mut self, block: Block) -> Result<u64> {
        let table = self.current()?.table();
        check_block(table, &block)?;
        let rows = u64::from(block.rows());
        let version = self.transaction.table_mut(self.table)?;
        let number = version.table().take_chunk_number();
        let frozen = FrozenChunk::joining(version, block, Arc::new(version.build_options()));
        version.push_sealed(ChunkSlot::frozen(number, frozen));
        Ok(rows)
    }

    fn current(&self) -> Result<&Arc<TableSnapshot>> {
        self.transaction.view().table(self.table)
    }
}

/// An internal error unless the batch has the columns of the table.
pub(crate) fn check_shape(table: &Table, batch: &RowBatch) -> Result<()> {
    let columns = &table.schema().columns;
    if batch.columns.len() != columns.len() {
        return Err(Error::internal(format!(
            "{} columns for table \"{}\" of {}",
            batch.columns.len(),
            table.name(),
            columns.len()
        )));
    }
    (0..columns.len()).try_for_each(|c| check_column(table, c, &batch.columns[c], batch.rows))
}

fn check_column(table: &Table, column: usize, values: &ColumnVector, rows: usize) -> Result<()> {
    let def = &table.schema().columns[column];
    if values.native() == def.ty.native() && values.len() == rows {
        return Ok(());
    }
    Err(Error::internal(format!(
        "{} values of {} for column \"{}\" of type {}",
        values.len(),
        values.ty(),
        def.name,
        def.ty
    )))
}

fn check_update(table: &Table, ids: &[RowId], columns: &[usize], batch: &RowBatch) -> Result<()> {
    let most = table.schema().columns.len();
    if columns.len() != batch.columns.len() || columns.iter().any(|&c| c >= most) || batch.rows != ids.len() {
        return Err(Error::internal(format!(
            "an update of {} columns and {} rows of table \"{}\" gets {} columns of {} rows",
            columns.len(),
            ids.len(),
            table.name(),
            batch.columns.len(),
            batch.rows
        )));
    }
    (columns.iter().zip(&batch.columns))
        .try_for_each(|(&c, values)| check_column(table, c, values, batch.rows))
}

/// The error of the first row that may not enter the table. Of one row NULLs come first, by the position of their
/// columns, then CHECK constraints by their names. `columns` are the positions of the batch's columns.
fn first_fault(table: &Table, columns: impl Iterator<Item = usize>, rows: &NewRows<'_>) -> Option<Error> {
    let defs = &table.schema().columns;
    let nulls = (columns.zip(&rows.batch.columns))
        .filter(|&(column, _)| !defs[column].nullable)
        .filter_map(|(column, values)| Some((values.nulls()?.iter().next()?, column)))
        .min();
    let broken = |check: &CheckResult<'_>| {
        let holds = check.holds.values::<u8>().iter().enumerate();
        (holds.into_iter()).position(|(row, &holds)| holds == 0 && !check.holds.is_null(row))
    };
    let check = (rows.checks.iter())
        .filter_map(|check| Some((broken(check)?, check.name)))
        .min();
    match (nulls, check) {
        (Some((row, column)), check) if check.is_none_or(|(other, _)| row <= other) => {
            Some(null_refused(table, column))
        }
        (_, check) => check.map(|(_, name)| check_failed(table, name)),
    }
}

/// 23502 for the first NOT NULL column in which a batch of the table's columns has NULL.
pub(crate) fn refuse_nulls(table: &Table, batch: &RowBatch) -> Result<()> {
    let every = 0..table.schema().columns.len();
    first_fault(table, every, &NewRows::of(batch)).map_or(Ok(()), Err)
}

fn null_refused(table: &Table, column: usize) -> Error {
    Error::new(
        SqlState::NOT_NULL_VIOLATION,
        format!(
            "null value in column \"{}\" of table \"{}\" violates its NOT NULL constraint",
            table.schema().columns[column].name,
            table.name()
        ),
    )
}

fn check_failed(table: &Table, name: &str) -> Error {
    Error::new(
        SqlState::CHECK_VIOLATION,
        format!(
            "a new row of table \"{}\" violates its check constraint \"{name}\"",
            table.name()
        ),
    )
}

fn check_block(table: &Table, block: &Block) -> Result<()> {
    let columns = &table.schema().columns;
    let fits = block.columns() == columns.len()
        && (columns.iter().enumerate()).all(|(i, c)| block.native(i) == c.ty.native());
    if !fits {
        return Err(Error::internal(format!(
            "a block whose columns are not those of table \"{}\"",
            table.name()
        )));
    }
    match (0..columns.len()).find(|&i| !columns[i].nullable && block.entry(i).null_count > 0) {
        Some(column) => Err(null_refused(table, column)),
        None => Ok(()),
    }
}

/// Appends all rows of a batch and notes their ids.
fn append(version: &mut TableSnapshot, batch: &RowBatch, written: &mut Written) -> Result<()> {
    written.rows.reserve(batch.rows);
    append_rows(version, batch, 0..batch.rows, |_, id| written.rows.push(Some(id)))?;
    written.count += batch.rows as u64;
    Ok(())
}

/// Appends some rows of a batch; `place` gets the number of each in the batch and its id.
fn append_rows(
    version: &mut TableSnapshot,
    batch: &RowBatch,
    rows: std::ops::Range<usize>,
    mut place: impl FnMut(usize, RowId),
) -> Result<()> {
    let mut done = rows.start;
    while done < rows.end {
        let (first, count) = append_to_tail(version, batch, done, rows.end)?;
        (0..count).for_each(|i| place(done + i, RowId::new(first.chunk(), first.offset() + i as u16)));
        done += count;
    }
    Ok(())
}

/// Appends as many of the rows `from..to` as fit in the tail, after making one if there is none. Returns
/// the id of the first and their number.
fn append_to_tail(
    version: &mut TableSnapshot,
    batch: &RowBatch,
    from: usize,
    to: usize,
) -> Result<(RowId, usize)> {
    let full = version
        .tail()
        .is_some_and(|t| t.hot().is_none_or(|h| h.written() == CHUNK_ROWS));
    if full {
        // Dead cells at its end, if a rollback left some, are simply not shown.
        version.seal_tail();
    }
    let mut slot = match version.tail() {
        Some(tail) => tail.clone(),
        None => new_tail(version)?,
    };
    let chunk = slot.chunk.clone();
    let Chunk::Hot(hot) = &*chunk else {
        return Err(Error::internal("the tail of a table is frozen"));
    };
    let start = hot.written();
    slot.bury(start as u32);
    let count = (to - from).min(CHUNK_ROWS - start);
    version.table().bounds().take_in(batch, from, from + count);
    // SAFETY: a transaction exists, so this thread is the one writer; strings of a batch are kept alive by it.
    unsafe { hot.append(batch, from, count) };
    slot.rows = (start + count) as u32;
    let first = RowId::new(slot.number, start as u16);
    version.set_tail(slot);
    Ok((first, count))
}

fn new_tail(version: &TableSnapshot) -> Result<ChunkSlot> {
    let table = version.table();
    let hot = HotChunk::new(table.layout().clone())?;
    if !version.sealed().is_empty() {
        // A table that has filled one chunk will fill another; one of a few rows stays small.
        hot.expect_to_fill();
    }
    Ok(ChunkSlot {
        number: table.take_chunk_number(),
        chunk: Arc::new(Chunk::Hot(hot)),
        rows: 0,
        deleted: None,
    })
}

impl TableSnapshot {
    /// Deletes rows of a chunk; says of each whether it had not been deleted before. An offset that names no row is
    /// an internal error.
    fn delete_rows(&mut self, chunk: u32, offsets: &[u16]) -> Result<Vec<bool>> {
        let mut fresh = None;
        self.update_chunks(|slot| {
            if slot.number == chunk && offsets.iter().all(|&o| u32::from(o) < slot.rows) {
                fresh = Some(slot.delete(offsets));
            }
        });
        fresh.ok_or_else(|| {
            Error::internal(format!(
                "a row to delete lies in chunk {chunk}, which table \"{}\" does not have",
                self.table().name()
            ))
        })
    }
}
