//! How results are written: a mode is a [`Layout`], one file a family of modes.

mod cell;
mod column;
mod delimited;
mod display;
mod fitting;
mod grid;
mod html;
mod json;
mod latex;
mod line;
mod markdown;
mod records;
mod sql;
mod streamed;

pub use display::{Display, Expanded, Mode};
pub use streamed::Streamed;

use frazil::{RowBatch, Rows, Schema};
use std::io::{self, Write};

/// Writes one result. `begin` comes once, then `rows` for each batch, then `end`; a statement that fails has no `end`.
trait Layout {
    /// What stands before the rows.
    fn begin(&mut self, out: &mut dyn Write, schema: &Schema) -> io::Result<()>;

    /// The next rows. A layout that has to know the widest value keeps them until the end.
    fn rows(&mut self, out: &mut dyn Write, batch: &RowBatch) -> io::Result<()>;

    /// What stands behind the rows; `rows`: how many there were.
    fn end(&mut self, out: &mut dyn Write, rows: u64) -> io::Result<()>;
}

/// The layout that `display` asks for.
fn layout(display: &Display) -> Box<dyn Layout> {
    match display.mode {
        Mode::Aligned | Mode::Table | Mode::Box => Box::new(grid::Grid::new(display.clone())),
        Mode::Column => Box::new(column::Columns::new(display.clone())),
        Mode::Csv | Mode::Tabs | Mode::List | Mode::Unaligned => {
            Box::new(delimited::Delimited::new(display.clone()))
        }
        Mode::Html => Box::new(html::Html::new(display.clone())),
        Mode::Insert | Mode::Quote => Box::new(sql::Literals::new(display.clone())),
        Mode::Json => Box::new(json::Objects::array()),
        Mode::Jsonlines => Box::new(json::Objects::lines()),
        Mode::Latex => Box::new(latex::Latex::new(display.clone())),
        Mode::Line => Box::new(line::Lines::new(display.clone())),
        Mode::Markdown => Box::new(markdown::Markdown::new(display.clone())),
    }
}

/// Writes a result that is there as a whole.
pub fn write(out: &mut dyn Write, rows: &Rows, display: &Display) -> io::Result<()> {
    let mut layout = layout(display);
    layout.begin(out, rows.schema())?;
    (rows.batches().iter()).try_for_each(|batch| layout.rows(out, batch))?;
    layout.end(out, rows.len() as u64)
}

/// `(3 rows)`.
fn count(rows: u64) -> String {
    format!("({rows} {})", if rows == 1 { "row" } else { "rows" })
}
