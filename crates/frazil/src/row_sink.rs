//! Results that are handed over while they are computed.

use crate::cursors::Pieces;
use frazil_types::{Result, RowBatch, Schema};
use std::cell::RefCell;
use std::io::{self, Read, Write};
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

/// The two ends of COPY that are not files: [`Connection::execute_copy`](crate::Connection::execute_copy).
pub trait CopyStreams {
    /// What COPY … FROM STDIN reads. Asked for once by each such statement.
    fn input(&mut self) -> Box<dyn Read + Send>;

    /// What takes the bytes of COPY … TO STDOUT.
    fn output(&mut self) -> &mut dyn Write;
}

/// Where a statement's rows go.
#[derive(Clone, Copy)]
pub enum Delivery<'a> {
    /// Into its response.
    Whole,
    /// To a sink, as they are computed.
    Parts(&'a dyn Parts),
    /// Into its response; COPY has streams.
    Copied(&'a dyn Streams),
    /// A query with pipelines begins, and is left there to be taken piece by piece; other rows go into the response.
    Begun(&'a Pieces),
}

/// Streams that a statement's parts share.
pub trait Streams {
    /// As [`CopyStreams::input`].
    fn input(&self) -> Box<dyn Read + Send>;

    /// Writes to [`CopyStreams::output`].
    fn write(&self, bytes: &[u8]) -> io::Result<usize>;

    /// Flushes [`CopyStreams::output`].
    fn flush(&self) -> io::Result<()>;
}

impl Streams for RefCell<&mut dyn CopyStreams> {
    fn input(&self) -> Box<dyn Read + Send> {
        self.borrow_mut().input()
    }

    fn write(&self, bytes: &[u8]) -> io::Result<usize> {
        self.borrow_mut().output().write(bytes)
    }

    fn flush(&self) -> io::Result<()> {
        self.borrow_mut().output().flush()
    }
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
