//! INSERT, UPDATE and DELETE: the rows that a plan computed go into the table, or out of it, and RETURNING shows those
//! that did.

use crate::rows::{Outcome, Response, Rows, Timing};
use frazil_plan::{Change, ColumnId, ConflictUpdate, PlanConflict, WriteKind};
use frazil_storage::{CheckResult, Conflict, NewRows, TableWriter, Transaction, Written};
use frazil_types::{Cancel, ColumnVector, Error, Result, RowBatch, RowId, Schema, SqlState};
use std::collections::HashSet;
use std::sync::Arc;
use std::time::Instant;

/// What a statement writes.
#[derive(Debug)]
pub struct WriteAction {
    change: Change,
    /// Number of the columns with new values, which come first among those kept.
    values: usize,
    /// The columns kept of the rows.
    kept: Vec<ColumnId>,
    /// Columns of RETURNING.
    schema: Arc<Schema>,
}

impl WriteAction {
    /// A change; RETURNING shows columns of `schema`.
    pub fn new(change: Change, schema: Schema) -> WriteAction {
        WriteAction {
            values: change.values().len(),
            kept: change.kept(),
            schema: Arc::new(schema),
            change,
        }
    }

    /// Writes rows, of which each batch holds the columns that the change keeps. 57014 between two batches.
    pub fn run(
        &self,
        transaction: &mut Transaction,
        batches: Vec<RowBatch>,
        cancel: &Cancel,
        mut timing: Timing,
    ) -> Result<Response> {
        let begun = Instant::now();
        let mut result = WriteResult::default();
        for batch in batches {
            cancel.check()?;
            self.write_batch(batch, transaction, &mut result)?;
        }
        timing.execute += begun.elapsed();
        Ok(self.response(result, timing))
    }

    /// Writes one batch of rows that the caller uses again.
    pub fn run_direct(
        &self,
        transaction: &mut Transaction,
        rows: &RowBatch,
        cancel: &Cancel,
        mut timing: Timing,
    ) -> Result<Response> {
        let fails = matches!(
            &self.change.kind,
            WriteKind::Insert {
                conflict: PlanConflict::Fail,
                ..
            }
        );
        let plain = self.change.checks.is_empty() && self.change.returning.is_empty();
        if !fails || !plain || self.kept.len() > self.values {
            return self.run(transaction, vec![rows.clone()], cancel, timing);
        }
        let begun = Instant::now();
        let mut writer = transaction.writer(self.change.table)?;
        let result = WriteResult {
            count: writer.insert(&NewRows::of(rows), Conflict::Fail)?.count,
            ..WriteResult::default()
        };
        timing.execute += begun.elapsed();
        Ok(self.response(result, timing))
    }

    fn response(&self, result: WriteResult, timing: Timing) -> Response {
        let tag = self.change.tag();
        let outcome = match self.change.returning.is_empty() {
            true => Outcome::Command {
                tag,
                rows: Some(result.count),
            },
            false => Outcome::Rows(Rows::new(self.schema.clone(), result.returned).of_command(tag)),
        };
        Response { outcome, timing }
    }

    /// The kept column of an id.
    fn place(&self, id: ColumnId) -> Result<usize> {
        let found = self.kept.iter().position(|k| *k == id);
        found.ok_or_else(|| Error::internal("a write that does not keep a column it reads"))
    }

    fn write_batch(
        &self,
        mut batch: RowBatch,
        transaction: &mut Transaction,
        result: &mut WriteResult,
    ) -> Result<()> {
        if batch.rows == 0 {
            return Ok(());
        }
        let rest = batch.columns.split_off(self.values);
        let given = Given {
            action: self,
            values: batch,
            rest,
        };
        let mut writer = transaction.writer(self.change.table)?;
        let written = match &self.change.kind {
            WriteKind::Insert { conflict, .. } => match conflict {
                PlanConflict::Fail => given.insert(&mut writer, Conflict::Fail)?,
                PlanConflict::Skip { arbiters } => given.insert(&mut writer, Conflict::Skip { arbiters })?,
                PlanConflict::Update(update) => given.upsert(&mut writer, update, &mut result.changed)?,
            },
            WriteKind::Update { row_id, set } => {
                let columns: Vec<usize> = set.iter().map(|s| s.0).collect();
                let checks = given.checks(&self.change.checks)?;
                let rows = NewRows {
                    batch: &given.values,
                    checks: &checks,
                };
                writer.update(&row_ids(given.column(*row_id)?), &columns, &rows)?
            }
            WriteKind::Delete { row_id } => writer.delete(&row_ids(given.column(*row_id)?))?,
        };
        result.count += written.count;
        if !self.change.returning.is_empty() {
            let shown = given.returned(&written)?;
            result.returned.extend((shown.rows > 0).then_some(shown));
        }
        Ok(())
    }
}

/// What a statement wrote so far.
#[derive(Default)]
struct WriteResult {
    /// Rows inserted, updated or deleted.
    count: u64,
    /// What RETURNING shows of them.
    returned: Vec<RowBatch>,
    /// Rows that ON CONFLICT DO UPDATE changed.
    changed: HashSet<RowId>,
}

fn row_ids(column: &ColumnVector) -> Vec<RowId> {
    column
        .values::<i64>()
        .iter()
        .map(|&id| RowId::from_bigint(id))
        .collect()
}

/// A batch of what a write kept.
struct Given<'a> {
    action: &'a WriteAction,
    /// The new values.
    values: RowBatch,
    /// The other columns.
    rest: Vec<ColumnVector>,
}

impl Given<'_> {
    fn column(&self, id: ColumnId) -> Result<&ColumnVector> {
        let place = self.action.place(id)?;
        let values = &self.values.columns;
        Ok(values
            .get(place)
            .unwrap_or_else(|| &self.rest[place - values.len()]))
    }

    fn checks<'c>(&'c self, checks: &'c [(String, ColumnId)]) -> Result<Vec<CheckResult<'c>>> {
        let check = |(name, id): &'c (String, ColumnId)| {
            let holds = self.column(*id)?;
            Ok(CheckResult { name, holds })
        };
        checks.iter().map(check).collect()
    }

    fn insert(&self, writer: &mut TableWriter<'_>, conflict: Conflict<'_>) -> Result<Written> {
        let checks = self.checks(&self.action.change.checks)?;
        let rows = NewRows {
            batch: &self.values,
            checks: &checks,
        };
        writer.insert(&rows, conflict)
    }

    /// What RETURNING shows of the rows that were written.
    fn returned(&self, written: &Written) -> Result<RowBatch> {
        let returning = &self.action.change.returning;
        let columns: Vec<&ColumnVector> = (returning.iter())
            .map(|id| self.column(*id))
            .collect::<Result<_>>()?;
        if written.rows.iter().all(Option::is_some) {
            return Ok(RowBatch {
                columns: columns.into_iter().cloned().collect(),
                rows: self.values.rows,
            });
        }
        let rows: Vec<usize> = (0..written.rows.len())
            .filter(|&row| written.rows[row].is_some())
            .collect();
        Ok(RowBatch {
            columns: columns.into_iter().map(|c| c.selected(&rows)).collect(),
            rows: rows.len(),
        })
    }

    /// INSERT … ON CONFLICT DO UPDATE, in the order of the rows: rows with nothing in the way are inserted, the others
    /// change what is in their way. `changed` are the rows of the table that the statement changed already. 21000 for a
    /// row that meets one of the same statement.
    fn upsert(
        &self,
        writer: &mut TableWriter<'_>,
        update: &ConflictUpdate,
        changed: &mut HashSet<RowId>,
    ) -> Result<Written> {
        let ids = self.column(update.row_id)?;
        let mut written = Written {
            count: 0,
            rows: vec![None; ids.len()],
        };
        let all: Vec<usize> = (0..ids.len()).collect();
        for run in all.chunk_by(|&a, &b| ids.is_null(a) == ids.is_null(b)) {
            match ids.is_null(run[0]) {
                true => self.insert_run(writer, update, run, &mut written)?,
                false => self.update_run(writer, update, run, changed, &mut written)?,
            }
        }
        Ok(written)
    }

    /// Some rows of the batch, to be inserted where no row of the table has their keys.
    fn insert_rows(
        &self,
        writer: &mut TableWriter<'_>,
        update: &ConflictUpdate,
        run: &[usize],
    ) -> Result<Written> {
        let columns: Vec<ColumnVector> = self.values.columns.iter().map(|c| c.selected(run)).collect();
        let values = RowBatch {
            columns,
            rows: run.len(),
        };
        let conditions = self.conditions(&self.action.change.checks, run)?;
        let checks: Vec<CheckResult<'_>> = conditions.iter().map(Condition::result).collect();
        let rows = NewRows {
            batch: &values,
            checks: &checks,
        };
        let arbiters = &update.arbiters;
        writer.insert(&rows, Conflict::Skip { arbiters })
    }

    fn conditions<'c>(&self, checks: &'c [(String, ColumnId)], rows: &[usize]) -> Result<Vec<Condition<'c>>> {
        let condition = |(name, id): &'c (String, ColumnId)| {
            let holds = self.column(*id)?.selected(rows);
            Ok(Condition { name, holds })
        };
        checks.iter().map(condition).collect()
    }

    fn insert_run(
        &self,
        writer: &mut TableWriter<'_>,
        update: &ConflictUpdate,
        run: &[usize],
        written: &mut Written,
    ) -> Result<()> {
        let inserted = self.insert_rows(writer, update, run)?;
        if inserted.rows.iter().any(Option::is_none) {
            return Err(met_twice());
        }
        written.count += inserted.count;
        run.iter()
            .zip(inserted.rows)
            .for_each(|(&row, id)| written.rows[row] = id);
        Ok(())
    }

    fn update_run(
        &self,
        writer: &mut TableWriter<'_>,
        update: &ConflictUpdate,
        run: &[usize],
        changed: &mut HashSet<RowId>,
        written: &mut Written,
    ) -> Result<()> {
        // A row that is not inserted has to satisfy what is asked of one that is.
        let inserted = self.insert_rows(writer, update, run)?;
        if inserted.count > 0 {
            // Its key was moved by a row before it, which was not known when its new values were computed.
            return Err(met_twice());
        }
        let applies = update.applies.map(|id| self.column(id)).transpose()?;
        let holds = |row: usize| applies.is_none_or(|a| !a.is_null(row) && a.values::<u8>()[row] != 0);
        let rows: Vec<usize> = run.iter().copied().filter(|&row| holds(row)).collect();
        let ids = self.column(update.row_id)?.selected(&rows);
        let (applying, ids) = (rows.len(), row_ids(&ids));
        let fresh = ids.iter().take_while(|id| changed.insert(**id)).count();
        let (rows, ids) = (&rows[..fresh], &ids[..fresh]);
        let columns: Vec<usize> = update.set.iter().map(|s| s.0).collect();
        let values = (update.set.iter())
            .map(|(_, id)| Ok(self.column(*id)?.selected(rows)))
            .collect::<Result<Vec<_>>>()?;
        let values = RowBatch {
            columns: values,
            rows: rows.len(),
        };
        let conditions = self.conditions(&update.checks, rows)?;
        let checks: Vec<CheckResult<'_>> = conditions.iter().map(Condition::result).collect();
        let new = NewRows {
            batch: &values,
            checks: &checks,
        };
        let updated = writer.update(ids, &columns, &new)?;
        if fresh < applying {
            return Err(met_twice());
        }
        written.count += updated.count;
        rows.iter()
            .zip(updated.rows)
            .for_each(|(&row, id)| written.rows[row] = id);
        Ok(())
    }
}

/// A CHECK constraint with what it says of some rows of a batch.
struct Condition<'a> {
    name: &'a str,
    holds: ColumnVector,
}

impl Condition<'_> {
    fn result(&self) -> CheckResult<'_> {
        CheckResult {
            name: self.name,
            holds: &self.holds,
        }
    }
}

fn met_twice() -> Error {
    Error::new(
        SqlState::CARDINALITY_VIOLATION,
        "ON CONFLICT DO UPDATE command cannot affect row a second time",
    )
    .with_hint("give no two rows of the statement the same key")
}
