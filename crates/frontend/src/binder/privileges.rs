//! Checks of GRANT, REVOKE and OWNER TO.

use super::naming::{find_relation, find_type, missing_relation, missing_type, schema_name};
use crate::parse::{Object, Privileges};
use crate::{CatalogView, Relation, Statement};
use frazil_catalog::WrittenName;
use frazil_types::{Error, Result, Schema, SqlState};

/// Checks that all objects and columns are there. 42P01, 42703, 42704, 3F000.
pub(crate) fn checked(catalog: &dyn CatalogView, privileges: &Privileges) -> Result<Statement> {
    for (object, name) in &privileges.objects {
        let found = match object {
            Object::Relation => relation(catalog, name, &privileges.columns),
            Object::Type => match find_type(catalog, catalog.path(), name) {
                Some(_) => Ok(()),
                None => Err(missing_type(catalog, name)),
            },
            Object::Schema if catalog.has_schema(&schema_name(catalog, &name.name)) => Ok(()),
            Object::Schema => {
                let message = format!("schema \"{}\" does not exist", name.name);
                Err(Error::new(SqlState::INVALID_SCHEMA, message))
            }
        };
        let is_missing = |e: &Error| e.state() == SqlState::UNDEFINED_TABLE;
        match found {
            Err(e) if !(privileges.if_exists && is_missing(&e)) => return Err(e),
            Err(_) | Ok(()) => {}
        }
    }
    Ok(Statement::Checked { tag: privileges.tag })
}

fn names_of(schema: &Schema) -> Vec<String> {
    schema.columns.iter().map(|column| column.name.clone()).collect()
}

/// A table, a view, or an index. 42P01, 42703.
fn relation(catalog: &dyn CatalogView, name: &WrittenName, columns: &[String]) -> Result<()> {
    let known: Vec<String> = match find_relation(catalog, catalog.path(), name) {
        Some((_, Relation::Table(table))) => names_of(&table.schema),
        Some((_, Relation::View(view))) => names_of(&view.schema),
        None if catalog
            .path()
            .candidates(name)
            .iter()
            .any(|name| catalog.has_relation(name)) =>
        {
            Vec::new()
        }
        None => return Err(missing_relation(catalog, name)),
    };
    match columns.iter().find(|column| !known.contains(column)) {
        None => Ok(()),
        Some(column) => {
            let message = format!("column \"{column}\" of relation \"{}\" does not exist", name.name);
            Err(Error::new(SqlState::UNDEFINED_COLUMN, message))
        }
    }
}
