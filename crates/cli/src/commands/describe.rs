//! Tables and views with their columns, keys and checks, and the statements that make them.

use crate::backend::{Constraint, Index, Structure};
use crate::complaint::Complaint;
use crate::shell::Shell;
use frazil::{Outcome, RawValue as Value};
use std::collections::HashMap;

/// Lists tables and views.
pub fn list(shell: &mut Shell) -> Result<(), Complaint> {
    let relations = shell.backend.relations()?;
    shell.output.write(|out| {
        relations.iter().try_for_each(|relation| {
            let name = listed(&relation.schema, &relation.name);
            match relation.rows {
                Some(rows) => writeln!(out, "{name} ({rows} rows)"),
                None => writeln!(out, "{name} ({})", relation.kind.name()),
            }
        })
    })?;
    Ok(())
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
    let found = shell.backend.structure(name)?;
    let listed = listed(&found.schema, &found.name);
    let title = match found.rows {
        Some(rows) => format!("{} {listed} ({rows} rows)", found.kind.title()),
        None => format!("{} {listed}", found.kind.title()),
    };
    let more = keys_and_checks(&found);
    let names = found.columns.iter().map(|c| c.name.chars().count());
    let width = names.max().unwrap_or(0);
    shell.output.write(|out| {
        writeln!(out, "{title}")?;
        found.columns.iter().try_for_each(|column| {
            let null = if column.nullable { "" } else { " not null" };
            let default = (column.clause.as_ref()).map_or(String::new(), |clause| format!(" {clause}"));
            writeln!(out, "  {:width$}  {}{null}{default}", column.name, column.ty)
        })?;
        more.iter().try_for_each(|line| writeln!(out, "{line}"))
    })?;
    Ok(())
}

/// Shows the columns of a table or view with how they are held, and the query of a view.
pub fn columns_in_full(shell: &mut Shell, name: &str) -> Result<(), Complaint> {
    let found = shell.backend.structure(name)?;
    if let Some(query) = &found.query {
        shell
            .output
            .line(&format!("View \"{}.{}\"", found.schema, found.name))?;
        let rows: Vec<Vec<Value>> = (found.columns.iter())
            .map(|column| vec![text(&column.name), text(&column.ty)])
            .collect();
        shell.show_rows(&["Column", "Type"], &rows)?;
        shell.output.line("View definition:")?;
        shell.output.line(&format!(" {query}"))?;
        return Ok(());
    }
    let held = held(shell, &found)?;
    shell
        .output
        .line(&format!("Table \"{}.{}\"", found.schema, found.name))?;
    let rows: Vec<Vec<Value>> = (found.columns.iter())
        .map(|column| {
            let held = held.get(&column.name);
            let bytes = |bytes: Option<i128>| bytes.map_or(Value::Null, Value::Int);
            vec![
                text(&column.name),
                text(&column.ty),
                text(if column.nullable { "" } else { "not null" }),
                text(column.default.clone().unwrap_or_default()),
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
    for line in keys_and_checks(&found) {
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
fn held(shell: &Shell, table: &Structure) -> Result<HashMap<String, Held>, Complaint> {
    if !shell.backend.has_blocks() {
        return Ok(HashMap::new());
    }
    let [schema, table] = [&table.schema, &table.name].map(|name| name.replace('\'', "''"));
    let sql = format!(
        "select column_name, string_agg(distinct encoding, ', ' order by encoding), sum(bytes)::bigint, \
         sum(raw_bytes)::bigint \
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
    let sql = match shell.backend.has_blocks() {
        true => {
            "select schema_name, table_name, sum(bytes)::bigint from frazil_blocks group by schema_name, table_name"
        }
        false => {
            "select n.nspname::text, c.relname::text, pg_catalog.pg_total_relation_size(c.oid) \
             from pg_catalog.pg_class c join pg_catalog.pg_namespace n on n.oid = c.relnamespace where c.relkind = 'r'"
        }
    };
    let bytes = |row: Vec<Value>| match <[Value; 3]>::try_from(row) {
        Ok([Value::Text(schema), Value::Text(name), Value::Int(bytes)]) => Some(((schema, name), bytes)),
        _ => None,
    };
    Ok(asked(shell, sql)?.into_iter().filter_map(bytes).collect())
}

/// The rows of a question about the database's own tables.
fn asked(shell: &Shell, sql: &str) -> Result<Vec<Vec<Value>>, Complaint> {
    let Outcome::Rows(rows) = shell.backend.execute(sql, &[])?.outcome else {
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
fn keys_and_checks(table: &Structure) -> Vec<String> {
    let mut lines = Vec::new();
    if !table.indexes.is_empty() {
        lines.push("Indexes:".to_owned());
    }
    let line = |i: &Index| format!("    \"{}\" {}btree {}{}", i.name, i.kind, i.columns, i.deferral);
    lines.extend(table.indexes.iter().map(line));
    for (title, constraints) in [
        ("Check constraints:", &table.checks),
        ("Foreign-key constraints:", &table.foreign_keys),
    ] {
        if !constraints.is_empty() {
            lines.push(title.to_owned());
        }
        let line = |c: &Constraint| format!("    \"{}\" {}", c.name, c.definition);
        lines.extend(constraints.iter().map(line));
    }
    lines
}

/// Shows the CREATE statement of one table or view, or of all.
pub fn schema(shell: &mut Shell, name: Option<&str>) -> Result<(), Complaint> {
    let statements = shell.backend.definitions(name)?;
    shell
        .output
        .write(|out| statements.iter().try_for_each(|s| writeln!(out, "{s}")))?;
    Ok(())
}
