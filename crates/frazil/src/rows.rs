//! Results of statements.

use crate::notice::Notice;
use crate::row_sink::Delivery;
use arrow_array::RecordBatch;
use arrow_schema::SchemaRef;
use frazil_exec::Metrics;
use frazil_files::{ArrowBatches, ArrowTexts};
use frazil_types::{
    ColumnDef, ColumnVector, Error, LogicalType, Result, RowBatch, RowValues, Schema, SqlState, Value,
};
use std::sync::{Arc, OnceLock};
use std::time::{Duration, Instant};

/// What a statement did, and the time it took.
#[derive(Debug, Default)]
pub struct Response {
    /// Rows, or that a command was done.
    pub outcome: Outcome,
    /// Where the time went.
    pub timing: Timing,
    /// What whoever runs the statement should know though it succeeded.
    pub notices: Vec<Notice>,
    /// Counts of the scans of the query whose rows are in the response; zero for other statements.
    pub reads: ReadCounts,
}

/// Counts of what the scans of a query read of its tables.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct ReadCounts {
    /// Chunks that were opened: blocks, and hot chunks.
    pub chunks: u64,
    /// Blocks among them of which nothing else was read, because an SMA ruled them out.
    pub skipped_chunks: u64,
    /// Rows on which restrictions were evaluated, or that were returned without any.
    pub rows: u64,
    /// Bytes of codes and values that were read, by estimate.
    pub bytes: u64,
}

impl ReadCounts {
    /// The sum over the scans of a plan.
    pub(crate) fn of(metrics: &Metrics) -> ReadCounts {
        let mut sum = ReadCounts::default();
        for scan in metrics.pipelines.iter().filter_map(|pipeline| pipeline.scan) {
            sum.chunks += scan.chunks;
            sum.skipped_chunks += scan.chunks_skipped_by_sma;
            sum.rows += scan.rows_scanned;
            sum.bytes += scan.bytes_touched;
        }
        sum
    }
}

/// Rows, or that a command was done.
#[derive(Debug)]
pub enum Outcome {
    /// Rows.
    Rows(Rows),
    /// A command without rows.
    Command {
        /// Its name, e.g. `INSERT`.
        tag: &'static str,
        /// Rows it inserted, updated, deleted, copied, or handed over to a [`RowSink`](crate::RowSink).
        rows: Option<u64>,
    },
}

/// Where a statement's time went.
#[derive(Clone, Copy, Debug, Default)]
pub struct Timing {
    /// Reading the text; that of a script counts for its first statement. Zero for a prepared statement, and for one
    /// that was compiled before.
    pub parse: Duration,
    /// Resolving names and types; of a statement that was compiled before, seeing that it still serves. Zero for one
    /// that runs without pipelines.
    pub bind: Duration,
    /// Optimizing, cutting into pipelines.
    pub optimize: Duration,
    /// Generating machine code.
    pub compile: Duration,
    /// Running it.
    pub execute: Duration,
}

impl Timing {
    /// All that comes before machine code is generated.
    pub fn plan(&self) -> Duration {
        self.parse + self.bind + self.optimize
    }

    /// All of it.
    pub fn total(&self) -> Duration {
        self.plan() + self.compile + self.execute
    }
}

/// The rows of a result, as column batches.
#[derive(Clone, Debug, Default)]
pub struct Rows {
    schema: Arc<Schema>,
    held: Held,
    /// `None`: SELECT.
    tag: Option<&'static str>,
}

/// The form in which rows are held.
#[derive(Clone, Debug)]
enum Held {
    /// Clones share them, and so do Arrow's arrays.
    Batches(Arc<Vec<RowBatch>>),
    /// One row, and the same as a batch once that was asked for.
    One(RowValues, OnceLock<Box<RowBatch>>),
}

impl Default for Held {
    fn default() -> Held {
        Held::Batches(Arc::default())
    }
}

impl Rows {
    /// Rows of these columns.
    pub fn new(schema: Arc<Schema>, batches: Vec<RowBatch>) -> Rows {
        Rows {
            schema,
            held: Held::Batches(Arc::new(batches)),
            tag: None,
        }
    }

    /// A row of these columns.
    pub(crate) fn of_one(schema: Arc<Schema>, row: RowValues) -> Rows {
        Rows {
            schema,
            held: Held::One(row, OnceLock::new()),
            tag: None,
        }
    }

    /// Rows that RETURNING shows of a command.
    pub(crate) fn of_command(self, tag: &'static str) -> Rows {
        Rows {
            tag: Some(tag),
            ..self
        }
    }

    /// The command that gave them: `SELECT`, with RETURNING the one that wrote them, `SHOW` and `EXPLAIN`. It counts
    /// [`Rows::len`] rows.
    pub fn tag(&self) -> &'static str {
        self.tag.unwrap_or("SELECT")
    }

    /// Names and types of the columns, to be shared.
    pub(crate) fn shared_schema(&self) -> &Arc<Schema> {
        &self.schema
    }

    /// Names and types of the columns.
    pub fn schema(&self) -> &Schema {
        &self.schema
    }

    /// The batches in order; together they are the result.
    pub fn batches(&self) -> &[RowBatch] {
        match &self.held {
            Held::Batches(batches) => batches,
            Held::One(row, batch) => {
                let batch = batch.get_or_init(|| Box::new(row.to_batch(self.types())));
                std::slice::from_ref(batch)
            }
        }
    }

    fn types(&self) -> impl Iterator<Item = LogicalType> + '_ {
        self.schema.columns.iter().map(|column| column.ty)
    }

    /// The result as Arrow batches. char(1) becomes a string; intervals months, days and nanoseconds; a numeric without
    /// precision a decimal of 38 digits, whose scale loses no digit. Errors: 22003 if no scale does, 22008 for
    /// intervals of more than 292 years in hours, 0A000 for arrays that are not lists.
    pub fn to_arrow(&self) -> Result<(SchemaRef, Vec<RecordBatch>)> {
        let rows = self.arrow_batches(ArrowTexts::Copied)?;
        let batches = (0..rows.len()).map(|at| rows.batch(at)).collect::<Result<_>>()?;
        Ok((rows.schema().clone(), batches))
    }

    /// The result as Arrow batches, each made when it is asked for. Numbers, dates and timestamps share memory with the
    /// result. XX001 for damaged numerics.
    pub fn arrow_batches(&self, texts: ArrowTexts) -> Result<ArrowBatches> {
        let batches = match &self.held {
            Held::Batches(batches) => batches.clone(),
            Held::One(..) => Arc::new(self.batches().to_vec()),
        };
        ArrowBatches::new(&self.schema, batches, texts)
    }

    /// Number of rows.
    pub fn len(&self) -> usize {
        match &self.held {
            Held::Batches(batches) => batches.iter().map(|b| b.rows).sum(),
            Held::One(..) => 1,
        }
    }

    /// Whether there is no row.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// The rows one by one, as cells hold them: the types are in [`Rows::schema`].
    pub fn raw(&self) -> impl Iterator<Item = Vec<Value>> + '_ {
        let (batches, one) = match &self.held {
            Held::Batches(batches) => (&batches[..], None),
            Held::One(row, _) => (&[][..], Some(row)),
        };
        let one = one.map(|row| self.types().enumerate().map(|(i, ty)| row.value(i, ty)).collect());
        (batches.iter())
            .flat_map(|b| (0..b.rows).map(move |row| b.columns.iter().map(|c| c.value(row)).collect()))
            .chain(one)
    }
}

impl Response {
    /// A response without notices.
    pub(crate) fn new(outcome: Outcome, timing: Timing) -> Response {
        Response {
            outcome,
            timing,
            notices: Vec::new(),
            reads: ReadCounts::default(),
        }
    }

    /// The response with its rows, if it has some, as those of a command.
    pub(crate) fn of_command(self, tag: &'static str) -> Response {
        let outcome = match self.outcome {
            Outcome::Rows(rows) => Outcome::Rows(rows.of_command(tag)),
            command => command,
        };
        Response { outcome, ..self }
    }

    /// Its rows handed over, if it has some: what is left says how many they were.
    pub(crate) fn delivered(self, to: Delivery<'_>) -> Result<Response> {
        match (self.outcome, to) {
            (Outcome::Rows(rows), Delivery::Parts(sink)) => {
                let (tag, count) = (rows.tag(), rows.len() as u64);
                sink.begin(&rows.schema)?;
                let batches = match rows.held {
                    Held::Batches(batches) => Arc::unwrap_or_clone(batches),
                    Held::One(row, _) => vec![row.to_batch(rows.schema.columns.iter().map(|c| c.ty))],
                };
                let batches = batches.into_iter().filter(|batch| batch.rows > 0);
                batches.into_iter().try_for_each(|batch| sink.rows(batch))?;
                let outcome = Outcome::Command {
                    tag,
                    rows: Some(count),
                };
                Ok(Response {
                    outcome,
                    timing: self.timing,
                    notices: self.notices,
                    reads: self.reads,
                })
            }
            (outcome, _) => Ok(Response { outcome, ..self }),
        }
    }
}

impl Default for Outcome {
    /// That of a text without a statement.
    fn default() -> Outcome {
        Outcome::Command { tag: "", rows: None }
    }
}

impl Outcome {
    /// The rows. 02000 for a command without rows.
    pub fn into_rows(self) -> Result<Rows> {
        match self {
            Outcome::Rows(rows) => Ok(rows),
            Outcome::Command { tag, .. } => {
                Err(Error::new(SqlState::NO_DATA, format!("{tag} returns no rows"))
                    .with_hint("RETURNING makes INSERT, UPDATE and DELETE return those that they wrote"))
            }
        }
    }

    /// Of a query whose rows were handed over.
    pub(crate) fn selected(rows: u64) -> Outcome {
        Outcome::Command {
            tag: "SELECT",
            rows: Some(rows),
        }
    }
}

/// The response of a command without rows.
pub fn done(tag: &'static str, started: Instant) -> Response {
    Response::new(Outcome::Command { tag, rows: None }, execution_since(started))
}

/// The response of a command that may have something to say.
pub fn noted(tag: &'static str, notice: Option<Notice>, started: Instant) -> Response {
    Response {
        notices: notice.into_iter().collect(),
        ..done(tag, started)
    }
}

/// The response of a command that counts rows, or blocks.
pub fn counted(tag: &'static str, rows: u64, started: Instant) -> Response {
    let rows = Some(rows);
    Response::new(Outcome::Command { tag, rows }, execution_since(started))
}

/// A column of texts.
pub fn text_column(name: &str) -> ColumnDef {
    ColumnDef::new(name, LogicalType::of_value(&Value::Text(String::new())))
}

/// Lines of text as a result of one column.
pub fn text_rows(name: &str, lines: Vec<String>, started: Instant) -> Response {
    let rows: Vec<Vec<Value>> = lines.into_iter().map(|line| vec![Value::Text(line)]).collect();
    let schema = Schema::new(vec![text_column(name)]);
    table_rows(schema, &rows, started)
}

/// Rows of texts in columns of these names.
pub fn named_texts<const N: usize>(names: [&str; N], rows: Vec<[String; N]>, started: Instant) -> Response {
    let schema = Schema::new(names.map(text_column).to_vec());
    let rows: Vec<Vec<Value>> = rows
        .into_iter()
        .map(|row| row.map(Value::Text).to_vec())
        .collect();
    table_rows(schema, &rows, started)
}

/// Rows as a result.
pub fn table_rows(schema: Schema, rows: &[Vec<Value>], started: Instant) -> Response {
    let columns = schema.columns.iter().enumerate().map(|(i, c)| {
        let values: Vec<Value> = rows.iter().map(|r| r[i].clone()).collect();
        ColumnVector::from_values(c.ty, &values)
    });
    let batch = RowBatch {
        columns: columns.collect(),
        rows: rows.len(),
    };
    let rows = Rows::new(schema.into(), vec![batch]);
    Response::new(Outcome::Rows(rows), execution_since(started))
}

fn execution_since(started: Instant) -> Timing {
    Timing {
        execute: started.elapsed(),
        ..Timing::default()
    }
}
