//! Comma-separated values as RFC 4180 has them: a header, quotes where needed. NULL is an empty field,
//! the empty string a quoted one.

use super::cell;
use frazil::{RowBatch, Schema};
use std::io::{self, Write};

/// Writes the header.
pub fn begin(out: &mut dyn Write, schema: &Schema) -> io::Result<()> {
    for (i, column) in schema.columns.iter().enumerate() {
        separate(out, i)?;
        write_field(out, &column.name)?;
    }
    out.write_all(b"\n")
}

/// Writes some rows.
pub fn rows(out: &mut dyn Write, batch: &RowBatch) -> io::Result<()> {
    for row in 0..batch.rows {
        for (i, column) in batch.columns.iter().enumerate() {
            separate(out, i)?;
            if let Some(text) = cell(column, row) {
                write_field(out, &text)?;
            }
        }
        out.write_all(b"\n")?;
    }
    Ok(())
}

fn separate(out: &mut dyn Write, column: usize) -> io::Result<()> {
    if column > 0 {
        out.write_all(b",")?;
    }
    Ok(())
}

fn write_field(out: &mut dyn Write, text: &str) -> io::Result<()> {
    if text.is_empty() {
        return out.write_all(b"\"\"");
    }
    if !text.contains([',', '"', '\n', '\r']) {
        return out.write_all(text.as_bytes());
    }
    write!(out, "\"{}\"", text.replace('"', "\"\""))
}
