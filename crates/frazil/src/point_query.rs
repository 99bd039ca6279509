//! Statements of one row: those that find it by the key of a unique index (`select … where key = $1`, and what UPDATE
//! and DELETE write of such a row), and those that compute one from parameters (`insert … values ($1 + 1)`); and
//! statements of the few rows that have values for the first columns of an index (`… where order = $1`), or that the
//! bounds of blocks lead to. They run on the caller's thread, without exec: no pool, no morsels, no scan is opened.
//!
//! Beside rows of constants and parameters alone ([`crate::direct_rows`]) these are the statements that cost less to
//! run than to hand over. If rows turn out not to be few, the query runs as any other.

use crate::compiled_statement::CompiledQuery;
use crate::rows::{Outcome, Rows};
use frazil_codegen::{FewRows, FewRowsPlan, OneRow, OneRun, is_one_row};
use frazil_plan::pipeline::Source;
use frazil_storage::Snapshot;
use frazil_types::{MemoryBudget, ObjectId, Result, RowBatch};
use std::sync::{Mutex, MutexGuard, TryLockError};

/// Runs of one statement that may go on at the same time without making what they work on anew.
const SPARES: usize = 8;

/// A compiled query of at most one row, which a key finds or parameters make, or of rows that are few as a rule.
#[derive(Debug)]
pub struct PointQuery {
    query: CompiledQuery,
    way: Way,
}

#[derive(Debug)]
enum Way {
    /// At most one row, which is looked up in this table, if in any.
    One(Option<ObjectId>, Spares<OneRow>),
    /// The rows of a prefix of an index, or of few blocks.
    Few(FewRowsPlan, Spares<FewRows>),
}

impl PointQuery {
    /// A query over tables of a snapshot as one of this kind; the query itself if it is none. `use_indexes`: rows may
    /// be looked up in indexes that need not be unique.
    pub fn of(
        query: CompiledQuery,
        snapshot: &Snapshot,
        use_indexes: bool,
    ) -> std::result::Result<PointQuery, CompiledQuery> {
        if is_one_row(&query.pipelines) {
            let table = match &query.pipelines.pipelines[0].source {
                Source::Lookup(lookup) => Some(lookup.table),
                _ => None,
            };
            let way = Way::One(table, Spares::default());
            return Ok(PointQuery { query, way });
        }
        match FewRowsPlan::of(&query.pipelines, |id| snapshot.table(id).ok(), use_indexes) {
            Some(few) => Ok(PointQuery {
                way: Way::Few(few, Spares::default()),
                query,
            }),
            None => Err(query),
        }
    }

    /// The query.
    pub fn query(&self) -> &CompiledQuery {
        &self.query
    }

    /// True if it runs in this way whatever its values are.
    pub fn is_sure(&self) -> bool {
        matches!(self.way, Way::One(..))
    }

    /// The rows, as a snapshot shows them if keys find them, in batches; `None` if they are not few: then nothing was
    /// done. 57014 once the statement is canceled.
    pub fn run(
        &self,
        snapshot: &Snapshot,
        budget: &MemoryBudget,
        run: OneRun<'_>,
    ) -> Result<Option<Vec<RowBatch>>> {
        run.cancel.check()?;
        match &self.way {
            Way::One(table, spares) => {
                let table = table.map(|id| snapshot.table(id)).transpose()?;
                let work = |row: &mut OneRow| row.run(table.map(|table| &**table), run);
                let row = spares.with(|| self.one_row(budget, run), work)?;
                Ok(Some(row.into_iter().collect()))
            }
            Way::Few(few, spares) => {
                let table = snapshot.table(few.table())?;
                let new = || FewRows::new(&self.query.pipelines, &self.query.code);
                spares.with(new, |rows| rows.run(few, table, budget, run))
            }
        }
    }

    /// The result of a query: see [`PointQuery::run`].
    pub fn read(
        &self,
        snapshot: &Snapshot,
        budget: &MemoryBudget,
        run: OneRun<'_>,
    ) -> Result<Option<Outcome>> {
        let schema = self.query.schema.clone();
        let Way::One(table, spares) = &self.way else {
            let batches = self.run(snapshot, budget, run)?;
            return Ok(batches.map(|batches| Outcome::Rows(Rows::new(schema, batches))));
        };
        run.cancel.check()?;
        let table = table.map(|id| snapshot.table(id)).transpose()?;
        let work = |row: &mut OneRow| row.read(table.map(|table| &**table), run);
        let row = spares.with(|| self.one_row(budget, run), work)?;
        Ok(Some(Outcome::Rows(match row {
            Some(row) => Rows::of_one(schema, row),
            None => Rows::new(schema, Vec::new()),
        })))
    }

    fn one_row(&self, budget: &MemoryBudget, run: OneRun<'_>) -> Result<OneRow> {
        OneRow::new(&self.query.pipelines, &self.query.code, budget, run.cancel)
    }
}

/// The objects that earlier runs worked on, each locked by the run that works on it.
#[derive(Debug)]
struct Spares<T>([Mutex<Option<Box<T>>>; SPARES]);

impl<T> Default for Spares<T> {
    fn default() -> Spares<T> {
        Spares(Default::default())
    }
}

impl<T> Spares<T> {
    /// Works on a spare one, or a new one, which is kept unless the work fails.
    fn with<R>(&self, new: impl FnOnce() -> Result<T>, work: impl FnOnce(&mut T) -> Result<R>) -> Result<R> {
        let (mut spare, mut none) = (self.first_free(), None);
        let spare = spare.as_deref_mut().unwrap_or(&mut none);
        let mut own = match spare.take() {
            Some(own) => own,
            None => Box::new(new()?),
        };
        // What an error has left is not used again.
        let done = work(&mut own)?;
        *spare = Some(own);
        Ok(done)
    }

    /// The first place that no other run works on.
    fn first_free(&self) -> Option<MutexGuard<'_, Option<Box<T>>>> {
        self.0.iter().find_map(|spare| match spare.try_lock() {
            Ok(spare) => Some(spare),
            // What was worked on is gone with the panic.
            Err(TryLockError::Poisoned(spare)) => Some(spare.into_inner()),
            Err(TryLockError::WouldBlock) => None,
        })
    }
}
