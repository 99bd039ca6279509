//! The experiment `tpcc`: transactions of TPC-C, prepared, without times of keying, as in section 5.3 of
//! Data Blocks.
//!
//! - `memory/…`: one terminal in memory; `frazil` has all rows hot, `frozen` has frozen all orders and their lines
//!   before, and freezes chunks that become full in the background, `sqlite` is SQLite in memory.
//! - `durable/…`: eight terminals (`--clients`) in a directory, each commit durable; SQLite has a write-ahead log and
//!   synchronous = FULL.
//! - `read_only/…`: order-status and stock-level of one terminal, on all rows hot and on all tables frozen.
//! - `steps/…`: each statement of the transactions, as one terminal in memory runs them.
//! - `conditions/…`, only if asked for: the consistency conditions after `--seconds` of transactions in each mode, and
//!   after another process that ran them durably was killed. A broken one ends the experiment.
//!
//! Sides of a part take turns, and each turn has the same inputs on all sides. `--warehouses N` sets the size,
//! `--scale-factor S` below 1 makes tables and turns smaller.

mod conditions;
pub mod sides;
#[cfg(feature = "sqlite")]
mod sqlite;
mod steps;

use crate::arguments::BenchArgs;
use crate::bound::Bound;
use crate::report::{Measurement, Report, Values};
use crate::scratch::Scratch;
use crate::statistics::Sample;
use frazil_tpcc::{CONDITIONS, Engine, Kind, Mix, Pace, Plan, Population, SINCE, Tally, Until, Watch, drive};
use frazil_types::Result;
use sides::{Rows, frazil_in_directory, frazil_in_memory};
use std::time::Duration;

/// Transactions of a terminal in memory in a turn: 40 rounds of the specification's mix.
const TRANSACTIONS: f64 = 920.0;
/// Transactions of each terminal in a turn in a directory.
const DURABLE_TRANSACTIONS: f64 = 460.0;
/// Terminals in a directory unless `--clients` says otherwise.
const TERMINALS: usize = 8;
const METRIC: &str = "us_per_transaction";
/// Divisor of the tables in a run that is only to show that the experiment works.
const REDUCED: i32 = 100;

/// An engine under its name.
type Side = (&'static str, Box<dyn Engine>);

/// A part of the experiment: its sides do the same work in turns.
struct Part {
    name: &'static str,
    terminals: usize,
    mix: Mix,
    transactions: u64,
}

/// Runs the parts of the experiment that `args` names.
pub fn run(experiment: &'static str, args: &BenchArgs) -> Result<Report> {
    let size = Size::of(args);
    let only = args.only.as_deref().unwrap_or_default();
    let mut report = Report::default();
    let mut measured = Measured {
        experiment,
        runs: args.runs,
        population: size.population,
        report: &mut report,
    };
    if "memory".starts_with(only) {
        measured.memory(&size)?;
    }
    if "durable".starts_with(only) {
        measured.durable(&size, if args.clients > 0 { args.clients } else { TERMINALS })?;
    }
    if "read_only".starts_with(only) {
        measured.read_only(&size)?;
    }
    if "steps".starts_with(only) {
        measured.steps(&size)?;
    }
    if !only.is_empty() && "conditions".starts_with(only) {
        measured.conditions(args)?;
    }
    Ok(report)
}

/// The sizes of a run.
struct Size {
    population: Population,
    transactions: u64,
    durable_transactions: u64,
}

impl Size {
    fn of(args: &BenchArgs) -> Size {
        let scale = args.scale_factor.min(1.0);
        let scaled = |full: f64| ((full * scale) as u64).max(23);
        Size {
            population: match scale < 1.0 {
                true => Population::reduced(args.warehouses.min(2), REDUCED),
                false => Population::new(args.warehouses),
            },
            transactions: scaled(TRANSACTIONS),
            durable_transactions: scaled(DURABLE_TRANSACTIONS),
        }
    }
}

/// A report that grows by parts.
struct Measured<'r> {
    experiment: &'static str,
    runs: usize,
    population: Population,
    report: &'r mut Report,
}

impl Measured<'_> {
    fn memory(&mut self, size: &Size) -> Result<()> {
        let part = Part {
            name: "memory",
            terminals: 1,
            mix: Mix::Standard,
            transactions: size.transactions,
        };
        let sides: Vec<Side> = vec![
            ("frazil", frazil_in_memory(&self.population, Rows::Hot)?),
            ("frozen", frazil_in_memory(&self.population, Rows::ColdFrozen)?),
            #[cfg(feature = "sqlite")]
            ("sqlite", Box::new(sqlite::Sqlite::in_memory(&self.population)?)),
        ];
        self.measure(&part, &sides)?;
        self.judge(&part, "frozen", "frazil", 0.98);
        self.judge(&part, "frazil", "sqlite", 1.5);
        Ok(())
    }

    fn durable(&mut self, size: &Size, terminals: usize) -> Result<()> {
        let part = Part {
            name: "durable",
            terminals,
            mix: Mix::Standard,
            transactions: size.durable_transactions,
        };
        let scratch = Scratch::new()?;
        let sides: Vec<Side> = vec![
            (
                "frazil",
                frazil_in_directory(&self.population, &scratch.path().join("frazil"))?,
            ),
            #[cfg(feature = "sqlite")]
            (
                "sqlite",
                Box::new(sqlite::Sqlite::in_file(
                    &self.population,
                    scratch.path().join("sqlite"),
                )?),
            ),
        ];
        self.measure(&part, &sides)?;
        self.judge(&part, "frazil", "sqlite", 2.0);
        Ok(())
    }

    fn read_only(&mut self, size: &Size) -> Result<()> {
        let part = Part {
            name: "read_only",
            terminals: 1,
            mix: Mix::ReadOnly,
            transactions: size.transactions,
        };
        let sides: Vec<Side> = vec![
            ("frazil", frazil_in_memory(&self.population, Rows::Hot)?),
            ("frozen", frazil_in_memory(&self.population, Rows::AllFrozen)?),
            #[cfg(feature = "sqlite")]
            ("sqlite", Box::new(sqlite::Sqlite::in_memory(&self.population)?)),
        ];
        self.measure(&part, &sides)?;
        self.judge(&part, "frozen", "frazil", 0.9);
        self.judge(&part, "frazil", "sqlite", 1.0);
        Ok(())
    }

    /// Checks the consistency conditions after transactions in each mode. 23514 if one is broken.
    fn conditions(&mut self, args: &BenchArgs) -> Result<()> {
        let population = self.population;
        let work = conditions::Work {
            population: &population,
            terminals: if args.clients > 0 { args.clients } else { TERMINALS },
            time: Duration::from_secs(args.seconds),
            program: args.program.as_deref(),
        };
        for kept in work.run()? {
            let case = format!("conditions/{}", kept.name);
            let transactions = kept.transactions.map(|count| count as f64);
            for (metric, value) in [("transactions", transactions), ("hold", Some(CONDITIONS as f64))] {
                if let Some(value) = value {
                    self.add(case.clone(), metric, "1", Values::Exact(value));
                }
            }
        }
        Ok(())
    }

    /// Times each statement in turns of the standard mix.
    fn steps(&mut self, size: &Size) -> Result<()> {
        let sides: Vec<Side> = vec![
            ("frazil", frazil_in_memory(&self.population, Rows::Hot)?),
            #[cfg(feature = "sqlite")]
            ("sqlite", Box::new(sqlite::Sqlite::in_memory(&self.population)?)),
        ];
        for (name, engine) in sides {
            let timed = steps::Timed::new(engine);
            for round in 0..=self.runs {
                if round == 1 {
                    timed.forget();
                }
                let plan = Plan {
                    terminals: 1,
                    mix: Mix::Standard,
                    pace: Pace::AtOnce,
                    until: Until::Transactions(size.transactions),
                    seed: round as u64 + 1,
                    now: SINCE + 1_000_000 * (round as i64 + 1),
                };
                drive(&timed, &self.population, &plan, &Watch::default())?;
            }
            let total = timed.total().as_secs_f64();
            for (step, times) in timed.steps() {
                let case = format!("steps/{name}/{step}");
                let micros = |share| times.percentile(share).as_secs_f64() * 1e6;
                let percent = 100.0 * times.sum().as_secs_f64() / total;
                for (metric, unit, value) in [
                    ("p50", "us", micros(0.5)),
                    ("p99", "us", micros(0.99)),
                    ("share_of_time", "%", percent),
                ] {
                    self.add(case.clone(), metric, unit, Values::Exact(value));
                }
            }
        }
        Ok(())
    }

    /// Lets the sides work in turns, after one turn that warms up.
    fn measure(&mut self, part: &Part, sides: &[Side]) -> Result<()> {
        let mut micros = vec![Vec::new(); sides.len()];
        let mut tallies = vec![Tally::default(); sides.len()];
        for round in 0..=self.runs {
            for turn in 0..sides.len() {
                let at = (turn + round) % sides.len();
                let plan = Plan {
                    terminals: part.terminals,
                    mix: part.mix,
                    pace: Pace::AtOnce,
                    until: Until::Transactions(part.transactions),
                    seed: round as u64 + 1,
                    now: SINCE + 1_000_000 * (round as i64 + 1),
                };
                let driven = drive(&*sides[at].1, &self.population, &plan, &Watch::default())?;
                if round > 0 {
                    micros[at].push(1e6 / driven.rate());
                    tallies[at].merge(&driven.tally);
                }
            }
        }
        for (((name, _), micros), tally) in sides.iter().zip(micros).zip(&tallies) {
            let seconds = micros.iter().sum::<f64>() / 1e6 / self.runs as f64 * tally.transactions() as f64;
            self.add(
                format!("{}/{name}", part.name),
                METRIC,
                "us",
                Values::Measured(Sample::new(micros)),
            );
            self.add_kinds(&format!("{}/{name}", part.name), tally, seconds);
        }
        Ok(())
    }

    /// Adds the figures of each kind of transactions, which took `seconds` together.
    fn add_kinds(&mut self, side: &str, tally: &Tally, seconds: f64) {
        let kinds = Kind::ALL.map(|kind| (kind.name(), tally.of(kind)));
        for (kind, counts) in kinds
            .into_iter()
            .filter(|(_, counts)| counts.latencies.count() > 0)
        {
            let case = format!("{side}/{kind}");
            let micros = |share| counts.latencies.percentile(share).as_secs_f64() * 1e6;
            let rate = counts.latencies.count() as f64 / seconds;
            let exact = [
                ("per_second", "1/s", rate),
                ("p50", "us", micros(0.5)),
                ("p99", "us", micros(0.99)),
                ("p99_9", "us", micros(0.999)),
                ("repeated", "tries", (counts.conflicts + counts.deadlocks) as f64),
            ];
            for (metric, unit, value) in exact {
                self.add(case.clone(), metric, unit, Values::Exact(value));
            }
        }
    }

    fn add(&mut self, case: String, metric: &'static str, unit: &'static str, values: Values) {
        self.report.add(Measurement {
            experiment: self.experiment,
            case,
            metric,
            unit,
            values,
        });
    }

    /// Compares two sides and concludes if the rate of `side` is at least `least` times that of `baseline`. Does
    /// nothing if one of them was not measured.
    fn judge(&mut self, part: &Part, side: &str, baseline: &str, least: f64) {
        let before = self.report.ratios().len();
        let name = |side: &str| format!("{}/{side}", part.name);
        self.report.compare_pairs(&name(side), &name(baseline), METRIC);
        if self.report.ratios().len() > before {
            let words = format!("{}, rate over that of {baseline}", name(side));
            Bound::Least(least).judge_last_ratio(self.report, &words);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn parts_are_chosen_and_tell_each_kind() {
        let args = BenchArgs {
            scale_factor: 0.001,
            runs: 2,
            only: Some("read".to_owned()),
            ..BenchArgs::new("tpcc")
        };
        let report = run("tpcc", &args).unwrap_or_else(|e| panic!("{e}"));
        let has = |case: &str, metric| {
            let mut measured = report.measurements().iter();
            measured.any(|m| m.case == case && m.metric == metric)
        };
        assert!(has("read_only/frozen", METRIC) && has("read_only/frazil/stock_level", "p99_9"));
        assert!(
            report
                .measurements()
                .iter()
                .all(|m| m.case.starts_with("read_only/"))
        );
        assert!(!report.ratios().is_empty());
    }

    #[test]
    fn conditions_hold_in_each_mode() {
        let args = BenchArgs {
            scale_factor: 0.001,
            seconds: 1,
            only: Some("conditions".to_owned()),
            ..BenchArgs::new("tpcc")
        };
        let report = run("tpcc", &args).unwrap_or_else(|e| panic!("{e}"));
        let held = (report.measurements().iter()).filter(|m| m.metric == "hold");
        let cases: Vec<&str> = held.map(|m| m.case.as_str()).collect();
        assert_eq!(
            cases,
            ["conditions/hot", "conditions/frozen", "conditions/durable"]
        );
    }
}
