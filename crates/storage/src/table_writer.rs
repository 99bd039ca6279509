//! The one way into a table: every row that enters, changes or leaves it passes a [`TableWriter`], and is checked
//! here, once.
//!
//! A statement reads all of its rows before it writes any, so a writer gets whole batches. UPDATE is delete and
//! insert: a row that is updated gets a new id. What is refused leaves the rows before it in the transaction's
//! private version; whoever runs the statement drops the transaction, or returns to a savepoint.

use crate::chunk::FrozenChunk;
use crate::chunk_entry::ChunkEntry;
use crate::columns::Columns;
use crate::hot_chunk::HotChunk;
use crate::row_fetch::RowFetch;
use crate::snapshot::{Table, TableSnapshot};
use crate::table_indexes::TableIndex;
use crate::transaction::Transaction;
use crate::unique_keys::Rivals;
use frazil_block::Block;
use frazil_catalog::{Constraint, ConstraintKind};
use frazil_types::{ColumnVector, EncodedKeys, Error, ObjectId, Result, RowBatch, RowId, SqlState};
use std::collections::HashMap;
use std::ops::Range;
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
    /// NULL in a NOT NULL column, 23514 for a CHECK constraint that does not hold, 54000 for a key that is too long, 23505 for
    /// one that another row has.
    pub fn insert(&mut self, rows: &NewRows<'_>, conflict: Conflict<'_>) -> Result<Written> {
        let table = self.current()?.table();
        check_shape(table, rows.batch).and_then(|()| refuse_unchecked(table, rows.checks))?;
        let every = 0..table.schema().columns.len();
        let fault = first_fault(table, every, rows);
        let good = match &fault {
            None => 0..rows.batch.rows,
            // A row before it may have a key that is taken.
            Some((row, _)) if !self.current()?.indexes().is_empty() => 0..*row,
            Some(_) => 0..0,
        };
        let mut written = Written::default();
        if !good.is_empty() {
            let columns = Columns::Batch(&rows.batch.columns);
            written = self.insert_good(columns, good, conflict)?;
        }
        fault.map_or(Ok(written), |(_, error)| Err(error))
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
            Conflict::Skip { arbiters } if indexes.arbiters(arbiters).next().is_some() => {
                for row in rows {
                    let taken = indexes.conflicts(self.current()?, &keys, row, arbiters);
                    let new = (!taken).then(|| self.append(columns, row..row + 1, &keys, &Rivals::Live));
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
    fn append(
        &mut self,
        columns: Columns<'_>,
        rows: Range<usize>,
        keys: &[EncodedKeys],
        rivals: &Rivals<'_>,
    ) -> Result<Vec<RowId>> {
        let now = self.transaction.coming_timestamp();
        let version = self.transaction.table_mut(self.table)?;
        let mut ids = Vec::with_capacity(rows.len());
        append(version, columns, rows.clone(), now, |_, id| ids.push(id))?;
        self.add_entries(&ids, rows, keys, rivals)?;
        Ok(ids)
    }

    /// Adds the entries of rows that were written, whose keys are those of `rows`.
    fn add_entries(
        &mut self,
        ids: &[RowId],
        rows: Range<usize>,
        keys: &[EncodedKeys],
        rivals: &Rivals<'_>,
    ) -> Result<()> {
        if keys.is_empty() {
            return Ok(());
        }
        let version = self.current()?.clone();
        for (&id, row) in ids.iter().zip(rows) {
            let entry = version
                .entry(id.chunk())
                .ok_or_else(|| no_such_row(version.table(), id.chunk()))?;
            self.transaction.note_added(&version, entry, id);
            version.indexes().add(&version, keys, row, id, rivals)?;
        }
        Ok(())
    }

    /// Gives rows other values in `columns` (positions in the table, each once), whose values are the columns of the
    /// batch, one row for each id. An id that comes twice counts once: its first values win. The id of a row that is
    /// deleted counts nothing; one that names no row is an internal error. 23502 and 23514 as
    /// [`TableWriter::insert`].
    pub fn update(&mut self, ids: &[RowId], columns: &[usize], rows: &NewRows<'_>) -> Result<Written> {
        let version = self.current()?;
        let table = version.table().clone();
        check_update(&table, ids, columns, rows.batch)?;
        if let Some((_, fault)) = first_fault(&table, columns.iter().copied(), rows) {
            return Err(fault);
        }
        let others: Vec<usize> = (0..table.schema().columns.len())
            .filter(|c| !columns.contains(c))
            .collect();
        let kept = RowFetch::new(version).fetch_columns(ids, &others)?;
        let mut updated: Vec<&ColumnVector> = Vec::with_capacity(table.schema().columns.len());
        let mut kept = kept.columns.iter();
        for column in 0..table.schema().columns.len() {
            let set = columns.iter().position(|&c| c == column);
            updated.extend(set.map_or_else(|| kept.next(), |set| rows.batch.columns.get(set)));
        }
        let indexes = self.current()?.indexes().clone();
        let keys = indexes.keys(Columns::Mixed(&updated));
        let set_a_key = |index: &Arc<TableIndex>| {
            index.entry().unique && index.columns().iter().any(|c| columns.contains(c))
        };
        let may_conflict = indexes.iter().any(set_a_key);
        let mut written = self.delete(ids)?;
        // Rows that are replaced later still have their keys when a row before them is written.
        let places: HashMap<RowId, usize> = match may_conflict {
            true => (written.rows.iter().enumerate())
                .filter_map(|(at, id)| Some(((*id)?, at)))
                .collect(),
            false => HashMap::new(),
        };
        let columns = Columns::Mixed(&updated);
        let mut from = 0;
        // Runs of neighbouring input rows, all written or none; one by one where keys may conflict.
        while from < ids.len() {
            let is_live = written.rows[from].is_some();
            let run = written.rows[from..].iter().take_while(|w| w.is_some() == is_live);
            let part = from..from + if may_conflict { 1 } else { run.count() };
            from = part.end;
            if is_live {
                let later = |id: RowId| places.get(&id).is_some_and(|&at| at >= from);
                let rivals = if may_conflict {
                    Rivals::LiveOr(&later)
                } else {
                    Rivals::None
                };
                let new = self.append(columns, part.clone(), &keys, &rivals)?;
                part.zip(new).for_each(|(row, id)| written.rows[row] = Some(id));
            }
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
        let now = self.transaction.coming_timestamp();
        let version = self.transaction.table_mut(self.table)?;
        // Runs of ids in one chunk, as a scan returns them; the first of equal ids comes first.
        let mut rows = 0;
        for run in ids.chunk_by(|a, b| a.chunk() == b.chunk()) {
            let number = run[0].chunk();
            let written_of_run = &mut written.rows[rows..rows + run.len()];
            let deleted = version.change(number, |entry| {
                let most = entry.view().rows();
                for (id, written) in run.iter().zip(written_of_run) {
                    if u32::from(id.offset()) >= most {
                        return None;
                    }
                    *written = entry.delete(id.offset(), now).then_some(*id);
                }
                Some(())
            });
            if deleted.flatten().is_none() {
                return Err(no_such_row(version.table(), number));
            }
            rows += run.len();
        }
        written.count = written.rows.iter().flatten().count() as u64;
        if !self.current()?.indexes().is_empty() {
            let version = self.current()?.clone();
            for &id in written.rows.iter().flatten() {
                let entry = version
                    .entry(id.chunk())
                    .ok_or_else(|| no_such_row(version.table(), id.chunk()))?;
                self.transaction.note_deleted(&version, entry, id);
            }
        }
        Ok(written)
    }

    /// Adds a block, whose columns are the table's, as a chunk of its own: what a bulk load makes. Returns the number
    /// of its rows. 23502 for NULL in a NOT NULL column; 54000 and 23505 as [`TableWriter::insert`].
    pub fn block(&mut self, block: Block) -> Result<u64> {
        let table = self.current()?.table();
        check_block(table, &block).and_then(|()| refuse_unchecked(table, &[]))?;
        let rows = u64::from(block.rows());
        let version = self.transaction.table_mut(self.table)?;
        let number = version.table().take_chunk_number();
        let frozen = FrozenChunk::joining(version, block, Arc::new(version.build_options()));
        version.add_sealed(ChunkEntry::frozen(
            number,
            frozen,
            version.table().numbers().clone(),
        ));
        self.add_chunk_entries(number, &Rivals::Live)?;
        Ok(rows)
    }

    /// Adds the entries of all rows of a chunk that joined the table.
    pub(crate) fn add_chunk_entries(&mut self, number: u32, rivals: &Rivals<'_>) -> Result<()> {
        let version = self.current()?.clone();
        let Some(entry) = version.entry(number).filter(|_| !version.indexes().is_empty()) else {
            return Ok(());
        };
        let view = entry.view();
        let keys =
            (version.indexes().keys_of_chunk(view)).map_err(|e| entry.blame(version.table().entry(), e))?;
        let ids: Vec<RowId> = (0..view.rows())
            .map(|offset| RowId::new(number, offset as u16))
            .collect();
        self.add_entries(&ids, 0..ids.len(), &keys, rivals)
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
        for entry in before
            .chunks()
            .filter(|entry| after.entry(entry.number()).is_none())
        {
            let view = entry.view();
            let live = (0..view.rows()).filter(|&offset| !view.is_deleted(offset as usize));
            for offset in live {
                (self.transaction).note_deleted(&after, entry, RowId::new(entry.number(), offset as u16));
            }
        }
        Ok(())
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

/// The first row that may not enter the table, keys apart, and the error. Of one row NULLs come first, by the position of their
/// columns, then CHECK constraints by their names. `columns` are the positions of the batch's columns.
fn first_fault(
    table: &Table,
    columns: impl Iterator<Item = usize>,
    rows: &NewRows<'_>,
) -> Option<(usize, Error)> {
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
            Some((row, null_refused(table, column)))
        }
        (_, check) => check.map(|(row, name)| (row, check_failed(table, name))),
    }
}

/// 23502 for the first NOT NULL column in which a batch of the table's columns has NULL.
pub(crate) fn refuse_nulls(table: &Table, batch: &RowBatch) -> Result<()> {
    let every = 0..table.schema().columns.len();
    first_fault(table, every, &NewRows::of(batch)).map_or(Ok(()), |(_, error)| Err(error))
}

fn no_such_row(table: &Table, chunk: u32) -> Error {
    Error::internal(format!(
        "a row to delete lies in chunk {chunk}, which table \"{}\" does not have",
        table.name()
    ))
}

fn null_refused(table: &Table, column: usize) -> Error {
    let column = &table.schema().columns[column].name;
    Error::new(
        SqlState::NOT_NULL_VIOLATION,
        format!(
            "null value in column \"{column}\" of table \"{}\" violates its NOT NULL constraint",
            table.name()
        ),
    )
    .of_table(table.name())
    .of_column(column)
}

fn check_failed(table: &Table, name: &str) -> Error {
    Error::new(
        SqlState::CHECK_VIOLATION,
        format!(
            "a new row of table \"{}\" violates its check constraint \"{name}\"",
            table.name()
        ),
    )
    .of_table(table.name())
    .of_constraint(name)
}

/// 0A000 if the table has a CHECK constraint that nobody evaluated for the rows: no way in leaves one out.
fn refuse_unchecked(table: &Table, checks: &[CheckResult<'_>]) -> Result<()> {
    let is_unknown = |constraint: &&Constraint| {
        matches!(constraint.kind, ConstraintKind::Check { .. })
            && !checks.iter().any(|check| check.name == constraint.name)
    };
    match table.entry().constraints.iter().find(is_unknown) {
        Some(constraint) => Err(Error::unsupported(format!(
            "loading rows into table \"{}\" with check constraint \"{}\"",
            table.name(),
            constraint.name
        ))
        .with_hint("use INSERT")),
        None => Ok(()),
    }
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

/// Appends some rows of columns that were checked; `place` gets the number of each in the columns and its id.
fn append(
    version: &mut TableSnapshot,
    columns: Columns<'_>,
    rows: Range<usize>,
    now: u64,
    mut place: impl FnMut(usize, RowId),
) -> Result<()> {
    let table = version.table().clone();
    let mut done = rows.start;
    while done < rows.end {
        let number = match version.tail() {
            // Dead cells at the end of a full one, if a rollback left some, are simply not shown.
            Some(tail) if !tail.is_full() => tail.number(),
            _ => begin_tail(version)?,
        };
        // SAFETY: a transaction exists, so this thread is the one writer; the columns keep their strings alive.
        let appended = version.change(number, |tail| unsafe {
            // Before anybody can see the rows.
            let widening = Some(table.bounds().widening());
            tail.append(columns, done..rows.end, widening, now)
        });
        let offsets = appended.unwrap_or_else(|| Err(Error::internal("the tail of a table is gone")))?;
        for offset in offsets {
            place(done, RowId::new(number, offset as u16));
            done += 1;
        }
    }
    Ok(())
}

fn begin_tail(version: &mut TableSnapshot) -> Result<u32> {
    let hot = HotChunk::new(version.table().layout().clone())?;
    if version.chunk_count() > 0 {
        // A table that has filled one chunk will fill another; one of a few rows stays small.
        hot.expect_to_fill();
    }
    let number = version.table().take_chunk_number();
    version.begin_tail(ChunkEntry::hot(number, hot, version.table().numbers().clone()));
    Ok(number)
}
