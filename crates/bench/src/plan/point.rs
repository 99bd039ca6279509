//! Parsing, binding and optimizing a query that asks for the rows of one key.

use super::measured;
use crate::arguments::BenchArgs;
use crate::report::Report;
use frazil::{Database, Timing};
use frazil_types::{Result, Value};
use std::time::Duration;

/// A query that asks for the rows of one key of a table of four columns.
#[derive(Clone, Copy, Debug)]
pub struct Case {
    /// Its name.
    pub name: &'static str,
    /// Its text; the key is `$1` where it has a parameter.
    pub sql: &'static str,
}

/// Statements of a run.
const UNITS: u32 = 2_000;

/// Runs the cases in turns.
pub fn run(name: &'static str, cases: &[Case], args: &BenchArgs, report: &mut Report) -> Result<()> {
    let connection = Database::memory()?.connect();
    connection.execute(
        "set threads = 1; set frazil.plan_cache = off;
         create table t (a bigint not null, b integer, c text, d decimal(12,2));
         insert into t values (1, 10, 'one', 1.00), (5, 50, 'five', 5.00), (9, 90, 'nine', 9.00)",
    )?;
    let units = ((f64::from(UNITS) * args.scale_factor.min(1.0)) as u32).max(20);
    let mut runs: Vec<Vec<Timing>> = vec![Vec::new(); cases.len()];
    for round in 0..=args.runs {
        for turn in 0..cases.len() {
            let at = (turn + round) % cases.len();
            let key: &[Value] = match cases[at].sql.contains("$1") {
                true => &[Value::Int(5)],
                false => &[],
            };
            let mut sum = Timing::default();
            for _ in 0..units {
                let timing = connection.execute_with(cases[at].sql, key)?.timing;
                sum.parse += timing.parse;
                sum.bind += timing.bind;
                sum.optimize += timing.optimize;
                sum.compile += timing.compile;
            }
            if round > 0 {
                runs[at].push(sum);
            }
        }
    }
    type Phase = fn(&Timing) -> Duration;
    let phases: [(&'static str, Phase); 5] = [
        ("parse", |t| t.parse),
        ("bind", |t| t.bind),
        ("optimize", |t| t.optimize),
        ("plan", |t| t.plan()),
        ("compile", |t| t.compile),
    ];
    for (case, sums) in cases.iter().zip(&runs) {
        for (metric, read) in phases {
            let per_statement = |sum: &Timing| read(sum).as_secs_f64() * 1e6 / f64::from(units);
            let values = sums.iter().map(per_statement).collect();
            report.add(measured(
                name,
                format!("point/{}", case.name),
                (metric, "µs"),
                values,
            ));
        }
    }
    for case in &cases[1..] {
        let [case, first] = [case, &cases[0]].map(|c| format!("point/{}", c.name));
        report.compare(&case, &first, "plan");
    }
    Ok(())
}
