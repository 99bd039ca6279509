//! Actions on the children of keys that went: deletes them, or gives some of their columns other values.

use super::GoneKeys;
use super::key_values::KeyPair;
use super::lookups;
use crate::own_queries::missing_value;
use crate::query::Runner;
use crate::row_checks::{Computed, RowChecks};
use frazil_storage::{NewRows, NewValues, RowFetch, Transaction};
use frazil_types::value_ops::{self, CastLength};
use frazil_types::{ColumnVector, Error, Result, RowBatch, RowId, Value};

/// The new values of columns of a child.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum To {
    /// NULL.
    Null,
    /// Their defaults.
    Default,
}

/// Claims the children of keys that went. Returns them, each with the number of its key. `set`: the columns in which
/// they get values; `None` if they are to be deleted. 40001 if the transaction sees one version to its end, which does
/// not have one of them; 40P01, 55P03, 57014, 53200.
fn children(
    runner: &Runner,
    transaction: &mut Transaction,
    pair: &KeyPair,
    gone: &GoneKeys,
    set: Option<&[usize]>,
) -> Result<Vec<(RowId, usize)>> {
    let new = set.map(|columns| NewValues { columns, batch: None });
    let keys: Vec<&[Value]> = gone.before.iter().map(|key| &key[..]).collect();
    loop {
        let newest = transaction.newest_view()?;
        let found = lookups::children_of(runner, &newest, pair, &keys)?;
        drop(newest);
        let version = transaction.view().table(pair.child.id)?;
        if !found.iter().all(|(row, _)| version.shows(*row)) {
            return Err(transaction.meets_newer());
        }
        let ids: Vec<RowId> = found.iter().map(|(row, _)| *row).collect();
        if transaction.claim_or_renew(pair.child.id, &ids, new)? {
            return Ok(found);
        }
    }
}

/// ON DELETE CASCADE.
pub fn delete(runner: &Runner, transaction: &mut Transaction, pair: &KeyPair, gone: &GoneKeys) -> Result<()> {
    let found = children(runner, transaction, pair, gone, None)?;
    let ids: Vec<RowId> = found.into_iter().map(|(row, _)| row).collect();
    transaction.writer(pair.child.id)?.delete(&ids).map(drop)
}

/// ON UPDATE CASCADE.
pub fn rekey(runner: &Runner, transaction: &mut Transaction, pair: &KeyPair, gone: &GoneKeys) -> Result<()> {
    let found = children(runner, transaction, pair, gone, Some(&pair.child_columns))?;
    let mut columns = Vec::with_capacity(pair.child_columns.len());
    let types = pair.parent_types.iter().zip(&pair.child_types);
    for (at, (from, to)) in types.enumerate() {
        let cast = |(_, key): &(RowId, usize)| {
            let value = &gone.after[*key][at];
            value_ops::cast(value, *from, *to, CastLength::Refuse)
        };
        let values: Vec<Value> = found.iter().map(cast).collect::<Result<_>>()?;
        columns.push(ColumnVector::from_values(*to, &values));
    }
    let ids: Vec<RowId> = found.iter().map(|(row, _)| *row).collect();
    update(runner, transaction, pair, (&ids, &pair.child_columns), columns)
}

/// SET NULL and SET DEFAULT. The list of columns is one of ON DELETE alone.
pub fn set(
    runner: &Runner,
    transaction: &mut Transaction,
    pair: &KeyPair,
    gone: &GoneKeys,
    to: To,
) -> Result<()> {
    let positions = match gone.after.is_empty() && !pair.key.set_columns.is_empty() {
        true => pair.child.positions_of(&pair.key.set_columns)?,
        false => pair.child_columns.clone(),
    };
    let found = children(runner, transaction, pair, gone, Some(&positions))?;
    let ids: Vec<RowId> = found.into_iter().map(|(row, _)| row).collect();
    if ids.is_empty() {
        return Ok(());
    }
    let mut columns = Vec::with_capacity(positions.len());
    for &position in &positions {
        let column = &pair.child.schema.columns[position];
        let value = match to {
            To::Null => Value::Null,
            To::Default => missing_value(runner, transaction, column)?,
        };
        columns.push(ColumnVector::from_values(column.ty, &vec![value; ids.len()]));
    }
    update(runner, transaction, pair, (&ids, &positions), columns)
}

/// Gives rows of the child other values in some columns, after the table's generated columns and CHECK constraints are
/// computed.
fn update(
    runner: &Runner,
    transaction: &mut Transaction,
    pair: &KeyPair,
    (ids, positions): (&[RowId], &[usize]),
    columns: Vec<ColumnVector>,
) -> Result<()> {
    if ids.is_empty() {
        return Ok(());
    }
    let mut positions = positions.to_vec();
    let mut batch = RowBatch {
        columns,
        rows: ids.len(),
    };
    let checks = RowChecks::of(runner, transaction.snapshot(), &pair.child)?;
    let mut computed = Computed::default();
    if let Some(checks) = &checks {
        let fetch = RowFetch::new(transaction.view().table(pair.child.id)?);
        computed = checks.compute(batch.rows, &mut |position| {
            if let Some(at) = positions.iter().position(|p| *p == position) {
                return Ok(batch.columns[at].clone());
            }
            let mut fetched = fetch.fetch_columns(ids, &[position])?;
            let column = fetched.columns.pop();
            column.ok_or_else(|| Error::internal("a fetched column that is not there"))
        })?;
        for (position, vector) in std::mem::take(&mut computed.generated) {
            positions.push(position);
            batch.columns.push(vector);
        }
    }
    let names = checks.as_ref().map_or(&[][..], RowChecks::names);
    let rows = NewRows {
        batch: &batch,
        checks: &computed.results(names),
    };
    let mut writer = transaction.writer(pair.child.id)?;
    writer.update(ids, &positions, &rows).map(drop)
}
