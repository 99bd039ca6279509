//! COPY FROM: rows of a CSV or Parquet file become rows of a table. All of them or none: the transaction
//! of the statement is given up at the first bad value.

use crate::loader;
use crate::query::Runner;
use frazil_files::{BatchReader, CsvOptions, CsvReader, ParquetReader, ReadLimits};
use frazil_frontend::{CopyFormat, CopyOptions};
use frazil_storage::Transaction;
use frazil_types::{CHUNK_ROWS, ColumnDef, ColumnVector, Error, Result, RowBatch, Schema, Value};
use std::path::Path;

/// Runs the statement; `places` are the positions in the table of the file's columns. Returns the number
/// of rows.
pub fn from_file(
    runner: &Runner,
    transaction: &mut Transaction,
    table: &str,
    places: &[usize],
    path: &str,
    options: &CopyOptions,
) -> Result<u64> {
    let entry = transaction.snapshot().catalog().table(table)?.clone();
    let columns: Vec<ColumnDef> = (places.iter())
        .map(|&place| entry.schema.columns[place].clone())
        .collect();
    let limits = ReadLimits {
        cancel: runner.cancel().clone(),
        budget: runner.budget().clone(),
    };
    let reader = open(Path::new(path), options, &columns, limits)?;
    let table = transaction.snapshot().table(entry.id)?.table().clone();
    let whole = places.iter().copied().eq(0..entry.schema.columns.len());
    let shape = |batch| match whole {
        true => batch,
        false => spread(&entry.schema, places, batch),
    };
    loader::load(runner, transaction, table, reader, &shape)
}

fn open(
    path: &Path,
    options: &CopyOptions,
    columns: &[ColumnDef],
    limits: ReadLimits,
) -> Result<Box<dyn BatchReader>> {
    Ok(match options.format {
        CopyFormat::Parquet => Box::new(ParquetReader::open(path, columns, limits)?),
        CopyFormat::Csv => {
            let options = CsvOptions {
                header: options.header,
                delimiter: one_byte("DELIMITER", options.delimiter)?,
                quote: one_byte("QUOTE", options.quote)?,
                escape: one_byte("ESCAPE", options.escape)?,
                null: options.null.clone(),
            };
            Box::new(CsvReader::open(path, columns, options, limits)?)
        }
    })
}

fn one_byte(option: &str, mark: char) -> Result<u8> {
    u8::try_from(mark).ok().filter(u8::is_ascii).ok_or_else(|| {
        Error::unsupported(format!("'{mark}' as {option}"))
            .with_hint("marks of CSV files are ASCII characters")
    })
}

/// A batch of all the table's columns: those the file does not have hold their default.
fn spread(schema: &Schema, places: &[usize], batch: RowBatch) -> RowBatch {
    debug_assert!(batch.rows <= CHUNK_ROWS);
    let mut given: Vec<Option<ColumnVector>> = vec![None; schema.columns.len()];
    for (place, column) in places.iter().zip(batch.columns) {
        given[*place] = Some(column);
    }
    let columns = given
        .into_iter()
        .zip(&schema.columns)
        .map(|(column, definition)| {
            column.unwrap_or_else(|| {
                let value = definition.constant_default().unwrap_or(Value::Null);
                ColumnVector::from_values(definition.ty, &vec![value; batch.rows])
            })
        });
    RowBatch {
        columns: columns.collect(),
        rows: batch.rows,
    }
}
