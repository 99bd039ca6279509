//! What the optimizer may ask of a table. Implemented by storage's owner, `frazil`.

use crate::Bounds;
use frazil_types::ObjectId;

/// Statistics of tables at the snapshot a statement is planned for.
pub trait Statistics {
    /// Rows of a table.
    fn row_count(&self, table: ObjectId) -> u64;
    /// The same of a table that is the same one whenever the plan runs; `None` for others.
    fn exact_row_count(&self, table: ObjectId) -> Option<u64>;
    /// Smallest and largest integer-like value of a column (unscaled decimals, days, code points); `None`
    /// if unknown, not integer-like, or if every value is NULL. Exact or wider, never narrower.
    fn bounds(&self, table: ObjectId, column: usize) -> Option<Bounds>;
    /// About how many distinct values a column has.
    fn distinct(&self, table: ObjectId, column: usize) -> Option<u64>;
    /// Rows whose value is NULL, about.
    fn null_count(&self, table: ObjectId, column: usize) -> u64;
    /// The indexes of a table that statements may use, in the order in which they were made.
    fn indexes(&self, table: ObjectId) -> Vec<IndexInfo>;
}

/// An index of a table.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct IndexInfo {
    /// Its identity.
    pub id: ObjectId,
    /// Its name.
    pub name: String,
    /// Whether no two rows have one key. Keys with NULL may occur several times all the same.
    pub unique: bool,
    /// The columns of its keys, the most significant first.
    pub keys: Vec<IndexKeyInfo>,
}

/// A column of an index's keys.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct IndexKeyInfo {
    /// Its position in the table.
    pub column: usize,
    /// Whether greater values come first.
    pub descending: bool,
    /// Whether NULLs come before all values.
    pub nulls_first: bool,
}
