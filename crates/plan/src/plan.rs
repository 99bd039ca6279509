//! A whole statement: its trees, with the columns that flow between their operators.

use crate::{ColumnId, Columns};
use frazil_types::LogicalType;

/// A scalar subquery of the plan: index into [`Plan::subqueries`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct SubqueryId(pub usize);

/// A subplan computed once and read several times: index into [`Plan::shared`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct SharedId(pub usize);

/// A whole statement.
#[derive(Clone, Debug, PartialEq)]
pub struct Plan<T> {
    /// The operator tree.
    pub root: T,
    /// Every column in it.
    pub columns: Columns,
    /// What the statement returns: names and columns. Of INSERT, UPDATE and DELETE what RETURNING shows, unless a query of
    /// the [`crate::operators::Write`] makes that.
    pub output: Vec<(String, ColumnId)>,
    /// Scalar subqueries: a tree and its one column. More than one row is error 21000.
    pub subqueries: Vec<(T, ColumnId)>,
    /// Subplans read by [`crate::operators::Shared`].
    pub shared: Vec<T>,
    /// Types of the parameters.
    pub parameters: Vec<LogicalType>,
}

impl<T> Plan<T> {
    /// Its trees, each before those that read what it computes: shared subplans, scalar subqueries, the root. Queries of a
    /// [`crate::operators::Write`] are plans of their own.
    pub fn trees(&self) -> impl Iterator<Item = &T> {
        self.shared.iter().chain(self.unshared_trees())
    }

    /// The trees that are no shared subplans: scalar subqueries, then the root.
    pub fn unshared_trees(&self) -> impl Iterator<Item = &T> {
        let subqueries = self.subqueries.iter().map(|s| &s.0);
        subqueries.chain([&self.root])
    }

    /// As [`Plan::trees`], to be changed, and beside them the columns.
    pub fn trees_mut(&mut self) -> (impl Iterator<Item = &mut T>, &mut Columns) {
        let subqueries = self.subqueries.iter_mut().map(|s| &mut s.0);
        let trees = self.shared.iter_mut().chain(subqueries);
        (trees.chain([&mut self.root]), &mut self.columns)
    }
}
