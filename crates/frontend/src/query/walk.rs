//! Visiting every expression of a plan.

use frazil_plan::{Expr, Operator, Plan};

fn visit_parts(e: &mut Expr, visit: &mut dyn FnMut(&mut Expr)) {
    for child in e.children_mut() {
        visit_parts(child, visit);
    }
    visit(e);
}

fn visit_operator(op: &mut Operator, visit: &mut dyn FnMut(&mut Expr)) {
    for e in op.expressions_mut() {
        visit_parts(e, visit);
    }
    for input in op.inputs_mut() {
        visit_operator(input, visit);
    }
}

/// Calls `visit` on every expression of the plan and all its parts, parts first.
pub(super) fn every_expression(plan: &mut Plan, visit: &mut dyn FnMut(&mut Expr)) {
    visit_operator(&mut plan.root, visit);
    for (op, _) in &mut plan.subqueries {
        visit_operator(op, visit);
    }
    for op in &mut plan.shared {
        visit_operator(op, visit);
    }
}
