//! COPY FROM: rows of a CSV, JSON or Parquet file become rows of a table. All of them or none: the transaction
//! of the statement is given up at the first bad value.

use crate::compression::compression;
use crate::loader;
use crate::notice::Notice;
use crate::query::Runner;
use crate::rejected_rows;
use crate::row_sink::Delivery;
use frazil_catalog::{Catalog, default_sequence};
use frazil_files::{
    BatchReader, CsvOptions, CsvReader, Header, JsonReader, OnError, Origin, ParquetReader, PgcopyReader,
    ReadLimits, Records,
};
use frazil_frontend::{CopyColumns, CopyEnd, CopyFormat, CopyHeader, CopyOptions};
use frazil_storage::Transaction;
use frazil_types::value_ops::{self, CastLength};
use frazil_types::{
    CHUNK_ROWS, ColumnDef, ColumnVector, Error, LogicalType, ObjectId, Result, RowBatch, Schema, Value,
};
use std::path::Path;

/// What a statement copied.
pub struct Copied {
    /// Rows that the table got.
    pub rows: u64,
    /// Rows that were left out.
    skipped: u64,
}

impl Copied {
    /// What is said of rows that were left out.
    pub fn notices(&self) -> Vec<Notice> {
        match self.skipped {
            0 => Vec::new(),
            1 => vec![Notice::new("1 row was skipped because it could not be read")],
            rows => vec![Notice::new(format!(
                "{rows} rows were skipped because they could not be read"
            ))],
        }
    }
}

/// Runs the statement; `places` are the positions in the table of the file's columns.
pub fn from_file(
    runner: &Runner,
    transaction: &mut Transaction,
    table: ObjectId,
    places: &[usize],
    source: (&CopyEnd, Delivery<'_>),
    options: &CopyOptions,
) -> Result<Copied> {
    let entry = transaction.snapshot().table(table)?.table().entry().clone();
    let columns: Vec<ColumnDef> = (places.iter())
        .map(|&place| entry.schema.columns[place].clone())
        .map(|column| ColumnDef {
            ty: column.ty.in_zone(runner.time_zone()),
            ..column
        })
        .collect();
    let origin = match source {
        (CopyEnd::File(path), _) => {
            let path = Path::new(path);
            runner.read_limits().access.check(path)?;
            Origin::File(path)
        }
        (CopyEnd::Client, Delivery::Copied(streams)) => Origin::Stream(streams.input()),
        (CopyEnd::Client, _) => return Err(no_client("FROM STDIN")),
    };
    let rejects = rejected_rows::begin(runner, options);
    let on_error = rejects.clone().map_or(OnError::Stop, OnError::Skip);
    let reader = open(origin, options, &columns, on_error, runner.read_limits())?;
    let table = transaction.snapshot().table(entry.id)?.table().clone();
    let whole = places.iter().copied().eq(0..entry.schema.columns.len());
    let snapshot = transaction.snapshot();
    let shape = |batch| match whole {
        true => Ok(batch),
        false => spread(&entry.schema, places, batch, snapshot.catalog()),
    };
    let rows = loader::load(runner, transaction, table, reader, &shape);
    // Readers of files know columns, and not the table that they are of.
    let rows = rows.map_err(|error| match (error.column(), error.table()) {
        (Some(_), None) => error.of_table(&entry.name).in_namespace(entry.namespace),
        _ => error,
    })?;
    let skipped = match rejects {
        Some(rejects) => rejected_rows::keep(runner, transaction, entry.id, options, &rejects)?,
        None => 0,
    };
    Ok(Copied { rows, skipped })
}

fn open(
    origin: Origin<'_>,
    options: &CopyOptions,
    columns: &[ColumnDef],
    on_error: OnError,
    limits: ReadLimits,
) -> Result<Box<dyn BatchReader>> {
    match (options.format, origin) {
        (CopyFormat::Parquet, Origin::File(path)) => {
            Ok(Box::new(ParquetReader::open(path, columns, limits)?))
        }
        (CopyFormat::Parquet, Origin::Stream(_)) => Err(Error::unsupported("Parquet FROM STDIN")),
        (CopyFormat::Csv | CopyFormat::Text, origin) => {
            let options = csv_options(options, columns)?;
            let reader = CsvReader::open(origin, columns, options, limits)?;
            Ok(Box::new(reader.on_error(on_error)))
        }
        (CopyFormat::Binary, origin) => {
            let compression = compression(options.compression);
            Ok(Box::new(PgcopyReader::open(
                origin,
                columns,
                compression,
                limits,
            )?))
        }
        (CopyFormat::Json, origin) => {
            let compression = compression(options.compression);
            let reader = JsonReader::open(origin, columns, compression, &on_error, &limits)?;
            Ok(Box::new(reader))
        }
    }
}

/// The error of COPY whose other end is a client, where no client has given a stream.
pub fn no_client(end: &str) -> Error {
    Error::unsupported(format!("COPY {end} here"))
        .with_hint("name a file: COPY t FROM 'path', COPY t TO 'path'")
}

/// The form of a file of CSV or text with these columns. 42703 for a column that an option names and there is not.
pub fn csv_options(options: &CopyOptions, columns: &[ColumnDef]) -> Result<CsvOptions> {
    let forced = |option, forced: &CopyColumns| forced.among(option, columns.iter().map(|c| c.name.as_str()));
    Ok(CsvOptions {
        records: match options.format {
            CopyFormat::Text => Records::Escaped,
            CopyFormat::Csv | CopyFormat::Json | CopyFormat::Parquet | CopyFormat::Binary => Records::Quoted,
        },
        header: match options.header {
            CopyHeader::Absent => Header::Absent,
            CopyHeader::Names => Header::Checked,
            CopyHeader::Match => Header::Matched,
        },
        force_quote: forced("FORCE_QUOTE", &options.force_quote)?,
        force_not_null: forced("FORCE_NOT_NULL", &options.force_not_null)?,
        force_null: forced("FORCE_NULL", &options.force_null)?,
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
            .with_hint("the characters of a CSV format must be ASCII")
    })
}

/// A batch of all the table's columns: those the file does not have hold their default. 2200H, and the errors of the
/// log of sequences.
fn spread(schema: &Schema, places: &[usize], batch: RowBatch, catalog: &Catalog) -> Result<RowBatch> {
    debug_assert!(batch.rows <= CHUNK_ROWS);
    let mut given: Vec<Option<ColumnVector>> = vec![None; schema.columns.len()];
    for (place, column) in places.iter().zip(batch.columns) {
        given[*place] = Some(column);
    }
    let columns = given
        .into_iter()
        .zip(&schema.columns)
        .map(
            |(column, definition)| match (column, default_sequence(definition)) {
                (Some(column), _) => Ok(column),
                (None, Some(sequence)) => next_values(catalog, sequence, definition.ty, batch.rows),
                (None, None) => {
                    let value = definition.constant_default().unwrap_or(Value::Null);
                    Ok(ColumnVector::from_values(definition.ty, &vec![value; batch.rows]))
                }
            },
        );
    Ok(RowBatch {
        columns: columns.collect::<Result<_>>()?,
        rows: batch.rows,
    })
}

/// The next values of a sequence as a column of a type.
fn next_values(catalog: &Catalog, sequence: ObjectId, ty: LogicalType, rows: usize) -> Result<ColumnVector> {
    let Some(sequence) = catalog.sequence_of(sequence) else {
        return Err(Error::internal("a default of a sequence that is not there"));
    };
    let taken = frazil_functions::next_values(sequence, rows)?;
    let values = taken.into_iter().map(|value| {
        let value = Value::Int(value.into());
        value_ops::cast(&value, LogicalType::BigInt, ty, CastLength::Refuse)
    });
    let values: Vec<Value> = values.collect::<Result<_>>()?;
    Ok(ColumnVector::from_values(ty, &values))
}
