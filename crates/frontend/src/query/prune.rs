//! Drops columns that nobody reads: of scans, maps, aggregations, unions and shared subplans.

use frazil_plan::{ColumnId, Operator, Plan};
use std::collections::HashSet;

/// Prunes a whole plan.
pub(super) fn prune(plan: &mut Plan) {
    let mut needed: HashSet<ColumnId> = plan.output.iter().map(|o| o.1).collect();
    prune_below(&mut plan.root, &mut needed);
    for (op, column) in &mut plan.subqueries {
        needed.insert(*column);
        prune_below(op, &mut needed);
    }
    // Shared plans read only earlier ones: the last first.
    for i in (0..plan.shared.len()).rev() {
        prune_below(&mut plan.shared[i], &mut needed);
    }
}

fn prune_below(op: &mut Operator, needed: &mut HashSet<ColumnId>) {
    match op {
        Operator::Map { expressions, .. } => expressions.retain(|e| needed.contains(&e.0)),
        Operator::Aggregate { aggregates, .. } => aggregates.retain(|a| needed.contains(&a.0)),
        Operator::Scan { columns, .. } => columns.retain(|c| needed.contains(&c.0)),
        Operator::Shared { columns, .. } => {
            columns.retain(|c| needed.contains(&c.0));
            needed.extend(columns.iter().map(|c| c.1));
        }
        Operator::UnionAll { inputs, columns } => {
            let kept: Vec<bool> = columns.iter().map(|c| needed.contains(c)).collect();
            let keep = |ids: &mut Vec<ColumnId>| {
                let mut flags = kept.iter();
                ids.retain(|_| *flags.next().unwrap_or(&true));
            };
            keep(columns);
            for (_, ids) in inputs {
                keep(ids);
                needed.extend(ids.iter().copied());
            }
        }
        Operator::Sort { keys, .. } => needed.extend(keys.iter().map(|k| k.column)),
        Operator::Insert { columns, .. } => needed.extend(columns.iter().copied()),
        Operator::Delete { row_id, .. } => {
            needed.insert(*row_id);
        }
        Operator::TopPerGroup { .. }
        | Operator::Values { .. }
        | Operator::Filter { .. }
        | Operator::Join { .. }
        | Operator::DependentJoin { .. }
        | Operator::Limit { .. } => {}
    }
    needed.extend(op.reads());
    for input in op.inputs_mut() {
        prune_below(input, needed);
    }
    // What became empty goes.
    if let Operator::Map { input, expressions } = op
        && expressions.is_empty()
    {
        *op = std::mem::replace(
            input,
            Operator::Values {
                columns: Vec::new(),
                rows: Vec::new(),
            },
        );
    }
}
