//! Checks the rows that a table has against its NOT NULL and CHECK constraints, the expressions of its generated
//! columns, and its foreign keys. The optimizer takes NOT NULL for granted, so that a query would not ask: the values
//! are fetched, and expressions are computed as for rows that come from a file. It takes no foreign key for granted:
//! one join finds the rows without a parent.

use crate::foreign_keys::{KeyPair, violations};
use crate::query::Runner;
use crate::row_checks::{Computed, RowChecks};
use frazil_catalog::{Constraint, Deferral, TableEntry};
use frazil_storage::{ChunkEntry, RowFetch, Snapshot, TableSnapshot};
use frazil_types::{ColumnVector, Error, Result, RowBatch, RowId, SqlState};
use std::sync::Arc;

/// Rows that are looked at at once.
const STEP: usize = 4096;
/// Faults of a table that are told; more are counted.
const MOST_FAULTS: usize = 20;

/// What was found in a table.
#[derive(Clone, Debug, Default)]
pub struct ConstraintCheck {
    /// Columns that are NOT NULL.
    pub not_null: u64,
    /// CHECK constraints.
    pub checks: u64,
    /// Foreign keys that were checked.
    pub foreign_keys: u64,
    /// Number of faults.
    pub faults: u64,
    /// The first faults, each a sentence.
    pub told: Vec<String>,
}

impl ConstraintCheck {
    fn fault(&mut self, row: RowId, what: impl FnOnce() -> String) {
        self.faults += 1;
        if self.told.len() < MOST_FAULTS {
            let (offset, chunk) = (row.offset(), row.chunk());
            self.told
                .push(format!("row {offset} of chunk {chunk} {}", what()));
        }
    }
}

/// Checks the rows of a table that `snapshot` shows. 57014, 53200, or the error of a block that cannot be read.
pub fn check_constraints(
    runner: &Runner,
    snapshot: &Arc<Snapshot>,
    table: &TableSnapshot,
) -> Result<ConstraintCheck> {
    let columns = &table.schema().columns;
    let not_null: Vec<usize> = (0..columns.len()).filter(|&c| !columns[c].nullable).collect();
    // Rows that were there before a check that is NOT VALID may violate it.
    let mut entry = TableEntry::clone(table.table().entry());
    entry.constraints.retain(Constraint::is_valid);
    let checks = RowChecks::of(runner, snapshot.clone(), &entry)?;
    let mut found = ConstraintCheck {
        not_null: not_null.len() as u64,
        checks: checks.as_ref().map_or(0, |checks| checks.names().len() as u64),
        ..ConstraintCheck::default()
    };
    for entry in table.chunks() {
        // The bytes of a block were checked, the number of its NULLs with them.
        let may_be_null = |c: &usize| entry.is_hot() || entry.view().bounds(*c).nulls > 0;
        let nulls: Vec<usize> = not_null.iter().copied().filter(may_be_null).collect();
        let live = (0..entry.view().rows()).filter(|&offset| !entry.view().is_deleted(offset as usize));
        let rows: Vec<RowId> = live
            .map(|offset| RowId::new(entry.number(), offset as u16))
            .collect();
        for rows in rows.chunks(STEP) {
            runner.cancel().check()?;
            check_nulls(table, rows, &nulls, &mut found)?;
            if let Some(checks) = &checks {
                check_checks(table, entry, rows, checks, &mut found)?;
            }
        }
        runner.progress().advance(u64::from(entry.view().live_rows()));
    }
    Ok(found)
}

/// Looks for rows of a child that violate its foreign keys. Leaves out keys that are NOT VALID, keys of a damaged
/// parent, and inside a transaction deferrable keys, which rows may violate until it ends. 57014, 53200.
pub fn check_foreign_keys(
    runner: &Runner,
    snapshot: &Arc<Snapshot>,
    child: &TableEntry,
    is_in_transaction: bool,
    found: &mut ConstraintCheck,
) -> Result<()> {
    let catalog = snapshot.catalog();
    let Some(child) = catalog.table_by_id(child.id) else {
        return Ok(());
    };
    for (constraint, key) in child.foreign_keys() {
        let is_put_off = is_in_transaction && key.deferral != Deferral::Never;
        if !key.is_valid || is_put_off || snapshot.damage(key.parent).is_some() {
            continue;
        }
        let pair = KeyPair::new(catalog, child, constraint, key)?;
        let (faults, errors) = violations(runner, snapshot, &pair, MOST_FAULTS)?;
        found.foreign_keys += 1;
        found.faults += faults;
        let left = MOST_FAULTS.saturating_sub(found.told.len());
        let told = errors.iter().take(left).map(|error| {
            let detail = error.detail().unwrap_or_default();
            format!(
                "a row violates foreign key constraint \"{}\": {detail}",
                pair.name
            )
        });
        found.told.extend(told);
    }
    Ok(())
}

fn check_nulls(
    table: &TableSnapshot,
    rows: &[RowId],
    columns: &[usize],
    found: &mut ConstraintCheck,
) -> Result<()> {
    if columns.is_empty() {
        return Ok(());
    }
    let batch = RowFetch::new(table).fetch_columns(rows, columns)?;
    for (vector, &column) in batch.columns.iter().zip(columns) {
        let name = &table.schema().columns[column].name;
        let nulls = rows.iter().enumerate().filter(|(at, _)| vector.is_null(*at));
        nulls.for_each(|(_, row)| {
            found.fault(*row, || {
                format!("has NULL in column \"{name}\", which is NOT NULL")
            })
        });
    }
    Ok(())
}

fn check_checks(
    table: &TableSnapshot,
    entry: &ChunkEntry,
    rows: &[RowId],
    checks: &RowChecks,
    found: &mut ConstraintCheck,
) -> Result<()> {
    let fetch = RowFetch::new(table);
    let mut fetched = |position: usize| {
        let mut batch: RowBatch = fetch.fetch_columns(rows, &[position])?;
        let column = batch.columns.pop();
        column.ok_or_else(|| Error::internal("a fetched column that is not there"))
    };
    let Computed { generated, holds } = match checks.compute(rows.len(), &mut fetched) {
        Ok(computed) => computed,
        Err(e) if is_of_rows(e.state()) => {
            found.faults += 1;
            let text = format!(
                "CHECK or a generated column of rows of chunk {} fails: {e}",
                entry.number()
            );
            found
                .told
                .extend((found.told.len() < MOST_FAULTS).then_some(text));
            return Ok(());
        }
        Err(e) => return Err(e),
    };
    for (position, vector) in &generated {
        let stored = fetched(*position)?;
        let column = &table.schema().columns[*position].name;
        let kind = match table.table().entry().hidden_column(*position) {
            Some(_) => "expression of an index",
            None => "generated column",
        };
        let other = rows
            .iter()
            .enumerate()
            .filter(|(at, _)| stored.value(*at) != vector.value(*at));
        other.for_each(|(_, row)| {
            found.fault(*row, || {
                format!("has another value in {kind} \"{column}\" than its expression")
            })
        });
    }
    for (name, holds) in checks.names().iter().zip(&holds) {
        let is_violated =
            |at: usize, holds: &ColumnVector| !holds.is_null(at) && holds.values::<u8>()[at] == 0;
        let violated = rows.iter().enumerate().filter(|(at, _)| is_violated(*at, holds));
        violated.for_each(|(_, row)| found.fault(*row, || format!("violates check constraint \"{name}\"")));
    }
    Ok(())
}

/// Whether an error of this state says something of the rows, and not of whoever asks.
fn is_of_rows(state: SqlState) -> bool {
    let others = [
        SqlState::QUERY_CANCELED,
        SqlState::OUT_OF_MEMORY,
        SqlState::INTERNAL_ERROR,
    ];
    !others.contains(&state)
}
