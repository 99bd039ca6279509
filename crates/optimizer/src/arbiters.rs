//! ON CONFLICT with a target: the unique indexes that the target means. As in PostgreSQL, an index matches if it has
//! the keys of the target, in any order, and a partial index if the target's WHERE implies the index's condition.

use crate::implication::{implies, without_nullability, without_relabels};
use crate::simplify;
use frazil_plan::same::same;
use frazil_plan::{ArbiterCandidate, Columns, ConflictTarget, Expr, Plan};
use frazil_types::{Error, ObjectId, Result, SqlState};

/// Replaces the target of a plan's ON CONFLICT by the indexes that match. 42P10 if there are none.
pub fn plan(plan: &mut Plan) -> Result<()> {
    let Some(write) = plan.root.write_mut() else {
        return Ok(());
    };
    let Some(arbiters) = write.change.arbiters_mut() else {
        return Ok(());
    };
    if let Some(target) = arbiters.target.take() {
        arbiters.indexes = matching(*target, &plan.columns)?;
    }
    Ok(())
}

fn matching(target: ConflictTarget, columns: &Columns) -> Result<Vec<ObjectId>> {
    let comparable = |mut e: Expr| {
        simplify::expression(&mut e, columns);
        without_relabels(&without_nullability(&e))
    };
    let keys: Vec<Expr> = target.keys.into_iter().map(comparable).collect();
    let predicate = target.predicate.map(|e| comparable(e).into_conjuncts());
    let predicates = predicate.unwrap_or_default();
    let matches = |candidate: ArbiterCandidate| {
        let of_index: Vec<Expr> = candidate.keys.into_iter().map(comparable).collect();
        let has_rows =
            || (candidate.condition).is_none_or(|condition| implies(&predicates, &comparable(condition)));
        let fits = has_all(&of_index, &keys) && has_all(&keys, &of_index) && has_rows();
        fits.then_some(candidate.index)
    };
    let indexes: Vec<ObjectId> = target.candidates.into_iter().filter_map(matches).collect();
    if indexes.is_empty() {
        let message = "there is no unique or exclusion constraint matching the ON CONFLICT specification";
        return Err(Error::new(SqlState::INVALID_COLUMN_REFERENCE, message).at_span(target.span));
    }
    Ok(indexes)
}

/// True if each of some expressions is in a list.
fn has_all(list: &[Expr], wanted: &[Expr]) -> bool {
    wanted.iter().all(|wanted| list.iter().any(|e| same(e, wanted)))
}
