//! Statements of one row: those that find it by the key of a unique index (`select … where key = $1`, and what UPDATE and DELETE
//! write of such a row), and those that compute one from parameters (`insert … values ($1 + 1)`). They run on the caller's
//! thread, without exec: no pool, no morsels, no scan is opened.
//!
//! Beside rows of constants and parameters alone ([`crate::direct_rows`]) these are the statements that cost less to run than to
//! hand over.

use crate::compiled_statement::CompiledQuery;
use frazil_codegen::{OneRow, OneRun, is_one_row};
use frazil_plan::pipeline::Source;
use frazil_storage::{Snapshot, TableSnapshot};
use frazil_types::{MemoryBudget, ObjectId, Result, RowBatch, RowValues};
use std::sync::{Mutex, MutexGuard, TryLockError};

/// Runs of one statement that may go on at the same time without making what they work on anew.
const SPARES: usize = 8;

/// A compiled query of at most one row, which a key finds or parameters make.
#[derive(Debug)]
pub struct PointQuery {
    query: CompiledQuery,
    /// The table in which the row is looked up.
    table: Option<ObjectId>,
    /// What earlier runs worked on, each locked by the run that works on it.
    spares: [Mutex<Option<Box<OneRow>>>; SPARES],
}

impl PointQuery {
    /// A query as one of this kind; the query itself if it is none.
    pub fn of(query: CompiledQuery) -> std::result::Result<PointQuery, CompiledQuery> {
        if !is_one_row(&query.pipelines) {
            return Err(query);
        }
        let table = match &query.pipelines.pipelines[0].source {
            Source::Lookup(lookup) => Some(lookup.table),
            _ => None,
        };
        Ok(PointQuery {
            query,
            table,
            spares: Default::default(),
        })
    }

    /// The query.
    pub fn query(&self) -> &CompiledQuery {
        &self.query
    }

    /// The row, as a snapshot shows it if a key finds it; `None` if there is none. 57014 once the statement is canceled.
    pub fn run(
        &self,
        snapshot: &Snapshot,
        budget: &MemoryBudget,
        run: OneRun<'_>,
    ) -> Result<Option<RowBatch>> {
        self.with(snapshot, budget, run, |one_row, table| one_row.run(table, run))
    }

    /// The same, but the values of the row.
    pub fn read(
        &self,
        snapshot: &Snapshot,
        budget: &MemoryBudget,
        run: OneRun<'_>,
    ) -> Result<Option<RowValues>> {
        self.with(snapshot, budget, run, |one_row, table| one_row.read(table, run))
    }

    fn with<T>(
        &self,
        snapshot: &Snapshot,
        budget: &MemoryBudget,
        run: OneRun<'_>,
        work: impl FnOnce(&mut OneRow, Option<&TableSnapshot>) -> Result<T>,
    ) -> Result<T> {
        run.cancel.check()?;
        let table = self.table.map(|id| snapshot.table(id)).transpose()?;
        let (mut spare, mut new) = (self.spare(), None);
        let spare = spare.as_deref_mut().unwrap_or(&mut new);
        let mut one_row = match spare.take() {
            Some(one_row) => one_row,
            None => {
                let (pipelines, code) = (&self.query.pipelines, &self.query.code);
                Box::new(OneRow::new(pipelines, code, budget, run.cancel)?)
            }
        };
        // What an error has left is not used again.
        let row = work(&mut one_row, table.map(|table| &**table))?;
        *spare = Some(one_row);
        Ok(row)
    }

    /// The first place that no other run works on.
    fn spare(&self) -> Option<MutexGuard<'_, Option<Box<OneRow>>>> {
        self.spares.iter().find_map(|spare| match spare.try_lock() {
            Ok(spare) => Some(spare),
            // What was worked on is gone with the panic.
            Err(TryLockError::Poisoned(spare)) => Some(spare.into_inner()),
            Err(TryLockError::WouldBlock) => None,
        })
    }
}
