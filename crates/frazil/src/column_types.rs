//! ALTER COLUMN … TYPE. If values have to be written anew, a column with a number of its own is added, is filled
//! beside the rows ([`crate::filling`]), and takes the place of the old one. Until the transaction commits, all other
//! sessions see the old column.

use crate::alter_table::{contains_nulls, has_row, refuse_unbound, refuse_violations_of};
use crate::own_queries::{check_default, fill_text};
use crate::query::Runner;
use frazil_catalog::{AlterAction, ConstraintKind, Replacement, SetType, TableEntry, identifier};
use frazil_storage::Transaction;
use frazil_types::{ColumnDef, ColumnDefault, Error, ObjectId, Result, Schema, SqlState};

/// Gives columns of a table other types. Every USING sees the row as it was before the first of them. 0A000 for a
/// column that a view or a foreign key needs; 42804; the errors of expressions, keys, NOT NULL and checks.
pub fn set_types(
    runner: &Runner,
    transaction: &mut Transaction,
    id: ObjectId,
    sets: Vec<SetType>,
) -> Result<()> {
    if sets.is_empty() {
        return Ok(());
    }
    let entry = transaction.view().table(id)?.table().entry().clone();
    for set in &sets {
        transaction.view().catalog().refuse_type_change(&entry, set)?;
        refuse_default(runner, transaction, &entry, set)?;
    }
    let keeps = |set: &SetType| set.keeps_values(entry.schema.columns[set.column].ty);
    let (kept, written): (Vec<SetType>, Vec<SetType>) = sets.into_iter().partition(keeps);
    let columns: Vec<usize> = written.iter().map(|set| set.column).collect();
    if !written.is_empty() {
        let names = fill(runner, transaction, &entry, &written)?;
        for (set, name) in written.iter().zip(names) {
            let column = &entry.schema.columns[set.column];
            let condition = format!("{} is null", identifier(&name));
            if !column.nullable && has_row(runner, transaction, &entry, &condition)? {
                return Err(contains_nulls(&entry, &column.name));
            }
        }
        // The new columns are the last ones: the first of them becomes the last one each time.
        for set in written.into_iter().rev() {
            let action = AlterAction::ReplaceColumn(Replacement {
                column: set.column,
                default: set.default,
                texts: set.texts,
            });
            transaction.alter_table(id, action, runner.cancel())?;
        }
    }
    for set in kept {
        transaction.alter_table(id, AlterAction::SetType(set), runner.cancel())?;
    }
    let entry = transaction.view().table(id)?.table().entry().clone();
    for constraint in &entry.constraints {
        let is_concerned = match &constraint.kind {
            ConstraintKind::Check { columns: read, .. } => read.iter().any(|column| columns.contains(column)),
            ConstraintKind::PrimaryKey { .. }
            | ConstraintKind::Unique { .. }
            | ConstraintKind::ForeignKey(_) => false,
        };
        match is_concerned {
            true if constraint.is_valid() => refuse_violations_of(runner, transaction, &entry, constraint)?,
            true => refuse_unbound(runner, transaction, &entry, constraint)?,
            false => {}
        }
    }
    Ok(())
}

/// Adds a column for each that gets another type, and computes its values. Returns the names of the new columns.
fn fill(
    runner: &Runner,
    transaction: &mut Transaction,
    entry: &TableEntry,
    sets: &[SetType],
) -> Result<Vec<String>> {
    let mut names = Vec::with_capacity(sets.len());
    let mut assignments = Vec::with_capacity(sets.len());
    for set in sets {
        let old = &entry.schema.columns[set.column];
        let name = free_name(&entry.schema, &old.name);
        let column = ColumnDef::new(&name, set.ty);
        transaction.alter_table(entry.id, AlterAction::AddColumn { column }, runner.cancel())?;
        let value = set.using.clone().unwrap_or_else(|| identifier(&old.name));
        assignments.push(format!("{} = ({value}\n)", identifier(&name)));
        names.push(name);
    }
    let table = transaction
        .view()
        .catalog()
        .qualified(entry.namespace, &entry.name);
    let text = format!("update {table} set {}", assignments.join(", "));
    fill_text(runner, transaction, &text)?;
    Ok(names)
}

/// A name that no column has.
fn free_name(schema: &Schema, column: &str) -> String {
    let mut name = format!("new {column}");
    while schema.index_of(&name).is_some() {
        name.insert_str(0, "new ");
    }
    name
}

/// 42804 if an expression that is a column's default is not cast to the new type by an assignment.
fn refuse_default(
    runner: &Runner,
    transaction: &Transaction,
    entry: &TableEntry,
    set: &SetType,
) -> Result<()> {
    let Some(ColumnDefault::Expression(_)) = &set.default else {
        return Ok(());
    };
    let old = &entry.schema.columns[set.column];
    let mut column = ColumnDef::new(&old.name, set.ty);
    column.default.clone_from(&set.default);
    check_default(runner, transaction, &column).map_err(|failed| match failed.state() {
        SqlState::DATATYPE_MISMATCH | SqlState::CANNOT_COERCE => {
            let (name, ty) = (&old.name, set.ty.name());
            let message = format!("default for column \"{name}\" cannot be cast automatically to type {ty}");
            Error::new(SqlState::DATATYPE_MISMATCH, message)
        }
        _ => failed,
    })
}
