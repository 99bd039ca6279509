//! The end of a transaction: its deferred foreign keys are checked before it commits. SET CONSTRAINTS says which are
//! deferred.

use crate::failed_statement;
use crate::foreign_keys;
use crate::notice::Notice;
use crate::query::Runner;
use crate::session::{Extent, Session};
use crate::transaction;
use frazil_frontend::SetConstraints;
use frazil_types::Result;

/// COMMIT, after the checks that the transaction put off. 23503: then it is rolled back. The errors of a commit.
pub fn commit(session: &mut Session, chain: bool) -> Result<(&'static str, Option<Notice>)> {
    let checked = match session.transaction().has_put_off() {
        true => {
            let (runner, limit) = (
                Runner::of_writing(session.writing()),
                session.settings().lock_timeout,
            );
            session.transaction_mut().open_writer().map_or(Ok(()), |writer| {
                writer.set_patience(limit, runner.cancel());
                foreign_keys::finish_transaction(&runner, writer)
            })
        }
        false => Ok(()),
    };
    match checked {
        Ok(()) => session.commit_checked(chain),
        Err(violation) => {
            // The transaction may have made the schema.
            let violation = failed_statement::explained(session, violation);
            session.rollback(false)?;
            Err(violation)
        }
    }
}

/// Ends the transaction that [`Session::begin_implicit`] opened, if it is open: commits it, or rolls back one that
/// failed. The errors of [`commit`].
pub fn end_implicit(session: &mut Session) -> Result<()> {
    match session.is_implicit() {
        true => commit(session, false).map(drop),
        false => Ok(()),
    }
}

/// SET CONSTRAINTS. Checks at once those that were deferred and are not any more. A warning outside a transaction.
/// 42704, 3F000, 42809, 23503.
pub fn set_constraints(session: &mut Session, set: &SetConstraints) -> Result<Option<Notice>> {
    let (names, is_deferred) = (set.names.as_deref(), set.is_deferred);
    let path = session.settings().search_path.clone();
    let resolve = |names| session.look(|s| s.catalog().constraints_to_set(names, is_deferred, &path));
    let constraints = names.map(resolve).transpose()?;
    let Some(modes) = session.transaction().modes() else {
        return Ok(Some(Notice::of_error(&transaction::outside("SET CONSTRAINTS"))));
    };
    if !modes.read_only {
        session.write(Extent::Rows, |writing, transaction| {
            let constraints = constraints.clone();
            foreign_keys::set_mode(
                &Runner::of_writing(writing),
                transaction,
                constraints,
                is_deferred,
            )
        })?;
    }
    Ok(None)
}
