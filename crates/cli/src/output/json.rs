//! A JSON array of objects. Numbers keep all their digits; NaN and infinities are strings, as JSON has
//! none.

use super::cell;
use frazil::{ColumnVector, LogicalType, RowBatch, Schema, Value};
use std::io::{self, Write};

/// The names of columns as JSON has them.
pub fn names(schema: &Schema) -> Vec<String> {
    schema.columns.iter().map(|c| quoted(&c.name)).collect()
}

/// Writes some rows; `first` says that none was written before.
pub fn rows(out: &mut dyn Write, names: &[String], batch: &RowBatch, mut first: bool) -> io::Result<()> {
    for row in 0..batch.rows {
        out.write_all(if first { b"[\n {" } else { b",\n {" })?;
        first = false;
        for (i, (name, column)) in names.iter().zip(&batch.columns).enumerate() {
            let comma = if i > 0 { ", " } else { "" };
            write!(out, "{comma}{name}: {}", value(column, row))?;
        }
        out.write_all(b"}")?;
    }
    Ok(())
}

/// Writes the end; `first` says that no row was written.
pub fn end(out: &mut dyn Write, first: bool) -> io::Result<()> {
    out.write_all(if first { b"[]\n" } else { b"\n]\n" })
}

fn value(column: &ColumnVector, row: usize) -> String {
    let Some(text) = cell(column, row) else {
        return "null".to_owned();
    };
    let bare = match column.value(row) {
        Value::Bool(b) => return b.to_string(),
        Value::Double(d) => d.is_finite(),
        Value::Int(_) => column.ty().is_numeric() && column.ty() != LogicalType::Double,
        _ => false,
    };
    if bare { text.into_owned() } else { quoted(&text) }
}

fn quoted(text: &str) -> String {
    // A string always has a JSON form.
    serde_json::to_string(text).unwrap_or_default()
}
