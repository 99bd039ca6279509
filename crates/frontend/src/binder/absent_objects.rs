//! DROP … IF EXISTS of objects of kinds that Frazil does not have, and the extension plpgsql, which is there already.

use super::naming::{find_relation, schema_name};
use crate::parse::{AbsentObjects, PLPGSQL};
use crate::{CatalogView, Skipped, Statement};
use frazil_catalog::{SYSTEM_SCHEMA, WrittenName};
use frazil_types::{Error, Result, SqlState};

/// The notices of such a statement. 42710 for CREATE EXTENSION plpgsql; 0A000 for a function of the system.
pub(crate) fn absent_objects(catalog: &dyn CatalogView, absent: &AbsentObjects) -> Result<Statement> {
    let (tag, skipped) = match absent {
        AbsentObjects::CommentOnPlpgsql => return Ok(Statement::checked("COMMENT")),
        AbsentObjects::CreatePlpgsql(if_not_exists) => {
            let message = format!("extension \"{PLPGSQL}\" already exists");
            let state = SqlState::DUPLICATE_OBJECT;
            if !if_not_exists {
                return Err(Error::new(state, message));
            }
            let message = format!("{message}, skipping");
            ("CREATE EXTENSION", vec![Skipped { state, message }])
        }
        AbsentObjects::Routines { kind, names, tag } => {
            let skip = |(name, arguments): &(WrittenName, String)| {
                if is_of_system(name) {
                    return Err(Error::unsupported(*tag));
                }
                let message = format!("{kind} {name}({arguments}) does not exist, skipping");
                Ok(missing_schema(catalog, name).unwrap_or_else(|| skipped_absent(message)))
            };
            (*tag, names.iter().map(skip).collect::<Result<_>>()?)
        }
        AbsentObjects::OnRelation {
            kind,
            name,
            relation,
            tag,
        } => {
            let message = match find_relation(catalog, catalog.path(), relation) {
                Some(_) => format!("{kind} \"{name}\" for relation \"{relation}\" does not exist, skipping"),
                None => format!("relation \"{relation}\" does not exist, skipping"),
            };
            let skipped = missing_schema(catalog, relation);
            (*tag, vec![skipped.unwrap_or_else(|| skipped_absent(message))])
        }
        AbsentObjects::Named { kind, names, tag } => {
            let skip = |name: &String| skipped_absent(format!("{kind} \"{name}\" does not exist, skipping"));
            (*tag, names.iter().map(skip).collect())
        }
    };
    Ok(Statement::Checked { tag, skipped })
}

fn skipped_absent(message: String) -> Skipped {
    Skipped {
        state: SqlState::SUCCESSFUL_COMPLETION,
        message,
    }
}

/// The notice for a name whose schema does not exist.
fn missing_schema(catalog: &dyn CatalogView, name: &WrittenName) -> Option<Skipped> {
    let schema = name.schema.as_ref()?;
    let is_missing = !catalog.has_schema(&schema_name(catalog, schema));
    is_missing.then(|| skipped_absent(format!("schema \"{schema}\" does not exist, skipping")))
}

/// True for the name of a function that Frazil has, which no statement drops.
fn is_of_system(name: &WrittenName) -> bool {
    let is_in_path = name
        .schema
        .as_deref()
        .is_none_or(|schema| schema == SYSTEM_SCHEMA);
    is_in_path && frazil_functions::list().any(|function| function.name == name.name)
}
