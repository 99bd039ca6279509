//! The experiment `probe` (Relaxed Operator Fusion, figure 4): a join of one integer key by the rows of its build
//! side, whose hash table goes from a part of the cache to a multiple of it. Each probe row has one match.
//!
//! `plain` probes tuple by tuple in a fused pipeline; `prefetch` has a stage boundary in front of the probe, where the
//! buckets of 16 rows are asked for at a time.

use crate::arguments::BenchArgs;
use crate::report::{Measurement, Report, Values};
use crate::statistics::Sample;
use crate::taking_turns::lines;
use frazil::{Connection, Database};
use frazil_types::{Error, Result};

/// The tables of the experiment.
#[derive(Clone, Copy, Debug)]
pub struct Plan {
    /// Rows of the probe side at scale factor 1.
    pub probes: usize,
    /// Rows of the build side, with their names in cases.
    pub builds: &'static [(usize, &'static str)],
}

const METRIC: &str = "execute";
/// Names of the cases, and their settings.
const WAYS: [(&str, &str); 2] = [
    ("plain", "set frazil.stages = fused"),
    (
        "prefetch",
        "set frazil.stages = staged; set frazil.prefetch_rows = 16",
    ),
];
/// Spreads keys over the integers, so that no array by key takes the place of the hash table.
const KEY: &str = "cast((NUMBER) * 48271 % 2147483647 as integer)";
const JOIN: &str = "select count(*), sum(v) from probes join builds on builds.k = probes.k";

/// Runs the experiment, one build side after the other.
pub fn run(name: &'static str, plan: &Plan, args: &BenchArgs) -> Result<Report> {
    let probes = args
        .rows
        .unwrap_or((plan.probes as f64 * args.scale_factor) as usize)
        .max(1);
    let mut report = Report::default();
    for (rows, label) in plan.builds {
        let rows = ((*rows as f64 * args.scale_factor.min(1.0)) as usize).max(1);
        let connection = load(rows, probes)?;
        let case = |way: usize| format!("build_{label}/{}", WAYS[way].0);
        let mut taken = WAYS.map(|_| Vec::new());
        for round in 0..=args.runs {
            for turn in 0..WAYS.len() {
                let way = (turn + round) % WAYS.len();
                connection.execute(WAYS[way].1)?;
                let response = connection.execute(JOIN)?;
                check(&lines(&response.outcome), probes, &case(way))?;
                if round > 0 {
                    taken[way].push(response.timing.execute.as_secs_f64() * 1e3);
                }
            }
        }
        for (way, values) in taken.into_iter().enumerate() {
            report.add(Measurement {
                experiment: name,
                case: case(way),
                metric: METRIC,
                unit: "ms",
                values: Values::Measured(Sample::new(values)),
            });
        }
        report.compare_pairs(&case(1), &case(0), METRIC);
    }
    Ok(report)
}

/// Two hot tables: `builds` with distinct keys, and `probes` with keys among them in no order.
fn load(builds: usize, probes: usize) -> Result<Connection> {
    let connection = Database::memory()?.connect();
    connection.execute("set frazil.freeze_after = off; set threads = 1; set frazil.early_probes = off")?;
    connection.execute(&format!(
        "create table builds as select {} as k, cast(i as integer) as v \
         from generate_series(1, {builds}) as numbers (i)",
        KEY.replace("NUMBER", "i::bigint")
    ))?;
    let number = format!("i::bigint * 2654435761 % 4294967296 % {builds} + 1");
    connection.execute(&format!(
        "create table probes as select {} as k from generate_series(1, {probes}) as numbers (i)",
        KEY.replace("NUMBER", &number)
    ))?;
    Ok(connection)
}

/// Refuses to measure a join that does not find a row for each probe.
fn check(answer: &[String], probes: usize, case: &str) -> Result<()> {
    let found = answer
        .first()
        .and_then(|row| row.split('|').next())
        .unwrap_or_default();
    match found == probes.to_string() {
        true => Ok(()),
        false => Err(Error::internal(format!("{case} joins {found} of {probes} rows"))),
    }
}
