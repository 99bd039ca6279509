//! The phases of TPC-H's queries before they run.

use super::measured;
use crate::arguments::BenchArgs;
use crate::experiments::Data;
use crate::frazil_engine;
use crate::report::Report;
use frazil::Timing;
use frazil_types::Result;
use std::time::Duration;

/// A phase: its name, and how its time is read.
type Phase = (&'static str, fn(&Timing) -> Duration);

const PHASES: [Phase; 5] = [
    ("parse", |t| t.parse),
    ("bind", |t| t.bind),
    ("optimize", |t| t.optimize),
    ("compile", |t| t.compile),
    ("plan_and_compile", |t| t.plan() + t.compile),
];

/// Runs every query in every round, on frozen tables.
pub fn run(name: &'static str, queries: &[usize], args: &BenchArgs, report: &mut Report) -> Result<()> {
    let engine = frazil_engine::load_frazil(Data::Frozen, args, false)?;
    let connection = engine.connection();
    let threads = args.threads.first().copied().unwrap_or(1);
    connection.execute(&format!("set threads = {threads}"))?;
    let texts: Vec<String> = (queries.iter())
        .map(|q| frazil_tpch::query(*q, args.scale_factor))
        .collect();
    // What queries took, by round.
    let mut rounds: Vec<Vec<Timing>> = Vec::new();
    for round in 0..=args.runs {
        let timings = texts.iter().map(|sql| Ok(connection.execute(sql)?.timing));
        let timings = timings.collect::<Result<Vec<_>>>()?;
        if round > 0 {
            rounds.push(timings);
        }
    }
    let mut add = |case: String, read: &dyn Fn(&[Timing], &Phase) -> f64| {
        for phase in &PHASES {
            let values = rounds.iter().map(|timings| read(timings, phase)).collect();
            report.add(measured(name, case.clone(), (phase.0, "ms"), values));
        }
    };
    for (at, query) in queries.iter().enumerate() {
        add(format!("tpch/q{query:02}"), &|timings, phase| {
            milliseconds(&timings[at], phase)
        });
    }
    add("tpch/geomean".to_owned(), &|timings, phase| {
        let logarithms = timings.iter().map(|t| milliseconds(t, phase).ln());
        (logarithms.sum::<f64>() / timings.len() as f64).exp()
    });
    Ok(())
}

/// Time of a phase; a nanosecond at least, of which there is a logarithm.
fn milliseconds(timing: &Timing, phase: &Phase) -> f64 {
    (phase.1)(timing).as_nanos().max(1) as f64 / 1e6
}
