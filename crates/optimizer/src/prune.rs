//! Drops columns that nobody reads: of scans, maps, aggregations, unions and shared subplans. With them go sides of outer
//! joins that add no rows.

use crate::pushdown::take;
use frazil_plan::operators::{Join, Map, Needed};
use frazil_plan::{ColumnId, JoinKind, Operator, Plan};

/// Prunes a plan without subqueries in its expressions.
pub fn plan(plan: &mut Plan) {
    let mut needed = Flags(vec![false; plan.columns.len()]);
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
struct Flags(Vec<bool>);

impl Flags {
    fn extend(&mut self, ids: impl IntoIterator<Item = ColumnId>) {
        ids.into_iter().for_each(|id| self.0[id.0 as usize] = true);
    }
}

impl Needed for Flags {
    fn contains(&self, id: ColumnId) -> bool {
        self.0[id.0 as usize]
    }

    fn add(&mut self, ids: &[ColumnId]) {
        self.extend(ids.iter().copied());
    }
}

/// The side of a join that is all its rows, where the other neither adds any nor is read: that need not be run, whatever errors
/// it would raise.
fn only_side<'a>(op: &'a mut Operator, needed: &Flags) -> Option<&'a mut Operator> {
    let Operator::Join(Join {
        kind, build, probe, ..
    }) = op
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

fn below(op: &mut Operator, needed: &mut Flags) {
    while let Some(side) = only_side(op, needed) {
        *op = take(side);
    }
    op.node_mut().prune(needed);
    needed.extend(op.reads());
    for input in op.inputs_mut() {
        below(input, needed);
    }
    if let Operator::Map(Map { input, expressions }) = op
        && expressions.is_empty()
    {
        *op = take(input);
    }
}
