//! Tables and views with their columns, and the statements that make them.

use crate::complaint::Complaint;
use crate::shell::Shell;

/// Lists tables and views.
pub fn list(shell: &mut Shell) -> Result<(), Complaint> {
    let (tables, views) = (shell.connection.tables(), shell.connection.views());
    shell.output.write(|out| {
        (tables.iter()).try_for_each(|t| writeln!(out, "{} ({} rows)", t.name, t.rows))?;
        (views.iter()).try_for_each(|v| writeln!(out, "{} (view)", v.name))
    })?;
    Ok(())
}

/// Shows the columns of a table or view.
pub fn columns(shell: &mut Shell, name: &str) -> Result<(), Complaint> {
    let (title, schema) = match shell.connection.view(name) {
        Some(view) => (format!("View {}", view.name), view.schema),
        None => {
            let table = shell.connection.table(name)?;
            (
                format!("Table {} ({} rows)", table.name, table.rows),
                table.schema,
            )
        }
    };
    let names = schema.columns.iter().map(|c| c.name.chars().count());
    let width = names.max().unwrap_or(0);
    shell.output.write(|out| {
        writeln!(out, "{title}")?;
        schema.columns.iter().try_for_each(|column| {
            let null = if column.nullable { "" } else { " not null" };
            writeln!(out, "  {:width$}  {}{null}", column.name, column.ty)
        })
    })?;
    Ok(())
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
