//! The experiment `topn`: all columns of the first rows in an order, of a table in memory that is hot, and then frozen.
//! Cases and numbers of threads take turns; frozen rows are compared with hot ones.

use crate::arguments::BenchArgs;
use crate::report::Report;
use crate::taking_turns::{self, Case};
use frazil::{Connection, Database};
use frazil_testkit::Random;
use frazil_types::{ColumnVector, LogicalType, Result, RowBatch, Value};

/// The cases.
pub const CASES: [Case<'static>; 5] = [
    Case {
        name: "by a double",
        sql: "select * from x order by v3 desc, id7 limit 10",
    },
    Case {
        name: "by an integer",
        sql: "select * from x order by id7 limit 10",
    },
    Case {
        name: "by a string",
        sql: "select * from x order by id3, id7 limit 10",
    },
    Case {
        name: "by a timestamp that may be NULL",
        sql: "select * from x order by at desc limit 10",
    },
    Case {
        name: "by an expression",
        sql: "select * from x order by v3 + v1 desc, id7 limit 10",
    },
];

/// The table: eleven columns, three of them strings; rows in no order.
const TABLE: &str = "create table x (id1 text not null, id2 text not null, id3 text not null, id4 integer not null, \
                     id5 integer not null, id6 integer not null, id7 integer not null, v1 integer not null, \
                     v2 integer not null, v3 double precision not null, at timestamp)";
/// Rows at scale factor 1.
const ROWS: usize = 10_000_000;
/// Values of `id1`, `id2`, `id4` and `id5`, and rows for each value of `id3` and `id6`.
const FEW: u64 = 100;
/// Rows that are appended at once.
const BATCH: usize = 1 << 16;
/// Microseconds of a year, over which `at` is spread.
const YEAR: u64 = 365 * 86_400_000_000;

/// Runs the experiment.
pub fn run(name: &'static str, cases: &[Case<'_>], args: &BenchArgs) -> Result<Report> {
    let connection = Database::memory()?.connect();
    let rows = ((ROWS as f64 * args.scale_factor) as usize).max(BATCH / 16);
    fill(&connection, rows)?;
    let mut report = Report::default();
    let hot = taking_turns::run(&mut report, name, ", hot", cases, &connection, args)?;
    connection.execute("freeze table x")?;
    let frozen = taking_turns::run(&mut report, name, ", frozen", cases, &connection, args)?;
    for (frozen, hot) in frozen.iter().zip(&hot) {
        report.compare(frozen, hot, "ms");
    }
    Ok(report)
}

fn fill(connection: &Connection, rows: usize) -> Result<()> {
    connection.execute(TABLE)?;
    let mut random = Random::new(2026);
    let mut appender = connection.appender("x")?;
    let many = (rows as u64 / FEW).max(1);
    for first in (0..rows).step_by(BATCH) {
        let count = BATCH.min(rows - first);
        let mut column = |ty, value: &mut dyn FnMut(&mut Random, usize) -> Value| {
            let values: Vec<Value> = (first..first + count).map(|i| value(&mut random, i)).collect();
            ColumnVector::from_values(ty, &values)
        };
        let whole = |n: u64| Value::Int(n.into());
        let text = |n: u64, digits: usize| Value::Text(format!("id{n:0digits$}"));
        let integer = LogicalType::Integer;
        let columns = vec![
            column(LogicalType::Text, &mut |r, _| text(r.below(FEW), 3)),
            column(LogicalType::Text, &mut |r, _| text(r.below(FEW), 3)),
            column(LogicalType::Text, &mut |r, _| text(r.below(many), 10)),
            column(integer, &mut |r, _| whole(r.below(FEW))),
            column(integer, &mut |r, _| whole(r.below(FEW))),
            column(integer, &mut |r, _| whole(r.below(many))),
            // A permutation of the rows: their number is no multiple of this prime.
            column(integer, &mut |_, i| whole((i as u64 * 7_368_787) % rows as u64)),
            column(integer, &mut |r, _| whole(1 + r.below(5))),
            column(integer, &mut |r, _| whole(1 + r.below(15))),
            column(LogicalType::Double, &mut |r, _| {
                Value::Double((r.share() * 1e8).round() / 1e6)
            }),
            column(LogicalType::TIMESTAMP, &mut |r, _| whole(r.below(YEAR))),
        ];
        appender.append(RowBatch { columns, rows: count })?;
    }
    appender.finish().map(drop)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_case_runs_hot_and_frozen() {
        let cases = [Case {
            name: "double",
            sql: "select * from x order by v3 desc, id7 limit 10",
        }];
        let args = BenchArgs {
            scale_factor: 0.0,
            runs: 1,
            threads: vec![1, 2],
            ..BenchArgs::new("topn")
        };
        let report = run("topn", &cases, &args).expect("it runs");
        assert_eq!((report.measurements().len(), report.ratios().len()), (4, 2));
    }
}
