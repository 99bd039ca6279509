//! FOREIGN KEY and REFERENCES. The parent is found here; the catalog finds the columns and the unique key.

use super::constraints::Target;
use super::deferral::deferral;
use super::{Binder, fold};
use crate::parse::SET_COLUMNS;
use frazil_catalog::{NewConstraintKind, NewForeignKey, ReferentialAction, WrittenName};
use frazil_types::{Error, ObjectId, Result, SqlState};
use sqlparser::ast::{
    ConstraintReferenceMatchKind, ForeignKeyConstraint, Ident, ReferentialAction as SqlAction,
};

impl<'a> Binder<'a> {
    /// A foreign key of columns of these names. 42P01, 42809 for a view, 0A000 for MATCH PARTIAL.
    pub(super) fn foreign_key(
        &self,
        target: &Target<'_>,
        columns: Vec<String>,
        key: &ForeignKeyConstraint,
    ) -> Result<NewConstraintKind> {
        if key.index_name.is_some() {
            return Err(Error::unsupported("an index's name in a foreign key"));
        }
        let match_full = match key.match_kind {
            Some(ConstraintReferenceMatchKind::Partial) => return Err(Error::unsupported("MATCH PARTIAL")),
            Some(ConstraintReferenceMatchKind::Full) => true,
            Some(ConstraintReferenceMatchKind::Simple) | None => false,
        };
        let is_mark = |name: &Ident| name.value == SET_COLUMNS;
        refuse_actions(target, &columns, key)?;
        let mut parts = key.referred_columns.split(is_mark);
        let mut names = || -> Vec<String> { parts.next().unwrap_or_default().iter().map(fold).collect() };
        Ok(NewConstraintKind::ForeignKey(Box::new(NewForeignKey {
            columns,
            parent: self.parent(target, key)?,
            parent_columns: names(),
            set_columns: names(),
            match_full,
            on_delete: action(key.on_delete),
            on_update: action(key.on_update),
            is_valid: true,
            deferral: deferral(&key.characteristics)?,
        })))
    }

    /// The parent; `None` if it is the table that a CREATE TABLE makes.
    fn parent(&self, target: &Target<'_>, key: &ForeignKeyConstraint) -> Result<Option<ObjectId>> {
        let written = self.written_name(&key.foreign_table)?;
        let own = target.name;
        let is_own = match &written {
            WrittenName { schema: None, name } => *name == own.name,
            WrittenName {
                schema: Some(schema),
                name,
            } => *schema == own.schema && *name == own.name,
        };
        let refuse_view = |e: Error| match e.state() {
            SqlState::WRONG_OBJECT_TYPE => {
                let message = format!("referenced relation \"{}\" is not a table", written.name);
                Error::new(SqlState::WRONG_OBJECT_TYPE, message).at_span(e.span())
            }
            _ => e,
        };
        match self.own_table(&key.foreign_table) {
            Ok(_) if self.table(&key.foreign_table)?.materialized.is_some() => Err(refuse_view(Error::new(
                SqlState::WRONG_OBJECT_TYPE,
                "a materialized view",
            ))),
            Ok(parent) => Ok(Some(parent)),
            Err(e) if is_own && e.state() == SqlState::UNDEFINED_TABLE => Ok(None),
            Err(e) => Err(refuse_view(e)),
        }
    }
}

fn action(action: Option<SqlAction>) -> ReferentialAction {
    match action {
        None | Some(SqlAction::NoAction) => ReferentialAction::NoAction,
        Some(SqlAction::Restrict) => ReferentialAction::Restrict,
        Some(SqlAction::Cascade) => ReferentialAction::Cascade,
        Some(SqlAction::SetNull) => ReferentialAction::SetNull,
        Some(SqlAction::SetDefault) => ReferentialAction::SetDefault,
    }
}

/// 42601 for an action that would write into a generated column.
fn refuse_actions(target: &Target<'_>, columns: &[String], key: &ForeignKeyConstraint) -> Result<()> {
    let column = |name: &String| target.schema.index_of(name).map(|at| &target.schema.columns[at]);
    if !columns
        .iter()
        .filter_map(column)
        .any(|column| column.is_generated())
    {
        return Ok(());
    }
    let refused = |what: &str| {
        let message = format!("invalid {what} action for foreign key constraint containing generated column");
        Err(Error::new(SqlState::SYNTAX_ERROR, message))
    };
    match action(key.on_update) {
        ReferentialAction::SetNull | ReferentialAction::SetDefault | ReferentialAction::Cascade => {
            return refused("ON UPDATE");
        }
        ReferentialAction::NoAction | ReferentialAction::Restrict => {}
    }
    match action(key.on_delete) {
        ReferentialAction::SetNull | ReferentialAction::SetDefault => refused("ON DELETE"),
        ReferentialAction::NoAction | ReferentialAction::Restrict | ReferentialAction::Cascade => Ok(()),
    }
}
