//! Rows that are handed over while they are computed.

use crate::{memory, rows, state};
use frazil::{Connection, Error, Outcome, RawValue as Value, Result, RowBatch, RowSink, Schema, SqlState};
use std::sync::Arc;

/// Keeps what it is given.
#[derive(Default)]
struct Kept {
    schemas: Vec<Arc<Schema>>,
    parts: usize,
    rows: Vec<Vec<Value>>,
}

impl RowSink for Kept {
    fn begin(&mut self, schema: &Arc<Schema>) -> Result<()> {
        self.schemas.push(schema.clone());
        Ok(())
    }

    fn rows(&mut self, batch: RowBatch) -> Result<()> {
        assert!(batch.rows > 0);
        self.parts += 1;
        let row = |r| batch.columns.iter().map(|c| c.value(r)).collect();
        self.rows.extend((0..batch.rows).map(row));
        Ok(())
    }
}

/// Counts rows, and fails after some.
struct Counts {
    rows: usize,
    most: usize,
}

impl RowSink for Counts {
    fn begin(&mut self, _: &Arc<Schema>) -> Result<()> {
        Ok(())
    }

    fn rows(&mut self, batch: RowBatch) -> Result<()> {
        self.rows += batch.rows;
        match self.rows <= self.most {
            true => Ok(()),
            false => Err(Error::new(SqlState::IO_ERROR, "the pipe is closed")),
        }
    }
}

/// A table `t` with the numbers from 0 to 99,999 in `a` and a text for each in `s`.
fn numbers() -> Connection {
    let c = memory();
    let digits = "(values (0), (1), (2), (3), (4), (5), (6), (7), (8), (9))";
    let places: Vec<String> = (0..5).map(|i| format!("{digits} d{i} (v)")).collect();
    let number = "d0.v + d1.v * 10 + d2.v * 100 + d3.v * 1000 + d4.v * 10000";
    rows(&c, "create table t (a integer not null, s text)");
    let from = places.join(", ");
    rows(
        &c,
        &format!("insert into t select {number}, 'row ' || ({number}) from {from}"),
    );
    c
}

fn kept(c: &Connection, sql: &str) -> Kept {
    kept_of(c, sql, "SELECT")
}

/// Rows that a statement hands over, whose tag is `expected`.
fn kept_of(c: &Connection, sql: &str, expected: &str) -> Kept {
    let mut kept = Kept::default();
    let response = c.execute_into(sql, (), &mut kept).unwrap();
    let Outcome::Command { tag, rows } = response.outcome else {
        panic!("rows were not handed over");
    };
    assert_eq!((tag, rows), (expected, Some(kept.rows.len() as u64)), "{sql}");
    kept
}

fn whole(c: &Connection, sql: &str) -> Vec<Vec<Value>> {
    match c.execute(sql).unwrap().outcome {
        Outcome::Rows(rows) => rows.raw().collect(),
        Outcome::Command { .. } => panic!("{sql} gave no rows"),
    }
}

#[test]
fn parts_are_the_rows_of_the_whole() {
    let c = numbers();
    for sql in [
        "select s, a from t order by a desc",
        "select a, s from t order by s limit 30000 offset 50000",
        "select a % 7, count(*) from t group by a % 7 order by 1",
        "select 1, 'one'",
        "values (1), (2)",
        "select a from t where a < 0",
        "explain select a from t",
        "show threads",
    ] {
        let tag = match sql.split(' ').next() {
            Some("explain") => "EXPLAIN",
            Some("show") => "SHOW",
            _ => "SELECT",
        };
        let kept = kept_of(&c, sql, tag);
        assert_eq!(kept.rows, whole(&c, sql), "{sql}");
        assert_eq!(kept.schemas.len(), 1, "{sql}");
    }
}

#[test]
fn rows_without_an_order_are_all_there() {
    let c = numbers();
    let sorted = |mut rows: Vec<Vec<Value>>| {
        rows.sort_by_key(|row| format!("{row:?}"));
        rows
    };
    for sql in [
        "select a, s from t",
        "select a from t where a % 1000 = 1 union all select -a from t where a > 99990",
        "select x.a, y.s from t x left join t y on x.a = y.a + 50000",
        "select x.a, y.a from (select * from t where a < 300) x full join (select * from t where a > 200 and a < 400) y using (a)",
    ] {
        assert_eq!(sorted(kept(&c, sql).rows), sorted(whole(&c, sql)), "{sql}");
    }
    let limited = kept(&c, "select a from t limit 70000 offset 20000").rows;
    let different: std::collections::HashSet<String> = limited.iter().map(|r| format!("{r:?}")).collect();
    assert_eq!((limited.len(), different.len()), (70000, 70000));
}

#[test]
fn a_result_may_be_larger_than_memory() {
    let c = numbers();
    rows(&c, "set memory_limit = '40MB'");
    let sql = "select x.s || ' and some more text', x.a from t x, (values (1), (2), (3), (4), (5), (6), (7), (8), (9), (10), (11), (12)) y (b)";
    assert_eq!(state(&c, sql), SqlState::OUT_OF_MEMORY);
    let mut counts = Counts {
        rows: 0,
        most: usize::MAX,
    };
    c.execute_into(sql, (), &mut counts).unwrap();
    assert_eq!(counts.rows, 1_200_000);
    // Few rows of the one side, each of which meets many.
    let sql = "select x.s || ' and some more text, ' || y.s, x.a from (select * from t where a % 10000 = 5) x, (select * from t limit 200000) y";
    assert_eq!(state(&c, sql), SqlState::OUT_OF_MEMORY);
    let mut counts = Counts {
        rows: 0,
        most: usize::MAX,
    };
    c.execute_into(sql, (), &mut counts).unwrap();
    assert_eq!(counts.rows, 1_000_000);
}

#[test]
fn an_error_of_the_sink_ends_the_statement() {
    let c = numbers();
    rows(&c, "begin");
    let mut counts = Counts { rows: 0, most: 1000 };
    let error = c.execute_into("select a from t", (), &mut counts).unwrap_err();
    assert_eq!(error.message(), "the pipe is closed");
    let failed = state(&c, "select 1");
    assert_eq!(failed, SqlState::IN_FAILED_TRANSACTION);
    rows(&c, "rollback");
    assert_eq!(kept(&c, "select count(*) from t").rows, [[Value::Int(100_000)]]);
}

/// Runs a statement on the connection that it is handed rows of.
struct Again(Connection);

impl RowSink for Again {
    fn begin(&mut self, _: &Arc<Schema>) -> Result<()> {
        self.0.execute("select 1").map(|_| ())
    }

    fn rows(&mut self, _: RowBatch) -> Result<()> {
        Ok(())
    }
}

#[test]
fn a_sink_does_not_wait_for_its_own_statement() {
    let c = numbers();
    let error = c
        .execute_into("select a from t", (), &mut Again(c.clone()))
        .unwrap_err();
    assert_eq!(error.state(), SqlState::OBJECT_IN_USE);
    let other = c.database().connect();
    c.execute_into("select a from t", (), &mut Again(other)).unwrap();
    assert_eq!(rows(&c, "select count(*) from t"), "100000");
}

#[test]
fn an_error_may_come_after_rows() {
    let c = numbers();
    rows(&c, "set threads = 1");
    let mut kept = Kept::default();
    let sql = "select 1 / (a - 1) from t where a > 1 union all select a / (a - 99999) from t";
    let error = c.execute_into(sql, (), &mut kept).unwrap_err();
    assert_eq!(error.state(), SqlState::DIVISION_BY_ZERO);
    assert!(!kept.rows.is_empty());
}

#[test]
fn prepared_statements_and_scripts_hand_rows_over() {
    let c = numbers();
    let statement = c.prepare("select a from t where a < $1").unwrap();
    for most in [5, 70_000, 0] {
        let mut kept = Kept::default();
        statement.execute_into(&[Value::Int(most)], &mut kept).unwrap();
        assert_eq!(kept.rows.len(), most as usize);
    }
    let mut kept = Kept::default();
    c.execute_into("select 1; create table u (a integer); select 2, 3", (), &mut kept)
        .unwrap();
    let widths: Vec<usize> = kept.schemas.iter().map(|s| s.columns.len()).collect();
    assert_eq!((widths, kept.rows.len()), (vec![1, 2], 2));
}

/// A file's first rows are what someone who looks at it asks for.
#[test]
fn a_limit_keeps_the_first_rows_whatever_the_threads() {
    let c = memory();
    rows(
        &c,
        "create table t as select x from generate_series(0, 400000) s(x)",
    );
    rows(&c, "set threads = 4");
    for _ in 0..20 {
        assert_eq!(rows(&c, "select x from t limit 3"), "0\n1\n2");
        assert_eq!(rows(&c, "select x from t limit 2 offset 70000"), "70000\n70001");
        assert_eq!(
            rows(&c, "select x from t where x % 90000 = 89999 limit 3"),
            "89999\n179999\n269999"
        );
    }
    rows(&c, "freeze table t");
    let both = "select x from t where x % 150000 = 7 union all select -x from t where x < 5 limit 6";
    for _ in 0..20 {
        assert_eq!(rows(&c, both), "7\n150007\n300007\n0\n-1\n-2");
    }
}
