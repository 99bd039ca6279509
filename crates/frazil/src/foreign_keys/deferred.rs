//! Constraints that are checked when the transaction ends, or when SET CONSTRAINTS says so. A statement puts off the
//! checks of rows of a child and of NO ACTION; actions are done at its end, whatever is deferred.

use super::key_values::KeyPair;
use super::lookups::NewChildren;
use crate::deferrable_keys;
use crate::query::Runner;
use frazil_catalog::{Deferral, ReferentialAction};
use frazil_storage::{DeferredChecks, DeferredEntry, RowFetch, TableMode, Transaction};
use frazil_types::{ObjectId, Result, RowId, Value};

/// Rows whose keys are compared together.
const STEP: usize = 4096;

/// True if a foreign key is not to be checked now.
pub(super) fn is_deferred(transaction: &Transaction, pair: &KeyPair) -> bool {
    let initially = match pair.key.deferral {
        Deferral::Never => return false,
        Deferral::Immediate => false,
        Deferral::Deferred => true,
    };
    transaction.deferred().is_deferred(pair.id, initially)
}

/// Puts off the check of rows of a child. 53200.
pub(super) fn children(
    transaction: &mut Transaction,
    pair: &KeyPair,
    children: &NewChildren<'_>,
) -> Result<()> {
    let rows = match children.before.is_empty() {
        true => children.rows.to_vec(),
        false => rows_to_check(transaction, pair, children)?,
    };
    if rows.is_empty() {
        return Ok(());
    }
    transaction.put_off(DeferredEntry::Children {
        child: pair.child.id,
        constraint: pair.id,
        rows,
    })
}

/// The rows that have other keys than those that they replace, or replace a row of the transaction's own: that one is
/// gone, and its check with it. A row whose NULLs excuse it has no check.
fn rows_to_check(
    transaction: &Transaction,
    pair: &KeyPair,
    children: &NewChildren<'_>,
) -> Result<Vec<RowId>> {
    let fetch = RowFetch::new(transaction.view().table(pair.child.id)?);
    let mut left = Vec::new();
    let pairs = children.before.chunks(STEP).zip(children.rows.chunks(STEP));
    for (before, rows) in pairs {
        let old = fetch.fetch_columns(before, &pair.child_columns)?;
        let new = fetch.fetch_columns(rows, &pair.child_columns)?;
        let stays = |at: usize| {
            let mut columns = old.columns.iter().zip(&new.columns);
            columns.all(|(old, new)| old.value(at) == new.value(at))
        };
        let is_left = |at: &usize| {
            let nulls = new
                .columns
                .iter()
                .filter(|column| column.value(*at).is_null())
                .count();
            match nulls {
                0 => !stays(*at) || transaction.is_own(pair.child.id, before[*at]),
                // Values beside NULLs: MATCH FULL refuses the row.
                nulls => pair.key.match_full && nulls < new.columns.len(),
            }
        };
        left.extend((0..rows.len()).filter(is_left).map(|at| rows[at]));
    }
    Ok(left)
}

/// Puts off the check that no row refers to keys of the parent that went. 53200.
pub(super) fn parents(transaction: &mut Transaction, pair: &KeyPair, keys: &[Vec<Value>]) -> Result<()> {
    transaction.put_off(DeferredEntry::Parents {
        parent: pair.parent.id,
        child: pair.child.id,
        constraint: pair.id,
        keys: keys.to_vec(),
    })
}

/// Does all checks that a transaction put off, before it commits. 23503, 23505, 40001, 40P01, 55P03, 57014.
pub fn finish_transaction(runner: &Runner, transaction: &mut Transaction) -> Result<()> {
    check(runner, transaction, &|_| true)
}

/// Does what SET CONSTRAINTS says: of constraints, or all. Checks that are not to be put off any more are done. 23503,
/// 57014.
pub fn set_mode(
    runner: &Runner,
    transaction: &mut Transaction,
    constraints: Option<Vec<ObjectId>>,
    is_deferred: bool,
) -> Result<()> {
    let is_meant = |key: ObjectId| constraints.as_ref().is_none_or(|named| named.contains(&key));
    if !is_deferred {
        check(runner, transaction, &is_meant)?;
        let pending = transaction.deferred().pending();
        let checks = pending.filter_map(|entry| Some(entry.check()?.1));
        let mut checked: Vec<ObjectId> = checks.filter(|key| is_meant(*key)).collect();
        checked.sort_unstable();
        checked.dedup();
        for constraint in checked {
            transaction.put_off(DeferredEntry::Checked { constraint })?;
        }
    }
    transaction.put_off(DeferredEntry::Mode {
        constraints,
        is_deferred,
    })
}

/// Does the checks of the constraints that are wanted.
fn check(runner: &Runner, transaction: &mut Transaction, wanted: &dyn Fn(ObjectId) -> bool) -> Result<()> {
    let put_off = transaction.take_deferred();
    let checked = check_all(runner, transaction, &put_off, wanted);
    transaction.give_back_deferred(put_off);
    checked
}

fn check_all(
    runner: &Runner,
    transaction: &mut Transaction,
    put_off: &DeferredChecks,
    wanted: &dyn Fn(ObjectId) -> bool,
) -> Result<()> {
    for entry in put_off.pending() {
        let Some((child, constraint)) = entry.check().filter(|(_, key)| wanted(*key)) else {
            continue;
        };
        if let DeferredEntry::Keys { rows, .. } = entry {
            deferrable_keys::check(runner, transaction, (child, constraint), rows)?;
            continue;
        }
        let catalog = transaction.view().catalog().clone();
        let Some(pair) = KeyPair::find(&catalog, child, constraint)? else {
            continue;
        };
        // The table whose rows were written is locked since then.
        let other = match entry {
            DeferredEntry::Children { .. } => pair.parent.id,
            DeferredEntry::Parents { .. }
            | DeferredEntry::Keys { .. }
            | DeferredEntry::Mode { .. }
            | DeferredEntry::Checked { .. } => child,
        };
        let Some(pair) = super::locked(transaction, pair, other, TableMode::RowShare)? else {
            continue;
        };
        let violation = match entry {
            DeferredEntry::Children { rows, .. } => {
                let children = NewChildren { rows, before: &[] };
                super::first_orphan(runner, transaction, &pair, &children)?.map(|(_, error)| error)
            }
            DeferredEntry::Parents { keys, .. } => {
                super::claim_gone(transaction, &pair, keys)?;
                let at = super::first_left(runner, transaction, &pair, keys, ReferentialAction::NoAction)?;
                at.map(|at| pair.still_referenced(&keys[at]))
            }
            DeferredEntry::Keys { .. } | DeferredEntry::Mode { .. } | DeferredEntry::Checked { .. } => None,
        };
        if let Some(error) = violation {
            return Err(error);
        }
    }
    Ok(())
}
