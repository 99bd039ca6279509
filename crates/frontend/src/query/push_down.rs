//! Predicates move to where their columns are.
//!
//! Conjuncts sink through maps, sorts, groupings and the preserved sides of joins. A tree of inner
//! joins and the filters between them is taken apart and joined again in the order of FROM, each
//! table as soon as a key connects it, so that no cross product stays that need not be. The order is
//! only a start: `optimizer` knows sizes.

use super::disjunction;
use super::join;
use super::relation::filtered;
use frazil_plan::{ColumnId, Columns, Expr, ExprKind, JoinKind, Operator, RowCount};
use frazil_types::Value;
use std::collections::HashSet;

/// Pushes all predicates of an operator tree as far down as they go.
pub(super) fn push_down(op: Operator, columns: &mut Columns) -> Operator {
    push(op, Vec::new(), columns)
}

fn visible(op: &Operator) -> HashSet<ColumnId> {
    op.visible().into_iter().collect()
}

fn push(op: Operator, mut conjuncts: Vec<Expr>, columns: &mut Columns) -> Operator {
    match op {
        Operator::Filter { input, predicate } => {
            // The inner filter first: it may guard the outer one.
            let mut all = predicate.into_conjuncts();
            all.append(&mut conjuncts);
            push(*input, all, columns)
        }
        Operator::Map { input, expressions } => {
            let made: HashSet<ColumnId> = expressions.iter().map(|e| e.0).collect();
            let (below, above) = split(conjuncts, |e| !e.columns_read().iter().any(|c| made.contains(c)));
            let input = Box::new(push(*input, below, columns));
            filtered(Operator::Map { input, expressions }, above)
        }
        Operator::Join {
            kind: JoinKind::Inner,
            ..
        } => push_inner(op, conjuncts, columns),
        Operator::Join { .. } => push_join(op, conjuncts, columns),
        Operator::Aggregate { .. } => push_aggregate(op, conjuncts, columns),
        Operator::Sort {
            input,
            keys,
            limit: None,
            offset: RowCount::Constant(0),
        } => Operator::Sort {
            input: Box::new(push(*input, conjuncts, columns)),
            keys,
            limit: None,
            offset: RowCount::Constant(0),
        },
        Operator::UnionAll {
            inputs,
            columns: made,
        } => {
            let mut pushed = Vec::new();
            for (input, ids) in inputs {
                let mut below = conjuncts.clone();
                for e in &mut below {
                    e.replace_columns(&|id| {
                        let at = made.iter().position(|m| *m == id)?;
                        Some(Expr::column(ids[at], columns))
                    });
                }
                pushed.push((push(input, below, columns), ids));
            }
            Operator::UnionAll {
                inputs: pushed,
                columns: made,
            }
        }
        mut op => {
            for input in op.inputs_mut() {
                let below = std::mem::replace(input, nothing());
                *input = push(below, Vec::new(), columns);
            }
            filtered(
                op,
                conjuncts.into_iter().flat_map(disjunction::factored).collect(),
            )
        }
    }
}

/// What reads group columns alone holds for whole groups: it sinks below the grouping.
fn push_aggregate(op: Operator, conjuncts: Vec<Expr>, columns: &mut Columns) -> Operator {
    let Operator::Aggregate {
        input,
        groups,
        aggregates,
    } = op
    else {
        return filtered(op, conjuncts);
    };
    let keys: HashSet<ColumnId> = groups.iter().map(|g| g.0).collect();
    let on_keys = |e: &Expr| {
        let read = e.columns_read();
        !read.is_empty() && read.iter().all(|c| keys.contains(c))
    };
    let (mut below, above) = split(conjuncts, on_keys);
    for e in &mut below {
        e.replace_columns(&|id| groups.iter().find(|g| g.0 == id).map(|g| g.1.clone()));
    }
    let op = Operator::Aggregate {
        input: Box::new(push(*input, below, columns)),
        groups,
        aggregates,
    };
    filtered(op, above)
}

fn nothing() -> Operator {
    Operator::Values {
        columns: Vec::new(),
        rows: Vec::new(),
    }
}

fn split(all: Vec<Expr>, first: impl Fn(&Expr) -> bool) -> (Vec<Expr>, Vec<Expr>) {
    all.into_iter().partition(|e| first(e))
}

/// Outer, semi, anti and mark joins: what reads the probe side alone sinks there.
fn push_join(op: Operator, conjuncts: Vec<Expr>, columns: &mut Columns) -> Operator {
    let Operator::Join {
        mut kind,
        build,
        probe,
        keys,
        residual,
        null_aware,
    } = op
    else {
        return filtered(op, conjuncts);
    };
    let build_columns = visible(&build);
    if kind == JoinKind::ProbeOuter && conjuncts.iter().any(|e| rejects_null(e, &build_columns)) {
        kind = JoinKind::Inner;
        let op = Operator::Join {
            kind,
            build,
            probe,
            keys,
            residual,
            null_aware,
        };
        return push_inner(op, conjuncts, columns);
    }
    let preserves_probe = !matches!(kind, JoinKind::FullOuter | JoinKind::BuildOuter);
    let probe_columns = visible(&probe);
    let (below, above) = split(conjuncts, |e| {
        preserves_probe && e.columns_read().iter().all(|c| probe_columns.contains(c))
    });
    let op = Operator::Join {
        kind,
        build: Box::new(push(*build, Vec::new(), columns)),
        probe: Box::new(push(*probe, below, columns)),
        keys,
        residual,
        null_aware,
    };
    filtered(op, above)
}

/// Whether a predicate cannot be true where all of `side` is NULL.
fn rejects_null(e: &Expr, side: &HashSet<ColumnId>) -> bool {
    match &e.kind {
        ExprKind::Compare(_, l, r) => null_with(l, side) || null_with(r, side),
        ExprKind::InList { value, .. } | ExprKind::Like { value, .. } => null_with(value, side),
        ExprKind::And(parts) => parts.iter().any(|p| rejects_null(p, side)),
        ExprKind::Or(parts) => parts.iter().all(|p| rejects_null(p, side)),
        ExprKind::Not(inner) => match &inner.kind {
            ExprKind::IsNull(value) => null_with(value, side),
            _ => null_with(inner, side),
        },
        ExprKind::Column(id) => side.contains(id),
        _ => false,
    }
}

/// Whether an expression is NULL where all of `side` is.
fn null_with(e: &Expr, side: &HashSet<ColumnId>) -> bool {
    match &e.kind {
        ExprKind::Column(id) => side.contains(id),
        ExprKind::Arithmetic(_, l, r) | ExprKind::Compare(_, l, r) => {
            null_with(l, side) || null_with(r, side)
        }
        ExprKind::Cast(inner)
        | ExprKind::Negate(inner)
        | ExprKind::Extract(_, inner)
        | ExprKind::AddInterval(inner, _) => null_with(inner, side),
        ExprKind::InList { value, .. } | ExprKind::Like { value, .. } => null_with(value, side),
        ExprKind::Function(_, arguments) => arguments.iter().any(|a| null_with(a, side)),
        _ => false,
    }
}

/// Takes a tree of inner joins and filters apart.
fn flatten(op: Operator, inputs: &mut Vec<Operator>, conjuncts: &mut Vec<Expr>) {
    match op {
        Operator::Join {
            kind: JoinKind::Inner,
            build,
            probe,
            keys,
            residual,
            ..
        } => {
            flatten(*probe, inputs, conjuncts);
            flatten(*build, inputs, conjuncts);
            for (b, p) in keys {
                let nullable = b.nullable || p.nullable;
                let kind = ExprKind::Compare(frazil_types::CompareOp::Eq, Box::new(p), Box::new(b));
                conjuncts.push(Expr::boolean(kind, nullable));
            }
            conjuncts.extend(residual.into_iter().flat_map(Expr::into_conjuncts));
        }
        Operator::Filter { input, predicate } if is_inner_join(&input) => {
            flatten(*input, inputs, conjuncts);
            conjuncts.extend(predicate.into_conjuncts());
        }
        other => inputs.push(other),
    }
}

fn is_inner_join(op: &Operator) -> bool {
    match op {
        Operator::Join { kind, .. } => *kind == JoinKind::Inner,
        Operator::Filter { input, .. } => is_inner_join(input),
        _ => false,
    }
}

/// A tree of inner joins.
fn push_inner(op: Operator, above: Vec<Expr>, columns: &mut Columns) -> Operator {
    let (mut inputs, mut conjuncts) = (Vec::new(), Vec::new());
    flatten(op, &mut inputs, &mut conjuncts);
    conjuncts.extend(above);
    let conjuncts: Vec<Expr> = conjuncts.into_iter().flat_map(disjunction::factored).collect();
    let sides: Vec<HashSet<ColumnId>> = inputs.iter().map(visible).collect();
    let mut own: Vec<Vec<Expr>> = vec![Vec::new(); inputs.len()];
    let mut between = Vec::new();
    for e in conjuncts {
        if matches!(e.kind, ExprKind::Constant(Value::Bool(true))) {
            continue;
        }
        let read = e.columns_read();
        let home = sides
            .iter()
            .position(|s| !read.is_empty() && read.iter().all(|c| s.contains(c)));
        match home {
            Some(i) => own[i].push(e),
            None => {
                for (side, own) in sides.iter().zip(&mut own) {
                    own.extend(disjunction::implied(&e, side));
                }
                between.push(e);
            }
        }
    }
    let pushed = inputs
        .into_iter()
        .zip(own)
        .map(|(op, own)| push(op, own, columns));
    connect(pushed.collect(), sides, between)
}

/// Joins inputs in their order, each as soon as a key connects it to what is joined already.
fn connect(inputs: Vec<Operator>, sides: Vec<HashSet<ColumnId>>, mut between: Vec<Expr>) -> Operator {
    let mut left: Vec<(Operator, HashSet<ColumnId>)> = inputs.into_iter().zip(sides).collect();
    let (mut joined, mut known) = left.remove(0);
    loop {
        let ready = |e: &Expr| e.columns_read().iter().all(|c| known.contains(c));
        let (now, later) = split(between, ready);
        joined = filtered(joined, now);
        between = later;
        if left.is_empty() {
            return filtered(joined, between);
        }
        let connects = |side: &HashSet<ColumnId>| {
            between.iter().any(|e| {
                join::as_key(e, side)
                    .is_some_and(|(_, probe)| probe.columns_read().iter().all(|c| known.contains(c)))
            })
        };
        let next = left.iter().position(|(_, side)| connects(side)).unwrap_or(0);
        let (build, side) = left.remove(next);
        let (mut keys, mut rest) = (Vec::new(), Vec::new());
        for e in between {
            match join::as_key(&e, &side) {
                Some((b, p)) if p.columns_read().iter().all(|c| known.contains(c)) => keys.push((b, p)),
                _ => rest.push(e),
            }
        }
        between = rest;
        known.extend(side);
        joined = Operator::Join {
            kind: JoinKind::Inner,
            build: Box::new(build),
            probe: Box::new(joined),
            keys,
            residual: None,
            null_aware: false,
        };
    }
}
