//! The shared subplans of a plan: trees rewritten where parts of them come to be shared, and those left out that nobody reads.

use crate::pushdown::take;
use frazil_plan::{Columns, Operator, Plan, SharedId};
use frazil_types::Result;

/// A rewriting of a tree, which may add shared subplans to the list.
pub type Rewrite<'a> = &'a mut dyn FnMut(Operator, &mut Columns, &mut Vec<Operator>) -> Result<Operator>;

/// Rewrites the trees of a plan without subqueries in its expressions. A shared subplan reads only those before it, so what a
/// tree comes to share goes in front of it and those behind move on.
pub fn rewrite(plan: &mut Plan, rewrite: Rewrite<'_>) -> Result<()> {
    let mut shared = Vec::with_capacity(plan.shared.len());
    let mut moved = Vec::with_capacity(plan.shared.len());
    for mut tree in std::mem::take(&mut plan.shared) {
        crate::rename::move_shared(&mut tree, &moved);
        let tree = rewrite(tree, &mut plan.columns, &mut shared)?;
        moved.push(SharedId(shared.len()));
        shared.push(tree);
    }
    for tree in (plan.subqueries.iter_mut().map(|s| &mut s.0)).chain([&mut plan.root]) {
        crate::rename::move_shared(tree, &moved);
        *tree = rewrite(take(tree), &mut plan.columns, &mut shared)?;
    }
    plan.shared = shared;
    Ok(())
}

/// Leaves out the shared subplans that nobody reads.
pub fn drop_unread(plan: &mut Plan) {
    let mut is_read = vec![false; plan.shared.len()];
    for tree in plan.unshared_trees() {
        tree.shared_read(&mut |id| is_read[id.0] = true);
    }
    // A shared subplan reads only those before it.
    for at in (0..plan.shared.len()).rev() {
        if is_read[at] {
            plan.shared[at].shared_read(&mut |id| is_read[id.0] = true);
        }
    }
    if is_read.iter().all(|read| *read) {
        return;
    }
    let before = |at: usize| is_read[..at].iter().filter(|read| **read).count();
    let moved: Vec<SharedId> = (0..is_read.len()).map(|at| SharedId(before(at))).collect();
    let mut kept = is_read.iter().copied();
    plan.shared.retain(|_| kept.next() == Some(true));
    plan.trees_mut()
        .0
        .for_each(|tree| crate::rename::move_shared(tree, &moved));
}
