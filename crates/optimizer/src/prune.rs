//! Drops columns that nobody reads: of scans, maps, aggregations, unions and shared subplans. With them go sides of outer
//! joins that add no rows.

use crate::pushdown::take;
use frazil_plan::{ColumnId, JoinKind, Operator, Plan};

/// Prunes a plan without subqueries in its expressions.
pub fn plan(plan: &mut Plan) {
    let mut needed = Needed(vec![false; plan.columns.len()]);
    needed.extend(plan.output.iter().map(|o| o.1));
    below(&mut plan.root, &mut needed);
    for (op, column) in &mut plan.subqueries {
        needed.extend([*column]);
        below(op, &mut needed);
    }
    // Shared plans read only earlier ones: the last first.
    for tree in plan.shared.iter_mut().rev() {
        below(tree, &mut needed);
    }
}

/// Columns that somebody reads: whether column `i` of the plan is one.
struct Needed(Vec<bool>);

impl Needed {
    fn contains(&self, id: ColumnId) -> bool {
        self.0[id.0 as usize]
    }

    fn extend(&mut self, ids: impl IntoIterator<Item = ColumnId>) {
        ids.into_iter().for_each(|id| self.0[id.0 as usize] = true);
    }
}

/// The side of a join that is all its rows, where the other neither adds any nor is read: that need not be run, whatever errors
/// it would raise.
fn only_side<'a>(op: &'a mut Operator, needed: &Needed) -> Option<&'a mut Operator> {
    let Operator::Join {
        kind, build, probe, ..
    } = op
    else {
        return None;
    };
    let (kept, other) = match kind {
        JoinKind::ProbeOuter => (probe, build),
        JoinKind::BuildOuter => (build, probe),
        _ => return None,
    };
    let is_read = || other.visible().into_iter().any(|id| needed.contains(id));
    (other.at_most_one_row() && !is_read()).then_some(&mut **kept)
}

fn below(op: &mut Operator, needed: &mut Needed) {
    while let Some(side) = only_side(op, needed) {
        *op = take(side);
    }
    match op {
        Operator::Map { expressions, .. } => {
            // Later expressions may read earlier ones.
            for i in (0..expressions.len()).rev() {
                if needed.contains(expressions[i].0) {
                    needed.extend(expressions[i].1.columns_read());
                }
            }
            expressions.retain(|e| needed.contains(e.0));
        }
        Operator::Aggregate { aggregates, .. } => aggregates.retain(|a| needed.contains(a.0)),
        Operator::Scan { columns, .. } | Operator::Given { columns } => {
            columns.retain(|c| needed.contains(c.0));
        }
        Operator::Shared { columns, .. } => {
            columns.retain(|c| needed.contains(c.0));
            needed.extend(columns.iter().map(|c| c.1));
        }
        Operator::UnionAll { inputs, columns } => {
            let kept: Vec<bool> = columns.iter().map(|c| needed.contains(*c)).collect();
            let keep = |ids: &mut Vec<ColumnId>| {
                let mut flags = kept.iter();
                ids.retain(|_| flags.next().copied().unwrap_or(true));
            };
            keep(columns);
            inputs.iter_mut().for_each(|i| keep(&mut i.1));
        }
        _ => {}
    }
    needed.extend(op.reads());
    for input in op.inputs_mut() {
        below(input, needed);
    }
    if let Operator::Map { input, expressions } = op
        && expressions.is_empty()
    {
        *op = take(input);
    }
}
