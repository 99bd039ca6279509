//! A tabular of LaTeX, as psql writes it.

use super::cell::cell;
use super::{Display, Layout, count};
use frazil::{RowBatch, Schema};
use std::io::{self, Write};

/// Writes rows as they come.
pub struct Latex {
    display: Display,
}

impl Latex {
    /// A tabular without columns yet.
    pub fn new(display: Display) -> Latex {
        Latex { display }
    }
}

impl Layout for Latex {
    fn begin(&mut self, out: &mut dyn Write, schema: &Schema) -> io::Result<()> {
        let aligns = schema
            .columns
            .iter()
            .map(|c| if c.ty.is_numeric() { "r" } else { "l" });
        let aligns: Vec<&str> = aligns.collect();
        writeln!(out, "\\begin{{tabular}}{{{}}}", aligns.join(" | "))?;
        if !self.display.headers {
            return Ok(());
        }
        let names = schema
            .columns
            .iter()
            .map(|c| format!("\\textit{{{}}}", escaped(&c.name)));
        let names: Vec<String> = names.collect();
        writeln!(out, "{} \\\\\n\\hline", names.join(" & "))
    }

    fn rows(&mut self, out: &mut dyn Write, batch: &RowBatch) -> io::Result<()> {
        for row in 0..batch.rows {
            for (i, column) in batch.columns.iter().enumerate() {
                let between = if i > 0 { " & " } else { "" };
                let text = cell(column, row);
                let text = text.as_deref().unwrap_or(self.display.null());
                write!(out, "{between}{}", escaped(text))?;
            }
            writeln!(out, " \\\\")?;
        }
        Ok(())
    }

    fn end(&mut self, out: &mut dyn Write, rows: u64) -> io::Result<()> {
        writeln!(out, "\\end{{tabular}}\n")?;
        match self.display.footer {
            true => writeln!(out, "\\noindent {} \\\\\n", count(rows)),
            false => Ok(()),
        }
    }
}

fn escaped(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for c in text.chars() {
        match c {
            '#' | '$' | '%' | '&' | '_' | '{' | '}' => {
                out.push('\\');
                out.push(c);
            }
            '<' => out.push_str("\\textless{}"),
            '>' => out.push_str("\\textgreater{}"),
            '\\' => out.push_str("\\textbackslash{}"),
            '^' => out.push_str("\\^{}"),
            '|' => out.push_str("\\textbar{}"),
            '~' => out.push_str("\\~{}"),
            '\n' => out.push_str("\\\\"),
            c => out.push(c),
        }
    }
    out
}
