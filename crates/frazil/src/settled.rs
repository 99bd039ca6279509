//! Statements of a transaction that wait until what the transaction saw of others is durable, because they show it.
//! The essay of storage's `settling.rs` has the rule.

use crate::rows::{Outcome, Response};
use crate::session::Session;
use frazil_frontend::Statement;
use frazil_storage::Snapshot;
use frazil_types::Result;

/// The answer of a statement that writes.
pub(crate) trait Answer {
    /// True if it tells of rows more than their number.
    fn tells_rows(&self) -> bool;
}

impl Answer for Response {
    fn tells_rows(&self) -> bool {
        matches!(self.outcome, Outcome::Rows(_)) || !self.notices.is_empty()
    }
}

impl Answer for Option<Response> {
    fn tells_rows(&self) -> bool {
        self.as_ref().is_some_and(Answer::tells_rows)
    }
}

impl Answer for () {
    fn tells_rows(&self) -> bool {
        false
    }
}

/// Waits before a statement that shows rows or definitions. One that writes waits when it has written, if its answer
/// tells of rows. 58030 if what the transaction saw never will be durable.
pub fn before(session: &mut Session, statement: &Statement) -> Result<()> {
    match statement {
        Statement::Begin { .. }
        | Statement::Commit { .. }
        | Statement::Rollback { .. }
        | Statement::SetTransaction { .. }
        | Statement::SetSessionTransaction { .. }
        | Statement::SetConstraints(_)
        | Statement::Savepoint { .. }
        | Statement::RollbackTo { .. }
        | Statement::Release { .. }
        | Statement::LockTable(_)
        | Statement::Setting(_)
        | Statement::Notification(_)
        | Statement::Alone { .. }
        | Statement::Checkpoint
        | Statement::Backup { .. }
        | Statement::Publish(_)
        // EXECUTE comes here again with its statement.
        | Statement::Prepared(_)
        | Statement::Writing(_) => Ok(()),
        Statement::Query(_)
        | Statement::CopyTo { .. }
        | Statement::Explain { .. }
        | Statement::ExplainFreeze { .. }
        | Statement::Checked { .. }
        | Statement::Cursor(_) => session.transaction_mut().settle(),
    }
}

/// Waits before a statement is described by definitions that readers do not see yet.
pub fn before_describing(session: &mut Session, seen: &Snapshot) -> Result<()> {
    let visible = session.database().store().look().catalog().version();
    match seen.catalog().version() == visible {
        true => Ok(()),
        false => session.transaction_mut().settle(),
    }
}
