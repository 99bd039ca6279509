//! The trait of all writers of rows, the destination of their bytes, and the text of values.

use frazil_types::{Cancel, ColumnVector, NativeType, Result, RowBatch};
use std::fmt::Write as _;
use std::io::Write;
use std::ops::Range;
use std::path::Path;

/// Takes rows and writes them. What is dropped before [`BatchWriter::finish`] leaves no file.
pub trait BatchWriter {
    /// Writes rows of the writer's columns, on up to `threads` threads if the form allows it: more rows use them better.
    /// 53100 for a full disk, 58030 for what else the system refuses, and the errors of stores.
    fn write(&mut self, batches: &[RowBatch], threads: usize) -> Result<()>;

    /// Writes what stands behind the rows. Only now does the file have its name.
    fn finish(self: Box<Self>) -> Result<()>;
}

/// The destination of rows.
pub enum Destination<'p, 'a> {
    /// A file or an object by its URL, which takes the place of one of that name; with the flag of the statement, for
    /// which nobody waits once it is set.
    File(&'p Path, &'p Cancel),
    /// Bytes for somebody else.
    Stream(Box<dyn Write + 'a>),
}

/// Appends the text of a value that is not NULL, as PostgreSQL writes it.
pub fn push_text(out: &mut String, column: &ColumnVector, row: usize) {
    let ty = column.ty();
    if ty.is_text() {
        out.push_str(column.text(row));
        return;
    }
    // A String takes all that is written.
    let _ = match ty.native() {
        NativeType::I16 if ty.is_integer() => write!(out, "{}", column.values::<i16>()[row]),
        NativeType::I32 if ty.is_integer() => write!(out, "{}", column.values::<i32>()[row]),
        NativeType::I64 if ty.is_integer() => write!(out, "{}", column.values::<i64>()[row]),
        _ => write!(out, "{}", column.value(row).display(ty)),
    };
}

/// Pieces of at most `rows` rows of some batches, in order.
pub(crate) fn pieces(batches: &[RowBatch], rows: usize) -> impl Iterator<Item = (&RowBatch, Range<usize>)> {
    batches.iter().flat_map(move |batch| {
        let starts = (0..batch.rows).step_by(rows);
        starts.map(move |start| (batch, start..batch.rows.min(start + rows)))
    })
}
