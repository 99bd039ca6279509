//! Calls of volatile functions, which give another value each time. A tree that has one is computed once for each row that asks for it.

use frazil_plan::{Expr, ExprKind, Operator};

/// True if an expression of the tree calls a volatile function, in a subquery of an expression, too. What the tree shares
/// with others is not looked into: shared rows are computed once.
pub fn is_volatile(op: &Operator) -> bool {
    op.expressions().into_iter().any(calls_volatile) || op.inputs().into_iter().any(is_volatile)
}

/// True if an expression calls a volatile function.
pub fn calls_volatile(e: &Expr) -> bool {
    let mut found = false;
    e.walk(&mut |part| {
        let is_call = matches!(&part.kind, ExprKind::VectorFunction(function, _) if function.0.is_volatile());
        let has_call = matches!(&part.kind, ExprKind::Subquery(subquery) if is_volatile(subquery.root()));
        found |= is_call || has_call;
    });
    found
}
