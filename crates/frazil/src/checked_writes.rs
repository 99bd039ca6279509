//! Writing statements whose rows are checked against foreign keys when the statement has written them all.

use crate::foreign_keys;
use crate::query::Runner;
use crate::session::{Extent, Session, Writing};
use crate::settled::Answer;
use frazil_frontend::{AccessChange, Definition};
use frazil_storage::Transaction;
use frazil_types::Result;

/// Runs a writing statement, then checks the foreign keys of the rows that it wrote; outside a transaction block those
/// that are deferred, too. 23503.
pub fn write_checked<T: Answer>(
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

/// The extent of a statement's changes.
pub fn extent_of(writing: &frazil_frontend::Writing) -> Extent {
    match writing {
        frazil_frontend::Writing::Write(_)
        | frazil_frontend::Writing::With { .. }
        | frazil_frontend::Writing::CopyFrom { .. }
        | frazil_frontend::Writing::Freeze { .. } => Extent::Rows,
        // Nobody else sees what is temporary.
        frazil_frontend::Writing::CreateTable { .. } if writing.creates_temporary() => Extent::Rows,
        frazil_frontend::Writing::Define(definition) if definition.is_of_temporary() => Extent::Rows,
        frazil_frontend::Writing::CreateTable { .. } => Extent::Definitions,
        frazil_frontend::Writing::Define(definition) => extent_of_definition(definition),
    }
}

fn extent_of_definition(definition: &Definition) -> Extent {
    match definition {
        Definition::Truncate { restarts: false, .. } => Extent::Rows,
        Definition::Access(change) => match **change {
            AccessChange::DropOwned(_) => Extent::Everything,
            _ => Extent::Definitions,
        },
        Definition::AlterOptions { .. }
        | Definition::AlterTable { .. }
        | Definition::CommentOn(_)
        | Definition::CreateSchema(_)
        | Definition::CreateView(_)
        | Definition::CreateMaterialized { .. }
        | Definition::Refresh { .. }
        | Definition::Rename { .. }
        | Definition::CreateIndex(_)
        | Definition::CreateSequence(_)
        | Definition::AlterSequence(_)
        | Definition::Drop(_)
        | Definition::DropIndexes(_)
        | Definition::CreateType { .. }
        | Definition::CreateDomain { .. }
        | Definition::Truncate { restarts: true, .. } => Extent::Definitions,
        // These find out on the way which tables they change.
        Definition::DropSchemas { .. } | Definition::AlterType { .. } | Definition::DropTypes { .. } => {
            Extent::Everything
        }
    }
}
