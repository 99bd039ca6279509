//! DESCRIBE and SHOW TABLES: constant rows about the catalog.

use super::naming::find_relation;
use super::{Binder, OutputColumn, finished, missing_relation};
use crate::{Bound, Statement, catalog_view};
use frazil_catalog::WrittenName;
use frazil_functions::Typing;
use frazil_plan::operators::Values;
use frazil_plan::{Expr, Operator};
use frazil_types::{ColumnDef, ColumnDefault, Result, Value};

/// The columns of a table or view. 42P01.
pub(crate) fn describe(binder: Binder, name: &WrittenName) -> Result<Bound> {
    let found = find_relation(binder.catalog, binder.catalog.path(), name);
    let schema = match found.map(|(_, relation)| relation) {
        Some(catalog_view::Relation::Table(table)) => table.schema,
        Some(catalog_view::Relation::View(view)) => view.schema.clone(),
        None => return Err(missing_relation(binder.catalog, name)),
    };
    describe_columns(binder, &schema.columns)
}

/// Columns as the rows of DESCRIBE.
pub(crate) fn describe_columns(binder: Binder, columns: &[ColumnDef]) -> Result<Bound> {
    let text = |t: String| Value::Text(t);
    let rows = columns.iter().map(|column| {
        let default = match &column.default {
            Some(ColumnDefault::Value(value)) => text(value.display(column.ty).to_string()),
            Some(ColumnDefault::Expression(sql) | ColumnDefault::Generated { text: sql, .. }) => {
                text(sql.clone())
            }
            Some(ColumnDefault::Identity { .. }) => Value::Null,
            None => Value::Null,
        };
        vec![
            text(column.name.clone()),
            text(column.ty.to_string()),
            text(if column.nullable { "YES" } else { "NO" }.to_string()),
            default,
        ]
    });
    let rows = rows.collect();
    constant_rows(binder, &["column_name", "column_type", "null", "default"], rows)
}

/// The names of the tables and views in schemas of the path but the system's, sorted.
pub(crate) fn tables(binder: Binder) -> Result<Bound> {
    let names = binder.catalog.own_relation_names().into_iter();
    let schemas = binder.catalog.path().schemas();
    let mut names: Vec<String> = names
        .filter(|name| schemas.contains(&name.schema))
        .map(|name| name.name)
        .collect();
    names.sort();
    let rows = names.into_iter().map(|name| vec![Value::Text(name)]).collect();
    constant_rows(binder, &["name"], rows)
}

fn constant_rows(mut binder: Binder, names: &[&str], rows: Vec<Vec<Value>>) -> Result<Bound> {
    let mut columns = Vec::with_capacity(names.len());
    for (at, name) in names.iter().enumerate() {
        let nullable = rows.iter().any(|row| row[at].is_null());
        let id = binder.columns.add(*name, Typing::OPEN, nullable);
        columns.push(OutputColumn::new(*name, id));
    }
    let root = Operator::Values(Values {
        columns: columns.iter().map(|c| c.id).collect(),
        rows: rows
            .into_iter()
            .map(|row| row.into_iter().map(Expr::literal).collect())
            .collect(),
    });
    finished(binder, root, columns, Statement::Query)
}
