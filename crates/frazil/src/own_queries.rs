//! Queries of Frazil's own within a writing statement, and values that it gives to columns: they see what its
//! transaction did.

use crate::bundle::{Bundle, TypedBy};
use crate::filling;
use crate::parameters::{self, hidden_value};
use crate::query::{self, Runner};
use crate::rows::Rows;
use crate::statement_tables::StatementTables;
use frazil_catalog::{TableEntry, ViewEntry};
use frazil_frontend::{Bound, HiddenParameter, Limits, PlanSettings, Statement, Writing};
use frazil_storage::{Snapshot, Transaction};
use frazil_types::{ColumnDef, Error, Result, Value};
use std::sync::Arc;
use std::time::Instant;

/// The value that rows have in a column that comes: its default, computed once.
pub fn missing_value(runner: &Runner, transaction: &Transaction, column: &ColumnDef) -> Result<Value> {
    if let Some(value) = column.constant_default() {
        return Ok(value);
    }
    let started = Instant::now();
    let tables = runner.own_tables(transaction.snapshot());
    let bound = frazil_frontend::bind_default(column, &tables, &limits_of(runner))?;
    let rows = run_query(runner, tables, bound, "", started)?;
    let first = rows.batches().first().filter(|batch| batch.rows == 1);
    let value = first.and_then(|batch| batch.columns.first());
    (value.map(|value| value.value(0))).ok_or_else(|| Error::internal("a default of no value"))
}

/// The errors of a default that an assignment does not cast to the type of its column.
pub fn check_default(runner: &Runner, transaction: &Transaction, column: &ColumnDef) -> Result<()> {
    let tables = runner.own_tables(transaction.snapshot());
    frazil_frontend::bind_default(column, &tables, &limits_of(runner)).map(drop)
}

/// The rows of a query whose text is Frazil's own.
pub fn run_text(runner: &Runner, snapshot: Arc<Snapshot>, text: &str) -> Result<Rows> {
    let started = Instant::now();
    let parsed = frazil_frontend::parse(text, &limits_of(runner))?;
    let [parsed] = &parsed[..] else {
        return Err(Error::internal("a condition that is not one"));
    };
    let tables = runner.own_tables(snapshot);
    let bound = frazil_frontend::bind(parsed, &tables, &PlanSettings::default(), &[])?;
    run_query(runner, tables, bound, text, started)
}

/// The rows of the query of a view.
pub fn view_rows(runner: &Runner, snapshot: Arc<Snapshot>, view: &ViewEntry) -> Result<Rows> {
    let started = Instant::now();
    let tables = StatementTables::new(snapshot);
    let bound = frazil_frontend::bind_view(view, &tables, &limits_of(runner))?;
    run_query(runner, tables, bound, "", started)
}

/// Fills the columns that an UPDATE sets, whose text is Frazil's own: see [`filling::fill`]. Rows keep what they
/// violate of checks that are NOT VALID.
pub fn fill_text(runner: &Runner, transaction: &mut Transaction, text: &str) -> Result<()> {
    let started = Instant::now();
    let parsed = frazil_frontend::parse(text, &limits_of(runner))?;
    let [parsed] = &parsed[..] else {
        return Err(Error::internal("an update that is not one"));
    };
    let tables = runner.own_tables(transaction.snapshot()).without_open_checks();
    let bound = frazil_frontend::bind(parsed, &tables, &PlanSettings::default(), &[])?;
    run_fill(runner, transaction, (bound, tables), text, started)
}

/// Computes the hidden columns of a table from position `first` on for all rows. `condition`: the position of the
/// condition of their index.
pub fn fill_hidden(
    runner: &Runner,
    transaction: &mut Transaction,
    entry: &TableEntry,
    first: usize,
    condition: Option<usize>,
) -> Result<()> {
    let started = Instant::now();
    let tables = StatementTables::new(transaction.snapshot()).without_open_checks();
    let catalog = transaction.view().catalog();
    let name = catalog.qualified(entry.namespace, &entry.name);
    let bound = frazil_frontend::bind_hidden(&name, first, condition, &tables, &limits_of(runner))?;
    run_fill(runner, transaction, (bound, tables), "", started)
}

fn run_fill(
    runner: &Runner,
    transaction: &mut Transaction,
    (bound, tables): (Bound, StatementTables),
    text: &str,
    started: Instant,
) -> Result<()> {
    let Bound {
        statement: Statement::Writing(Writing::Write(plan)),
        hidden,
        depth,
        ..
    } = bound
    else {
        return Err(Error::internal("an update that does not write"));
    };
    let bundle = bundle(tables, hidden, depth, text, started);
    frazil_frontend::on_deep_stack(depth, || filling::fill(runner, transaction, plan, bundle))
}

fn limits_of(runner: &Runner) -> Limits {
    Limits {
        cancel: runner.cancel().clone(),
        budget: runner.budget().clone(),
    }
}

/// The rows of a query of ours.
fn run_query(
    runner: &Runner,
    tables: StatementTables,
    bound: Bound,
    text: &str,
    started: Instant,
) -> Result<Rows> {
    let Bound {
        statement: Statement::Query(plan),
        hidden,
        depth,
        ..
    } = bound
    else {
        return Err(Error::internal("a condition that is not one"));
    };
    let bundle = bundle(tables, hidden, depth, text, started);
    frazil_frontend::on_deep_stack(depth, || query::rows(runner, plan, bundle))
}

/// The bundle with which a statement of ours runs.
fn bundle(
    tables: StatementTables,
    hidden: Vec<HiddenParameter>,
    depth: usize,
    text: &str,
    started: Instant,
) -> Bundle {
    let now = parameters::now_micros();
    Bundle {
        tables: tables.into(),
        parameters: hidden.iter().map(|h| hidden_value(h, now, now)).collect(),
        started,
        bind: started.elapsed(),
        text: text.into(),
        types: Vec::new(),
        guessed: Vec::new(),
        hidden,
        typed_by: TypedBy::Text,
        depth,
    }
}
