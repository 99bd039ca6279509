//! The section in which commits take turns, and groups of the log, by the number of clients.

use super::plan::Plan;
use super::worker::{Unit, Worker};
use crate::bound::Bound;
use crate::commit::clients;
use crate::report::Report;
use crate::scratch::Scratch;
use frazil::{Database, Outcome};
use frazil_types::{Error, Result, Value};

/// Numbers of clients.
const CLIENTS: [usize; 7] = [1, 2, 4, 8, 16, 32, 64];
/// Commits of a run in memory, and in a directory.
const COMMITS: [usize; 2] = [200_000, 8_000];

/// Measures all numbers of clients, in turns.
pub fn measure(plan: &Plan, report: &mut Report) -> Result<()> {
    let mut cases: Vec<[Vec<f64>; 5]> = CLIENTS.iter().map(|_| Default::default()).collect();
    for round in 0..=plan.runs {
        for (case, &count) in cases.iter_mut().zip(&CLIENTS) {
            let memory = in_memory(count, plan.scaled(COMMITS[0], 2 * count) / count)?;
            let group = in_directory(count, plan.scaled(COMMITS[1], 2 * count) / count)?;
            if round > 0 {
                let values = memory.into_iter().chain([group]);
                case.iter_mut()
                    .zip(values)
                    .for_each(|(case, value)| case.push(value));
            }
        }
    }
    let mut share_of_one = 0.0;
    for (case, count) in cases.into_iter().zip(CLIENTS) {
        let name = format!("section/clients_{count}");
        let [us, held, waited, share, group] = case;
        if count == 1 {
            share_of_one = share.iter().copied().fold(0.0, f64::max);
        }
        plan.add(report, &name, ("us_per_commit", "us"), us);
        plan.add(report, &name, ("us_in_section", "us"), held);
        plan.add(report, &name, ("us_before_section", "us"), waited);
        plan.add(report, &name, ("percent_in_section", "%"), share);
        plan.add(report, &name, ("commits_per_group", "commits"), group);
        if count > 1 {
            report.compare_pairs(&name, "section/clients_1", "us_per_commit");
        }
    }
    Bound::Most(35.0).judge(
        report,
        "section, share of a single-row commit of one client",
        share_of_one,
        " %",
    );
    Ok(())
}

/// Microseconds of a commit of a client in memory, those in the section and those before it, and the percentage of all
/// time in which some commit was in the section.
fn in_memory(count: usize, each: usize) -> Result<[f64; 4]> {
    let database = Database::memory()?;
    let before = database.time_commits();
    let (seconds, waits) = clients(count, |n| n < each, |number| client(&database, number))?;
    let after = database.time_commits();
    let commits = (after.commits - before.commits).max(1) as f64;
    let held = (after.held - before.held).as_secs_f64();
    let waited = (after.waited - before.waited).as_secs_f64();
    Ok([
        1e6 * waits.iter().sum::<f64>() / waits.len() as f64,
        1e6 * held / commits,
        1e6 * waited / commits,
        100.0 * held / seconds,
    ])
}

/// Commits of a group of the log.
fn in_directory(count: usize, each: usize) -> Result<f64> {
    let scratch = Scratch::new()?;
    let database = Database::open(scratch.path().join("frazil"))?;
    clients(count, |n| n < each, |number| client(&database, number))?;
    let response = database
        .connect()
        .execute("select records::double precision / groups from frazil_wal")?;
    let row = match response.outcome {
        Outcome::Rows(rows) => rows.raw().next(),
        Outcome::Command { .. } => None,
    };
    match row.as_deref() {
        Some([Value::Double(commits)]) => Ok(*commits),
        _ => Err(Error::internal("frazil_wal has a row of numbers")),
    }
}

fn client(database: &Database, number: usize) -> Result<impl FnMut(usize) -> Result<()> + use<>> {
    let mut worker = Worker::new(database, number)?;
    Ok(move |_| worker.run(Unit::Row, 1))
}
