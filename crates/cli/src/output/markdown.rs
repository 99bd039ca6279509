//! Tables in Markdown.

use super::{cell, one_line};
use frazil::{RowBatch, Schema};
use std::borrow::Cow;
use std::io::{self, Write};

/// Writes the header.
pub fn begin(out: &mut dyn Write, schema: &Schema) -> io::Result<()> {
    let columns = &schema.columns;
    for column in columns {
        write!(out, "| {} ", escaped(Cow::Borrowed(&column.name)))?;
    }
    out.write_all(b"|\n")?;
    for column in columns {
        out.write_all(if column.ty.is_numeric() { b"|---:" } else { b"|---" })?;
    }
    out.write_all(b"|\n")
}

/// Writes some rows.
pub fn rows(out: &mut dyn Write, batch: &RowBatch) -> io::Result<()> {
    for row in 0..batch.rows {
        for column in &batch.columns {
            let text = cell(column, row).unwrap_or(Cow::Borrowed("NULL"));
            write!(out, "| {} ", escaped(text))?;
        }
        out.write_all(b"|\n")?;
    }
    Ok(())
}

fn escaped(text: Cow<'_, str>) -> String {
    one_line(text).replace('|', "\\|")
}
