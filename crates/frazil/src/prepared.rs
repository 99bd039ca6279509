//! PREPARE, EXECUTE and DEALLOCATE: statements that a connection keeps by name.
//!
//! What a statement was compiled to stays with it. One whose parameters had no types given shares the plan cache with
//! the statements of its text.

use crate::bound_plans;
use crate::bundle::TypedBy;
use crate::execute::{self, Call};
use crate::explain;
use crate::prepared_statements::Prepared as KeptStatement;
use crate::query;
use crate::row_sink::Delivery;
use crate::rows::{Outcome, Response, done};
use crate::session::Session;
use frazil_frontend::{
    Bound, ExplainOptions, Explained, ParsedStatement, Prepared, Statement, StatementRole, bind_values,
    on_deep_stack,
};
use frazil_types::{Error, LogicalType, Result, SqlState, Value};
use std::sync::Arc;

/// PREPARE, EXECUTE and DEALLOCATE. 42P05, 26000.
pub fn run(session: &mut Session, statement: Prepared, text: &Arc<str>, call: &Call<'_>) -> Result<Response> {
    let tag = match statement {
        Prepared::Prepare {
            name,
            types,
            typed_by_text,
            statement,
        } => {
            let typed_by = if typed_by_text {
                TypedBy::Text
            } else {
                TypedBy::Prepare
            };
            let prepared = KeptStatement::new(statement, types, typed_by);
            let text = (text.clone(), true);
            session.prepared_mut().add(name, Arc::new(prepared), text)?;
            "PREPARE"
        }
        Prepared::Execute { name, values } => return execute(session, &name, values.as_ref(), call),
        Prepared::Deallocate { name } => session.prepared_mut().remove(name.as_deref())?,
    };
    Ok(done(tag, call.started()))
}

/// EXECUTE. 26000; 42601 and 42804 for values that do not fit.
fn execute(
    session: &mut Session,
    name: &str,
    values: Option<&ParsedStatement>,
    call: &Call<'_>,
) -> Result<Response> {
    let prepared = session.prepared().get(name)?;
    if prepared.parsed.role() == StatementRole::Execute {
        return Err(Error::unsupported(
            "EXECUTE of a statement that is EXECUTE itself",
        ));
    }
    let values = evaluated(session, name, &prepared.types, values, call)?;
    let response = run_values(session, &prepared, &values, call).map_err(Error::without_place)?;
    let statistics = session.database().statistics();
    statistics.count_statement(session.number(), &response, prepared.counts(statistics));
    Ok(response)
}

/// Runs a prepared statement with values of its types. An error's place is in the statement's text.
pub fn run_values(
    session: &mut Session,
    prepared: &KeptStatement,
    values: &[Value],
    call: &Call<'_>,
) -> Result<Response> {
    let call = call.of_prepared(values, &prepared.types, &prepared.typed_by);
    let own = prepared.compiled().clone();
    let of_text = || match prepared.typed_by {
        TypedBy::Text => execute::cached_by_text(session, &prepared.parsed.text),
        TypedBy::Prepare | TypedBy::Values(_) | TypedBy::Run => None,
    };
    if let Some(own) = own.or_else(of_text)
        && let Some(response) = execute::run_kept(session, &own, &call)?
    {
        *prepared.compiled() = Some(own);
        return Ok(response);
    }
    let mut kept = None;
    let run = || execute::run_bound(session, &prepared.parsed, &call, &mut kept);
    let response = on_deep_stack(prepared.parsed.depth(), run)?;
    if kept.is_some() {
        *prepared.compiled() = kept;
    }
    Ok(response)
}

/// EXPLAIN EXECUTE: the plan of the prepared statement.
pub fn explained(
    session: &mut Session,
    options: ExplainOptions,
    name: &str,
    values: Option<&ParsedStatement>,
    call: &Call<'_>,
) -> Result<Response> {
    let prepared = session.prepared().get(name)?;
    let values = evaluated(session, name, &prepared.types, values, call)?;
    let call = call.of_prepared(&values, &prepared.types, &prepared.typed_by);
    let tables = query::Runner::new(session).tables(session.snapshot());
    let (statement, bundle) = execute::bind(&prepared.parsed, tables, &call)?;
    let Some(Explained::Plan(plan)) = Explained::of(statement) else {
        return Err(Error::unsupported(
            "EXPLAIN of anything but a query, INSERT, UPDATE, DELETE or FREEZE",
        ));
    };
    on_deep_stack(bundle.depth, || explain::run(session, options, *plan, bundle))
}

/// The values of EXECUTE, of these types.
fn evaluated(
    session: &Session,
    name: &str,
    types: &[LogicalType],
    values: Option<&ParsedStatement>,
    call: &Call<'_>,
) -> Result<Vec<Value>> {
    let Some(values) = values else {
        return match types.len() {
            0 => Ok(Vec::new()),
            wanted => Err(Error::new(
                SqlState::SYNTAX_ERROR,
                format!("wrong number of parameters for prepared statement \"{name}\""),
            )
            .with_detail(format!("Expected {wanted} parameters but got 0."))),
        };
    };
    let runner = query::Runner::new(session);
    let tables = runner.tables(session.snapshot());
    let Bound {
        statement: Statement::Query(plan),
        hidden,
        depth,
        ..
    } = bind_values(values, types, name, &tables)?
    else {
        return Err(Error::internal("values that are no query"));
    };
    let row = on_deep_stack(depth, || {
        let bundle = call.bundle_of_values(hidden, tables)?;
        bound_plans::read(&runner, plan, bundle, &mut None, Delivery::Whole)
    })?;
    match row.outcome {
        Outcome::Rows(rows) => rows
            .raw()
            .next()
            .ok_or_else(|| Error::internal("values without a row")),
        Outcome::Command { .. } => Err(Error::internal("values that are a command")),
    }
}
