//! Keys of a selective relation pushed into an aggregation it is joined with (TPC-H 2, 17, 20): a
//! decorrelated subquery groups a whole table by a key of which the outer query needs few values. A semi
//! join below the aggregation, with a second scan of the selective relation, leaves only their rows.

use crate::cardinality::Estimator;
use crate::join_graph::Graph;
use crate::pushdown::{same_native, take};
use frazil_plan::operators::{Aggregate, Filter, Join, Map};
use frazil_plan::{ColumnId, Columns, Expr, ExprKind, JoinKind, Operator};

/// Worth it if at most this part of the keys is needed …
const MAX_PART: f64 = 0.25;
/// … and the aggregation reads at least this many rows.
const MIN_ROWS: f64 = 20_000.0;

/// Reduces the inputs of the aggregations among a region's relations.
pub fn reduce(graph: &mut Graph, estimator: &mut Estimator<'_>, columns: &mut Columns) {
    let equal = equal_columns(graph);
    for i in 0..graph.relations.len() {
        if !keeps_only_matches(graph, i) {
            continue;
        }
        let Some((groups, rows)) = aggregation(&graph.relations[i].op, estimator, columns) else {
            continue;
        };
        if rows < MIN_ROWS {
            continue;
        }
        let found = groups
            .iter()
            .filter_map(|(made, key)| {
                let (part, j, id) = best_source(graph, i, *made, &equal, estimator, columns)?;
                (part <= MAX_PART).then(|| (part, j, id, key.clone()))
            })
            .min_by(|a, b| a.0.total_cmp(&b.0));
        if let Some((_, j, id, key)) = found {
            let (source, renamed) = copy_of(&graph.relations[j].op, id, columns);
            estimator.learn(&source, columns);
            insert(
                &mut graph.relations[i].op,
                source,
                Expr::column(renamed, columns),
                key,
            );
        }
    }
}

/// Whether groups without a partner in the rest of the region are not seen: inner joins, and the right
/// sides of semi and outer joins. (An anti join's as well, but a NULL-aware one asks whether it is empty.)
fn keeps_only_matches(graph: &Graph, i: usize) -> bool {
    match &graph.relations[i].directed {
        None => true,
        Some(d) => matches!(d.kind, JoinKind::ProbeSemi | JoinKind::ProbeOuter),
    }
}

/// Pairs of columns, with their relations, that are equal in every row of the region's result.
fn equal_columns(graph: &Graph) -> Vec<[ColumnId; 2]> {
    let column = Expr::as_column;
    let mut pairs = Vec::new();
    for p in graph.predicates.iter().filter(|p| p.sides.is_some()) {
        if let ExprKind::Compare(_, l, r) = &p.expr.kind
            && let (Some(l), Some(r)) = (column(l), column(r))
        {
            pairs.push([l, r]);
        }
    }
    for d in graph.relations.iter().filter_map(|r| r.directed.as_ref()) {
        // An outer join's keys are equal where its right side matters.
        if matches!(d.kind, JoinKind::ProbeSemi | JoinKind::ProbeOuter) {
            pairs.extend(d.keys.iter().filter_map(|(b, p)| Some([column(b)?, column(p)?])));
        }
    }
    pairs
}

/// Columns equal to one, itself first.
fn class_of(id: ColumnId, equal: &[[ColumnId; 2]]) -> Vec<ColumnId> {
    let mut class = vec![id];
    let mut at = 0;
    while at < class.len() {
        for [a, b] in equal {
            for (from, to) in [(a, b), (b, a)] {
                if *from == class[at] && !class.contains(to) {
                    class.push(*to);
                }
            }
        }
        at += 1;
    }
    class
}

/// Group columns of an aggregation, below filters and maps, with the rows it reads.
fn aggregation(
    op: &Operator,
    estimator: &Estimator<'_>,
    columns: &Columns,
) -> Option<(Vec<(ColumnId, Expr)>, f64)> {
    if let Operator::Filter(Filter { input, .. }) | Operator::Map(Map { input, .. }) = op {
        return aggregation(input, estimator, columns);
    }
    let Operator::Aggregate(Aggregate { input, groups, .. }) = op else {
        return None;
    };
    (!groups.is_empty()).then(|| (groups.clone(), estimator.rows(input, columns)))
}

/// The relation that leaves the smallest part of the keys equal to `made`: (part, relation, its column).
fn best_source(
    graph: &Graph,
    of: usize,
    made: ColumnId,
    equal: &[[ColumnId; 2]],
    estimator: &Estimator<'_>,
    columns: &Columns,
) -> Option<(f64, usize, ColumnId)> {
    let mut best: Option<(f64, usize, ColumnId)> = None;
    for id in class_of(made, equal) {
        let Some(j) = graph.relations.iter().position(|r| r.columns.contains(&id)) else {
            continue;
        };
        let relation = &graph.relations[j];
        let restricts = match &relation.directed {
            None => true,
            Some(d) => d.kind == JoinKind::ProbeSemi,
        };
        if j == of || !restricts || !is_filtered_scan(&relation.op) {
            continue;
        }
        let rows = estimator.rows(&relation.op, columns);
        let key = Expr::column(id, columns);
        let domain = estimator.distinct(&key, columns).unwrap_or(rows * 2.0);
        let part = (rows / domain.max(1.0)).min(1.0);
        if best.is_none_or(|b| part < b.0) {
            best = Some((part, j, id));
        }
    }
    best
}

/// A scan under at least one filter: cheap to do twice, and worth it.
fn is_filtered_scan(op: &Operator) -> bool {
    if let Operator::Filter(Filter { input, .. }) = op {
        return matches!(**input, Operator::Scan(_)) || is_filtered_scan(input);
    }
    matches!(op, Operator::Scan(scan) if !scan.restrictions.is_empty() || !scan.disjunctions.is_empty())
}

/// A second scan with columns of its own; gives also the column that stands for `id`.
fn copy_of(op: &Operator, id: ColumnId, columns: &mut Columns) -> (Operator, ColumnId) {
    let mut copy = op.clone();
    let mut names: Vec<(ColumnId, ColumnId)> = Vec::new();
    for old in op.visible() {
        let info = columns[old].clone();
        let new = columns.add(info.label, info.ty, info.nullable);
        columns[new].bounds = info.bounds;
        columns[new].observed = info.observed;
        names.push((old, new));
    }
    rename(&mut copy, &names, columns);
    let renamed = names.iter().find(|n| n.0 == id).map_or(id, |n| n.1);
    (copy, renamed)
}

/// Renames the columns of a scan and of the filters above it.
fn rename(op: &mut Operator, names: &[(ColumnId, ColumnId)], columns: &Columns) {
    let new = |id: ColumnId| names.iter().find(|n| n.0 == id).map_or(id, |n| n.1);
    op.node_mut().ids_mut(&mut |_, id| *id = new(*id));
    for e in op.expressions_mut() {
        e.replace_columns(&|id| Some(Expr::column(new(id), columns)));
    }
    for input in op.inputs_mut() {
        rename(input, names, columns);
    }
}

/// Puts the semi join under the aggregation.
fn insert(op: &mut Operator, source: Operator, source_key: Expr, key: Expr) {
    if let Operator::Filter(Filter { input, .. }) | Operator::Map(Map { input, .. }) = op {
        insert(input, source, source_key, key);
    } else if let Operator::Aggregate(Aggregate { input, .. }) = op {
        let probe = Box::new(take(input));
        **input = Operator::Join(Join {
            kind: JoinKind::ProbeSemi,
            build: Box::new(source),
            probe,
            keys: vec![same_native(source_key, key)],
            residual: None,
            null_aware: false,
            in_order: false,
            first: None,
        });
    }
}
