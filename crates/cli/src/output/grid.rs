//! Tables as psql draws them: `aligned` (its border 1), `table` (border 2) and `box` (border 2 in Unicode).

use super::cell::{blanks, cell, lines, wrap};
use super::fitting::{cut, fitted};
use super::{Display, Expanded, Layout, Mode, count, records};
use frazil::{RowBatch, Schema};
use std::io::{self, Write};
use unicode_width::UnicodeWidthStr;

/// What tables are drawn with.
pub struct Style {
    /// A horizontal line.
    pub horizontal: &'static str,
    /// A vertical line.
    pub vertical: &'static str,
    /// Left end, crossing and right end of the line above, below the header and below the rows.
    pub corners: [[&'static str; 3]; 3],
    /// Behind a line of a value that goes on in the next.
    pub goes_on: &'static str,
    /// Whether there are lines around the table.
    pub outside: bool,
}

const ASCII: Style = Style {
    horizontal: "-",
    vertical: "|",
    corners: [["+", "+", "+"]; 3],
    goes_on: "+",
    outside: false,
};

const ASCII_OUTSIDE: Style = Style {
    outside: true,
    ..ASCII
};

const UNICODE: Style = Style {
    horizontal: "─",
    vertical: "│",
    corners: [["┌", "┬", "┐"], ["├", "┼", "┤"], ["└", "┴", "┘"]],
    goes_on: "↵",
    outside: true,
};

/// A column with the lines of each of its cells.
pub struct Column {
    /// The lines of its name.
    pub name: Vec<String>,
    /// Its type, where types are shown.
    ty: Option<String>,
    /// Whether values stand to the right.
    pub right: bool,
    /// Terminal columns of the widest line.
    pub width: usize,
    /// Terminal columns that lines are cut to, if somebody said so.
    most: Option<usize>,
    /// The lines of each row's value.
    pub cells: Vec<Vec<String>>,
}

/// Holds rows until the widest is known.
pub struct Grid {
    display: Display,
    columns: Vec<Column>,
}

impl Column {
    fn new(name: &str, is_numeric: bool, wanted: Option<(usize, bool)>, ty: Option<String>) -> Column {
        let name = lines(name);
        let width = name.iter().chain(&ty).map(|l| l.width()).max().unwrap_or(0);
        Column {
            width: width.max(wanted.map_or(0, |w| w.0)),
            name,
            ty,
            right: wanted.map_or(is_numeric, |w| w.1 || is_numeric),
            most: wanted.map(|w| w.0),
            cells: Vec::new(),
        }
    }

    /// A column of one text in all rows and the header.
    pub fn of_texts(text: &str, rows: usize) -> Column {
        let mut column = Column::new(text, false, None, None);
        column.cells = vec![vec![text.to_owned()]; rows];
        column
    }

    /// The column with at most `most` terminal columns.
    pub fn cut(&self, most: usize) -> Column {
        let cut_all = |lines: &Vec<String>| lines.iter().map(|line| cut(line, most)).collect();
        Column {
            name: cut_all(&self.name),
            ty: self.ty.as_ref().map(|ty| cut(ty, most)),
            right: self.right,
            width: self.width.min(most),
            most: self.most,
            cells: self.cells.iter().map(cut_all).collect(),
        }
    }

    fn push(&mut self, text: &str) {
        let mut lines = lines(text);
        if let Some(most) = self.most {
            lines = lines.iter().flat_map(|line| wrap(line, most)).collect();
        }
        let widest = lines.iter().map(|l| l.width()).max().unwrap_or(0);
        self.width = self.width.max(widest);
        self.cells.push(lines);
    }
}

impl Grid {
    /// An empty table.
    pub fn new(display: Display) -> Grid {
        Grid {
            display,
            columns: Vec::new(),
        }
    }

    fn style(&self) -> &'static Style {
        match self.display.mode {
            Mode::Box => &UNICODE,
            Mode::Table => &ASCII_OUTSIDE,
            _ => &ASCII,
        }
    }

    fn is_expanded(&self) -> bool {
        let width = || self.columns.iter().map(|c| c.width + 3).sum::<usize>();
        match self.display.expanded {
            Expanded::Off => false,
            Expanded::On => true,
            Expanded::Auto => self.display.terminal.is_some_and(|terminal| width() > terminal),
        }
    }

    fn shown(&self) -> usize {
        self.columns.first().map_or(0, |c| c.cells.len())
    }

    fn write(&self, out: &mut dyn Write) -> io::Result<()> {
        let style = self.style();
        let wide = |c: &Column| style.horizontal.repeat(c.width + 2);
        let parts: Vec<String> = self.columns.iter().map(wide).collect();
        let rule = |which: usize| {
            let [left, middle, right] = match style.outside {
                true => style.corners[which],
                false => ["", style.corners[which][1], ""],
            };
            format!("{left}{}{right}\n", parts.join(middle))
        };
        if style.outside {
            out.write_all(rule(0).as_bytes())?;
        }
        if self.display.headers {
            self.write_header(out, style)?;
            if self.display.types {
                self.write_types(out, style)?;
            }
            out.write_all(rule(1).as_bytes())?;
        }
        (0..self.shown()).try_for_each(|row| self.write_row(out, style, row))?;
        if style.outside {
            out.write_all(rule(2).as_bytes())?;
        }
        Ok(())
    }

    /// Writes the table such that it fits the terminal, and what is left out of it.
    fn write_fitted(&mut self, out: &mut dyn Write, rows: u64) -> io::Result<()> {
        let frame = if self.style().outside { 1 } else { -1 };
        let fitted = (self.display.room()).and_then(|room| fitted(&self.columns, room, frame));
        let all = self.columns.len();
        let left_out = match fitted {
            Some((columns, left_out)) => {
                self.columns = columns;
                left_out
            }
            None => 0,
        };
        self.write(out)?;
        self.write_count(out, rows)?;
        match left_out > 0 && self.display.footer {
            true => writeln!(
                out,
                "({} of {all} columns shown; \\x or .maxwidth 0 shows all)",
                all - left_out
            ),
            false => Ok(()),
        }
    }

    fn write_header(&self, out: &mut dyn Write, style: &Style) -> io::Result<()> {
        let height = self.columns.iter().map(|c| c.name.len()).max().unwrap_or(0);
        for line in 0..height {
            let cells = self.columns.iter().map(|column| {
                let text = column.name.get(line).map_or("", String::as_str);
                let room = column.width - text.width();
                let mark = if line + 1 < column.name.len() {
                    style.goes_on
                } else {
                    " "
                };
                let (left, right) = (" ".repeat(room / 2), " ".repeat(room.div_ceil(2)));
                format!(" {left}{text}{right}{mark}")
            });
            let line = cells.collect::<Vec<_>>().join(style.vertical);
            match style.outside {
                true => writeln!(out, "{0}{line}{0}", style.vertical)?,
                false => writeln!(out, "{line}")?,
            }
        }
        Ok(())
    }

    /// A line of the header in which every text is short enough.
    fn write_types(&self, out: &mut dyn Write, style: &Style) -> io::Result<()> {
        let cells = self.columns.iter().map(|column| {
            let text = column.ty.as_deref().unwrap_or("");
            let room = column.width - text.width();
            let (left, right) = (" ".repeat(room / 2), " ".repeat(room.div_ceil(2)));
            format!(" {left}{text}{right} ")
        });
        let line = cells.collect::<Vec<_>>().join(style.vertical);
        match style.outside {
            true => writeln!(out, "{0}{line}{0}", style.vertical),
            false => writeln!(out, "{line}"),
        }
    }

    fn write_row(&self, out: &mut dyn Write, style: &Style, row: usize) -> io::Result<()> {
        let height = self.columns.iter().map(|c| c.cells[row].len()).max().unwrap_or(0);
        let last = self.columns.len() - 1;
        for line in 0..height {
            if style.outside {
                write!(out, "{}", style.vertical)?;
            }
            for (i, column) in self.columns.iter().enumerate() {
                let cell = &column.cells[row];
                let text = cell.get(line).map_or("", String::as_str);
                let blank = blanks(text, column.width);
                let goes_on = line + 1 < cell.len();
                let is_padded = style.outside || i < last || goes_on;
                match (column.right && line < cell.len(), is_padded) {
                    (true, _) => write!(out, " {blank}{text}")?,
                    (false, true) => write!(out, " {text}{blank}")?,
                    (false, false) => write!(out, " {text}")?,
                }
                match (goes_on, style.outside || i < last) {
                    (true, _) => write!(out, "{}", style.goes_on)?,
                    (false, true) => write!(out, " ")?,
                    (false, false) => {}
                }
                if i < last || style.outside {
                    write!(out, "{}", style.vertical)?;
                }
            }
            writeln!(out)?;
        }
        Ok(())
    }

    fn write_count(&self, out: &mut dyn Write, rows: u64) -> io::Result<()> {
        let shown = self.shown() as u64;
        if shown < rows && !self.columns.is_empty() {
            let count = count(rows);
            let inner = count.trim_end_matches(')');
            return writeln!(out, "{inner}, the first {shown} shown; .maxrows 0 shows all)");
        }
        match self.display.footer {
            true => writeln!(out, "{}", count(rows)),
            false => Ok(()),
        }
    }
}

impl Layout for Grid {
    fn begin(&mut self, _: &mut dyn Write, schema: &Schema) -> io::Result<()> {
        let columns = schema.columns.iter().enumerate();
        self.columns = columns
            .map(|(i, c)| {
                let ty = self.display.types.then(|| c.ty.to_string());
                Column::new(&c.name, c.ty.is_numeric(), self.display.width(i), ty)
            })
            .collect();
        Ok(())
    }

    fn rows(&mut self, _: &mut dyn Write, batch: &RowBatch) -> io::Result<()> {
        let most = self.display.max_rows.unwrap_or(usize::MAX);
        let take = batch.rows.min(most - self.shown());
        for (column, vector) in self.columns.iter_mut().zip(&batch.columns) {
            for row in 0..take {
                match cell(vector, row) {
                    Some(text) => column.push(&text),
                    None => column.push(self.display.null()),
                }
            }
        }
        Ok(())
    }

    fn end(&mut self, out: &mut dyn Write, rows: u64) -> io::Result<()> {
        if self.columns.is_empty() {
            return self.write_count(out, rows);
        }
        if !self.is_expanded() {
            return self.write_fitted(out, rows);
        }
        records::write(out, &self.columns, self.style())?;
        match self.shown() as u64 == rows && rows > 0 {
            true => Ok(()),
            false => self.write_count(out, rows),
        }
    }
}
