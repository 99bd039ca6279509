//! Two threads that write tables of their own, beside two processes with a database each.

use super::peer::Peer;
use super::plan::Plan;
use super::worker::{Unit, Worker};
use crate::bound::Bound;
use crate::report::Report;
use frazil::Database;
use frazil_types::{Error, Result};
use std::time::Instant;

/// Statements of a run of one worker.
const STATEMENTS: usize = 200_000;

const METRIC: (&str, &str) = ("us_per_statement", "us");

/// Measures both units.
pub fn measure(plan: &Plan, report: &mut Report) -> Result<()> {
    for (unit, least) in [(Unit::TwentyStatements, 0.8), (Unit::Row, 0.55)] {
        measure_unit(plan, unit, least, report)?;
    }
    Ok(())
}

fn measure_unit(plan: &Plan, unit: Unit, least: f64, report: &mut Report) -> Result<()> {
    let each = plan.scaled(STATEMENTS / unit.statements(), 4);
    let own = Database::memory()?;
    let mut one = [Worker::new(&own, 0)?];
    let shared = Database::memory()?;
    let mut threads = [Worker::new(&shared, 0)?, Worker::new(&shared, 1)?];
    let start = || Peer::start(plan.program.as_deref(), unit);
    let mut peers = [start()?, start()?];
    let mut taken = [Vec::new(), Vec::new(), Vec::new()];
    for round in 0..=plan.runs {
        for turn in 0..taken.len() {
            let at = (turn + round) % taken.len();
            let seconds = match at {
                0 => together(&mut one, |worker| worker.run(unit, each))?,
                1 => together(&mut threads, |worker| worker.run(unit, each))?,
                _ => together(&mut peers, |peer| peer.run(each))?,
            };
            let workers = if at == 0 { 1 } else { 2 };
            if round > 0 {
                taken[at].push(1e6 * seconds / (workers * each * unit.statements()) as f64);
            }
        }
    }
    let baseline = match plan.program {
        Some(_) => "two_processes",
        None => "two_databases",
    };
    let [one_case, threads_case, peers_case] =
        ["one_thread", "two_threads", baseline].map(|case| format!("disjoint/{}/{case}", unit.name()));
    for (case, taken) in [&one_case, &threads_case, &peers_case].into_iter().zip(taken) {
        plan.add(report, case, METRIC, taken);
    }
    report.compare_pairs(&threads_case, &one_case, METRIC.0);
    report.compare_pairs(&peers_case, &one_case, METRIC.0);
    report.compare_pairs(&threads_case, &peers_case, METRIC.0);
    let name = format!(
        "disjoint/{}, speed-up of two threads over that of {baseline}",
        unit.name()
    );
    Bound::Least(least).judge_last_ratio(report, &name);
    Ok(())
}

/// Runs all workers at the same time, and returns the seconds until the last one has ended.
fn together<W: Send>(workers: &mut [W], run: impl Fn(&mut W) -> Result<()> + Sync) -> Result<f64> {
    let begun = Instant::now();
    std::thread::scope(|scope| {
        let run = &run;
        let running: Vec<_> = (workers.iter_mut())
            .map(|worker| scope.spawn(move || run(worker)))
            .collect();
        running.into_iter().try_for_each(|worker| {
            let ended = worker.join();
            ended.map_err(|_| Error::internal("a worker of the benchmark panicked"))?
        })
    })?;
    Ok(begun.elapsed().as_secs_f64())
}
