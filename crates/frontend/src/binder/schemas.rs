//! Schemas: DROP SCHEMA, SET SCHEMA, and calls that ask for the schemas of the session's path.

use super::naming::{current_schema, current_schemas, find_own_table, schema_name};
use super::relation_call::{constant_text, folded};
use super::roles::role;
use super::{Binder, fold};
use crate::parse::{MovedKind, MovedObject, RenameTo, WrittenSchema};
use crate::{Bound, CatalogView, Definition};
use frazil_catalog::{AlterAction, DropBehavior, DropSchemas, NewSchema, SYSTEM_SCHEMA, identifier};
use frazil_functions::Operand;
use frazil_plan::Expr;
use frazil_types::{Error, LogicalType, Result, Span, SqlState, Value, array};
use sqlparser::ast::ObjectName;

/// Binds CREATE SCHEMA, whose name is that of its owner if none is written. 42704.
pub(crate) fn create_schema(catalog: &dyn CatalogView, written: &WrittenSchema) -> Result<Definition> {
    let owner = written
        .owner
        .as_ref()
        .map(|owner| role(catalog, owner))
        .transpose()?;
    let name = match (&written.name, owner) {
        (Some(name), _) => name.clone(),
        (None, Some(owner)) => catalog.guard().access().role_name(owner),
        (None, None) => return Err(Error::internal("a schema without a name")),
    };
    Ok(Definition::CreateSchema(NewSchema {
        name,
        if_not_exists: written.if_not_exists,
        owner,
    }))
}

/// Binds DROP SCHEMA, without the columns that CASCADE drops. 42601.
pub(crate) fn drop_schemas(
    binder: &Binder,
    names: &[ObjectName],
    if_exists: bool,
    behavior: DropBehavior,
) -> Result<DropSchemas> {
    let name = |name: &ObjectName| match &name.0[..] {
        [part] if let Some(ident) = part.as_ident() => {
            binder.not_reserved(ident)?;
            Ok(schema_name(binder.catalog, &fold(ident)))
        }
        _ => Err(binder.syntax_error(".", binder.name_span(name))),
    };
    Ok(DropSchemas {
        names: names.iter().map(name).collect::<Result<_>>()?,
        if_exists,
        behavior,
        path: binder.catalog.path().clone(),
    })
}

/// Binds SET SCHEMA of a table or type. 42P01, 42704.
pub(crate) fn set_schema(catalog: &dyn CatalogView, moved: &MovedObject) -> Result<Bound> {
    let schema = schema_name(catalog, &moved.schema);
    if moved.kind != MovedKind::Table {
        let to = RenameTo::Schema(schema);
        return super::renames::rename_as(catalog, (moved.kind, moved.if_exists, &moved.name), to);
    }
    match find_own_table(catalog, &moved.name) {
        Ok(table) => Ok(Bound::plain(Definition::AlterTable {
            table: Some(table),
            actions: vec![AlterAction::SetSchema { schema }],
            skipped: Vec::new(),
        })),
        Err(e) if moved.if_exists && e.state() == SqlState::UNDEFINED_TABLE => {
            Ok(Bound::plain(Definition::skipped_alter(&moved.name.name)))
        }
        Err(e) => Err(e),
    }
}

impl Binder<'_> {
    /// The value of a call that asks for schemas: it depends on the session's path and on the schemas that there are.
    /// `None` for another function. 0A000 for arguments that are not constants.
    pub(super) fn schema_call(
        &self,
        name: &str,
        arguments: &[Operand],
        span: Span,
    ) -> Result<Option<Operand>> {
        Ok(match (name, arguments) {
            ("current_schema", []) => {
                let schema = current_schema(self.catalog).map(str::to_string);
                let value = schema.map_or(Value::Null, Value::Text);
                Some(Expr::constant(value, LogicalType::Text).at(span).into())
            }
            ("current_schemas", [argument]) => {
                let Some(with_system) = constant_truth(argument) else {
                    return Err(
                        Error::unsupported("current_schemas of anything but a constant").at_span(span)
                    );
                };
                let mut schemas: Vec<&str> = current_schemas(self.catalog).collect();
                if with_system && !schemas.contains(&SYSTEM_SCHEMA) {
                    schemas.insert(0, SYSTEM_SCHEMA);
                }
                Some(text_array(&schemas)?.at(span).into())
            }
            ("to_regnamespace", [argument]) => match self.schema_of_text(argument) {
                Some((name, true)) => Some(Operand::literal(identifier(&name), span)),
                Some((_, false)) | None => None,
            },
            _ => None,
        })
    }

    /// The schema that a constant text names, and whether there is one.
    fn schema_of_text(&self, argument: &Operand) -> Option<(String, bool)> {
        let name = folded(constant_text(argument)?);
        let is_there = self.catalog.has_schema(&name);
        Some((name, is_there))
    }
}

/// The truth value that an operand is; `None` if rows or parameters make it.
fn constant_truth(x: &Operand) -> Option<bool> {
    match x {
        Operand::Typed(e) => match e.as_constant() {
            Some(Value::Bool(truth)) => Some(*truth),
            _ => None,
        },
        Operand::Unknown(_) => match constant_text(x)?.to_lowercase().as_str() {
            "t" | "true" | "on" | "1" => Some(true),
            "f" | "false" | "off" | "0" => Some(false),
            _ => None,
        },
    }
}

fn text_array(texts: &[&str]) -> Result<Expr> {
    let values: Vec<Value> = texts.iter().map(|text| Value::Text(text.to_string())).collect();
    let ty = LogicalType::Text.array();
    let ty = ty.ok_or_else(|| Error::internal("texts have no arrays"))?;
    let bytes = array::encode_list(&values, LogicalType::Text)?;
    Ok(Expr::constant(Value::Bytes(bytes), ty))
}
