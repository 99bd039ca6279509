//! ALTER TABLE: what an action asks of the rows that there are is asked of them by a query before the action is done.

use crate::bundle::Bundle;
use crate::execute::hidden_value;
use crate::parameters;
use crate::query::{self, Runner};
use crate::statement_tables::StatementTables;
use frazil_catalog::{AlterAction, ConstraintKind, NewConstraint, NewConstraintKind, TableEntry, identifier};
use frazil_frontend::{Bound, Limits, PlanSettings, Statement};
use frazil_storage::Transaction;
use frazil_types::{Error, Result, SqlState};
use std::time::Instant;

/// Does the actions one after the other.
pub fn alter_table(
    runner: &Runner,
    transaction: &mut Transaction,
    table: &str,
    actions: Vec<AlterAction>,
) -> Result<()> {
    if actions.is_empty() {
        return Ok(());
    }
    let id = transaction.view().catalog().table(table)?.id;
    for action in actions {
        let entry = transaction.view().table(id)?.table().entry().clone();
        check_rows(runner, transaction, &entry, &action)?;
        let is_check = matches!(
            &action,
            AlterAction::AddConstraint(new) if matches!(new.kind, NewConstraintKind::Check { .. })
        );
        let entry = transaction.alter_table(id, action, runner.cancel())?;
        if is_check {
            refuse_violations(runner, transaction, &entry)?;
        }
    }
    Ok(())
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
        let condition = format!("{} is null", quoted(&column.name));
        if column.nullable && has_row(runner, transaction, entry, &condition)? {
            let message = format!(
                "column \"{}\" of relation \"{}\" contains null values",
                column.name, entry.name
            );
            return Err(Error::new(SqlState::NOT_NULL_VIOLATION, message)
                .of_table(&entry.name)
                .of_column(&column.name)
                .with_hint("give those rows values first"));
        }
    }
    Ok(())
}

/// Whether some row of a table satisfies a condition.
fn has_row(runner: &Runner, transaction: &Transaction, entry: &TableEntry, condition: &str) -> Result<bool> {
    let started = Instant::now();
    let text = format!("select 1 from {} where {condition}\nlimit 1", quoted(&entry.name));
    let limits = Limits {
        cancel: runner.cancel().clone(),
        budget: runner.budget().clone(),
    };
    let parsed = frazil_frontend::parse(&text, &limits)?;
    let [parsed] = &parsed[..] else {
        return Err(Error::internal("a condition that is not one"));
    };
    let tables = StatementTables::new(transaction.snapshot());
    let Bound {
        statement: Statement::Query(plan),
        hidden,
        depth,
        ..
    } = frazil_frontend::bind(parsed, &tables, &PlanSettings::default(), &[])?
    else {
        return Err(Error::internal("a condition that is not one"));
    };
    let now = parameters::now_micros();
    let bundle = Bundle {
        tables,
        parameters: hidden.iter().map(|h| hidden_value(h, now)).collect(),
        started,
        bind: started.elapsed(),
        text: text.as_str().into(),
        types: Vec::new(),
        hidden,
        is_typed_by_text: true,
        depth,
    };
    let rows = frazil_frontend::on_deep_stack(depth, || query::rows(runner, plan, bundle))?;
    Ok(!rows.is_empty())
}

/// A name in quotes: it may be a reserved word.
fn quoted(name: &str) -> String {
    match identifier(name) {
        plain if plain == name => format!("\"{name}\""),
        quoted => quoted,
    }
}
