//! SQLite with the tables of TPC-C and the statements of its transactions.
//!
//! Amounts are integers of cents, which SQLite computes with faster than with doubles. Transactions that write begin
//! with BEGIN IMMEDIATE, as SQLite's manual advises: they would otherwise fail when they first write.

use frazil::Value;
use frazil_tpcc::{Answer, Engine, Population, SCHEMA, Session, Step, TABLES, generate};
use frazil_types::{Error, Result, SqlState};
use rusqlite::types::Value as Cell;
use rusqlite::{Connection, ErrorCode, Statement, params, params_from_iter};
use std::path::PathBuf;
use std::sync::{Mutex, PoisonError};
use std::time::Duration;

/// The time that a session waits for another one's transaction.
const PATIENCE: Duration = Duration::from_secs(60);
/// A cache that holds the tables, in KiB; a negative number is PRAGMA cache_size's own way to say so.
const CACHE: &str = "pragma cache_size = -1048576";

/// A database of SQLite.
pub enum Sqlite {
    /// In memory: its sessions take turns with the only connection.
    Memory(Mutex<Connection>),
    /// In a file: each session has a connection.
    File(PathBuf),
}

impl Sqlite {
    /// A database in memory.
    pub fn in_memory(population: &Population) -> Result<Sqlite> {
        let connection = Connection::open_in_memory().map_err(failed)?;
        fill(&connection, population)?;
        Ok(Sqlite::Memory(Mutex::new(connection)))
    }

    /// A database in a file.
    pub fn in_file(population: &Population, path: PathBuf) -> Result<Sqlite> {
        fill(&open(&path)?, population)?;
        Ok(Sqlite::File(path))
    }
}

fn open(path: &PathBuf) -> Result<Connection> {
    let connection = Connection::open(path).map_err(failed)?;
    let pragmas = format!("pragma journal_mode = wal; pragma synchronous = full; {CACHE};");
    connection.execute_batch(&pragmas).map_err(failed)?;
    connection.busy_timeout(PATIENCE).map_err(failed)?;
    Ok(connection)
}

fn fill(connection: &Connection, population: &Population) -> Result<()> {
    connection.execute_batch(SCHEMA).map_err(failed)?;
    connection.execute_batch("begin").map_err(failed)?;
    for table in TABLES {
        let empty = format!("select * from {}", table.name());
        let columns = connection.prepare(&empty).map_err(failed)?.column_count();
        let marks = vec!["?"; columns].join(", ");
        let insert = format!("insert into {} values ({marks})", table.name());
        let mut insert = connection.prepare(&insert).map_err(failed)?;
        for warehouse in 1..=population.warehouses {
            generate(table, population, warehouse, &mut |row| {
                let cells = params_from_iter(row.iter().map(cell));
                insert.execute(cells).map(drop).map_err(failed)
            })?;
        }
    }
    connection.execute_batch("commit").map_err(failed)
}

impl Engine for Sqlite {
    fn with_session(&self, work: &mut dyn FnMut(&mut dyn Session) -> Result<()>) -> Result<()> {
        match self {
            Sqlite::Memory(connection) => {
                let connection = connection.lock().unwrap_or_else(PoisonError::into_inner);
                work(&mut SqliteSession::new(&connection)?)
            }
            Sqlite::File(path) => work(&mut SqliteSession::new(&open(path)?)?),
        }
    }
}

/// The prepared statements of a connection.
struct SqliteSession<'c> {
    /// `statements[step as usize]` is the statement of a step.
    statements: Vec<Statement<'c>>,
}

impl<'c> SqliteSession<'c> {
    fn new(connection: &'c Connection) -> Result<SqliteSession<'c>> {
        let prepare = |step: &Step| connection.prepare(&text(*step)).map_err(failed);
        let statements = Step::ALL.iter().map(prepare);
        Ok(SqliteSession {
            statements: statements.collect::<Result<_>>()?,
        })
    }
}

/// The text of a step. Parameters are numbered as `?1`: those that begin with `$` have names.
fn text(step: Step) -> String {
    match step {
        Step::Begin => "begin immediate".to_owned(),
        Step::BeginReading => "begin".to_owned(),
        _ => step.text().replace('$', "?"),
    }
}

impl Session for SqliteSession<'_> {
    fn run(&mut self, step: Step, values: &[Value]) -> Result<Answer> {
        let statement = &mut self.statements[step as usize];
        let columns = statement.column_count();
        let cells = params_from_iter(values.iter().map(cell));
        if columns == 0 {
            let count = match values {
                [] => statement.execute(params![]),
                _ => statement.execute(cells),
            };
            return Ok(Answer {
                rows: Vec::new(),
                count: count.map_err(failed)? as u64,
            });
        }
        let mut found = statement.query(cells).map_err(failed)?;
        let mut rows = Vec::new();
        while let Some(row) = found.next().map_err(failed)? {
            let values = (0..columns).map(|column| row.get::<_, Cell>(column).map(value));
            rows.push(values.collect::<rusqlite::Result<_>>().map_err(failed)?);
        }
        let count = rows.len() as u64;
        Ok(Answer { rows, count })
    }
}

/// A value as SQLite's cells hold it.
fn cell(value: &Value) -> Cell {
    match value {
        Value::Null => Cell::Null,
        Value::Integer(number) => Cell::Integer((*number).into()),
        Value::BigInt(number) => Cell::Integer(*number),
        Value::Decimal(decimal) => Cell::Integer(i64::try_from(decimal.unscaled()).unwrap_or(i64::MAX)),
        Value::Timestamp(timestamp) => Cell::Integer(timestamp.micros()),
        Value::Text(text) => Cell::Text(text.clone()),
        other => Cell::Text(format!("{other:?}")),
    }
}

fn value(cell: Cell) -> Value {
    match cell {
        Cell::Null => Value::Null,
        Cell::Integer(number) => Value::BigInt(number),
        Cell::Real(number) => Value::Double(number),
        Cell::Text(text) => Value::Text(text),
        Cell::Blob(bytes) => Value::Bytea(bytes),
    }
}

/// An error of SQLite. One that waiting for another session did not help is 40001.
fn failed(error: rusqlite::Error) -> Error {
    let message = format!("SQLite: {error}");
    match error.sqlite_error_code() {
        Some(ErrorCode::DatabaseBusy | ErrorCode::DatabaseLocked) => {
            Error::new(SqlState::SERIALIZATION_FAILURE, message)
        }
        _ => Error::internal(message),
    }
}
