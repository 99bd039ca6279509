//! LOCK TABLE.

use crate::bundle::Bundle;
use crate::rows::{Response, done};
use crate::session::Session;
use frazil_frontend::{LockMode, LockTable, LockedName};
use frazil_storage::{TableMode, Transaction};
use frazil_types::{Error, Result, SqlState};
use std::time::Instant;

/// Locks tables until the transaction ends. 25P01 outside of one; 55P03, 57014, 40P01.
pub fn run(session: &mut Session, lock: &LockTable, bundle: Bundle, started: Instant) -> Result<Response> {
    // A wait must not keep the version that the statement was bound to.
    drop(bundle);
    let mode = mode_of(lock.mode);
    session.lock(lock.nowait, |transaction| {
        let mut tables = lock.tables.iter();
        tables.try_for_each(|table| take(transaction, table, mode, lock.nowait))
    })?;
    Ok(done("LOCK TABLE", started))
}

/// Locks one table. 42P01 if it was dropped meanwhile, 42809 for a materialized view.
fn take(transaction: &mut Transaction, table: &LockedName, mode: TableMode, nowait: bool) -> Result<()> {
    if table.is_materialized {
        let message = format!("cannot lock relation \"{}\"", table.name);
        return Err(Error::new(SqlState::WRONG_OBJECT_TYPE, message)
            .with_detail("This operation is not supported for materialized views."));
    }
    if nowait {
        if !transaction.try_lock_table(table.table, mode)? {
            let message = format!("could not obtain lock on relation \"{}\"", table.name);
            return Err(Error::new(SqlState::LOCK_NOT_AVAILABLE, message)
                .with_hint("end the transaction in the way, or leave out NOWAIT"));
        }
    } else {
        transaction.lock_table(table.table, mode)?;
    }
    match transaction.view().table(table.table) {
        Ok(_) => Ok(()),
        Err(_) => {
            let message = format!("relation \"{}\" does not exist", table.name);
            Err(Error::new(SqlState::UNDEFINED_TABLE, message)
                .with_detail("It was dropped while the statement waited for it."))
        }
    }
}

/// The mode as storage has it.
fn mode_of(mode: LockMode) -> TableMode {
    match mode {
        LockMode::AccessShare => TableMode::AccessShare,
        LockMode::RowShare => TableMode::RowShare,
        LockMode::RowExclusive => TableMode::RowExclusive,
        LockMode::ShareUpdateExclusive => TableMode::ShareUpdateExclusive,
        LockMode::Share => TableMode::Share,
        LockMode::ShareRowExclusive => TableMode::ShareRowExclusive,
        LockMode::Exclusive => TableMode::Exclusive,
        LockMode::AccessExclusive => TableMode::AccessExclusive,
    }
}
