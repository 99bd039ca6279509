//! The experiment `plan`: what a statement costs before it runs.
//!
//! - `tpch`: the phases of each query of TPC-H ([`frazil::Timing`]), and their geometric means.
//! - `point`: parsing, binding and optimizing a query that asks for the rows of one key.
//! - `linear`: statements of n parts, and commands (`verify`, backup, recovery, freeze, ALTER …) over n rows,
//!   duplicates, tables and commits. All of it should take time in proportion to n.
//!
//! No statement is answered from a cache: all of them are planned anew in every run.

pub mod linear;
pub mod point;
mod tpch;

use crate::arguments::BenchArgs;
use crate::report::{Measurement, Report, Values};
use crate::statistics::Sample;
use frazil_types::Result;

/// What is measured.
#[derive(Clone, Copy, Debug)]
pub struct Plan {
    /// Numbers of TPC-H queries.
    pub queries: &'static [usize],
    /// Queries that ask for the rows of one key. The first is what others are compared with.
    pub points: &'static [point::Case],
    /// Statements of n parts.
    pub shapes: &'static [linear::Shape],
    /// Commands over databases of n parts.
    pub commands: &'static [linear::Command],
}

/// Runs the experiment: the cases whose names begin with what [`BenchArgs::only`] says.
pub fn run(name: &'static str, plan: &Plan, args: &BenchArgs) -> Result<Report> {
    let mut report = Report::default();
    if is_wanted("tpch", args) {
        tpch::run(name, plan.queries, args, &mut report)?;
    }
    if is_wanted("point", args) {
        point::run(name, plan.points, args, &mut report)?;
    }
    let shapes: Vec<linear::Shape> = (plan.shapes.iter().copied())
        .filter(|shape| is_wanted(&format!("linear/{}", shape.name), args))
        .collect();
    linear::run(name, &shapes, args, &mut report)?;
    let commands: Vec<linear::Command> = (plan.commands.iter().copied())
        .filter(|command| is_wanted(&format!("linear/{}", command.name), args))
        .collect();
    linear::run_commands(name, &commands, args, &mut report)?;
    Ok(report)
}

/// Whether cases of this name are to be measured, or some of them.
fn is_wanted(case: &str, args: &BenchArgs) -> bool {
    let only = args.only.as_deref().unwrap_or_default();
    case.starts_with(only) || only.starts_with(case)
}

fn measured(
    experiment: &'static str,
    case: String,
    (metric, unit): (&'static str, &'static str),
    values: Vec<f64>,
) -> Measurement {
    Measurement {
        experiment,
        case,
        metric,
        unit,
        values: Values::Measured(Sample::new(values)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::report;

    fn cases(only: &str) -> Vec<(String, &'static str)> {
        let args = BenchArgs {
            scale_factor: 0.001,
            runs: 2,
            only: Some(only.to_owned()),
            ..BenchArgs::new("plan")
        };
        let report = report(&args).expect("it runs");
        let measured = report.measurements().iter();
        measured.map(|m| (m.case.clone(), m.metric)).collect()
    }

    #[test]
    fn some_cases_can_be_measured_alone() {
        let point = cases("point");
        assert!(point.iter().all(|(case, _)| case.starts_with("point/")) && !point.is_empty());
        let one = cases("linear/in_list");
        assert!(one.iter().all(|(case, _)| case.starts_with("linear/in_list/")));
        assert!(one.iter().any(|(_, metric)| *metric == "plan_growth"));
        assert!(one.iter().any(|(_, metric)| *metric == "run_growth"));
    }
}
