//! Random statements of two connections: what plans from the cache answer is compared with fresh plans, and with a
//! model of the table.

use crate::{directory, memory, rows};
use frazil::{Connection, Outcome, SqlState};
use std::fmt::Write;

/// A linear congruential generator: the same numbers in every run.
struct Random(u64);

impl Random {
    fn below(&mut self, n: u64) -> u64 {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
        (self.0 >> 33) % n
    }

    /// A bigint: small, at a power of two, or at an extreme.
    fn value(&mut self) -> Option<i64> {
        match self.below(20) {
            0..10 => Some(self.below(100) as i64),
            10..15 => {
                let power = 1i64 << self.below(63);
                Some(if self.below(2) == 0 { power } else { -power })
            }
            15 => Some(i64::MAX),
            16 => Some(i64::MIN),
            17 => Some(9_000_000_000_000_000_000),
            _ => None,
        }
    }
}

#[derive(Clone, Copy)]
struct Row {
    key: i64,
    value: Option<i64>,
}

/// An answer, or the state of the error that stands for it.
type Answer = Result<String, SqlState>;

/// What a query must answer, given the rows it sees.
type Model = fn(&[Row]) -> Answer;

/// Queries with what they must answer.
const QUERIES: [(&str, Model); 4] = [
    (
        "select count(*), count(x), sum(x), min(x), max(x) from t",
        |rows| {
            let values = || rows.iter().filter_map(|r| r.value);
            let text = |v: Option<i128>| v.map_or(String::new(), |v| v.to_string());
            let sum = values().map(i128::from).reduce(|a, b| a + b);
            let (min, max) = (values().min().map(i128::from), values().max().map(i128::from));
            let (all, valid) = (rows.len(), values().count());
            Ok(format!("{all}|{valid}|{}|{}|{}", text(sum), text(min), text(max)))
        },
    ),
    ("select sum(x + 1) from t", |rows| {
        over(rows, |v| v.checked_add(1))
    }),
    ("select sum(x * 3) from t where k >= 0", |rows| {
        over(rows, |v| v.checked_mul(3))
    }),
    ("select sum(k * k - k) from t", |rows| {
        let keys: Vec<Row> = (rows.iter())
            .map(|r| Row {
                value: Some(r.key),
                ..*r
            })
            .collect();
        over(&keys, |k| k.checked_mul(k)?.checked_sub(k))
    }),
];

/// The sum of a function of all values; 22003 if it fails for one.
fn over(rows: &[Row], function: impl Fn(i64) -> Option<i64>) -> Answer {
    let mut sum = None;
    for value in rows.iter().filter_map(|r| r.value) {
        let value = function(value).ok_or(SqlState::NUMERIC_OUT_OF_RANGE)?;
        sum = Some(sum.unwrap_or(0) + i128::from(value));
    }
    Ok(sum.map_or(String::new(), |s| s.to_string()))
}

fn answer(connection: &Connection, sql: &str) -> Answer {
    match connection.execute(sql).map_err(|e| e.state())?.outcome {
        Outcome::Rows(_) => Ok(rows(connection, sql)),
        Outcome::Command { .. } => unreachable!("a query"),
    }
}

struct Interleaving {
    random: Random,
    writer: Connection,
    reader: Connection,
    /// What is committed, and what the writer's open transaction sees.
    committed: Vec<Row>,
    open: Option<Vec<Row>>,
    next_key: i64,
    csv: std::path::PathBuf,
    log: String,
}

impl Interleaving {
    fn run(&mut self, sql: &str) {
        let _ = writeln!(self.log, "{sql}");
        if let Err(e) = self.writer.execute(sql) {
            panic!("{}\n{e:?}", self.log);
        }
    }

    fn new_rows(&mut self) -> Vec<Row> {
        let count = 1 + self.random.below(6);
        let new = (0..count).map(|_| {
            self.next_key += 1;
            Row {
                key: self.next_key,
                value: self.random.value(),
            }
        });
        new.collect()
    }

    fn add(&mut self, new: Vec<Row>) {
        self.open.as_mut().unwrap_or(&mut self.committed).extend(new);
    }

    /// One statement of the writer.
    fn step(&mut self) {
        match self.random.below(12) {
            0..4 => {
                let new = self.new_rows();
                let text = |r: &Row| {
                    let value = r.value.map_or("null".to_owned(), |v| v.to_string());
                    format!("({}, {value})", r.key)
                };
                let values: Vec<String> = new.iter().map(text).collect();
                self.run(&format!("insert into t values {}", values.join(", ")));
                self.add(new);
            }
            4 => {
                let new = self.new_rows();
                let line =
                    |r: &Row| format!("{},{}\n", r.key, r.value.map_or(String::new(), |v| v.to_string()));
                std::fs::write(&self.csv, new.iter().map(line).collect::<String>()).expect("it is written");
                self.run(&format!("copy t from '{}' with (format csv)", self.csv.display()));
                self.add(new);
            }
            5 | 6 => {
                let (modulus, rest) = (2 + self.random.below(3) as i64, self.random.below(2) as i64);
                self.run(&format!("delete from t where k % {modulus} = {rest}"));
                let rows = self.open.as_mut().unwrap_or(&mut self.committed);
                rows.retain(|r| r.key % modulus != rest);
            }
            7 => self.run("freeze table t"),
            _ if self.open.is_none() => {
                self.run("begin");
                self.open = Some(self.committed.clone());
            }
            8 | 9 => {
                self.run("rollback");
                self.open = None;
            }
            _ => {
                self.run("commit");
                self.committed = self.open.take().unwrap_or_default();
            }
        }
    }

    /// Compares what a connection answers from the cache, and by a fresh plan, with the model. A query that must fail
    /// is left out where it would end the open transaction.
    fn check(&self, connection: &Connection, rows: &[Row], is_inside: bool) {
        for (query, model) in QUERIES {
            let expected = model(rows);
            if is_inside && expected.is_err() {
                continue;
            }
            assert_eq!(answer(connection, query), expected, "{}{query}", self.log);
            connection
                .execute("set frazil.plan_cache = off")
                .expect("it is set");
            assert_eq!(answer(connection, query), expected, "{}fresh: {query}", self.log);
            connection
                .execute("set frazil.plan_cache = on")
                .expect("it is set");
        }
    }
}

#[test]
fn cached_plans_answer_as_fresh_ones_between_statements_of_two_connections() {
    let folder = directory("interleaving");
    std::fs::create_dir_all(&folder).expect("it is made");
    for seed in 1..=4 {
        let writer = memory();
        rows(&writer, "create table t (k bigint, x bigint)");
        let mut interleaving = Interleaving {
            random: Random(seed),
            reader: writer.database().connect(),
            writer,
            committed: Vec::new(),
            open: None,
            next_key: 0,
            csv: folder.join("rows.csv"),
            log: format!("seed {seed}\n"),
        };
        for _ in 0..25 {
            interleaving.step();
            let Interleaving {
                writer,
                reader,
                committed,
                open,
                ..
            } = &interleaving;
            // The transaction's own plans first, so that the reader may meet them.
            if let Some(own) = open {
                interleaving.check(writer, own, true);
            }
            interleaving.check(reader, committed, false);
            if open.is_none() {
                interleaving.check(writer, committed, false);
            }
        }
    }
    let _ = std::fs::remove_dir_all(folder);
}
