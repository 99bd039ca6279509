//! Benchmarks: experiments as data, run interleaved and reported with the statistics of Runtime
//! Fragility, section 3.
//!
//! [`run`] reads a command line, looks the experiment up in the table of [`experiments`], and has it run:
//! experiments on queries by `query_runner`, which knows engines only by a small trait; the sizes of
//! databases by `compression`.
#![forbid(unsafe_code)]

mod arguments;
pub mod engine;
pub mod experiments;
pub mod query_runner;
pub mod report;
pub mod statistics;

pub use arguments::BenchArgs;

use experiments::EXPERIMENTS;
use frazil_types::{Error, Result, SqlState};
use report::Report;
use std::io::Write;

/// Runs `frazil bench` with its arguments, writing to standard output.
pub fn run(arguments: &[String]) -> Result<()> {
    let mut out = std::io::stdout().lock();
    match BenchArgs::parse(arguments)? {
        Some(args) => run_experiment(&args, &mut out),
        None => write_out(&mut out, &arguments::usage()),
    }
}

/// Runs an experiment and writes its report to `out`, and as JSON to the file that `args` names.
pub fn run_experiment(args: &BenchArgs, out: &mut dyn Write) -> Result<()> {
    let report = report(args)?;
    write_out(out, &report.to_string())?;
    let Some(path) = &args.json else {
        return Ok(());
    };
    let text = format!("{:#}\n", report.json());
    std::fs::write(path, text).map_err(|e| io_error(format!("cannot write {}", path.display()), &e))
}

/// Runs an experiment.
pub fn report(args: &BenchArgs) -> Result<Report> {
    let experiment = experiments::find(&args.experiment)?;
    Err(Error::unsupported(format!("the experiment {}", experiment.name)))
}

/// The names of all experiments, for messages.
fn names() -> String {
    EXPERIMENTS.map(|e| e.name).join(", ")
}

fn write_out(out: &mut dyn Write, text: &str) -> Result<()> {
    (out.write_all(text.as_bytes())).map_err(|e| io_error("cannot write the report".to_owned(), &e))
}

fn io_error(what: String, error: &std::io::Error) -> Error {
    Error::new(SqlState::IO_ERROR, format!("{what}: {error}"))
}
