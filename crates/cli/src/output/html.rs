//! A table in HTML, as psql writes it.

use super::cell::cell;
use super::{Display, Layout, count};
use frazil::{RowBatch, Schema};
use std::io::{self, Write};

/// Writes rows as they come.
pub struct Html {
    display: Display,
    /// Where the values of each column stand.
    aligns: Vec<&'static str>,
}

impl Html {
    /// A table without columns yet.
    pub fn new(display: Display) -> Html {
        Html {
            display,
            aligns: Vec::new(),
        }
    }
}

impl Layout for Html {
    fn begin(&mut self, out: &mut dyn Write, schema: &Schema) -> io::Result<()> {
        let aligns = schema.columns.iter().map(|c| match c.ty.is_numeric() {
            true => "right",
            false => "left",
        });
        self.aligns = aligns.collect();
        writeln!(out, "<table border=\"1\">")?;
        if !self.display.headers {
            return Ok(());
        }
        writeln!(out, "  <tr>")?;
        for column in &schema.columns {
            writeln!(out, "    <th align=\"center\">{}</th>", escaped(&column.name))?;
        }
        writeln!(out, "  </tr>")
    }

    fn rows(&mut self, out: &mut dyn Write, batch: &RowBatch) -> io::Result<()> {
        for row in 0..batch.rows {
            writeln!(out, "  <tr valign=\"top\">")?;
            for (align, column) in self.aligns.iter().zip(&batch.columns) {
                let text = cell(column, row);
                let text = text.as_deref().unwrap_or(self.display.null());
                // A cell that shows nothing would lose its border.
                match text.trim_matches(' ').is_empty() {
                    true => writeln!(out, "    <td align=\"{align}\">&nbsp; </td>")?,
                    false => writeln!(out, "    <td align=\"{align}\">{}</td>", escaped(text))?,
                }
            }
            writeln!(out, "  </tr>")?;
        }
        Ok(())
    }

    fn end(&mut self, out: &mut dyn Write, rows: u64) -> io::Result<()> {
        writeln!(out, "</table>")?;
        match self.display.footer {
            true => writeln!(out, "<p>{}<br />\n</p>", count(rows)),
            false => Ok(()),
        }
    }
}

fn escaped(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    let mut is_leading = true;
    for c in text.chars() {
        match c {
            '<' => out.push_str("&lt;"),
            '>' => out.push_str("&gt;"),
            '&' => out.push_str("&amp;"),
            '"' => out.push_str("&quot;"),
            '\n' => out.push_str("<br />\n"),
            ' ' if is_leading => out.push_str("&nbsp;"),
            c => out.push(c),
        }
        is_leading = is_leading && c == ' ';
    }
    out
}
