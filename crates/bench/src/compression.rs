//! The experiment `compression`: TPC-H frozen in a directory, the directory closed, its bytes over those
//! of the same tables as CSV (Data Blocks, table 1), and lineitem's blocks by their rows (figure 10); the same of
//! cast_info and flights.
//!
//! Frozen for a purpose, TPC-H is also timed against the default choice, and the bytes of its integer columns are held
//! against those of fixed encodings (Hyrise's integer compression, figure 1).

use crate::arguments::{BenchArgs, FLIGHTS};
use crate::beside_tpch;
use crate::csv_bytes::csv_bytes;
use crate::experiments::by_purpose;
use crate::frazil_engine::{self, fill};
use crate::query_runner;
use crate::report::{Measurement, Report, Values};
use crate::scratch::Scratch;
use frazil::Database;
use frazil_block::{BlockBuilder, BuildOptions, ColumnInput, ColumnOptions, Encoding, Layout, Purpose};
use frazil_tpch::{TABLES, Table};
use frazil_types::{LogicalType, Result, RowBatch};

/// Runs the experiment.
pub fn run(name: &'static str, block_rows: &[usize], args: &BenchArgs) -> Result<Report> {
    let mut report = Report::default();
    let scale_factor = args.scale_factor;
    let directory = Scratch::new()?;
    let purpose = args.freeze_for.as_deref().map(Purpose::parse).transpose()?;
    let options = purpose.map_or_else(String::new, |purpose| format!("freeze_for = '{purpose}'"));
    load(&directory, scale_factor, &options, |table| {
        table == Table::Lineitem
    })?;
    let lineitem = directory.bytes()?;
    load(&directory, scale_factor, &options, |table| {
        table != Table::Lineitem
    })?;
    let all = directory.bytes()?;
    let csv = TABLES.map(|table| csv_bytes(table, scale_factor));
    let csv_lineitem = csv[TABLES
        .iter()
        .position(|t| *t == Table::Lineitem)
        .unwrap_or_default()];
    add(&mut report, name, "tpch".to_owned(), all, csv.iter().sum());
    add(&mut report, name, "lineitem".to_owned(), lineitem, csv_lineitem);
    let mut beside = vec![beside_tpch::cast_info(scale_factor)?];
    if let Some(path) = args.data_file(FLIGHTS) {
        beside.push(beside_tpch::nycflights(&path)?);
    }
    for table in &beside {
        let (bytes, csv) = (table.bytes(&options)?, table.csv_bytes()?);
        add(&mut report, name, table.name.to_owned(), bytes, csv);
    }
    if let Some(purpose) = purpose {
        // The sizes of blocks are those of the default choice.
        integer_columns(&mut report, name, purpose, scale_factor)?;
        let times = query_runner::run(name, by_purpose(purpose), args, &mut frazil_engine::load)?;
        report.append(times);
        return Ok(report);
    }
    let lineitem = || frazil_tpch::generate(Table::Lineitem, scale_factor, 1, 1);
    by_block_size(
        &mut report,
        (name, "lineitem"),
        block_rows,
        csv_lineitem,
        lineitem,
    )?;
    for table in &beside {
        let batches = table.batches()?;
        let rows = || batches.iter().cloned();
        by_block_size(
            &mut report,
            (name, table.name),
            block_rows,
            table.csv_bytes()?,
            rows,
        )?;
    }
    Ok(report)
}

/// Adds the bytes of a table's blocks by their rows, over those of its CSV.
fn by_block_size<B: Iterator<Item = RowBatch>>(
    report: &mut Report,
    (experiment, table): (&'static str, &str),
    block_rows: &[usize],
    csv: u64,
    batches: impl Fn() -> B,
) -> Result<()> {
    let case = |rows: usize| format!("{table}/blocks_of_{rows}");
    for &rows in block_rows {
        let bytes = bytes_by_block_size(rows, batches())?;
        add(report, experiment, case(rows), bytes, csv);
    }
    if let Some((&most, others)) = block_rows.split_last() {
        others
            .iter()
            .for_each(|&rows| report.compare(&case(rows), &case(most), "bytes_over_csv"));
    }
    Ok(())
}

fn add(report: &mut Report, experiment: &'static str, case: String, bytes: u64, csv: u64) {
    let values = [
        ("bytes_over_csv", "ratio", bytes as f64 / csv as f64),
        ("bytes", "bytes", bytes as f64),
        ("csv_bytes", "bytes", csv as f64),
    ];
    for (metric, unit, value) in values {
        report.add(Measurement {
            experiment,
            case: case.clone(),
            metric,
            unit,
            values: Values::Exact(value),
        });
    }
}

/// Loads and freezes the tables that `wanted` names, then closes the directory.
fn load(directory: &Scratch, scale_factor: f64, options: &str, wanted: fn(Table) -> bool) -> Result<()> {
    let database = Database::open(directory.path())?;
    let connection = database.connect();
    for table in TABLES.into_iter().filter(|t| wanted(*t)) {
        fill(&connection, table, options, scale_factor)?;
        connection.execute(&format!("freeze table {}", table.name()))?;
    }
    drop(connection);
    database.close()
}

/// Bytes of a table in blocks of `rows` rows, a divisor of a chunk's rows.
fn bytes_by_block_size(rows: usize, batches: impl Iterator<Item = RowBatch>) -> Result<u64> {
    let mut builder = BlockBuilder::new(BuildOptions::default());
    let mut bytes = 0;
    for batch in batches {
        for start in (0..batch.rows).step_by(rows) {
            let range = start..batch.rows.min(start + rows);
            let columns = batch
                .columns
                .iter()
                .map(|c| ColumnInput::of_vector(c, range.clone()));
            bytes += builder.build(&columns.collect::<Vec<_>>())?.bytes().len() as u64;
        }
    }
    Ok(bytes)
}

/// Ways to hold integers that Hyrise's study compares, and ours.
fn integer_forms(purpose: Purpose) -> Vec<(String, BuildOptions)> {
    let pinned = |encoding, layout| BuildOptions {
        wherever_possible: ColumnOptions {
            encoding: Some(encoding),
            layout,
            purpose: None,
        },
        ..BuildOptions::default()
    };
    let free = |purpose| BuildOptions {
        purpose,
        ..BuildOptions::default()
    };
    let (dictionary, reference) = (Encoding::Dictionary, Encoding::FrameOfReference);
    let mut forms = vec![
        ("raw".to_owned(), pinned(Encoding::Raw, None)),
        (
            "dictionary_byte_packed".to_owned(),
            pinned(dictionary, Some(Layout::BytePacked)),
        ),
        (
            "dictionary_bit_packed".to_owned(),
            pinned(dictionary, Some(Layout::BitPacked)),
        ),
        (
            "reference_byte_packed".to_owned(),
            pinned(reference, Some(Layout::BytePacked)),
        ),
        (
            "reference_bit_packed".to_owned(),
            pinned(reference, Some(Layout::BitPacked)),
        ),
        (
            "patched_bit_packed".to_owned(),
            pinned(Encoding::Patched, Some(Layout::BitPacked)),
        ),
        (
            "frames_bit_packed".to_owned(),
            pinned(Encoding::Frames, Some(Layout::BitPacked)),
        ),
        (Purpose::Balanced.to_string(), free(Purpose::Balanced)),
    ];
    if purpose != Purpose::Balanced {
        forms.push((purpose.to_string(), free(purpose)));
    }
    forms
}

/// Bytes of the integer columns of TPC-H in every form, over those of ordered dictionaries on byte-packed codes.
fn integer_columns(
    report: &mut Report,
    experiment: &'static str,
    purpose: Purpose,
    scale_factor: f64,
) -> Result<()> {
    let forms = integer_forms(purpose);
    let mut bytes = vec![0; forms.len()];
    for table in TABLES {
        let schema = table.schema();
        let is_integer =
            |c: &usize| matches!(schema.columns[*c].ty, LogicalType::Integer | LogicalType::BigInt);
        let integers: Vec<usize> = (0..schema.columns.len()).filter(is_integer).collect();
        for batch in frazil_tpch::generate(table, scale_factor, 1, 1) {
            let inputs: Vec<ColumnInput> = (integers.iter())
                .map(|&c| ColumnInput::of_vector(&batch.columns[c], 0..batch.rows))
                .collect();
            for ((_, options), bytes) in forms.iter().zip(&mut bytes) {
                let block = BlockBuilder::new(options.clone()).build(&inputs)?;
                *bytes += (0..block.columns())
                    .map(|c| block.column_info(c).bytes)
                    .sum::<u64>();
            }
        }
    }
    let case = |form: &str| format!("integer_columns/{form}");
    for ((form, _), bytes) in forms.iter().zip(bytes) {
        report.add(Measurement {
            experiment,
            case: case(form),
            metric: "integer_bytes",
            unit: "bytes",
            values: Values::Exact(bytes as f64),
        });
    }
    for (form, _) in &forms {
        if form != "dictionary_byte_packed" {
            report.compare(&case(form), &case("dictionary_byte_packed"), "integer_bytes");
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::fs;

    #[test]
    fn small_blocks_cost_more() {
        let lineitem = || frazil_tpch::generate(Table::Lineitem, 0.002, 1, 1);
        let bytes = |rows| bytes_by_block_size(rows, lineitem()).expect("it builds");
        assert!(bytes(2_048) > bytes(65_536));
    }

    #[test]
    fn bytes_of_a_directory_are_those_of_its_files() {
        let scratch = Scratch::new().expect("a temporary directory");
        fs::create_dir(scratch.path().join("inner")).expect("a directory");
        fs::write(scratch.path().join("a"), [0; 100]).expect("a file");
        fs::write(scratch.path().join("inner/b"), [0; 23]).expect("a file");
        assert_eq!(scratch.bytes().expect("readable"), 123);
        let path = scratch.path().to_path_buf();
        drop(scratch);
        assert!(!path.exists());
    }
}
