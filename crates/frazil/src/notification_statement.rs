//! Runs LISTEN, UNLISTEN and NOTIFY, and hands over what a transaction sends.

use crate::notifications::{self, Listening, Outbox};
use crate::rows::{Response, done};
use crate::session::Session;
use frazil_frontend::NotificationStatement;
use frazil_types::Result;
use std::time::Instant;

/// LISTEN, UNLISTEN or NOTIFY. They take effect when the transaction commits. 22023.
pub fn run(session: &mut Session, statement: NotificationStatement, started: Instant) -> Result<Response> {
    let outbox = session.outbox_mut();
    Ok(match statement {
        NotificationStatement::Listen { channel } => {
            let (channel, _) = notifications::checked(&channel, "")?;
            outbox.listen(Listening::To(channel));
            done("LISTEN", started)
        }
        NotificationStatement::Unlisten { channel } => {
            outbox.listen(channel.map_or(Listening::ToNothing, Listening::NotTo));
            done("UNLISTEN", started)
        }
        NotificationStatement::Notify { channel, payload } => {
            outbox.add(notifications::checked(&channel, &payload.unwrap_or_default())?);
            done("NOTIFY", started)
        }
    })
}

/// Ends a statement of a session that succeeded: its calls of `pg_notify` are the transaction's. Outside a transaction,
/// sends what there is. 54000.
pub fn end_statement(session: &mut Session) -> Result<()> {
    session.take_notified();
    if session.transaction().is_open() || session.outbox_mut().is_empty() {
        return Ok(());
    }
    let (database, board) = (session.database().clone(), session.board().clone());
    let outbox = session.outbox_mut();
    if let Some(sending) = database.exchange().begin_for(outbox)? {
        sending.send(outbox, board.mailbox());
    }
    Ok(())
}

/// Drops what a statement that failed sends; outside a transaction nothing else is there.
pub fn drop_statement(session: &mut Session) {
    session.board().take_notified();
    if !session.transaction().is_open() {
        *session.outbox_mut() = Outbox::default();
    }
}
