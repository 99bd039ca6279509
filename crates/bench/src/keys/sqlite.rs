//! SQLite in the experiment on keys, as its applications use it: statements prepared once, no journal but memory's.

use super::{Case, Given, Key, Prepared, create_table, second, text_key};
use frazil_types::{Error, Result};
use rusqlite::types::Value;
use rusqlite::{Connection, Statement, params};
use std::hint::black_box;

/// A database in memory with `tables`, each its key, its name and its key's columns, of `rows` rows.
pub fn open(tables: &[(Key, &str, &str)], rows: usize) -> Result<Connection> {
    let connection = Connection::open_in_memory().map_err(failed)?;
    for &(key, name, columns) in tables {
        // A key that SQLite itself calls INTEGER PRIMARY KEY is its row id: the quickest there is.
        let sql = match key {
            Key::Plain => {
                create_table(name, "integer", columns).replace("k integer not null", "k integer primary key")
            }
            Key::Text => create_table(name, "text", columns),
            Key::Pair => create_table(name, "integer", columns),
            Key::Decimal => create_table(name, "decimal(18,2)", columns),
        };
        let sql = match key {
            Key::Plain => sql.replace(", primary key (k)", ""),
            _ => sql,
        };
        connection.execute(&sql, params![]).map_err(failed)?;
        fill(&connection, key, name, rows).map_err(failed)?;
    }
    Ok(connection)
}

fn fill(connection: &Connection, key: Key, name: &str, rows: usize) -> rusqlite::Result<()> {
    connection.execute_batch("begin")?;
    let insert = format!("insert into {name} values (?, ?, ?, ?, ?, ?, ?, ?)");
    let mut insert = connection.prepare(&insert)?;
    for n in 0..rows as i64 {
        insert.execute(params![
            key_value(key, n),
            second(n),
            n % 77,
            format!("row {n}"),
            (n * 7) as f64 / 100.0,
            n as f64 / 8.0,
            n * n,
            format!("something about {n}"),
        ])?;
    }
    connection.execute_batch("commit")
}

fn key_value(key: Key, n: i64) -> Value {
    match key {
        Key::Text => Value::Text(text_key(n)),
        Key::Plain | Key::Pair | Key::Decimal => Value::Integer(n),
    }
}

/// Prepares a case's statement.
pub fn prepare<'a>(connection: &'a Connection, case: &Case) -> Result<Box<dyn Prepared + 'a>> {
    Ok(Box::new(Theirs {
        statement: connection.prepare(case.sql).map_err(failed)?,
        case: *case,
    }))
}

struct Theirs<'a> {
    statement: Statement<'a>,
    case: Case,
}

impl Prepared for Theirs<'_> {
    fn run(&mut self, rows: &[i64]) -> Result<u64> {
        let mut returned = 0;
        for row in rows {
            returned += self.execute(*row).map_err(failed)?;
        }
        Ok(returned)
    }
}

impl Theirs<'_> {
    /// Runs the statement for row `n` and takes all values of the rows that come back as values of their own.
    fn execute(&mut self, n: i64) -> rusqlite::Result<u64> {
        let columns = self.statement.column_count();
        let values = self.case.given.iter().map(|given| match given {
            Given::Key => key_value(self.case.key, n),
            Given::Second => Value::Integer(second(n)),
            Given::Number => Value::Integer(n % 1_000_000),
            Given::Null => Value::Null,
        });
        let mut rows = self.statement.query(rusqlite::params_from_iter(values))?;
        let mut returned = 0;
        while let Some(row) = rows.next()? {
            let values: rusqlite::Result<Vec<Value>> = (0..columns).map(|c| row.get(c)).collect();
            drop(black_box(values?));
            returned += 1;
        }
        Ok(returned)
    }
}

fn failed(error: rusqlite::Error) -> Error {
    Error::internal(format!("SQLite: {error}"))
}
