//! Bounds of scalar subqueries that decimals are compared with: `c_acctbal > floor(subquery 0)`.
//!
//! A decimal is compared with a numeric by the nearest number of its own scale. The rounding of a subquery's value is
//! the same for all rows, so the subquery itself gives the rounded value, if nothing else reads it.

use frazil_plan::operators::{Map, Values};
use frazil_plan::{Expr, ExprKind, Operator, Plan, ScalarFunction, SubqueryId};
use frazil_types::LogicalType;

/// A rounding of a subquery's value: the function and the type of its result.
type Rounding = (ScalarFunction, LogicalType);

/// The readers of a subquery's value.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Readers {
    None,
    /// Calls of one function alone.
    Only(Rounding),
    /// Others, too.
    Various,
}

/// Moves roundings of subqueries into the subqueries.
pub fn plan(plan: &mut Plan) {
    if plan.subqueries.is_empty() {
        return;
    }
    let mut readers = vec![Readers::None; plan.subqueries.len()];
    for tree in plan.trees() {
        note(tree, &mut readers);
    }
    for (at, readers) in readers.iter().enumerate() {
        let Readers::Only((function, ty)) = *readers else {
            continue;
        };
        let (tree, column) = &mut plan.subqueries[at];
        let rounded = plan.columns.add("bound", ty, true);
        let value = Expr::column(*column, &plan.columns);
        let value = Expr::new(ExprKind::Function(function, vec![value]), ty, true);
        let input = std::mem::replace(tree, Values::nothing(vec![]));
        *tree = Map::above(input, vec![(rounded, value)]);
        *column = rounded;
    }
    let (trees, _) = plan.trees_mut();
    for tree in trees {
        replace(tree, &readers);
    }
}

/// The subquery that an expression rounds, and how.
fn rounded(e: &Expr) -> Option<(SubqueryId, Rounding)> {
    let ExprKind::Function(function, arguments) = &e.kind else {
        return None;
    };
    let rounds = matches!(
        function,
        ScalarFunction::FloorToScale | ScalarFunction::CeilToScale
    );
    match &arguments[..] {
        [
            Expr {
                kind: ExprKind::ScalarSubquery(id),
                ..
            },
        ] if rounds => Some((*id, (*function, e.ty))),
        _ => None,
    }
}

fn note(op: &Operator, readers: &mut [Readers]) {
    op.inputs().into_iter().for_each(|input| note(input, readers));
    op.expressions().into_iter().for_each(|e| note_parts(e, readers));
}

fn note_parts(e: &Expr, readers: &mut [Readers]) {
    if let Some((id, rounding)) = rounded(e) {
        readers[id.0] = match readers[id.0] {
            Readers::None => Readers::Only(rounding),
            Readers::Only(other) if other == rounding => Readers::Only(rounding),
            Readers::Only(_) | Readers::Various => Readers::Various,
        };
        return;
    }
    if let ExprKind::ScalarSubquery(id) = e.kind {
        readers[id.0] = Readers::Various;
    }
    e.children()
        .into_iter()
        .for_each(|child| note_parts(child, readers));
}

fn replace(op: &mut Operator, readers: &[Readers]) {
    op.inputs_mut()
        .into_iter()
        .for_each(|input| replace(input, readers));
    op.expressions_mut()
        .into_iter()
        .for_each(|e| replace_parts(e, readers));
}

fn replace_parts(e: &mut Expr, readers: &[Readers]) {
    if let Some((id, _)) = rounded(e)
        && matches!(readers[id.0], Readers::Only(_))
    {
        e.kind = ExprKind::ScalarSubquery(id);
        return;
    }
    for child in e.children_mut() {
        replace_parts(child, readers);
    }
}
