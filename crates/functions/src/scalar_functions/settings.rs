//! Settings of the session, read and changed by functions.

use crate::function::{Function, Overload, Run, functions, volatile};
use crate::type_rules::Kind::{BigInt, Boolean, Double, Integer, Text};
use crate::vector::{Output, Row};
use frazil_types::session_settings::{self, SessionSettings};
use frazil_types::{Error, Result, SqlState};
use std::sync::Arc;
use std::time::Duration;

pub(super) const FUNCTIONS: &[Function] = functions! {
    "current_setting", [volatile(&[Text], current, Text), volatile(&[Text, Boolean], current_or_null, Text)],
        "the value of a setting, as SHOW shows it; with true, NULL if no setting has the name";
    "set_config", [Overload { parameters: &[Text, Text, Boolean], run: Run::VolatileOnNull(set, Text) }],
        "changes a setting, with true for the rest of the transaction, and returns the new value; NULL is the default";
    "pg_backend_pid", [volatile(&[], |_, o| o.int(settings()?.number().into()), Integer)],
        "the number by which clients and other sessions know the session: without a server that of the process";
    "pg_cancel_backend", [volatile(&[Integer], |r, o| o.bool(settings()?.cancel(r.int(0) as i32)?), Boolean)],
        "cancels the statement of another session of the role, or of any role with `pg_signal_backend`, by the number of pg_backend_pid; false if no client has it";
    "pg_terminate_backend", [
            volatile(&[Integer], terminate, Boolean),
            volatile(&[Integer, BigInt], terminate, Boolean),
        ],
        "ends another session, by the rights of `pg_cancel_backend` and the number of pg_backend_pid, and waits some milliseconds for its end";
    "pg_stat_reset", [volatile(&[], |_, o| { settings()?.reset_statistics()?; o.text("") }, Text)],
        "counts the database's transactions and rows anew, those of its tables and indexes too; for superusers";
    "pg_stat_statements_reset", [volatile(&[], |_, o| { settings()?.reset_statements()?; o.text("") }, Text)],
        "counts the statements of `pg_stat_statements` anew; for superusers";
    "pg_notify", [Overload { parameters: &[Text, Text], run: Run::VolatileOnNull(notify, Text) }],
        "NOTIFY of a channel with a payload, at COMMIT; returns an empty text";
    "pg_notification_queue_usage", [volatile(&[], |_, o| o.double(settings()?.notification_usage()), Double)],
        "the share of its room that the fullest queue of notifications has used";
};

/// pg_terminate_backend(number, milliseconds): without milliseconds nothing is waited for. 22003 for a negative time.
fn terminate(row: &Row<'_>, out: &mut Output) -> Result<()> {
    let milliseconds = if row.arguments() > 1 { row.int(1) } else { 0 };
    let patience = u64::try_from(milliseconds).map_err(|_| {
        let message = "\"timeout\" must not be negative";
        Error::new(SqlState::NUMERIC_OUT_OF_RANGE, message)
    })?;
    let patience = Duration::from_millis(patience);
    out.bool(settings()?.terminate(row.int(0) as i32, patience)?)
}

/// pg_notify(channel, payload): NULL is an empty text.
fn notify(row: &Row<'_>, out: &mut Output) -> Result<()> {
    let [channel, payload] = [0, 1].map(|at| if row.is_null(at) { "" } else { row.text(at) });
    settings()?.notify(channel, payload)?;
    out.text("")
}

fn settings() -> Result<Arc<dyn SessionSettings>> {
    session_settings::of_statement().ok_or_else(|| Error::internal("a setting outside of a session"))
}

fn current(row: &Row<'_>, out: &mut Output) -> Result<()> {
    let name = row.text(0);
    match settings()?.show(name)? {
        Some(value) => out.text(&value),
        None => {
            let message = format!("there is no setting \"{name}\"");
            Err(Error::new(SqlState::UNDEFINED_OBJECT, message)
                .with_hint("SHOW ALL lists the settings; current_setting(name, true) is NULL then"))
        }
    }
}

fn current_or_null(row: &Row<'_>, out: &mut Output) -> Result<()> {
    if !row.bool(1) {
        return current(row, out);
    }
    match settings()?.show(row.text(0))? {
        Some(value) => out.text(&value),
        None => out.null(),
    }
}

fn set(row: &Row<'_>, out: &mut Output) -> Result<()> {
    if row.is_null(0) {
        let message = "set_config needs the name of a setting, not NULL";
        return Err(Error::new(SqlState::NULL_VALUE_NOT_ALLOWED, message));
    }
    let value = (!row.is_null(1)).then(|| row.text(1));
    let is_local = !row.is_null(2) && row.bool(2);
    out.text(&settings()?.set(row.text(0), value, is_local)?)
}
