//! `.dump`: tables with their rows and views as SQL. Frazil reads it, and so does PostgreSQL, as far as it has the types.

use crate::complaint::Complaint;
use crate::interrupt;
use crate::output::{Display, Mode, Streamed};
use crate::shell::Shell;
use frazil::identifier;
use std::io::{self, Write};
use std::sync::atomic::AtomicBool;

/// Writes the tables and views of these names, or all of them.
pub fn write(shell: &mut Shell, names: &[String]) -> Result<(), Complaint> {
    let (tables, views) = (shell.connection.tables(), shell.connection.views());
    let known =
        |name: &String| tables.iter().any(|t| t.name == *name) || views.iter().any(|v| v.name == *name);
    if let Some(missing) = names.iter().find(|name| !known(name)) {
        // Names what is missing as a statement would.
        shell.connection.table(missing)?;
    }
    let is_wanted = |name: &String| names.is_empty() || names.contains(name);
    let connection = shell.connection.clone();
    let mut failed = None;
    shell.output.write(|out| {
        writeln!(out, "begin;")?;
        for table in tables.iter().filter(|t| is_wanted(&t.name)) {
            writeln!(out, "{}", table.ddl())?;
            if let Err(complaint) = write_rows(out, &connection, &table.name)? {
                failed = Some(complaint);
                // As sqlite3 ends a dump that is not whole.
                return writeln!(out, "rollback; -- the dump ends here because of an error");
            }
        }
        for view in views.iter().filter(|v| is_wanted(&v.name)) {
            writeln!(out, "{}", view.ddl())?;
        }
        writeln!(out, "commit;")
    })?;
    failed.map_or(Ok(()), Err)
}

fn write_rows(
    out: &mut dyn Write,
    connection: &frazil::Connection,
    table: &str,
) -> io::Result<Result<(), Complaint>> {
    let table = identifier(table);
    let display = Display {
        mode: Mode::Insert,
        headers: false,
        table: table.clone(),
        ..Display::default()
    };
    let begun = AtomicBool::new(false);
    let mut streamed = Streamed::new(out, &display, &begun);
    let text = format!("select * from {table}");
    let result = interrupt::cancelling(connection.cancel_handle(), || {
        connection.execute_into(&text, &[], &mut streamed)
    });
    streamed.finish(result.is_ok())?;
    Ok(result.map(drop).map_err(Complaint::from))
}
