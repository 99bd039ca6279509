//! A line a row with marks between values: `csv` as RFC 4180 has it, `list`, `tabs`, and `unaligned` with the number of
//! rows. In CSV, NULL is an empty field and the empty string a quoted one.

use super::cell::cell;
use super::{Display, Layout, Mode, count};
use frazil::{RowBatch, Schema};
use std::io::{self, Write};

/// Writes rows as they come.
pub struct Delimited {
    display: Display,
    separator: String,
}

impl Delimited {
    /// Rows of a mode.
    pub fn new(display: Display) -> Delimited {
        let own = match display.mode {
            Mode::Csv => ",",
            Mode::Tabs => "\t",
            _ => "|",
        };
        let separator = display.separator.clone().unwrap_or_else(|| own.to_owned());
        Delimited { display, separator }
    }

    fn field(&self, out: &mut dyn Write, text: &str) -> io::Result<()> {
        if self.display.mode != Mode::Csv {
            return out.write_all(text.as_bytes());
        }
        let needs_quotes = text.is_empty()
            || text == "\\."
            || text.contains(['"', '\n', '\r'])
            || (!self.separator.is_empty() && text.contains(&self.separator));
        match needs_quotes {
            true => write!(out, "\"{}\"", text.replace('"', "\"\"")),
            false => out.write_all(text.as_bytes()),
        }
    }

    fn separate(&self, out: &mut dyn Write, column: usize) -> io::Result<()> {
        match column {
            0 => Ok(()),
            _ => out.write_all(self.separator.as_bytes()),
        }
    }
}

impl Layout for Delimited {
    fn begin(&mut self, out: &mut dyn Write, schema: &Schema) -> io::Result<()> {
        if !self.display.headers {
            return Ok(());
        }
        for (i, column) in schema.columns.iter().enumerate() {
            self.separate(out, i)?;
            self.field(out, &column.name)?;
        }
        out.write_all(b"\n")
    }

    fn rows(&mut self, out: &mut dyn Write, batch: &RowBatch) -> io::Result<()> {
        for row in 0..batch.rows {
            for (i, column) in batch.columns.iter().enumerate() {
                self.separate(out, i)?;
                match cell(column, row) {
                    Some(text) => self.field(out, &text)?,
                    None => out.write_all(self.display.null().as_bytes())?,
                }
            }
            out.write_all(b"\n")?;
        }
        Ok(())
    }

    fn end(&mut self, out: &mut dyn Write, rows: u64) -> io::Result<()> {
        match self.display.mode == Mode::Unaligned && self.display.footer {
            true => writeln!(out, "{}", count(rows)),
            false => Ok(()),
        }
    }
}
