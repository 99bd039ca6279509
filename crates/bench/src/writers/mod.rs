//! The experiment `writers`: sessions that write side by side, with the bounds that they are to keep.
//!
//! - `disjoint/…`: two threads that write tables of their own in one database, beside two processes with a database
//!   each. Both take turns with one thread, so that their speed-up is known.
//! - `durable/…`: single rows in a directory, by one thread and by eight.
//! - `beside_update/…`: single rows in memory and in a directory while another session updates all rows of a large
//!   table, beside the time before.
//! - `beside_large`: single rows of eight sessions in a directory while another one makes and commits a transaction of
//!   more than 64 MiB of redo.
//! - `section/…`: the share of its time that a commit holds the section in which commits take turns, and the commits
//!   of a group of the log, by clients.
//! - `chunks/…`: INSERT, UPDATE and DELETE by key in a table of 3,000 chunks, beside one of three chunks with as many
//!   rows.
//! - `old_view`: lookups and memory while a transaction of REPEATABLE READ is idle beside many updates of few rows.
//!
//! `--scale-factor S` scales each of them down, `--only NAME` runs those whose names begin so. All directories are in
//! the system's temporary one (`TMPDIR` chooses the disk).

mod beside_large;
mod beside_update;
mod chunks;
mod disjoint;
mod durable;
mod old_view;
mod peer;
mod plan;
mod section;
mod worker;

use crate::arguments::BenchArgs;
use crate::report::Report;
use frazil_types::Result;
pub use peer::{SERVE, serve};
use plan::Plan;

/// A part of the experiment: its name, and what measures it.
type Part = (&'static str, fn(&Plan, &mut Report) -> Result<()>);

const PARTS: [Part; 7] = [
    ("disjoint", disjoint::measure),
    ("durable", durable::measure),
    ("beside_update", beside_update::measure),
    ("beside_large", beside_large::measure),
    ("section", section::measure),
    ("chunks", chunks::measure),
    ("old_view", old_view::measure),
];

/// Runs the parts of the experiment that `args` names.
pub fn run(experiment: &'static str, args: &BenchArgs) -> Result<Report> {
    let plan = Plan {
        experiment,
        scale: args.scale_factor.min(1.0),
        runs: args.runs,
        program: args.program.clone(),
    };
    let only = args.only.as_deref().unwrap_or_default();
    let mut report = Report::default();
    for (name, measure) in PARTS {
        if name.starts_with(only) {
            measure(&plan, &mut report)?;
        }
    }
    Ok(report)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn parts_are_chosen_by_name() {
        let args = BenchArgs {
            scale_factor: 0.001,
            runs: 2,
            only: Some("section".to_owned()),
            ..BenchArgs::new("writers")
        };
        let report = run("writers", &args).unwrap_or_else(|e| panic!("{e}"));
        let mut cases = report.measurements().iter().map(|measured| &measured.case);
        assert!(cases.all(|case| case.starts_with("section/")));
    }
}
