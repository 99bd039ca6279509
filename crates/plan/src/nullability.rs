//! Recomputes which columns and expressions may be NULL.
//!
//! A column has one nullability in the whole plan: what passes the null-supplying side of an outer join
//! may be NULL above it, and so counts as nullable below it too. First those columns are marked, then
//! every expression is recomputed bottom-up from its columns.

use crate::{ColumnId, Columns, Expr, ExprKind, Operator, Plan, SubqueryKind};

/// Recomputes `ColumnInfo::nullable` of every column that an operator computes and `Expr::nullable` of
/// every expression. Columns of scans keep what their table says, unless an outer join makes them NULL.
pub fn recompute(plan: &mut Plan) {
    let mut supplied = vec![false; plan.columns.len()];
    let (trees, columns) = plan.trees_mut();
    for tree in trees {
        mark(tree, &mut supplied, columns);
    }
    let (trees, columns) = plan.trees_mut();
    let mut pass = Nullability { columns, supplied };
    for tree in trees {
        pass.tree(tree);
    }
}

/// Marks the columns on null-supplying sides. Makes the columns of Lets nullable: whether their values are is not
/// followed.
fn mark(op: &Operator, supplied: &mut [bool], columns: &mut Columns) {
    for side in op.node().null_supplied() {
        (side.visible().iter()).for_each(|c| supplied[c.0 as usize] = true);
    }
    for e in op.expressions() {
        e.walk(&mut |part| match &part.kind {
            ExprKind::Let { column, .. } => columns[*column].nullable = true,
            ExprKind::Subquery(subquery) => mark(&subquery.root, supplied, columns),
            _ => {}
        });
    }
    op.inputs().into_iter().for_each(|i| mark(i, supplied, columns));
}

/// What is found out while a plan is walked from its leaves up: [`crate::operators::Node::find_nullable`] is given it.
pub struct Nullability<'a> {
    columns: &'a mut Columns,
    supplied: Vec<bool>,
}

impl Nullability<'_> {
    /// Recomputes `nullable` of an expression and its parts, as [`of_expression`] does, with the columns that it makes for itself set, too, those of subqueries among them.
    pub fn expression(&mut self, e: &mut Expr) {
        if let ExprKind::Subquery(subquery) = &mut e.kind {
            self.tree(&mut subquery.root);
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

    fn tree(&mut self, op: &mut Operator) {
        for input in op.inputs_mut() {
            self.tree(input);
        }
        op.node_mut().find_nullable(self);
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
        _ => e.children().iter().any(|c| c.nullable),
    }
}
