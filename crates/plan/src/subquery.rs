//! Subqueries inside expressions, and joins whose one side depends on the other: a plan as it was bound.
//!
//! An expression inside a subquery may read columns of the query around it, at any depth. Such an outer
//! reference is an ordinary [`ExprKind::Column`](crate::ExprKind::Column): ids are unique in the plan, so a
//! column is an outer one where no operator of the subquery makes it. `optimizer::unnest` turns every subquery
//! and every dependent join into joins without outer references (Neumann and Kemper, Unnesting Arbitrary
//! Queries, BTW 2015).

use crate::{ColumnId, Expr, ExprKind, Operator};
use std::collections::BTreeSet;

/// A subquery inside an expression.
#[derive(Clone, Debug, PartialEq)]
pub struct Subquery {
    /// What is asked of its rows.
    pub kind: SubqueryKind,
    /// Its rows.
    pub root: Operator,
    /// Its result columns, in order. The kind [`SubqueryKind::Scalar`] has one.
    pub columns: Vec<ColumnId>,
}

/// What an expression asks of a subquery's rows.
#[derive(Clone, Debug, PartialEq)]
pub enum SubqueryKind {
    /// The one value; NULL if there is no row, error 21000 if there are several.
    Scalar,
    /// Whether there is a row. Never NULL.
    Exists,
    /// Whether the condition is true for any row; NULL where it is true for none and unknown for one. The
    /// condition reads the subquery's columns and those around it. `x IN (q)` has the condition `x = y`;
    /// `x NOT IN (q)` and `x op ALL (q)` are negations.
    Any(Expr),
}

impl Subquery {
    /// The condition of [`SubqueryKind::Any`].
    pub fn condition(&self) -> Option<&Expr> {
        match &self.kind {
            SubqueryKind::Any(condition) => Some(condition),
            SubqueryKind::Scalar | SubqueryKind::Exists => None,
        }
    }

    /// The condition, to be changed.
    pub fn condition_mut(&mut self) -> Option<&mut Expr> {
        match &mut self.kind {
            SubqueryKind::Any(condition) => Some(condition),
            SubqueryKind::Scalar | SubqueryKind::Exists => None,
        }
    }

    /// Columns that its operators make.
    pub fn columns_made(&self) -> BTreeSet<ColumnId> {
        columns_made(&self.root)
    }

    /// Columns of the queries around it that its operators read, and those of the condition that are not its own.
    pub fn outer_columns(&self) -> BTreeSet<ColumnId> {
        let mut read = columns_read(&self.root);
        read.extend(self.condition().iter().flat_map(|c| c.columns_read()));
        read.extend(&self.columns);
        let made = self.columns_made();
        read.retain(|id| !made.contains(id));
        read
    }
}

/// Columns that a tree's operators make, those of subqueries in its expressions not counted.
pub fn columns_made(op: &Operator) -> BTreeSet<ColumnId> {
    of_tree(op, &|op| op.makes())
}

/// Columns that a tree's operators read, whoever makes them.
fn columns_read(op: &Operator) -> BTreeSet<ColumnId> {
    of_tree(op, &|op| op.reads())
}

/// Columns of all operators of a tree. They are put into a set once, at the end: a set for each operator would be filled
/// as often as the tree is deep.
fn of_tree(op: &Operator, of: &dyn Fn(&Operator) -> Vec<ColumnId>) -> BTreeSet<ColumnId> {
    fn collect(op: &Operator, of: &dyn Fn(&Operator) -> Vec<ColumnId>, found: &mut Vec<ColumnId>) {
        found.extend(of(op));
        op.inputs()
            .into_iter()
            .for_each(|input| collect(input, of, found));
    }
    let mut found = Vec::new();
    collect(op, of, &mut found);
    found.into_iter().collect()
}

/// Columns that a tree reads and does not make: its outer references.
pub fn free_columns(op: &Operator) -> BTreeSet<ColumnId> {
    let made = columns_made(op);
    let mut read = columns_read(op);
    read.retain(|id| !made.contains(id));
    read
}

/// Whether an expression holds a subquery that is not unnested yet.
pub fn has_subquery(e: &Expr) -> bool {
    let mut found = false;
    e.walk(&mut |part| found |= matches!(part.kind, ExprKind::Subquery(_)));
    found
}
