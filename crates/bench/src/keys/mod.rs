//! The experiment `keys`: statements that find a row by its key, or write one with a key: prepared, on one thread, in memory,
//! each a transaction of its own. Beside them run the same statements in SQLite, in the same process, if the feature
//! `sqlite` is compiled in: `cargo run --release --features sqlite -- bench keys`.
//!
//! Tables have eight columns and a primary key of one of four kinds. Each kind has a table in each engine, which all cases
//! of the kind share; what they insert has keys of its own. Shapes of a statement are compared with the plain one.

mod ours;
#[cfg(feature = "sqlite")]
mod sqlite;

use crate::arguments::BenchArgs;
use crate::report::{Measurement, Report, Values};
use crate::statistics::Sample;
use frazil_testkit::Random;
use frazil_types::Result;
use std::time::Instant;

/// Rows of a table at scale factor 1.
const ROWS: usize = 150_000;
/// Statements of a run at scale factor 1.
const UNITS: usize = 20_000;
/// Keys of rows that one case inserts begin at a multiple of this.
const NEW_KEYS: i64 = 10_000_000;

/// What the primary key consists of.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Key {
    /// A bigint.
    Plain,
    /// A text of twelve characters.
    Text,
    /// A bigint and an integer.
    Pair,
    /// A decimal(18,2).
    Decimal,
}

/// A value for a parameter of the statement on row `n`.
#[derive(Clone, Copy, Debug)]
pub enum Given {
    /// The key's first column.
    Key,
    /// Its second column.
    Second,
    /// A number that differs from statement to statement.
    Number,
    /// NULL.
    Null,
}

/// Which rows the statements of a case name.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Rows {
    /// Random ones of the table.
    Present,
    /// New ones, in ascending order of their keys.
    New,
}

/// A statement, in words that both engines understand; its parameters come in the order of their numbers.
#[derive(Clone, Copy, Debug)]
pub struct Case {
    /// Its name.
    pub name: &'static str,
    /// The case that it is a shape of; its own name if it is the plain one.
    pub plain: &'static str,
    /// The key of its table.
    pub key: Key,
    /// Its text.
    pub sql: &'static str,
    /// Values of its parameters.
    pub given: &'static [Given],
    /// The rows it names.
    pub rows: Rows,
}

const fn present(
    name: &'static str,
    plain: &'static str,
    key: Key,
    sql: &'static str,
    given: &'static [Given],
) -> Case {
    Case {
        name,
        plain,
        key,
        sql,
        given,
        rows: Rows::Present,
    }
}

const fn new(name: &'static str, key: Key, sql: &'static str, given: &'static [Given]) -> Case {
    Case {
        name,
        plain: "insert",
        key,
        sql,
        given,
        rows: Rows::New,
    }
}

use Given::{Key as K, Null, Number, Second};

/// The cases; plain ones stand before their shapes.
pub const CASES: &[Case] = &[
    present(
        "select",
        "select",
        Key::Plain,
        "select * from t_plain where k = $1",
        &[K],
    ),
    present(
        "select_text",
        "select",
        Key::Text,
        "select * from t_text where k = $1",
        &[K],
    ),
    present(
        "select_pair",
        "select",
        Key::Pair,
        "select * from t_pair where k = $1 and a = $2",
        &[K, Second],
    ),
    present(
        "select_decimal",
        "select",
        Key::Decimal,
        "select * from t_decimal where k = $1",
        &[K],
    ),
    present(
        "select_expression",
        "select",
        Key::Plain,
        "select b + 1, c || g, d * 2 from t_plain where k = $1",
        &[K],
    ),
    present(
        "select_null",
        "select",
        Key::Plain,
        "select * from t_plain where k = $1",
        &[Null],
    ),
    new(
        "insert",
        Key::Plain,
        "insert into t_plain values ($1, $2, 2, 'three', 4.25, 5.5, 6, 'seven')",
        &[K, Second],
    ),
    new(
        "insert_text",
        Key::Text,
        "insert into t_text values ($1, $2, 2, 'three', 4.25, 5.5, 6, 'seven')",
        &[K, Second],
    ),
    new(
        "insert_pair",
        Key::Pair,
        "insert into t_pair values ($1, $2, 2, 'three', 4.25, 5.5, 6, 'seven')",
        &[K, Second],
    ),
    new(
        "insert_decimal",
        Key::Decimal,
        "insert into t_decimal values ($1, $2, 2, 'three', 4.25, 5.5, 6, 'seven')",
        &[K, Second],
    ),
    new(
        "insert_expression",
        Key::Plain,
        "insert into t_plain values ($1, $2 + 1, 2, 'three', 4.25, 5.5, 6, 'se' || 'ven')",
        &[K, Second],
    ),
    new(
        "insert_returning",
        Key::Plain,
        "insert into t_plain values ($1, $2, 2, 'three', 4.25, 5.5, 6, 'seven') returning k, c",
        &[K, Second],
    ),
    new(
        "insert_null",
        Key::Plain,
        "insert into t_plain values ($1, $2, 2, 'three', 4.25, 5.5, 6, 'seven')",
        &[K, Null],
    ),
    present(
        "update",
        "update",
        Key::Plain,
        "update t_plain set b = $1 where k = $2",
        &[Number, K],
    ),
    present(
        "update_text",
        "update",
        Key::Text,
        "update t_text set b = $1 where k = $2",
        &[Number, K],
    ),
    present(
        "update_pair",
        "update",
        Key::Pair,
        "update t_pair set b = $1 where k = $2 and a = $3",
        &[Number, K, Second],
    ),
    present(
        "update_decimal",
        "update",
        Key::Decimal,
        "update t_decimal set b = $1 where k = $2",
        &[Number, K],
    ),
    present(
        "update_expression",
        "update",
        Key::Plain,
        "update t_plain set b = $1 + a * 2 where k = $2",
        &[Number, K],
    ),
    present(
        "update_returning",
        "update",
        Key::Plain,
        "update t_plain set b = $1 where k = $2 returning b, c",
        &[Number, K],
    ),
    present(
        "update_null",
        "update",
        Key::Plain,
        "update t_plain set b = $1 where k = $2",
        &[Null, K],
    ),
];

/// The tables, by their keys; `KEY` stands for the type of column `k`.
const TABLES: [(Key, &str, &str); 4] = [
    (Key::Plain, "t_plain", "k"),
    (Key::Text, "t_text", "k"),
    (Key::Pair, "t_pair", "k, a"),
    (Key::Decimal, "t_decimal", "k"),
];

/// The tables that `cases` name: no other one is made.
fn tables_of(cases: &[Case]) -> Vec<(Key, &'static str, &'static str)> {
    let named = |key| cases.iter().any(|case| case.key == key);
    TABLES.into_iter().filter(|(key, _, _)| named(*key)).collect()
}

/// The statement that makes a table whose column `k` has type `ty`.
fn create_table(name: &str, ty: &str, key: &str) -> String {
    format!(
        "create table {name} (k {ty} not null, a integer, b integer, c text, d decimal(12,2), e double precision, \
         f bigint, g text, primary key ({key}))"
    )
}

/// Column `k` of row `n` where it is a text.
fn text_key(n: i64) -> String {
    format!("key {n:08}")
}

/// Column `a` of row `n`.
fn second(n: i64) -> i64 {
    n % 1000
}

/// An engine's prepared statement of a case.
trait Prepared {
    /// Runs it for each row `n` of `rows`, and reads what it returns. Returns the number of rows that came back.
    fn run(&mut self, rows: &[i64]) -> Result<u64>;
}

/// Runs the experiment: cases take turns, and so do engines. Others than those whose names begin with what
/// [`BenchArgs::only`] says are left out.
pub fn run(name: &'static str, cases: &[Case], args: &BenchArgs) -> Result<Report> {
    let only = args.only.as_deref().unwrap_or_default();
    let cases: Vec<Case> = (cases.iter().copied())
        .filter(|case| case.name.starts_with(only))
        .collect();
    let share = args.scale_factor.min(1.0);
    let rows = ((ROWS as f64 * share) as usize).max(100);
    let tables = tables_of(&cases);
    let ours = ours::open(&tables, rows)?;
    #[cfg(feature = "sqlite")]
    let theirs = sqlite::open(&tables, rows)?;
    let mut running = Vec::new();
    for case in &cases {
        running.push((case, "frazil", ours::prepare(&ours, case)?));
        #[cfg(feature = "sqlite")]
        running.push((case, "sqlite", sqlite::prepare(&theirs, case)?));
    }
    let units = ((UNITS as f64 * share) as usize).max(20);
    let mut ns = vec![Vec::new(); running.len()];
    for round in 0..=args.runs {
        for turn in 0..running.len() {
            let at = (turn + round) % running.len();
            let (case, _, prepared) = &mut running[at];
            let rows = rows_of(case, rows, units, round);
            let begun = Instant::now();
            prepared.run(&rows)?;
            if round > 0 {
                ns[at].push(begun.elapsed().as_nanos() as f64 / units as f64);
            }
        }
    }
    let named = running.iter().map(|(case, engine, _)| (**case, *engine));
    Ok(told(name, named.zip(ns)))
}

/// The rows that a round's statements name: the same for all engines.
fn rows_of(case: &Case, present: usize, units: usize, round: usize) -> Vec<i64> {
    let mut random = Random::new(round as u64 + 1);
    let place = CASES.iter().position(|c| c.name == case.name).unwrap_or(0) as i64;
    let first = NEW_KEYS * (place + 1) + (round * units) as i64;
    let rows = 0..units as i64;
    rows.map(|unit| match case.rows {
        Rows::Present => random.below(present as u64) as i64,
        Rows::New => first + unit,
    })
    .collect()
}

fn told(name: &'static str, results: impl Iterator<Item = ((Case, &'static str), Vec<f64>)>) -> Report {
    let mut report = Report::default();
    let mut done = Vec::new();
    for ((case, engine), ns) in results {
        let rates = ns.iter().map(|ns| 1e3 / ns).collect();
        for (metric, unit, values) in [
            ("ns_per_statement", "ns", ns),
            ("millions_per_second", "M/s", rates),
        ] {
            report.add(Measurement {
                experiment: name,
                case: format!("{engine}/{}", case.name),
                metric,
                unit,
                values: Values::Measured(Sample::new(values)),
            });
        }
        done.push((case, engine));
    }
    for (case, engine) in done {
        let own = format!("{engine}/{}", case.name);
        if engine == "frazil" && case.name != case.plain {
            report.compare(&own, &format!("frazil/{}", case.plain), "ns_per_statement");
        }
        if engine == "sqlite" {
            report.compare(&format!("frazil/{}", case.name), &own, "ns_per_statement");
        }
    }
    report
}
