//! How many rows LIMIT keeps and OFFSET skips.

use crate::role::Role;
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

/// True if LIMIT surely keeps no second row.
pub(crate) fn at_most_one(limit: &Option<RowCount>) -> bool {
    let constant = limit.as_ref().and_then(RowCount::constant);
    constant.is_some_and(|n| n <= 1)
}

/// The most rows that LIMIT leaves of `rows`.
pub(crate) fn most(rows: Option<u64>, limit: &Option<RowCount>) -> Option<u64> {
    match (rows, limit.as_ref().and_then(RowCount::constant)) {
        (Some(rows), Some(limit)) => Some(rows.min(limit)),
        (rows, limit) => rows.or(limit),
    }
}

/// About how many rows LIMIT leaves of `rows`.
pub(crate) fn about(rows: f64, limit: &Option<RowCount>) -> f64 {
    match limit.as_ref().and_then(RowCount::constant) {
        Some(limit) => rows.min(limit as f64),
        None => rows,
    }
}

/// The expressions of LIMIT and OFFSET.
pub(crate) fn values<'a>(limit: &'a Option<RowCount>, offset: &'a RowCount) -> Vec<&'a Expr> {
    let counts = limit.iter().chain([offset]);
    counts.filter_map(RowCount::value).collect()
}

/// The same, to be changed.
pub(crate) fn values_mut<'a>(limit: &'a mut Option<RowCount>, offset: &'a mut RowCount) -> Vec<&'a mut Expr> {
    let counts = limit.iter_mut().chain([offset]);
    counts.filter_map(RowCount::value_mut).collect()
}

/// Gives `visit` the columns that LIMIT and OFFSET read.
pub(crate) fn ids(limit: &Option<RowCount>, offset: &RowCount, visit: &mut dyn FnMut(Role, ColumnId)) {
    let columns = limit.iter().chain([offset]).filter_map(RowCount::column);
    columns.for_each(|id| visit(Role::Read, id));
}

/// The same, to be changed.
pub(crate) fn ids_mut(
    limit: &mut Option<RowCount>,
    offset: &mut RowCount,
    visit: &mut dyn FnMut(Role, &mut ColumnId),
) {
    for count in limit.iter_mut().chain([offset]) {
        if let RowCount::Column(id) = count {
            visit(Role::Read, id);
        }
    }
}
