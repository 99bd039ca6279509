//! Writes with the queries that they run. INSERT … ON CONFLICT: between looking up what is in the way of its rows and
//! writing them one that computes what becomes of it, and after writing one that computes what RETURNING shows. INSERT
//! and UPDATE whose RETURNING names system columns: one over the rows that were written.

use crate::query::{Reading, Runner};
use crate::row_query::{RowQuery, in_order};
use crate::rows::{Response, Timing};
use crate::write::{Given, WriteAction, WriteResult};
use frazil_plan::{CONDITION, COUNT, ConflictUpdate, PlanConflict, WriteKind};
use frazil_storage::{
    CheckResult, Conflict, InTheWay, NewRows, RowFetch, RowsInTheWay, TableSnapshot, Transaction, Written,
};
use frazil_types::{ColumnVector, Error, LogicalType, Reservation, Result, RowBatch, RowId, Value};
use std::time::Instant;

impl WriteAction {
    /// Writes rows as [`WriteAction::run`] does, and runs the queries. 57014 between two batches.
    pub fn run_with_queries(
        &self,
        runner: &Runner,
        transaction: &mut Transaction,
        batches: Vec<RowBatch>,
        mut reading: Reading,
        mut timing: Timing,
    ) -> Result<Response> {
        let begun = Instant::now();
        let filled = batches.into_iter().filter(|batch| batch.rows > 0);
        let given: Vec<Given<'_>> = filled.map(|batch| self.given(batch)).collect();
        self.claim(transaction, &given)?;
        let mut held = runner.budget().reservation();
        let changes = self.changes(runner, transaction, &given, &reading, &mut held)?;
        if self.returning.as_ref().and_then(RowQuery::code).is_none() {
            // What the statement read is let go before it writes, so that the transaction need not copy it.
            reading.tables = None;
        }
        let mut result = WriteResult::default();
        let mut shown = Vec::new();
        let mut changes = changes.into_iter();
        for given in &given {
            runner.cancel().check()?;
            let written = self.write_given(transaction, given, changes.next())?;
            result.count += written.count;
            if let Some(returning) = &self.returning {
                let ids: Vec<RowId> = written.rows.into_iter().flatten().collect();
                let version = transaction.view().table(self.change.table)?;
                shown.push(written_rows(version, &ids, returning.reads())?);
            }
        }
        if let Some(returning) = &self.returning {
            shown.retain(|batch| batch.rows > 0);
            result.returned = runner.run_rows(returning, &reading, shown)?;
        }
        timing.execute += begun.elapsed();
        Ok(self.response(result, timing))
    }

    /// Of DO UPDATE what becomes of the rows in the way, for each batch; else nothing. `held` grows by what that takes.
    /// 53200.
    fn changes(
        &self,
        runner: &Runner,
        transaction: &mut Transaction,
        given: &[Given<'_>],
        reading: &Reading,
        held: &mut Reservation,
    ) -> Result<Vec<Changes>> {
        let (Some(update), Some(query)) = (self.change.conflict_update(), &self.update) else {
            return Ok(Vec::new());
        };
        let mut met = Vec::with_capacity(given.len());
        for given in given {
            runner.cancel().check()?;
            let mut writer = transaction.writer(self.change.table)?;
            let in_the_way = writer.in_the_way(&given.values, &update.arbiters.indexes, &update.set)?;
            held.grow(in_the_way.bytes())?;
            met.push(in_the_way);
        }
        let version = transaction.view().table(self.change.table)?;
        let mut pairs = Vec::with_capacity(given.len());
        let mut first = 0;
        for (given, met) in given.iter().zip(&met) {
            let stopped = met.stopped();
            let batch = pairs_of(version, met, &given.values, (&stopped, first), query.reads())?;
            // What is made of the rows in the way is as long as they are, and put in their order.
            held.grow(2 * bytes_of(&batch) + stopped.len() * ORDERED_ROW_BYTES)?;
            pairs.push(batch);
            first += stopped.len();
        }
        let counts: Vec<usize> = pairs.iter().map(|batch| batch.rows).collect();
        pairs.retain(|batch| batch.rows > 0);
        let changed = match first {
            0 => counts.iter().map(|_| nothing_of(update, version)).collect(),
            _ => in_order(runner.run_rows(query, reading, pairs)?, &counts)?,
        };
        let changes = met.into_iter().zip(changed);
        Ok(changes.map(|(met, rows)| Changes { met, rows }).collect())
    }

    fn write_given(
        &self,
        transaction: &mut Transaction,
        given: &Given<'_>,
        changes: Option<Changes>,
    ) -> Result<Written> {
        let mut writer = transaction.writer(self.change.table)?;
        match (&self.change.kind, changes) {
            (
                WriteKind::Insert {
                    conflict: PlanConflict::Update(update),
                    ..
                },
                Some(mut changes),
            ) => {
                let checks = given.checks(&self.change.checks)?;
                let rows = NewRows {
                    batch: &given.values,
                    checks: &checks,
                };
                let condition = usize::from(update.has_condition);
                let mut values = changes.rows.columns.split_off(condition);
                let holds = values.split_off(update.set.len());
                let values = RowBatch {
                    columns: values,
                    rows: changes.rows.rows,
                };
                let results: Vec<CheckResult<'_>> = (update.checks.iter().zip(&holds))
                    .map(|(name, holds)| CheckResult { name, holds })
                    .collect();
                let changed = RowsInTheWay {
                    set: &update.set,
                    new: NewRows {
                        batch: &values,
                        checks: &results,
                    },
                    applies: changes.rows.columns.first(),
                };
                writer.upsert(&rows, &changes.met, &update.arbiters.indexes, &changed)
            }
            (
                WriteKind::Insert {
                    conflict: PlanConflict::Skip { arbiters },
                    ..
                },
                None,
            ) => given.insert(
                &mut writer,
                Conflict::Skip {
                    arbiters: &arbiters.indexes,
                },
            ),
            (
                WriteKind::Insert {
                    conflict: PlanConflict::Fail,
                    ..
                },
                None,
            ) => given.insert(&mut writer, Conflict::Fail),
            (WriteKind::Update { .. }, None) => given.update(&mut writer),
            _ => Err(Error::internal("queries of a write without ON CONFLICT")),
        }
    }
}

/// The rows of some ids as RETURNING reads them: columns of the table, and behind those the row id.
fn written_rows(version: &TableSnapshot, ids: &[RowId], reads: &[usize]) -> Result<RowBatch> {
    let stored = version.schema().columns.len();
    let (columns, beyond) = reads.split_at(reads.partition_point(|read| *read < stored));
    let mut rows = RowFetch::new(version).fetch_columns(ids, columns)?;
    if !beyond.is_empty() {
        let tids: Vec<Value> = ids.iter().map(|id| Value::Int(id.to_tid().into())).collect();
        rows.columns
            .push(ColumnVector::from_values(LogicalType::Tid, &tids));
    }
    Ok(rows)
}

/// Bytes that bringing a row into its order takes.
const ORDERED_ROW_BYTES: usize = 48;

fn bytes_of(batch: &RowBatch) -> usize {
    batch.columns.iter().map(ColumnVector::bytes).sum()
}

/// What is in the way of the rows of a batch, and what becomes of it.
struct Changes {
    met: InTheWay,
    /// What the query returns but for the number.
    rows: RowBatch,
}

/// The rows in the way of a batch with those that they stop, numbered from `first` on: of the columns that the query
/// could be given ([`ConflictUpdate`]) those at `reads`.
fn pairs_of(
    version: &TableSnapshot,
    met: &InTheWay,
    new: &RowBatch,
    (stopped, first): (&[usize], usize),
    reads: &[usize],
) -> Result<RowBatch> {
    let width = new.columns.len();
    let old: Vec<usize> = reads.iter().copied().take_while(|read| *read < width).collect();
    let mut pairs = RowFetch::new(version).fetch_columns(&met.ids(), &old)?;
    for read in &reads[old.len()..] {
        pairs.columns.push(match new.columns.get(read - width) {
            Some(column) => column.selected(stopped),
            None => numbers(first, stopped.len()),
        });
    }
    Ok(pairs)
}

fn numbers(first: usize, count: usize) -> ColumnVector {
    let mut numbers = ColumnVector::new(COUNT, count);
    numbers.resize(count);
    let cells = numbers.values_mut::<i64>().iter_mut();
    cells
        .zip(first as i64..)
        .for_each(|(cell, number)| *cell = number);
    numbers
}

/// What the query of DO UPDATE returns for no rows, but for the number.
fn nothing_of(update: &ConflictUpdate, version: &TableSnapshot) -> RowBatch {
    let boolean = || ColumnVector::new(CONDITION, 0);
    let set = |position: &usize| ColumnVector::new(version.schema().columns[*position].ty, 0);
    let condition = update.has_condition.then(boolean);
    let checks = update.checks.iter().map(|_| boolean());
    RowBatch {
        columns: condition
            .into_iter()
            .chain(update.set.iter().map(set))
            .chain(checks)
            .collect(),
        rows: 0,
    }
}
