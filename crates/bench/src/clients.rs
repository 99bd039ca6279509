//! Several clients issue queries in random order (Hyrise's study, section 4.2, the multi-threaded runs of figures 5
//! and 9): queries a second by configuration.
//!
//! In a run each client issues every query of the experiment once, in an order of its own, as soon as the one
//! before is answered. Orders differ from run to run and are the same for all configurations; those take turns. A run
//! ends with the last client. Settings are the engine's own, so that plans are cached.

use crate::arguments::BenchArgs;
use crate::engine::Clients;
use crate::experiments::{Configuration, QueryExperiment};
use crate::query_runner::{Engines, check_answers, engine_of, judge};
use crate::report::{Measurement, Report, Values};
use crate::statistics::Sample;
use frazil_testkit::Random;
use frazil_types::Result;

/// Runs an experiment with clients: on each number of threads a query may use.
pub fn run(
    name: &'static str,
    experiment: &QueryExperiment,
    args: &BenchArgs,
    engines: &mut Engines,
) -> Result<Report> {
    check_answers(experiment, engines)?;
    let configurations: Vec<&Configuration> = (experiment.configurations.iter())
        .filter(|c| c.only.is_none())
        .collect();
    let mut report = Report::default();
    for (place, threads) in args.threads.iter().enumerate() {
        let suffix = match place {
            0 => format!("/clients_{}", args.clients),
            _ => format!("/clients_{}/threads_{threads}", args.clients),
        };
        let seconds = measure(&configurations, experiment.queries, args, *threads, engines)?;
        for (configuration, seconds) in configurations.iter().zip(seconds) {
            let queries = (args.clients * experiment.queries.len()) as f64;
            let mut add = |metric, unit, values: Vec<f64>| {
                report.add(Measurement {
                    experiment: name,
                    case: format!("{}{suffix}", configuration.name),
                    metric,
                    unit,
                    values: Values::Measured(Sample::new(values)),
                });
            };
            let rates = seconds.iter().map(|s| queries / s).collect();
            add("queries_per_second", "1/s", rates);
            add(
                "ms_per_query",
                "ms",
                seconds.iter().map(|s| 1e3 * s / queries).collect(),
            );
        }
        judge(&mut report, experiment, &[suffix], "ms_per_query");
    }
    Ok(report)
}

/// For each configuration the seconds of all runs, after one that warms up.
fn measure(
    configurations: &[&Configuration],
    queries: &[usize],
    args: &BenchArgs,
    threads: usize,
    engines: &mut Engines,
) -> Result<Vec<Vec<f64>>> {
    let mut seconds = vec![Vec::new(); configurations.len()];
    let threads = threads.to_string();
    for round in 0..=args.runs {
        let mut random = Random::new(round as u64);
        let orders: Vec<Vec<usize>> = (0..args.clients)
            .map(|_| shuffled(queries, &mut random))
            .collect();
        for turn in 0..configurations.len() {
            let at = (turn + round) % configurations.len();
            let mut settings = configurations[at].settings.to_vec();
            settings.push(("threads", &threads));
            let clients = Clients {
                orders: &orders,
                settings: &settings,
            };
            let took = engine_of(engines, configurations[at])
                .serve(&clients)
                .map_err(|e| e.in_context(format!("clients of configuration {}", configurations[at].name)))?;
            if round > 0 {
                seconds[at].push(took);
            }
        }
    }
    Ok(seconds)
}

/// Numbers of queries in random order. Every order is as likely (Fisher and Yates).
pub fn shuffled(queries: &[usize], random: &mut Random) -> Vec<usize> {
    let mut order = queries.to_vec();
    for last in (1..order.len()).rev() {
        order.swap(last, random.below(last as u64 + 1) as usize);
    }
    order
}
