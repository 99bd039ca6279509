//! Values as SQL literals: `quote`, and `insert` with a statement a row. Frazil and PostgreSQL read both.

use super::cell::cell;
use super::{Display, Layout, Mode};
use frazil::{ColumnVector, RawValue as Value, RowBatch, Schema};
use std::io::{self, Write};

/// Writes rows as they come.
pub struct Literals {
    display: Display,
    /// `INSERT INTO t(a,b) VALUES(`, or nothing.
    before: String,
}

impl Literals {
    /// Rows of a mode.
    pub fn new(display: Display) -> Literals {
        Literals {
            display,
            before: String::new(),
        }
    }
}

impl Layout for Literals {
    fn begin(&mut self, out: &mut dyn Write, schema: &Schema) -> io::Result<()> {
        let is_insert = self.display.mode == Mode::Insert;
        if is_insert {
            let names: Vec<String> = schema
                .columns
                .iter()
                .map(|c| frazil::identifier(&c.name))
                .collect();
            let table = &self.display.table;
            self.before = match self.display.headers {
                true => format!("INSERT INTO {table}({}) VALUES(", names.join(",")),
                false => format!("INSERT INTO {table} VALUES("),
            };
        } else if self.display.headers {
            let names: Vec<String> = schema.columns.iter().map(|c| quoted(&c.name)).collect();
            writeln!(out, "{}", names.join(","))?;
        }
        Ok(())
    }

    fn rows(&mut self, out: &mut dyn Write, batch: &RowBatch) -> io::Result<()> {
        let after = if self.before.is_empty() { "" } else { ");" };
        for row in 0..batch.rows {
            write!(out, "{}", self.before)?;
            for (i, column) in batch.columns.iter().enumerate() {
                let comma = if i > 0 { "," } else { "" };
                write!(out, "{comma}{}", literal(column, row))?;
            }
            writeln!(out, "{after}")?;
        }
        Ok(())
    }

    fn end(&mut self, _: &mut dyn Write, _: u64) -> io::Result<()> {
        Ok(())
    }
}

/// A value as an SQL literal.
fn literal(column: &ColumnVector, row: usize) -> String {
    let Some(text) = cell(column, row) else {
        return "NULL".to_owned();
    };
    let bare = match column.value(row) {
        Value::Bool(b) => return b.to_string(),
        // A number of the text -0 is a whole one, which has no such zero.
        Value::Double(d) => d.is_finite() && !(d == 0.0 && d.is_sign_negative()),
        Value::Int(_) => column.ty().is_numeric(),
        _ => false,
    };
    match column.ty() {
        _ if bare => text.into_owned(),
        _ => quoted(&text),
    }
}

/// A text as a literal. Lines that end in `\r\n` are read as lines: there `\r` is written as such.
fn quoted(text: &str) -> String {
    let doubled = text.replace('\'', "''");
    match text.contains('\r') {
        true => format!("e'{}'", doubled.replace('\\', "\\\\").replace('\r', "\\r")),
        false => format!("'{doubled}'"),
    }
}
