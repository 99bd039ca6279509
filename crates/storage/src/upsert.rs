//! INSERT … ON CONFLICT DO UPDATE, in two steps: which rows of the table are in the way of new ones is looked up in the indexes,
//! and, when somebody has computed what becomes of those, the new rows are written in their order.
//!
//! A row in the way is changed as it was found: while it is live nobody has changed it, because UPDATE gives a row another id.
//! If it is gone when its turn comes, a row before moved its key away, and the new row is inserted. What is in the way only
//! then was written by the statement itself: 21000.

use crate::columns::Columns;
use crate::kept_columns::KeptColumns;
use crate::key_claims::NewValues;
use crate::new_rows::{NewRows, check_shape, check_update, first_fault, refuse_unchecked};
use crate::table_writer::{TableWriter, Written};
use crate::unique_keys::Rivals;
use frazil_types::{ColumnVector, EncodedKeys, Error, ObjectId, Result, RowBatch, RowId};

/// Which rows of the table are in the way of new ones.
#[derive(Debug)]
pub struct InTheWay {
    /// For each new row the one in its way.
    rows: Vec<Option<RowId>>,
    /// The keys of the new rows, for each index.
    keys: Vec<EncodedKeys>,
}

impl InTheWay {
    /// For each new row the row of the table that is in its way.
    pub fn rows(&self) -> &[Option<RowId>] {
        &self.rows
    }

    /// Bytes that it takes.
    pub fn bytes(&self) -> usize {
        let keys: usize = self.keys.iter().map(EncodedKeys::capacity).sum();
        self.rows.len() * size_of::<Option<RowId>>() + keys
    }

    /// The rows in the way, one for each new row that has one.
    pub fn ids(&self) -> Vec<RowId> {
        self.rows.iter().flatten().copied().collect()
    }

    /// The new rows that have one in their way.
    pub fn stopped(&self) -> Vec<usize> {
        let stopped = |(row, id): (usize, &Option<RowId>)| id.map(|_| row);
        self.rows.iter().enumerate().filter_map(stopped).collect()
    }
}

/// What becomes of rows in the way.
#[derive(Clone, Copy, Debug)]
pub struct RowsInTheWay<'a> {
    /// Positions in the table of the columns that are set.
    pub set: &'a [usize],
    /// Their new values, for each of [`InTheWay::ids`].
    pub new: NewRows<'a>,
    /// WHERE, a boolean for each of them: the row is changed where it is true. `None`: each is.
    pub applies: Option<&'a ColumnVector>,
}

impl RowsInTheWay<'_> {
    fn applies(&self, row: usize) -> bool {
        (self.applies).is_none_or(|holds| !holds.is_null(row) && holds.values::<u8>()[row] != 0)
    }
}

impl TableWriter<'_> {
    /// Looks up which rows are in the way of new ones in the indexes `arbiters`.
    /// Claims these rows, and the keys that they may lose if columns `set` of them are set. Waits for open transactions
    /// that insert or delete rows of such keys. 40001 if one is live that the transaction does not see, or was changed
    /// since; 40P01, 55P03, 57014, 53200.
    pub fn in_the_way(&mut self, batch: &RowBatch, arbiters: &[ObjectId], set: &[usize]) -> Result<InTheWay> {
        let version = self.current()?;
        check_shape(version.table(), batch)?;
        let keys = version.indexes().keys(Columns::Batch(&batch.columns));
        let (table, indexes) = (self.table(), version.indexes().clone());
        let beside = self.transaction().beside(table)?;
        let rows = (0..batch.rows).map(|row| indexes.conflict(&beside, &keys, row, arbiters));
        let met = InTheWay {
            rows: rows.collect::<Result<_>>()?,
            keys,
        };
        let new = NewValues {
            columns: set,
            batch: None,
        };
        self.transaction().claim_with_keys(table, &met.ids(), Some(new))?;
        Ok(met)
    }

    /// Writes new rows in their order: those with nothing in their way are inserted, the others change what is, as `changes`
    /// says. The first row that is refused decides about the error, as in [`TableWriter::insert`]; 21000 for one that meets a
    /// row of the same statement. `met` was looked up before the statement wrote anything.
    pub fn upsert(
        &mut self,
        rows: &NewRows<'_>,
        met: &InTheWay,
        arbiters: &[ObjectId],
        changes: &RowsInTheWay<'_>,
    ) -> Result<Written> {
        let table = self.current()?.table().clone();
        let ids = met.ids();
        check_shape(&table, rows.batch).and_then(|()| refuse_unchecked(&table, rows.checks))?;
        check_update(&table, &ids, changes.set, changes.new.batch)?;
        if met.rows.len() != rows.batch.rows {
            return Err(Error::internal("an upsert of other rows than were looked up"));
        }
        let kept = KeptColumns::of(self.current()?, &ids, changes.set)?;
        let changed = kept.beside(changes.set, changes.new.batch);
        let indexes = self.current()?.indexes().clone();
        let changed_keys = indexes.keys(Columns::Mixed(&changed));
        let change_fault = |from: usize| {
            first_fault(&table, changes.set.iter().copied(), &changes.new, &|row| {
                row >= from && changes.applies(row)
            })
        };
        let mut next_fault = change_fault(0);
        let every = 0..table.schema().columns.len();
        let fault = first_fault(&table, every, rows, &|_| true);
        let end = fault.as_ref().map_or(met.rows.len(), |(row, _)| *row);
        let mut written = Written {
            count: 0,
            rows: vec![None; met.rows.len()],
        };
        let new = Columns::Batch(&rows.batch.columns);
        let (mut row, mut pair) = (0, 0);
        while row < end {
            let free = met.rows[row..end].iter().take_while(|id| id.is_none()).count();
            let mut inserted = row..row + free;
            if let Some(id) = met.rows[row] {
                inserted.end = row + 1;
                if self.current()?.shows(id) {
                    if let Some((_, error)) = next_fault.take_if(|(at, _)| *at == pair) {
                        return Err(error);
                    }
                    if changes.applies(pair) {
                        self.delete_counted(&[id])?;
                        let columns = Columns::Mixed(&changed);
                        let ids = self.append(columns, pair..pair + 1, &changed_keys, &Rivals::Live)?;
                        written.rows[row] = ids.first().copied();
                        if let Some(&new) = ids.first() {
                            self.queue(|queue, table| queue.updated(table, id, new));
                        }
                    }
                    inserted.start = inserted.end;
                } else if next_fault.as_ref().is_some_and(|(at, _)| *at == pair) {
                    next_fault = change_fault(pair + 1);
                }
                pair += 1;
            }
            row = inserted.end;
            if !inserted.is_empty() {
                let ids = self.append(new, inserted.clone(), &met.keys, &Rivals::OfUpsert(arbiters))?;
                self.queue(|queue, table| ids.iter().for_each(|row| queue.inserted(table, *row)));
                (inserted.zip(ids)).for_each(|(row, id)| written.rows[row] = Some(id));
            }
        }
        written.count = written.rows.iter().flatten().count() as u64;
        fault.map_or(Ok(written), |(_, error)| Err(error))
    }
}
