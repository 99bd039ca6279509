//! WITH queries that write, and recursion without end: limits, parameters, failures.

use crate::{eventually, memory, rows, state};
use frazil::{Outcome, RawValue as Value, SqlState};
use std::time::{Duration, Instant};

#[test]
fn parameters_get_their_types_from_any_part() {
    let c = memory();
    rows(&c, "create table t (a integer primary key, b date, at timestamp)");
    let sql = "with i as (insert into t values ($1, $3, now()) on conflict (a) do update set b = excluded.b returning a, at) \
               select a + $2::int, at = now() from i";
    let statement = c.prepare(sql).unwrap();
    for (a, day) in [(1, "2024-01-31"), (1, "2024-02-01"), (2, "2024-03-01")] {
        let values = [Value::Int(a), Value::Int(40), Value::Text(day.to_string())];
        let Outcome::Rows(found) = statement.execute(&values).unwrap().outcome else {
            panic!("no rows");
        };
        let row = found.raw().next().unwrap();
        assert_eq!(row[0], Value::Int(a + 40));
    }
    assert_eq!(
        rows(&c, "select a, b from t order by a"),
        "1|2024-02-01\n2|2024-03-01"
    );
}

#[test]
fn many_rows_go_from_query_to_query() {
    let c = memory();
    rows(&c, "create table t (a bigint primary key, b bigint)");
    let sql = "with i as (insert into t select g, g % 7 from generate_series(1, 200000) g returning a, b), \
               s as (select b, count(*) as n from i group by b) select sum(n), count(*), min(b) from s";
    assert_eq!(rows(&c, sql), "200000|7|0");
    let sql = "with d as (delete from t where b = 3 returning a), u as (update t set b = 9 where b = 4 returning a) \
               select (select count(*) from d), (select count(*) from u), (select count(*) from t)";
    assert_eq!(rows(&c, sql), "28572|28571|200000");
    assert_eq!(rows(&c, "select count(*), max(b) from t"), "171428|9");
}

#[test]
fn what_fails_or_is_too_much_leaves_nothing() {
    let c = memory();
    rows(&c, "create table t (a bigint)");
    let endless = "with i as (insert into t select g from generate_series(1, 1000000000000) g returning a) select count(*) from i";
    rows(&c, "set memory_limit = '24MB'");
    assert_eq!(state(&c, endless), SqlState::OUT_OF_MEMORY);
    rows(&c, "set memory_limit = '2GB'");
    rows(&c, "set statement_timeout = '200ms'");
    assert_eq!(state(&c, endless), SqlState::QUERY_CANCELED);
    eventually(&c, "set statement_timeout = 0");
    assert_eq!(
        state(
            &c,
            "with i as (insert into t values (0) returning a) select 1 / a from i"
        ),
        SqlState::DIVISION_BY_ZERO
    );
    let one = |n: usize| format!("w{n} as (insert into t values ({n}))");
    let many = |count: usize| {
        let queries: Vec<String> = (0..count).map(one).collect();
        format!("with {} select 1", queries.join(", "))
    };
    assert_eq!(state(&c, &many(65)), SqlState::PROGRAM_LIMIT_EXCEEDED);
    assert_eq!(rows(&c, "select count(*) from t"), "0");
    rows(&c, &many(64));
    assert_eq!(rows(&c, "select count(*), sum(a) from t"), "64|2016");
    assert_eq!(
        state(&c, "explain with i as (insert into t values (0)) select 1"),
        SqlState::FEATURE_NOT_SUPPORTED
    );
}

#[test]
fn recursion_without_end_is_cancelled() {
    let c = memory();
    let endless =
        "with recursive r (n) as (select 1 union all select n % 1000 + 1 from r) select count(*) from r";
    let handle = c.cancel_handle();
    let canceler = std::thread::spawn(move || {
        std::thread::sleep(Duration::from_millis(200));
        handle.cancel();
        Instant::now()
    });
    assert_eq!(state(&c, endless), SqlState::QUERY_CANCELED);
    let heard = Instant::now() - canceler.join().unwrap();
    assert!(heard < Duration::from_secs(1), "{heard:?}");
    rows(&c, "set statement_timeout = '200ms'");
    assert_eq!(state(&c, endless), SqlState::QUERY_CANCELED);
}
