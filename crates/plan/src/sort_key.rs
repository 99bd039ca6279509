//! A key of an order of rows.

use crate::ColumnId;

/// One key of a sort.
#[derive(Clone, Debug, PartialEq)]
pub struct SortKey {
    /// The column.
    pub column: ColumnId,
    /// Descending.
    pub descending: bool,
    /// NULLs before all else.
    pub nulls_first: bool,
}
