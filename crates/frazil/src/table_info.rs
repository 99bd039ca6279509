//! What the shell and other tools ask of tables.

use frazil_types::Schema;
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

impl TableInfo {
    /// Its CREATE TABLE statement.
    pub fn ddl(&self) -> String {
        let columns: Vec<String> = (self.schema.columns.iter())
            .map(|c| {
                let null = if c.nullable { "" } else { " not null" };
                let default = match &c.default {
                    Some(value) => format!(" default {}", literal(&value.display(c.ty).to_string(), c.ty)),
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

/// A name as SQL wants it: quoted unless it folds to itself.
fn identifier(name: &str) -> String {
    let plain = name.starts_with(|c: char| c.is_ascii_lowercase() || c == '_')
        && (name.chars()).all(|c| c.is_ascii_lowercase() || c.is_ascii_digit() || c == '_');
    match plain {
        true => name.to_owned(),
        false => format!("\"{}\"", name.replace('"', "\"\"")),
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
        columns[1].default = Some(Value::Text("it's".into()));
        let table = TableInfo {
            name: "t".into(),
            schema: Arc::new(Schema::new(columns)),
            rows: 0,
        };
        assert_eq!(
            table.ddl(),
            "create table t (\n  a integer not null,\n  \"B c\" text default 'it''s'\n);"
        );
    }
}
