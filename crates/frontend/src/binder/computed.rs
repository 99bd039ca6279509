//! Columns that a query computes while it is bound.

use frazil_plan::operators::Map;
use frazil_plan::{ColumnId, Expr, Operator};

/// Columns to be computed in one [`Map`].
#[derive(Default)]
pub(super) struct Computed {
    pub expressions: Vec<(ColumnId, Expr)>,
}

impl Computed {
    /// A Map above `op`, if there is anything to compute.
    pub fn above(self, op: Operator) -> Operator {
        Map::above(op, self.expressions)
    }
}
