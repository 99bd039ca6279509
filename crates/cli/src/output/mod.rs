//! How results are written.

mod box_table;
mod csv;
mod json;
mod markdown;

use clap::ValueEnum;
use frazil::{ColumnVector, Error, LogicalType, Result, RowBatch, RowSink, Rows, Schema, SqlState};
use std::borrow::Cow;
use std::io::{self, Write};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

/// A format of results.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum Mode {
    /// A table drawn with lines
    Box,
    /// Comma-separated values with a header
    Csv,
    /// A JSON array of objects
    Json,
    /// A table in Markdown
    Markdown,
}

/// Format and its options.
#[derive(Clone, Copy, Debug)]
pub struct Format {
    /// The format.
    pub mode: Mode,
    /// One line a value instead of one a row (box only).
    pub expanded: bool,
    /// Most rows shown; all if `None` (box only).
    pub max_rows: Option<usize>,
}

impl Mode {
    /// Whether rows are written while they are computed. A box is as wide as its widest value: it has to know all.
    pub fn is_streamed(self) -> bool {
        self != Mode::Box
    }
}

/// Writes `rows` as a box.
pub fn write_box(out: &mut dyn Write, rows: &Rows, format: Format) -> io::Result<()> {
    match format.expanded {
        true => box_table::write_expanded(out, rows, format.max_rows),
        false => box_table::write(out, rows, format.max_rows),
    }
}

/// Writes a result while it is computed.
pub struct Streamed<'a> {
    out: &'a mut dyn Write,
    mode: Mode,
    schema: Option<Arc<Schema>>,
    /// Names of the columns as JSON has them.
    names: Vec<String>,
    /// Set once something is written.
    begun: &'a AtomicBool,
    /// Why the rest could not be written.
    failed: Option<io::Error>,
}

impl<'a> Streamed<'a> {
    /// Writes to `out`, and sets `begun` before it does.
    pub fn new(out: &'a mut dyn Write, mode: Mode, begun: &'a AtomicBool) -> Streamed<'a> {
        Streamed {
            out,
            mode,
            schema: None,
            names: Vec::new(),
            begun,
            failed: None,
        }
    }

    /// Ends the result, if there is one that could be written; one that is not `whole` is left without its end.
    pub fn finish(mut self, whole: bool) -> io::Result<()> {
        if let Some(error) = self.failed {
            return Err(error);
        }
        if whole && let Some(schema) = self.schema.clone() {
            let is_empty = !self.begun.load(Ordering::Relaxed);
            if is_empty {
                self.header(&schema)?;
            }
            if self.mode == Mode::Json {
                json::end(self.out, is_empty)?;
            }
        }
        self.out.flush()
    }

    fn header(&mut self, schema: &Schema) -> io::Result<()> {
        match self.mode {
            Mode::Csv => csv::begin(self.out, schema),
            Mode::Markdown => markdown::begin(self.out, schema),
            Mode::Json | Mode::Box => Ok(()),
        }
    }

    fn write(&mut self, schema: &Schema, batch: &RowBatch) -> io::Result<()> {
        let is_first = !self.begun.swap(true, Ordering::Relaxed);
        if is_first {
            self.header(schema)?;
        }
        match self.mode {
            Mode::Csv => csv::rows(self.out, batch),
            Mode::Markdown => markdown::rows(self.out, batch),
            Mode::Json => json::rows(self.out, &self.names, batch, is_first),
            Mode::Box => Ok(()),
        }
    }
}

impl RowSink for Streamed<'_> {
    fn begin(&mut self, schema: &Arc<Schema>) -> Result<()> {
        self.names = json::names(schema);
        self.schema = Some(schema.clone());
        Ok(())
    }

    fn rows(&mut self, batch: RowBatch) -> Result<()> {
        let Some(schema) = self.schema.clone() else {
            return Ok(());
        };
        self.write(&schema, &batch).map_err(|error| {
            let told = Error::new(SqlState::IO_ERROR, format!("could not write the result: {error}"));
            self.failed = Some(error);
            told
        })
    }
}

/// The text of a value; `None` for NULL.
fn cell(column: &ColumnVector, row: usize) -> Option<Cow<'_, str>> {
    if column.is_null(row) {
        return None;
    }
    let ty = column.ty();
    if ty.is_string() && ty != LogicalType::Char(1) {
        return Some(Cow::Borrowed(column.text(row)));
    }
    Some(Cow::Owned(column.value(row).display(ty).to_string()))
}

/// Text without line breaks and other control characters, for tables.
fn one_line(text: Cow<'_, str>) -> Cow<'_, str> {
    if !text.contains(|c: char| c.is_control()) {
        return text;
    }
    let visible = text.chars().map(|c| match c {
        '\n' => '↵',
        '\t' => ' ',
        c if c.is_control() => '\u{fffd}',
        c => c,
    });
    Cow::Owned(visible.collect())
}
