//! Tables drawn with lines, numbers to the right.

use super::{cell, one_line};
use frazil::Rows;
use std::borrow::Cow;
use std::io::{self, Write};
use unicode_width::UnicodeWidthStr;

const NULL: &str = "NULL";

struct Column {
    name: String,
    right: bool,
    width: usize,
    cells: Vec<String>,
}

fn columns(rows: &Rows, limit: Option<usize>) -> Vec<Column> {
    let limit = limit.unwrap_or(usize::MAX);
    (rows.schema().columns.iter().enumerate())
        .map(|(i, definition)| {
            let mut cells = Vec::with_capacity(rows.len().min(limit));
            for batch in rows.batches() {
                let take = batch.rows.min(limit - cells.len());
                let column = &batch.columns[i];
                let text = |row| cell(column, row).unwrap_or(Cow::Borrowed(NULL));
                cells.extend((0..take).map(|row| one_line(text(row)).into_owned()));
            }
            let widest = cells.iter().map(|c| c.width()).max().unwrap_or(0);
            Column {
                name: definition.name.clone(),
                right: definition.ty.is_numeric(),
                width: widest.max(definition.name.width()),
                cells,
            }
        })
        .collect()
}

/// Writes a table with a line a row.
pub fn write(out: &mut dyn Write, rows: &Rows, limit: Option<usize>) -> io::Result<()> {
    let columns = columns(rows, limit);
    let rule = |left: &str, middle: &str, right: &str| {
        let parts: Vec<String> = columns.iter().map(|c| "─".repeat(c.width + 2)).collect();
        format!("{left}{}{right}\n", parts.join(middle))
    };
    out.write_all(rule("┌", "┬", "┐").as_bytes())?;
    for column in &columns {
        write!(out, "│ {} ", padded(&column.name, column.width, column.right))?;
    }
    out.write_all("│\n".as_bytes())?;
    out.write_all(rule("├", "┼", "┤").as_bytes())?;
    let shown = columns.first().map_or(0, |c| c.cells.len());
    for row in 0..shown {
        for column in &columns {
            write!(
                out,
                "│ {} ",
                padded(&column.cells[row], column.width, column.right)
            )?;
        }
        out.write_all("│\n".as_bytes())?;
    }
    out.write_all(rule("└", "┴", "┘").as_bytes())?;
    write_count(out, rows.len(), shown)
}

/// Writes a line a value, record by record.
pub fn write_expanded(out: &mut dyn Write, rows: &Rows, limit: Option<usize>) -> io::Result<()> {
    let columns = columns(rows, limit);
    let names = columns.iter().map(|c| c.name.width()).max().unwrap_or(0);
    let shown = columns.first().map_or(0, |c| c.cells.len());
    for row in 0..shown {
        writeln!(out, "─[ row {} ]─", row + 1)?;
        for column in &columns {
            writeln!(
                out,
                "{} │ {}",
                padded(&column.name, names, false),
                column.cells[row]
            )?;
        }
    }
    write_count(out, rows.len(), shown)
}

fn write_count(out: &mut dyn Write, rows: usize, shown: usize) -> io::Result<()> {
    let noun = if rows == 1 { "row" } else { "rows" };
    match shown < rows {
        true => writeln!(
            out,
            "({rows} {noun}, the first {shown} shown; .maxrows 0 shows all)"
        ),
        false => writeln!(out, "({rows} {noun})"),
    }
}

fn padded(text: &str, width: usize, right: bool) -> String {
    let blank = " ".repeat(width.saturating_sub(text.width()));
    match right {
        true => format!("{blank}{text}"),
        false => format!("{text}{blank}"),
    }
}
