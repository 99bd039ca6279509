//! A change of a table, as it is bound.

use super::{OutputColumn, Relation};
use frazil_plan::{Change, Operator};

/// Queries that a write runs between and after its writing: see [`Write`].
#[derive(Default)]
pub(super) struct WriteQueries {
    pub update: Option<Relation>,
    pub returning: Option<Relation>,
}

/// A change of a table, all of which is bound: its rows, what becomes of them, and what RETURNING shows unless a query
/// makes that.
pub(super) struct Written {
    pub op: Operator,
    pub change: Change,
    pub output: Vec<OutputColumn>,
    pub queries: WriteQueries,
}

impl Written {
    /// The columns that RETURNING shows.
    pub fn shown(&self) -> &[OutputColumn] {
        match &self.queries.returning {
            Some(query) => &query.columns,
            None => &self.output,
        }
    }
}
