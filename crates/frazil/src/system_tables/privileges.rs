//! Rows of `information_schema` about privileges: the one user owns all tables and views, and may do all with them.

use super::cells::{Cells, DATABASE, yes_or_no};
use super::standard_usage::visible;
use super::virtual_table::Context;
use frazil_catalog::Relation;
use frazil_types::{Result, USER};

/// The privileges that the owner of a table or view has.
const OF_TABLES: [&str; 7] = [
    "INSERT",
    "SELECT",
    "UPDATE",
    "DELETE",
    "TRUNCATE",
    "REFERENCES",
    "TRIGGER",
];

/// The privileges that columns have, too.
const OF_COLUMNS: [&str; 4] = ["INSERT", "SELECT", "UPDATE", "REFERENCES"];

fn of_owner(schema: &str, relation: &Relation, privilege: &str) -> Cells {
    Cells::new()
        .with("grantor", USER)
        .with("grantee", USER)
        .with("table_catalog", DATABASE)
        .with("table_schema", schema)
        .with("table_name", relation.name())
        .with("privilege_type", privilege)
        .with("is_grantable", "YES")
}

pub(super) fn of_tables(context: &Context<'_>) -> Result<Vec<Cells>> {
    let rows = visible(context).flat_map(|(schema, relation)| {
        OF_TABLES.map(|privilege| {
            of_owner(&schema, relation, privilege).with("with_hierarchy", yes_or_no(privilege == "SELECT"))
        })
    });
    Ok(rows.collect())
}

pub(super) fn of_columns(context: &Context<'_>) -> Result<Vec<Cells>> {
    let mut rows = Vec::new();
    for (schema, relation) in visible(context) {
        let columns = match relation {
            Relation::Table(table) => &table.schema.columns,
            Relation::View(view) => &view.schema.columns,
        };
        for column in columns {
            let row =
                |privilege| of_owner(&schema, relation, privilege).with("column_name", column.name.as_str());
            rows.extend(OF_COLUMNS.map(row));
        }
    }
    Ok(rows)
}
