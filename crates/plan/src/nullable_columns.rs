//! Recomputes which columns and expressions may be NULL.
//!
//! A column has one nullability in the whole plan: what passes the null-supplying side of an outer join
//! may be NULL above it, and so counts as nullable below it too. First those columns are marked, then
//! every expression is recomputed bottom-up from its columns.

use crate::nullability::Nullability;
use crate::operators::find_nullable;
use crate::{Columns, Operator, Own, Plan};

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
        find_nullable(tree, &mut pass);
    }
}

/// Marks the columns on null-supplying sides. Makes the columns of Lets nullable: whether their values are is not
/// followed.
fn mark(op: &Operator, supplied: &mut [bool], columns: &mut Columns) {
    for side in op.node().null_supplied() {
        (side.visible().iter()).for_each(|c| supplied[c.0 as usize] = true);
    }
    for e in op.expressions() {
        e.walk(&mut |part| match part.own() {
            Own::Makes(column) => columns[column].nullable = true,
            Own::Asks(subquery) => mark(subquery.root(), supplied, columns),
            Own::Reads(_) | Own::Nothing => {}
        });
    }
    op.inputs().into_iter().for_each(|i| mark(i, supplied, columns));
}
