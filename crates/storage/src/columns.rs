//! The columns of rows that are to be written, wherever they come from.

use frazil_types::string_ref::INLINE_BYTES;
use frazil_types::{ColumnVector, NativeType, StringRef};
use std::ops::Range;

/// Columns of equal length in the order of the table's.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Columns<'a> {
    /// All from one batch.
    Batch(&'a [ColumnVector]),
    /// Some from an UPDATE, the others from the rows that it replaces.
    Mixed(&'a [&'a ColumnVector]),
}

impl<'a> Columns<'a> {
    /// Bytes that some of the rows take.
    pub fn bytes(self, rows: Range<usize>) -> usize {
        let of_column = |column: &ColumnVector| {
            let native = column.native();
            let cells = native.size() * rows.len();
            if native != NativeType::String {
                return cells;
            }
            let strings = column.values::<StringRef>()[rows.clone()].iter();
            let long = strings
                .map(|string| string.len())
                .filter(|&len| len > INLINE_BYTES);
            cells + long.sum::<usize>()
        };
        self.iter().map(of_column).sum()
    }

    /// Number of columns.
    #[inline]
    pub fn len(self) -> usize {
        match self {
            Columns::Batch(columns) => columns.len(),
            Columns::Mixed(columns) => columns.len(),
        }
    }

    /// The column at a position.
    #[inline]
    pub fn at(self, position: usize) -> &'a ColumnVector {
        match self {
            Columns::Batch(columns) => &columns[position],
            Columns::Mixed(columns) => columns[position],
        }
    }

    /// The columns, by position.
    #[inline]
    pub fn iter(self) -> impl Iterator<Item = &'a ColumnVector> {
        (0..self.len()).map(move |position| self.at(position))
    }
}
