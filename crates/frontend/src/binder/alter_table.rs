//! ALTER TABLE. Each action is bound to the columns that those before it leave.

use super::constraints::{Constraints, Target};
use super::rename::Renamed;
use super::{Binder, TableEntry, error, fold};
use crate::{Bound, Statement};
use frazil_catalog::{AlterAction, nearest};
use frazil_types::{Error, Result, Schema, Span, SqlState};
use sqlparser::ast::{
    AlterColumnOperation, AlterTable, AlterTableOperation as Operation, Ident, RenameTableNameKind, Spanned,
};

/// Binds ALTER TABLE.
pub(crate) fn alter_table<'a>(mut binder: Binder<'a>, alter: &'a AlterTable) -> Result<Bound> {
    if alter.on_cluster.is_some() || alter.location.is_some() || alter.table_type.is_some() {
        return Err(Error::unsupported("ALTER TABLE with ON CLUSTER or LOCATION"));
    }
    let entry = match binder.table(&alter.name) {
        Err(e) if alter.if_exists && e.state() == SqlState::UNDEFINED_TABLE => {
            return Ok(Bound::plain(Statement::AlterTable {
                table: binder.table_name(&alter.name)?,
                actions: Vec::new(),
            }));
        }
        entry => entry?,
    };
    if let [Operation::SetOptionsParens { options }] = &alter.operations[..] {
        return Ok(Bound::plain(Statement::AlterOptions {
            table: entry.name,
            options: super::alter::settings(&binder, options)?,
        }));
    }
    stands_alone(&binder, alter)?;
    binder.takes_parameters = false;
    let mut altered = Altered {
        schema: (*entry.schema).clone(),
        entry,
    };
    let mut actions = Vec::with_capacity(alter.operations.len());
    for operation in &alter.operations {
        actions.push(binder.alter_action(&mut altered, operation)?);
    }
    Ok(Bound::plain(Statement::AlterTable {
        table: altered.entry.name,
        actions,
    }))
}

/// The table, and its columns as the actions bound so far leave them.
struct Altered {
    entry: TableEntry,
    schema: Schema,
}

impl Altered {
    /// Position of a column. 42703.
    fn position(&self, binder: &Binder, name: &Ident) -> Result<usize> {
        let (name, span) = (fold(name), binder.span(name));
        self.schema.index_of(&name).ok_or_else(|| {
            let message = format!(
                "column \"{name}\" of relation \"{}\" does not exist",
                self.entry.name
            );
            let missing = error(SqlState::UNDEFINED_COLUMN, message, span);
            match nearest(&name, self.schema.columns.iter().map(|c| c.name.as_str())) {
                Some(near) => missing.with_hint(format!("did you mean \"{near}\"?")),
                None => missing,
            }
        })
    }
}

/// 42601 for RENAME among other actions.
fn stands_alone(binder: &Binder, alter: &AlterTable) -> Result<()> {
    let is_rename = |operation: &Operation| {
        matches!(
            operation,
            Operation::RenameTable { .. }
                | Operation::RenameColumn { .. }
                | Operation::RenameConstraint { .. }
        )
    };
    match &alter.operations[..] {
        [_] => Ok(()),
        several if several.iter().any(is_rename) => Err(binder.syntax_error(",", Span::NONE)),
        _ => Ok(()),
    }
}

impl<'a> Binder<'a> {
    fn alter_action(&mut self, altered: &mut Altered, operation: &'a Operation) -> Result<AlterAction> {
        Ok(match operation {
            Operation::RenameTable {
                table_name: RenameTableNameKind::To(name),
            } => {
                let name = self.table_name(name)?;
                let checks = self.checks_after(&altered.entry, Renamed::Table(&name))?;
                AlterAction::RenameTable { name, checks }
            }
            Operation::RenameColumn {
                old_column_name,
                new_column_name,
            } => {
                self.not_reserved(new_column_name)?;
                let column = altered.position(self, old_column_name)?;
                let name = fold(new_column_name);
                let checks = self.checks_after(&altered.entry, Renamed::Column(column, &name))?;
                AlterAction::RenameColumn { column, name, checks }
            }
            Operation::RenameConstraint { old_name, new_name } => AlterAction::RenameConstraint {
                from: fold(old_name),
                to: fold(new_name),
            },
            Operation::AlterColumn { column_name, op } => {
                let column = altered.position(self, column_name)?;
                self.alter_column(altered, column, op)?
            }
            Operation::AddConstraint {
                constraint,
                not_valid,
            } => {
                if *not_valid {
                    let span = self.place.span(constraint.span());
                    return Err(Error::unsupported("a constraint that is NOT VALID").at_span(span));
                }
                let target = Target {
                    name: &altered.entry.name,
                    schema: &altered.schema,
                };
                let mut constraints = Constraints::default();
                self.table_constraint(&target, constraint, &mut constraints)?;
                let made = constraints.in_order(&altered.entry.name)?.pop();
                made.map(AlterAction::AddConstraint)
                    .ok_or_else(|| Error::internal("a constraint that is none"))?
            }
            Operation::DropConstraint { if_exists, name, .. } => AlterAction::DropConstraint {
                name: fold(name),
                if_exists: *if_exists,
            },
            other => return Err(Error::unsupported(refused(other))),
        })
    }

    fn alter_column(
        &mut self,
        altered: &mut Altered,
        column: usize,
        operation: &'a AlterColumnOperation,
    ) -> Result<AlterAction> {
        Ok(match operation {
            AlterColumnOperation::SetNotNull => AlterAction::SetNotNull { column },
            AlterColumnOperation::DropNotNull => AlterAction::DropNotNull { column },
            AlterColumnOperation::SetDefault { value } => {
                let default = self.default(&altered.schema.columns[column], value)?;
                AlterAction::SetDefault { column, default }
            }
            AlterColumnOperation::DropDefault => AlterAction::SetDefault {
                column,
                default: None,
            },
            AlterColumnOperation::SetDataType { .. } => {
                return Err(Error::unsupported("ALTER COLUMN … TYPE")
                    .with_hint("CREATE TABLE … AS SELECT … makes a table of other types"));
            }
            _ => return Err(Error::unsupported("this ALTER COLUMN")),
        })
    }
}

/// The name of an action that there is not.
fn refused(operation: &Operation) -> String {
    let text = operation.to_string();
    let words: Vec<&str> = text.split_whitespace().take(2).collect();
    match operation {
        Operation::SetOptionsParens { .. } => "SET (…) among other actions of ALTER TABLE".to_string(),
        _ => format!("ALTER TABLE … {}", words.join(" ")),
    }
}
