//! Writing statements whose rows are checked against foreign keys when the statement has written them all.

use crate::foreign_keys;
use crate::query::Runner;
use crate::session::{Extent, Session, Writing};
use frazil_frontend::Last;
use frazil_plan::Plan;
use frazil_storage::Transaction;
use frazil_types::{ObjectId, Result};

/// Runs a writing statement, then checks the foreign keys of the rows that it wrote; outside a transaction block those
/// that are deferred, too. 23503.
pub fn write_checked<T>(
    session: &mut Session,
    extent: Extent,
    mut work: impl FnMut(Writing<'_>, &mut Transaction) -> Result<T>,
) -> Result<T> {
    let is_in_block = session.transaction().is_open();
    session.write(extent, |writing, transaction| {
        let result = work(writing, transaction)?;
        if transaction.has_queued() {
            let runner = Runner::of_writing(writing);
            foreign_keys::finish_statement(&runner, transaction)?;
            if !is_in_block {
                foreign_keys::finish_transaction(&runner, transaction)?;
            }
        }
        Ok(result)
    })
}

/// The tables whose rows a statement writes, but for those that its foreign keys write.
pub fn written_tables(writing: &frazil_frontend::Writing) -> Vec<ObjectId> {
    let of_plan = |plan: &Plan| {
        let write = plan.root.write()?;
        write.change.written_table()
    };
    match writing {
        frazil_frontend::Writing::Write(plan) => of_plan(plan).into_iter().collect(),
        frazil_frontend::Writing::With { writes, last } => {
            let last = match last {
                Last::Query(_) => None,
                Last::Write(plan) => of_plan(plan),
            };
            let writes = writes.iter().filter_map(|write| of_plan(&write.plan));
            writes.chain(last).collect()
        }
        frazil_frontend::Writing::CopyFrom { table, .. } => vec![*table],
        frazil_frontend::Writing::CreateTable { .. }
        | frazil_frontend::Writing::Freeze { .. }
        | frazil_frontend::Writing::Define(_) => Vec::new(),
    }
}

/// The extent of a statement's changes.
pub fn extent_of(writing: &frazil_frontend::Writing) -> Extent {
    match writing {
        frazil_frontend::Writing::Write(_)
        | frazil_frontend::Writing::With { .. }
        | frazil_frontend::Writing::CopyFrom { .. } => Extent::Rows,
        // Nobody else sees what is temporary.
        frazil_frontend::Writing::CreateTable { .. } if writing.creates_temporary() => Extent::Rows,
        frazil_frontend::Writing::Freeze { table, .. } if table.is_temporary() => Extent::Rows,
        frazil_frontend::Writing::Define(definition) if definition.is_of_temporary() => Extent::Rows,
        frazil_frontend::Writing::CreateTable { .. }
        | frazil_frontend::Writing::Freeze { .. }
        | frazil_frontend::Writing::Define(_) => Extent::Definitions,
    }
}
