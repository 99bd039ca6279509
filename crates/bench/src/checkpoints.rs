//! The experiment `checkpoints`: what background checkpoints cost those who commit meanwhile. Clients change a table of rows in memory, each
//! in turn inserting a row and updating a random one by its key, durably, once without a checkpoint and once with one after half of the
//! time: most chunks have changed by then, so that it writes most of the table. All lie in the system's temporary directory (`TMPDIR`
//! chooses the disk), each run in a place of its own. Cases take turns.

use crate::arguments::BenchArgs;
use crate::commit;
use crate::report::{Measurement, Report, Values};
use crate::scratch::Scratch;
use crate::statistics::Sample;
use frazil::{Connection, Database, Outcome, RawValue as Value};
use frazil_testkit::Random;
use frazil_types::{ColumnVector, Error, LogicalType, Result, RowBatch};
use std::time::{Duration, Instant};

/// What is changed, by how many, how long.
#[derive(Clone, Copy, Debug)]
pub struct Plan {
    /// Those who commit.
    pub clients: usize,
    /// Rows before they begin, at scale factor 1.
    pub rows: usize,
    /// Seconds of a run, at scale factor 1.
    pub seconds: f64,
}

/// Rows of a commit that fills the table.
const COMMIT: usize = 50_000;

/// The two cases, the baseline first.
const CASES: [&str; 2] = ["without", "with"];

/// What the runs of a case took.
#[derive(Default)]
struct Case {
    /// Commits a second, by run.
    rates: Vec<f64>,
    /// Microseconds a commit, by run: a run's time over its commits.
    microseconds: Vec<f64>,
    /// The longest 1 % of all waits begin here, in microseconds, by run.
    late: Vec<f64>,
    /// The longest wait in milliseconds, by run.
    longest: Vec<f64>,
    /// Checkpoints that ended, by run.
    checkpoints: Vec<f64>,
    /// What they wrote, in bytes, by run.
    bytes: Vec<f64>,
}

/// Runs the experiment. Cases take turns.
pub fn run(name: &'static str, plan: &Plan, args: &BenchArgs) -> Result<Report> {
    let mut report = Report::default();
    let mut cases = [Case::default(), Case::default()];
    for round in 0..args.runs {
        for turn in 0..CASES.len() {
            let at = (turn + round) % CASES.len();
            let mut run = change(plan, at == 1, args.scale_factor)?;
            run.waits.sort_by(f64::total_cmp);
            let (case, count) = (&mut cases[at], run.waits.len());
            case.rates.push(count as f64 / run.seconds);
            case.microseconds.push(1e6 * run.seconds / count as f64);
            case.late.push(1e6 * run.waits[count * 99 / 100]);
            case.longest.push(1e3 * run.waits[count - 1]);
            case.checkpoints.push(run.checkpoints.0);
            case.bytes.push(run.checkpoints.1);
        }
    }
    for (case, name_of_case) in cases.into_iter().zip(CASES) {
        let mut add = |metric, unit, values: Vec<f64>| {
            report.add(Measurement {
                experiment: name,
                case: name_of_case.to_string(),
                metric,
                unit,
                values: Values::Measured(Sample::new(values)),
            });
        };
        add("us_per_commit", "us", case.microseconds);
        add("commits_per_second", "1/s", case.rates);
        add("us_99_percent", "us", case.late);
        add("ms_longest", "ms", case.longest);
        add("checkpoints", "checkpoints", case.checkpoints);
        add("checkpoint_bytes", "B", case.bytes);
    }
    for metric in ["us_per_commit", "ms_longest"] {
        report.compare(CASES[1], CASES[0], metric);
    }
    Ok(report)
}

/// What a run took.
struct Changed {
    seconds: f64,
    /// Seconds of each commit.
    waits: Vec<f64>,
    /// Checkpoints that ended meanwhile, and the bytes they wrote.
    checkpoints: (f64, f64),
}

/// Has the clients change rows.
fn change(plan: &Plan, checkpoints: bool, scale_factor: f64) -> Result<Changed> {
    let scratch = Scratch::new()?;
    let database = Database::open(scratch.path().join("frazil"))?;
    let connection = database.connect();
    let rows = ((plan.rows as f64 * scale_factor.min(1.0)) as usize).max(plan.clients);
    fill(&connection, rows)?;
    let span = Duration::from_secs_f64(plan.seconds * scale_factor);
    let before = ended(&connection)?;
    if checkpoints {
        let timeout = span.as_millis().div_ceil(2);
        connection.execute(&format!("set checkpoint_timeout = '{timeout}ms'"))?;
    }
    let end = Instant::now() + span;
    let more = |n| n < 2 || Instant::now() < end;
    let (seconds, waits) = commit::clients(plan.clients, more, |client| {
        let connection = database.connect();
        connection.execute("set threads = 1")?;
        let insert = connection.prepare("insert into t values ($1, 1, $2)")?;
        let update = connection.prepare("update t set v = v + 1 where k = $1")?;
        let mut random = Random::new(client as u64);
        Ok(move |n: usize| match n % 2 {
            0 => {
                let key = rows + n / 2 * plan.clients + client;
                let name = Value::Text(format!("the name of the new row {key}"));
                insert.execute(&[Value::Int(key as i128), name]).map(drop)
            }
            _ => {
                let key = Value::Int(random.below(rows as u64).into());
                update.execute(&[key]).map(drop)
            }
        })
    })?;
    let after = ended(&connection)?;
    Ok(Changed {
        seconds,
        waits,
        checkpoints: (after.0 - before.0, after.1 - before.1),
    })
}

/// Makes the table, which a checkpoint has; from then on none comes by itself.
fn fill(connection: &Connection, rows: usize) -> Result<()> {
    connection.execute(
        "set max_wal_size = off; set checkpoint_timeout = off; set frazil.freeze_after = off; \
         create table t (k bigint primary key, v integer, name text)",
    )?;
    // In commits that fill no chunk: such chunks are frozen at once.
    for first in (0..rows).step_by(COMMIT) {
        let keys = first..rows.min(first + COMMIT);
        let column = |ty, value: &dyn Fn(usize) -> Value| {
            let values: Vec<Value> = keys.clone().map(value).collect();
            ColumnVector::from_values(ty, &values)
        };
        let columns = vec![
            column(LogicalType::BigInt, &|key| Value::Int(key as i128)),
            column(LogicalType::Integer, &|_| Value::Int(0)),
            column(LogicalType::Text, &|key| {
                Value::Text(format!("the name of the row with number {key}"))
            }),
        ];
        let mut appender = connection.appender("t")?;
        appender.append(RowBatch {
            columns,
            rows: keys.len(),
        })?;
        appender.finish()?;
    }
    connection.execute("checkpoint").map(drop)
}

/// Checkpoints that have ended, and the bytes they wrote.
fn ended(connection: &Connection) -> Result<(f64, f64)> {
    let sums = "select count(*), coalesce(sum(bytes), 0)::bigint from frazil_checkpoints where milliseconds is not null";
    let response = connection.execute(sums)?;
    let row = match response.outcome {
        Outcome::Rows(rows) => rows.raw().next(),
        Outcome::Command { .. } => None,
    };
    match row.as_deref() {
        Some([Value::Int(count), Value::Int(bytes)]) => Ok((*count as f64, *bytes as f64)),
        _ => Err(Error::internal("frazil_checkpoints has rows of numbers")),
    }
}
