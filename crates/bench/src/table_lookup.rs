//! The experiment `lookup_table`, or `lookup --table`: `select * from customer where c_custkey = $1` for random keys (Data Blocks,
//! table 3), prepared, on one thread. TPC-H's customer has its rows in the order of their keys, or shuffled; they are hot, or frozen
//! in Data Blocks, of which the SMAs alone are used, or PSMAs, too; they are found by the index of the primary key, or by a scan.
//!
//! The paper has 15 M rows; scale factor 10 has 1.5 M.

use crate::arguments::BenchArgs;
use crate::frazil_engine::fill;
use crate::report::{Measurement, Report, Values};
use crate::statistics::Sample;
use frazil::{Connection, Database, Outcome, Statement};
use frazil_testkit::Random;
use frazil_tpch::Table;
use frazil_types::{Error, Result, Value};
use std::hint::black_box;
use std::time::Instant;

/// The statement; `TABLE` stands for a table.
const LOOKUP: &str = "select * from TABLE where c_custkey = $1";
/// Lookups of a run by the index at scale factor 1.
const BY_INDEX: usize = 20_000;
/// Rows that the scans of a run read, or skip, at any scale factor: as many lookups as that makes.
const SCANNED_ROWS: usize = 30_000_000;
/// Most lookups of a run by scans.
const MOST_SCANS: usize = 2_000;
/// A permutation of the keys: powers of 48271 modulo 2^31 - 1 are a generator of random numbers.
const SHUFFLED: &str = "c_custkey::bigint * 48271 % 2147483647";

/// A form of the rows.
#[derive(Clone, Copy, Debug)]
pub struct Form {
    /// Its name.
    pub name: &'static str,
    /// Whether they lie in Data Blocks.
    pub frozen: bool,
    /// Value of `frazil.scan`.
    pub scan: &'static str,
}

/// The lines of the table.
pub const FORMS: &[Form] = &[
    Form {
        name: "hot_compiled",
        frozen: false,
        scan: "compiled",
    },
    Form {
        name: "hot",
        frozen: false,
        scan: "sarg",
    },
    Form {
        name: "blocks",
        frozen: true,
        scan: "sma",
    },
    Form {
        name: "blocks_psma",
        frozen: true,
        scan: "psma",
    },
];

const ORDERS: [&str; 2] = ["ordered", "shuffled"];
const WAYS: [(&str, &str); 2] = [("index", "on"), ("scan", "off")];

/// A case with what it runs on.
struct Running {
    name: String,
    statement: Statement,
    lookups: usize,
    /// Seconds a lookup, by run.
    seconds: Vec<f64>,
}

/// Runs the experiment. Forms and ways take turns.
pub fn run(name: &'static str, forms: &[Form], args: &BenchArgs) -> Result<Report> {
    let rows = Table::Customer.rows(args.scale_factor);
    let database = load(args.scale_factor)?;
    let mut running = Vec::new();
    for order in ORDERS {
        for form in forms {
            for (way, use_indexes) in WAYS {
                let connection = database.connect();
                connection.execute(&format!(
                    "set threads = 1; set frazil.scan = '{}'; set frazil.use_indexes = {use_indexes}",
                    form.scan
                ))?;
                running.push(Running {
                    name: format!("{order}/{}/{way}", form.name),
                    statement: connection.prepare(&LOOKUP.replace("TABLE", table(order, form.frozen)))?,
                    lookups: lookups(way, rows as usize, args.scale_factor),
                    seconds: Vec::new(),
                });
            }
        }
    }
    for round in 0..=args.runs {
        for turn in 0..running.len() {
            let at = (turn + round) % running.len();
            running[at].run(rows, round)?;
        }
    }
    Ok(told(name, running))
}

fn table(order: &str, frozen: bool) -> &'static str {
    match (order, frozen) {
        ("ordered", false) => "ordered_hot",
        ("ordered", true) => "ordered_frozen",
        (_, false) => "shuffled_hot",
        (_, true) => "shuffled_frozen",
    }
}

/// Lookups of a run: about as long for scans as for the index.
fn lookups(way: &str, rows: usize, scale_factor: f64) -> usize {
    match way {
        "index" => (BY_INDEX as f64 * scale_factor.min(1.0)).max(20.0) as usize,
        _ => (SCANNED_ROWS / rows.max(1)).clamp(10, MOST_SCANS),
    }
}

/// A database with customer in both orders, hot and frozen, each with its primary key.
fn load(scale_factor: f64) -> Result<Database> {
    let database = Database::memory()?;
    let connection = database.connect();
    // Hot rows stay hot, and blocks are held alike however many lookups went before.
    connection.execute(
        "set frazil.freeze_after = off; set frazil.refreeze_budget = off; set frazil.access_counters = off; set threads = 1",
    )?;
    fill(&connection, Table::Customer, "", scale_factor)?;
    for order in ORDERS {
        let by = if order == "ordered" { "c_custkey" } else { SHUFFLED };
        for frozen in [false, true] {
            let name = table(order, frozen);
            connection.execute(&Table::Customer.ddl().replacen("customer", name, 1))?;
            connection.execute(&format!(
                "insert into {name} select * from customer order by {by}"
            ))?;
            connection.execute(&format!("alter table {name} add primary key (c_custkey)"))?;
            if frozen {
                connection.execute(&format!("freeze table {name}"))?;
            }
        }
    }
    connection.execute("drop table customer")?;
    check(&connection)?;
    Ok(database)
}

/// Every table must have each key in its place among the others.
fn check(connection: &Connection) -> Result<()> {
    for order in ORDERS {
        for frozen in [false, true] {
            let sql = format!("select count(distinct c_custkey) from {}", table(order, frozen));
            let Outcome::Rows(rows) = connection.execute(&sql)?.outcome else {
                return Err(Error::internal("a count without rows"));
            };
            let count = rows.raw().next().and_then(|row| row[0].as_int());
            let expected = connection.table(table(order, frozen))?.rows;
            if count != Some(expected.into()) {
                return Err(Error::internal(format!("{sql} is not {expected}")));
            }
        }
    }
    Ok(())
}

impl Running {
    fn run(&mut self, rows: u64, round: usize) -> Result<()> {
        let mut random = Random::new(round as u64 + 1);
        let begun = Instant::now();
        for _ in 0..self.lookups {
            let key = Value::Int((random.below(rows) + 1).into());
            match self.statement.execute(std::slice::from_ref(&key))?.outcome {
                Outcome::Rows(found) if found.len() == 1 => found.raw().for_each(|row| drop(black_box(row))),
                _ => {
                    return Err(Error::internal(format!(
                        "{}: customer {key:?} is not one row",
                        self.name
                    )));
                }
            }
        }
        if round > 0 {
            (self.seconds).push(begun.elapsed().as_secs_f64() / self.lookups as f64);
        }
        Ok(())
    }
}

/// Each case is compared with the hot scan of its order; those by the index with the hot one by the index.
fn told(name: &'static str, running: Vec<Running>) -> Report {
    let mut report = Report::default();
    let names: Vec<String> = running.iter().map(|r| r.name.clone()).collect();
    for case in running {
        let rates = case.seconds.iter().map(|s| 1.0 / s).collect();
        let ns = case.seconds.iter().map(|s| s * 1e9).collect();
        for (metric, unit, values) in [("ns_per_lookup", "ns", ns), ("lookups_per_second", "1/s", rates)] {
            report.add(Measurement {
                experiment: name,
                case: case.name.clone(),
                metric,
                unit,
                values: Values::Measured(Sample::new(values)),
            });
        }
    }
    for case in &names {
        let order = case.split('/').next().unwrap_or_default();
        for baseline in [format!("{order}/hot/scan"), format!("{order}/hot/index")] {
            if *case != baseline && (case.ends_with("index") || baseline.ends_with("scan")) {
                report.compare(case, &baseline, "ns_per_lookup");
            }
        }
    }
    report
}
