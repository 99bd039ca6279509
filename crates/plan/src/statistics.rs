//! What the optimizer may ask of a table. Implemented by storage's owner, `frazil`.

use crate::{Bounds, Expr};
use frazil_types::{KeySketch, LogicalType, MatchBits, ObjectId, Restriction};
use std::sync::Arc;

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
    /// Part of the values' range that the rows of one place in the table span, on average: close to 1, unless
    /// rows come in the order of the column. `None` if unknown.
    fn spread(&self, table: ObjectId, column: usize) -> Option<f64>;
    /// Rows whose value is NULL, about.
    fn null_count(&self, table: ObjectId, column: usize) -> u64;
    /// The sample of a table's rows, which stays the same one as long as a statement is planned; `None` if there is
    /// none.
    fn sample(&self, table: ObjectId) -> Option<SampleSize>;
    /// The rows of a sample that satisfy a restriction, whose column is a position in [`SampledRows::table`]. `None` if
    /// the column is not sampled. All answers for samples that begin with the same table have as many bits.
    fn sampled(&self, rows: SampledRows, restriction: &Restriction) -> Option<Arc<MatchBits>>;
    /// The frequencies of a column's values, of a table with as many rows that it has statistics; `None` if the values
    /// are no integers.
    fn key_sketch(&self, table: ObjectId, column: usize) -> Option<Arc<KeySketch>>;
    /// The indexes of a table that statements may use, in the order in which they were made.
    fn indexes(&self, table: ObjectId) -> Vec<IndexInfo>;
    /// The expressions and conditions of the indexes of a table, which its rows store.
    fn stored_expressions(&self, table: ObjectId) -> Vec<StoredExpression>;
}

/// The size of a sample.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SampleSize {
    /// Rows of it.
    pub rows: usize,
    /// True if it has all rows of the table.
    pub is_whole: bool,
}

/// The rows of a sample, or the rows of another table that they refer to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SampledRows {
    /// The rows of a table's own sample.
    Own(ObjectId),
    /// For each row of the sample of the table `from` the row that it refers to.
    Referred {
        /// The referring table.
        from: ObjectId,
        /// The position of the column that refers.
        column: usize,
        /// The table referred to.
        to: ObjectId,
        /// The position of the column there that is equal; a unique index has it alone.
        key: usize,
    },
}

/// An expression or a condition of an index. Rows store its value in a column that no statement names.
#[derive(Clone, Debug, PartialEq)]
pub struct StoredExpression {
    /// The position of that column in the table.
    pub position: usize,
    /// The label of that column.
    pub name: String,
    /// The type of that column.
    pub ty: LogicalType,
    /// The expression. Its column `n` is the column at position `n` of the table, except for those that it makes
    /// itself.
    pub value: Expr,
    /// The rows that store the value.
    pub stored: Stored,
}

/// The rows that store the value of a [`StoredExpression`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Stored {
    /// All rows.
    Always,
    /// Rows for which the condition is true, whose column is at this position. Others store NULL.
    Where(usize),
    /// Rows for which the expression, a condition, is true. Others store NULL.
    WhereTrue,
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
