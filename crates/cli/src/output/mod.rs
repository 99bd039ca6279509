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
mod layout;
mod line;
mod markdown;
mod records;
mod sql;
mod streamed;

pub use display::{Display, Expanded, Mode};
pub use streamed::Streamed;

use frazil::Rows;
use layout::{Layout, count};
use std::io::{self, Write};

/// The layout that `display` asks for.
fn layout_of(display: &Display) -> Box<dyn Layout> {
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
    let mut layout = layout_of(display);
    layout.begin(out, rows.schema())?;
    (rows.batches().iter()).try_for_each(|batch| layout.rows(out, batch))?;
    layout.end(out, rows.len() as u64)
}
