//! The two queries by generated code: by k, by whether k is known when the code is made (dimension 6 of the
//! paper), and by level of optimization (dimension 5).

use super::tables::{QUERIES, SCHEMAS, fill, rows, run as run_query, same};
use super::{Out, Plan, in_turns};
use frazil::Database;
use frazil_types::Result;

const CODES: [&str; 3] = ["compile_time", "run_time", "gathered"];
const LEVELS: [&str; 2] = ["none", "speed"];
const METRIC: &str = "ns_per_row";

/// Measures it.
pub fn run(out: &mut Out, plan: &Plan, scale: f64, runs: usize) -> Result<()> {
    for (ty, schema) in SCHEMAS {
        let connection = Database::memory()?.connect();
        for set in [
            "threads = 1",
            "frazil.freeze_after = off",
            "frazil.scan = compiled",
            "frazil.stages = fused",
        ] {
            connection.execute(&format!("set {set}"))?;
        }
        let rows = rows(scale, 4 * ty.native().size());
        let mut tables = Vec::new();
        for &k in plan.ks {
            tables.push(fill(&connection, ty, k, rows)?);
        }
        for (query, what) in QUERIES {
            let mut cases = Vec::new();
            for (table, &k) in tables.iter().zip(plan.ks) {
                for code in CODES {
                    for level in LEVELS {
                        let case = format!("generated/{schema}/{query}/k_{k}/{code}_{level}");
                        cases.push((case, format!("select {what} from {table}"), code, level));
                    }
                }
            }
            let mut answer = None;
            let found = in_turns(cases.len(), runs, |i| {
                let (case, sql, code, level) = &cases[i];
                connection.execute(&format!("set frazil.pax_code = '{code}'"))?;
                connection.execute(&format!("set frazil.optimization = '{level}'"))?;
                let (ns, value) = run_query(&connection, sql, rows)?;
                same(&mut answer, value, case)?;
                Ok(ns)
            })?;
            let names: Vec<String> = cases.into_iter().map(|c| c.0).collect();
            for (case, values) in names.iter().zip(found) {
                out.measured(case.clone(), METRIC, "ns", values);
            }
            out.judge(&format!("generated/{schema}/{query}"), &names, METRIC);
            compare_codes(out, plan, schema, query);
        }
    }
    Ok(())
}

/// Ways to read, each with the least optimization, as is the default, against gathering.
fn compare_codes(out: &mut Out, plan: &Plan, schema: &str, query: &str) {
    for k in plan.ks {
        let case = |code: &str, level: &str| format!("generated/{schema}/{query}/k_{k}/{code}_{level}");
        for code in ["compile_time", "run_time"] {
            out.report
                .compare(&case(code, "none"), &case("gathered", "none"), METRIC);
        }
    }
}
