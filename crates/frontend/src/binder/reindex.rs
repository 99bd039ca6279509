//! REINDEX and the actions of ALTER TABLE that only advise PostgreSQL: they are checked and change nothing.

use super::insert::column_position;
use super::naming::{find_table, index_named, missing_relation, schema_name};
use super::rights::check_owner;
use crate::parse::{Advice, Reindex, Reindexed, TableAdvice};
use crate::{CatalogView, Statement, TableEntry};
use frazil_catalog::{WrittenName, missing_schema};
use frazil_types::{Error, LogicalType, Result, SqlState};

/// Checks that REINDEX names what is there. 42P01, 3F000; 42809 for a relation of another kind.
pub(crate) fn reindex(catalog: &dyn CatalogView, reindex: &Reindex) -> Result<Statement> {
    match &reindex.what {
        Reindexed::Index(name) => {
            if index_named(catalog, name).is_none() {
                return Err(match find_table(catalog, name) {
                    Ok(_) => other_kind(name, "an index"),
                    Err(error) if error.state() == SqlState::WRONG_OBJECT_TYPE => {
                        other_kind(name, "an index")
                    }
                    Err(_) => missing_relation(catalog, name),
                });
            }
        }
        Reindexed::Table(name) => {
            if index_named(catalog, name).is_some() {
                return Err(other_kind(name, "a table or materialized view"));
            }
            check_owner(catalog, find_table(catalog, name)?.id)?;
        }
        Reindexed::Schema(name) => {
            if !catalog.has_schema(&schema_name(catalog, name)) {
                return Err(missing_schema(name));
            }
        }
    }
    let tag = "REINDEX";
    Ok(match (&reindex.what, reindex.concurrently) {
        (_, true) => Statement::Alone {
            what: "REINDEX CONCURRENTLY",
            tag,
        },
        (Reindexed::Schema(_), false) => Statement::Alone {
            what: "REINDEX SCHEMA",
            tag,
        },
        (Reindexed::Index(_) | Reindexed::Table(_), false) => Statement::checked(tag),
    })
}

/// 42809.
fn other_kind(name: &WrittenName, wanted: &str) -> Error {
    let message = format!("\"{}\" is not {wanted}", name.name);
    Error::new(SqlState::WRONG_OBJECT_TYPE, message)
}

/// Checks ALTER COLUMN … SET STATISTICS, STORAGE and COMPRESSION, CLUSTER ON, SET WITHOUT CLUSTER and REPLICA IDENTITY.
/// 42P01, 42703 and 42704; 0A000 for a storage that the column's type cannot have, and for a partial index.
pub(crate) fn advise(catalog: &dyn CatalogView, advice: &TableAdvice) -> Result<Statement> {
    let tag = advice.tag;
    let table = match find_table(catalog, &advice.table) {
        Err(error) if advice.if_exists && error.state() == SqlState::UNDEFINED_TABLE => {
            return Ok(Statement::checked(tag));
        }
        table => table?,
    };
    check_owner(catalog, table.id)?;
    let type_of = |column: &str| -> Result<LogicalType> {
        Ok(table.schema.columns[column_position(&table, column)?].ty)
    };
    let is_fixed = |ty: LogicalType| ty.info().typlen > 0;
    match &advice.what {
        Advice::Statistics { column } => type_of(column).map(drop)?,
        Advice::Storage { column, is_plain } => {
            let ty = type_of(column)?;
            if !is_plain && is_fixed(ty) {
                let message = format!("column data type {} can only have storage PLAIN", ty.name());
                return Err(Error::new(SqlState::FEATURE_NOT_SUPPORTED, message));
            }
        }
        Advice::Compression { column } => {
            let ty = type_of(column)?;
            if is_fixed(ty) {
                let message = format!("column data type {} does not support compression", ty.name());
                return Err(Error::new(SqlState::FEATURE_NOT_SUPPORTED, message));
            }
        }
        Advice::Cluster { index: None } | Advice::ReplicaIdentity { index: None } | Advice::Nothing => {}
        Advice::ReplicaIdentity { index: Some(name) } => {
            if !table.indexes.iter().any(|index| index.name == *name) {
                return Err(missing_index(&table, name));
            }
        }
        Advice::Cluster { index: Some(name) } => check_order(&table, name)?,
    }
    Ok(Statement::checked(tag))
}

/// 42704.
fn missing_index(table: &TableEntry, name: &str) -> Error {
    let message = format!("index \"{name}\" for table \"{}\" does not exist", table.name);
    Error::new(SqlState::UNDEFINED_OBJECT, message)
}

/// 42704 without an index of the name on the table, 0A000 for a partial index.
fn check_order(table: &TableEntry, name: &str) -> Result<()> {
    match table.indexes.iter().find(|index| index.name == name) {
        None => Err(missing_index(table, name)),
        Some(index) if index.condition.is_some() => {
            let message = format!("cannot cluster on partial index \"{name}\"");
            Err(Error::new(SqlState::FEATURE_NOT_SUPPORTED, message))
        }
        Some(_) => Ok(()),
    }
}
