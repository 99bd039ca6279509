//! Durable single rows by one thread and by eight.

use super::plan::Plan;
use super::worker::{Unit, Worker};
use crate::bound::Bound;
use crate::commit::clients;
use crate::report::Report;
use crate::scratch::Scratch;
use frazil::Database;
use frazil_types::Result;

/// Commits of a run, of all threads together.
const COMMITS: usize = 8_000;
/// Threads of the case.
const THREADS: usize = 8;

const METRIC: (&str, &str) = ("us_per_commit", "us");

/// Measures both numbers of threads, in turns.
pub fn measure(plan: &Plan, report: &mut Report) -> Result<()> {
    let cases = [1, THREADS];
    let mut taken = [Vec::new(), Vec::new()];
    for round in 0..=plan.runs {
        for turn in 0..cases.len() {
            let at = (turn + round) % cases.len();
            let each = plan.scaled(COMMITS, 2 * THREADS) / cases[at];
            let seconds = commits(cases[at], each)?;
            if round > 0 {
                taken[at].push(1e6 * seconds / (each * cases[at]) as f64);
            }
        }
    }
    let names = cases.map(|threads| format!("durable/threads_{threads}"));
    for (name, taken) in names.iter().zip(taken) {
        plan.add(report, name, METRIC, taken);
    }
    report.compare_pairs(&names[1], &names[0], METRIC.0);
    Bound::Least(3.0).judge_last_ratio(report, "durable, rate of eight threads over that of one");
    Ok(())
}

/// Seconds in which threads commit single rows in a new directory.
fn commits(threads: usize, each: usize) -> Result<f64> {
    let scratch = Scratch::new()?;
    let database = Database::open(scratch.path().join("frazil"))?;
    let begin = |number| {
        let mut worker = Worker::new(&database, number)?;
        Ok(move |_| worker.run(Unit::Row, 1))
    };
    clients(threads, |n| n < each, begin).map(|(seconds, _)| seconds)
}
