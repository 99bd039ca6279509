//! INSERT, UPDATE and DELETE: the rows that a plan computed go into the table, or out of it, and RETURNING shows those
//! that did. FOR UPDATE: the rows that a plan computed are locked and shown.

use crate::compiled_statement::CompiledQuery;
use crate::row_locks;
use crate::row_query::RowQuery;
use crate::rows::{Outcome, Response, Rows, Timing};
use frazil_plan::{Change, ColumnId, PlanConflict, WriteKind};
use frazil_storage::{CheckResult, Conflict, NewRows, NewValues, TableWriter, Transaction, Written};
use frazil_types::{Cancel, ColumnVector, Error, Result, RowBatch, RowId, Schema};
use std::cell::OnceCell;
use std::sync::Arc;
use std::time::Instant;

/// What a statement writes.
#[derive(Debug)]
pub struct WriteAction {
    pub(crate) change: Change,
    /// Number of the columns with new values, which come first among those kept.
    values: usize,
    /// The columns kept of the rows.
    kept: Vec<ColumnId>,
    /// Positions in the table of the columns that an UPDATE sets.
    set: Vec<usize>,
    /// Columns of RETURNING.
    schema: Arc<Schema>,
    /// What becomes of rows in the way.
    pub(crate) update: Option<RowQuery>,
    /// RETURNING over the rows that were written.
    pub(crate) returning: Option<RowQuery>,
}

impl WriteAction {
    /// A change; RETURNING shows columns of `schema`.
    pub fn new(change: Change, schema: Schema) -> WriteAction {
        let set = match &change.kind {
            WriteKind::Update { set, .. } => set.iter().map(|(position, _)| *position).collect(),
            WriteKind::Insert { .. } | WriteKind::Delete { .. } | WriteKind::Lock(_) => Vec::new(),
        };
        WriteAction {
            values: change.values().len(),
            kept: change.kept(),
            set,
            schema: Arc::new(schema),
            change,
            update: None,
            returning: None,
        }
    }

    /// The same with the queries that it runs: what becomes of rows in the way, and RETURNING over rows that were written.
    pub fn with_queries(self, update: Option<RowQuery>, returning: Option<RowQuery>) -> WriteAction {
        WriteAction {
            update,
            returning,
            ..self
        }
    }

    /// Whether it runs queries between or after its writing: [`WriteAction::run_with_queries`].
    pub fn has_queries(&self) -> bool {
        self.update.is_some() || self.returning.is_some()
    }

    /// The code of these queries.
    pub fn queries(&self) -> impl Iterator<Item = &CompiledQuery> {
        self.update
            .iter()
            .chain(&self.returning)
            .filter_map(RowQuery::code)
    }

    /// Writes rows, of which each batch holds the columns that the change keeps. 57014 between two batches.
    pub fn run(
        &self,
        transaction: &mut Transaction,
        batches: Vec<RowBatch>,
        cancel: &Cancel,
        timing: Timing,
    ) -> Result<Response> {
        let begun = Instant::now();
        let mut response = self.run_untimed(transaction, batches, cancel, timing)?;
        response.timing.execute += begun.elapsed();
        Ok(response)
    }

    /// Writes rows as [`WriteAction::run`] does. The caller takes the time.
    pub fn run_untimed(
        &self,
        transaction: &mut Transaction,
        batches: Vec<RowBatch>,
        cancel: &Cancel,
        timing: Timing,
    ) -> Result<Response> {
        let mut filled = batches.into_iter().filter(|batch| batch.rows > 0);
        let result = match (filled.next(), filled.next()) {
            (Some(batch), None) => self.run_given([self.given(batch)], transaction, cancel)?,
            (first, second) => {
                let all = first.into_iter().chain(second).chain(filled);
                let given: Vec<Given<'_>> = all.map(|batch| self.given(batch)).collect();
                self.run_given(given, transaction, cancel)?
            }
        };
        Ok(self.response(result, timing))
    }

    /// Writes or locks the rows of batches. 57014 between two batches.
    fn run_given<'a>(
        &'a self,
        given: impl AsRef<[Given<'a>]> + IntoIterator<Item = Given<'a>>,
        transaction: &mut Transaction,
        cancel: &Cancel,
    ) -> Result<WriteResult> {
        let mut result = WriteResult::default();
        if let WriteKind::Lock(locks) = &self.change.kind {
            result.returned = row_locks::lock(locks, given.as_ref(), transaction, cancel)?;
            return Ok(result);
        }
        self.claim(transaction, given.as_ref())?;
        for given in given {
            cancel.check()?;
            self.write_batch(given, transaction, &mut result)?;
        }
        Ok(result)
    }

    /// Writes one batch of rows that the caller uses again. The caller takes the time.
    pub fn run_direct(
        &self,
        transaction: &mut Transaction,
        rows: &RowBatch,
        cancel: &Cancel,
        timing: Timing,
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
            return self.run_untimed(transaction, vec![rows.clone()], cancel, timing);
        }
        let mut writer = transaction.writer(self.change.table)?;
        let result = WriteResult {
            count: writer.insert_all(&NewRows::of(rows))?,
            ..WriteResult::default()
        };
        Ok(self.response(result, timing))
    }

    pub(crate) fn response(&self, result: WriteResult, timing: Timing) -> Response {
        let tag = self.change.tag();
        let is_silent = self.change.returning.is_empty() && self.returning.is_none();
        let outcome = match is_silent && self.change.written_table().is_some() {
            true => Outcome::Command {
                tag,
                rows: Some(result.count),
            },
            false => Outcome::Rows(Rows::new(self.schema.clone(), result.returned).of_command(tag)),
        };
        Response::new(outcome, timing)
    }

    pub(crate) fn given(&self, mut batch: RowBatch) -> Given<'_> {
        let rest = batch.columns.split_off(self.values);
        Given {
            action: self,
            values: batch,
            rest,
            ids: OnceCell::new(),
        }
    }

    /// The kept column of an id.
    fn place(&self, id: ColumnId) -> Result<usize> {
        let found = self.kept.iter().position(|k| *k == id);
        found.ok_or_else(|| Error::internal("a write that does not keep a column it reads"))
    }

    /// Claims all rows that the statement changes or deletes, before it writes any. What ON CONFLICT does may have to
    /// be done again. 40001 where the statement has to run again; 40P01, 55P03, 57014, 53200.
    pub(crate) fn claim(&self, transaction: &mut Transaction, given: &[Given<'_>]) -> Result<()> {
        let sets = match &self.change.kind {
            WriteKind::Update { .. } => true,
            WriteKind::Delete { .. } => false,
            WriteKind::Insert {
                conflict: PlanConflict::Fail,
                ..
            } => return Ok(()),
            WriteKind::Insert { .. } => {
                transaction.guard_statement();
                return Ok(());
            }
            WriteKind::Lock(_) => return Ok(()),
        };
        given.iter().try_for_each(|given| {
            let new = sets.then_some(NewValues {
                columns: &self.set,
                batch: Some(&given.values),
            });
            transaction.claim_with_keys(self.change.table, given.ids()?, new)
        })
    }

    fn write_batch(
        &self,
        given: Given<'_>,
        transaction: &mut Transaction,
        result: &mut WriteResult,
    ) -> Result<()> {
        let mut writer = transaction.writer(self.change.table)?;
        let written = match &self.change.kind {
            WriteKind::Insert { conflict, .. } => match conflict {
                PlanConflict::Fail => given.insert(&mut writer, Conflict::Fail)?,
                PlanConflict::Skip { arbiters } => {
                    let arbiters = &arbiters.indexes;
                    given.insert(&mut writer, Conflict::Skip { arbiters })?
                }
                PlanConflict::Update(_) => {
                    return Err(Error::internal("rows in the way that nobody looks for"));
                }
            },
            WriteKind::Update { .. } => given.update(&mut writer)?,
            WriteKind::Delete { .. } => writer.delete(given.ids()?)?,
            WriteKind::Lock(_) => return Err(Error::internal("a lock that writes rows")),
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
pub(crate) struct WriteResult {
    /// Rows inserted, updated or deleted.
    pub count: u64,
    /// What RETURNING shows of them.
    pub returned: Vec<RowBatch>,
}

pub(crate) fn row_ids(column: &ColumnVector) -> Vec<RowId> {
    column
        .values::<i64>()
        .iter()
        .map(|&id| RowId::from_tid(id))
        .collect()
}

/// A batch of what a write kept.
pub(crate) struct Given<'a> {
    action: &'a WriteAction,
    /// The new values.
    pub values: RowBatch,
    /// The other columns.
    rest: Vec<ColumnVector>,
    /// The ids of the rows, once they are asked for.
    ids: OnceCell<Ids>,
}

/// Ids of rows. That of a single row needs no memory of its own.
enum Ids {
    One([RowId; 1]),
    Many(Vec<RowId>),
}

impl Ids {
    fn of(column: &ColumnVector) -> Ids {
        match column.values::<i64>() {
            [id] => Ids::One([RowId::from_tid(*id)]),
            _ => Ids::Many(row_ids(column)),
        }
    }
}

impl Given<'_> {
    pub fn column(&self, id: ColumnId) -> Result<&ColumnVector> {
        let place = self.action.place(id)?;
        let values = &self.values.columns;
        Ok(values
            .get(place)
            .unwrap_or_else(|| &self.rest[place - values.len()]))
    }

    /// The ids of the rows that an UPDATE or DELETE writes.
    fn ids(&self) -> Result<&[RowId]> {
        let row_id = match &self.action.change.kind {
            WriteKind::Update { row_id, .. } | WriteKind::Delete { row_id } => *row_id,
            WriteKind::Insert { .. } | WriteKind::Lock(_) => {
                return Err(Error::internal("ids of rows that are not there yet"));
            }
        };
        let column = self.column(row_id)?;
        Ok(match self.ids.get_or_init(|| Ids::of(column)) {
            Ids::One(id) => &id[..],
            Ids::Many(ids) => &ids[..],
        })
    }

    pub fn checks<'c>(&'c self, checks: &'c [(String, ColumnId)]) -> Result<Vec<CheckResult<'c>>> {
        let check = |(name, id): &'c (String, ColumnId)| {
            let holds = self.column(*id)?;
            Ok(CheckResult { name, holds })
        };
        checks.iter().map(check).collect()
    }

    pub fn insert(&self, writer: &mut TableWriter<'_>, conflict: Conflict<'_>) -> Result<Written> {
        let checks = self.checks(&self.action.change.checks)?;
        let rows = NewRows {
            batch: &self.values,
            checks: &checks,
        };
        writer.insert(&rows, conflict)
    }

    /// Writes new values into columns of rows.
    pub fn update(&self, writer: &mut TableWriter<'_>) -> Result<Written> {
        let checks = self.checks(&self.action.change.checks)?;
        let rows = NewRows {
            batch: &self.values,
            checks: &checks,
        };
        writer.update(self.ids()?, &self.action.set, &rows)
    }

    /// What RETURNING shows of the rows that were written.
    fn returned(self, written: &Written) -> Result<RowBatch> {
        if written.rows.iter().all(Option::is_some) {
            return self.into_shown();
        }
        let rows: Vec<usize> = (0..written.rows.len())
            .filter(|&row| written.rows[row].is_some())
            .collect();
        self.shown(Some(&rows))
    }

    /// The columns of RETURNING for all rows. A column is copied only if RETURNING shows it again further on.
    fn into_shown(self) -> Result<RowBatch> {
        let (action, rows) = (self.action, self.values.rows);
        let returning = &action.change.returning;
        let given = self.values.columns.into_iter().chain(self.rest);
        let mut given: Vec<Option<ColumnVector>> = given.map(Some).collect();
        let mut shown = |(at, id): (usize, &ColumnId)| {
            let column = &mut given[action.place(*id)?];
            let column = match returning[at + 1..].contains(id) {
                true => column.clone(),
                false => column.take(),
            };
            column.ok_or_else(|| Error::internal("a column of RETURNING was taken before"))
        };
        Ok(RowBatch {
            columns: returning
                .iter()
                .enumerate()
                .map(&mut shown)
                .collect::<Result<_>>()?,
            rows,
        })
    }

    /// The columns of RETURNING for rows of the batch by their places; `None`: for all.
    pub fn shown(&self, rows: Option<&[usize]>) -> Result<RowBatch> {
        let returning = &self.action.change.returning;
        let columns: Vec<&ColumnVector> = (returning.iter())
            .map(|id| self.column(*id))
            .collect::<Result<_>>()?;
        let Some(rows) = rows else {
            return Ok(RowBatch {
                columns: columns.into_iter().cloned().collect(),
                rows: self.values.rows,
            });
        };
        Ok(RowBatch {
            columns: columns.into_iter().map(|c| c.selected(rows)).collect(),
            rows: rows.len(),
        })
    }
}
