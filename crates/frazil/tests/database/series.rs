//! Functions that give rows: any number of them, in parallel, until somebody has enough, cancels, or memory ends.

use crate::{memory, rows, state};
use frazil::{Connection, RawValue as Value, Result, RowBatch, RowSink, Schema, SqlState};
use std::sync::Arc;
use std::time::{Duration, Instant};

const TRILLION: &str = "generate_series(1, 1000000000000)";

/// Forms of as many rows as nobody waits for: where rows come from, for each row of others, in the select list.
fn endless() -> [String; 6] {
    [
        format!("select * from {TRILLION} as g"),
        format!("select {TRILLION} as g"),
        "select g from (values (1), (2)) v (x), generate_series(v.x, 1000000000000) as g".to_string(),
        format!("select g.o from {TRILLION} with ordinality as g (v, o)"),
        format!("select a.g from {TRILLION} as a (g) left join (values (3)) v (x) on v.x = a.g"),
        "select g from rows from (generate_series(1, 1000000000000), generate_series(1, 5)) as r (g, h)"
            .to_string(),
    ]
}

#[test]
fn a_limit_ends_a_trillion_rows() {
    let c = memory();
    let begun = Instant::now();
    for threads in [1, 2] {
        rows(&c, &format!("set threads = {threads}"));
        for sql in endless() {
            let found = rows(&c, &format!("{sql} limit 5"));
            assert_eq!(found, "1\n2\n3\n4\n5", "{sql}");
            // Which rows of several workers come first is open.
            let found = rows(&c, &format!("select x.* from ({sql}) x limit 2 offset 200000"));
            assert_eq!(found.lines().count(), 2, "{sql}");
            assert!(threads > 1 || found == "200001\n200002", "{sql}: {found}");
        }
    }
    let found = rows(
        &c,
        &format!("select count(*), min(g), max(g) from {TRILLION} g where g between 777 and 779"),
    );
    assert_eq!(found, "3|777|779");
    assert!(begun.elapsed() < Duration::from_secs(20), "{:?}", begun.elapsed());
}

#[test]
fn without_a_limit_memory_ends_them_and_nothing_else_is_harmed() {
    let c = memory();
    rows(&c, "create table t as select g from generate_series(1, 1000) g");
    rows(&c, "set memory_limit = '24MB'");
    for sql in endless() {
        assert_eq!(state(&c, &sql), SqlState::OUT_OF_MEMORY, "{sql}");
        assert_eq!(rows(&c, "select sum(g) from t"), "500500");
    }
}

#[test]
fn a_cancel_is_heard_within_them() {
    let c = memory();
    for sql in endless() {
        let counted = format!("select count(*), sum(x.c) from ({sql}) x (c) where x.c % 3 = 1");
        let handle = c.cancel_handle();
        let canceler = std::thread::spawn(move || {
            std::thread::sleep(Duration::from_millis(150));
            handle.cancel();
            Instant::now()
        });
        assert_eq!(state(&c, &counted), SqlState::QUERY_CANCELED, "{sql}");
        let ended = Instant::now();
        let heard = ended - canceler.join().unwrap();
        assert!(heard < Duration::from_millis(1_000), "{sql}: {heard:?}");
    }
    rows(&c, "set statement_timeout = '100ms'");
    assert_eq!(
        state(&c, &format!("select count(*) from {TRILLION} g where g % 2 = 0")),
        SqlState::QUERY_CANCELED
    );
}

/// Takes some rows, then no more.
struct Few(usize);

impl RowSink for Few {
    fn begin(&mut self, _: &Arc<Schema>) -> Result<()> {
        Ok(())
    }

    fn rows(&mut self, batch: RowBatch) -> Result<()> {
        self.0 += batch.rows;
        match self.0 > 300_000 {
            true => Err(frazil::Error::new(SqlState::IO_ERROR, "enough")),
            false => Ok(()),
        }
    }
}

#[test]
fn they_are_handed_over_while_they_are_made() {
    let c = memory();
    rows(&c, "set memory_limit = '200MB'");
    let mut few = Few(0);
    let ended = c.execute_into(&format!("select g, g * 2 from {TRILLION} g"), (), &mut few);
    assert_eq!(ended.unwrap_err().state(), SqlState::IO_ERROR);
}

fn on_threads(c: &Connection, sql: &str) -> [String; 2] {
    [1, 4].map(|threads| {
        rows(c, &format!("set threads = {threads}"));
        rows(c, sql)
    })
}

#[test]
fn several_workers_give_what_one_gives() {
    let c = memory();
    rows(
        &c,
        "create table t as select g as a, g % 7 as b from generate_series(1, 200000) g",
    );
    for sql in [
        "select count(*), sum(g), min(g), max(g) from generate_series(-300000, 700000, 3) g",
        "select count(*), sum(g), sum(o), sum(g * o) from generate_series(900000, 1, -2) with ordinality as x (g, o)",
        "select sum(x), count(y), sum(y) from rows from (generate_series(1, 300000), generate_series(1.5, 70000.0, 0.5)) as r (x, y)",
        "select count(*), min(g), max(g) from generate_series(timestamp '2020-01-01', timestamp '2030-01-01', interval '7 minutes') g",
        "select count(*), min(g), max(g) from generate_series(timestamp '1920-01-31', timestamp '2030-01-01', interval '1 month 1 hour') g",
        "select count(*), sum(g), sum(a) from t, generate_series(b, 5) g",
        "select count(*), count(g), sum(a) from t left join generate_series(b, 5) g on true",
        "select count(*), count(g), sum(a) from t left join generate_series(b, 5) with ordinality as x (g, o) on g > 2",
        "select sum(x), sum(y), count(*), count(x) from (select generate_series(1, b) as x, generate_series(b, 4) as y from t) s",
        "select g, count(*) from t join generate_series(0, 9) g on g = b group by g order by g",
        "select a from t where a in (select g * 50000 from generate_series(1, 3) g) order by a",
        "select count(*) from (select a, b from t intersect all select g, 3 from generate_series(1, 100000) g) x",
    ] {
        let [one, several] = on_threads(&c, sql);
        assert_eq!(one, several, "{sql}");
    }
    let [one, _] = on_threads(&c, "select sum(g), count(*) from generate_series(1, 1000000) g");
    assert_eq!(one, "500000500000|1000000");
    let analyzed = rows(
        &c,
        "explain analyze select sum(g) from generate_series(1, 1000000) g",
    );
    assert!(
        analyzed.contains("1000000 rows in") && analyzed.contains("16 morsels"),
        "{analyzed}"
    );
}

#[test]
fn the_rows_of_an_order_keep_what_functions_give_in_theirs() {
    let c = memory();
    rows(
        &c,
        "create table t as select g as a from generate_series(1, 3000) g",
    );
    rows(&c, "set threads = 4");
    let found = rows(
        &c,
        "select a, generate_series(3, 1, -1) as g from t order by a desc",
    );
    let expected: Vec<String> = (1..=3000)
        .rev()
        .flat_map(|a| [3, 2, 1].map(|g| format!("{a}|{g}")))
        .collect();
    assert_eq!(found, expected.join("\n"));
}

#[test]
fn parameters_are_ends_and_steps() {
    let c = memory();
    let statement = c
        .prepare("select sum(g), count(*) from generate_series($1, $2, $3) g")
        .unwrap();
    for (parameters, expected) in [([1, 10, 2], "25|5"), ([10, 1, -3], "22|4"), ([1, 0, 1], "|0")] {
        let values = parameters.map(frazil::RawValue::Int);
        let sql = format!(
            "select sum(g), count(*) from generate_series({}, {}, {}) g",
            parameters[0], parameters[1], parameters[2]
        );
        assert_eq!(rows(&c, &sql), expected);
        let frazil::Outcome::Rows(found) = statement.execute(&values).unwrap().outcome else {
            panic!("no rows");
        };
        let count = found.raw().next().unwrap()[1].clone();
        assert_eq!(
            count.as_int().unwrap().to_string(),
            expected.split('|').nth(1).unwrap()
        );
    }
    let zero = [1, 2, 0].map(frazil::RawValue::Int);
    assert_eq!(
        statement.execute(&zero).unwrap_err().state(),
        SqlState::INVALID_PARAMETER
    );
}

/// What EXPLAIN shows: exact rows of constants, ranges that became ends, conditions below.
#[test]
fn explain_shows_rows_of_functions() {
    let c = memory();
    rows(&c, "create table t (a integer not null, b integer)");
    rows(&c, "insert into t values (1, 2), (2, 5), (3, null)");
    let shown = |sql: &str| rows(&c, &format!("explain {sql}"));
    assert_eq!(
        shown("select g from generate_series(1, 1000000, 7) g where g > 100 and g <= 135"),
        "Output g\nExpand g := generate_series(106, 134, 7)  [5 rows]\n  Values (): ()  [1 rows]"
    );
    assert_eq!(
        shown("select a, g from t, generate_series(1, b) g where a > 1 and g <> 2"),
        "Output a, g\nFilter g <> 2  [6 rows]\n  Expand g := generate_series(1, b, 1)  [7 rows]\n    Scan t (a, b) where a >= 2  [2 rows]"
    );
    assert_eq!(
        rows(
            &c,
            "explain (pipelines) select g, n from generate_series(1, 5) with ordinality x (g, n)"
        ),
        "Pipeline 0\n  from rows of x := generate_series(1, 5, 1), ordinality := row\n  into result (x, ordinality)"
    );
}

#[test]
fn arrays_of_numbers_that_older_versions_wrote_are_read() {
    let words = |words: &[u32]| -> Vec<u8> { words.iter().flat_map(|word| word.to_le_bytes()).collect() };
    // They have the ends of their elements, and no bytes for NULL.
    let (shape, ends, elements) = (words(&[1, 4, 1]), words(&[4, 4, 8, 8]), words(&[7, 9]));
    let old = [shape, vec![0b1010], ends, elements].concat();
    let c = memory();
    rows(&c, "create table t (id integer, a integer[])");
    let insert = "insert into t values (1, $1::integer[]), (2, '{7,NULL,9,NULL}'), (3, '{1,2}')";
    c.execute_with(insert, &[Value::Bytes(old)]).unwrap();
    for _ in 0..2 {
        let elements =
            "select id, coalesce(u, -1), o from t, unnest(a) with ordinality as r (u, o) order by id, o";
        let four = |id: u8| format!("{id}|7|1\n{id}|-1|2\n{id}|9|3\n{id}|-1|4\n");
        assert_eq!(rows(&c, elements), format!("{}{}3|1|1\n3|2|2", four(1), four(2)));
        let found = rows(
            &c,
            "select a, max(a[3]), count(a[2]), count(*) from t where id < 3 group by a",
        );
        assert_eq!(found, "{7,NULL,9,NULL}|9|0|2");
        let found = rows(&c, "select count(*) from t x join t y on x.a = y.a");
        assert_eq!(found, "5");
        rows(&c, "freeze table t");
    }
}
