//! Single rows of eight sessions in a directory while another session makes a transaction of more than 64 MiB of redo,
//! and commits it.

use super::plan::Plan;
use super::worker::{Unit, Worker};
use crate::bound::Bound;
use crate::report::Report;
use crate::scratch::Scratch;
use frazil::Database;
use frazil_testkit::RaisedAtEnd;
use frazil_types::{Error, Result};
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Instant;

/// Rows of the large transaction, with 1,000 bytes each.
const ROWS: usize = 80_000;
/// Rows of one of its statements.
const STATEMENT: usize = 1_000;
/// Sessions that commit single rows.
const SESSIONS: usize = 8;

/// Measures the longest of the commits of single rows, and the one that 99 % of them do not exceed.
pub fn measure(plan: &Plan, report: &mut Report) -> Result<()> {
    let (mut late, mut longest) = (Vec::new(), Vec::new());
    for _ in 0..plan.runs {
        let scratch = Scratch::new()?;
        let database = Database::open(scratch.path().join("frazil"))?;
        let mut waits = commits(plan, &database)?;
        waits.sort_by(f64::total_cmp);
        late.push(1e3 * waits[waits.len() * 99 / 100]);
        longest.push(1e3 * waits[waits.len() - 1]);
    }
    let worst = longest.iter().copied().fold(0.0, f64::max);
    plan.add(report, "beside_large", ("ms_99_percent", "ms"), late);
    plan.add(report, "beside_large", ("ms_longest", "ms"), longest);
    Bound::Most(100.0).judge(report, "beside_large, longest commit of a row", worst, " ms");
    Ok(())
}

/// Seconds of each commit of a single row beside the large transaction.
fn commits(plan: &Plan, database: &Database) -> Result<Vec<f64>> {
    let rows = plan.scaled(ROWS, STATEMENT);
    let large = database.connect();
    large.execute(&format!(
        "set threads = 1; create table large (k bigint primary key, v text);
         insert into large select i, '' from generate_series(1, {rows}) as s (i)"
    ))?;
    let mut workers: Vec<Worker> = (0..SESSIONS)
        .map(|number| Worker::new(database, number))
        .collect::<Result<_>>()?;
    let is_over = AtomicBool::new(false);
    let is_over = &is_over;
    std::thread::scope(|scope| {
        let running: Vec<_> = (workers.iter_mut())
            .map(|worker| scope.spawn(move || single_rows(worker, is_over)))
            .collect();
        let written = scope.spawn(move || {
            let _raised = RaisedAtEnd(is_over);
            large.execute("begin")?;
            for first in (1..=rows).step_by(STATEMENT) {
                let last = first + STATEMENT - 1;
                large.execute(&format!(
                    "update large set v = repeat('x', 1000) where k between {first} and {last}"
                ))?;
            }
            large.execute("commit").map(drop)
        });
        let panicked = |_| Error::internal("a session of the benchmark panicked");
        written.join().map_err(panicked)??;
        let mut waits = Vec::new();
        for worker in running {
            waits.extend(worker.join().map_err(panicked)??);
        }
        Ok(waits)
    })
}

/// Seconds of each commit of a session, until the large transaction is over.
fn single_rows(worker: &mut Worker, is_over: &AtomicBool) -> Result<Vec<f64>> {
    let mut waits = Vec::new();
    while waits.is_empty() || !is_over.load(Ordering::Acquire) {
        let begun = Instant::now();
        worker.run(Unit::Row, 1)?;
        waits.push(begun.elapsed().as_secs_f64());
    }
    Ok(waits)
}
