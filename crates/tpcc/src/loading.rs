//! Fills a database of Frazil.

use crate::generate::generate;
use crate::population::Population;
use crate::tables::{SCHEMA, TABLES, Table};
use frazil::{Appender, ColumnVector, Connection, Error, LogicalType, RawValue, Result, RowBatch, Value};

/// Rows of a batch: a chunk's.
const BATCH: usize = 1 << 16;
/// Rows from one look of the watcher to the next.
const WATCHED: u64 = 10_000;

/// A table that is being filled.
#[derive(Clone, Copy, Debug)]
pub struct Loading {
    /// The table.
    pub table: Table,
    /// Its rows so far.
    pub rows: u64,
    /// True if these are all.
    pub is_complete: bool,
}

/// Makes the tables and fills them, a transaction each; `warehouse` comes last, so that a database which was not filled
/// to the end has no warehouse. `watch` is told how far it is; an error of it ends the work. After an error the tables
/// are dropped. 42P07 if one of them was there.
pub fn load(
    connection: &Connection,
    population: &Population,
    watch: &mut dyn FnMut(Loading) -> Result<()>,
) -> Result<()> {
    connection.execute(SCHEMA)?;
    let filled = TABLES
        .iter()
        .try_for_each(|table| fill(connection, population, *table, watch));
    if filled.is_err() {
        for table in TABLES {
            // The error that counts is the first one.
            let _ = connection.execute(&format!("drop table if exists {}", table.name()));
        }
    }
    filled
}

fn fill(
    connection: &Connection,
    population: &Population,
    table: Table,
    watch: &mut dyn FnMut(Loading) -> Result<()>,
) -> Result<()> {
    let mut loader = Loader::new(connection, table.name())?;
    let mut rows = 0;
    for warehouse in 1..=population.warehouses {
        generate(table, population, warehouse, &mut |row| {
            rows += 1;
            loader.add(row)?;
            match rows % WATCHED {
                0 => watch(Loading {
                    table,
                    rows,
                    is_complete: false,
                }),
                _ => Ok(()),
            }
        })?;
    }
    loader.finish()?;
    watch(Loading {
        table,
        rows,
        is_complete: true,
    })
}

/// Gathers rows of a table into batches.
pub struct Loader {
    appender: Appender,
    types: Vec<LogicalType>,
    /// `columns[i]` are the values of column `i` in the rows of the batch.
    columns: Vec<Vec<RawValue>>,
}

impl Loader {
    /// A loader of an empty table. 42P01 if the table does not exist.
    pub fn new(connection: &Connection, table: &str) -> Result<Loader> {
        let empty = connection.query(&format!("select * from {table} limit 0"), ())?;
        let types: Vec<_> = empty.schema().columns.iter().map(|column| column.ty).collect();
        Ok(Loader {
            appender: connection.appender(table)?,
            columns: vec![Vec::with_capacity(BATCH); types.len()],
            types,
        })
    }

    /// Adds a row, whose values are in the order of the columns.
    pub fn add(&mut self, row: Vec<Value>) -> Result<()> {
        for (column, value) in self.columns.iter_mut().zip(row) {
            column.push(raw(value)?);
        }
        match self.rows() {
            BATCH => self.append(),
            _ => Ok(()),
        }
    }

    fn rows(&self) -> usize {
        self.columns.first().map_or(0, Vec::len)
    }

    fn append(&mut self) -> Result<()> {
        let rows = self.rows();
        let filled = self.columns.iter_mut().zip(&self.types).map(|(column, ty)| {
            let filled = ColumnVector::from_values(*ty, column);
            column.clear();
            filled
        });
        let columns = filled.collect();
        self.appender.append(RowBatch { columns, rows })
    }

    /// Commits all rows; returns their number.
    pub fn finish(mut self) -> Result<u64> {
        if self.rows() > 0 {
            self.append()?;
        }
        self.appender.finish()
    }
}

/// A value of the generator as cells hold it.
fn raw(value: Value) -> Result<RawValue> {
    Ok(match value {
        Value::Null => RawValue::Null,
        Value::Integer(number) => RawValue::Int(number.into()),
        Value::Decimal(decimal) => RawValue::Int(decimal.unscaled()),
        Value::Timestamp(timestamp) => RawValue::Int(timestamp.micros().into()),
        Value::Text(text) => RawValue::Text(text),
        other => return Err(Error::internal(format!("the generator makes no {other:?}"))),
    })
}
