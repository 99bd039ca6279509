//! The experiment `lookup_table`, or `lookup --table`: `select * from customer where c_custkey = $1` for random keys
//! (Data Blocks, table 3), prepared, on one thread. TPC-H's customer has its rows in the order of their keys, or
//! shuffled; they are hot, or frozen in Data Blocks, of which the SMAs alone are used, or PSMAs, too; they are found by
//! the index of the primary key, or by a scan.
//!
//! At scale factor 1 the table has the paper's 15 M rows, TPC-H's at 100. One order after the other is loaded, so that
//! the peak is about 9 GB. `--rows N` makes other tables.

use crate::arguments::BenchArgs;
use crate::bound::Bound;
use crate::frazil_engine::fill;
use crate::report::{Measurement, Report, Values};
use crate::statistics::Sample;
use crate::taking_turns::lines;
use frazil::{Connection, Database, Outcome, Statement};
use frazil_testkit::Random;
use frazil_tpch::Table;
use frazil_types::{Error, Result, Value};
use std::hint::black_box;
use std::time::{Duration, Instant};

/// Rows of the paper's table.
const ROWS: f64 = 15e6;
/// Rows of customer at TPC-H's scale factor 1.
const ROWS_OF_FACTOR: f64 = 150e3;
/// The statement; `TABLE` stands for a table.
const LOOKUP: &str = "select * from TABLE where c_custkey = $1";
/// Most lookups of a run at scale factor 1.
const MOST: f64 = 20_000.0;
/// Least lookups of a run.
const LEAST: usize = 10;
/// Time of a run at scale factor 1, after which it ends early.
const TIME: Duration = Duration::from_millis(500);
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

const METRIC: &str = "ns_per_lookup";
const ORDERS: [&str; 2] = ["ordered", "shuffled"];
const WAYS: [(&str, &str); 2] = [("index", "on"), ("scan", "off")];

/// A case with what it runs on.
struct Running {
    name: String,
    statement: Statement,
    /// Most lookups of a run.
    most: usize,
    /// Time of a run, after which it ends early.
    time: Duration,
    /// Seconds a lookup, by run.
    seconds: Vec<f64>,
}

/// Runs the experiment, one order after the other. Forms and ways take turns.
pub fn run(name: &'static str, forms: &[Form], args: &BenchArgs) -> Result<Report> {
    let share = args.scale_factor.min(1.0);
    let wanted = args.rows.map_or(ROWS * share, |rows| rows as f64);
    let scale_factor = wanted / ROWS_OF_FACTOR;
    let rows = Table::Customer.rows(scale_factor);
    let mut report = Report::default();
    for order in ORDERS {
        let database = load(order, scale_factor)?;
        let mut running = Vec::new();
        for form in forms {
            for (way, use_indexes) in WAYS {
                let connection = database.connect();
                connection.execute(&format!(
                    "set threads = 1; set frazil.scan = '{}'; set frazil.use_indexes = {use_indexes}",
                    form.scan
                ))?;
                let statement = LOOKUP.replace("TABLE", table(order, form.frozen));
                expect_way(&connection, &statement, way == "index")?;
                running.push(Running {
                    name: format!("{order}/{}/{way}", form.name),
                    statement: connection.prepare(&statement)?,
                    most: ((MOST * share) as usize).max(LEAST),
                    time: TIME.mul_f64(share),
                    seconds: Vec::new(),
                });
            }
        }
        for round in 0..=args.runs {
            for turn in 0..running.len() {
                let at = (turn + round) % running.len();
                running[at].run(rows, round)?;
            }
        }
        tell(&mut report, name, running);
    }
    judge(&mut report);
    Ok(report)
}

/// EXPLAIN must say that a statement finds its row as its case says.
fn expect_way(connection: &Connection, statement: &str, by_index: bool) -> Result<()> {
    let explain = format!("explain {}", statement.replace("$1", "1"));
    let plan = lines(&connection.execute(&explain)?.outcome).join("\n");
    match plan.contains("_pkey") == by_index {
        true => Ok(()),
        false => Err(Error::internal(format!("{statement} is planned as\n{plan}"))),
    }
}

/// Concludes with the ratios of the paper's table.
fn judge(report: &mut Report) {
    let bounds = [
        ("ordered/blocks_psma/index", "ordered/hot/index", 0.62),
        ("shuffled/blocks_psma/index", "shuffled/hot/index", 0.62),
        ("ordered/blocks_psma/scan", "ordered/blocks/scan", 4.0),
        ("ordered/blocks_psma/scan", "ordered/hot/scan", 1000.0),
    ];
    for (case, baseline, least) in bounds {
        let before = report.ratios().len();
        report.compare_pairs(case, baseline, METRIC);
        if report.ratios().len() > before {
            let words = format!("{case}, rate over that of {baseline}");
            Bound::Least(least).judge_last_ratio(report, &words);
        }
    }
}

fn table(order: &str, frozen: bool) -> &'static str {
    match (order, frozen) {
        ("ordered", false) => "ordered_hot",
        ("ordered", true) => "ordered_frozen",
        (_, false) => "shuffled_hot",
        (_, true) => "shuffled_frozen",
    }
}

/// A database with customer in an order, hot and frozen, each with its primary key.
fn load(order: &str, scale_factor: f64) -> Result<Database> {
    let database = Database::memory()?;
    let connection = database.connect();
    // Hot rows stay hot, and blocks are held alike however many lookups went before.
    connection.execute(
        "set frazil.freeze_after = off; set frazil.refreeze_budget = off; set frazil.access_counters = off; \
         set threads = 1",
    )?;
    fill(&connection, Table::Customer, "", scale_factor)?;
    connection.execute("freeze table customer")?;
    let by = if order == "ordered" { "c_custkey" } else { SHUFFLED };
    // Hot rows take more memory: they come last.
    for frozen in [true, false] {
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
    connection.execute("drop table customer")?;
    Ok(database)
}

impl Running {
    fn run(&mut self, rows: u64, round: usize) -> Result<()> {
        let mut random = Random::new(round as u64 + 1);
        let begun = Instant::now();
        let mut lookups = 0;
        while lookups < self.most && (lookups < LEAST || begun.elapsed() < self.time) {
            lookups += 1;
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
            (self.seconds).push(begun.elapsed().as_secs_f64() / lookups as f64);
        }
        Ok(())
    }
}

/// Each case is compared with the hot scan of its order; those by the index with the hot one by the index.
fn tell(report: &mut Report, name: &'static str, running: Vec<Running>) {
    let names: Vec<String> = running.iter().map(|r| r.name.clone()).collect();
    for case in running {
        let rates = case.seconds.iter().map(|s| 1.0 / s).collect();
        let ns = case.seconds.iter().map(|s| s * 1e9).collect();
        for (metric, unit, values) in [(METRIC, "ns", ns), ("lookups_per_second", "1/s", rates)] {
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
                report.compare(case, &baseline, METRIC);
            }
        }
    }
}
