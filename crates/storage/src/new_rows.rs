//! Rows that are to enter a table, and what refuses them: their shape, NOT NULL, CHECK. Keys are checked as rows are written
//! (`unique_keys.rs`).

use crate::snapshot::Table;
use frazil_block::Block;
use frazil_catalog::{Constraint, ConstraintKind};
use frazil_types::{ColumnDef, ColumnVector, Error, Result, RowBatch, RowId, SqlState};

/// Rows that are to enter a table, and what its CHECK constraints say of them.
#[derive(Clone, Copy, Debug)]
pub struct NewRows<'a> {
    /// The values. The strings they point to must be alive, as those of every batch are.
    pub batch: &'a RowBatch,
    /// One for each CHECK constraint of the table that the new values may violate.
    pub checks: &'a [CheckResult<'a>],
}

impl<'a> NewRows<'a> {
    /// Rows of a table without CHECK constraints.
    pub fn of(batch: &'a RowBatch) -> NewRows<'a> {
        NewRows { batch, checks: &[] }
    }
}

/// What a CHECK constraint says of each row of a batch.
#[derive(Clone, Copy, Debug)]
pub struct CheckResult<'a> {
    /// Name of the constraint.
    pub name: &'a str,
    /// A boolean a row: false violates the constraint, NULL does not.
    pub holds: &'a ColumnVector,
}

/// An internal error unless the batch has the columns of the table.
pub(crate) fn check_shape(table: &Table, batch: &RowBatch) -> Result<()> {
    let columns = &table.schema().columns;
    if batch.columns.len() != columns.len() {
        return Err(Error::internal(format!(
            "{} columns for table \"{}\" of {}",
            batch.columns.len(),
            table.name(),
            columns.len()
        )));
    }
    (0..columns.len()).try_for_each(|c| check_column(table, c, &batch.columns[c], batch.rows))
}

#[inline]
fn check_column(table: &Table, column: usize, values: &ColumnVector, rows: usize) -> Result<()> {
    let def = &table.schema().columns[column];
    match values.native() == def.ty.native() && values.len() == rows {
        true => Ok(()),
        false => Err(wrong_values(def, values)),
    }
}

#[cold]
fn wrong_values(def: &ColumnDef, values: &ColumnVector) -> Error {
    Error::internal(format!(
        "{} values of {} for column \"{}\" of type {}",
        values.len(),
        values.ty(),
        def.name,
        def.ty
    ))
}

pub(crate) fn check_update(table: &Table, ids: &[RowId], columns: &[usize], batch: &RowBatch) -> Result<()> {
    let most = table.schema().columns.len();
    if columns.len() != batch.columns.len() || columns.iter().any(|&c| c >= most) || batch.rows != ids.len() {
        return Err(Error::internal(format!(
            "an update of {} columns and {} rows of table \"{}\" gets {} columns of {} rows",
            columns.len(),
            ids.len(),
            table.name(),
            batch.columns.len(),
            batch.rows
        )));
    }
    (columns.iter().zip(&batch.columns))
        .try_for_each(|(&c, values)| check_column(table, c, values, batch.rows))
}

/// The first row that may not enter the table, keys apart, of those that `counts` says yes to, and the error. Of one row NULLs
/// come first, by the position of their columns, then CHECK constraints by their names. `columns` are the positions of
/// the batch's columns.
pub(crate) fn first_fault(
    table: &Table,
    columns: impl Iterator<Item = usize>,
    rows: &NewRows<'_>,
    counts: &dyn Fn(usize) -> bool,
) -> Option<(usize, Error)> {
    let defs = &table.schema().columns;
    let nulls = (columns.zip(&rows.batch.columns))
        .filter(|&(column, _)| !defs[column].nullable)
        .filter_map(|(column, values)| Some((values.nulls()?.iter().find(|row| counts(*row))?, column)))
        .min();
    let broken = |check: &CheckResult<'_>| {
        let holds = check.holds.values::<u8>().iter().enumerate();
        (holds.into_iter()).position(|(row, &holds)| holds == 0 && !check.holds.is_null(row) && counts(row))
    };
    let check = (rows.checks.iter())
        .filter_map(|check| Some((broken(check)?, check.name)))
        .min();
    match (nulls, check) {
        (Some((row, column)), check) if check.is_none_or(|(other, _)| row <= other) => {
            Some((row, null_refused(table, column)))
        }
        (_, check) => check.map(|(row, name)| (row, check_failed(table, name))),
    }
}

/// 23502 for the first NOT NULL column in which a batch of the table's columns has NULL.
pub(crate) fn refuse_nulls(table: &Table, batch: &RowBatch) -> Result<()> {
    let every = 0..table.schema().columns.len();
    first_fault(table, every, &NewRows::of(batch), &|_| true).map_or(Ok(()), |(_, error)| Err(error))
}

/// 23502.
pub(crate) fn null_refused(table: &Table, column: usize) -> Error {
    let column = &table.schema().columns[column].name;
    Error::new(
        SqlState::NOT_NULL_VIOLATION,
        format!(
            "null value in column \"{column}\" of table \"{}\" violates its NOT NULL constraint",
            table.name()
        ),
    )
    .of_table(table.name())
    .in_namespace(table.entry().namespace)
    .of_column(column)
}

fn check_failed(table: &Table, name: &str) -> Error {
    Error::new(
        SqlState::CHECK_VIOLATION,
        format!(
            "a new row of table \"{}\" violates its check constraint \"{name}\"",
            table.name()
        ),
    )
    .of_table(table.name())
    .in_namespace(table.entry().namespace)
    .of_constraint(name)
}

/// 0A000 if the table has a CHECK constraint that nobody evaluated for the rows: no way in leaves one out.
pub(crate) fn refuse_unchecked(table: &Table, checks: &[CheckResult<'_>]) -> Result<()> {
    let is_unknown = |constraint: &&Constraint| {
        matches!(constraint.kind, ConstraintKind::Check { .. })
            && !checks.iter().any(|check| check.name == constraint.name)
    };
    match table.entry().constraints.iter().find(is_unknown) {
        Some(constraint) => Err(Error::unsupported(format!(
            "loading rows into table \"{}\" with check constraint \"{}\"",
            table.name(),
            constraint.name
        ))
        .with_hint("use INSERT")),
        None => Ok(()),
    }
}

pub(crate) fn check_block(table: &Table, block: &Block) -> Result<()> {
    let columns = &table.schema().columns;
    let fits = block.columns() == columns.len()
        && (columns.iter().enumerate()).all(|(i, c)| block.entry(i).fits(c.ty));
    if !fits {
        return Err(Error::internal(format!(
            "a block whose columns are not those of table \"{}\"",
            table.name()
        )));
    }
    match (0..columns.len()).find(|&i| !columns[i].nullable && block.entry(i).null_count > 0) {
        Some(column) => Err(null_refused(table, column)),
        None => Ok(()),
    }
}
