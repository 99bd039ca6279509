//! DEFERRABLE UNIQUE and PRIMARY KEY: rows that may share a key with others are checked when their statement ends, or
//! put off until the transaction ends.

use crate::query::Runner;
use frazil_catalog::{Catalog, Constraint, Deferral, TableEntry};
use frazil_storage::{DeferredEntry, Transaction};
use frazil_types::{Error, ObjectId, Result, RowId};

/// Checks rows that a statement wrote into a deferrable index, or puts the check off. The first row that shares its
/// key, and the error, 23505. 40P01, 55P03, 57014, 53200.
pub fn check_or_put_off(
    runner: &Runner,
    transaction: &mut Transaction,
    (table, index): (ObjectId, ObjectId),
    rows: Vec<RowId>,
) -> Result<Option<(RowId, Error)>> {
    let catalog = transaction.view().catalog().clone();
    let constraint = catalog
        .table_by_id(table)
        .and_then(|entry| constraint_of(entry, index));
    let Some((constraint, deferral)) = constraint else {
        return Ok(None);
    };
    let initially = deferral == Deferral::Deferred;
    if transaction.deferred().is_deferred(constraint.id, initially) {
        let constraint = constraint.id;
        transaction.put_off(DeferredEntry::Keys {
            table,
            constraint,
            rows,
        })?;
        return Ok(None);
    }
    let found = transaction.first_duplicate(table, index, &rows, runner.cancel())?;
    Ok(found.map(|(place, error)| (rows[place], error)))
}

/// Checks rows that were put off. 23505, 40P01, 55P03, 57014.
pub fn check(
    runner: &Runner,
    transaction: &Transaction,
    (table, constraint): (ObjectId, ObjectId),
    rows: &[RowId],
) -> Result<()> {
    let catalog: &Catalog = transaction.view().catalog();
    let entry = catalog.table_by_id(table);
    let mut constraints = entry.iter().flat_map(|entry| &entry.constraints);
    let found = constraints.find(|c| c.id == constraint);
    let Some(index) = found.and_then(Constraint::index) else {
        return Ok(());
    };
    match transaction.first_duplicate(table, index, rows, runner.cancel())? {
        Some((_, error)) => Err(error),
        None => Ok(()),
    }
}

/// The constraint that made an index, and when it is checked.
fn constraint_of(table: &TableEntry, index: ObjectId) -> Option<(&Constraint, Deferral)> {
    let constraint = table.constraints.iter().find(|c| c.index() == Some(index))?;
    Some((constraint, table.deferral_of(constraint)))
}
