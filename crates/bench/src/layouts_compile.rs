//! The experiment `layouts_compile` (Data Blocks, figure 5): what planning and compiling a query cost by the
//! number of combinations of layouts that its table's blocks have. Code that was compiled for each combination
//! would take longer with each; here a scan is interpreted by block and the code knows no layout.

use crate::arguments::BenchArgs;
use crate::report::{Measurement, Report, Values};
use crate::statistics::Sample;
use frazil::{Connection, Database};
use frazil_types::Result;
use std::time::Duration;

/// What is read off the times to plan and to compile.
type Read = fn(&(Duration, Duration)) -> Duration;

const LAYOUTS: [&str; 5] = ["byte_packed", "bit_packed", "byteslice", "vbp", "hbp"];
const COLUMNS: usize = 8;
/// Rows of a block: enough for codes of ten bits.
const ROWS: usize = 1024;

/// Runs the experiment.
pub fn run(name: &'static str, combinations: &[usize], args: &BenchArgs) -> Result<Report> {
    let connections = combinations
        .iter()
        .map(|n| table_of(*n))
        .collect::<Result<Vec<_>>>()?;
    let columns: Vec<String> = (0..COLUMNS).map(|c| format!("sum(c{c})")).collect();
    let sql = format!(
        "select {} from t where c0 between 100 and 700 and c1 < 900",
        columns.join(", ")
    );
    let mut times = vec![Vec::new(); combinations.len()];
    for round in 0..=args.runs {
        for turn in 0..connections.len() {
            let at = (turn + round) % connections.len();
            let timing = connections[at].execute(&sql)?.timing;
            if round > 0 {
                times[at].push((timing.plan(), timing.compile));
            }
        }
    }
    let mut report = Report::default();
    let case = |n: usize| format!("combinations_{n}");
    let metrics: [(&str, Read); 3] = [
        ("plan", |t| t.0),
        ("compile", |t| t.1),
        ("plan_and_compile", |t| t.0 + t.1),
    ];
    for (&n, times) in combinations.iter().zip(&times) {
        for (metric, read) in metrics {
            let values = times.iter().map(|t| read(t).as_secs_f64() * 1e3).collect();
            report.add(Measurement {
                experiment: name,
                case: case(n),
                metric,
                unit: "ms",
                values: Values::Measured(Sample::new(values)),
            });
        }
    }
    for &n in &combinations[1..] {
        report.compare(&case(n), &case(combinations[0]), "plan_and_compile");
    }
    Ok(report)
}

/// A table of 64 blocks whose columns' layouts are combined in `combinations` ways.
fn table_of(combinations: usize) -> Result<Connection> {
    let connection = Database::memory()?.connect();
    connection.execute("set frazil.plan_cache = off")?;
    let columns: Vec<String> = (0..COLUMNS).map(|c| format!("c{c} integer not null")).collect();
    connection.execute(&format!("create table t ({})", columns.join(", ")))?;
    for block in 0..64 {
        let combination = block % combinations;
        let layout = |c: usize| LAYOUTS[(combination / LAYOUTS.len().pow(c as u32 % 3) + c) % LAYOUTS.len()];
        let pins: Vec<String> = (0..COLUMNS)
            .map(|c| format!("layout.c{c} = '{}'", layout(c)))
            .collect();
        connection.execute(&format!("alter table t set ({})", pins.join(", ")))?;
        let row = |i: usize| {
            let cells: Vec<String> = (0..COLUMNS)
                .map(|c| (i * (2 * c + 7) % 1000).to_string())
                .collect();
            format!("({})", cells.join(", "))
        };
        let rows: Vec<String> = (0..ROWS).map(row).collect();
        connection.execute(&format!("insert into t values {}", rows.join(", ")))?;
        connection.execute("freeze table t")?;
    }
    Ok(connection)
}
