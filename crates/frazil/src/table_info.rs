//! What the shell and other tools ask of tables and views.

use frazil_catalog::{ViewEntry, identifier};
use frazil_types::{ColumnDefault, Schema};
use std::sync::Arc;

/// A table of the database.
#[derive(Clone, Debug)]
pub struct TableInfo {
    /// Its name.
    pub name: String,
    /// Its columns.
    pub schema: Arc<Schema>,
    /// Its rows.
    pub rows: u64,
}

/// A view of the database.
#[derive(Clone, Debug)]
pub struct ViewInfo {
    /// Its name.
    pub name: String,
    /// Its columns.
    pub schema: Arc<Schema>,
    /// The text of its query.
    pub query: String,
}

impl ViewInfo {
    /// What the catalog has of a view.
    pub(crate) fn of(view: &ViewEntry) -> ViewInfo {
        ViewInfo {
            name: view.name.clone(),
            schema: view.schema.clone(),
            query: view.query.clone(),
        }
    }

    /// Its CREATE VIEW statement.
    pub fn ddl(&self) -> String {
        let columns = self.schema.columns.iter().map(|c| identifier(&c.name));
        let columns: Vec<String> = columns.collect();
        let list = match columns.is_empty() {
            true => String::new(),
            false => format!(" ({})", columns.join(", ")),
        };
        format!("create view {}{list} as\n{};", identifier(&self.name), self.query)
    }
}

impl TableInfo {
    /// Its CREATE TABLE statement.
    pub fn ddl(&self) -> String {
        let columns: Vec<String> = (self.schema.columns.iter())
            .map(|c| {
                let null = if c.nullable { "" } else { " not null" };
                let default = match &c.default {
                    Some(ColumnDefault::Value(value)) => {
                        format!(" default {}", literal(&value.display(c.ty).to_string(), c.ty))
                    }
                    Some(ColumnDefault::Expression(sql)) => format!(" default {sql}"),
                    None => String::new(),
                };
                format!("  {} {}{default}{null}", identifier(&c.name), c.ty)
            })
            .collect();
        format!(
            "create table {} (\n{}\n);",
            identifier(&self.name),
            columns.join(",\n")
        )
    }
}

fn literal(text: &str, ty: frazil_types::LogicalType) -> String {
    match ty.is_numeric() {
        true => text.to_owned(),
        false => format!("'{}'", text.replace('\'', "''")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use frazil_types::{ColumnDef, LogicalType, Value};

    #[test]
    fn ddl_quotes_what_needs_it() {
        let mut columns = vec![
            ColumnDef::new("a", LogicalType::Integer).not_null(),
            ColumnDef::new("B c", LogicalType::Text),
        ];
        columns[1].default = Some(ColumnDefault::Value(Value::Text("it's".into())));
        let table = TableInfo {
            name: "t".into(),
            schema: Arc::new(Schema::new(columns)),
            rows: 0,
        };
        assert_eq!(
            table.ddl(),
            "create table t (\n  a integer not null,\n  \"B c\" text default 'it''s'\n);"
        );
        let view = ViewInfo {
            name: "V".into(),
            schema: table.schema,
            query: "table t".into(),
        };
        assert_eq!(view.ddl(), "create view \"V\" (a, \"B c\") as\ntable t;");
    }
}
