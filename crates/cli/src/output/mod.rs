//! How results are written.

mod box_table;
mod csv;
mod json;
mod markdown;

use clap::ValueEnum;
use frazil::{ColumnVector, LogicalType, Rows};
use std::borrow::Cow;
use std::io::{self, Write};

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

/// Writes `rows`.
pub fn write_rows(out: &mut dyn Write, rows: &Rows, format: Format) -> io::Result<()> {
    match format.mode {
        Mode::Box if format.expanded => box_table::write_expanded(out, rows, format.max_rows),
        Mode::Box => box_table::write(out, rows, format.max_rows),
        Mode::Csv => csv::write(out, rows),
        Mode::Json => json::write(out, rows),
        Mode::Markdown => markdown::write(out, rows),
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
