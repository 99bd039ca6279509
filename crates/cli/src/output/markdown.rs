//! Tables in Markdown. Cells are not padded: rows are written while they are computed.

use super::cell::cell;
use super::{Display, Layout};
use frazil::{RowBatch, Schema};
use std::io::{self, Write};

/// Writes rows as they come.
pub struct Markdown {
    display: Display,
}

impl Markdown {
    /// A table without columns yet.
    pub fn new(display: Display) -> Markdown {
        Markdown { display }
    }
}

impl Layout for Markdown {
    fn begin(&mut self, out: &mut dyn Write, schema: &Schema) -> io::Result<()> {
        let columns = &schema.columns;
        for column in columns {
            write!(out, "| {} ", escaped(&column.name))?;
        }
        out.write_all(b"|\n")?;
        for column in columns {
            out.write_all(if column.ty.is_numeric() { b"|---:" } else { b"|---" })?;
        }
        out.write_all(b"|\n")
    }

    fn rows(&mut self, out: &mut dyn Write, batch: &RowBatch) -> io::Result<()> {
        for row in 0..batch.rows {
            for column in &batch.columns {
                let text = cell(column, row);
                write!(
                    out,
                    "| {} ",
                    escaped(text.as_deref().unwrap_or(self.display.null()))
                )?;
            }
            out.write_all(b"|\n")?;
        }
        Ok(())
    }

    fn end(&mut self, _: &mut dyn Write, _: u64) -> io::Result<()> {
        Ok(())
    }
}

/// A cell is one line of Markdown.
fn escaped(text: &str) -> String {
    text.replace('|', "\\|").replace('\n', "<br>").replace('\t', " ")
}
