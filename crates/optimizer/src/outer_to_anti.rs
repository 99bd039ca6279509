//! An outer join whose other side must be NULL is an anti join (TPC-DS 78: sales without a return): a key of a match is
//! never NULL, so that rows whose key is NULL have none.

use crate::prune;
use crate::pushdown::{push, take};
use crate::rename::{copied, renamed};
use frazil_plan::operators::{Filter, Join, Map};
use frazil_plan::{ColumnId, Columns, Expr, ExprKind, JoinKind, Operator, Plan};
use frazil_types::Value;

/// Makes anti joins of such outer joins. Filters stand as far down as they may.
pub fn plan(plan: &mut Plan) {
    let (trees, columns) = plan.trees_mut();
    let mut found = false;
    for tree in trees {
        if operator(tree, columns) {
            *tree = push(take(tree), vec![], columns);
            found = true;
        }
    }
    if found {
        // An anti join shows nothing of its other side.
        prune::plan(plan);
    }
}

/// Whether there was one in a tree.
fn operator(op: &mut Operator, columns: &mut Columns) -> bool {
    let mut found = false;
    if let Operator::Filter(Filter { input, predicate }) = op
        && let Operator::Join(join) = &mut **input
        && join.kind == JoinKind::ProbeOuter
    {
        let conjuncts = predicate.clone().into_conjuncts();
        let (asked, kept): (Vec<Expr>, Vec<Expr>) = conjuncts.into_iter().partition(|e| is_null_key(e, join));
        if !asked.is_empty() {
            found = true;
            **input = anti(join, columns);
            match Expr::conjunction(kept) {
                Some(rest) => *predicate = rest,
                None => *op = take(input),
            }
        }
    }
    for input in op.inputs_mut() {
        found |= operator(input, columns);
    }
    found
}

/// Whether an expression asks that a key of the join's other side is NULL.
fn is_null_key(e: &Expr, join: &Join) -> bool {
    let ExprKind::IsNull(value) = &e.kind else {
        return false;
    };
    let ExprKind::Column(id) = value.kind else {
        return false;
    };
    (join.keys.iter()).any(|(build, _)| build.kind == ExprKind::Column(id))
        && join.build.visible().contains(&id)
}

/// Rows without a match, with NULLs for the columns of the other side, which has columns of its own then.
fn anti(join: &mut Join, columns: &mut Columns) -> Operator {
    let (build, names) = copied(&join.build, columns);
    let null = |id: ColumnId| (id, Expr::constant(Value::Null, columns[id].ty));
    let expressions = join.build.visible().into_iter().map(null).collect();
    let keys = std::mem::take(&mut join.keys).into_iter();
    let join = Operator::Join(Join {
        kind: JoinKind::ProbeAnti,
        build: Box::new(build),
        probe: Box::new(take(&mut join.probe)),
        keys: keys
            .map(|(build, probe)| (renamed(build, &names), probe))
            .collect(),
        residual: join.residual.take().map(|e| renamed(e, &names)),
        null_aware: false,
        in_order: false,
        first: None,
    });
    Map::above(join, expressions)
}
