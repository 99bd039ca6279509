//! The experiment `rollup`: grouping sets over a table in memory that is hot, and then frozen. Cases and numbers of threads take
//! turns; frozen rows are compared with hot ones. What is summed up in the end is the same in every database.

use crate::arguments::BenchArgs;
use crate::report::Report;
use crate::taking_turns::{self, Case};
use frazil::Database;
use frazil_types::Result;

/// The cases.
pub const CASES: [Case<'static>; 6] = [
    Case {
        name: "rollup of four columns",
        sql: "select count(*), sum(s), sum(n), sum(g) from (select a, b, c, d, sum(v) as s, count(*) as n, \
              grouping(a, b, c, d) as g from t group by rollup (a, b, c, d)) x",
    },
    Case {
        name: "rollup of four columns, five aggregates",
        sql: "select count(*), sum(s), sum(m), sum(l), sum(n) from (select a, b, c, d, sum(p) as s, avg(v) as m, \
              min(v) as l, max(p) as h, count(*) as n from t group by rollup (a, b, c, d)) x",
    },
    Case {
        name: "rollup to half as many groups as rows",
        sql: "select count(*), sum(s) from (select a, b, e, sum(v) as s from t group by rollup (a, b, e)) x",
    },
    Case {
        name: "cube of three columns",
        sql: "select count(*), sum(s) from (select a, b, d, sum(v) as s from t group by cube (a, b, d)) x",
    },
    Case {
        name: "sets of one column each",
        sql: "select count(*), sum(s) from (select a, b, c, d, sum(v) as s from t \
              group by grouping sets ((a), (b), (c), (d))) x",
    },
    Case {
        name: "rollup of two columns, distinct values counted",
        sql: "select count(*), sum(s) from (select a, b, count(distinct v) as s from t group by rollup (a, b)) x",
    },
];

/// Rows at scale factor 1, and at least.
const ROWS: usize = 10_000_000;
const LEAST_ROWS: usize = 4_096;

/// The table of so many rows: 10, 20, 30 and 40 values of `a`, `b`, `c` and `d`, which are texts, independent of each other;
/// half as many of `e` as rows. DuckDB reads it, too, with `range` for `generate_series`.
fn table(rows: usize) -> String {
    format!(
        "create table t as select cast(x % 10 as integer) as a, cast(x / 10 % 20 as integer) as b, \
         cast(x / 200 % 30 as integer) as c, 'value ' || (x / 6000 % 40) as d, cast(x % {half} as integer) as e, \
         cast(x / 240000 % 1000 as integer) as v, cast(x % 100000 as decimal(12,2)) as p \
         from (select i * 2654435761 % 4294967296 as x from generate_series(1, {rows}) s (i)) y",
        half = rows / 2
    )
}

/// Runs the experiment.
pub fn run(name: &'static str, cases: &[Case<'_>], args: &BenchArgs) -> Result<Report> {
    let connection = Database::memory()?.connect();
    let rows = ((ROWS as f64 * args.scale_factor) as usize).max(LEAST_ROWS);
    connection.execute(&table(rows))?;
    let mut report = Report::default();
    let hot = taking_turns::run(&mut report, name, ", hot", cases, &connection, args)?;
    connection.execute("freeze table t")?;
    let frozen = taking_turns::run(&mut report, name, ", frozen", cases, &connection, args)?;
    for (frozen, hot) in frozen.iter().zip(&hot) {
        report.compare(frozen, hot, "ms");
    }
    Ok(report)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_case_runs_hot_and_frozen() {
        let args = BenchArgs {
            scale_factor: 0.0,
            runs: 1,
            threads: vec![1],
            ..BenchArgs::new("rollup")
        };
        let report = run("rollup", &CASES, &args).expect("it runs");
        assert_eq!((report.measurements().len(), report.ratios().len()), (12, 6));
    }
}
