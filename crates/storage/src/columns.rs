//! The columns of rows that are to be written, wherever they come from.

use frazil_types::ColumnVector;

/// Columns of equal length in the order of the table's.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Columns<'a> {
    /// All from one batch.
    Batch(&'a [ColumnVector]),
    /// Some from an UPDATE, the others from the rows that it replaces.
    Mixed(&'a [&'a ColumnVector]),
}

impl<'a> Columns<'a> {
    /// The columns, by position.
    pub fn iter(self) -> impl Iterator<Item = &'a ColumnVector> {
        let (batch, mixed): (&[ColumnVector], &[&ColumnVector]) = match self {
            Columns::Batch(columns) => (columns, &[]),
            Columns::Mixed(columns) => (&[], columns),
        };
        batch.iter().chain(mixed.iter().copied())
    }
}
