//! Benchmarks: experiments as data, run interleaved and reported with the statistics of Runtime
//! Fragility, section 3.
//!
//! [`run`] reads a command line, looks the experiment up in the table of [`experiments`], and has it run:
//! experiments on queries by `query_runner`, which knows engines only by a small trait; the sizes of
//! databases by `compression`; hot chunks in memPAX(k) by `mempax`; the kernels of layouts by `micro`.
#![forbid(unsafe_code)]

mod arguments;
mod beside_tpch;
mod bound;
mod by_layout;
mod checkpoints;
mod clients;
mod closure;
mod commit;
mod compression;
mod counters;
mod csv_bytes;
mod engine;
pub mod experiments;
mod flights;
mod frazil_engine;
mod interruption;
mod io_errors;
mod joins;
mod keys;
mod layout_search;
mod layouts_compile;
mod memory;
mod mempax;
mod micro;
mod mixed;
mod plan;
mod probe;
mod query_experiment;
mod query_runner;
mod recovery;
mod references;
mod report;
mod rollup;
mod rust_loop;
mod scratch;
mod shapes;
mod stages;
mod statements;
pub mod statistics;
mod table_lookup;
mod taking_turns;
mod topn;
mod tpcc;
mod whole;
mod wide;
mod windows;
mod writers;

pub use arguments::BenchArgs;
pub use interruption::interrupt;

use experiments::{EXPERIMENTS, Kind};
use frazil_types::{Error, Result};
use io_errors::io_error;
use report::Report;
use std::io::Write;

/// Runs `frazil bench` with its arguments, writing to standard output.
pub fn run(arguments: &[String]) -> Result<()> {
    let mut out = std::io::stdout().lock();
    if let [first, unit] = arguments
        && first == writers::SERVE
    {
        return writers::serve(unit, std::io::stdin().lock(), out);
    }
    match BenchArgs::parse(arguments).map_err(naming_experiments)? {
        Some(args) => {
            let program = std::env::current_exe().ok();
            run_experiment(&BenchArgs { program, ..args }, &mut out)
        }
        None => write_out(
            &mut out,
            &arguments::usage(&EXPERIMENTS.map(|e| (e.name, e.about))),
        ),
    }
}

/// Runs an experiment and writes its report to `out`, and as JSON to the file that `args` names.
pub fn run_experiment(args: &BenchArgs, out: &mut dyn Write) -> Result<()> {
    if args.experiment == whole::ALL {
        return whole::run(args, out, &report);
    }
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
    match &experiment.kind {
        Kind::Queries(_) if args.search => layout_search::run(experiment.name, args),
        Kind::Queries(queries) => query_runner::run(experiment.name, queries, args, &mut frazil_engine::load),
        Kind::Clients(queries) => {
            let clients = match args.clients {
                0 => by_layout::CLIENTS,
                asked_for => asked_for,
            };
            let args = BenchArgs {
                clients,
                ..args.clone()
            };
            query_runner::run(experiment.name, queries, &args, &mut frazil_engine::load)
        }
        Kind::Flights(queries) => query_runner::run(experiment.name, queries, args, &mut flights::load),
        Kind::LayoutsCompile { combinations } => layouts_compile::run(experiment.name, combinations, args),
        Kind::MemPax(plan) => mempax::run(experiment.name, plan, args),
        Kind::Compression { block_rows } => compression::run(experiment.name, block_rows, args),
        Kind::Conjunction(plan) => micro::conjunction::run(experiment.name, plan, args),
        Kind::Lookup { widths } => micro::lookup::run(experiment.name, widths, args),
        Kind::TableLookup(forms) => table_lookup::run(experiment.name, forms, args),
        Kind::Index => micro::ordered_index::run(experiment.name, args),
        Kind::Locks => micro::row_claims::run(experiment.name, args.runs, args.scale_factor),
        Kind::Codecs(distributions) => micro::codecs::run(experiment.name, distributions, args),
        Kind::Calibrate(plan) => micro::calibrate::run(experiment.name, plan, args),
        Kind::Plan(plan) => plan::run(experiment.name, plan, args),
        Kind::Keys(cases) => keys::run(experiment.name, cases, args),
        Kind::Statements(cases) => statements::run(experiment.name, cases, args),
        Kind::References => references::run(experiment.name, args),
        Kind::Writers => writers::run(experiment.name, args),
        Kind::Tpcc => tpcc::run(experiment.name, args),
        Kind::Mixed => mixed::run(experiment.name, args),
        Kind::Recovery(cases) => recovery::run(experiment.name, cases, args),
        Kind::Commit(plan) => commit::run(experiment.name, plan, args),
        Kind::Checkpoints(plan) => checkpoints::run(experiment.name, plan, args),
        Kind::Windows(cases) => windows::run(experiment.name, cases, args),
        Kind::Rollup(cases) => rollup::run(experiment.name, cases, args),
        Kind::Closure(cases) => closure::run(experiment.name, cases, args),
        Kind::Joins => joins::run(experiment.name, &joins::JOINS, args),
        Kind::Shapes(set) => shapes::run(experiment.name, set, args),
        Kind::Probe(plan) => probe::run(experiment.name, plan, args),
        Kind::Wide(sets) => wide::run(experiment.name, sets, args),
        Kind::TopN(cases) => topn::run(experiment.name, cases, args),
        Kind::Scan(grids) => micro::scan::run(experiment.name, grids, args),
    }
}

/// An error of the command line whose hint also lists the experiments.
fn naming_experiments(error: Error) -> Error {
    let hint = format!("{}; experiments: {}", error.hint().unwrap_or_default(), names());
    error.with_hint(hint)
}

/// The names of all experiments, for messages.
fn names() -> String {
    EXPERIMENTS.map(|e| e.name).join(", ")
}

fn write_out(out: &mut dyn Write, text: &str) -> Result<()> {
    (out.write_all(text.as_bytes())).map_err(|e| io_error("cannot write the report".to_owned(), &e))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_experiment_runs_at_a_tiny_scale_factor() {
        // Experiments that read files have tests of their own, which make these.
        for experiment in EXPERIMENTS
            .iter()
            .filter(|e| !["flights", "public"].contains(&e.name))
        {
            let args = BenchArgs {
                scale_factor: 0.001,
                runs: 2,
                // All join graphs would take minutes.
                only: (experiment.name == "job").then(|| "3".to_owned()),
                ..whole::of_experiment(&BenchArgs::new(whole::ALL), experiment.name)
            };
            let report = report(&args).unwrap_or_else(|e| panic!("{}: {e}", experiment.name));
            assert!(!report.measurements().is_empty() && !report.ratios().is_empty());
            let missing = whole::missing(experiment.name, &report);
            assert!(missing.is_empty(), "{} lacks {missing:?}", experiment.name);
        }
    }

    #[test]
    fn a_wrong_command_line_is_told_the_experiments() {
        let error = run(&["tpch".to_owned(), "--speed".to_owned()]).expect_err("there is no such option");
        let hint = error.hint().expect("it has one");
        assert!(hint.starts_with("usage: frazil bench") && hint.contains("experiments: tpch, compression"));
    }

    #[test]
    fn an_experiment_that_is_not_there_is_refused() {
        let error = report(&BenchArgs::new("speed")).expect_err("there is none");
        assert!(
            error
                .hint()
                .is_some_and(|h| h.contains("tpch, compression, psma, vector"))
        );
    }
}
