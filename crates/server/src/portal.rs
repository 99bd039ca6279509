//! Portals: statements with their values, run as a whole or some rows at a time.
//!
//! A portal that is run for some rows keeps its whole result and hands it out in parts. One that is run for all rows
//! keeps none.

use crate::parameters::Formats;
use crate::rows::RowSender;
use frazil::{Described, Result, RowSink, Rows, TypedStatement};
use frazil_types::Value;
use std::sync::Arc;

/// A statement with its values.
pub struct Portal {
    /// The statement; `None` for an empty text.
    pub statement: Option<TypedStatement>,
    /// The values of its parameters.
    pub values: Vec<Value>,
    /// The formats of its rows' values.
    pub formats: Formats,
    /// The form of its result.
    pub described: Arc<Described>,
    /// Its progress.
    pub state: State,
}

/// The progress of a portal.
pub enum State {
    /// It has not run.
    Ready,
    /// It ran, and these rows are left.
    Held(Held),
    /// It ran, and no rows are left.
    Done,
}

/// Rows that are handed out in parts.
pub struct Held {
    rows: Rows,
    /// Position of the next row: a batch, and a row in it.
    batch: usize,
    row: usize,
}

impl Held {
    /// The rows of a result.
    pub fn new(rows: Rows) -> Held {
        Held {
            rows,
            batch: 0,
            row: 0,
        }
    }

    /// The command that gave the rows.
    pub fn tag(&self) -> &'static str {
        self.rows.tag()
    }

    /// Sends at most `most` rows, 0: all. Returns the number of rows sent.
    pub fn send(&mut self, sender: &mut RowSender<'_>, most: u32) -> Result<u64> {
        sender.begin(&Arc::new(self.rows.schema().clone()))?;
        let most = if most == 0 { u64::MAX } else { most.into() };
        let mut sent = 0;
        while sent < most && !self.is_empty() {
            let batch = &self.rows.batches()[self.batch];
            let count = (batch.rows - self.row).min(usize::try_from(most - sent).unwrap_or(usize::MAX));
            sender.part(batch, self.row..self.row + count)?;
            self.row += count;
            sent += count as u64;
        }
        Ok(sent)
    }

    /// True if no row is left; else the position is that of the next row.
    pub fn is_empty(&mut self) -> bool {
        while let Some(batch) = self.rows.batches().get(self.batch) {
            if self.row < batch.rows {
                return false;
            }
            (self.batch, self.row) = (self.batch + 1, 0);
        }
        true
    }
}
