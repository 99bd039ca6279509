//! The experiment `commit`: what a durable commit costs, by the number of clients. At the level of the log (`log_N` for N clients) each
//! client appends a record and waits until it is durable, again and again; at that of the database (`clients_N`) it inserts a row by a
//! prepared statement outside of a transaction. Beside them one connection of SQLite does so (`sqlite`: its write-ahead log,
//! synchronous=FULL), if the feature `sqlite` is compiled in. All lie in the system's temporary directory (`TMPDIR` chooses the disk), each
//! run in a place of its own. Cases take turns.

use crate::arguments::BenchArgs;
use crate::report::{Measurement, Report, Values};
use crate::scratch::Scratch;
use crate::statistics::Sample;
use frazil::{Connection, Database, Outcome, RawValue as Value};
use frazil_durability::wal::{DatabaseId, Wal, WalOptions};
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
    /// Bytes of a record, and of the text in a row.
    pub bytes: usize,
}

/// Who commits.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Who {
    /// So many clients append to a log.
    Log(usize),
    /// So many connections to a database insert rows.
    Frazil(usize),
    /// One connection of SQLite inserts rows.
    #[cfg(feature = "sqlite")]
    Sqlite,
}

impl Who {
    fn all(plan: &Plan) -> Vec<Who> {
        let ours = plan.clients.iter().map(|&n| Who::Frazil(n));
        let logs = plan.clients.iter().map(|&n| Who::Log(n));
        let all = ours.chain(logs);
        #[cfg(feature = "sqlite")]
        let all = std::iter::once(Who::Sqlite).chain(all);
        all.collect()
    }

    fn name(self) -> String {
        match self {
            Who::Log(clients) => format!("log_{clients}"),
            Who::Frazil(clients) => format!("clients_{clients}"),
            #[cfg(feature = "sqlite")]
            Who::Sqlite => "sqlite".to_string(),
        }
    }

    fn clients(self) -> usize {
        match self {
            Who::Log(clients) | Who::Frazil(clients) => clients,
            #[cfg(feature = "sqlite")]
            Who::Sqlite => 1,
        }
    }

    /// Has each client commit so often.
    fn run(self, each: usize, bytes: usize) -> Result<Committed> {
        let scratch = Scratch::new()?;
        match self {
            Who::Log(clients) => through_log(&scratch, clients, each, bytes),
            Who::Frazil(clients) => through_database(&scratch, clients, each, bytes),
            #[cfg(feature = "sqlite")]
            Who::Sqlite => through_sqlite(&scratch, each, bytes).map_err(failed),
        }
    }
}

/// What a run took.
struct Committed {
    seconds: f64,
    /// Seconds of each commit.
    waits: Vec<f64>,
    /// Groups that were written and syncs, where they are known.
    groups: Option<(f64, f64)>,
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
    let all = Who::all(plan);
    let mut cases: Vec<Case> = all.iter().map(|_| Case::default()).collect();
    for round in 0..=args.runs {
        for (case, who) in cases.iter_mut().zip(&all) {
            let commits = (plan.commits as f64 * args.scale_factor.min(1.0)) as usize;
            let each = (commits / who.clients()).max(4);
            let mut run = who.run(each, plan.bytes)?;
            if round == 0 {
                continue;
            }
            let commits = (who.clients() * each) as f64;
            run.waits.sort_by(f64::total_cmp);
            case.microseconds.push(1e6 * run.seconds / commits);
            case.rates.push(commits / run.seconds);
            case.late.push(1e6 * run.waits[run.waits.len() * 99 / 100]);
            if let Some((groups, syncs)) = run.groups {
                case.group.push(commits / groups);
                case.syncs.push(syncs / commits);
            }
        }
    }
    for (case, who) in cases.into_iter().zip(&all) {
        let mut add = |metric, unit, values: Vec<f64>| {
            if values.is_empty() {
                return;
            }
            report.add(Measurement {
                experiment: name,
                case: who.name(),
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
    for who in &all[1..] {
        report.compare(&who.name(), &all[0].name(), "us_per_commit");
    }
    Ok(report)
}

/// Runs clients, each with what `begin` makes for its number. It commits when it is called with the number of its commits so far, and is
/// called while `more` says so of that. Returns the seconds that all took, and those of each commit.
pub fn clients<C: FnMut(usize) -> Result<()>>(
    count: usize,
    more: impl Fn(usize) -> bool + Sync,
    begin: impl Fn(usize) -> Result<C> + Sync,
) -> Result<(f64, Vec<f64>)> {
    let barrier = Barrier::new(count + 1);
    let client = |number: usize| -> Result<Vec<f64>> {
        let begun = begin(number);
        barrier.wait();
        let mut commit = begun?;
        (0..)
            .take_while(|n| more(*n))
            .map(|n| {
                let begun = Instant::now();
                commit(n)?;
                Ok(begun.elapsed().as_secs_f64())
            })
            .collect()
    };
    std::thread::scope(|scope| {
        let client = &client;
        let running: Vec<_> = (0..count).map(|n| scope.spawn(move || client(n))).collect();
        barrier.wait();
        let begun = Instant::now();
        let mut waits = Vec::new();
        for client in running {
            waits.extend(client.join().map_err(|_| panicked())??);
        }
        Ok((begun.elapsed().as_secs_f64(), waits))
    })
}

fn through_log(scratch: &Scratch, count: usize, each: usize, bytes: usize) -> Result<Committed> {
    let (log, _) = Wal::open(
        Arc::new(SystemVfs::default()),
        scratch.path(),
        DatabaseId::random(),
        (Lsn(0), 0),
        WalOptions::default(),
        &mut |_| Ok(()),
    )?;
    log.wait(log.reserve(&vec![1; bytes])?.lsn)?;
    let before = log.counters();
    let (seconds, waits) = clients(
        count,
        |n| n < each,
        |_| {
            let (redo, log) = (vec![7; bytes], &log);
            Ok(move |_| log.wait(log.reserve(&redo)?.lsn))
        },
    )?;
    let after = log.counters();
    Ok(Committed {
        seconds,
        waits,
        groups: Some((
            (after.groups - before.groups) as f64,
            (after.syncs - before.syncs) as f64,
        )),
    })
}

const TABLE: &str = "create table t (k integer not null, v integer, name text)";

fn through_database(scratch: &Scratch, count: usize, each: usize, bytes: usize) -> Result<Committed> {
    let database = Database::open(scratch.path().join("frazil"))?;
    let connection = database.connect();
    connection.execute(TABLE)?;
    let before = counters(&connection)?;
    let (seconds, waits) = clients(
        count,
        |n| n < each,
        |number| {
            let connection = database.connect();
            connection.execute("set threads = 1")?;
            let insert = connection.prepare("insert into t values ($1, $2, $3)")?;
            let text = "x".repeat(bytes);
            Ok(move |n: usize| {
                let row = [
                    Value::Int((number * each + n) as i128),
                    Value::Int(7),
                    Value::Text(text.clone()),
                ];
                insert.execute(&row).map(drop)
            })
        },
    )?;
    let after = counters(&connection)?;
    Ok(Committed {
        seconds,
        waits,
        groups: Some((after.0 - before.0, after.1 - before.1)),
    })
}

/// Groups and syncs of a database's log.
fn counters(connection: &Connection) -> Result<(f64, f64)> {
    let response = connection.execute("select groups, syncs from frazil_wal")?;
    let row = match response.outcome {
        Outcome::Rows(rows) => rows.raw().next(),
        Outcome::Command { .. } => None,
    };
    match row.as_deref() {
        Some([Value::Int(groups), Value::Int(syncs)]) => Ok((*groups as f64, *syncs as f64)),
        _ => Err(Error::internal("frazil_wal has a row of two numbers")),
    }
}

#[cfg(feature = "sqlite")]
fn through_sqlite(scratch: &Scratch, each: usize, bytes: usize) -> rusqlite::Result<Committed> {
    let connection = rusqlite::Connection::open(scratch.path().join("sqlite"))?;
    connection.pragma_update(None, "journal_mode", "wal")?;
    connection.pragma_update(None, "synchronous", "full")?;
    connection.execute(TABLE, [])?;
    let mut insert = connection.prepare("insert into t values (?, ?, ?)")?;
    let text = "x".repeat(bytes);
    let (mut waits, begun) = (Vec::with_capacity(each), Instant::now());
    for n in 0..each {
        let began = Instant::now();
        insert.execute(rusqlite::params![n as i64, 7, text])?;
        waits.push(began.elapsed().as_secs_f64());
    }
    Ok(Committed {
        seconds: begun.elapsed().as_secs_f64(),
        waits,
        groups: None,
    })
}

#[cfg(feature = "sqlite")]
fn failed(error: rusqlite::Error) -> Error {
    Error::internal(format!("SQLite: {error}"))
}

fn panicked() -> Error {
    Error::new(SqlState::INTERNAL_ERROR, "a client of the benchmark panicked")
}
