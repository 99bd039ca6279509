//! JSON: an array of objects, or an object a line, whose values are those that COPY writes: arrays and json columns are JSON's own,
//! numbers keep all their digits, NaN and infinities are strings, because JSON has no numbers for them.

use super::Layout;
use frazil::{RowBatch, Schema};
use std::io::{self, Write};

/// Writes rows as they come.
pub struct Objects {
    /// The names of the columns as JSON has them.
    names: Vec<String>,
    is_array: bool,
    is_first: bool,
}

impl Objects {
    /// An array of objects.
    pub fn array() -> Objects {
        Objects {
            names: Vec::new(),
            is_array: true,
            is_first: true,
        }
    }

    /// An object a line.
    pub fn lines() -> Objects {
        Objects {
            is_array: false,
            ..Objects::array()
        }
    }
}

impl Layout for Objects {
    fn begin(&mut self, _: &mut dyn Write, schema: &Schema) -> io::Result<()> {
        self.names = schema.columns.iter().map(|c| quoted(&c.name)).collect();
        Ok(())
    }

    fn rows(&mut self, out: &mut dyn Write, batch: &RowBatch) -> io::Result<()> {
        for row in 0..batch.rows {
            out.write_all(match (self.is_array, self.is_first) {
                (true, true) => b"[{",
                (true, false) => b",\n{",
                (false, _) => b"{",
            })?;
            self.is_first = false;
            for (i, (name, column)) in self.names.iter().zip(&batch.columns).enumerate() {
                let comma = if i > 0 { "," } else { "" };
                let value = frazil::json_of(column, row).map_err(io::Error::other)?;
                write!(out, "{comma}{name}:{value}")?;
            }
            out.write_all(if self.is_array { b"}" } else { b"}\n" })?;
        }
        Ok(())
    }

    fn end(&mut self, out: &mut dyn Write, _: u64) -> io::Result<()> {
        match (self.is_array, self.is_first) {
            (true, true) => out.write_all(b"[]\n"),
            (true, false) => out.write_all(b"]\n"),
            (false, _) => Ok(()),
        }
    }
}

fn quoted(text: &str) -> String {
    // A string always has a JSON form.
    serde_json::to_string(text).unwrap_or_default()
}
