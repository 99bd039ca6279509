//! Joins with few rows on the build side, which look the rows of the probe side up, answer as joins that scan all rows do.

use crate::lookups::{answer, table};
use crate::{memory, rows};
use frazil::Connection;

/// Columns of `t` that keys are made of, with the index that has them.
const KEYS: [(&str, &str); 22] = [
    ("id", "id"),
    ("id", "id desc, s"),
    ("s", "s"),
    ("s", "s desc, day"),
    ("b", "b nulls first"),
    ("d", "d"),
    ("w", "w desc"),
    ("x", "x"),
    ("c", "c"),
    ("l", "l, id"),
    ("t", "t"),
    ("t", "t desc nulls last, x"),
    ("day", "day"),
    ("ts", "ts"),
    ("id, s", "s, id"),
    ("s, day", "day, s"),
    ("s, t", "t, s desc"),
    ("s, t, day", "t"),
    ("id, t", "id, s, t"),
    ("c, f", "f, c"),
    ("x, day", "x, day, id"),
    ("w, d", "d, w"),
];

/// A table `few` of some rows of `t`, some of them twice, and with NULL for keys.
fn few(c: &Connection) {
    rows(
        c,
        "create table few as select id, s, b, d, w, x, c, l, t, day, ts, f from t
            where id in (3, 5, 7, 8, 11, 13, 17, 19, 23, 29, 31, 37, 41, 77, 4711, 4712, 6005, 7007, 9009, 19950, 19999)",
    );
    rows(c, "insert into few select * from few where id < 20");
    rows(c, "insert into few (f) values (true), (null)");
}

/// The condition that `t` and `u` have the columns alike.
fn alike(columns: &str) -> String {
    let each: Vec<String> = columns.split(", ").map(|c| format!("t.{c} = u.{c}")).collect();
    each.join(" and ")
}

/// Queries that join `t` with `few` by columns.
fn queries(columns: &str) -> Vec<String> {
    let on = alike(columns);
    let first = columns.split(", ").next().unwrap();
    let each = [
        format!("select t.id, u.id, t.t from few u join t on {on} order by 1, 2"),
        format!("select t.id, u.id from t join few u on {on} and t.id <> u.id order by 1, 2"),
        format!("select count(*), min(t.id), max(u.t) from few u join t on {on} where t.s > 3 and u.id > 4"),
        format!("select count(*), sum(t.id) from few u left join t on {on}"),
        format!("select count(*), sum(u.id) from t left join few u on {on}"),
        format!("select count(*), sum(u.id), sum(t.id) from few u full join t on {on}"),
        format!("select id from t where exists (select 1 from few u where {on}) order by 1"),
        format!("select count(*) from t where not exists (select 1 from few u where {on})"),
        format!("select u.id from few u where exists (select 1 from t where {on}) order by 1"),
        format!("select u.id from few u where not exists (select 1 from t where {on}) order by 1"),
        format!("select id from t where ({columns}) in (select {columns} from few where id > 10) order by 1"),
        format!(
            "select count(*) from t where {first} not in (select {first} from few where {first} is not null)"
        ),
        format!("select count(*) from t where {first} in (select {first} from few) or id < 10"),
        format!(
            "select count(*) from t join few u on {on} join few v on v.id = u.id left join t w on w.id = t.id + 1"
        ),
        format!("select count(*) from (select * from few where id < 0) u join t on {on}"),
        format!("select count(*), sum(t.id) from (select * from few where id < 0) u right join t on {on}"),
        format!("select count(*) from (select * from few where id is null) u join t on {on}"),
    ];
    each.into()
}

/// Runs all queries with each index.
fn ask_all(c: &Connection, must: bool) {
    few(c);
    let mut turn = 0;
    let mut unused = Vec::new();
    for (columns, keys) in KEYS {
        rows(c, &format!("create index k on t ({keys})"));
        let queries = queries(columns);
        // Half of them with each index; the turns of settings and of queries do not meet again soon.
        for query in queries.iter().skip(turn % 2).step_by(2) {
            turn += 1;
            let stages = ["relaxed", "fused", "staged"][turn % 3];
            rows(
                c,
                &format!(
                    "set frazil.stages = '{stages}'; set threads = {}",
                    1 + turn / 3 % 2
                ),
            );
            answer(c, query);
        }
        for query in [&queries[0], &queries[10]] {
            let explained = rows(c, &format!("explain analyze {query}"));
            // Rows with one of these values are too many to be looked up.
            let many = ["s", "l"].contains(&columns);
            if must && !many && !explained.contains("rows of index k by the keys of a join") {
                unused.push(format!("({keys}): {query}\n{explained}"));
            }
        }
        rows(c, "drop index k");
    }
    assert!(unused.is_empty(), "no lookup: {unused:#?}");
}

#[test]
fn joins_with_few_rows_answer_as_joins_with_scans() {
    let c = memory();
    table(&c);
    ask_all(&c, true);
}

#[test]
fn joins_with_few_rows_answer_as_joins_with_scans_of_frozen_rows() {
    let c = memory();
    table(&c);
    rows(&c, "freeze table t order by x");
    ask_all(&c, true);
}

#[test]
fn joins_with_few_rows_answer_as_joins_with_scans_inside_a_transaction_that_wrote() {
    let c = memory();
    table(&c);
    rows(&c, "freeze table t");
    rows(&c, "begin");
    rows(&c, "delete from t where id % 5 = 0");
    rows(
        &c,
        "update t set s = s - 1, t = t || 'é', x = -x where id % 3 = 0",
    );
    rows(
        &c,
        "insert into t select id + 20000, s, b, d, w, x, c, l, t, day, ts, f from t where id < 200",
    );
    ask_all(&c, false);
}

#[test]
fn keys_of_wider_integers_are_looked_up() {
    let c = memory();
    table(&c);
    rows(&c, "create table wide (k bigint, s int)");
    rows(
        &c,
        "insert into wide values (5, 1), (3000000000, 2), (-3000000000, 3), (null, 4), (19999, 70000), (7, 77)",
    );
    rows(&c, "create unique index k on t (id); create index k2 on t (s)");
    let queries = [
        "select t.id, w.s from wide w join t on t.id = w.k order by 1",
        "select t.id, w.s from wide w join t on t.s = w.s order by 1",
        "select t.id, w.s from wide w join t on t.s = w.k order by 1",
        "select t.id, w.s from wide w left join t on t.id = w.k order by 2",
    ];
    for query in queries {
        answer(&c, query);
    }
    for query in &queries[..3] {
        let explained = rows(&c, &format!("explain analyze {query}"));
        assert!(
            explained.contains("by the keys of a join"),
            "{query}\n{explained}"
        );
    }
}

#[test]
fn changes_of_rows_that_few_others_name_look_them_up() {
    let changes = [
        "update t set s = u.id % 100 from few u where u.id = t.id",
        "update t set id = t.id + 50000 from few u where u.id = t.id and u.id < 100",
        "delete from t using few u where u.t = t.t",
        "delete from t where s in (select s from few where id > 4000)",
        "update t set x = 0 where (s, day) in (select s, day from few)",
        "update t set t = 'gone' where not exists (select 1 from few u where u.d = t.d)",
    ];
    for frozen in [false, true] {
        let tables: Vec<Connection> = ["on", "off"]
            .map(|lookups| {
                let c = memory();
                table(&c);
                few(&c);
                if frozen {
                    rows(&c, "freeze table t");
                }
                rows(
                    &c,
                    "create index k on t (id); create index k1 on t (s, day); create index k2 on t (t); create index k3 on t (d)",
                );
                rows(&c, &format!("set frazil.use_indexes = {lookups}"));
                c
            })
            .into();
        for change in changes {
            let counts: Vec<String> = tables.iter().map(|c| rows(c, change)).collect();
            assert_eq!(counts[0], counts[1], "{change}");
        }
        let all = "select id, s, b, d, w, x, c, l, t, day, ts, f from t order by id";
        let all: Vec<String> = tables.iter().map(|c| rows(c, all)).collect();
        assert!(all[0] == all[1]);
    }
}

/// The number in front of a word of EXPLAIN ANALYZE's line about `t`'s scan, which is its last one with a scan.
fn counted(c: &Connection, query: &str, what: &str) -> u64 {
    let explained = rows(c, &format!("explain analyze {query}"));
    let line = explained
        .lines()
        .rfind(|l| l.contains("; scan: "))
        .expect("a scan");
    let before = line.split(what).next().expect("words");
    let number = before.trim_end().rsplit([' ', ',']).next().expect("a number");
    number.parse().unwrap_or_else(|_| panic!("{what} of {explained}"))
}

#[test]
fn the_range_of_build_keys_is_a_restriction() {
    let c = memory();
    table(&c);
    rows(&c, "create table days (k int, name text)");
    rows(
        &c,
        "insert into days select id, 'day ' || id from t where id between 3000 and 3999",
    );
    let query = "select count(*), min(t.t), max(d.name) from days d join t on t.id = d.k";
    let expected = "1000|text 1000|day 3999";
    assert_eq!(rows(&c, query), expected);
    rows(&c, "freeze table t order by id");
    assert_eq!(rows(&c, query), expected);
    assert!(counted(&c, query, "rows skipped by PSMA") > 15_000);
    rows(
        &c,
        "insert into days values (-5, 'less'), (70000, 'more'), (null, 'none')",
    );
    assert_eq!(rows(&c, query), "1000|text 1000|day 3999");
    rows(&c, "delete from days; insert into days values (70000, 'more')");
    assert_eq!(rows(&c, query), "0||");
    assert_eq!(counted(&c, query, "rows scanned"), 0);
    rows(&c, "delete from days");
    assert_eq!(rows(&c, query), "0||");
    assert_eq!(counted(&c, query, "rows scanned"), 0);
    assert_eq!(
        rows(
            &c,
            "select count(*), count(d.k) from t left join days d on t.id = d.k"
        ),
        "20000|0"
    );
    assert_eq!(
        rows(&c, "select count(*) from t where id not in (select k from days)"),
        "20000"
    );
    assert_eq!(rows(&c, "select count(*) from t, days"), "0");
}
