//! `frazil demo`: TPC-H in memory, what each encoding saved, the 22 queries with their times, and then
//! the shell for whoever sits at a terminal.

use crate::arguments::DemoOptions;
use crate::backend::Backend;
use crate::complaint::Complaint;
use crate::output::{self, Display};
use crate::shell::Shell;
use crate::{editor, interrupt, tpch};
use frazil::{Connection, Database, Outcome};
use std::io::{self, IsTerminal};
use std::time::{Duration, Instant};

const ENCODINGS: &str = "\
select encoding, count(*) as columns, sum(raw_bytes) as raw_bytes, sum(bytes) as bytes,
       cast(sum(bytes) * 100.0 / sum(raw_bytes) as decimal(5,1)) as percent
from frazil_blocks where encoding <> 'hot' group by encoding order by raw_bytes desc";

/// Rows of each answer that are printed.
const ROWS_SHOWN: usize = 5;

/// Runs the demonstration.
pub fn run(options: &DemoOptions) -> Result<(), Complaint> {
    let database = Database::memory()?;
    let connection = database.connect();
    let threads = options.threads.unwrap_or_else(tpch::cores);
    connection.execute(&format!("set threads = {threads}"))?;
    interrupt::install();
    load(&connection, options.scale_factor, threads)?;
    show_encodings(&connection)?;
    let times = run_queries(&connection, options.scale_factor)?;
    summarize(&times, threads);
    if io::stdin().is_terminal() && io::stdout().is_terminal() {
        println!("\nThe tables are yours; try \\d or a query.");
        editor::interact(&mut Shell::new(connection))?;
    }
    Ok(())
}

fn load(connection: &Connection, scale_factor: f64, threads: usize) -> Result<(), Complaint> {
    println!("Making TPC-H at scale factor {scale_factor} in memory, on {threads} threads");
    for table in frazil_tpch::TABLES {
        let begun = Instant::now();
        let rows = tpch::load_table(connection, table, scale_factor, threads)?;
        let made = begun.elapsed();
        connection.execute(&format!("freeze table {}", table.name()))?;
        let frozen = begun.elapsed() - made;
        println!(
            "  {:<10}{rows:>10} rows  made in {:>6.2} s, frozen into Data Blocks in {:>5.2} s",
            table.name(),
            made.as_secs_f64(),
            frozen.as_secs_f64()
        );
    }
    Ok(())
}

fn show_encodings(connection: &Connection) -> Result<(), Complaint> {
    println!("\nWhat each encoding saved (raw: the uncompressed columns):");
    print_rows(connection.execute(ENCODINGS)?.outcome, None)
}

fn print_rows(outcome: Outcome, max_rows: Option<usize>) -> Result<(), Complaint> {
    let display = Display {
        max_rows,
        ..Display::default()
    };
    if let Outcome::Rows(rows) = outcome {
        output::write(&mut io::stdout().lock(), &rows, &display)?;
    }
    Ok(())
}

fn run_queries(
    connection: &Connection,
    scale_factor: f64,
) -> Result<Vec<(usize, Duration, Duration)>, Complaint> {
    let mut times = Vec::new();
    for number in 1..=frazil_tpch::QUERIES {
        let sql = frazil_tpch::query(number, scale_factor);
        let response = interrupt::cancelling(connection.canceler(), || connection.execute(&sql))
            .map_err(|e| Complaint::from(e).of_statement(&sql))?;
        let timing = response.timing;
        let prepared = timing.plan() + timing.compile;
        println!(
            "\nQ{number}: planned and compiled in {:.2} ms, run in {:.2} ms",
            prepared.as_secs_f64() * 1e3,
            timing.execute.as_secs_f64() * 1e3
        );
        print_rows(response.outcome, Some(ROWS_SHOWN))?;
        times.push((number, prepared, timing.execute));
    }
    Ok(times)
}

fn summarize(times: &[(usize, Duration, Duration)], threads: usize) {
    let mean = |of: &dyn Fn(&(usize, Duration, Duration)) -> Duration| {
        let logs: f64 = times.iter().map(|t| of(t).as_secs_f64().max(1e-9).ln()).sum();
        (logs / times.len().max(1) as f64).exp() * 1e3
    };
    println!(
        "\nAll {} queries on {threads} threads: {:.2} ms to plan and compile, {:.1} ms to run (geometric means)",
        times.len(),
        mean(&|t| t.1),
        mean(&|t| t.2)
    );
}
