//! The experiments `windows` and `ordered`: window functions, and aggregates of ordered rows, over a table in memory, from the
//! statement to the sum of their results.
//! Cases and numbers of threads take turns; all are compared with the first.

use crate::arguments::BenchArgs;
use crate::report::Report;
use crate::taking_turns::{self, Case};
use frazil::{Connection, Database};
use frazil_testkit::Random;
use frazil_types::{ColumnVector, LogicalType, Result, RowBatch, Value};

/// The cases.
pub const CASES: [Case<'static>; 9] = [
    Case {
        name: "running sum",
        sql: "select sum(s) from (select sum(v) over (order by id) as s from t) x",
    },
    Case {
        name: "rank of 100 partitions",
        sql: "select sum(s) from (select rank() over (partition by few order by v) as s from t) x",
    },
    Case {
        name: "rank of partitions of ten rows",
        sql: "select sum(s) from (select rank() over (partition by many order by v) as s from t) x",
    },
    Case {
        name: "lag",
        sql: "select sum(s) from (select lag(v) over (partition by few order by id) as s from t) x",
    },
    Case {
        name: "average of the last 1,000 rows",
        sql: "select sum(s) from (select avg(f) over (order by id rows 999 preceding) as s from t) x",
    },
    Case {
        name: "range of a day",
        sql: "select sum(s) from (select sum(v) over (partition by few order by at \
              range between interval '1 day' preceding and current row) as s from t) x",
    },
    Case {
        name: "percent_rank",
        sql: "select sum(s) from (select percent_rank() over (partition by few order by v) as s from t) x",
    },
    Case {
        name: "first 3 of 100 partitions",
        sql: "select sum(v) from (select v, row_number() over (partition by few order by v) as r from t) x \
              where r <= 3",
    },
    Case {
        name: "first 3 of partitions of ten rows",
        sql: "select sum(v) from (select v, row_number() over (partition by many order by v) as r from t) x \
              where r <= 3",
    },
];

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

/// Aggregates of ordered rows, and of distinct ones.
pub const ORDERED: [Case<'static>; 8] = [
    Case {
        name: "string_agg of 100 groups",
        sql: "select sum(length(s)) from (select string_agg(v::text, ',' order by id) as s from t group by few) x",
    },
    Case {
        name: "string_agg of groups of ten rows",
        sql: "select sum(length(s)) from (select string_agg(v::text, ',' order by id) as s from t group by many) x",
    },
    Case {
        name: "median of 100 groups",
        sql: "select sum(s) from (select median(f) as s from t group by few) x",
    },
    Case {
        name: "median of groups of ten rows",
        sql: "select sum(s) from (select median(f) as s from t group by many) x",
    },
    Case {
        name: "percentile of all rows",
        sql: "select percentile_disc(0.9) within group (order by f) from t",
    },
    Case {
        name: "arg_max of groups of ten rows",
        sql: "select sum(s) from (select arg_max(v, f) as s from t group by many) x",
    },
    Case {
        name: "distinct pairs",
        sql: "select count(distinct (few, v)) from t",
    },
    Case {
        name: "about how many of 100 groups",
        sql: "select sum(s) from (select approx_count_distinct(id) as s from t group by few) x",
    },
];

/// Runs the experiment.
pub fn run(name: &'static str, cases: &[Case<'_>], args: &BenchArgs) -> Result<Report> {
    let connection = Database::memory()?.connect();
    let rows = ((ROWS as f64 * args.scale_factor) as usize).max(BATCH / 16);
    fill(&connection, rows)?;
    let mut report = Report::default();
    let names = taking_turns::run(&mut report, name, "", cases, &connection, args)?;
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
