//! The k to be recommended: of those whose scans lose at most a twentieth to column layout the one that fetches
//! whole rows fastest.

use super::{COLUMN, Out, Plan, tpch};
use frazil_types::Result;

/// What a scan may take of the time it takes in column layout.
const MOST: f64 = 1.05;

/// Adds it to the report: the case `recommendation`, and a sentence.
pub fn add(out: &mut Out, plan: &Plan) -> Result<()> {
    let fetch = |k: usize| out.median(&format!("row_fetch/k_{k}"), "ns_per_row");
    let candidates = plan.lineitem_ks.iter().copied();
    let fastest = candidates
        .filter(|&k| slowest_scan(out, k).is_some_and(|times| times <= MOST))
        .filter_map(|k| Some((fetch(k)?, k)))
        .min_by(|a, b| a.0.total_cmp(&b.0));
    let k = fastest.map_or(COLUMN, |f| f.1);
    let fetches = fetch(k).zip(fetch(COLUMN)).map_or(1.0, |(k, column)| k / column);
    let scans = slowest_scan(out, k).unwrap_or(1.0);
    out.exact("recommendation".to_owned(), "pax_rows", "rows", k as f64);
    out.report.conclude(format!(
        "recommended pax_rows = {k}: of column layout's time a scan takes {scans:.2} at most, a whole row {fetches:.2}"
    ));
    Ok(())
}

/// How many times what it takes in column layout the scan takes that suffers most.
fn slowest_scan(out: &Out, k: usize) -> Option<f64> {
    let time = |case: &String| out.median(case, tpch::METRIC);
    let pairs = tpch::cases(k).into_iter().zip(tpch::cases(COLUMN));
    let times: Option<Vec<f64>> = pairs
        .map(|(case, column)| Some(time(&case)? / time(&column)?))
        .collect();
    times.map(|times| times.into_iter().fold(0.0, f64::max))
}
