//! Walks over a bound tree, subqueries inside expressions included.

use frazil_plan::{Expr, ExprKind, Operator};

/// Calls `visit` on every operator below and including `op`, inputs first, and those of subqueries.
pub(super) fn every_operator(op: &mut Operator, visit: &mut dyn FnMut(&mut Operator)) {
    for input in op.inputs_mut() {
        every_operator(input, visit);
    }
    for e in op.expressions_mut() {
        in_subqueries(e, visit);
    }
    visit(op);
}

fn in_subqueries(e: &mut Expr, visit: &mut dyn FnMut(&mut Operator)) {
    if let ExprKind::Subquery(subquery) = &mut e.kind {
        every_operator(subquery.root_mut(), visit);
    }
    for child in e.children_mut() {
        in_subqueries(child, visit);
    }
}
