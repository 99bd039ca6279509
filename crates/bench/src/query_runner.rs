//! Times queries under several configurations. Runs are interleaved, query by query and configuration by
//! configuration, so that what disturbs the machine for a while disturbs all alike; the first round only
//! warms up, and checks that all configurations give the same answer.

use crate::arguments::BenchArgs;
use crate::clients;
use crate::engine::{Engine, Run};
use crate::experiments::{Configuration, Data, QueryExperiment};
use crate::report::{Measurement, Report, Values};
use crate::statistics::Sample;
use frazil_types::{Error, Result};

/// Makes an engine with data in a form; only lineitem is needed if the flag says so.
pub type Load<'a> = &'a mut dyn FnMut(Data, &BenchArgs, bool) -> Result<Box<dyn Engine>>;

/// A clock below this tells nothing; it also keeps logarithms finite.
const LEAST_MS: f64 = 1e-6;

/// Times of one configuration on a number of threads: for each query those of all runs.
struct Times<'a> {
    configuration: &'a Configuration,
    threads: usize,
    /// What follows in the names of cases: nothing on the first number of threads.
    suffix: String,
    queries: Vec<(usize, Vec<Run>)>,
}

/// Engines by the form of their data.
pub type Engines = Vec<(Data, Box<dyn Engine>)>;

/// What is read off a run, in milliseconds.
type Metric = (&'static str, fn(&Run) -> Option<f64>);

const METRICS: [Metric; 4] = [
    ("execute", |run| Some(run.execute)),
    ("plan", |run| Some(run.prepare?.plan)),
    ("compile", |run| Some(run.prepare?.compile)),
    ("plan_and_compile", |run| run.prepare.map(|p| p.plan + p.compile)),
];

/// Runs an experiment.
pub fn run(
    name: &'static str,
    experiment: &QueryExperiment,
    args: &BenchArgs,
    load: Load<'_>,
) -> Result<Report> {
    let mut engines = load_all(experiment, args, load)?;
    if args.clients > 0 {
        return clients::run(name, experiment, args, &mut engines);
    }
    let times = measure(experiment, args, &mut engines)?;
    let mut report = Report::default();
    for metric in METRICS {
        times
            .iter()
            .for_each(|t| add_times(&mut report, name, experiment, t, metric));
    }
    if !experiment.figures.is_empty() {
        add_figures(&mut report, name, experiment, &mut engines)?;
    }
    let queries: Vec<String> = (experiment.queries.iter())
        .map(|q| suffix(experiment, *q))
        .chain(["/geomean".to_owned()])
        .collect();
    for threads in &args.threads {
        let cases = |query: &str| format!("{query}{}", threads_suffix(args, *threads));
        let suffixes: Vec<String> = queries.iter().map(|q| cases(q)).collect();
        judge(&mut report, experiment, &suffixes, "execute");
    }
    for threads in &args.threads[1..] {
        for configuration in experiment.configurations {
            for query in &queries {
                let alone = format!("{}{query}", configuration.name);
                let case = format!("{alone}{}", threads_suffix(args, *threads));
                report.compare(&case, &alone, "execute");
            }
        }
    }
    Ok(report)
}

/// Loads what the configurations run on.
fn load_all(experiment: &QueryExperiment, args: &BenchArgs, load: Load<'_>) -> Result<Engines> {
    let lineitem_only = experiment.queries == [6];
    let mut engines: Engines = Vec::new();
    for configuration in experiment.configurations {
        if !engines.iter().any(|e| e.0 == configuration.data) {
            engines.push((configuration.data, load(configuration.data, args, lineitem_only)?));
        }
    }
    Ok(engines)
}

/// What follows the query in the name of a case on a number of threads.
fn threads_suffix(args: &BenchArgs, threads: usize) -> String {
    match args.threads[0] == threads {
        true => String::new(),
        false => format!("/threads_{threads}"),
    }
}

/// Compares the configurations with the baseline and with the best of them, and sorts them into classes, for each
/// of the suffixes of their names.
pub fn judge(report: &mut Report, experiment: &QueryExperiment, suffixes: &[String], metric: &'static str) {
    for suffix in suffixes {
        let case = |configuration: &str| format!("{configuration}{suffix}");
        let names = experiment.configurations.iter().map(|c| c.name);
        for name in names.clone().filter(|name| *name != experiment.baseline) {
            report.compare(&case(name), &case(experiment.baseline), metric);
        }
        let cases: Vec<String> = names.map(case).collect();
        report.classify(suffix.trim_start_matches('/'), &cases, metric);
        let best = report.classes().last().and_then(|c| c.classes.first()?.first());
        if let Some(best) = best.filter(|best| **best != case(experiment.baseline)).cloned() {
            for other in cases
                .iter()
                .filter(|other| cases.contains(&best) && **other != best)
            {
                report.compare(other, &best, metric);
            }
        }
    }
}

fn measure<'a>(
    experiment: &'a QueryExperiment,
    args: &BenchArgs,
    engines: &mut Engines,
) -> Result<Vec<Times<'a>>> {
    let mut times: Vec<Times> = Vec::new();
    for &threads in &args.threads {
        times.extend(experiment.configurations.iter().map(|configuration| {
            let queries = experiment.queries.iter().filter(|q| configuration.runs(**q));
            Times {
                configuration,
                threads,
                suffix: threads_suffix(args, threads),
                queries: queries.map(|q| (*q, Vec::new())).collect(),
            }
        }));
    }
    for round in 0..=args.runs {
        for &query in experiment.queries {
            let mut answer = None;
            // Each round begins with another configuration: none always runs in the wake of the same one.
            for turn in 0..times.len() {
                let at = (turn + round) % times.len();
                let configuration = times[at].configuration;
                if !configuration.runs(query) {
                    continue;
                }
                let run = run_once(configuration, query, times[at].threads, engines)?;
                check_answer(&mut answer, configuration, query, run.answer)?;
                let slot = times[at].queries.iter_mut().find(|q| q.0 == query);
                if let (Some((_, runs)), true) = (slot, round > 0) {
                    runs.push(run);
                }
            }
        }
    }
    Ok(times)
}

/// Refuses to measure configurations that answer differently.
pub fn check_answers(experiment: &QueryExperiment, engines: &mut Engines) -> Result<()> {
    for &query in experiment.queries {
        let mut answer = None;
        for configuration in experiment.configurations.iter().filter(|c| c.runs(query)) {
            let run = run_once(configuration, query, 1, engines)?;
            check_answer(&mut answer, configuration, query, run.answer)?;
        }
    }
    Ok(())
}

impl Configuration {
    fn runs(&self, query: usize) -> bool {
        self.only.is_none_or(|only| only == query)
    }
}

fn run_once(
    configuration: &Configuration,
    query: usize,
    threads: usize,
    engines: &mut Engines,
) -> Result<Run> {
    let engine = engine_of(engines, configuration);
    let context = || format!("Q{query} in configuration {}", configuration.name);
    engine.set("threads", &threads.to_string())?;
    for (name, value) in configuration.settings {
        engine.set(name, value).map_err(|e| e.in_context(context()))?;
    }
    engine.run(query).map_err(|e| e.in_context(context()))
}

/// The engine that a configuration runs on.
pub fn engine_of<'e>(engines: &'e mut Engines, configuration: &Configuration) -> &'e mut dyn Engine {
    let found = engines.iter_mut().find(|e| e.0 == configuration.data);
    &mut *found.expect("each configuration's data was loaded").1
}

fn check_answer(
    first: &mut Option<(&'static str, u64)>,
    configuration: &Configuration,
    query: usize,
    answer: u64,
) -> Result<()> {
    let (name, wanted) = *first.get_or_insert((configuration.name, answer));
    if answer == wanted {
        return Ok(());
    }
    Err(Error::internal(format!(
        "Q{query} has another answer in configuration {} than in {name}",
        configuration.name
    )))
}

/// What follows the configuration in a case's name: nothing where one query is measured.
fn suffix(experiment: &QueryExperiment, query: usize) -> String {
    match experiment.queries.len() {
        1 => String::new(),
        _ => format!("/q{query:02}"),
    }
}

/// Adds the times of each query and of the geometric mean over all queries, run by run.
fn add_times(
    report: &mut Report,
    name: &'static str,
    experiment: &QueryExperiment,
    times: &Times,
    metric: Metric,
) {
    let (metric, read) = metric;
    let mut samples: Vec<Vec<f64>> = Vec::new();
    for (query, runs) in &times.queries {
        let values: Option<Vec<f64>> = runs.iter().map(|r| read(r).map(|ms| ms.max(LEAST_MS))).collect();
        let Some(values) = values else {
            return;
        };
        let query = suffix(experiment, *query);
        let case = format!("{}{query}{}", times.configuration.name, times.suffix);
        report.add(measured(name, case, metric, values.clone()));
        samples.push(values);
    }
    if samples.len() < 2 {
        return;
    }
    let runs = samples[0].len();
    let mean = |run: usize| samples.iter().map(|s| s[run].ln()).sum::<f64>() / samples.len() as f64;
    let values = (0..runs).map(|run| mean(run).exp()).collect();
    report.add(measured(
        name,
        format!("{}/geomean{}", times.configuration.name, times.suffix),
        metric,
        values,
    ));
}

fn measured(experiment: &'static str, case: String, metric: &'static str, values: Vec<f64>) -> Measurement {
    Measurement {
        experiment,
        case,
        metric,
        unit: "ms",
        values: Values::Measured(Sample::new(values)),
    }
}

fn add_figures(
    report: &mut Report,
    name: &'static str,
    experiment: &QueryExperiment,
    engines: &mut Engines,
) -> Result<()> {
    let mut figures = Vec::new();
    for configuration in experiment.configurations {
        let engine = engine_of(engines, configuration);
        for (name, value) in configuration.settings {
            engine.set(name, value)?;
        }
        for &figure in experiment.figures {
            let (metric, unit) = figure.metric();
            let whole = (configuration.name.to_owned(), engine.figure(figure)?);
            let parts = engine.parts(figure)?;
            let parts = parts
                .into_iter()
                .map(|(part, value)| (format!("{}/{part}", configuration.name), value));
            for (case, value) in [whole].into_iter().chain(parts) {
                report.add(Measurement {
                    experiment: name,
                    case,
                    metric,
                    unit,
                    values: Values::Exact(value),
                });
            }
            if configuration.name != experiment.baseline {
                figures.push((configuration.name, metric));
            }
        }
    }
    for (case, metric) in figures {
        report.compare(case, experiment.baseline, metric);
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::engine::{Clients, Prepare};
    use crate::experiments::{EXPERIMENTS, Figure, Kind};
    use std::cell::RefCell;
    use std::rc::Rc;

    /// Takes as long as its settings say; writes down what it is asked.
    struct Fake {
        log: Rc<RefCell<Vec<String>>>,
        scan: String,
        data: Data,
        runs: f64,
    }

    impl Engine for Fake {
        fn set(&mut self, name: &str, value: &str) -> Result<()> {
            if name == "frazil.scan" {
                self.scan = value.to_owned();
            }
            Ok(())
        }

        fn run(&mut self, number: usize) -> Result<Run> {
            self.log.borrow_mut().push(format!("{}/{number}", self.scan));
            self.runs += 1.0;
            let prepare = Prepare {
                plan: 0.5,
                compile: 2.0,
            };
            let slow = if self.scan == "compiled" { 10.0 } else { 1.0 };
            Ok(Run {
                prepare: (self.data != Data::Arrays).then_some(prepare),
                execute: slow * number as f64 + self.runs * 1e-6,
                answer: u64::from(self.scan == "wrong"),
            })
        }

        fn figure(&mut self, figure: Figure) -> Result<f64> {
            let sorted = self.data == Data::FrozenSorted && figure == Figure::SkippedByPsma;
            Ok(if sorted { 0.7 } else { 0.0 })
        }

        fn parts(&mut self, figure: Figure) -> Result<Vec<(String, f64)>> {
            Ok(match figure {
                Figure::IntegerBytes => vec![("raw/none".to_owned(), 5.0)],
                _ => Vec::new(),
            })
        }

        fn serve(&mut self, clients: &Clients<'_>) -> Result<f64> {
            self.log.borrow_mut().push(format!("{:?}", clients.orders));
            Ok(if self.data == Data::Frozen { 2.0 } else { 4.0 })
        }
    }

    fn queries(name: &str) -> QueryExperiment {
        match crate::experiments::find(name).expect("it is there").kind {
            Kind::Queries(queries) => queries,
            _ => panic!("no queries"),
        }
    }

    fn run_fake(name: &'static str, experiment: &QueryExperiment) -> (Result<Report>, Vec<String>) {
        let args = BenchArgs {
            runs: 3,
            ..BenchArgs::new(name)
        };
        run_fake_with(name, experiment, &args)
    }

    fn run_fake_with(
        name: &'static str,
        experiment: &QueryExperiment,
        args: &BenchArgs,
    ) -> (Result<Report>, Vec<String>) {
        let log = Rc::new(RefCell::new(Vec::new()));
        let shared = log.clone();
        let mut load = move |data, _: &BenchArgs, _| -> Result<Box<dyn Engine>> {
            Ok(Box::new(Fake {
                log: shared.clone(),
                scan: String::new(),
                data,
                runs: 0.0,
            }))
        };
        let report = run(name, experiment, args, &mut load);
        let log = log.borrow().clone();
        (report, log)
    }

    #[test]
    fn cases_and_ratios_of_tpch_are_there() {
        let (report, log) = run_fake("tpch", &queries("tpch"));
        let report = report.expect("it runs");
        // Seven configurations of 22 queries and one of one, four rounds.
        assert_eq!(log.len(), (7 * 22 + 1) * 4);
        let find = |case: &str, metric: &str| {
            let found = report
                .measurements()
                .iter()
                .find(|m| m.case == case && m.metric == metric);
            found
                .unwrap_or_else(|| panic!("{case} {metric} is missing"))
                .figures()
        };
        assert_eq!(find("psma/q06", "execute").n, 3);
        assert!((find("compiled/geomean", "compile").mean - 2.0).abs() < 1e-9);
        assert!((find("sarg/geomean", "plan_and_compile").mean - 2.5).abs() < 1e-9);
        let geomean = (1..=22).map(|q| f64::from(q).ln()).sum::<f64>() / 22.0;
        assert!((find("psma/geomean", "execute").mean / geomean.exp() - 1.0).abs() < 0.05);
        assert!(
            !report
                .measurements()
                .iter()
                .any(|m| m.case == "rust_loop/q06" && m.metric == "plan")
        );
        let ratio = report
            .ratios()
            .iter()
            .find(|r| r.case == "psma/q06" && r.baseline == "compiled/q06")
            .expect("it is compared");
        assert_eq!(ratio.baseline, "compiled/q06");
        assert!((ratio.all.ratio - 10.0).abs() < 0.2);
        assert!(report.ratios().iter().any(|r| r.case == "rust_loop/q06"));
        let of_baseline = report.ratios().iter().filter(|r| r.case.starts_with("compiled"));
        assert!(of_baseline.clone().count() > 0 && of_baseline.clone().all(|r| r.baseline != r.case));
        let classes = (report.classes().iter())
            .find(|c| c.title == "geomean")
            .expect("all are compared");
        assert_eq!(classes.classes.last(), Some(&vec!["compiled/geomean".to_owned()]));
    }

    #[test]
    fn rounds_begin_with_another_configuration() {
        let two = QueryExperiment {
            queries: &[6],
            configurations: &queries("tpch").configurations[..2],
            ..queries("tpch")
        };
        let (report, log) = run_fake("tpch", &two);
        report.expect("it runs");
        let scans: Vec<&str> = log.iter().filter_map(|l| l.split('/').next()).collect();
        let (c, v) = ("compiled", "vectorized");
        assert_eq!(scans, [c, v, v, c, c, v, v, c]);
    }

    #[test]
    fn psma_reports_skipped_rows_and_compares_with_unsorted() {
        let (report, _) = run_fake("psma", &queries("psma"));
        let report = report.expect("it runs");
        let skipped: Vec<(String, f64)> = (report.measurements().iter())
            .filter(|m| m.metric == "rows_skipped_by_psma")
            .map(|m| (m.case.clone(), m.figures().mean))
            .collect();
        assert_eq!(
            skipped[..2],
            [("unsorted".to_owned(), 0.0), ("sorted".to_owned(), 0.7)]
        );
        assert!(
            report
                .ratios()
                .iter()
                .any(|r| r.case == "sorted" && r.baseline == "unsorted")
        );
    }

    #[test]
    fn several_numbers_of_threads_are_cases_of_their_own() {
        let args = BenchArgs {
            runs: 3,
            threads: vec![1, 2],
            ..BenchArgs::new("layouts")
        };
        let (report, log) = run_fake_with("layouts", &queries("layouts"), &args);
        let report = report.expect("it runs");
        assert_eq!(log.len(), 2 * queries("layouts").configurations.len() * 22 * 4);
        let figures = |case: &str, metric: &str| {
            let found = report
                .measurements()
                .iter()
                .find(|m| m.case == case && m.metric == metric);
            found.unwrap_or_else(|| panic!("{case} is missing")).figures()
        };
        assert_eq!(figures("vbp/q06/threads_2", "execute").n, 3);
        assert_eq!(figures("vbp/raw/none", "integer_bytes").mean, 5.0);
        let compared = |case: &str, baseline: &str| {
            report
                .ratios()
                .iter()
                .any(|r| r.case == case && r.baseline == baseline)
        };
        assert!(compared(
            "size/geomean/threads_2",
            "dictionary_byte_packed/geomean/threads_2"
        ));
        assert!(compared("size/geomean/threads_2", "size/geomean"));
        assert!(report.classes().iter().any(|c| c.title == "q22/threads_2"));
    }

    #[test]
    fn clients_issue_every_query_once_in_orders_that_do_not_repeat() {
        let args = BenchArgs {
            runs: 2,
            clients: 2,
            ..BenchArgs::new("layouts")
        };
        let (report, log) = run_fake_with("layouts", &queries("layouts"), &args);
        let report = report.expect("it runs");
        let found = report
            .measurements()
            .iter()
            .find(|m| m.case == "balanced/clients_2" && m.metric == "queries_per_second");
        assert_eq!(found.expect("it is there").figures().mean, 22.0);
        let ratio = report
            .ratios()
            .iter()
            .find(|r| r.case == "balanced/clients_2")
            .expect("compared");
        assert!(ratio.metric == "ms_per_query" && (ratio.all.ratio - 2.0).abs() < 1e-9);
        // Each round has its own orders, which all configurations share.
        let mut orders: Vec<&String> = log.iter().filter(|l| l.starts_with("[[")).collect();
        let configurations = queries("layouts").configurations.len();
        assert_eq!(orders.len(), 3 * configurations);
        orders.dedup();
        assert_eq!(orders.len(), 3);
        // Before, all configurations have given the same answers.
        assert!(log.len() > 3 * configurations);
    }

    #[test]
    fn different_answers_stop_the_experiment() {
        let wrong = QueryExperiment {
            configurations: &[
                Configuration {
                    name: "right",
                    data: Data::Hot,
                    settings: &[("frazil.scan", "right")],
                    only: None,
                },
                Configuration {
                    name: "wrong",
                    data: Data::Hot,
                    settings: &[("frazil.scan", "wrong")],
                    only: None,
                },
            ],
            ..queries("psma")
        };
        let error = run_fake("psma", &wrong).0.expect_err("the answers differ");
        assert_eq!(
            error.message(),
            "Q6 has another answer in configuration wrong than in right"
        );
    }

    #[test]
    fn every_experiment_on_queries_runs() {
        for experiment in &EXPERIMENTS {
            if let Kind::Queries(queries) | Kind::Clients(queries) | Kind::Flights(queries) = &experiment.kind
            {
                run_fake(experiment.name, queries).0.expect(experiment.name);
            }
        }
    }
}
