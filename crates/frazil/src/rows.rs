//! Results of statements.

use frazil_types::{RowBatch, Schema, Value};
use std::sync::Arc;
use std::time::Duration;

/// What a statement did, and the time it took.
#[derive(Debug)]
pub struct Response {
    /// Rows, or that a command was done.
    pub outcome: Outcome,
    /// Where the time went.
    pub timing: Timing,
}

/// Rows, or that a command was done.
#[derive(Debug)]
pub enum Outcome {
    /// Rows.
    Rows(Rows),
    /// A command without rows.
    Command {
        /// Its name, e.g. `INSERT`.
        tag: &'static str,
        /// Rows it inserted, deleted or copied.
        rows: Option<u64>,
    },
}

/// Where a statement's time went.
#[derive(Clone, Copy, Debug, Default)]
pub struct Timing {
    /// Parsing, binding, optimizing, cutting into pipelines.
    pub plan: Duration,
    /// Generating machine code.
    pub compile: Duration,
    /// Running it.
    pub execute: Duration,
}

impl Timing {
    /// All of it.
    pub fn total(&self) -> Duration {
        self.plan + self.compile + self.execute
    }
}

/// The rows of a result, as column batches.
#[derive(Clone, Debug, Default)]
pub struct Rows {
    schema: Arc<Schema>,
    batches: Vec<RowBatch>,
}

impl Rows {
    /// Rows of these columns.
    pub fn new(schema: Arc<Schema>, batches: Vec<RowBatch>) -> Rows {
        Rows { schema, batches }
    }

    /// Names and types of the columns.
    pub fn schema(&self) -> &Schema {
        &self.schema
    }

    /// The batches in order; together they are the result.
    pub fn batches(&self) -> &[RowBatch] {
        &self.batches
    }

    /// Number of rows.
    pub fn len(&self) -> usize {
        self.batches.iter().map(|b| b.rows).sum()
    }

    /// Whether there is no row.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// The rows one by one. For many rows, [`Rows::batches`] costs less.
    pub fn iter(&self) -> impl Iterator<Item = Vec<Value>> + '_ {
        (self.batches.iter())
            .flat_map(|b| (0..b.rows).map(move |row| b.columns.iter().map(|c| c.value(row)).collect()))
    }
}
