//! REINDEX and the actions of ALTER TABLE that only advise PostgreSQL: they are checked and change nothing.

use super::insert::column_position;
use super::naming::{find_table, index_named, missing_relation, schema_name};
use crate::parse::{Advice, ColumnAdvice, Reindex, Reindexed};
use crate::{CatalogView, Statement};
use frazil_catalog::{WrittenName, missing_schema};
use frazil_types::{Error, Result, SqlState};

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
            find_table(catalog, name)?;
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
        (Reindexed::Index(_) | Reindexed::Table(_), false) => Statement::Checked { tag },
    })
}

/// 42809.
fn other_kind(name: &WrittenName, wanted: &str) -> Error {
    let message = format!("\"{}\" is not {wanted}", name.name);
    Error::new(SqlState::WRONG_OBJECT_TYPE, message)
}

/// Checks ALTER COLUMN … SET STATISTICS, STORAGE and COMPRESSION. 42P01, 42703; 0A000 for a storage that the column's
/// type cannot have.
pub(crate) fn advise(catalog: &dyn CatalogView, advice: &ColumnAdvice) -> Result<Statement> {
    let tag = "ALTER TABLE";
    let table = match find_table(catalog, &advice.table) {
        Err(error) if advice.if_exists && error.state() == SqlState::UNDEFINED_TABLE => {
            return Ok(Statement::Checked { tag });
        }
        table => table?,
    };
    let ty = table.schema.columns[column_position(&table, &advice.column)?].ty;
    let is_fixed = ty.info().typlen > 0;
    match advice.what {
        Advice::Storage { is_plain: false } if is_fixed => {
            let message = format!("column data type {} can only have storage PLAIN", ty.name());
            Err(Error::new(SqlState::FEATURE_NOT_SUPPORTED, message))
        }
        Advice::Compression if is_fixed => {
            let message = format!("column data type {} does not support compression", ty.name());
            Err(Error::new(SqlState::FEATURE_NOT_SUPPORTED, message))
        }
        Advice::Statistics | Advice::Storage { .. } | Advice::Compression => Ok(Statement::Checked { tag }),
    }
}
