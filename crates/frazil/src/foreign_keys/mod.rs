//! Foreign keys at the end of a statement. Rows that were written wait in the transaction's queue, whatever way
//! they came. Each batch of the queue is looked at once: rows of a child need a parent, and what becomes of the
//! children of a key that went is an action, which queues the rows that it writes behind the others. So a statement
//! ends when the queue is empty, and cycles of cascades end because a row is deleted once, and a key that stays
//! does nothing. Rows that may share a deferrable key wait in the same queue.
//!
//! Other sessions write to the same tables meanwhile. A check claims the keys that it is about, then looks at the
//! newest version; the essay of `frazil_storage`'s `key_claims.rs` has the reasons. The tables that it reads are
//! locked first, so that their definitions stay.
//!
//! Batches and, within one, constraints come in PostgreSQL's order: that of writing, and that of making. PostgreSQL
//! goes from row to row, so a few rows are a batch each.

mod actions;
mod deferred;
mod equal_values;
mod key_values;
mod lookups;
mod whole_tables;

use crate::deferrable_keys;
use crate::query::Runner;
pub use deferred::{finish_transaction, set_mode};
use frazil_catalog::{Catalog, ReferentialAction};
use frazil_storage::{KeyMode, QueuedRows, RowFetch, Snapshot, TableMode, Transaction, WrittenRows};
use frazil_types::{Error, ObjectId, Result, RowBatch, RowId, Value};
pub(crate) use key_values::KeyPair;
use lookups::NewChildren;
use std::sync::Arc;
pub(crate) use whole_tables::{validate, violations};

/// Rows that are checked one after the other if as many were written together, and not more.
const FEW: usize = 16;

/// Checks the foreign keys and deferrable keys of all rows that are queued, and does the actions. 23503, 23505, the
/// errors of writing rows, 57014.
pub fn finish_statement(runner: &Runner, transaction: &mut Transaction) -> Result<()> {
    while transaction.has_queued() {
        for written in batches(transaction.take_queued()) {
            let catalog = transaction.view().catalog().clone();
            let mut batch = Batch {
                runner,
                transaction: &mut *transaction,
                catalog,
                table: written.table,
                first: None,
            };
            batch.run(written)?;
        }
    }
    Ok(())
}

/// Rows of one table that are checked together.
struct Written {
    table: ObjectId,
    /// The rows, old and new. Equally many, or one list is empty.
    before: Vec<RowId>,
    after: Vec<RowId>,
    /// New rows that entered deferrable indexes in which another row may have their key, by index.
    contested: Vec<(ObjectId, Vec<RowId>)>,
}

/// Joins rows with what the queue says of their deferrable keys. A few rows become a batch each: their checks and
/// actions come row by row, as in PostgreSQL, which shows if several constraints are violated.
fn batches(queued: Vec<QueuedRows>) -> Vec<Written> {
    let mut batches = Vec::with_capacity(queued.len());
    let mut contested: Vec<(ObjectId, Vec<RowId>)> = Vec::new();
    let mut left = queued.into_iter().peekable();
    while let Some(QueuedRows { table, rows }) = left.next() {
        let (before, after) = match rows {
            WrittenRows::Inserted(runs) => (Vec::new(), runs.into_iter().flat_map(|run| run.ids()).collect()),
            WrittenRows::Deleted(ids) => (ids, Vec::new()),
            WrittenRows::Updated(pairs) => pairs.into_iter().unzip(),
            WrittenRows::Contested { index, rows } => {
                contested.push((index, rows));
                if left
                    .peek()
                    .is_some_and(|next| next.table == table && next.rows.has_new())
                {
                    continue;
                }
                (Vec::new(), Vec::new())
            }
        };
        let whole = Written {
            table,
            before,
            after,
            contested: std::mem::take(&mut contested),
        };
        match whole.before.len().max(whole.after.len()) {
            2..=FEW => batches.extend(whole.single_rows()),
            _ => batches.push(whole),
        }
    }
    batches
}

impl Written {
    /// A batch for each row.
    fn single_rows(self) -> impl Iterator<Item = Written> {
        let Written {
            table,
            before,
            after,
            contested,
        } = self;
        (0..before.len().max(after.len())).map(move |at| {
            let one = |rows: &[RowId]| rows.get(at).copied().into_iter().collect::<Vec<RowId>>();
            let own = |(index, rows): &(ObjectId, Vec<RowId>)| {
                let row = after.get(at).filter(|row| rows.contains(row))?;
                Some((*index, vec![*row]))
            };
            Written {
                table,
                before: one(&before),
                after: one(&after),
                contested: contested.iter().filter_map(own).collect(),
            }
        })
    }
}

/// The first row of a child whose key is not one of the parent: its place and the error. Many rows are checked by one
/// join, with a claim on all keys.
fn first_orphan(
    runner: &Runner,
    transaction: &mut Transaction,
    pair: &KeyPair,
    children: &NewChildren<'_>,
) -> Result<Option<(usize, Error)>> {
    if !whole_tables::is_cheaper(transaction.view(), pair, children)? {
        return lookups::first_orphan(runner, transaction, pair, children);
    }
    transaction.claim_all_keys(pair.parent.id, pair.key.index, KeyMode::Referenced)?;
    let newest = transaction.newest_view()?;
    // A transaction that sees one version to its end finds only parents of that one.
    let is_sound = !whole_tables::has_orphan(runner, newest, pair)?
        && (!transaction.is_behind_in(pair.parent.id)
            || !whole_tables::has_orphan(runner, transaction.snapshot(), pair)?);
    match is_sound {
        true => Ok(None),
        false => lookups::first_orphan(runner, transaction, pair, children),
    }
}

/// The place of the first of some keys of the parent that went and to which rows of the child still refer. The keys are
/// claimed. A row that somebody else is changing is waited for. 40P01, 55P03, 57014.
fn first_left(
    runner: &Runner,
    transaction: &mut Transaction,
    pair: &KeyPair,
    keys: &[Vec<Value>],
    action: ReferentialAction,
) -> Result<Option<usize>> {
    loop {
        let newest = transaction.newest_view()?;
        let left = left_of(&newest, pair, keys, action)?;
        let referred: Vec<&[Value]> = left.iter().map(|&at| &keys[at][..]).collect();
        let first = lookups::first_referenced(runner, &newest, pair, &referred)?;
        let Some((at, row)) = first else { return Ok(None) };
        if !transaction.wait_for_change_of(pair.child.id, row)? {
            return Ok(Some(left[at]));
        }
    }
}

/// The places of keys that no row of the parent has again, or of all keys if that does not count.
fn left_of(
    newest: &Snapshot,
    pair: &KeyPair,
    keys: &[Vec<Value>],
    action: ReferentialAction,
) -> Result<Vec<usize>> {
    let mut left: Vec<usize> = Vec::with_capacity(keys.len());
    for (at, key) in keys.iter().enumerate() {
        let counts = match action {
            // Another row may have the key now.
            ReferentialAction::NoAction => !lookups::has_parent(newest, pair, key)?,
            ReferentialAction::Restrict
            | ReferentialAction::Cascade
            | ReferentialAction::SetNull
            | ReferentialAction::SetDefault => true,
        };
        if counts {
            left.push(at);
        }
    }
    Ok(left)
}

/// Claims keys that went, before anybody looks for rows that refer to them. Most were claimed before the statement
/// wrote anything.
fn claim_gone(transaction: &mut Transaction, pair: &KeyPair, keys: &[Vec<Value>]) -> Result<()> {
    let numbers = lookups::numbers_of(transaction.view(), pair, keys)?;
    transaction.claim_keys(pair.parent.id, pair.key.index, &numbers, KeyMode::Removed)
}

/// A foreign key once a table of it is locked; `None` if it is gone by then. 40001, 40P01, 55P03, 57014.
fn locked(
    transaction: &mut Transaction,
    pair: KeyPair,
    table: ObjectId,
    mode: TableMode,
) -> Result<Option<KeyPair>> {
    let known = transaction.view().catalog().version();
    transaction.lock_table(table, mode)?;
    let catalog = transaction.view().catalog();
    match catalog.version() == known {
        true => Ok(Some(pair)),
        // Columns may have other positions now.
        false => KeyPair::find(catalog, pair.child.id, pair.id),
    }
}

/// Rows of one table that were written together.
struct Batch<'a> {
    runner: &'a Runner,
    transaction: &'a mut Transaction,
    catalog: Arc<Catalog>,
    table: ObjectId,
    /// The first row that violates a constraint, by its place in the batch, and the error.
    first: Option<(usize, Error)>,
}

/// Keys of a parent that are no longer those of their rows.
pub(crate) struct GoneKeys {
    /// Places of the rows in their batch.
    pub places: Vec<usize>,
    /// The keys, in the order of the foreign key's columns, as the parent's types.
    pub before: Vec<Vec<Value>>,
    /// The new keys of the rows; empty if the rows were deleted.
    pub after: Vec<Vec<Value>>,
}

impl Batch<'_> {
    /// Checks rows and does the actions. Of one row, foreign keys come before deferrable keys.
    fn run(&mut self, written: Written) -> Result<()> {
        let Written {
            before,
            after,
            contested,
            ..
        } = written;
        if !before.is_empty() {
            self.act_on_keys(&before, &after)?;
        }
        if !after.is_empty() {
            self.check_children(&after, &before)?;
        }
        for (index, rows) in contested {
            self.check_keys(index, rows, &after)?;
        }
        self.first.take().map_or(Ok(()), |(_, error)| Err(error))
    }

    /// Checks rows of a deferrable index. `new`: all rows of the batch.
    fn check_keys(&mut self, index: ObjectId, rows: Vec<RowId>, new: &[RowId]) -> Result<()> {
        let key = (self.table, index);
        let found = deferrable_keys::check_or_put_off(self.runner, self.transaction, key, rows)?;
        self.note(found.map(|(row, error)| (new.iter().position(|id| *id == row).unwrap_or(0), error)));
        Ok(())
    }

    /// Keeps the error of the row that comes first in the batch; of one row that of the constraint made first.
    fn note(&mut self, violation: Option<(usize, Error)>) {
        if let Some((place, error)) = violation
            && self.first.as_ref().is_none_or(|(first, _)| place < *first)
        {
            self.first = Some((place, error));
        }
    }

    /// Checks rows of the table as children. `before`: the rows that they replace; empty if they are new.
    fn check_children(&mut self, rows: &[RowId], before: &[RowId]) -> Result<()> {
        let catalog = self.catalog.clone();
        let Some(child) = catalog.table_by_id(self.table) else {
            return Ok(());
        };
        let mut keys: Vec<_> = child.foreign_keys().collect();
        keys.sort_by_key(|(constraint, _)| constraint.id);
        for (constraint, key) in keys {
            let pair = KeyPair::new(&catalog, child, constraint, key)?;
            let children = NewChildren { rows, before };
            if deferred::is_deferred(self.transaction, &pair) {
                deferred::children(self.transaction, &pair, &children)?;
                continue;
            }
            let Some(pair) = locked(self.transaction, pair, key.parent, TableMode::RowShare)? else {
                continue;
            };
            let found = first_orphan(self.runner, self.transaction, &pair, &children)?;
            self.note(found);
        }
        Ok(())
    }

    /// Does what the foreign keys that refer to the table say of keys that went. `after`: the rows that replace the
    /// others; empty if these were deleted.
    fn act_on_keys(&mut self, before: &[RowId], after: &[RowId]) -> Result<()> {
        let catalog = self.catalog.clone();
        for reference in catalog.references_to(self.table) {
            let pair = KeyPair::new(&catalog, reference.child, reference.constraint, reference.key)?;
            // Rows behind one that violates a constraint are not looked at.
            let end = self.first.as_ref().map_or(before.len(), |(place, _)| *place);
            if end == 0 {
                break;
            }
            let gone = self.gone_keys(&pair, &before[..end], &after[..end.min(after.len())])?;
            if gone.before.is_empty() {
                continue;
            }
            let action = match after.is_empty() {
                true => reference.key.on_delete,
                false => reference.key.on_update,
            };
            claim_gone(self.transaction, &pair, &gone.before)?;
            if action == ReferentialAction::NoAction && deferred::is_deferred(self.transaction, &pair) {
                deferred::parents(self.transaction, &pair, &gone.before)?;
                continue;
            }
            let mode = match action {
                ReferentialAction::NoAction | ReferentialAction::Restrict => TableMode::RowShare,
                ReferentialAction::Cascade | ReferentialAction::SetNull | ReferentialAction::SetDefault => {
                    TableMode::RowExclusive
                }
            };
            let child = pair.child.id;
            let Some(pair) = locked(self.transaction, pair, child, mode)? else {
                continue;
            };
            match action {
                ReferentialAction::NoAction | ReferentialAction::Restrict => {
                    self.refuse(&pair, &gone, action)?
                }
                ReferentialAction::Cascade if after.is_empty() => {
                    actions::delete(self.runner, self.transaction, &pair, &gone)?;
                }
                ReferentialAction::Cascade => actions::rekey(self.runner, self.transaction, &pair, &gone)?,
                ReferentialAction::SetNull => {
                    actions::set(self.runner, self.transaction, &pair, &gone, actions::To::Null)?;
                }
                ReferentialAction::SetDefault => {
                    actions::set(self.runner, self.transaction, &pair, &gone, actions::To::Default)?;
                    // A default may be the very key that went: such a row did not change.
                    self.refuse(&pair, &gone, ReferentialAction::NoAction)?;
                }
            }
        }
        Ok(())
    }

    /// Notes a violation if rows still refer to a key that went.
    fn refuse(&mut self, pair: &KeyPair, gone: &GoneKeys, action: ReferentialAction) -> Result<()> {
        if let Some(at) = first_left(self.runner, self.transaction, pair, &gone.before, action)? {
            let error = pair.still_referenced(&gone.before[at]);
            self.note(Some((gone.places[at], error)));
        }
        Ok(())
    }

    /// The keys of rows of the table that went, without those with NULL, which nothing refers to, and without those
    /// that the rows that replace the others have again.
    fn gone_keys(&self, pair: &KeyPair, before: &[RowId], after: &[RowId]) -> Result<GoneKeys> {
        let version = self.transaction.view().table(self.table)?;
        let fetch = RowFetch::new(version);
        let old = fetch.fetch_columns(before, &pair.parent_columns)?;
        let new = match after.is_empty() {
            true => None,
            false => Some(fetch.fetch_columns(after, &pair.parent_columns)?),
        };
        let row = |batch: &RowBatch, row: usize| -> Vec<Value> {
            batch.columns.iter().map(|column| column.value(row)).collect()
        };
        let mut gone = GoneKeys {
            places: Vec::new(),
            before: Vec::new(),
            after: Vec::new(),
        };
        for place in 0..before.len() {
            let key = row(&old, place);
            let now = new.as_ref().map(|new| row(new, place));
            if key.iter().any(Value::is_null) || now.as_ref() == Some(&key) {
                continue;
            }
            gone.places.push(place);
            gone.before.push(key);
            gone.after.extend(now);
        }
        Ok(gone)
    }
}
