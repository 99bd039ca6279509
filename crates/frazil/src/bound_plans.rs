//! Runs bound queries, and INSERT, UPDATE and DELETE.

use crate::bundle::Bundle;
use crate::compiled_statement::{Action, CompiledStatement};
use crate::query;
use crate::row_sink::Delivery;
use crate::rows::{Response, Timing};
use crate::statement_tables::StatementTables;
use frazil_plan::Plan;
use frazil_storage::Transaction;
use frazil_types::{Error, Result};
use std::sync::Arc;

/// Runs a query that is bound.
pub(crate) fn read(
    runner: &query::Runner,
    plan: Plan,
    bundle: Bundle,
    kept: &mut Option<Arc<CompiledStatement>>,
    to: Delivery<'_>,
) -> Result<Response> {
    let mut timing = Timing::default();
    let compiled = runner.compile(plan, &bundle, &mut timing)?;
    let statement = compiled.keep(kept);
    query::read(runner, &statement.action, bundle, timing, to)
}

/// Runs INSERT, UPDATE or DELETE that is bound.
pub(crate) fn write_plan(
    runner: &query::Runner,
    transaction: &mut Transaction,
    plan: Plan,
    bundle: Bundle,
    kept: &mut Option<Arc<CompiledStatement>>,
) -> Result<Response> {
    refuse_system_table(&plan)?;
    let mut timing = Timing::default();
    let compiled = runner.compile(plan, &bundle, &mut timing)?;
    let statement = compiled.keep(kept);
    match &statement.action {
        Action::Write(action, rows) => query::write(runner, transaction, (action, rows), bundle, timing),
        Action::Rows(..) | Action::Point(_) | Action::Query(_) => {
            Err(Error::internal("a write that is a query"))
        }
    }
}

fn refuse_system_table(plan: &Plan) -> Result<()> {
    match plan.root.write() {
        Some(write) if StatementTables::is_system_table(write.change.table) => {
            let name = &write.change.name;
            Err(Error::unsupported(format!("writing to the system table {name}")))
        }
        _ => Ok(()),
    }
}
