//! The trait that every mode of results implements.

use frazil::{RowBatch, Schema};
use std::io::{self, Write};

/// Writes one result. `begin` comes once, then `rows` for each batch, then `end`; a statement that fails has no `end`.
pub trait Layout {
    /// What stands before the rows.
    fn begin(&mut self, out: &mut dyn Write, schema: &Schema) -> io::Result<()>;

    /// The next rows. A layout that has to know the widest value keeps them until the end.
    fn rows(&mut self, out: &mut dyn Write, batch: &RowBatch) -> io::Result<()>;

    /// What stands behind the rows; `rows`: how many there were.
    fn end(&mut self, out: &mut dyn Write, rows: u64) -> io::Result<()>;
}

/// `(3 rows)`.
pub fn count(rows: u64) -> String {
    format!("({rows} {})", if rows == 1 { "row" } else { "rows" })
}
