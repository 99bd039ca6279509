//! The expanded form of tables: a line a value, a rule above each row.

use super::cell::blanks;
use super::grid::{Column, Style};
use std::io::{self, Write};
use unicode_width::UnicodeWidthStr;

/// Terminal columns of the widest name and the widest value.
struct Widths {
    names: usize,
    values: usize,
}

/// Writes all rows.
pub fn write(out: &mut dyn Write, columns: &[Column], style: &Style) -> io::Result<()> {
    let lines = |lines: &[String]| lines.iter().map(|l| l.width()).max().unwrap_or(0);
    let widths = Widths {
        names: columns.iter().map(|c| lines(&c.name)).max().unwrap_or(0),
        values: (columns.iter().flat_map(|c| &c.cells))
            .map(|cell| lines(cell))
            .max()
            .unwrap_or(0),
    };
    let rows = columns.first().map_or(0, |c| c.cells.len());
    for row in 0..rows {
        let label = format!("[ RECORD {} ]", row + 1);
        let which = if row == 0 { 0 } else { 1 };
        rule(out, style, &widths, &label, which)?;
        for column in columns {
            value(out, style, &widths, column, row)?;
        }
    }
    match style.outside && rows > 0 {
        true => rule(out, style, &widths, "", 2),
        false => Ok(()),
    }
}

/// A rule with a label in it; the label hides the crossing if it reaches so far. `which`: the corners' line.
fn rule(out: &mut dyn Write, style: &Style, widths: &Widths, label: &str, which: usize) -> io::Result<()> {
    let [left, middle, right] = style.corners[which];
    // Where the line between names and values crosses, counted from the rule's first horizontal.
    let crossing = widths.names + if style.outside { 2 } else { 1 };
    let whole = crossing + widths.values + if style.outside { 3 } else { 2 };
    let mut line = format!("{}{label}", style.horizontal);
    // Between two ends there is a horizontal behind the label, however long it is.
    let end = whole - usize::from(style.outside);
    for at in 1 + label.width()..end {
        line.push_str(if at == crossing { middle } else { style.horizontal });
    }
    match style.outside {
        true => writeln!(out, "{left}{line}{}{right}", style.horizontal),
        false => writeln!(out, "{line}"),
    }
}

fn value(out: &mut dyn Write, style: &Style, widths: &Widths, column: &Column, row: usize) -> io::Result<()> {
    let cell = &column.cells[row];
    let vertical = style.vertical;
    for line in 0..cell.len().max(column.name.len()) {
        let name = column.name.get(line).map_or("", String::as_str);
        let name_mark = if line + 1 < column.name.len() {
            style.goes_on
        } else {
            " "
        };
        let text = cell.get(line).map_or("", String::as_str);
        let goes_on = line + 1 < cell.len();
        let mark = if goes_on { style.goes_on } else { " " };
        let (name_blank, blank) = (blanks(name, widths.names), blanks(text, widths.values));
        match (style.outside, goes_on) {
            (true, _) => writeln!(
                out,
                "{vertical} {name}{name_blank}{name_mark}{vertical} {text}{blank}{mark}{vertical}"
            )?,
            (false, true) => writeln!(out, "{name}{name_blank}{name_mark}{vertical} {text}{blank}{mark}")?,
            (false, false) => writeln!(out, "{name}{name_blank}{name_mark}{vertical} {text}")?,
        }
    }
    Ok(())
}
