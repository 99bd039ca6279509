//! Whether two expressions are the same though they were bound one after the other.

use frazil_plan::{ColumnId, Expr, ExprKind};
use std::collections::HashMap;

/// Whether two expressions compute the same: equal but for the columns that a Let makes.
pub(super) fn same(a: &Expr, b: &Expr) -> bool {
    if a.ty != b.ty || std::mem::discriminant(&a.kind) != std::mem::discriminant(&b.kind) {
        return false;
    }
    if a == b {
        return true;
    }
    let mut lets = (Vec::new(), Vec::new());
    lets_of(a, &mut lets.0);
    if lets.0.is_empty() {
        return false;
    }
    lets_of(b, &mut lets.1);
    if lets.0.len() != lets.1.len() {
        return false;
    }
    let renamed: HashMap<ColumnId, ColumnId> = lets.1.into_iter().zip(lets.0).collect();
    let mut b = b.clone();
    rename(&mut b, &renamed);
    *a == b
}

fn lets_of(e: &Expr, into: &mut Vec<ColumnId>) {
    e.walk(&mut |part| {
        if let ExprKind::Let { column, .. } = part.kind {
            into.push(column);
        }
    });
}

fn rename(e: &mut Expr, renamed: &HashMap<ColumnId, ColumnId>) {
    match &mut e.kind {
        ExprKind::Column(id) | ExprKind::Let { column: id, .. } => {
            if let Some(to) = renamed.get(id) {
                *id = *to;
            }
        }
        _ => {}
    }
    for child in e.children_mut() {
        rename(child, renamed);
    }
}
