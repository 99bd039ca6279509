//! `frazil bench tpch --layouts --search`: the best way to hold each column, found by trying, and how far the
//! default is from it.
//!
//! A coordinate search over the columns of integers, decimals and dates, those first that most bytes of queries
//! come from. The ways to try are those of EXPLAIN ANALYZE FREEZE that no other way beats in measured bytes, scan
//! and access alike. Each is pinned, the table's blocks are built anew, and the queries that read the column are
//! timed in turns with the best found so far; the pin is kept if it is faster by a test of the pairs of a round, which
//! share what disturbs the machine. Two ways are built at a time, and nothing else runs while queries are timed. At
//! the end the default and the best found are timed in turns over all queries. When the time is up, the columns that
//! are left stay as the default holds them, which the report says.

use crate::arguments::BenchArgs;
use crate::engine::Engine;
use crate::experiments::{Configuration, Data, Figure, QueryExperiment, TPCH_QUERIES, scan};
use crate::frazil_engine::{Frazil, load_frazil};
use crate::query_runner;
use crate::report::{Measurement, Report, Values};
use crate::statistics::{Comparison, Sample, Verdict, compare_pairs};
use frazil_tpch::{TABLES, Table};
use frazil_types::{Error, LogicalType, Result, SqlState};
use std::time::Instant;

/// A way whose times are at most so much above another's does not lose to it for that.
const TOLERANCE: f64 = 1.05;

/// Ways that are built at a time.
const TRIALS: usize = 2;

const FOUND: &str = "best_found";
const CONFIGURATIONS: &[Configuration] = &[
    scan("balanced", Data::Frozen, &[]),
    scan(FOUND, Data::FrozenWith(FOUND), &[]),
];
const LAST_COMPARISON: QueryExperiment = QueryExperiment {
    queries: TPCH_QUERIES,
    configurations: CONFIGURATIONS,
    baseline: "balanced",
    figures: &[Figure::IntegerBytes],
};

/// A column, the ways to hold it that are worth trying, and the queries that read it.
#[derive(Debug)]
struct Column {
    table: Table,
    name: String,
    queries: Vec<usize>,
    /// Bytes of it that queries read: what it is sorted by.
    weight: f64,
    ways: Vec<Way>,
}

/// A way to hold a column, with what EXPLAIN ANALYZE FREEZE measured.
#[derive(Clone, Debug, PartialEq)]
struct Way {
    encoding: String,
    layout: String,
    chosen: bool,
    bytes: f64,
    scan: f64,
    access: f64,
}

/// The columns of EXPLAIN ANALYZE FREEZE that a way is read from.
const WAY: [&str; 7] = [
    "column_name",
    "encoding",
    "layout",
    "choice",
    "measured_bytes",
    "measured_scan_ns",
    "measured_access_ns",
];

/// Runs the search.
pub fn run(name: &'static str, args: &BenchArgs) -> Result<Report> {
    let default = load_frazil(Data::Frozen, args, false)?;
    let mut search = Search {
        name,
        args,
        best: load_frazil(Data::Frozen, args, false)?,
        trials: Vec::new(),
        tried: None,
        pins: 0,
        report: Report::default(),
    };
    for _ in 0..TRIALS {
        search.trials.push(load_frazil(Data::Frozen, args, false)?);
    }
    for engine in search.trials.iter_mut().chain([&mut search.best]) {
        engine.set("threads", &args.threads[0].to_string())?;
    }
    let columns = columns(&search.best, args.scale_factor)?;
    let begun = Instant::now();
    let mut tried = 0;
    for column in &columns {
        if begun.elapsed().as_secs() >= args.seconds {
            break;
        }
        tried += 1;
        eprintln!(
            "{:.0} s: column {tried} of {}, {}: {} ways beside the default's, {} queries, {} pins kept",
            begun.elapsed().as_secs_f64(),
            columns.len(),
            column.name,
            column.ways.len(),
            column.queries.len(),
            search.pins
        );
        search.try_column(column)?;
    }
    let Search {
        mut report,
        best,
        pins,
        ..
    } = search;
    for (case, value) in [
        ("columns_searched", tried),
        ("columns_left", columns.len() - tried),
        ("pins_kept", pins),
    ] {
        report.add(exact(name, format!("search/{case}"), "columns", value as f64));
    }
    let mut engines = vec![(Data::FrozenWith(FOUND), best), (Data::Frozen, default)];
    let mut load = |data, _: &BenchArgs, _| -> Result<Box<dyn Engine>> {
        let place = engines.iter().position(|e| e.0 == data);
        let place = place.ok_or_else(|| Error::internal("a form of data that was not searched"))?;
        Ok(Box::new(engines.swap_remove(place).1))
    };
    report.append(query_runner::run(name, &LAST_COMPARISON, args, &mut load)?);
    Ok(report)
}

fn exact(experiment: &'static str, case: String, metric: &'static str, value: f64) -> Measurement {
    Measurement {
        experiment,
        case,
        metric,
        unit: metric,
        values: Values::Exact(value),
    }
}

/// The state of a search.
struct Search<'a> {
    name: &'static str,
    args: &'a BenchArgs,
    /// Holds columns as is best so far.
    best: Frazil,
    /// Hold one column in another way, unless they have yet to be built.
    trials: Vec<Frazil>,
    /// The table of the trials whose blocks are not those of the best.
    tried: Option<Table>,
    /// Pins that made queries faster.
    pins: usize,
    report: Report,
}

impl Search<'_> {
    fn try_column(&mut self, column: &Column) -> Result<()> {
        if let Some(table) = self.tried.replace(column.table).filter(|t| *t != column.table) {
            let rebuilt = at_once(self.trials.iter().map(|trial| move || rebuild(trial, table)));
            rebuilt.into_iter().collect::<Result<()>>()?;
        }
        let mut found: Option<(Comparison, &Way)> = None;
        for ways in column.ways.chunks(TRIALS) {
            let built = self.build(column, ways)?;
            let (base, times) = self.measure(column, ways.len())?;
            let timed = ways.iter().zip(times).zip(built);
            for ((way, times), _) in timed.filter(|(_, built)| *built) {
                let comparison = compare_pairs(&base, &times);
                self.add_times(column, way, (&base, times));
                let ahead = found.is_none_or(|(other, _)| comparison.ratio > other.ratio);
                if comparison.verdict == Verdict::Faster && ahead {
                    found = Some((comparison, way));
                }
            }
        }
        // When the trials are built for another column, they hold this one as the best does.
        for trial in &self.trials {
            set(trial, column, None)?;
        }
        let Some((comparison, way)) = found else {
            return Ok(());
        };
        eprintln!(
            "  {} as {} on {} is {:.3} times as fast",
            column.name, way.encoding, way.layout, comparison.ratio
        );
        self.pins += 1;
        self.report.add(exact(
            self.name,
            format!("search/{}/{}", column.name, way.form()),
            "kept_for_ratio",
            comparison.ratio,
        ));
        for engine in self.trials.iter().chain([&self.best]) {
            set(engine, column, Some(way))?;
        }
        rebuild(&self.best, column.table)
    }

    /// Builds the trials' blocks, each of a way, at the same time. Returns for which ways that was possible: other
    /// blocks may have values that those of the sample do not have.
    fn build(&self, column: &Column, ways: &[Way]) -> Result<Vec<bool>> {
        let builders = self.trials.iter().zip(ways).map(|(trial, way)| {
            move || {
                set(trial, column, Some(way))?;
                rebuild(trial, column.table)
            }
        });
        let built = at_once(builders).into_iter().map(|built| match built {
            Err(e) if e.state() == SqlState::INVALID_PARAMETER => Ok(false),
            built => built.map(|()| true),
        });
        built.collect()
    }

    /// Geometric means over the column's queries, run by run: of the best so far, and of as many trials.
    fn measure(&mut self, column: &Column, trials: usize) -> Result<(Sample, Vec<Sample>)> {
        let mut engines: Vec<&mut Frazil> = vec![&mut self.best];
        engines.extend(self.trials.iter_mut().take(trials));
        let mut logarithms = vec![vec![0.0; self.args.runs]; engines.len()];
        for round in 0..=self.args.runs {
            for &query in &column.queries {
                for turn in 0..engines.len() {
                    let at = (turn + round) % engines.len();
                    let run = engines[at].run(query)?;
                    if round > 0 {
                        logarithms[at][round - 1] += run.execute.ln();
                    }
                }
            }
        }
        let queries = column.queries.len() as f64;
        let mut samples = logarithms.into_iter().map(|sums| {
            let means = sums.into_iter().map(|sum: f64| (sum / queries).exp());
            Sample::new(means.collect())
        });
        let base = samples.next();
        let base = base.ok_or_else(|| Error::internal("nothing was timed"))?;
        Ok((base, samples.collect()))
    }

    fn add_times(&mut self, column: &Column, way: &Way, (base, times): (&Sample, Sample)) {
        let case = |what: &str| format!("search/{}/{what}", column.name);
        let way = way.form();
        let baseline = format!("before/{way}");
        for (what, sample) in [(&baseline, base.clone()), (&way, times)] {
            self.report.add(Measurement {
                experiment: self.name,
                case: case(what),
                metric: "execute",
                unit: "ms",
                values: Values::Measured(sample),
            });
        }
        self.report
            .compare_pairs(&case(&way), &case(&baseline), "execute");
    }
}

/// Does all of them, each in a thread.
fn at_once<W>(work: impl Iterator<Item = W>) -> Vec<Result<()>>
where
    W: FnOnce() -> Result<()> + Send,
{
    std::thread::scope(|scope| {
        let threads: Vec<_> = work.map(|work| scope.spawn(work)).collect();
        let ended = threads.into_iter().map(|thread| {
            let ended = thread.join();
            ended.unwrap_or_else(|_| Err(Error::internal("a thread panicked")))
        });
        ended.collect()
    })
}

/// Pins the way to hold a column, or leaves it to the cost model.
fn set(engine: &Frazil, column: &Column, way: Option<&Way>) -> Result<()> {
    let Column { table, name, .. } = column;
    let quoted = |text: &str| format!("'{text}'");
    let (encoding, layout) = match way {
        None => ("default".to_owned(), "default".to_owned()),
        Some(way) if way.layout == "none" => (quoted(&way.encoding), "default".to_owned()),
        Some(way) => (quoted(&way.encoding), quoted(&way.layout)),
    };
    let sql = format!(
        "alter table {} set (encoding.{name} = {encoding}, layout.{name} = {layout})",
        table.name()
    );
    engine.connection().execute(&sql)?;
    Ok(())
}

/// Builds all blocks of a table anew. Its rows are sorted by their first column as they come, so they stay
/// where they are.
fn rebuild(engine: &Frazil, table: Table) -> Result<()> {
    let schema = table.schema();
    let sql = format!(
        "freeze table {} order by {}",
        table.name(),
        schema.columns[0].name
    );
    engine.connection().execute(&sql)?;
    Ok(())
}

/// The columns to search, the weightiest first, those of a table together.
fn columns(engine: &Frazil, scale_factor: f64) -> Result<Vec<Column>> {
    let texts: Vec<(usize, String)> = (TPCH_QUERIES.iter())
        .map(|&q| (q, frazil_tpch::query(q, scale_factor).to_lowercase()))
        .collect();
    let mut columns = Vec::new();
    for table in TABLES {
        let rows = engine.connection().table(table.name())?.rows as f64;
        let ways = engine.columns(&format!("explain analyze freeze {}", table.name()), WAY)?;
        let schema = table.schema();
        let numbers = schema.columns.iter().filter(|c| is_number(c.ty));
        for def in numbers {
            let own: Vec<Way> = (ways.iter())
                .filter(|cells| cells[0] == def.name)
                .filter_map(Way::read)
                .collect();
            let queries: Vec<usize> = (texts.iter())
                .filter(|(_, text)| reads(text, &def.name))
                .map(|(q, _)| *q)
                .collect();
            let ways = worth_trying(&own);
            if queries.is_empty() || ways.is_empty() {
                continue;
            }
            columns.push(Column {
                table,
                name: def.name.clone(),
                weight: rows * queries.len() as f64,
                queries,
                ways,
            });
        }
    }
    let of_table = |table: Table| -> f64 {
        let weights = columns.iter().filter(|c| c.table == table);
        weights.map(|c| c.weight).sum()
    };
    let weights: Vec<f64> = columns.iter().map(|c| of_table(c.table)).collect();
    let mut order: Vec<(f64, Column)> = weights.into_iter().zip(columns).collect();
    order.sort_by(|(t, a), (u, b)| u.total_cmp(t).then(b.weight.total_cmp(&a.weight)));
    Ok(order.into_iter().map(|(_, column)| column).collect())
}

fn is_number(ty: LogicalType) -> bool {
    matches!(
        ty,
        LogicalType::Integer | LogicalType::BigInt | LogicalType::Decimal { .. } | LogicalType::Date
    )
}

/// Whether a query names a column.
fn reads(text: &str, column: &str) -> bool {
    text.split(|c: char| !c.is_alphanumeric() && c != '_')
        .any(|word| word == column)
}

impl Way {
    /// Reads [`WAY`]; `None` if the column cannot be held so.
    fn read([_, encoding, layout, choice, bytes, scan, access]: &[String; WAY.len()]) -> Option<Way> {
        Some(Way {
            encoding: encoding.clone(),
            layout: layout.clone(),
            chosen: choice == "chosen",
            bytes: bytes.parse().ok()?,
            scan: scan.parse().ok()?,
            access: access.parse().ok()?,
        })
    }

    /// Its name in reports.
    fn form(&self) -> String {
        format!("{}/{}", self.encoding, self.layout).replace([' ', '-'], "_")
    }

    /// Whether another way is as good in everything, and better in something.
    fn is_beaten_by(&self, other: &Way) -> bool {
        let pairs = [
            (self.bytes, other.bytes),
            (self.scan, other.scan),
            (self.access, other.access),
        ];
        pairs.iter().all(|(own, others)| others <= own)
            && pairs.iter().any(|(own, others)| others * TOLERANCE < *own)
    }
}

/// The ways that no other beats, without the one that is chosen.
fn worth_trying(ways: &[Way]) -> Vec<Way> {
    let is_unbeaten = |way: &&Way| !way.chosen && !ways.iter().any(|other| way.is_beaten_by(other));
    ways.iter().filter(is_unbeaten).cloned().collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn way(layout: &str, chosen: bool, [bytes, scan, access]: [f64; 3]) -> Way {
        Way {
            encoding: "dictionary".to_owned(),
            layout: layout.to_owned(),
            chosen,
            bytes,
            scan,
            access,
        }
    }

    #[test]
    fn ways_that_another_beats_are_not_tried() {
        let ways = [
            way("byte-packed", true, [2.0, 1.0, 1.0]),
            way("bit-packed", false, [1.0, 2.0, 2.0]),
            way("vbp", false, [1.0, 3.0, 4.0]),
            way("byteslice", false, [2.0, 1.01, 1.0]),
        ];
        let tried: Vec<String> = worth_trying(&ways).into_iter().map(|w| w.layout).collect();
        assert_eq!(tried, ["bit-packed", "byteslice"]);
    }

    #[test]
    fn rows_of_explain_freeze_are_read() {
        let row = |bytes: &str, scan: &str, access: &str| {
            let cells = [
                "l_tax",
                "frame of reference",
                "bit-packed",
                "possible",
                bytes,
                scan,
                access,
            ];
            Way::read(&cells.map(str::to_owned))
        };
        let read = row("32896", "0.05", "0.7").expect("it has all cells");
        assert_eq!((read.layout.as_str(), read.chosen), ("bit-packed", false));
        assert_eq!((read.bytes, read.scan, read.access), (32896.0, 0.05, 0.7));
        assert_eq!(row("NULL", "NULL", "NULL"), None);
        assert!(reads("where l_tax<1", "l_tax") && !reads("where l_taxes < 1", "l_tax"));
    }

    #[test]
    fn a_search_tries_columns_and_ends_with_all_queries() {
        let args = BenchArgs {
            scale_factor: 0.001,
            runs: 2,
            seconds: 1,
            search: true,
            ..BenchArgs::new("layouts")
        };
        let report = run("layouts", &args).expect("it runs");
        let figure = |case: &str| {
            let found = report.measurements().iter().find(|m| m.case == case);
            found.expect("it is reported").figures().mean
        };
        let searched = figure("search/columns_searched");
        assert!(searched > 0.0 && searched + figure("search/columns_left") > 20.0);
        let compared = report.ratios().iter().any(|r| r.case == "best_found/geomean");
        assert!(compared && report.classes().iter().any(|c| c.title == "geomean"));
    }
}
