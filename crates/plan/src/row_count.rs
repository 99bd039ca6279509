//! How many rows LIMIT keeps and OFFSET skips.

use crate::{ColumnId, Expr};

/// A number of rows.
#[derive(Clone, Debug, PartialEq)]
pub enum RowCount {
    /// Known to the plan.
    Constant(u64),
    /// A bigint that is known when the pipeline opens: a constant, a parameter, a scalar subquery, or a cast of one of
    /// them; before optimization any expression that reads no column of its own rows. NULL counts as absent. A negative
    /// value is error 2201W in LIMIT and 2201X in OFFSET.
    Value(Box<Expr>),
    /// A bigint column of the rows, the same for all rows of a group: in [`crate::Operator::TopPerGroup`] alone. NULL
    /// and negative values as above.
    Column(ColumnId),
}

impl RowCount {
    /// The number, where the plan knows it.
    pub fn constant(&self) -> Option<u64> {
        match self {
            RowCount::Constant(n) => Some(*n),
            RowCount::Value(_) | RowCount::Column(_) => None,
        }
    }

    /// The expression, where there is one.
    pub fn value(&self) -> Option<&Expr> {
        match self {
            RowCount::Constant(_) | RowCount::Column(_) => None,
            RowCount::Value(e) => Some(e),
        }
    }

    /// The expression, to be changed.
    pub fn value_mut(&mut self) -> Option<&mut Expr> {
        match self {
            RowCount::Constant(_) | RowCount::Column(_) => None,
            RowCount::Value(e) => Some(e),
        }
    }

    /// The column, where there is one.
    pub fn column(&self) -> Option<ColumnId> {
        match self {
            RowCount::Column(id) => Some(*id),
            RowCount::Constant(_) | RowCount::Value(_) => None,
        }
    }

    /// Whether it is surely no rows.
    pub fn is_zero(&self) -> bool {
        *self == RowCount::Constant(0)
    }
}
