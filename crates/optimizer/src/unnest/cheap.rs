//! Trees that are cheap to read twice.

use frazil_plan::operators::{Expand, Filter, Map, Values};
use frazil_plan::{Expr, ExprKind, Operator};
use std::any::Any;

/// Rows of functions that are computed again rather than kept: they are numbers.
const FEW_ROWS: u64 = 1_000_000;

/// True if reading a tree twice costs no more than keeping its rows, so that it may be copied: rows that are stored or
/// kept anyway, and what filters and computes them on the way.
pub fn is_cheap(op: &Operator) -> bool {
    let node: &dyn Any = op.node();
    match op.node().inputs()[..] {
        [] => node
            .downcast_ref()
            .is_none_or(|values: &Values| values.rows.len() <= 1),
        [input] => passes_rows_on(op) && is_cheap(input),
        _ => false,
    }
}

/// True if an operator hands each row on at once, and computes nothing for it that takes long.
fn passes_rows_on(op: &Operator) -> bool {
    let node: &dyn Any = op.node();
    if let Some(Expand { expansion, .. }) = node.downcast_ref() {
        return expansion.rows().is_some_and(|rows| rows <= FEW_ROWS);
    }
    (node.is::<Filter>() || node.is::<Map>()) && op.node().expressions().into_iter().all(is_simple)
}

fn is_simple(e: &Expr) -> bool {
    !matches!(e.kind, ExprKind::VectorFunction(..)) && e.children().into_iter().all(is_simple)
}
