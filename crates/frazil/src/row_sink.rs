//! Results that are handed over while they are computed.

use frazil_types::{Result, RowBatch, Schema};
use std::cell::RefCell;
use std::sync::Arc;

/// Takes the rows of queries while they are computed: [`Connection::execute_into`](crate::Connection::execute_into). An
/// error that it returns ends the statement, and is the statement's.
///
/// The connection is in use until the statement ends: a statement that the sink runs on it fails with 55006.
pub trait RowSink {
    /// A result begins: names and types of its columns.
    fn begin(&mut self, schema: &Arc<Schema>) -> Result<()>;

    /// The next rows of the result, at least one.
    fn rows(&mut self, batch: RowBatch) -> Result<()>;
}

/// Where a statement's rows go.
#[derive(Clone, Copy)]
pub enum Delivery<'a> {
    /// Into its response.
    Whole,
    /// To a sink, as they are computed.
    Parts(&'a dyn Parts),
}

/// A sink that a statement's parts share.
pub trait Parts {
    /// As [`RowSink::begin`].
    fn begin(&self, schema: &Arc<Schema>) -> Result<()>;

    /// As [`RowSink::rows`].
    fn rows(&self, batch: RowBatch) -> Result<()>;
}

impl Parts for RefCell<&mut dyn RowSink> {
    fn begin(&self, schema: &Arc<Schema>) -> Result<()> {
        self.borrow_mut().begin(schema)
    }

    fn rows(&self, batch: RowBatch) -> Result<()> {
        self.borrow_mut().rows(batch)
    }
}
