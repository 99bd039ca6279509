//! Trees that are cheap to read twice.

use frazil_plan::operators::{Expand, Filter, Map, Values};
use frazil_plan::{Expr, ExprKind, Operator};

/// Rows of functions that are computed again rather than kept: they are numbers.
const FEW_ROWS: u64 = 1_000_000;

/// Whether reading a tree's table twice costs no more than keeping its rows: it may be copied.
pub fn is_cheap(op: &Operator) -> bool {
    match op {
        Operator::Scan(_) | Operator::Given(_) | Operator::Shared(_) | Operator::Turn(_) => true,
        Operator::Values(Values { rows, .. }) => rows.len() <= 1,
        Operator::Filter(Filter { input, predicate }) => is_simple(predicate) && is_cheap(input),
        Operator::Map(Map { input, expressions }) => {
            expressions.iter().all(|(_, e)| is_simple(e)) && is_cheap(input)
        }
        Operator::Expand(Expand { input, expansion }) => {
            expansion.rows().is_some_and(|rows| rows <= FEW_ROWS) && is_cheap(input)
        }
        Operator::Join(_)
        | Operator::DependentJoin(_)
        | Operator::Aggregate(_)
        | Operator::GroupingSets(_)
        | Operator::Sort(_)
        | Operator::TopPerGroup(_)
        | Operator::Limit(_)
        | Operator::UnionAll(_)
        | Operator::Window(_)
        | Operator::Recursion(_)
        | Operator::Write(_) => false,
    }
}

fn is_simple(e: &Expr) -> bool {
    !matches!(e.kind, ExprKind::VectorFunction(..)) && e.children().into_iter().all(is_simple)
}
