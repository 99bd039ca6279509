//! ALTER TABLE: what an action asks of the rows that there are is asked of them by a query before the action is done.

use crate::column_types::set_types;
use crate::foreign_keys;
use crate::own_queries::{fill_text, missing_value, run_text};
use crate::query::Runner;
use crate::used_tables::UsedTables;
use frazil_catalog::{
    AlterAction, Constraint, ConstraintKind, NewConstraint, NewConstraintKind, TableEntry, identifier,
    multiple_primary_keys,
};
use frazil_storage::{TableMode, Transaction};
use frazil_types::{Error, ObjectId, Result, SqlState};

/// Does the actions one after the other.
pub fn alter_table(
    runner: &Runner,
    transaction: &mut Transaction,
    id: ObjectId,
    actions: Vec<AlterAction>,
) -> Result<()> {
    refuse_used(runner, transaction, id, &actions)?;
    transaction.lock_whole(id, TableMode::AccessExclusive)?;
    let is_type = |action: &AlterAction| matches!(action, AlterAction::SetType(_));
    let first = actions.iter().position(is_type);
    let (types, others): (Vec<AlterAction>, Vec<AlterAction>) = actions.into_iter().partition(is_type);
    let mut types = types.into_iter().filter_map(|action| match action {
        AlterAction::SetType(set) => Some(set),
        _ => None,
    });
    for (at, mut action) in others.into_iter().enumerate() {
        if first == Some(at) {
            set_types(runner, transaction, id, types.by_ref().collect())?;
        }
        let entry = transaction.view().table(id)?.table().entry().clone();
        if let AlterAction::AddColumn { column } = &mut action {
            column.missing = missing_value(runner, transaction, column)?;
        }
        check_rows(runner, transaction, &entry, &action)?;
        let filled = match &action {
            AlterAction::AddColumn { column } if column.is_generated() => Some(entry.schema.columns.len()),
            AlterAction::AddSequence(sequence) if sequence.fills => Some(sequence.column),
            AlterAction::FillColumn { column } => Some(*column),
            _ => None,
        };
        if let AlterAction::ValidateConstraint { name } = &action {
            for (_, key) in entry
                .foreign_keys()
                .filter(|(constraint, _)| constraint.name == *name)
            {
                transaction.lock_whole(key.parent, TableMode::ShareRowExclusive)?;
            }
            foreign_keys::validate(runner, transaction, &entry, name)?;
            if let Some(check) = entry.constraint(name).filter(|check| !check.is_valid()) {
                refuse_violations_of(runner, transaction, &entry, check)?;
            }
        }
        let is_valid_key = matches!(
            &action,
            AlterAction::AddConstraint(NewConstraint { kind: NewConstraintKind::ForeignKey(key), .. }) if key.is_valid
        );
        let is_check = matches!(
            &action,
            AlterAction::AddConstraint(new)
                if matches!(new.kind, NewConstraintKind::Check { is_valid: true, .. })
        );
        let entry = transaction.alter_table(id, action, runner.cancel())?;
        if is_check {
            refuse_violations(runner, transaction, &entry)?;
        }
        if let Some(column) = filled {
            fill(runner, transaction, &entry, column)?;
        }
        if let Some(constraint) = entry.constraints.last().filter(|_| is_valid_key) {
            foreign_keys::validate(runner, transaction, &entry, &constraint.name)?;
        }
    }
    set_types(runner, transaction, id, types.collect())
}

/// 55006 if a cursor reads the table, or if checks wait of rows whose table or foreign key actions change. Names may
/// change meanwhile.
fn refuse_used(
    runner: &Runner,
    transaction: &Transaction,
    id: ObjectId,
    actions: &[AlterAction],
) -> Result<()> {
    let only_names = |action: &AlterAction| {
        matches!(
            action,
            AlterAction::RenameTable { .. }
                | AlterAction::SetSchema { .. }
                | AlterAction::RenameColumn { .. }
                | AlterAction::RenameConstraint { .. }
        )
    };
    if actions.iter().all(only_names) {
        return Ok(());
    }
    let used = UsedTables::of(&runner.cursors(), Some(transaction));
    let catalog = transaction.view().catalog();
    used.refuse(catalog, id, "ALTER TABLE")?;
    let entry = transaction.view().table(id)?.table().entry();
    for action in actions {
        let AlterAction::DropConstraint { name, .. } = action else {
            continue;
        };
        let mut keys = entry
            .foreign_keys()
            .filter(|(constraint, _)| constraint.name == *name);
        keys.try_for_each(|(_, key)| used.refuse(catalog, key.parent, "ALTER TABLE"))?;
    }
    Ok(())
}

/// Gives the rows that there are the default of a column.
fn fill(runner: &Runner, transaction: &mut Transaction, entry: &TableEntry, column: usize) -> Result<()> {
    if transaction.view().table(entry.id)?.rows() == 0 {
        return Ok(());
    }
    let table = transaction
        .view()
        .catalog()
        .qualified(entry.namespace, &entry.name);
    let column = &entry.schema.columns[column];
    let text = format!("update {table} set {} = default", identifier(&column.name));
    match column.is_generated() {
        true => fill_text(runner, transaction, &text),
        // A sequence numbers the rows in their order.
        false => fill_text(&runner.on_one_thread(), transaction, &text),
    }
}

/// 23514 if a row violates the CHECK constraint that came last.
fn refuse_violations(runner: &Runner, transaction: &Transaction, entry: &TableEntry) -> Result<()> {
    match entry.constraints.last() {
        Some(constraint) => refuse_violations_of(runner, transaction, entry, constraint),
        None => Ok(()),
    }
}

/// The errors of binding a CHECK constraint that is NOT VALID, whose rows are not tested.
pub fn refuse_unbound(
    runner: &Runner,
    transaction: &Transaction,
    entry: &TableEntry,
    constraint: &Constraint,
) -> Result<()> {
    let ConstraintKind::Check { expression, .. } = &constraint.kind else {
        return Ok(());
    };
    has_row(runner, transaction, entry, &format!("false and ({expression}\n)")).map(drop)
}

/// 23514 if a row violates a CHECK constraint.
pub fn refuse_violations_of(
    runner: &Runner,
    transaction: &Transaction,
    entry: &TableEntry,
    constraint: &Constraint,
) -> Result<()> {
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
        .in_namespace(entry.namespace)
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
            kind: NewConstraintKind::PrimaryKey { columns, .. },
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
pub fn contains_nulls(entry: &TableEntry, column: &str) -> Error {
    let message = format!(
        "column \"{column}\" of relation \"{}\" contains null values",
        entry.name
    );
    Error::new(SqlState::NOT_NULL_VIOLATION, message)
        .of_table(&entry.name)
        .in_namespace(entry.namespace)
        .of_column(column)
}

/// Whether some row of a table satisfies a condition.
pub fn has_row(
    runner: &Runner,
    transaction: &Transaction,
    entry: &TableEntry,
    condition: &str,
) -> Result<bool> {
    let text = format!(
        "select 1 from {} where {condition}\nlimit 1",
        transaction
            .view()
            .catalog()
            .qualified(entry.namespace, &entry.name)
    );
    run_text(runner, transaction.snapshot(), &text).map(|rows| !rows.is_empty())
}
