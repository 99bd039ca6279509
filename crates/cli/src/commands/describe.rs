//! Tables and views with their columns, keys and checks, and the statements that make them.

use crate::complaint::Complaint;
use crate::shell::Shell;
use frazil::{ConstraintInfo, Outcome, RawValue as Value, TableInfo, ViewInfo, default_clause, default_text};
use std::collections::HashMap;

/// Lists tables and views.
pub fn list(shell: &mut Shell) -> Result<(), Complaint> {
    let (tables, views) = (shell.connection.tables(), shell.connection.views());
    shell.output.write(|out| {
        (tables.iter())
            .try_for_each(|t| writeln!(out, "{} ({} rows)", listed(&t.namespace, &t.name), t.rows))?;
        (views.iter()).try_for_each(|v| {
            let kind = kind_of(v).to_lowercase();
            writeln!(out, "{} ({kind})", listed(&v.namespace, &v.name))
        })
    })?;
    Ok(())
}

/// The kind of a view, as a title has it.
fn kind_of(view: &ViewInfo) -> &'static str {
    match view.materialized {
        Some(_) => "Materialized view",
        None => "View",
    }
}

/// The name of a table or view in a list: with its schema, unless that is public.
fn listed(schema: &str, name: &str) -> String {
    match schema {
        "public" => name.to_string(),
        _ => format!("{schema}.{name}"),
    }
}

/// Shows the columns of a table or view, and of a table its indexes and checks.
pub fn columns(shell: &mut Shell, name: &str) -> Result<(), Complaint> {
    let (title, schema, more) = match shell.connection.view(name) {
        Some(view) => (
            format!("{} {}", kind_of(&view), listed(&view.namespace, &view.name)),
            view.schema,
            Vec::new(),
        ),
        None => {
            let table = shell.connection.table(name)?;
            let title = format!(
                "Table {} ({} rows)",
                listed(&table.namespace, &table.name),
                table.rows
            );
            let more = keys_and_checks(&table);
            (title, table.schema, more)
        }
    };
    let names = schema.columns.iter().map(|c| c.name.chars().count());
    let width = names.max().unwrap_or(0);
    shell.output.write(|out| {
        writeln!(out, "{title}")?;
        schema.columns.iter().try_for_each(|column| {
            let null = if column.nullable { "" } else { " not null" };
            let default = default_clause(column).map_or(String::new(), |clause| format!(" {clause}"));
            writeln!(out, "  {:width$}  {}{null}{default}", column.name, column.ty)
        })?;
        more.iter().try_for_each(|line| writeln!(out, "{line}"))
    })?;
    Ok(())
}

/// Shows the columns of a table or view with how they are held, and the query of a view.
pub fn columns_in_full(shell: &mut Shell, name: &str) -> Result<(), Complaint> {
    if let Some(view) = shell.connection.view(name) {
        shell
            .output
            .line(&format!("View \"{}.{}\"", view.namespace, view.name))?;
        let rows: Vec<Vec<Value>> = (view.schema.columns.iter())
            .map(|column| vec![text(&column.name), text(column.ty.to_string())])
            .collect();
        shell.show_rows(&["Column", "Type"], &rows)?;
        shell.output.line("View definition:")?;
        shell.output.line(&format!(" {}", view.query))?;
        return Ok(());
    }
    let table = shell.connection.table(name)?;
    let held = held(shell, &table)?;
    shell
        .output
        .line(&format!("Table \"{}.{}\"", table.namespace, table.name))?;
    let rows: Vec<Vec<Value>> = (table.schema.columns.iter())
        .map(|column| {
            let held = held.get(&column.name);
            let bytes = |bytes: Option<i128>| bytes.map_or(Value::Null, Value::Int);
            vec![
                text(&column.name),
                text(column.ty.to_string()),
                text(if column.nullable { "" } else { "not null" }),
                text(default_text(column).unwrap_or_default()),
                held.map_or(Value::Null, |held| text(&held.encodings)),
                bytes(held.map(|held| held.bytes)),
                bytes(held.map(|held| held.raw_bytes)),
            ]
        })
        .collect();
    let names = [
        "Column",
        "Type",
        "Nullable",
        "Default",
        "Encoding",
        "Bytes",
        "Raw bytes",
    ];
    shell.show_rows(&names, &rows)?;
    for line in keys_and_checks(&table) {
        shell.output.line(&line)?;
    }
    Ok(())
}

/// How the chunks of a table hold a column.
struct Held {
    /// Encodings, with a comma between them; `hot` for rows that are not frozen.
    encodings: String,
    /// Bytes of all chunks.
    bytes: i128,
    /// Bytes without encodings.
    raw_bytes: i128,
}

/// By the names of a table's columns.
fn held(shell: &Shell, table: &TableInfo) -> Result<HashMap<String, Held>, Complaint> {
    let [schema, table] = [&table.namespace, &table.name].map(|name| name.replace('\'', "''"));
    let sql = format!(
        "select column_name, string_agg(distinct encoding, ', ' order by encoding), sum(bytes), sum(raw_bytes) \
         from frazil_blocks where table_name = '{table}' and schema_name = '{schema}' group by column_name"
    );
    let held = |row: Vec<Value>| match <[Value; 4]>::try_from(row) {
        Ok(
            [
                Value::Text(name),
                Value::Text(encodings),
                Value::Int(bytes),
                Value::Int(raw_bytes),
            ],
        ) => Some((
            name,
            Held {
                encodings,
                bytes,
                raw_bytes,
            },
        )),
        _ => None,
    };
    Ok(asked(shell, &sql)?.into_iter().filter_map(held).collect())
}

/// Bytes of the chunks of each table, by the names of its schema and its own.
pub fn bytes_of_tables(shell: &Shell) -> Result<HashMap<(String, String), i128>, Complaint> {
    let sql =
        "select schema_name, table_name, sum(bytes) from frazil_blocks group by schema_name, table_name";
    let bytes = |row: Vec<Value>| match <[Value; 3]>::try_from(row) {
        Ok([Value::Text(schema), Value::Text(name), Value::Int(bytes)]) => Some(((schema, name), bytes)),
        _ => None,
    };
    Ok(asked(shell, sql)?.into_iter().filter_map(bytes).collect())
}

/// The rows of a question about the database's own tables.
fn asked(shell: &Shell, sql: &str) -> Result<Vec<Vec<Value>>, Complaint> {
    let Outcome::Rows(rows) = shell.connection.execute(sql)?.outcome else {
        return Ok(Vec::new());
    };
    let each = rows.batches().iter().flat_map(|batch| {
        (0..batch.rows).map(|row| batch.columns.iter().map(|column| column.value(row)).collect())
    });
    Ok(each.collect())
}

fn text(text: impl Into<String>) -> Value {
    Value::Text(text.into())
}

/// Lines about the indexes, checks and foreign keys of a table, as psql words them.
fn keys_and_checks(table: &TableInfo) -> Vec<String> {
    let mut lines = Vec::new();
    if !table.indexes.is_empty() {
        lines.push("Indexes:".to_owned());
    }
    for index in &table.indexes {
        let constraint = (table.constraints.iter()).find(|c| index.constraint.as_deref() == Some(&c.name));
        let kind = match constraint {
            Some(c) if c.definition.starts_with("PRIMARY KEY") => "PRIMARY KEY, ",
            Some(_) => "UNIQUE CONSTRAINT, ",
            None if index.is_unique => "UNIQUE, ",
            None => "",
        };
        let (columns, deferral) = (&index.columns, index.deferral);
        lines.push(format!("    \"{}\" {kind}btree {columns}{deferral}", index.name));
    }
    let is_check = |c: &&ConstraintInfo| c.definition.starts_with("CHECK");
    let mut checks: Vec<&ConstraintInfo> = table.constraints.iter().filter(is_check).collect();
    checks.sort_by(|a, b| a.name.cmp(&b.name));
    if !checks.is_empty() {
        lines.push("Check constraints:".to_owned());
    }
    lines.extend(
        checks
            .iter()
            .map(|c| format!("    \"{}\" {}", c.name, c.definition)),
    );
    let mut keys: Vec<&ConstraintInfo> = table.constraints.iter().collect();
    keys.retain(|c| c.references.is_some());
    keys.sort_by(|a, b| a.name.cmp(&b.name));
    if !keys.is_empty() {
        lines.push("Foreign-key constraints:".to_owned());
    }
    let line = |c: &&ConstraintInfo| format!("    \"{}\" {}", c.name, c.shown);
    lines.extend(keys.iter().map(line));
    lines
}

/// Shows the CREATE statement of one table or view, or of all.
pub fn schema(shell: &mut Shell, name: Option<&str>) -> Result<(), Complaint> {
    let statements: Vec<String> = match name {
        None => {
            let tables = shell.connection.tables();
            let views = shell.connection.views();
            let own = |table: &TableInfo| {
                let keys = table.repeated_key_ddl().into_iter().chain(table.open_check_ddl());
                std::iter::once(table.table_ddl())
                    .chain(table.index_ddl())
                    .chain(keys)
            };
            (tables.iter().flat_map(own))
                .chain(tables.iter().flat_map(|t| t.foreign_key_ddl(|_| true)))
                .chain(
                    views
                        .iter()
                        .flat_map(|v| std::iter::once(v.ddl()).chain(v.index_ddl())),
                )
                .collect()
        }
        Some(name) => vec![match shell.connection.view(name) {
            Some(view) => std::iter::once(view.ddl())
                .chain(view.index_ddl())
                .collect::<Vec<_>>()
                .join("\n"),
            None => shell.connection.table(name)?.ddl(),
        }],
    };
    shell
        .output
        .write(|out| statements.iter().try_for_each(|s| writeln!(out, "{s}")))?;
    Ok(())
}
