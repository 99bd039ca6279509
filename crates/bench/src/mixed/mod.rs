//! The experiment `mixed`: the CH-benCHmark. Terminals of TPC-C write a database while analysts ask the 22 queries of
//! TPC-H about its orders.
//!
//! - `terminals/…`, `analysts/…`: each kind of session alone, and together with the other. A run measures the
//!   analysts alone before and after the part with both, because the terminals let the tables grow: the mean of the
//!   two is for tables as large as those between. Analysts ask all queries in random order, and end after the last.
//! - `freshness`: the age of the newest order that a query sees. A query that misses an order which had committed
//!   before the query began ends the experiment.
//! - `repeated`: each query twice in one snapshot (REPEATABLE READ) beside terminals, with a commit in between. An
//!   answer that differs ends the experiment.
//!
//! At the end the twelve consistency conditions must hold. Orders and their lines are frozen at first, and chunks that
//! become full freeze in the background; `--durable` keeps the database in a directory, each commit durable.
//! `--terminals N` and `--analysts N` set the number of sessions, `--warehouses N` the size, `--seconds S` the time of
//! all runs together; `--threads N` are those of a query. `--scale-factor S` below 1 makes tables and times smaller.

mod analyst;
mod repeated;
mod sessions;

use crate::arguments::BenchArgs;
use crate::bound::Bound;
use crate::report::{Measurement, Report, Values};
use crate::scratch::Scratch;
use crate::statistics::Sample;
use crate::tpcc::sides::{Rows, filled};
use analyst::{Analysed, analyse};
use frazil::Database;
use frazil_tpcc::{Kind, Latencies, Population, Tally, broken_conditions, load_suppliers};
use frazil_types::{Error, Result, SqlState};
use sessions::{Sessions, Work};
use std::time::Duration;

/// Divisor of the tables in a run that is only to show that the experiment works.
const REDUCED: i32 = 100;
/// The shortest time of a part of a run.
const SHORTEST: Duration = Duration::from_millis(50);
/// The longest time that warms up.
const WARMING: Duration = Duration::from_secs(5);
const PER_TRANSACTION: &str = "us_per_transaction";
const PER_QUERY: &str = "ms_per_query";
/// Least rate of each kind of session beside the other kind, over its rate alone.
const KEPT: f64 = 0.6;
/// Greatest p99 of transactions beside analysts, over their p99 alone.
const SLOWER: f64 = 3.0;

/// Runs the parts of the experiment that `args` names.
pub fn run(experiment: &'static str, args: &BenchArgs) -> Result<Report> {
    let scratch = Scratch::new()?;
    let population = match args.scale_factor < 1.0 {
        true => Population::reduced(args.warehouses.min(2), REDUCED),
        false => Population::new(args.warehouses),
    };
    let database = match args.durable {
        true => Database::open(scratch.path().join("frazil"))?,
        false => Database::memory()?,
    };
    let database = filled(database, &population, Rows::ColdFrozen)?;
    load_suppliers(&database.connect(), &population)?;
    if args.durable {
        database.checkpoint()?;
    }
    let mut measured = Measured {
        experiment,
        sessions: Sessions::new(&database, population, args.threads[0]),
        terminals: args.clients.max(1),
        analysts: args.analysts,
        runs: args.runs,
        report: Report::default(),
    };
    let only = args.only.as_deref().unwrap_or_default();
    let time = Duration::from_secs_f64(args.seconds as f64 * args.scale_factor.min(1.0));
    let (rated, repeated) = ("throughput".starts_with(only), "repeated".starts_with(only));
    // A run has three parts of one length, and the repeated queries have a part of their own.
    let parts = if rated { 3 * args.runs } else { 0 } + usize::from(repeated);
    let part = (time / u32::try_from(parts.max(1)).unwrap_or(u32::MAX)).max(SHORTEST);
    if rated {
        measured.throughput(part)?;
    }
    if repeated {
        measured.repeated(part)?;
    }
    consistent(&database)?;
    Ok(measured.report)
}

/// Checks the consistency conditions. 23514 if one is broken.
fn consistent(database: &Database) -> Result<()> {
    match broken_conditions(&database.connect())?.first() {
        None => Ok(()),
        Some(broken) => Err(Error::new(SqlState::CHECK_VIOLATION, broken.to_string())),
    }
}

/// A report that grows by parts.
struct Measured<'d> {
    experiment: &'static str,
    sessions: Sessions<'d>,
    terminals: usize,
    analysts: usize,
    runs: usize,
    report: Report,
}

/// Sessions of a kind in one of the two situations, over all runs.
#[derive(Default)]
struct Rated {
    /// Microseconds of a transaction by run.
    transactions: Vec<f64>,
    /// Transactions per second by run.
    rates: Vec<f64>,
    tally: Tally,
    /// Milliseconds of a query by run.
    queries: Vec<f64>,
    analysed: Analysed,
}

impl Measured<'_> {
    fn throughput(&mut self, part: Duration) -> Result<()> {
        let (mut alone, mut together) = (Rated::default(), Rated::default());
        self.run(0, part.min(WARMING), &mut Rated::default(), &mut Rated::default())?;
        for run in 1..=self.runs {
            self.run(run, part, &mut alone, &mut together)?;
        }
        for (situation, rated) in [("alone", &alone), ("together", &together)] {
            self.add_terminals(&format!("terminals/{situation}"), rated);
            self.add_analysts(&format!("analysts/{situation}"), rated);
        }
        self.add_percentiles("freshness", &together.analysed.ages);
        self.judge(&alone, &together);
        Ok(())
    }

    /// Measures both kinds of sessions alone and together.
    fn run(&self, run: usize, part: Duration, alone: &mut Rated, together: &mut Rated) -> Result<()> {
        let work = |terminals, analysts, time| Work {
            terminals,
            analysts,
            time,
            seed: run as u64,
        };
        let analysts = work(0, self.analysts, part / 2);
        let mut quiet = analyse(&self.sessions, &analysts)?.1;
        let (driven, beside) = analyse(&self.sessions, &work(self.terminals, self.analysts, part))?;
        together.add_driven(driven);
        together.add_analysed(beside);
        quiet.merge(&analyse(&self.sessions, &analysts)?.1);
        alone.add_analysed(quiet);
        alone.add_driven(analyse(&self.sessions, &work(self.terminals, 0, part))?.0);
        Ok(())
    }

    fn repeated(&mut self, part: Duration) -> Result<()> {
        let work = Work {
            terminals: self.terminals,
            analysts: self.analysts,
            time: part,
            seed: self.runs as u64 + 1,
        };
        let repeated = repeated::run(&self.sessions, &work)?;
        self.add("repeated", "queries", "1", Values::Exact(repeated.queries as f64));
        let transactions = Values::Exact(repeated.transactions as f64);
        self.add("repeated", "transactions", "1", transactions);
        self.report.conclude(format!(
            "repeated: {} queries had one answer in their snapshot, asked twice beside {} transactions",
            repeated.queries, repeated.transactions
        ));
        Ok(())
    }

    fn add_terminals(&mut self, case: &str, rated: &Rated) {
        let times = Values::Measured(Sample::new(rated.transactions.clone()));
        self.add(case, PER_TRANSACTION, "us", times);
        let rate = rated.rates.iter().sum::<f64>() / rated.rates.len() as f64;
        self.add(case, "per_second", "1/s", Values::Exact(rate));
        self.add_percentiles(case, &rated.tally.latencies());
        self.add(
            case,
            "repeated",
            "tries",
            Values::Exact(rated.tally.repeated() as f64),
        );
        for kind in Kind::ALL {
            let of_kind = &rated.tally.of(kind).latencies;
            self.add_percentiles(&format!("{case}/{}", kind.name()), of_kind);
        }
    }

    fn add_analysts(&mut self, case: &str, rated: &Rated) {
        let times = Values::Measured(Sample::new(rated.queries.clone()));
        self.add(case, PER_QUERY, "ms", times);
        let rate = rated.analysed.rate() * self.analysts as f64;
        self.add(case, "per_second", "1/s", Values::Exact(rate));
        for (name, times) in self.sessions.names().into_iter().zip(&rated.analysed.times) {
            let median = times.percentile(0.5).as_secs_f64() * 1e3;
            self.add(&format!("{case}/{name}"), "p50", "ms", Values::Exact(median));
        }
    }

    /// Adds percentiles of times, if there are any.
    fn add_percentiles(&mut self, case: &str, times: &Latencies) {
        let shares = [("p50", 0.5), ("p99", 0.99), ("p99_9", 0.999), ("longest", 1.0)];
        for (metric, share) in shares.into_iter().filter(|_| times.count() > 0) {
            let micros = times.percentile(share).as_secs_f64() * 1e6;
            self.add(case, metric, "us", Values::Exact(micros));
        }
    }

    fn add(&mut self, case: &str, metric: &'static str, unit: &'static str, values: Values) {
        self.report.add(Measurement {
            experiment: self.experiment,
            case: case.to_owned(),
            metric,
            unit,
            values,
        });
    }

    fn judge(&mut self, alone: &Rated, together: &Rated) {
        for (sessions, metric) in [("terminals", PER_TRANSACTION), ("analysts", PER_QUERY)] {
            let (case, baseline) = (format!("{sessions}/together"), format!("{sessions}/alone"));
            self.report.compare_pairs(&case, &baseline, metric);
            let words = format!("{case}, rate over that alone");
            Bound::Least(KEPT).judge_last_ratio(&mut self.report, &words);
        }
        let p99 = |rated: &Rated| rated.tally.latencies().percentile(0.99).as_secs_f64();
        let slower = p99(together) / p99(alone).max(1e-9);
        let words = "terminals/together, p99 over that alone";
        Bound::Most(SLOWER).judge(&mut self.report, words, slower, "");
        let ages = &together.analysed.ages;
        let [median, p99] = [0.5, 0.99].map(|share| ages.percentile(share).as_secs_f64() * 1e3);
        self.report.conclude(format!(
            "freshness: the newest order that a query saw was {median:.2} ms old, at most {p99:.2} ms in 99 of 100 of \
             {} queries; no query missed an order that had committed before it began",
            ages.count()
        ));
    }
}

impl Rated {
    fn add_driven(&mut self, driven: Option<frazil_tpcc::Driven>) {
        if let Some(driven) = driven {
            self.transactions.push(1e6 / driven.rate().max(1e-9));
            self.rates.push(driven.rate());
            self.tally.merge(&driven.tally);
        }
    }

    fn add_analysed(&mut self, analysed: Analysed) {
        self.queries.push(1e3 / analysed.rate().max(1e-9));
        self.analysed.merge(&analysed);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn args(only: &str) -> BenchArgs {
        BenchArgs {
            scale_factor: 0.001,
            runs: 2,
            only: Some(only.to_owned()),
            ..BenchArgs::new("mixed")
        }
    }

    #[test]
    fn both_kinds_of_sessions_are_rated() {
        let args = BenchArgs {
            clients: 2,
            analysts: 2,
            ..args("throughput")
        };
        let report = run("mixed", &args).unwrap_or_else(|e| panic!("{e}"));
        let has = |case: &str, metric| {
            let mut measured = report.measurements().iter();
            measured.any(|m| m.case == case && m.metric == metric)
        };
        assert!(has("terminals/together", PER_TRANSACTION) && has("analysts/alone/q22", "p50"));
        assert!(has("terminals/together/delivery", "p99_9") && has("freshness", "p99"));
        assert!(!has("repeated", "queries"));
        assert_eq!(report.ratios().len(), 2);
    }

    #[test]
    fn queries_are_repeated_in_a_directory() {
        let args = BenchArgs {
            durable: true,
            ..args("repeated")
        };
        let report = run("mixed", &args).unwrap_or_else(|e| panic!("{e}"));
        let count = |metric| {
            let mut measured = report.measurements().iter();
            measured
                .find(|m| m.metric == metric)
                .map_or(0.0, |m| m.figures().mean)
        };
        assert!(count("queries") >= 22.0 && count("transactions") >= 22.0);
    }
}
