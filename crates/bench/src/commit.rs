//! The experiment `commit`: what a durable commit costs at the level of the log, by the number of clients. Each client
//! appends a record and waits until it is durable, again and again; the log lies in the system's temporary directory
//! (`TMPDIR` chooses the disk), and each run has a log of its own. Files are prepared before the clock starts where they
//! suffice.

use crate::arguments::BenchArgs;
use crate::report::{Measurement, Report, Values};
use crate::scratch::Scratch;
use crate::statistics::Sample;
use frazil_durability::wal::{DatabaseId, Wal, WalCounters, WalOptions};
use frazil_storage::{Log, Lsn};
use frazil_types::{Error, Result, SqlState};
use frazil_vfs::SystemVfs;
use std::sync::{Arc, Barrier};
use std::time::Instant;

/// What is committed, and by how many.
#[derive(Clone, Copy, Debug)]
pub struct Plan {
    /// Numbers of clients, the baseline first.
    pub clients: &'static [usize],
    /// Commits of a run at scale factor 1, of all clients together.
    pub commits: usize,
    /// Bytes of a record: some row of some ten columns.
    pub record_bytes: usize,
}

/// What the runs of a case took.
#[derive(Default)]
struct Case {
    /// Microseconds a commit, by run: a run's time over its commits.
    microseconds: Vec<f64>,
    /// Commits a second, by run.
    rates: Vec<f64>,
    /// The longest 1 % of all waits begin here, in microseconds, by run.
    late: Vec<f64>,
    /// Commits of a group, by run.
    group: Vec<f64>,
    /// Syncs of a commit, by run.
    syncs: Vec<f64>,
}

/// Runs the experiment. Cases take turns.
pub fn run(name: &'static str, plan: &Plan, args: &BenchArgs) -> Result<Report> {
    let mut report = Report::default();
    let case_of = |clients: usize| format!("clients_{clients}");
    let mut cases: Vec<Case> = plan.clients.iter().map(|_| Case::default()).collect();
    for round in 0..=args.runs {
        for (case, &clients) in cases.iter_mut().zip(plan.clients) {
            let commits = (plan.commits as f64 * args.scale_factor.min(1.0)) as usize;
            let each = (commits / clients).max(4);
            let (seconds, mut waits, counters) = commit(clients, each, plan.record_bytes)?;
            if round == 0 {
                continue;
            }
            let all = (clients * each) as f64;
            waits.sort_by(f64::total_cmp);
            case.microseconds.push(1e6 * seconds / all);
            case.rates.push(all / seconds);
            case.late.push(1e6 * waits[waits.len() * 99 / 100]);
            case.group.push(all / counters.groups as f64);
            case.syncs.push(counters.syncs as f64 / all);
        }
    }
    for (case, &clients) in cases.into_iter().zip(plan.clients) {
        let mut add = |metric, unit, values| {
            report.add(Measurement {
                experiment: name,
                case: case_of(clients),
                metric,
                unit,
                values: Values::Measured(Sample::new(values)),
            });
        };
        add("us_per_commit", "us", case.microseconds);
        add("commits_per_second", "1/s", case.rates);
        add("us_99_percent", "us", case.late);
        add("commits_per_group", "commits", case.group);
        add("syncs_per_commit", "syncs", case.syncs);
    }
    for &clients in &plan.clients[1..] {
        report.compare(&case_of(clients), &case_of(plan.clients[0]), "us_per_commit");
    }
    Ok(report)
}

/// Has clients commit. Returns the seconds that took, those of each wait, and what the log did meanwhile.
fn commit(clients: usize, each: usize, bytes: usize) -> Result<(f64, Vec<f64>, WalCounters)> {
    let scratch = Scratch::new()?;
    let vfs = Arc::new(SystemVfs::default());
    let options = WalOptions::default();
    let start = (Lsn(0), 0);
    let (log, _) = Wal::open(
        vfs,
        scratch.path(),
        DatabaseId::random(),
        start,
        options,
        &mut |_| Ok(()),
    )?;
    log.wait(log.reserve(&vec![1; bytes])?.lsn)?;
    let before = log.counters();
    let barrier = Barrier::new(clients + 1);
    let client = || -> Result<Vec<f64>> {
        let redo = vec![7; bytes];
        barrier.wait();
        (0..each)
            .map(|_| {
                let begun = Instant::now();
                log.wait(log.reserve(&redo)?.lsn)?;
                Ok(begun.elapsed().as_secs_f64())
            })
            .collect()
    };
    let (seconds, waits) = std::thread::scope(|scope| {
        let clients: Vec<_> = (0..clients).map(|_| scope.spawn(client)).collect();
        barrier.wait();
        let begun = Instant::now();
        let mut waits = Vec::with_capacity(clients.len() * each);
        for client in clients {
            waits.extend(client.join().map_err(|_| panicked())??);
        }
        Ok::<_, Error>((begun.elapsed().as_secs_f64(), waits))
    })?;
    let after = log.counters();
    let counters = WalCounters {
        records: after.records - before.records,
        groups: after.groups - before.groups,
        syncs: after.syncs - before.syncs,
        bytes: after.bytes - before.bytes,
    };
    Ok((seconds, waits, counters))
}

fn panicked() -> Error {
    Error::new(SqlState::INTERNAL_ERROR, "a client of the benchmark panicked")
}
