//! Runs DECLARE, FETCH, MOVE and CLOSE.

use super::cursor::Cursor;
use super::running_query::Pieces;
use crate::bound_plans;
use crate::bundle::{Bundle, TypedBy};
use crate::query::Runner;
use crate::row_sink::Delivery;
use crate::rows::{Outcome, Response, Rows, counted, done};
use crate::session::Session;
use crate::transaction;
use frazil_frontend::{CursorOptions, CursorStatement, FetchDirection};
use frazil_plan::Plan;
use frazil_types::{Cancel, Result, Schema};
use std::sync::Arc;

/// Runs a statement about cursors. 34000 for a cursor that is not there, 42P03 for a name that is taken, 25P01 for
/// DECLARE without HOLD outside a transaction, 55000 for a direction that the cursor cannot take.
pub fn run(
    session: &mut Session,
    statement: CursorStatement,
    bundle: Bundle,
    to: Delivery<'_>,
) -> Result<Response> {
    let started = bundle.started;
    match statement {
        CursorStatement::Declare { name, options, plan } => {
            declare(session, name, options, *plan, bundle)?;
            Ok(done("DECLARE CURSOR", started))
        }
        CursorStatement::Fetch {
            name,
            direction,
            is_move: true,
        } => {
            let cancel = session.cancel().clone();
            let cursor = session.cursors_mut().get_mut(&name)?;
            let count = cursor.fetch(direction, &cancel, None)?;
            Ok(counted("MOVE", count, started))
        }
        CursorStatement::Fetch { name, direction, .. } => {
            let cancel = session.cancel().clone();
            let cursor = session.cursors_mut().get_mut(&name)?;
            let mut response = done("FETCH", started);
            response.outcome = fetched(cursor, direction, &cancel, to)?;
            Ok(response)
        }
        CursorStatement::Close { name } => {
            session.cursors_mut().close(name.as_deref())?;
            let tag = if name.is_some() {
                "CLOSE CURSOR"
            } else {
                "CLOSE CURSOR ALL"
            };
            Ok(done(tag, started))
        }
    }
}

fn declare(
    session: &mut Session,
    name: String,
    options: CursorOptions,
    plan: Plan,
    bundle: Bundle,
) -> Result<()> {
    let is_open = session.transaction().is_open();
    let text = bundle.text.clone();
    // A cursor that is held at once reads no table any more.
    let tables = match is_open {
        true => bundle.tables.entries_read().tables(),
        false => Vec::new(),
    };
    if !is_open && !options.is_held {
        return Err(transaction::outside("DECLARE CURSOR"));
    }
    session.cursors_mut().check_free(&name)?;
    let runner = Runner::new(session);
    let pieces = Pieces::default();
    // The plan cache would take the text of DECLARE for that of the query.
    let bundle = Bundle {
        typed_by: TypedBy::Run,
        ..bundle
    };
    let response = bound_plans::read(&runner, plan, bundle, &mut None, Delivery::Begun(&pieces))?;
    let mut cursor = Cursor::of_response(
        pieces.take(),
        response.outcome,
        options.is_scrollable,
        runner.budget(),
    );
    if !is_open {
        cursor.hold(runner.cancel())?;
    }
    session
        .cursors_mut()
        .add(name, options, cursor, (text, tables), is_open);
    Ok(())
}

fn fetched(
    cursor: &mut Cursor,
    direction: FetchDirection,
    cancel: &Cancel,
    to: Delivery<'_>,
) -> Result<Outcome> {
    if let Delivery::Parts(sink) = to {
        sink.begin(cursor.schema())?;
        let rows = cursor.fetch(direction, cancel, Some(&mut |batch| sink.rows(batch)))?;
        return Ok(Outcome::Command {
            tag: "FETCH",
            rows: Some(rows),
        });
    }
    let mut batches = Vec::new();
    let mut take = |batch| {
        batches.push(batch);
        Ok(())
    };
    cursor.fetch(direction, cancel, Some(&mut take))?;
    let rows = Rows::new(cursor.schema().clone(), batches);
    Ok(Outcome::Rows(rows.of_command("FETCH")))
}

/// The columns of the rows that a statement about cursors returns, if it returns rows. 34000.
pub fn described(session: &Session, statement: &CursorStatement) -> Result<Option<Arc<Schema>>> {
    match statement {
        CursorStatement::Fetch {
            name, is_move: false, ..
        } => session
            .cursors()
            .get(name)
            .map(|(cursor, _)| Some(cursor.schema().clone())),
        CursorStatement::Fetch { is_move: true, .. }
        | CursorStatement::Declare { .. }
        | CursorStatement::Close { .. } => Ok(None),
    }
}
