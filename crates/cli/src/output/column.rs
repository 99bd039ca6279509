//! Columns of fixed width under a header, as sqlite3 writes them.

use super::cell::{blanks, cell, lines, wrap};
use super::{Display, Layout};
use frazil::{RowBatch, Schema};
use std::io::{self, Write};
use unicode_width::UnicodeWidthStr;

/// Holds rows until the widest is known.
pub struct Columns {
    display: Display,
    names: Vec<String>,
    /// The lines of each value, row by row.
    rows: Vec<Vec<Vec<String>>>,
}

impl Columns {
    /// No columns yet.
    pub fn new(display: Display) -> Columns {
        Columns {
            display,
            names: Vec::new(),
            rows: Vec::new(),
        }
    }

    /// The lines of a value; a line break at its end is not seen.
    fn lines(&self, index: usize, text: &str) -> Vec<String> {
        let lines = lines(text.strip_suffix('\n').unwrap_or(text));
        match self.display.width(index) {
            Some((width, _)) => lines.iter().flat_map(|line| wrap(line, width)).collect(),
            None => lines,
        }
    }

    /// Terminal columns of each column.
    fn widths(&self) -> Vec<usize> {
        let widest = |i: usize| {
            let values = self.rows.iter().flat_map(|row| &row[i]).map(|l| l.width());
            let name = if self.display.headers {
                self.names[i].width()
            } else {
                0
            };
            values.max().unwrap_or(0).max(name)
        };
        (0..self.names.len())
            .map(|i| self.display.width(i).map_or_else(|| widest(i), |w| w.0))
            .collect()
    }

    fn write_row(&self, out: &mut dyn Write, widths: &[usize], row: &[Vec<String>]) -> io::Result<()> {
        let height = row.iter().map(Vec::len).max().unwrap_or(0);
        for line in 0..height {
            for (i, (width, cell)) in widths.iter().zip(row).enumerate() {
                let text = cell.get(line).map_or("", String::as_str);
                let blank = blanks(text, *width);
                let between = if i > 0 { "  " } else { "" };
                match self.display.width(i).is_some_and(|w| w.1) {
                    true => write!(out, "{between}{blank}{text}")?,
                    false => write!(out, "{between}{text}{blank}")?,
                }
            }
            writeln!(out)?;
        }
        Ok(())
    }
}

impl Layout for Columns {
    fn begin(&mut self, _: &mut dyn Write, schema: &Schema) -> io::Result<()> {
        self.names = schema.columns.iter().map(|c| c.name.clone()).collect();
        Ok(())
    }

    fn rows(&mut self, _: &mut dyn Write, batch: &RowBatch) -> io::Result<()> {
        let most = self.display.max_rows.unwrap_or(usize::MAX);
        for row in 0..batch.rows.min(most - self.rows.len()) {
            let columns = batch.columns.iter().enumerate();
            let cells = columns.map(|(i, column)| match cell(column, row) {
                Some(text) => self.lines(i, &text),
                None => self.lines(i, self.display.null()),
            });
            self.rows.push(cells.collect());
        }
        Ok(())
    }

    fn end(&mut self, out: &mut dyn Write, rows: u64) -> io::Result<()> {
        let widths = self.widths();
        if self.display.headers {
            let names = self.names.iter().enumerate();
            let names: Vec<Vec<String>> = names.map(|(i, name)| self.lines(i, name)).collect();
            self.write_row(out, &widths, &names)?;
            let rules: Vec<String> = widths.iter().map(|w| "-".repeat(*w)).collect();
            writeln!(out, "{}", rules.join("  "))?;
        }
        (self.rows.iter()).try_for_each(|row| self.write_row(out, &widths, row))?;
        match (self.rows.len() as u64) < rows {
            true => writeln!(out, "({rows} rows, the first {} shown)", self.rows.len()),
            false => Ok(()),
        }
    }
}
