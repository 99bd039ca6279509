//! A query that runs while its rows are asked for, and pauses between.

use crate::panics::survive;
use frazil_types::statement_clock::{self, StatementClock};
use frazil_types::{Cancel, ObjectId, Result, RowBatch, Schema};
use std::cell::RefCell;
use std::fmt::{self, Debug, Formatter};
use std::sync::Arc;
use std::task::{Wake, Waker};

/// The place in which a statement leaves the query that it began: see [`crate::row_sink::Delivery::Begun`].
pub type Pieces = RefCell<Option<RunningQuery>>;

/// Computes the next rows of a query, `None` behind the last ones. The number says how many are asked for. The work is
/// dropped after an error.
pub type Work = Box<dyn FnMut(u64) -> Result<Option<RowBatch>> + Send>;

/// A query that computes rows only within [`RunningQuery::next`], on the thread that asks. Between two calls it holds
/// memory and its snapshot, but no thread.
#[derive(Debug)]
pub struct RunningQuery {
    schema: Arc<Schema>,
    /// The tables that its pipelines read.
    tables: Vec<ObjectId>,
    /// `None` once it gave its last row or an error.
    paused: Option<Box<Paused>>,
}

/// A query that can go on.
struct Paused {
    work: Work,
    /// The query's own flag.
    cancel: Cancel,
    /// The clock of the statement that began the query.
    clock: Option<StatementClock>,
}

impl Debug for Paused {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        f.debug_struct("Paused").finish_non_exhaustive()
    }
}

/// Sets the query's flag along with that of the statement that waits for it.
struct PassedOn(Cancel);

impl Wake for PassedOn {
    fn wake(self: Arc<Self>) {
        self.0.cancel();
    }
}

impl RunningQuery {
    /// Begins a query of some tables, which `cancel` stops. Nothing is computed before the first piece is asked for.
    pub fn start(schema: Arc<Schema>, tables: Vec<ObjectId>, cancel: Cancel, work: Work) -> RunningQuery {
        RunningQuery {
            schema,
            tables,
            paused: Some(Box::new(Paused {
                work,
                cancel,
                clock: statement_clock::handed_over(),
            })),
        }
    }

    /// The columns of its rows.
    pub fn schema(&self) -> &Arc<Schema> {
        &self.schema
    }

    /// The tables that it still reads.
    pub fn tables(&self) -> &[ObjectId] {
        match self.paused {
            Some(_) => &self.tables,
            None => &[],
        }
    }

    /// The next rows, `None` behind the last ones. `statement`: the flag of the statement that waits. `wanted`: number
    /// of rows that the statement asks for. The errors of the query, after which it has no more rows.
    pub fn next(&mut self, statement: &Cancel, wanted: u64) -> Result<Option<RowBatch>> {
        statement.check()?;
        let Some(paused) = &mut self.paused else {
            return Ok(None);
        };
        let _alarm = statement.alarm(Waker::from(Arc::new(PassedOn(paused.cancel.clone()))));
        // A flag that was set before the alarm wakes nobody.
        statement.check()?;
        let work = || statement_clock::during(paused.clock, || (paused.work)(wanted));
        let batch = survive(|| paused.cancel.during(work));
        if !matches!(batch, Ok(Some(_))) {
            self.paused = None;
        }
        batch.map_err(|error| statement.check().err().unwrap_or(error))
    }
}
