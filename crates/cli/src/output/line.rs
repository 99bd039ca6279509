//! A line a value, `name = value`, as sqlite3 writes it; an empty line between rows.

use super::cell::{blanks, cell};
use super::{Display, Layout};
use frazil::{RowBatch, Schema};
use std::io::{self, Write};
use unicode_width::UnicodeWidthStr;

/// Terminal columns that names have at least.
const LEAST: usize = 5;

/// Writes rows as they come.
pub struct Lines {
    display: Display,
    /// Names, to the right of equal room.
    names: Vec<String>,
    is_first: bool,
}

impl Lines {
    /// No rows yet.
    pub fn new(display: Display) -> Lines {
        Lines {
            display,
            names: Vec::new(),
            is_first: true,
        }
    }
}

impl Layout for Lines {
    fn begin(&mut self, _: &mut dyn Write, schema: &Schema) -> io::Result<()> {
        let widest = schema.columns.iter().map(|c| c.name.width()).max();
        let width = widest.unwrap_or(0).max(LEAST);
        let names = schema.columns.iter().map(|c| blanks(&c.name, width) + &c.name);
        self.names = names.collect();
        Ok(())
    }

    fn rows(&mut self, out: &mut dyn Write, batch: &RowBatch) -> io::Result<()> {
        for row in 0..batch.rows {
            if !self.is_first {
                writeln!(out)?;
            }
            self.is_first = false;
            for (name, column) in self.names.iter().zip(&batch.columns) {
                let text = cell(column, row);
                writeln!(out, "{name} = {}", text.as_deref().unwrap_or(self.display.null()))?;
            }
        }
        Ok(())
    }

    fn end(&mut self, _: &mut dyn Write, _: u64) -> io::Result<()> {
        Ok(())
    }
}
