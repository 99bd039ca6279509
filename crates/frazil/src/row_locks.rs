//! Locks the rows that a query with FOR UPDATE or the like found, in the order in which it returns them.

use crate::write::{Given, row_ids};
use frazil_plan::{ColumnId, LockBounds, LockStrength, LockWait, LockedTable, RowLocks};
use frazil_storage::{RowLock, Transaction};
use frazil_types::{Cancel, Error, Result, RowBatch, RowId, SqlState};

/// Locks the rows of batches and returns the columns that the query shows of those that are locked. 40001 if a row was
/// changed by a commit that the transaction does not see; 55P03, 40P01, 57014, 53200.
pub(crate) fn lock(
    locks: &RowLocks,
    given: &[Given<'_>],
    transaction: &mut Transaction,
    cancel: &Cancel,
) -> Result<Vec<RowBatch>> {
    if locks.skips() {
        let before = transaction.locks_before();
        let shown = lock_some(locks, given, transaction, cancel);
        if shown.is_err() {
            // The next attempt may return other rows.
            transaction.unlock_since(before);
        }
        return shown;
    }
    for given in given {
        for table in &locks.tables {
            cancel.check()?;
            let (rows, lock) = (row_ids(given.column(table.row_id)?), of(table.strength));
            match table.wait {
                LockWait::Block => transaction.lock_rows(table.table, &rows, lock)?,
                LockWait::Fail => transaction.lock_rows_now(table.table, &rows, lock)?,
                LockWait::Skip => return Err(Error::internal("a lock that skips rows without saying so")),
            }
        }
    }
    let shown = given.iter().map(|given| {
        let rows = still_there(locks, given, transaction)?;
        given.shown(rows.as_deref())
    });
    shown.collect()
}

/// Places of the rows that no WITH query of the statement has deleted; `None`: none of them is deleted.
fn still_there(locks: &RowLocks, given: &Given<'_>, transaction: &Transaction) -> Result<Option<Vec<usize>>> {
    let mut is_there = vec![true; given.values.rows];
    for table in &locks.tables {
        let version = transaction.view().table(table.table)?;
        let rows = row_ids(given.column(table.row_id)?);
        (is_there.iter_mut().zip(rows)).for_each(|(is_there, row)| *is_there &= version.shows(row));
    }
    if is_there.iter().all(|is_there| *is_there) {
        return Ok(None);
    }
    Ok(Some((0..is_there.len()).filter(|&row| is_there[row]).collect()))
}

/// Locks rows one after the other up to LIMIT, and leaves out those that others hold.
fn lock_some(
    locks: &RowLocks,
    given: &[Given<'_>],
    transaction: &mut Transaction,
    cancel: &Cancel,
) -> Result<Vec<RowBatch>> {
    let Some(first) = given.first() else {
        return Ok(Vec::new());
    };
    let (mut left, mut skipped) = match locks.bounds {
        Some(bounds) => counts(bounds, first)?,
        None => (u64::MAX, 0),
    };
    let mut shown = Vec::with_capacity(given.len());
    for given in given {
        cancel.check()?;
        let ids: Vec<Vec<RowId>> = (locks.tables.iter())
            .map(|table| given.column(table.row_id).map(row_ids))
            .collect::<Result<_>>()?;
        let mut rows = Vec::new();
        for row in 0..given.values.rows {
            if left == 0 {
                break;
            }
            let row_ids = (locks.tables.iter()).zip(ids.iter().map(|ids| ids[row]));
            if !lock_row(row_ids, transaction)? {
                continue;
            }
            match skipped {
                0 => {
                    rows.push(row);
                    left -= 1;
                }
                _ => skipped -= 1,
            }
        }
        if !rows.is_empty() {
            shown.push(given.shown(Some(&rows))?);
        }
    }
    Ok(shown)
}

/// Locks the row of each table that makes a row of the result. Returns false if somebody else holds one of them that
/// may be left out.
fn lock_row<'a>(
    rows: impl Iterator<Item = (&'a LockedTable, RowId)>,
    transaction: &mut Transaction,
) -> Result<bool> {
    for (table, row) in rows {
        let lock = of(table.strength);
        if !transaction.view().table(table.table)?.shows(row) {
            // A WITH query of the statement has deleted it.
            return Ok(false);
        }
        match table.wait {
            LockWait::Block => transaction.lock_rows(table.table, &[row], lock)?,
            LockWait::Fail => transaction.lock_rows_now(table.table, &[row], lock)?,
            LockWait::Skip if transaction.try_lock_row(table.table, row, lock)? => {}
            LockWait::Skip => return Ok(false),
        }
    }
    Ok(true)
}

/// LIMIT and OFFSET as the first row has them. 2201W, 2201X.
fn counts(bounds: LockBounds, first: &Given<'_>) -> Result<(u64, u64)> {
    let count = |id: Option<ColumnId>, name: &str, state: &'static str, default: u64| {
        let Some(id) = id else { return Ok(default) };
        let column = first.column(id)?;
        match column.is_null(0) {
            true => Ok(default),
            false => u64::try_from(column.values::<i64>()[0])
                .map_err(|_| Error::new(SqlState(state), format!("{name} must not be negative"))),
        }
    };
    Ok((
        count(bounds.limit, "LIMIT", "2201W", u64::MAX)?,
        count(bounds.offset, "OFFSET", "2201X", 0)?,
    ))
}

fn of(strength: LockStrength) -> RowLock {
    match strength {
        LockStrength::KeyShare => RowLock::KeyShare,
        LockStrength::Share => RowLock::Share,
        LockStrength::NoKeyUpdate => RowLock::NoKeyUpdate,
        LockStrength::Update => RowLock::Update,
    }
}
