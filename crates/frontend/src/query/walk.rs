//! Visiting every expression of a plan.

use frazil_plan::operator::ScanRestrictionKind;
use frazil_plan::{Expr, Operator, Plan, ScanDisjunction, ScanRestriction};

/// The expressions of one operator, its inputs apart.
pub(super) fn expressions_mut(op: &mut Operator) -> Vec<&mut Expr> {
    match op {
        Operator::Scan {
            restrictions,
            disjunctions,
            ..
        } => {
            let others = disjunctions
                .iter_mut()
                .flat_map(ScanDisjunction::restrictions_mut);
            (restrictions.iter_mut().chain(others))
                .flat_map(of_restriction)
                .collect()
        }
        Operator::Values { rows, .. } => rows.iter_mut().flatten().collect(),
        Operator::Filter { predicate, .. } => vec![predicate],
        Operator::Map { expressions, .. } => expressions.iter_mut().map(|e| &mut e.1).collect(),
        Operator::Join { keys, residual, .. } => {
            let sides = keys.iter_mut().flat_map(|(b, p)| [b, p]);
            sides.chain(residual).collect()
        }
        Operator::Aggregate {
            groups, aggregates, ..
        } => {
            let calls = aggregates.iter_mut().map(|a| &mut a.1);
            let parts = calls.flat_map(|c| c.argument.iter_mut().chain(&mut c.filter));
            groups.iter_mut().map(|g| &mut g.1).chain(parts).collect()
        }
        Operator::DependentJoin { condition, .. } => condition.iter_mut().collect(),
        Operator::Sort { .. }
        | Operator::Limit { .. }
        | Operator::UnionAll { .. }
        | Operator::Shared { .. }
        | Operator::Insert { .. }
        | Operator::Delete { .. } => Vec::new(),
    }
}

fn of_restriction(r: &mut ScanRestriction) -> Vec<&mut Expr> {
    match &mut r.kind {
        ScanRestrictionKind::Compare(_, e) => vec![e],
        ScanRestrictionKind::Between(a, b) => vec![a, b],
        _ => Vec::new(),
    }
}

fn visit_parts(e: &mut Expr, visit: &mut dyn FnMut(&mut Expr)) {
    for child in e.children_mut() {
        visit_parts(child, visit);
    }
    visit(e);
}

fn visit_operator(op: &mut Operator, visit: &mut dyn FnMut(&mut Expr)) {
    for e in expressions_mut(op) {
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
