//! INSERT … ON CONFLICT: how it finds rows in its way, in several batches, prepared, and among rows that were frozen.

use crate::{memory, rows};
use frazil::{Connection, Outcome, RawValue as Value, Statement};

/// Whether a statement had to be compiled, and how many rows it wrote.
fn run(statement: &Statement, values: &[Value]) -> (bool, u64) {
    let response = statement.execute(values).expect("it runs");
    let rows = match response.outcome {
        Outcome::Command { rows, .. } => rows.unwrap_or(0),
        Outcome::Rows(rows) => rows.len() as u64,
    };
    (!response.timing.compile.is_zero(), rows)
}

fn table(c: &Connection, rows_there: usize) {
    rows(
        c,
        "create table t (k bigint primary key, n integer not null default 0, s text, check (n >= 0))",
    );
    let list: Vec<String> = (0..rows_there)
        .map(|k| format!("({k}, {}, 'old {k}')", k % 7))
        .collect();
    for part in list.chunks(10_000) {
        rows(c, &format!("insert into t values {}", part.join(", ")));
    }
}

#[test]
fn an_upsert_reads_the_rows_in_its_way_and_no_others() {
    let c = memory();
    table(&c, 10);
    let upsert = "insert into t values (3, 1, 'new') on conflict (k) do update set n = t.n + excluded.n, s = excluded.s returning s";
    assert_eq!(
        rows(&c, &format!("explain {upsert}")),
        "Insert t (k#0, n#1, s#2) on conflict update set (1, 2) check t_n_check check t_n_check t_n_check#3\n  \
         Map t_n_check#3 := n#1 >= 0\n    \
         Values (k#0, n#1, s#2): (3, 1, 'new')  [1 rows]\n\
         On conflict:\n  \
         Output number, n = n#14, s = s#12, t_n_check = t_n_check#15\n  \
         Map t_n_check#15 := n#14 >= 0\n    \
         Map n#14 := n#8 + n#11\n      \
         Given (n#8 = 1, n#11 = 4, s#12 = 5, number = 6)\n\
         Returning:\n  \
         Output s = s#18\n  \
         Given (s#18 = 2)"
    );
    rows(&c, "set frazil.use_indexes = off");
    assert_eq!(rows(&c, upsert), "new");
    assert_eq!(rows(&c, "select n, s from t where k = 3"), "4|new");
}

#[test]
fn prepared_upserts_are_compiled_once() {
    let c = memory();
    table(&c, 100);
    let count = c
        .prepare("insert into t values ($1, $2) on conflict (k) do update set n = t.n + $2 where t.n < 1000")
        .unwrap();
    let take = c
        .prepare("insert into t (k, s) values ($1, $2) on conflict (k) do update set s = excluded.s returning k, s")
        .unwrap();
    for i in 0..50i128 {
        let compiled = i == 0;
        assert_eq!(run(&count, &[Value::Int(90 + i), Value::Int(10)]), (compiled, 1));
        let text = Value::Text(format!("a text that is longer than twelve bytes {i}"));
        assert_eq!(run(&take, &[Value::Int(90 + i % 20), text]), (compiled, 1));
        if i == 20 {
            rows(&c, "freeze t");
        }
    }
    assert_eq!(run(&count, &[Value::Int(95), Value::Int(5000)]), (false, 1));
    assert_eq!(run(&count, &[Value::Int(95), Value::Int(5000)]), (false, 0));
    // 95 % 7 is 4.
    assert_eq!(rows(&c, "select n from t where k = 95"), "5014");
    assert_eq!(rows(&c, "select n from t where k = 139"), "10");
    assert_eq!(
        rows(&c, "select s from t where k = 92"),
        "a text that is longer than twelve bytes 42"
    );
    assert_eq!(rows(&c, "select count(*), count(distinct k) from t"), "140|140");
}

#[test]
fn rows_in_several_batches_are_written_in_their_order() {
    for threads in [1, 3] {
        let c = memory();
        rows(&c, &format!("set threads = {threads}"));
        table(&c, 50_000);
        rows(
            &c,
            "delete from t where k % 10 = 3; freeze t; insert into t select k + 3, 1, 'hot' from t where k % 100 = 0",
        );
        let upsert = "insert into t (k, n) select k + 20000, n from t where k < 40000 on conflict (k) do update \
             set n = excluded.n + 100, s = (select max(s) from t x where x.k = excluded.k + 1) || t.s where t.n <> 2";
        let Outcome::Command {
            rows: Some(count), ..
        } = c.execute(upsert).unwrap().outcome
        else {
            panic!("a command");
        };
        let answer = rows(
            &c,
            "select count(*), sum(n), count(s), count(*) filter (where n >= 100), min(k), max(k) from t",
        );
        let expected = {
            let m = memory();
            table(&m, 50_000);
            rows(
                &m,
                "delete from t where k % 10 = 3; insert into t select k + 3, 1, 'hot' from t where k % 100 = 0",
            );
            let joined = "select y.k as k, y.n as n, o.k as ok, o.n as om, o.s as s, (select max(s) from t x where x.k = y.k + 1) as m \
                 from (select k + 20000 as k, n from t where k < 40000) y left join t o on o.k = y.k";
            rows(&m, &format!("create table p as {joined}"));
            let written = rows(&m, "select count(*) from p where ok is null or om <> 2");
            assert_eq!(count.to_string(), written);
            rows(&m, "delete from t where k in (select ok from p where om <> 2)");
            rows(&m, "insert into t select k, n + 100, m || s from p where om <> 2");
            rows(&m, "insert into t (k, n) select k, n from p where ok is null");
            rows(
                &m,
                "select count(*), sum(n), count(s), count(*) filter (where n >= 100), min(k), max(k) from t",
            )
        };
        assert_eq!(answer, expected);
        assert_eq!(
            rows(&c, "select entries from frazil_indexes where entries < 50000"),
            ""
        );
    }
}
