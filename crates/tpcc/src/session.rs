//! An engine as the transactions see it.

use crate::steps::Step;
use frazil::{Error, Result, SqlState, Value};

/// The result of a statement.
#[derive(Debug, Default)]
pub struct Answer {
    /// The values of each row that it returned.
    pub rows: Vec<Vec<Value>>,
    /// Rows that it inserted, updated or deleted; of a query, those that it returned.
    pub count: u64,
}

impl Answer {
    /// The values of the first row. 02000 if there is none.
    pub fn first(&self) -> Result<&[Value]> {
        let row = self.rows.first();
        row.map(Vec::as_slice)
            .ok_or_else(|| Error::new(SqlState::NO_DATA, "a statement of TPC-C found no row"))
    }
}

/// A session of an engine, with its statements prepared.
pub trait Session {
    /// Runs a statement with values for its parameters. 40001 and 40P01 mean that the transaction can be tried again.
    fn run(&mut self, step: Step, values: &[Value]) -> Result<Answer>;
}

/// An engine with the tables of TPC-C.
pub trait Engine: Sync {
    /// Opens a session for `work`, which runs on the calling thread. The errors of opening it, and of `work`.
    fn with_session(&self, work: &mut dyn FnMut(&mut dyn Session) -> Result<()>) -> Result<()>;
}
