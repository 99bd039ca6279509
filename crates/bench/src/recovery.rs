//! The experiment `recovery`: how long it takes to open a directory whose process was killed, by what its log holds and by bytes of the log.
//! Each case writes its log once, and opens the directory again and again: nothing is checkpointed, so that each opening does again all
//! that the log says. The tables have no indexes, whose building is not recovery's alone.

use crate::arguments::BenchArgs;
use crate::report::{Measurement, Report, Values};
use crate::scratch::Scratch;
use crate::statistics::Sample;
use frazil_catalog::{QualifiedName, TableOptions};
use frazil_durability::Directory;
use frazil_storage::{Acknowledge, Conflict, NewRows, Transaction};
use frazil_types::{
    Cancel, ColumnDef, ColumnVector, Error, LogicalType, ObjectId, Result, RowBatch, RowId, Schema, Value,
};
use std::sync::Arc;
use std::time::{Duration, Instant};

/// What is in a log.
#[derive(Clone, Copy, Debug)]
pub struct Case {
    /// Its name.
    pub name: &'static str,
    /// Tables, which are written to in turn.
    pub tables: usize,
    /// Rows of a commit.
    pub batch: usize,
    /// Rows inserted at scale factor 1, of all tables together.
    pub rows: usize,
    /// Whether each row is updated then, in commits of as many.
    pub updates: bool,
}

/// A table, and its rows.
struct Filled {
    id: ObjectId,
    rows: Vec<RowId>,
}

/// Runs the experiment.
pub fn run(name: &'static str, cases: &[Case], args: &BenchArgs) -> Result<Report> {
    let mut report = Report::default();
    for case in cases {
        let scratch = Scratch::new()?;
        let operations = write(case, &scratch, args.scale_factor)?;
        let (mut seconds, mut log) = (Vec::new(), 0);
        for round in 0..=args.runs {
            let begun = Instant::now();
            let directory = Directory::open(scratch.path())?;
            let took = begun.elapsed().as_secs_f64();
            check(&directory, operations)?;
            log = directory.wal().end().0;
            if round > 0 {
                seconds.push(took);
            }
        }
        let per = |amount: f64| seconds.iter().map(|s| amount / s).collect();
        let rates: Vec<f64> = per(operations as f64);
        let bytes: Vec<f64> = per(log as f64 / 1e6);
        let mut add = |metric, unit, values| {
            report.add(Measurement {
                experiment: name,
                case: case.name.to_string(),
                metric,
                unit,
                values,
            });
        };
        add(
            "log_bytes",
            "B",
            Values::Measured(Sample::new(vec![log as f64; args.runs])),
        );
        let each = seconds.iter().map(|s| 1e9 * s / operations as f64).collect();
        add("ns_per_row_operation", "ns", Values::Measured(Sample::new(each)));
        add("seconds", "s", Values::Measured(Sample::new(seconds.clone())));
        add(
            "row_operations_per_second",
            "1/s",
            Values::Measured(Sample::new(rates)),
        );
        add(
            "log_megabytes_per_second",
            "MB/s",
            Values::Measured(Sample::new(bytes)),
        );
    }
    for case in &cases[1..] {
        report.compare(case.name, cases[0].name, "ns_per_row_operation");
    }
    Ok(report)
}

/// Fills a directory and leaves it as a killed process does. Returns the row operations in its log.
fn write(case: &Case, scratch: &Scratch, scale_factor: f64) -> Result<u64> {
    let directory = Directory::open(scratch.path())?;
    let store = directory.store();
    let commit = |work: &mut dyn FnMut(&mut Transaction) -> Result<()>| {
        let mut transaction = store.begin(Duration::from_secs(60), &Cancel::new())?;
        work(&mut transaction)?;
        transaction.commit_as(Acknowledge::Placed).map(drop)
    };
    let mut tables = Vec::new();
    for n in 0..case.tables {
        commit(&mut |t| {
            let id = define(t, &format!("t{n}"))?;
            tables.push(Filled { id, rows: Vec::new() });
            Ok(())
        })?;
    }
    let rounds = ((case.rows as f64 * scale_factor) as usize / case.batch).max(case.tables * 2);
    for round in 0..rounds {
        let table = &mut tables[round % case.tables];
        let batch = batch(table.rows.len(), case.batch);
        commit(&mut |t| {
            let written = t.writer(table.id)?.insert(&NewRows::of(&batch), Conflict::Fail)?;
            table.rows.extend(written.rows.into_iter().flatten());
            Ok(())
        })?;
    }
    let inserted: usize = tables.iter().map(|t| t.rows.len()).sum();
    if case.updates {
        for table in &tables {
            for (n, ids) in table.rows.chunks(case.batch).enumerate() {
                let values = vec![Value::Int(n as i128); ids.len()];
                let batch = RowBatch {
                    columns: vec![ColumnVector::from_values(LogicalType::Integer, &values)],
                    rows: ids.len(),
                };
                commit(&mut |t| {
                    t.writer(table.id)?
                        .update(ids, &[1], &NewRows::of(&batch))
                        .map(drop)
                })?;
            }
        }
    }
    directory.flush(directory.wal().end())?;
    // An update is a deleted row and an inserted one.
    Ok(inserted as u64 * if case.updates { 3 } else { 1 })
}

/// A table of two numbers and a text.
fn define(transaction: &mut Transaction, name: &str) -> Result<ObjectId> {
    let columns = vec![
        ColumnDef::new("k", LogicalType::BigInt).not_null(),
        ColumnDef::new("v", LogicalType::Integer),
        ColumnDef::new("name", LogicalType::Text),
    ];
    let entry = transaction.create_table(
        QualifiedName::in_public(name),
        Arc::new(Schema::new(columns)),
        TableOptions::default(),
    )?;
    Ok(entry.id)
}

fn batch(first: usize, rows: usize) -> RowBatch {
    let column = |ty, value: &dyn Fn(usize) -> Value| {
        let values: Vec<Value> = (first..first + rows).map(value).collect();
        ColumnVector::from_values(ty, &values)
    };
    let columns = vec![
        column(LogicalType::BigInt, &|n| Value::Int(n as i128)),
        column(LogicalType::Integer, &|n| Value::Int(n as i128 % 100)),
        column(LogicalType::Text, &|n| {
            Value::Text(format!("the name of the row with number {n}"))
        }),
    ];
    RowBatch { columns, rows }
}

/// That everything was done again.
fn check(directory: &Directory, operations: u64) -> Result<()> {
    let found = directory.recovery().rows;
    match found == operations {
        true => Ok(()),
        false => Err(Error::internal(format!(
            "{found} of {operations} rows were recovered"
        ))),
    }
}
