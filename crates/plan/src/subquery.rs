//! Subqueries inside expressions, and joins whose one side depends on the other: a plan as it was bound.
//!
//! An expression inside a subquery may read columns of the query around it, at any depth. Such an outer
//! reference is an ordinary [`ExprKind::Column`](crate::ExprKind::Column): ids are unique in the plan, so a
//! column is an outer one where no operator of the subquery makes it. `optimizer::unnest` turns every subquery
//! and every dependent join into joins without outer references (Neumann and Kemper, Unnesting Arbitrary
//! Queries, BTW 2015).

use crate::nullability::Nullability;
use crate::{ColumnId, Expr, ExprKind};
use std::any::Any;
use std::collections::BTreeSet;
use std::fmt::Debug;

/// A subquery inside an expression.
///
/// Expressions are below operators: here its tree is known by [`SubqueryTree`] alone. `Subquery::root` (`operator.rs`) gives
/// it as the operator that it is.
#[derive(Debug)]
pub struct Subquery {
    /// What is asked of its rows.
    pub kind: SubqueryKind,
    /// Its rows.
    pub(crate) tree: Box<dyn SubqueryTree>,
    /// Its result columns, in order. The kind [`SubqueryKind::Scalar`] has one.
    pub columns: Vec<ColumnId>,
}

/// What expressions know of a subquery's tree.
pub trait SubqueryTree: Any + Debug + Send + Sync {
    /// Columns that its operators make, those of subqueries in its expressions not counted.
    fn columns_made(&self) -> BTreeSet<ColumnId>;

    /// Columns that its operators read, whoever makes them.
    fn columns_read(&self) -> BTreeSet<ColumnId>;

    /// Recomputes which of its columns and expressions may be NULL.
    fn find_nullable(&mut self, pass: &mut Nullability<'_>);

    /// A copy of the tree.
    fn copied(&self) -> Box<dyn SubqueryTree>;

    /// True if both trees compute the same.
    fn equals(&self, other: &dyn SubqueryTree) -> bool;
}

impl Clone for Subquery {
    fn clone(&self) -> Subquery {
        Subquery {
            kind: self.kind.clone(),
            tree: self.tree.copied(),
            columns: self.columns.clone(),
        }
    }
}

impl PartialEq for Subquery {
    fn eq(&self, other: &Subquery) -> bool {
        self.kind == other.kind && self.columns == other.columns && self.tree.equals(&*other.tree)
    }
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
        self.tree.columns_made()
    }

    /// Columns of the queries around it that its operators read, and those of the condition that are not its own.
    pub fn outer_columns(&self) -> BTreeSet<ColumnId> {
        let mut read = self.tree.columns_read();
        read.extend(self.condition().iter().flat_map(|c| c.columns_read()));
        read.extend(&self.columns);
        let made = self.columns_made();
        read.retain(|id| !made.contains(id));
        read
    }
}

/// Whether an expression holds a subquery that is not unnested yet.
pub fn has_subquery(e: &Expr) -> bool {
    let mut found = false;
    e.walk(&mut |part| found |= matches!(part.kind, ExprKind::Subquery(_)));
    found
}
