//! Statements over tables in memory that take turns, each with every number of threads.

use crate::arguments::BenchArgs;
use crate::report::{Measurement, Report, Values};
use crate::statistics::Sample;
use frazil::{Connection, Outcome};
use frazil_types::{LogicalType, Result, Value};
use std::time::Instant;

/// A statement.
#[derive(Clone, Copy, Debug)]
pub struct Case<'a> {
    /// Its name.
    pub name: &'a str,
    /// The statement, which gives few rows.
    pub sql: &'a str,
}

/// Times all cases and adds their milliseconds to a report; the names under which they stand there: `suffix` follows those of the cases.
pub fn run(
    report: &mut Report,
    experiment: &'static str,
    suffix: &str,
    cases: &[Case<'_>],
    connection: &Connection,
    args: &BenchArgs,
) -> Result<Vec<String>> {
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
    let mut names = Vec::with_capacity(taken.len());
    for (at, milliseconds) in taken.into_iter().enumerate() {
        let threads = args.threads[at / cases.len()];
        let case = format!("{}{suffix}, threads = {threads}", cases[at % cases.len()].name);
        report.add(Measurement {
            experiment,
            case: case.clone(),
            metric: "ms",
            unit: "ms",
            values: Values::Measured(Sample::new(milliseconds)),
        });
        names.push(case);
    }
    Ok(names)
}

/// The rows of a result as text, one line each.
pub(crate) fn lines(outcome: &Outcome) -> Vec<String> {
    let Outcome::Rows(rows) = outcome else {
        return Vec::new();
    };
    let types: Vec<LogicalType> = rows.schema().columns.iter().map(|c| c.ty).collect();
    let line = |row: Vec<Value>| {
        let cells: Vec<String> = row
            .iter()
            .zip(&types)
            .map(|(v, ty)| v.display(*ty).to_string())
            .collect();
        cells.join("|")
    };
    rows.raw().map(line).collect()
}
