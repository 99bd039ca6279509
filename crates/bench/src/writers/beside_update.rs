//! Single rows beside an UPDATE of all rows of a large table.

use super::plan::Plan;
use super::worker::{Unit, Worker};
use crate::bound::Bound;
use crate::report::Report;
use crate::scratch::Scratch;
use frazil::Database;
use frazil_testkit::RaisedAtEnd;
use frazil_types::{Error, Result};
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

/// Rows of the large table.
const ROWS: usize = 5_000_000;
/// Least commits of a measurement.
const LEAST: usize = 20;
/// Time in which commits are counted before the UPDATE.
const QUIET: Duration = Duration::from_secs(2);

/// Measures in memory and in a directory, where the UPDATE is more than a record of the log may have.
pub fn measure(plan: &Plan, report: &mut Report) -> Result<()> {
    for place in ["memory", "directory"] {
        let (mut quiet, mut beside, mut late, mut longest) = (Vec::new(), Vec::new(), Vec::new(), Vec::new());
        for _ in 0..plan.runs {
            let scratch = Scratch::new()?;
            let database = match place {
                "memory" => Database::memory()?,
                _ => Database::open(scratch.path().join("frazil"))?,
            };
            let (before, mut meanwhile) = commits(plan, &database)?;
            let mean = |waits: &[f64]| 1e6 * waits.iter().sum::<f64>() / waits.len() as f64;
            quiet.push(mean(&before));
            beside.push(mean(&meanwhile));
            meanwhile.sort_by(f64::total_cmp);
            late.push(1e3 * meanwhile[meanwhile.len() * 99 / 100]);
            longest.push(1e3 * meanwhile[meanwhile.len() - 1]);
        }
        let names = ["quiet", "beside"].map(|case| format!("beside_update/{place}/{case}"));
        plan.add(report, &names[0], ("us_per_commit", "us"), quiet);
        plan.add(report, &names[1], ("us_per_commit", "us"), beside);
        let (worst_late, worst) = (most(&late), most(&longest));
        plan.add(report, &names[1], ("ms_99_percent", "ms"), late);
        plan.add(report, &names[1], ("ms_longest", "ms"), longest);
        report.compare_pairs(&names[1], &names[0], "us_per_commit");
        let name = format!("beside_update/{place}");
        Bound::Least(0.4).judge_last_ratio(report, &format!("{name}, share of the quiet rate"));
        Bound::Most(20.0).judge(report, &format!("{name}, 99 % of commits"), worst_late, " ms");
        Bound::Most(100.0).judge(report, &format!("{name}, longest commit"), worst, " ms");
    }
    Ok(())
}

fn most(values: &[f64]) -> f64 {
    values.iter().copied().fold(0.0, f64::max)
}

/// Seconds of each commit of a single row before an UPDATE of all rows of another table, and while the UPDATE runs.
fn commits(plan: &Plan, database: &Database) -> Result<(Vec<f64>, Vec<f64>)> {
    let rows = plan.scaled(ROWS, 5_000);
    let large = database.connect();
    large.execute(&format!(
        "set threads = 1; create table large (k bigint primary key, v integer);
         insert into large select i, 0 from generate_series(1, {rows}) as s (i)"
    ))?;
    let mut worker = Worker::new(database, 0)?;
    let mut timed = |more: &dyn Fn() -> bool| -> Result<Vec<f64>> {
        let mut waits = Vec::new();
        while waits.len() < LEAST || more() {
            let begun = Instant::now();
            worker.run(Unit::Row, 1)?;
            waits.push(begun.elapsed().as_secs_f64());
        }
        Ok(waits)
    };
    let end = Instant::now() + QUIET.mul_f64(plan.scale);
    let before = timed(&|| Instant::now() < end)?;
    let is_over = AtomicBool::new(false);
    let is_over = &is_over;
    let meanwhile = std::thread::scope(|scope| {
        let update = scope.spawn(move || {
            let _raised = RaisedAtEnd(is_over);
            large.execute("update large set v = v + 1").map(drop)
        });
        let waits = timed(&|| !is_over.load(Ordering::Acquire));
        let updated = update.join();
        updated.map_err(|_| Error::internal("the update panicked"))??;
        waits
    })?;
    Ok((before, meanwhile))
}
