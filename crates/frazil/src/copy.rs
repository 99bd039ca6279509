//! COPY FROM: rows of a CSV, JSON or Parquet file become rows of a table. All of them or none: the transaction
//! of the statement is given up at the first bad value.

use crate::compression::compression;
use crate::loader;
use crate::query::Runner;
use crate::row_sink::Delivery;
use frazil_files::{
    BatchReader, CsvOptions, CsvReader, Header, JsonReader, Origin, ParquetReader, ReadLimits,
};
use frazil_frontend::{CopyEnd, CopyFormat, CopyOptions};
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
    source: (&CopyEnd, Delivery<'_>),
    options: &CopyOptions,
) -> Result<u64> {
    let entry = transaction.snapshot().catalog().table(table)?.clone();
    let columns: Vec<ColumnDef> = (places.iter())
        .map(|&place| entry.schema.columns[place].clone())
        .map(|column| ColumnDef {
            ty: column.ty.in_zone(runner.time_zone()),
            ..column
        })
        .collect();
    let limits = runner.read_limits();
    let reader = match source {
        (CopyEnd::File(path), _) => open(Origin::File(Path::new(path)), options, &columns, limits)?,
        (CopyEnd::Client, Delivery::Copied(streams)) => {
            open(Origin::Stream(streams.input()), options, &columns, limits)?
        }
        (CopyEnd::Client, _) => return Err(no_client("FROM STDIN")),
    };
    let table = transaction.snapshot().table(entry.id)?.table().clone();
    let whole = places.iter().copied().eq(0..entry.schema.columns.len());
    let shape = |batch| match whole {
        true => batch,
        false => spread(&entry.schema, places, batch),
    };
    loader::load(runner, transaction, table, reader, &shape)
}

fn open(
    origin: Origin<'_>,
    options: &CopyOptions,
    columns: &[ColumnDef],
    limits: ReadLimits,
) -> Result<Box<dyn BatchReader>> {
    match (options.format, origin) {
        (CopyFormat::Parquet, Origin::File(path)) => {
            Ok(Box::new(ParquetReader::open(path, columns, limits)?))
        }
        (CopyFormat::Parquet, Origin::Stream(_)) => Err(Error::unsupported("Parquet FROM STDIN")),
        (CopyFormat::Csv, origin) => {
            let options = csv_options(options)?;
            Ok(Box::new(CsvReader::open(origin, columns, options, limits)?))
        }
        (CopyFormat::Json, origin) => {
            let compression = compression(options.compression);
            Ok(Box::new(JsonReader::open(origin, columns, compression, &limits)?))
        }
    }
}

/// The error of COPY whose other end is a client, where no client has given a stream.
pub fn no_client(end: &str) -> Error {
    Error::unsupported(format!("COPY {end} here"))
        .with_hint("name a file: COPY t FROM 'path', COPY t TO 'path'")
}

/// What is said of a CSV file.
pub fn csv_options(options: &CopyOptions) -> Result<CsvOptions> {
    Ok(CsvOptions {
        header: if options.header {
            Header::Checked
        } else {
            Header::Absent
        },
        delimiter: one_byte("DELIMITER", options.delimiter)?,
        quote: one_byte("QUOTE", options.quote)?,
        escape: one_byte("ESCAPE", options.escape)?,
        null: options.null.clone(),
        compression: compression(options.compression),
        ..CsvOptions::default()
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
