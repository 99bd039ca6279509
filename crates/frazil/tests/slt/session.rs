//! The connection that a script's records run on, and when its tables freeze.

use frazil::{Connection, Error, Outcome, RawValue as Value, Rows};
use sqllogictest::{DB, DBOutput, DefaultColumnType};
use std::sync::{Arc, Mutex};

/// When a mode freezes tables.
#[derive(Clone, Copy, PartialEq)]
pub enum Freeze {
    /// Where a FREEZE statement says so.
    Hot,
    /// Also at lines `# freeze NAME` of a script.
    AtLines,
    /// After every change of rows outside a transaction.
    AfterEachChange,
}

/// Words that begin statements which change rows, or may.
const CHANGES: [&str; 7] = ["insert", "update", "delete", "truncate", "with", "copy", "create"];

/// What the last statement told beyond rows and counts.
#[derive(Clone, Debug, Default)]
pub struct Told {
    /// Its tag as PostgreSQL has it, such as `INSERT 0 2`; `None` for rows and errors.
    pub tag: Option<String>,
    /// What an error named: constraint, table, column, with `-` for each that it did not name.
    pub named: Option<String>,
}

/// A connection that freezes tables where the mode asks for it.
pub struct Session {
    connection: Connection,
    freeze: Freeze,
    told: Arc<Mutex<Told>>,
}

impl Session {
    /// Runs records on `connection`; `told` hears of every statement.
    pub fn new(connection: Connection, freeze: Freeze, told: Arc<Mutex<Told>>) -> Session {
        Session {
            connection,
            freeze,
            told,
        }
    }

    /// Freezes all tables after a statement that may have changed rows, or ended a transaction. Within a transaction
    /// nothing freezes: PostgreSQL's answers know no FREEZE, which would be part of the transaction.
    fn after(&mut self, sql: &str, was_inside: bool) -> Result<(), Error> {
        let first = sql
            .split(|c: char| !c.is_alphabetic())
            .find(|word| !word.is_empty());
        let first = first.unwrap_or_default().to_lowercase();
        let changes = CHANGES.contains(&first.as_str()) || was_inside;
        if self.freeze != Freeze::AfterEachChange || !changes || self.connection.in_transaction() {
            return Ok(());
        }
        freeze_all(&self.connection)
    }

    fn tell(&self, told: Told) {
        *self.told.lock().unwrap() = told;
    }
}

/// Freezes all tables.
pub fn freeze_all(connection: &Connection) -> Result<(), Error> {
    for table in connection.tables() {
        // A temporary relation may hide the table's name alone.
        let quoted = |name: &str| format!("\"{}\"", name.replace('"', "\"\""));
        let name = format!("{}.{}", quoted(&table.namespace), quoted(&table.name));
        match connection.execute(&format!("freeze table {name}")) {
            // A script may run as a role that does not own the table.
            Err(error) if error.state().0 == "42501" => {}
            done => drop(done?),
        }
    }
    Ok(())
}

/// A command's tag as PostgreSQL has it.
fn tag(name: &str, rows: Option<u64>) -> String {
    match (name, rows) {
        ("INSERT", Some(rows)) => format!("INSERT 0 {rows}"),
        (name, Some(rows)) => format!("{name} {rows}"),
        (name, None) => name.to_string(),
    }
}

fn cells(rows: &Rows) -> Vec<Vec<String>> {
    let columns = &rows.schema().columns;
    let text = |(value, ty): (&Value, _)| match value {
        Value::Null => "NULL".to_string(),
        Value::Text(t) if t.is_empty() => "(empty)".to_string(),
        value => value.display(ty).to_string(),
    };
    let row = |row: Vec<Value>| row.iter().zip(columns.iter().map(|c| c.ty)).map(text).collect();
    rows.raw().map(row).collect()
}

impl DB for Session {
    type Error = Error;
    type ColumnType = DefaultColumnType;

    fn run(&mut self, sql: &str) -> Result<DBOutput<DefaultColumnType>, Error> {
        let was_inside = self.connection.in_transaction();
        let response = match self.connection.execute(sql) {
            Ok(response) => response,
            Err(error) => {
                self.tell(Told {
                    tag: None,
                    named: named(&error),
                });
                return Err(error);
            }
        };
        self.after(sql, was_inside)?;
        match response.outcome {
            Outcome::Command { tag: name, rows } => {
                self.tell(Told {
                    tag: Some(tag(name, rows)),
                    named: None,
                });
                Ok(DBOutput::StatementComplete(rows.unwrap_or(0)))
            }
            Outcome::Rows(rows) => {
                self.tell(Told::default());
                Ok(DBOutput::Rows {
                    types: vec![DefaultColumnType::Any; rows.schema().columns.len()],
                    rows: cells(&rows),
                })
            }
        }
    }

    fn engine_name(&self) -> &str {
        "frazil"
    }

    fn error_sql_state(error: &Error) -> Option<String> {
        Some(error.state().0.to_string())
    }
}

/// What an error names, as comments write it: constraint, table, column.
fn named(error: &Error) -> Option<String> {
    let names = [error.constraint(), error.table(), error.column()];
    Some(names.map(|name| name.unwrap_or("-")).join(", "))
}
