//! Statements on one row by its key in a table of many chunks, beside one of few chunks with as many rows.

use super::plan::Plan;
use crate::bound::Bound;
use crate::report::Report;
use frazil::{Connection, Database, Outcome, Statement};
use frazil_testkit::Random;
use frazil_types::{CHUNK_ROWS, Error, Result, Value};
use std::time::Instant;

/// Chunks of the two tables.
const MANY: usize = 3_000;
const FEW: usize = 3;
/// Rows of a short transaction.
const SHORT: usize = 4_096;
/// Statements of a run.
const STATEMENTS: usize = 50_000;

const METRIC: (&str, &str) = ("us_per_statement", "us");
const KINDS: [&str; 3] = ["insert", "update", "delete"];

/// A table, and its statements by key.
struct Side {
    _database: Database,
    statements: [Statement; 3],
    /// Keys of the rows that UPDATE names are below.
    rows: usize,
    /// The next new key, and the next one to delete.
    next: [usize; 2],
    random: Random,
}

/// Measures the statements in both tables, in turns.
pub fn measure(plan: &Plan, report: &mut Report) -> Result<()> {
    let many = plan.scaled(MANY, FEW + 1);
    let rows = FEW * CHUNK_ROWS / 2;
    let mut sides = [Side::new(many, rows)?, Side::new(FEW, rows)?];
    let each = plan.scaled(STATEMENTS, 20);
    let mut taken: [[Vec<f64>; 2]; 3] = Default::default();
    for round in 0..=plan.runs {
        for (kind, taken) in taken.iter_mut().enumerate() {
            for turn in 0..sides.len() {
                let at = (turn + round) % sides.len();
                let us = sides[at].run(kind, each)?;
                if round > 0 {
                    taken[at].push(us);
                }
            }
        }
    }
    for (kind, taken) in KINDS.into_iter().zip(taken) {
        let names = [many, FEW].map(|chunks| format!("chunks/{kind}/{chunks}"));
        for (name, taken) in names.iter().zip(taken) {
            plan.add(report, name, METRIC, taken);
        }
        report.compare_pairs(&names[0], &names[1], METRIC.0);
        let name = format!("chunks/{kind}, {many} chunks over {FEW}");
        Bound::Most(1.25).judge_last_ratio(report, &name);
    }
    Ok(())
}

impl Side {
    /// A table of `chunks` chunks with `rows` rows, evenly.
    fn new(chunks: usize, rows: usize) -> Result<Side> {
        let database = Database::memory()?;
        let connection = database.connect();
        connection.execute(
            "set threads = 1; set frazil.freeze_after = off; \
             create table t (k bigint not null, v integer, name text)",
        )?;
        let each = rows.div_ceil(chunks);
        for chunk in 0..chunks {
            let keys = chunk * each..(rows.min((chunk + 1) * each)).max(chunk * each + 1);
            insert(&connection, keys.start, keys.end)?;
            if chunk + 1 < chunks {
                fill_chunk(&connection, keys.len())?;
            }
        }
        connection.execute("alter table t add primary key (k)")?;
        let count = count(
            &connection,
            "select count(distinct chunk) from frazil_blocks where table_name = 't'",
        )?;
        if count != chunks {
            return Err(Error::internal(format!(
                "the table has {count} chunks, not {chunks}"
            )));
        }
        let statements = [
            connection.prepare("insert into t values ($1, 0, 'a short name')")?,
            connection.prepare("update t set v = v + 1 where k = $1")?,
            connection.prepare("delete from t where k = $1")?,
        ];
        let rows = self::count(&connection, "select count(*) from t")?;
        Ok(Side {
            _database: database,
            statements,
            rows,
            next: [rows.max(chunks * each); 2],
            random: Random::new(7),
        })
    }

    /// Microseconds of a statement of a kind. What is deleted was inserted before.
    fn run(&mut self, kind: usize, each: usize) -> Result<f64> {
        let keys: Vec<[Value; 1]> = (0..each)
            .map(|_| {
                let key = match kind {
                    1 => self.random.below(self.rows as u64) as usize,
                    _ => {
                        let next = &mut self.next[usize::from(kind == 2)];
                        *next += 1;
                        *next - 1
                    }
                };
                [Value::Int(key as i128)]
            })
            .collect();
        let begun = Instant::now();
        for key in &keys {
            self.statements[kind].execute(key)?;
        }
        Ok(1e6 * begun.elapsed().as_secs_f64() / each as f64)
    }
}

/// Inserts the rows of keys.
fn insert(connection: &Connection, first: usize, end: usize) -> Result<()> {
    let text = format!(
        "insert into t select i, 0, 'a short name' from generate_series({first}, {}) as s (i)",
        end - 1
    );
    connection.execute(&text).map(drop)
}

/// Uses up the slots of the chunk that takes rows, of which `used` are: a slot that is rolled back is not used again.
/// The transactions are short ones: long ones may fill chunks of their own.
fn fill_chunk(connection: &Connection, used: usize) -> Result<()> {
    for first in (used..CHUNK_ROWS).step_by(SHORT) {
        connection.execute("begin")?;
        insert(connection, first, CHUNK_ROWS.min(first + SHORT))?;
        connection.execute("rollback")?;
    }
    Ok(())
}

/// The number that a query returns.
fn count(connection: &Connection, sql: &str) -> Result<usize> {
    let row = match connection.execute(sql)?.outcome {
        Outcome::Rows(rows) => rows.raw().next(),
        Outcome::Command { .. } => None,
    };
    match row.as_deref() {
        Some([Value::Int(count)]) => Ok(*count as usize),
        _ => Err(Error::internal("a query returns a number")),
    }
}
