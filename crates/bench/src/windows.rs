//! The experiment `windows`: window functions over a table in memory, from the statement to the sum of their results.
//! Cases and numbers of threads take turns; all are compared with the first.

use crate::arguments::BenchArgs;
use crate::report::{Measurement, Report, Values};
use crate::statistics::Sample;
use frazil::{Connection, Database};
use frazil_testkit::Random;
use frazil_types::{ColumnVector, LogicalType, Result, RowBatch, Value};
use std::time::Instant;

/// A case.
#[derive(Clone, Copy, Debug)]
pub struct Case {
    /// Its name.
    pub name: &'static str,
    /// A query of one row over the table `t`.
    pub sql: &'static str,
}

/// The table: its rows in no order, some hundred of them with one `few`, ten with one `many`.
const TABLE: &str = "create table t (id integer not null, few integer not null, many integer not null, \
                     v integer not null, f double precision not null, at timestamp not null)";
/// Rows at scale factor 1.
const ROWS: usize = 10_000_000;
/// Values of `few`, and rows for each value of `many`.
const FEW: u64 = 100;
const A_MANY: usize = 10;
/// Rows that are appended at once.
const BATCH: usize = 1 << 16;
/// Microseconds of a year, over which `at` is spread.
const YEAR: u64 = 365 * 86_400_000_000;

/// Runs the experiment.
pub fn run(name: &'static str, cases: &[Case], args: &BenchArgs) -> Result<Report> {
    let connection = Database::memory()?.connect();
    let rows = ((ROWS as f64 * args.scale_factor) as usize).max(BATCH / 16);
    fill(&connection, rows)?;
    let mut taken = vec![Vec::new(); cases.len() * args.threads.len()];
    for round in 0..=args.runs {
        for turn in 0..taken.len() {
            let at = (turn + round) % taken.len();
            connection.execute(&format!("set threads = {}", args.threads[at / cases.len()]))?;
            let begun = Instant::now();
            connection.execute(cases[at % cases.len()].sql)?;
            // The first round warms up.
            if round > 0 {
                taken[at].push(1e3 * begun.elapsed().as_secs_f64());
            }
        }
    }
    let names: Vec<String> = (0..taken.len())
        .map(|at| {
            let threads = args.threads[at / cases.len()];
            format!("{}, threads = {threads}", cases[at % cases.len()].name)
        })
        .collect();
    let mut report = Report::default();
    for (at, milliseconds) in taken.into_iter().enumerate() {
        report.add(Measurement {
            experiment: name,
            case: names[at].clone(),
            metric: "ms",
            unit: "ms",
            values: Values::Measured(Sample::new(milliseconds)),
        });
    }
    for case in &names[1..] {
        report.compare(case, &names[0], "ms");
    }
    Ok(report)
}

fn fill(connection: &Connection, rows: usize) -> Result<()> {
    connection.execute(TABLE)?;
    let mut random = Random::new(2026);
    let mut appender = connection.appender("t")?;
    for first in (0..rows).step_by(BATCH) {
        let count = BATCH.min(rows - first);
        let mut column = |ty, value: &mut dyn FnMut(&mut Random, usize) -> Value| {
            let values: Vec<Value> = (first..first + count).map(|i| value(&mut random, i)).collect();
            ColumnVector::from_values(ty, &values)
        };
        let whole = |n: u64| Value::Int(n.into());
        let many = (rows / A_MANY).max(1) as u64;
        let columns = vec![
            // A permutation of the rows: their number is no multiple of this prime.
            column(LogicalType::Integer, &mut |_, i| {
                whole((i as u64 * 7_368_787) % rows as u64)
            }),
            column(LogicalType::Integer, &mut |r, _| whole(r.below(FEW))),
            column(LogicalType::Integer, &mut |r, _| whole(r.below(many))),
            column(LogicalType::Integer, &mut |r, _| whole(r.below(100_000))),
            column(LogicalType::Double, &mut |r, _| Value::Double(r.share())),
            column(LogicalType::Timestamp, &mut |r, _| whole(r.below(YEAR))),
        ];
        appender.append(RowBatch { columns, rows: count })?;
    }
    appender.finish().map(drop)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_case_runs_with_each_number_of_threads() {
        let cases = [
            Case {
                name: "all",
                sql: "select count(*) from (select count(*) over () as n from t) x where n > 4000",
            },
            Case {
                name: "first",
                sql: "select count(*) from (select rank() over (order by id) as r from t) x where r = 1",
            },
        ];
        let args = BenchArgs {
            scale_factor: 0.0,
            runs: 1,
            threads: vec![1, 2],
            ..BenchArgs::new("windows")
        };
        let report = run("windows", &cases, &args).expect("it runs");
        assert_eq!((report.measurements().len(), report.ratios().len()), (4, 3));
    }
}
