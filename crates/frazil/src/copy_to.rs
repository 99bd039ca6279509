//! COPY TO: the rows of a table or query become a file while they are computed.

use crate::bundle::Bundle;
use crate::compression::compression;
use crate::copy::{csv_options, no_client};
use crate::query::{self, Runner};
use crate::row_sink::{Delivery, Parts, Streams};
use crate::rows::{Outcome, Response};
use frazil_files::{
    BatchWriter, Compression, Destination, Existing, Form, PartitionedWriter, Partitioning, ReadLimits,
    writer,
};
use frazil_frontend::{CopyEnd, CopyExisting, CopyFormat, CopyOptions};
use frazil_plan::Plan;
use frazil_types::{ColumnVector, Error, NativeType, Result, RowBatch, Schema, SqlState};
use std::cell::RefCell;
use std::io::{self, Write};
use std::path::Path;
use std::sync::Arc;

/// Runs the statement. A file appears under its name when it is whole, and not at all if the statement fails.
pub fn run(
    runner: &Runner,
    plan: Plan,
    bundle: Bundle,
    target: &CopyEnd,
    options: &CopyOptions,
    to: Delivery<'_>,
) -> Result<Response> {
    let limits = runner.read_limits();
    if let CopyEnd::File(path) = target {
        limits.access.check(Path::new(path))?;
    }
    let begin = |schema: &Schema| {
        let form = form(target, options, schema)?;
        begin_writer((target, to), options, schema, &form, &limits)
    };
    let writing = Writing {
        begin: &begin,
        threads: runner.threads(),
        writer: RefCell::new(None),
        waiting: RefCell::default(),
    };
    let (rows, timing) = query::stream(runner, plan, bundle, &writing)?;
    writing.write_waiting()?;
    if let Some(writer) = writing.writer.into_inner() {
        writer.finish()?;
    }
    let outcome = Outcome::Command {
        tag: "COPY",
        rows: Some(rows),
    };
    Ok(Response::new(outcome, timing))
}

/// The writer of rows of these columns.
fn begin_writer<'a>(
    (target, to): (&'a CopyEnd, Delivery<'a>),
    options: &CopyOptions,
    schema: &Schema,
    form: &Form,
    limits: &ReadLimits,
) -> Result<Box<dyn BatchWriter + 'a>> {
    match (target, to) {
        (CopyEnd::File(path), _) if !options.partition_by.is_empty() => {
            let partitioning = partitioning(schema, options)?;
            let path = Path::new(path);
            let writer = PartitionedWriter::create(path, schema, form, partitioning, &limits.budget)?;
            Ok(Box::new(writer) as Box<dyn BatchWriter>)
        }
        (CopyEnd::File(path), _) => {
            let to = Destination::File(Path::new(path), &limits.cancel);
            writer(to, schema, form)
        }
        (CopyEnd::Client, Delivery::Copied(streams)) => {
            writer(Destination::Stream(Box::new(Client(streams))), schema, form)
        }
        (CopyEnd::Client, Delivery::Whole | Delivery::Parts(_) | Delivery::Begun(_)) => {
            Err(no_client("TO STDOUT"))
        }
    }
}

/// How rows are spread over folders. 42703 and 42701 for columns that there are not, or twice; 22023 if no column is
/// left.
fn partitioning(schema: &Schema, options: &CopyOptions) -> Result<Partitioning> {
    let mut keys = Vec::new();
    for name in &options.partition_by {
        let Some(key) = schema.columns.iter().position(|column| column.name == *name) else {
            let message = format!("column \"{name}\" of PARTITION_BY does not exist");
            return Err(Error::new(SqlState::UNDEFINED_COLUMN, message));
        };
        if keys.contains(&key) {
            let message = format!("column \"{name}\" is in PARTITION_BY twice");
            return Err(Error::new(SqlState::DUPLICATE_COLUMN, message));
        }
        keys.push(key);
    }
    if keys.len() == schema.columns.len() && !options.write_partition_columns {
        let message = "PARTITION_BY leaves no column for the files";
        return Err(Error::new(SqlState::INVALID_PARAMETER, message)
            .with_hint("WRITE_PARTITION_COLUMNS writes them into the files as well"));
    }
    Ok(Partitioning {
        keys,
        keep_keys: options.write_partition_columns,
        existing: match options.existing {
            CopyExisting::Refused => Existing::Refused,
            CopyExisting::Kept => Existing::Kept,
            CopyExisting::Joined => Existing::Joined,
            CopyExisting::Removed => Existing::Removed,
        },
    })
}

fn form(target: &CopyEnd, options: &CopyOptions, schema: &Schema) -> Result<Form> {
    let said = compression(options.compression);
    let of_text = said.unwrap_or(match target {
        CopyEnd::File(path) => Compression::of_path(Path::new(path)),
        CopyEnd::Client => Compression::None,
    });
    Ok(match options.format {
        CopyFormat::Csv | CopyFormat::Text => Form::Csv(csv_options(options, &schema.columns)?, of_text),
        CopyFormat::Binary => Form::Pgcopy(of_text),
        CopyFormat::Json => Form::Json {
            array: options.array,
            compression: of_text,
        },
        CopyFormat::Parquet => Form::Parquet {
            compression: said.unwrap_or(Compression::Snappy),
            row_group_rows: options.row_group_rows,
        },
    })
}

/// Hands the rows of a query to a writer, which begins when the query's columns are known.
struct Writing<'a> {
    begin: &'a dyn Fn(&Schema) -> Result<Box<dyn BatchWriter + 'a>>,
    threads: usize,
    writer: RefCell<Option<Box<dyn BatchWriter + 'a>>>,
    /// Rows that are not written yet: many at once keep all threads busy.
    waiting: RefCell<Waiting>,
}

/// Rows for each thread that are written at once.
const ROWS_AT_ONCE: usize = 1 << 15;
/// Rows that are written at once on one thread: so many tell Parquet how columns are best encoded.
const ROWS_OF_ONE: usize = 1 << 16;
/// Bytes of rows that wait at most.
const MOST_WAITING: usize = 32 << 20;

/// Rows that are not written yet.
#[derive(Default)]
struct Waiting {
    batches: Vec<RowBatch>,
    rows: usize,
    bytes: usize,
}

impl Writing<'_> {
    fn write_waiting(&self) -> Result<()> {
        let waiting = self.waiting.take();
        match &mut *self.writer.borrow_mut() {
            Some(writer) if !waiting.batches.is_empty() => writer.write(&waiting.batches, self.threads),
            _ => Ok(()),
        }
    }
}

impl Parts for Writing<'_> {
    fn begin(&self, schema: &Arc<Schema>) -> Result<()> {
        *self.writer.borrow_mut() = Some((self.begin)(schema)?);
        Ok(())
    }

    fn rows(&self, batch: RowBatch) -> Result<()> {
        let mut waiting = self.waiting.borrow_mut();
        waiting.rows += batch.rows;
        waiting.bytes += batch.columns.iter().map(bytes_of).sum::<usize>();
        waiting.batches.push(batch);
        let most = (self.threads * ROWS_AT_ONCE).max(ROWS_OF_ONE);
        let enough = waiting.rows >= most || waiting.bytes >= MOST_WAITING;
        drop(waiting);
        match enough {
            true => self.write_waiting(),
            false => Ok(()),
        }
    }
}

/// Bytes that a column takes, with its texts.
fn bytes_of(column: &ColumnVector) -> usize {
    let texts = match column.native() {
        NativeType::String => {
            let strings = column.strings();
            (0..column.len()).map(|row| strings.bytes(row).len()).sum()
        }
        _ => 0,
    };
    column.bytes() + texts
}

/// STDOUT of a client.
struct Client<'a>(&'a dyn Streams);

impl Write for Client<'_> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.0.write(bytes)
    }

    fn flush(&mut self) -> io::Result<()> {
        self.0.flush()
    }
}
