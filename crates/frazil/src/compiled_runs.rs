//! Runs statements that were compiled before.

use crate::checked_writes::write_checked;
use crate::compiled_statement::{Action, CompiledStatement, WriteRows};
use crate::execute::Call;
use crate::query;
use crate::rows::{Response, Timing};
use crate::session::{Extent, Session};
use crate::table_locks;
use crate::write::WriteAction;
use frazil_codegen::OneRun;
use frazil_storage::Snapshot;
use frazil_types::{Error, Result};

/// The outcome of a statement that needs no pipelines as a rule.
enum Direct {
    /// Its response.
    Done(Response),
    /// The compiled statement no longer fits; nothing was done.
    Unfit,
    /// Its rows are not few, so that it needs its pipelines; nothing was done.
    NotFew,
}

/// Runs a query; `None` if it no longer fits, and then nothing was done. The view is taken first, then the statement's
/// assumptions are checked.
pub(crate) fn read(
    session: &Session,
    statement: &CompiledStatement,
    call: &Call<'_>,
) -> Result<Option<Response>> {
    let settings = session.settings().plan();
    if matches!(statement.action, Action::Rows(..) | Action::Point(_)) && !statement.asks_catalog() {
        let ran = session.look(|snapshot| match statement.fits(snapshot, &settings) {
            true => read_directly(session, statement, snapshot, call),
            false => Ok(Direct::Unfit),
        });
        match ran? {
            Direct::Done(response) => return Ok(Some(response)),
            Direct::Unfit => return Ok(None),
            Direct::NotFew => {}
        }
    }
    let snapshot = session.snapshot();
    if !statement.fits(&snapshot, &settings) {
        return Ok(None);
    }
    let runner = query::Runner::new(session);
    let bundle = call.bundle(statement, runner.tables(snapshot))?;
    let timing = call.timing();
    query::read(&runner, &statement.action, bundle, timing, call.to).map(Some)
}

/// Runs a query that takes no pipelines.
fn read_directly(
    session: &Session,
    statement: &CompiledStatement,
    snapshot: &Snapshot,
    call: &Call<'_>,
) -> Result<Direct> {
    let parameters = call.values(&statement.parameters, &statement.hidden, None)?;
    let outcome = match &statement.action {
        Action::Rows(rows, schema) => query::direct_rows(rows, schema, &parameters),
        Action::Point(point) => {
            let run = OneRun {
                parameters: &parameters,
                cancel: session.cancel(),
                count_access: session.settings().access_counters,
                scan: session.settings().scan_options(),
            };
            let found = point.read(snapshot, session.database().budget(), run);
            match found.inspect_err(|_| session.count_direct())? {
                Some(outcome) => outcome,
                None => return Ok(Direct::NotFew),
            }
        }
        Action::Query(_) | Action::Write(..) => {
            return Err(Error::internal("pipelines where none should be"));
        }
    };
    session.count_direct();
    // To look at the clock once more costs as much as a good part of such a statement.
    let timing = Timing {
        execute: call.started().elapsed(),
        ..Timing::default()
    };
    Ok(Direct::Done(Response::new(outcome, timing)))
}

/// Runs a statement that writes; `None` if it no longer fits, and then nothing was done.
pub(crate) fn write(
    session: &mut Session,
    statement: &CompiledStatement,
    (action, rows): (&WriteAction, &WriteRows),
    call: &Call<'_>,
) -> Result<Option<Response>> {
    if !matches!(rows, WriteRows::Query(_)) && !action.has_queries() && !statement.asks_catalog() {
        match write_directly(session, statement, (action, rows), call)? {
            Direct::Done(response) => return Ok(Some(response)),
            Direct::Unfit => return Ok(None),
            Direct::NotFew => {}
        }
    }
    let settings = session.settings().plan();
    let runner = query::Runner::new(session);
    write_checked(session, Extent::Rows, |_, transaction| {
        table_locks::take_for(transaction, &action.change)?;
        let snapshot = transaction.snapshot();
        if !statement.fits(&snapshot, &settings) {
            return Ok(None);
        }
        let bundle = call.bundle(statement, runner.tables(snapshot))?;
        let timing = call.timing();
        query::write(&runner, transaction, (action, rows), bundle, timing).map(Some)
    })
}

/// Runs a write whose rows take no pipelines.
fn write_directly(
    session: &mut Session,
    statement: &CompiledStatement,
    (action, rows): (&WriteAction, &WriteRows),
    call: &Call<'_>,
) -> Result<Direct> {
    let settings = session.settings().plan();
    let (mut left, mut ran) = (Direct::Unfit, false);
    let response = write_checked(session, Extent::Rows, |writing, transaction| {
        table_locks::take_for(transaction, &action.change)?;
        left = Direct::Unfit;
        ran = statement.fits(transaction.view(), &settings);
        if !ran {
            return Ok(None);
        }
        let parameters = call.values(&statement.parameters, &statement.hidden, None)?;
        let timing = Timing::default();
        let mut response = match rows {
            WriteRows::Direct(rows) => {
                let rows = rows.lend(&parameters);
                action.run_direct(transaction, &rows, writing.cancel, timing)
            }
            WriteRows::Point(point) => {
                let run = OneRun {
                    parameters: &parameters,
                    cancel: writing.cancel,
                    count_access: writing.settings.access_counters,
                    scan: writing.settings.scan_options(),
                };
                let Some(batches) = point.run(transaction.view(), writing.budget, run)? else {
                    (left, ran) = (Direct::NotFew, false);
                    return Ok(None);
                };
                action.run_untimed(transaction, batches, writing.cancel, timing)
            }
            WriteRows::Query(_) => Err(Error::internal("pipelines where none should be")),
        }?;
        // One look at the clock for the whole statement, as in `read_directly`.
        response.timing.execute = call.started().elapsed();
        Ok(Some(response))
    });
    if ran {
        session.count_direct();
    }
    Ok(response?.map_or(left, Direct::Done))
}
