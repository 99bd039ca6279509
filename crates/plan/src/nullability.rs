//! Whether expressions may be NULL, from the columns that they read.

use crate::{ColumnId, Columns, Expr, ExprKind, SubqueryKind};

/// What is found out while a plan is walked from its leaves up: [`crate::operators::Node::find_nullable`] is given it.
pub struct Nullability<'a> {
    pub(crate) columns: &'a mut Columns,
    /// `supplied[i]` is true if an outer join makes column `i` NULL in some rows.
    pub(crate) supplied: Vec<bool>,
}

impl Nullability<'_> {
    /// Recomputes `nullable` of an expression and its parts, as [`of_expression`] does, with the columns that it makes for itself set, too, those of subqueries among them.
    pub fn expression(&mut self, e: &mut Expr) {
        if let ExprKind::Subquery(subquery) = &mut e.kind {
            subquery.tree.find_nullable(self);
        }
        if let ExprKind::Let { column, value, body } = &mut e.kind {
            self.expression(value);
            self.set(*column, value.nullable);
            self.expression(body);
        } else {
            for child in e.children_mut() {
                self.expression(child);
            }
        }
        e.nullable = of_node(e, self.columns);
    }

    /// Says whether a column may be NULL where it is made.
    pub fn set(&mut self, id: ColumnId, nullable: bool) {
        self.columns[id].nullable = nullable || self.supplied[id.0 as usize];
    }

    /// Says that a column may be NULL where it is made if it is called so already.
    pub fn keep(&mut self, id: ColumnId) {
        self.set(id, self.is_nullable(id));
    }

    /// Whether a column may be NULL.
    pub fn is_nullable(&self, id: ColumnId) -> bool {
        self.columns[id].nullable
    }
}

/// Recomputes `nullable` of an expression and its parts from the columns it reads.
pub fn of_expression(e: &mut Expr, columns: &Columns) {
    for child in e.children_mut() {
        of_expression(child, columns);
    }
    e.nullable = of_node(e, columns);
}

/// Whether an expression may be NULL, by what its parts say.
fn of_node(e: &Expr, columns: &Columns) -> bool {
    match &e.kind {
        ExprKind::Column(id) => columns[*id].nullable,
        ExprKind::Constant(value) => value.is_null(),
        ExprKind::Parameter(_) | ExprKind::ScalarSubquery(_) | ExprKind::VectorFunction(..) => true,
        ExprKind::Subquery(subquery) => !matches!(subquery.kind, SubqueryKind::Exists),
        ExprKind::Let { body, .. } => body.nullable,
        ExprKind::Distinct { .. } | ExprKind::IsNull(_) => false,
        ExprKind::Case { branches, otherwise } => {
            branches.iter().any(|b| b.1.nullable) || otherwise.as_ref().is_none_or(|o| o.nullable)
        }
        ExprKind::Compare(..)
        | ExprKind::And(_)
        | ExprKind::Or(_)
        | ExprKind::Not(_)
        | ExprKind::Arithmetic(..)
        | ExprKind::Negate(_)
        | ExprKind::Cast(_)
        | ExprKind::Like { .. }
        | ExprKind::InList { .. }
        | ExprKind::Extract(..)
        | ExprKind::AddInterval(..)
        | ExprKind::Function(..) => e.children().iter().any(|c| c.nullable),
    }
}
