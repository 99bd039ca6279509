//! How many rows LIMIT keeps and OFFSET skips.

use crate::Expr;

/// A number of rows.
#[derive(Clone, Debug, PartialEq)]
pub enum RowCount {
    /// Known to the plan.
    Constant(u64),
    /// A bigint that is known when the pipeline opens: a constant, a parameter, a scalar subquery, or a cast of one of
    /// them; before optimization any expression that reads no column of its own rows. NULL counts as absent. A negative
    /// value is error 2201W in LIMIT and 2201X in OFFSET.
    Value(Box<Expr>),
}

impl RowCount {
    /// The number, where the plan knows it.
    pub fn constant(&self) -> Option<u64> {
        match self {
            RowCount::Constant(n) => Some(*n),
            RowCount::Value(_) => None,
        }
    }

    /// The expression, where there is one.
    pub fn value(&self) -> Option<&Expr> {
        match self {
            RowCount::Constant(_) => None,
            RowCount::Value(e) => Some(e),
        }
    }

    /// The expression, to be changed.
    pub fn value_mut(&mut self) -> Option<&mut Expr> {
        match self {
            RowCount::Constant(_) => None,
            RowCount::Value(e) => Some(e),
        }
    }

    /// Whether it is surely no rows.
    pub fn is_zero(&self) -> bool {
        *self == RowCount::Constant(0)
    }
}
