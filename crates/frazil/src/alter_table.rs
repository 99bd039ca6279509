//! ALTER TABLE: what an action asks of the rows that there are is asked of them by a query before the action is done.

use crate::bundle::{Bundle, TypedBy};
use crate::execute::{self, hidden_value};
use crate::parameters;
use crate::query::{self, Runner};
use crate::rows::Rows;
use crate::statement_tables::StatementTables;
use frazil_catalog::{
    AlterAction, ConstraintKind, NewConstraint, NewConstraintKind, TableEntry, identifier,
    multiple_primary_keys,
};
use frazil_frontend::{Bound, HiddenParameter, Limits, PlanSettings, Statement, Writing};
use frazil_storage::Transaction;
use frazil_types::{ColumnDef, Error, ObjectId, Result, SqlState, Value};
use std::time::Instant;

/// Does the actions one after the other.
pub fn alter_table(
    runner: &Runner,
    transaction: &mut Transaction,
    id: ObjectId,
    actions: Vec<AlterAction>,
) -> Result<()> {
    for mut action in actions {
        let entry = transaction.view().table(id)?.table().entry().clone();
        if let AlterAction::AddColumn { column } = &mut action {
            column.missing = missing_value(runner, transaction, column)?;
        }
        check_rows(runner, transaction, &entry, &action)?;
        let filled = match &action {
            AlterAction::AddSequence(sequence) if sequence.fills => Some(sequence.column),
            _ => None,
        };
        let is_check = matches!(
            &action,
            AlterAction::AddConstraint(new) if matches!(new.kind, NewConstraintKind::Check { .. })
        );
        let entry = transaction.alter_table(id, action, runner.cancel())?;
        if is_check {
            refuse_violations(runner, transaction, &entry)?;
        }
        if let Some(column) = filled {
            fill(runner, transaction, &entry, column)?;
        }
    }
    Ok(())
}

/// Gives the rows that there are the default of a column.
fn fill(runner: &Runner, transaction: &mut Transaction, entry: &TableEntry, column: usize) -> Result<()> {
    if transaction.view().table(entry.id)?.rows() == 0 {
        return Ok(());
    }
    let started = Instant::now();
    let table = transaction
        .view()
        .catalog()
        .qualified(entry.namespace, &entry.name);
    let text = format!(
        "update {table} set {} = default",
        identifier(&entry.schema.columns[column].name)
    );
    let parsed = frazil_frontend::parse(&text, &limits_of(runner))?;
    let [parsed] = &parsed[..] else {
        return Err(Error::internal("an update that is not one"));
    };
    let tables = StatementTables::new(transaction.snapshot());
    let bound = frazil_frontend::bind(parsed, &tables, &PlanSettings::default(), &[])?;
    let Bound {
        statement: Statement::Writing(Writing::Write(plan)),
        hidden,
        depth,
        ..
    } = bound
    else {
        return Err(Error::internal("an update that does not write"));
    };
    let bundle = bundle(tables, hidden, depth, &text, started);
    execute::write_plan(runner, transaction, plan, bundle, &mut None).map(drop)
}

/// 23514 if a row violates the CHECK constraint that came last.
fn refuse_violations(runner: &Runner, transaction: &Transaction, entry: &TableEntry) -> Result<()> {
    let Some(constraint) = entry.constraints.last() else {
        return Ok(());
    };
    let ConstraintKind::Check { expression, .. } = &constraint.kind else {
        return Ok(());
    };
    if !has_row(runner, transaction, entry, &format!("not ({expression}\n)"))? {
        return Ok(());
    }
    let message = format!(
        "check constraint \"{}\" of relation \"{}\" is violated by some row",
        constraint.name, entry.name
    );
    Err(Error::new(SqlState::CHECK_VIOLATION, message)
        .of_table(&entry.name)
        .of_constraint(&constraint.name))
}

/// Whether the rows allow an action: 23502.
fn check_rows(
    runner: &Runner,
    transaction: &Transaction,
    entry: &TableEntry,
    action: &AlterAction,
) -> Result<()> {
    match action {
        AlterAction::AddColumn { column } if !column.nullable && column.missing.is_null() => {
            match transaction.view().table(entry.id)?.rows() {
                0 => Ok(()),
                _ => Err(contains_nulls(entry, &column.name)),
            }
        }
        AlterAction::AddConstraint(NewConstraint {
            kind: NewConstraintKind::PrimaryKey { .. },
            ..
        }) if entry.primary_key().is_some() => Err(multiple_primary_keys(&entry.name)),
        AlterAction::SetNotNull { column } => refuse_nulls(runner, transaction, entry, &[*column]),
        AlterAction::AddConstraint(NewConstraint {
            kind: NewConstraintKind::PrimaryKey { columns },
            ..
        }) => refuse_nulls(runner, transaction, entry, columns),
        _ => Ok(()),
    }
}

/// 23502 if a row has NULL in one of some columns.
fn refuse_nulls(
    runner: &Runner,
    transaction: &Transaction,
    entry: &TableEntry,
    columns: &[usize],
) -> Result<()> {
    for &column in columns {
        let column = &entry.schema.columns[column];
        let condition = format!("{} is null", identifier(&column.name));
        if column.nullable && has_row(runner, transaction, entry, &condition)? {
            return Err(contains_nulls(entry, &column.name).with_hint("set values in those rows first"));
        }
    }
    Ok(())
}

/// 23502.
fn contains_nulls(entry: &TableEntry, column: &str) -> Error {
    let message = format!(
        "column \"{column}\" of relation \"{}\" contains null values",
        entry.name
    );
    Error::new(SqlState::NOT_NULL_VIOLATION, message)
        .of_table(&entry.name)
        .of_column(column)
}

/// The value that rows have in a column that comes: its default, computed once.
fn missing_value(runner: &Runner, transaction: &Transaction, column: &ColumnDef) -> Result<Value> {
    if let Some(value) = column.constant_default() {
        return Ok(value);
    }
    let started = Instant::now();
    let tables = StatementTables::new(transaction.snapshot());
    let bound = frazil_frontend::bind_default(column, &tables, &limits_of(runner))?;
    let rows = run_query(runner, tables, bound, "", started)?;
    let first = rows.batches().first().filter(|batch| batch.rows == 1);
    let value = first.and_then(|batch| batch.columns.first());
    (value.map(|value| value.value(0))).ok_or_else(|| Error::internal("a default of no value"))
}

/// Whether some row of a table satisfies a condition.
fn has_row(runner: &Runner, transaction: &Transaction, entry: &TableEntry, condition: &str) -> Result<bool> {
    let started = Instant::now();
    let text = format!(
        "select 1 from {} where {condition}\nlimit 1",
        transaction
            .view()
            .catalog()
            .qualified(entry.namespace, &entry.name)
    );
    let parsed = frazil_frontend::parse(&text, &limits_of(runner))?;
    let [parsed] = &parsed[..] else {
        return Err(Error::internal("a condition that is not one"));
    };
    let tables = StatementTables::new(transaction.snapshot());
    let bound = frazil_frontend::bind(parsed, &tables, &PlanSettings::default(), &[])?;
    run_query(runner, tables, bound, &text, started).map(|rows| !rows.is_empty())
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
