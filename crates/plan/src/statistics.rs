//! What the optimizer may ask of a table. Implemented by storage's owner, `frazil`.

use crate::{Bounds, TableId};

/// Statistics of tables at the snapshot a statement is planned for.
pub trait Statistics {
    /// Rows of a table.
    fn row_count(&self, table: TableId) -> u64;
    /// Smallest and largest integer-like value of a column (unscaled decimals, days, code points); `None`
    /// if unknown, not integer-like, or if every value is NULL. Exact or wider, never narrower.
    fn bounds(&self, table: TableId, column: usize) -> Option<Bounds>;
    /// About how many distinct values a column has.
    fn distinct(&self, table: TableId, column: usize) -> Option<u64>;
    /// Rows whose value is NULL, about.
    fn null_count(&self, table: TableId, column: usize) -> u64;
}
