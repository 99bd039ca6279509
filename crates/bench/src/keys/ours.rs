//! Frazil in the experiment on keys.

use super::{Case, Given, Key, Prepared, create_table, second, text_key};
use frazil::{Connection, Database, Outcome, Statement};
use frazil_types::{ColumnVector, LogicalType, Result, RowBatch, Value};
use std::hint::black_box;

/// A database in memory with `tables`, each its key, its name and its key's columns, of `rows` rows.
pub fn open(tables: &[(Key, &str, &str)], rows: usize) -> Result<Connection> {
    let connection = Database::memory()?.connect();
    connection.execute("set threads = 1")?;
    for &(key, name, columns) in tables {
        connection.execute(&create_table(name, &key_type(key).to_string(), columns))?;
        let mut appender = connection.appender(name)?;
        appender.append(batch(key, rows))?;
        appender.finish()?;
    }
    Ok(connection)
}

fn key_type(key: Key) -> LogicalType {
    match key {
        Key::Plain | Key::Pair => LogicalType::BigInt,
        Key::Text => LogicalType::Text,
        Key::Decimal => LogicalType::Decimal {
            precision: 18,
            scale: 2,
        },
    }
}

/// Rows 0 to `rows` - 1 of a table.
fn batch(key: Key, rows: usize) -> RowBatch {
    let column = |ty, value: &dyn Fn(i64) -> Value| {
        ColumnVector::from_values(ty, &(0..rows as i64).map(value).collect::<Vec<_>>())
    };
    let int = |n: i64| Value::Int(n.into());
    let money = LogicalType::Decimal {
        precision: 12,
        scale: 2,
    };
    let columns = vec![
        column(key_type(key), &|n| match key {
            Key::Text => Value::Text(text_key(n)),
            Key::Decimal => int(n * 100),
            Key::Plain | Key::Pair => int(n),
        }),
        column(LogicalType::Integer, &|n| int(second(n))),
        column(LogicalType::Integer, &|n| int(n % 77)),
        column(LogicalType::Text, &|n| Value::Text(format!("row {n}"))),
        column(money, &|n| int(n * 7)),
        column(LogicalType::Double, &|n| Value::Double(n as f64 / 8.0)),
        column(LogicalType::BigInt, &|n| int(n * n)),
        column(LogicalType::Text, &|n| {
            Value::Text(format!("something about {n}"))
        }),
    ];
    RowBatch { columns, rows }
}

/// Prepares a case's statement.
pub fn prepare(connection: &Connection, case: &Case) -> Result<Box<dyn Prepared>> {
    Ok(Box::new(Ours {
        statement: connection.prepare(case.sql)?,
        case: *case,
    }))
}

struct Ours {
    statement: Statement,
    case: Case,
}

impl Prepared for Ours {
    fn run(&mut self, rows: &[i64]) -> Result<u64> {
        let mut returned = 0;
        for row in rows {
            let value = |given: &Given| match given {
                Given::Key if self.case.key == Key::Text => Value::Text(text_key(*row)),
                Given::Key => Value::Int((*row).into()),
                Given::Second => Value::Int(second(*row).into()),
                Given::Number => Value::Int((*row % 1_000_000).into()),
                Given::Null => Value::Null,
            };
            let values: Vec<Value> = self.case.given.iter().map(value).collect();
            if let Outcome::Rows(rows) = self.statement.execute(&values)?.outcome {
                rows.raw().for_each(|row| drop(black_box(row)));
                returned += rows.len() as u64;
            }
        }
        Ok(returned)
    }
}
