//! The experiment `statements`: what the way of a small statement costs, from the call to its answer. Statements are
//! prepared once and run many times on one thread, in memory; the table has no index.

use crate::arguments::BenchArgs;
use crate::report::{Measurement, Report, Values};
use crate::statistics::Sample;
use frazil::{Connection, Database, Statement};
use frazil_types::{ColumnVector, LogicalType, Result, RowBatch, Value};
use std::time::Instant;

/// A case: statements that are run in turn, again and again.
#[derive(Clone, Copy, Debug)]
pub struct Case {
    /// Its name.
    pub name: &'static str,
    /// Rows of the table before.
    pub rows: usize,
    /// The statements of a unit of work; `$1` is the unit's number where they have a parameter.
    pub statements: &'static [&'static str],
    /// How they are given to the connection.
    pub way: Way,
    /// Units of a run at scale factor 1.
    pub units: usize,
}

/// How statements are given to a connection.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Way {
    /// Prepared once.
    Prepared,
    /// As texts, which are the same each time.
    Texts,
}

/// The table: four columns.
const TABLE: &str = "create table t (a bigint not null, b integer, c text, d decimal(12,2))";

/// A row of four columns.
const INSERT: &str = "insert into t values ($1, 7, 'seven', 7.77)";

/// The cases. The first is what others are compared with.
pub const CASES: [Case; 6] = [
    Case {
        name: "select_one",
        rows: 0,
        statements: &["select 1"],
        way: Way::Prepared,
        units: 500_000,
    },
    Case {
        name: "select_one_as_text",
        rows: 0,
        statements: &["select 1"],
        way: Way::Texts,
        units: 500_000,
    },
    Case {
        name: "insert_row",
        rows: 0,
        statements: &[INSERT],
        way: Way::Prepared,
        units: 200_000,
    },
    Case {
        name: "insert_row_as_text",
        rows: 0,
        statements: &[INSERT],
        way: Way::Texts,
        units: 200_000,
    },
    Case {
        name: "insert_row_into_many",
        rows: 1_000_000,
        statements: &[INSERT],
        way: Way::Prepared,
        units: 200_000,
    },
    Case {
        name: "insert_then_sum",
        rows: 100_000,
        statements: &[INSERT, "select sum(a) from t"],
        way: Way::Prepared,
        units: 10_000,
    },
];

/// Runs the experiment. Each case has a database of its own, which its runs share.
pub fn run(name: &'static str, cases: &[Case], args: &BenchArgs) -> Result<Report> {
    let mut report = Report::default();
    let mut running = cases.iter().map(Running::new).collect::<Result<Vec<_>>>()?;
    for round in 0..=args.runs {
        for turn in 0..running.len() {
            let at = (turn + round) % cases.len();
            let units = (cases[at].units as f64 * args.scale_factor.min(1.0)).max(20.0) as usize;
            running[at].run(units, round > 0)?;
        }
    }
    for (case, running) in cases.iter().zip(running) {
        let mut add = |metric, unit, values| {
            report.add(Measurement {
                experiment: name,
                case: case.name.to_owned(),
                metric,
                unit,
                values,
            });
        };
        add("ns_per_unit", "ns", Values::Measured(Sample::new(running.ns)));
        add("units", "units", Values::Exact(running.done as f64));
        add("compiled", "statements", Values::Exact(running.compiled as f64));
    }
    for case in &cases[1..] {
        report.compare(case.name, cases[0].name, "ns_per_unit");
    }
    Ok(report)
}

/// A case with its database.
struct Running {
    connection: Connection,
    statements: Vec<Prepared>,
    /// Units done, those of the warm-up among them.
    done: usize,
    /// Statements that had to be compiled to machine code.
    compiled: usize,
    /// Nanoseconds a unit, by run.
    ns: Vec<f64>,
}

struct Prepared {
    text: &'static str,
    /// `None` where it is given as a text.
    statement: Option<Statement>,
    has_parameter: bool,
}

impl Running {
    fn new(case: &Case) -> Result<Running> {
        let connection = Database::memory()?.connect();
        connection.execute("set threads = 1")?;
        connection.execute(TABLE)?;
        fill(&connection, case.rows)?;
        let prepare = |text: &&'static str| {
            let statement = (case.way == Way::Prepared).then(|| connection.prepare(text));
            Ok(Prepared {
                text,
                statement: statement.transpose()?,
                has_parameter: text.contains("$1"),
            })
        };
        Ok(Running {
            statements: case.statements.iter().map(prepare).collect::<Result<_>>()?,
            connection,
            done: 0,
            compiled: 0,
            ns: Vec::new(),
        })
    }

    fn run(&mut self, units: usize, is_timed: bool) -> Result<()> {
        let begun = Instant::now();
        for unit in self.done..self.done + units {
            let parameters = [Value::Int(unit as i128)];
            for prepared in &self.statements {
                let given = if prepared.has_parameter {
                    &parameters[..]
                } else {
                    &[]
                };
                let response = match &prepared.statement {
                    Some(statement) => statement.execute(given)?,
                    None => self.connection.execute_with(prepared.text, given)?,
                };
                self.compiled += usize::from(!response.timing.compile.is_zero());
            }
        }
        let ns = begun.elapsed().as_nanos() as f64 / units as f64;
        self.done += units;
        if is_timed {
            self.ns.push(ns);
        }
        Ok(())
    }
}

/// Adds rows to the table.
fn fill(connection: &Connection, rows: usize) -> Result<()> {
    let money = LogicalType::Decimal {
        precision: 12,
        scale: 2,
    };
    let column = |ty, value: fn(usize) -> Value| {
        ColumnVector::from_values(ty, &(0..rows).map(value).collect::<Vec<_>>())
    };
    let batch = RowBatch {
        columns: vec![
            column(LogicalType::BigInt, |i| Value::Int(i as i128)),
            column(LogicalType::Integer, |i| Value::Int((i % 1000) as i128)),
            column(LogicalType::Text, |i| Value::Text(format!("row {i}"))),
            column(money, |i| Value::Int((i * 7) as i128)),
        ],
        rows,
    };
    let mut appender = connection.appender("t")?;
    appender.append(batch)?;
    appender.finish().map(drop)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::report;

    #[test]
    fn what_is_prepared_is_compiled_once() {
        let args = BenchArgs {
            scale_factor: 0.01,
            runs: 2,
            ..BenchArgs::new("statements")
        };
        let report = report(&args).expect("it runs");
        let compiled = |case: &str| {
            let found = (report.measurements().iter()).find(|m| m.case == case && m.metric == "compiled");
            match found.map(|m| &m.values) {
                Some(Values::Exact(times)) => *times,
                other => panic!("{case}: {other:?}"),
            }
        };
        for without_code in [
            "select_one",
            "insert_row",
            "insert_row_as_text",
            "insert_row_into_many",
        ] {
            assert_eq!(compiled(without_code), 0.0, "{without_code}");
        }
        assert_eq!(compiled("insert_then_sum"), 1.0);
    }
}
