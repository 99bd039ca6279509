//! The tables that a writing statement locks before it reads, in PostgreSQL's modes: ROW EXCLUSIVE for tables whose
//! rows it writes, ROW SHARE for tables whose rows it locks. A table that is locked is not defined otherwise until the
//! transaction ends. So the statement locks first, and then sees whether its plan still holds.

use frazil_frontend::{Last, Writing};
use frazil_plan::{Change, Plan, WriteKind};
use frazil_storage::{TableMode, Transaction};
use frazil_types::{ObjectId, Result};

/// Locks on tables, in the order in which they are taken.
pub type TableLocks = Vec<(ObjectId, TableMode)>;

/// The locks of a statement on the tables that it names. Those of its foreign keys come with their checks. Definitions
/// lock their tables themselves.
pub fn of_statement(writing: &Writing) -> TableLocks {
    let mut locks = TableLocks::new();
    let mut add = |plan: &Plan| {
        if let Some(write) = plan.root.write() {
            each(&write.change, |table, mode| locks.push((table, mode)));
        }
    };
    match writing {
        Writing::Write(plan) => add(plan),
        Writing::With { writes, last } => {
            writes.iter().for_each(|write| add(&write.plan));
            match last {
                Last::Query(_) => {}
                Last::Write(plan) => add(plan),
            }
        }
        Writing::CopyFrom { table, .. } => locks.push((*table, TableMode::RowExclusive)),
        Writing::CreateTable { .. } | Writing::Freeze { .. } | Writing::Define(_) => {}
    }
    locks
}

/// Calls `each` with the locks of a change.
fn each(change: &Change, mut each: impl FnMut(ObjectId, TableMode)) {
    match &change.kind {
        WriteKind::Insert { .. } | WriteKind::Update { .. } | WriteKind::Delete { .. } => {
            each(change.table, TableMode::RowExclusive);
        }
        WriteKind::Lock(locks) => {
            (locks.tables.iter()).for_each(|locked| each(locked.table, TableMode::RowShare));
        }
    }
}

/// Takes locks. 40001, 40P01, 55P03, 57014.
pub fn take(transaction: &mut Transaction, locks: &[(ObjectId, TableMode)]) -> Result<()> {
    locks
        .iter()
        .try_for_each(|&(table, mode)| transaction.lock_table(table, mode))
}

/// Takes the locks of a change, as [`take`] does.
pub fn take_for(transaction: &mut Transaction, change: &Change) -> Result<()> {
    let mut taken = Ok(());
    each(change, |table, mode| {
        if taken.is_ok() {
            taken = transaction.lock_table(table, mode);
        }
    });
    taken
}
