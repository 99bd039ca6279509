//! A transaction of REPEATABLE READ that is idle beside many updates of few rows.

use super::plan::Plan;
use crate::bound::Bound;
use crate::memory;
use crate::report::Report;
use frazil::{Connection, Database, Outcome, Statement};
use frazil_testkit::Random;
use frazil_types::{Error, Result, Value};
use std::time::{Duration, Instant};

/// Rows of the table.
const ROWS: usize = 1_000;
/// Updates of single rows.
const UPDATES: usize = 2_000_000;
/// Lookups of a run.
const LOOKUPS: usize = 100_000;
/// Time until everything is back after the end of the view.
const BACK: Duration = Duration::from_secs(5);
/// Bytes of a unit of memory.
const MEGABYTE: f64 = 1024.0 * 1024.0;

/// Measures lookups before, beside the view and after its end.
pub fn measure(plan: &Plan, report: &mut Report) -> Result<()> {
    let names = ["quiet", "beside", "by_the_view", "after"].map(|case| format!("old_view/{case}"));
    let mut taken: [Vec<f64>; 4] = Default::default();
    let (mut grown, mut kept, mut backs) = (Vec::new(), Vec::new(), Vec::new());
    for round in 0..plan.runs {
        let run = run(plan, round as u64)?;
        taken
            .iter_mut()
            .zip(run.lookups)
            .for_each(|(all, us)| all.push(us));
        grown.extend(run.grown);
        kept.push(run.waiting_after);
        backs.push(run.back);
    }
    for (name, taken) in names.iter().zip(taken) {
        plan.add(report, name, ("us_per_lookup", "us"), taken);
    }
    report.compare_pairs(&names[1], &names[0], "us_per_lookup");
    Bound::Most(3.0).judge_last_ratio(report, "old_view, lookups beside the view over those before");
    report.compare_pairs(&names[3], &names[0], "us_per_lookup");
    let most = |values: &[f64]| values.iter().copied().fold(0.0, f64::max);
    if !grown.is_empty() {
        Bound::Most(200.0).judge(
            report,
            "old_view, memory that the view keeps",
            most(&grown),
            " MB",
        );
        plan.add(report, &names[1], ("more_memory", "MB"), grown);
    }
    Bound::Most(0.0).judge(report, "old_view, index entries that stay", most(&kept), "");
    Bound::Most(BACK.as_secs_f64()).judge(report, "old_view, until they are back", most(&backs), " s");
    plan.add(report, &names[3], ("s_until_back", "s"), backs);
    Ok(())
}

/// The figures of a run.
struct Run {
    /// Microseconds of a lookup: before, beside the view, by the view, and after its end.
    lookups: [f64; 4],
    /// Megabytes of resident memory more than before the updates. `None` if the system does not tell.
    grown: Option<f64>,
    /// Entries of deleted rows in the index after the end.
    waiting_after: f64,
    /// Seconds until there are none, at most [`BACK`].
    back: f64,
}

fn run(plan: &Plan, seed: u64) -> Result<Run> {
    let database = Database::memory()?;
    let (session, view) = (database.connect(), database.connect());
    session.execute(&format!(
        "set threads = 1; create table t (k bigint primary key, v integer, name text);
         insert into t select i, 0, 'a short name' from generate_series(0, {}) as s (i)",
        ROWS - 1
    ))?;
    view.execute("set threads = 1; begin isolation level repeatable read; select sum(v) from t")?;
    let lookup = session.prepare("select v from t where k = $1")?;
    let old_lookup = view.prepare("select v from t where k = $1")?;
    let update = session.prepare("update t set v = v + 1 where k = $1")?;
    let mut random = Random::new(seed);
    let lookups = plan.scaled(LOOKUPS, 20);
    let quiet = timed(&lookup, &mut random, lookups)?;
    let before = memory::resident();
    for _ in 0..plan.scaled(UPDATES, ROWS) {
        let key = random.below(ROWS as u64);
        update.execute(&[Value::Int(key.into())])?;
    }
    let after = memory::resident();
    let beside = timed(&lookup, &mut random, lookups)?;
    let by_the_view = timed(&old_lookup, &mut random, lookups)?;
    if number(&view, "select sum(v) from t")? != 0 {
        return Err(Error::internal("the old view has changed"));
    }
    view.execute("commit")?;
    let begun = Instant::now();
    let waiting = || number(&session, "select sum(waiting) from frazil_indexes");
    while waiting()? > 0 && begun.elapsed() < BACK {
        // A commit takes entries out that nobody sees any more.
        update.execute(&[Value::Int(0)])?;
    }
    let back = begun.elapsed().as_secs_f64();
    let grown = before.zip(after);
    Ok(Run {
        lookups: [quiet, beside, by_the_view, timed(&lookup, &mut random, lookups)?],
        grown: grown.map(|(before, after)| after.saturating_sub(before) as f64 / MEGABYTE),
        waiting_after: waiting()? as f64,
        back,
    })
}

/// Microseconds of a lookup of a random row.
fn timed(lookup: &Statement, random: &mut Random, count: usize) -> Result<f64> {
    let keys: Vec<[Value; 1]> = (0..count)
        .map(|_| [Value::Int(random.below(ROWS as u64).into())])
        .collect();
    let begun = Instant::now();
    for key in &keys {
        lookup.execute(key)?;
    }
    Ok(1e6 * begun.elapsed().as_secs_f64() / count as f64)
}

/// The number that a query returns.
fn number(connection: &Connection, sql: &str) -> Result<i128> {
    let row = match connection.execute(sql)?.outcome {
        Outcome::Rows(rows) => rows.raw().next(),
        Outcome::Command { .. } => None,
    };
    match row.as_deref() {
        Some([Value::Int(number)]) => Ok(*number),
        _ => Err(Error::internal("a query returns a number")),
    }
}
