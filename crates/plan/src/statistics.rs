//! What the optimizer may ask of a table. Implemented by storage's owner, `frazil`.

use crate::Bounds;
use frazil_types::ObjectId;

/// Statistics of tables at the snapshot a statement is planned for.
pub trait Statistics {
    /// Rows of a table.
    fn row_count(&self, table: ObjectId) -> u64;
    /// Smallest and largest integer-like value of a column (unscaled decimals, days, code points); `None`
    /// if unknown, not integer-like, or if every value is NULL. Exact or wider, never narrower.
    fn bounds(&self, table: ObjectId, column: usize) -> Option<Bounds>;
    /// About how many distinct values a column has.
    fn distinct(&self, table: ObjectId, column: usize) -> Option<u64>;
    /// Rows whose value is NULL, about.
    fn null_count(&self, table: ObjectId, column: usize) -> u64;
}
