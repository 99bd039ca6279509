//! Whether two expressions are the same though they were bound one after the other.

use crate::operators::Role;
use crate::{ColumnId, Expr, ExprKind, Operator};
use std::collections::HashMap;

/// Whether two expressions compute the same: equal but for the columns that they make for themselves, in a Let or a subquery.
pub fn same(a: &Expr, b: &Expr) -> bool {
    if a.ty != b.ty || std::mem::discriminant(&a.kind) != std::mem::discriminant(&b.kind) {
        return false;
    }
    if a == b {
        return true;
    }
    let mut made = (Vec::new(), Vec::new());
    made_in(a, &mut made.0);
    if made.0.is_empty() {
        return false;
    }
    made_in(b, &mut made.1);
    if made.0.len() != made.1.len() {
        return false;
    }
    let renamed: HashMap<ColumnId, ColumnId> = made.1.into_iter().zip(made.0).collect();
    let mut b = b.clone();
    rename(&mut b, &renamed);
    *a == b
}

/// Adds the columns that an expression makes for itself, in the order in which they stand in it.
fn made_in(e: &Expr, into: &mut Vec<ColumnId>) {
    match &e.kind {
        ExprKind::Let { column, .. } => into.push(*column),
        ExprKind::Subquery(subquery) => made_by(&subquery.root, into),
        _ => {}
    }
    for child in e.children() {
        made_in(child, into);
    }
}

fn made_by(op: &Operator, into: &mut Vec<ColumnId>) {
    into.extend(op.makes());
    for e in op.expressions() {
        made_in(e, into);
    }
    for input in op.inputs() {
        made_by(input, into);
    }
}

fn rename(e: &mut Expr, renamed: &HashMap<ColumnId, ColumnId>) {
    let put = |id: &mut ColumnId| *id = renamed.get(id).copied().unwrap_or(*id);
    match &mut e.kind {
        ExprKind::Column(id) | ExprKind::Let { column: id, .. } => put(id),
        ExprKind::Subquery(subquery) => {
            subquery.columns.iter_mut().for_each(put);
            rename_tree(&mut subquery.root, renamed);
        }
        _ => {}
    }
    for child in e.children_mut() {
        rename(child, renamed);
    }
}

fn rename_tree(op: &mut Operator, renamed: &HashMap<ColumnId, ColumnId>) {
    op.node_mut().ids_mut(&mut |role, id| match role {
        Role::Made | Role::MadeAlready | Role::Read | Role::Passed => {
            *id = renamed.get(id).copied().unwrap_or(*id);
        }
        Role::Stored => {}
    });
    for e in op.expressions_mut() {
        rename(e, renamed);
    }
    for input in op.inputs_mut() {
        rename_tree(input, renamed);
    }
}
