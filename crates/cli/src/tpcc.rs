//! `frazil tpcc`: makes a TPC-C database if the directory has none, runs its transactions, shows their number and
//! times, and checks the consistency conditions.

use crate::arguments::TpccOptions;
use crate::backend::Backend;
use crate::complaint::Complaint;
use crate::opening::{self, Shown};
use crate::{interrupt, progress};
use frazil::{Access, Cancel, Connection, Database, Error, FileAccess, SqlState};
use frazil_tpcc::{
    CONDITIONS, Driven, FrazilEngine, Kind, Mix, Pace, Plan, Population, TABLES, Until, Watch,
    broken_conditions, drive, load,
};
use std::sync::atomic::AtomicBool;
use std::sync::mpsc::{RecvTimeoutError, channel};
use std::time::{Duration, Instant, SystemTime};

/// The time between two looks at the terminals.
const LOOK: Duration = Duration::from_millis(100);

/// Runs the command.
pub fn run(options: &TpccOptions) -> Result<(), Complaint> {
    interrupt::install();
    let database = opening::open(Some(&options.directory), Access::Write, &FileAccess::Off)?;
    let connection = database.connect();
    let population = population(&connection, options)?;
    if options.freeze {
        freeze(&connection)?;
    }
    if !options.time.is_zero() {
        show(&driven(&database, &population, options)?);
    }
    let checked = check(&connection);
    drop(connection);
    database.close()?;
    checked
}

/// The sizes of the directory's database, which is made if there is none.
fn population(connection: &Connection, options: &TpccOptions) -> Result<Population, Complaint> {
    let found = match Population::of(connection) {
        Ok(found) => found,
        Err(error) if error.state() == SqlState::UNDEFINED_TABLE => return make(connection, options),
        Err(error) => return Err(Complaint::from(error)),
    };
    match options.warehouses {
        Some(wanted) if wanted != found.warehouses => {
            let message = format!(
                "{} has {}, not {wanted}",
                options.directory.display(),
                counted(found.warehouses)
            );
            Err(Complaint::from(
                Error::new(SqlState::INVALID_PARAMETER, message)
                    .with_hint("leave --warehouses out, or choose another directory"),
            ))
        }
        _ => Ok(found),
    }
}

fn counted(warehouses: i32) -> String {
    match warehouses {
        1 => "1 warehouse".to_owned(),
        many => format!("{many} warehouses"),
    }
}

/// Makes the tables. Ctrl-C stops it, and leaves none of them.
fn make(connection: &Connection, options: &TpccOptions) -> Result<Population, Complaint> {
    let population = Population::reduced(options.warehouses.unwrap_or(1), options.reduced);
    println!("Making TPC-C with {}", counted(population.warehouses));
    let (cancel, shown) = (Cancel::new(), Shown::new());
    let (mut before, mut begun) = (0, Instant::now());
    let made = interrupt::cancelling(interrupt::of(&cancel), || {
        load(connection, &population, &mut |loading| {
            let name = loading.table.name();
            shown.show(before + loading.rows, population.rows(), name);
            if loading.is_complete {
                shown.clear();
                let seconds = begun.elapsed().as_secs_f64();
                println!("{name:<10} {:>12} rows {seconds:>8.2} s", loading.rows);
                (before, begun) = (before + loading.rows, Instant::now());
            }
            cancel.check()
        })
    });
    shown.clear();
    made?;
    Ok(population)
}

fn freeze(connection: &Connection) -> Result<(), Complaint> {
    for table in TABLES {
        let sql = format!("freeze table {}", table.name());
        interrupt::cancelling(connection.canceler(), || {
            progress::watching(Some(connection.progress()), &AtomicBool::new(false), || {
                connection.execute(&sql)
            })
        })?;
    }
    Ok(())
}

/// Runs the transactions until their time is over or Ctrl-C comes.
fn driven(database: &Database, population: &Population, options: &TpccOptions) -> Result<Driven, Complaint> {
    let since_1970 = SystemTime::now().duration_since(SystemTime::UNIX_EPOCH);
    let now = since_1970.map_or(0, |time| i64::try_from(time.as_micros()).unwrap_or(0));
    let plan = Plan {
        terminals: options.terminals.into(),
        mix: if options.read_only {
            Mix::ReadOnly
        } else {
            Mix::Standard
        },
        pace: if options.keying {
            Pace::Keying
        } else {
            Pace::AtOnce
        },
        until: Until::Time(options.time),
        seed: now.unsigned_abs(),
        now,
    };
    let (watch, engine, shown) = (Watch::default(), FrazilEngine::new(database), Shown::new());
    let (cancel, begun) = (Cancel::new(), Instant::now());
    let driven = std::thread::scope(|scope| {
        let (over, is_over) = channel::<()>();
        let (watch, shown, interrupted) = (&watch, &shown, &cancel);
        scope.spawn(move || {
            while is_over.recv_timeout(LOOK) == Err(RecvTimeoutError::Timeout) {
                if interrupted.check().is_err() {
                    watch.stop();
                }
                let seconds = begun.elapsed().as_secs();
                let rate = watch.done() as f64 / begun.elapsed().as_secs_f64();
                let message = format!("{} transactions, {rate:.0} per second", watch.done());
                shown.show(seconds, plan_seconds(&plan), &message);
            }
        });
        let driven = interrupt::cancelling(interrupt::of(&cancel), || {
            drive(&engine, population, &plan, watch)
        });
        drop(over);
        driven
    });
    shown.clear();
    Ok(driven?)
}

/// The seconds that a plan takes.
fn plan_seconds(plan: &Plan) -> u64 {
    match plan.until {
        Until::Time(time) => time.as_secs(),
        Until::Transactions(_) => 0,
    }
}

/// Prints numbers and times by kind.
fn show(driven: &Driven) {
    println!(
        "{:<13} {:>10} {:>10} {:>10} {:>10} {:>10} {:>10} {:>12} {:>9}",
        "transaction", "count", "per second", "p50", "p99", "p99.9", "longest", "rolled back", "repeated"
    );
    let seconds = driven.elapsed.as_secs_f64();
    for kind in Kind::ALL {
        let counts = driven.tally.of(kind);
        let times = &counts.latencies;
        if times.count() == 0 {
            continue;
        }
        let [p50, p99, p99_9] = [0.5, 0.99, 0.999].map(|share| milliseconds(times.percentile(share)));
        println!(
            "{:<13} {:>10} {:>10.1} {p50:>10} {p99:>10} {p99_9:>10} {:>10} {:>12} {:>9}",
            kind.name(),
            times.count(),
            times.count() as f64 / seconds,
            milliseconds(times.longest()),
            counts.rolled_back,
            counts.conflicts + counts.deadlocks
        );
    }
    let orders = driven.tally.of(Kind::NewOrder).latencies.count();
    println!(
        "{} transactions in {seconds:.1} s: {:.0} per second, {:.0} new orders per minute",
        driven.tally.transactions(),
        driven.rate(),
        orders as f64 * 60.0 / seconds
    );
}

fn milliseconds(time: Duration) -> String {
    format!("{:.3} ms", time.as_secs_f64() * 1e3)
}

/// Checks the conditions. 23514 if one is broken.
fn check(connection: &Connection) -> Result<(), Complaint> {
    let broken = interrupt::cancelling(connection.canceler(), || broken_conditions(connection))?;
    for broken in &broken {
        println!("BROKEN: {broken}");
    }
    if broken.is_empty() {
        println!("The {CONDITIONS} consistency conditions hold.");
        return Ok(());
    }
    let message = format!(
        "{} of {CONDITIONS} consistency conditions are broken",
        broken.len()
    );
    Err(Complaint::from(Error::new(SqlState::CHECK_VIOLATION, message)))
}
