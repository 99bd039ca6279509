//! A query that runs while its rows are asked for, and pauses between.

use crate::panics::survive;
use frazil_types::{Cancel, Error, Result, RowBatch, Schema, SqlState, statement_clock};
use std::cell::RefCell;
use std::sync::Arc;
use std::sync::mpsc::{Receiver, Sender, channel};
use std::task::{Wake, Waker};
use std::thread::JoinHandle;

/// The place in which a statement leaves the query that it began: see [`crate::row_sink::Delivery::Begun`].
pub type Pieces = RefCell<Option<RunningQuery>>;

/// The work of a query: computes its rows, and hands them over batch by batch. An error of the taker ends it.
pub type Work = Box<dyn FnOnce(&mut dyn FnMut(RowBatch) -> Result<()>) -> Result<()> + Send>;

/// A query on a thread of its own. The thread computes only between [`RunningQuery::next`] and its return. Dropping the
/// query ends the thread.
#[derive(Debug)]
pub struct RunningQuery {
    schema: Arc<Schema>,
    /// An order lets the thread compute one more batch. `None` once the query is to end.
    orders: Option<Sender<()>>,
    /// The answer to each order; `Ok(None)` behind the last batch.
    batches: Receiver<Result<Option<RowBatch>>>,
    cancel: Cancel,
    thread: Option<JoinHandle<()>>,
}

/// Sets the query's flag along with that of the statement that waits for it.
struct PassedOn(Cancel);

impl Wake for PassedOn {
    fn wake(self: Arc<Self>) {
        self.0.cancel();
    }
}

impl RunningQuery {
    /// Begins a query, which `cancel` stops. Nothing is computed before the first batch is asked for. 53000 if the
    /// system gives no thread.
    pub fn start(schema: Arc<Schema>, cancel: Cancel, work: Work) -> Result<RunningQuery> {
        let (orders, of_orders) = channel();
        let (to_batches, batches) = channel();
        let clock = statement_clock::handed_over();
        let run = move || {
            let paused = Paused {
                orders: of_orders,
                batches: to_batches,
            };
            if paused.wait().is_err() {
                return;
            }
            let run = || statement_clock::during(clock, || work(&mut |batch| paused.hand_over(batch)));
            // Nobody listens if the cursor was closed.
            let _ = paused.batches.send(survive(run).map(|()| None));
        };
        let thread = std::thread::Builder::new().name("frazil-cursor".to_owned());
        let thread = thread.spawn(run).map_err(|error| {
            let message = format!("could not start a thread for a cursor: {error}");
            Error::new(SqlState::INSUFFICIENT_RESOURCES, message)
        })?;
        Ok(RunningQuery {
            schema,
            orders: Some(orders),
            batches,
            cancel,
            thread: Some(thread),
        })
    }

    /// The columns of its rows.
    pub fn schema(&self) -> &Arc<Schema> {
        &self.schema
    }

    /// The next rows, `None` behind the last ones. `statement`: the flag of the statement that waits. The errors of
    /// the query, after which it has no more rows.
    pub fn next(&mut self, statement: &Cancel) -> Result<Option<RowBatch>> {
        let Some(orders) = &self.orders else {
            return Ok(None);
        };
        let _alarm = statement.alarm(Waker::from(Arc::new(PassedOn(self.cancel.clone()))));
        statement.check()?;
        // A thread that is gone answers no more.
        let _ = orders.send(());
        let lost = |_| Err(Error::internal("the thread of a cursor was lost"));
        let batch = self.batches.recv().unwrap_or_else(lost);
        if !matches!(batch, Ok(Some(_))) {
            self.orders = None;
        }
        batch.map_err(|error| statement.check().err().unwrap_or(error))
    }
}

impl Drop for RunningQuery {
    fn drop(&mut self) {
        self.orders = None;
        if let Some(thread) = self.thread.take() {
            // The thread ends when it sees that no order can come any more. Its panics are caught.
            let _ = thread.join();
        }
    }
}

/// The thread's end: hands a batch over, and waits for the next order.
struct Paused {
    orders: Receiver<()>,
    batches: Sender<Result<Option<RowBatch>>>,
}

impl Paused {
    fn wait(&self) -> Result<()> {
        let closed = |_| Error::new(SqlState::QUERY_CANCELED, "the cursor was closed");
        self.orders.recv().map_err(closed)
    }

    fn hand_over(&self, batch: RowBatch) -> Result<()> {
        // Whoever does not take the batch gives no further order.
        let _ = self.batches.send(Ok(Some(batch)));
        self.wait()
    }
}
