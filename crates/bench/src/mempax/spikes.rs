//! Bank conflicts (section 5.3, figure 8): whether k whose columns are a multiple of a line apart cost more than their
//! neighbours. Generated code reads a row's four cells one after the other, as the paper's loops do.

use super::tables::{QUERIES, fill, rows, run as run_query, same};
use super::{Out, Plan, in_turns};
use frazil::Database;
use frazil_types::{LogicalType, Result};

/// Rows of smallint in a line.
const LINE: usize = 32;
const METRIC: &str = "ns_per_row";

/// Measures it.
pub fn run(out: &mut Out, plan: &Plan, scale: f64, runs: usize) -> Result<()> {
    let connection = Database::memory()?.connect();
    for set in [
        "threads = 1",
        "frazil.freeze_after = off",
        "frazil.scan = compiled",
        "frazil.stages = fused",
        "frazil.pax_code = compile_time",
        "frazil.optimization = speed",
    ] {
        connection.execute(&format!("set {set}"))?;
    }
    let rows = rows(scale, 4 * 2) / 2;
    let mut names = Vec::new();
    for &k in plan.spikes {
        names.push(fill(&connection, LogicalType::SmallInt, k, rows)?);
    }
    for (query, what) in QUERIES {
        let mut answer = None;
        let found = in_turns(names.len(), runs, |i| {
            let sql = format!("select {what} from {}", names[i]);
            let (ns, value) = run_query(&connection, &sql, rows)?;
            same(&mut answer, value, &names[i])?;
            Ok(ns)
        })?;
        let case = |what: &str| format!("spikes/smallint/{query}/{what}");
        for (k, values) in plan.spikes.iter().zip(&found) {
            out.measured(case(&format!("k_{k}")), METRIC, "ns", values.clone());
        }
        // Run by run, the mean of those on a line and of the others.
        let mean_of = |on_line: bool| -> Vec<f64> {
            let chosen = plan
                .spikes
                .iter()
                .zip(&found)
                .filter(|(k, _)| k.is_multiple_of(LINE) == on_line);
            let chosen: Vec<&Vec<f64>> = chosen.map(|c| c.1).collect();
            (0..runs)
                .map(|run| chosen.iter().map(|v| v[run]).sum::<f64>() / chosen.len() as f64)
                .collect()
        };
        out.measured(case("multiples_of_a_line"), METRIC, "ns", mean_of(true));
        out.measured(case("neighbours"), METRIC, "ns", mean_of(false));
        out.report
            .compare(&case("multiples_of_a_line"), &case("neighbours"), METRIC);
    }
    Ok(())
}
