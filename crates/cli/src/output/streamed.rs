//! A result that is written while it is computed.

use super::{Display, Layout, layout_of};
use frazil::{Error, Result, RowBatch, RowSink, Schema, SqlState};
use std::io::{self, Write};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

/// Takes a statement's rows and writes them.
pub struct Streamed<'a> {
    out: &'a mut dyn Write,
    layout: Box<dyn Layout>,
    schema: Option<Arc<Schema>>,
    /// Rows taken so far.
    rows: u64,
    /// Set before the first byte is written.
    begun: &'a AtomicBool,
    /// Whether bytes are written before the last row is there.
    is_early: bool,
    /// Why the rest could not be written.
    failed: Option<io::Error>,
}

impl<'a> Streamed<'a> {
    /// Writes to `out`, and sets `begun` before it does.
    pub fn new(out: &'a mut dyn Write, display: &Display, begun: &'a AtomicBool) -> Streamed<'a> {
        Streamed {
            out,
            layout: layout_of(display),
            schema: None,
            rows: 0,
            begun,
            is_early: display.mode.is_streamed(),
            failed: None,
        }
    }

    /// Ends the result, if there is one that could be written; one that is not `whole` is left without its end. Returns
    /// whether there was a result.
    pub fn finish(mut self, whole: bool) -> io::Result<bool> {
        if let Some(error) = self.failed {
            return Err(error);
        }
        if whole && let Some(schema) = self.schema.take() {
            self.begun.store(true, Ordering::Relaxed);
            if self.rows == 0 {
                self.layout.begin(self.out, &schema)?;
            }
            self.layout.end(self.out, self.rows)?;
            self.out.flush()?;
            return Ok(true);
        }
        self.out.flush()?;
        Ok(false)
    }

    fn write(&mut self, batch: &RowBatch) -> io::Result<()> {
        if self.is_early {
            self.begun.store(true, Ordering::Relaxed);
        }
        if self.rows == 0
            && let Some(schema) = &self.schema
        {
            self.layout.begin(self.out, schema)?;
        }
        self.rows += batch.rows as u64;
        self.layout.rows(self.out, batch)
    }
}

impl RowSink for Streamed<'_> {
    fn begin(&mut self, schema: &Arc<Schema>) -> Result<()> {
        self.schema = Some(schema.clone());
        Ok(())
    }

    fn rows(&mut self, batch: RowBatch) -> Result<()> {
        self.write(&batch).map_err(|error| {
            let message = format!("could not write the result: {error}");
            let told = Error::new(SqlState::of_io(&error), message);
            self.failed = Some(error);
            told
        })
    }
}
