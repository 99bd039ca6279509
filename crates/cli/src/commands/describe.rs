//! Tables and views with their columns, keys and checks, and the statements that make them.

use crate::complaint::Complaint;
use crate::shell::Shell;
use frazil::{ConstraintInfo, TableInfo, default_text};

/// Lists tables and views.
pub fn list(shell: &mut Shell) -> Result<(), Complaint> {
    let (tables, views) = (shell.connection.tables(), shell.connection.views());
    shell.output.write(|out| {
        (tables.iter()).try_for_each(|t| writeln!(out, "{} ({} rows)", t.name, t.rows))?;
        (views.iter()).try_for_each(|v| writeln!(out, "{} (view)", v.name))
    })?;
    Ok(())
}

/// Shows the columns of a table or view, and of a table its indexes and checks.
pub fn columns(shell: &mut Shell, name: &str) -> Result<(), Complaint> {
    let (title, schema, more) = match shell.connection.view(name) {
        Some(view) => (format!("View {}", view.name), view.schema, Vec::new()),
        None => {
            let table = shell.connection.table(name)?;
            let title = format!("Table {} ({} rows)", table.name, table.rows);
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
            let default = default_text(column).map_or(String::new(), |text| format!(" default {text}"));
            writeln!(out, "  {:width$}  {}{null}{default}", column.name, column.ty)
        })?;
        more.iter().try_for_each(|line| writeln!(out, "{line}"))
    })?;
    Ok(())
}

/// Lines about the indexes and checks of a table, as psql words them.
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
        lines.push(format!("    \"{}\" {kind}btree {}", index.name, index.columns));
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
    lines
}

/// Shows the CREATE statement of one table or view, or of all.
pub fn schema(shell: &mut Shell, name: Option<&str>) -> Result<(), Complaint> {
    let statements: Vec<String> = match name {
        None => {
            let tables = shell.connection.tables();
            let views = shell.connection.views();
            (tables.iter().map(|t| t.ddl()))
                .chain(views.iter().map(|v| v.ddl()))
                .collect()
        }
        Some(name) => vec![match shell.connection.view(name) {
            Some(view) => view.ddl(),
            None => shell.connection.table(name)?.ddl(),
        }],
    };
    shell
        .output
        .write(|out| statements.iter().try_for_each(|s| writeln!(out, "{s}")))?;
    Ok(())
}
