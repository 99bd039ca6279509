//! The first rows in the order of an index are those that sorting all rows gives; so are least and greatest keys.

use crate::lookups::{answer, table};
use crate::{memory, rows};
use frazil::Connection;

/// Orders, all of them total, with an index that has them, or a part of them.
const ORDERS: [(&str, &str); 20] = [
    ("id", "id"),
    ("id desc", "id"),
    ("id", "id desc"),
    ("s, id", "s"),
    ("s desc, id", "s"),
    ("s nulls first, id", "s nulls first"),
    ("s desc nulls last, id desc", "s nulls first, id"),
    ("s, id", "s, id"),
    ("s desc, id desc", "s, id"),
    ("s desc nulls last, id", "s desc nulls last, id"),
    ("t, id", "t"),
    ("t desc, id", "t desc"),
    ("t desc nulls last, id", "t nulls first, x"),
    ("c, day, id", "c, day"),
    ("day desc, ts desc, id", "day, ts"),
    ("x, id", "x"),
    ("w desc nulls last, id", "w desc nulls last"),
    ("l, id", "l, id"),
    ("f, id desc", "f, id desc"),
    ("b, id", "b"),
];

/// Filters, from those that leave all rows to those that leave none.
const FILTERS: [&str; 12] = [
    "true",
    "id > 5000",
    "id < 30",
    "s is not null",
    "s is null",
    "s = 77",
    "s in (77, 78)",
    "t like '%9'",
    "id % 1000 = 7",
    "x > 9000 or day < date '1990-01-03'",
    "f and s between 10 and 4000",
    "id < 0",
];

const LIMITS: [&str; 5] = ["limit 1", "limit 10", "limit 7 offset 20", "limit 0", "limit 500"];

fn uses(c: &Connection, query: &str) -> bool {
    rows(c, &format!("explain analyze {query}")).contains("rows of index k, the first in its order")
}

fn set_turn(c: &Connection, turn: usize) {
    let stages = ["relaxed", "fused", "staged"][turn % 3];
    rows(
        c,
        &format!(
            "set frazil.stages = '{stages}'; set threads = {}",
            1 + turn / 3 % 2
        ),
    );
}

fn ask_orders(c: &Connection, must: bool) {
    let mut turn = 0;
    let mut unused = Vec::new();
    for (order, keys) in ORDERS {
        rows(c, &format!("create index k on t ({keys})"));
        for filter in FILTERS {
            turn += 1;
            set_turn(c, turn);
            let limit = LIMITS[turn * 7 % LIMITS.len()];
            answer(
                c,
                &format!("select id, t, s, upper(c) from t where {filter} order by {order} {limit}"),
            );
        }
        for limit in ["limit 5", "limit 3 offset 4"] {
            let query = format!("select id, t from t order by {order} {limit}");
            // Where they begin with NULLs, rows that are alike are too many to be looked up.
            let many = ["s", "s nulls first", "t desc"].contains(&keys) && order != "s, id";
            if must && !many && !uses(c, &query) {
                unused.push(format!("({keys}): {query}"));
            }
        }
        rows(c, "drop index k");
    }
    assert!(unused.is_empty(), "no lookup: {unused:#?}");
}

const COLUMNS: [&str; 12] = [
    "id",
    "s",
    "b",
    "d",
    "w",
    "x",
    "c",
    "l",
    "t",
    "day",
    "ts",
    "coalesce(s, 3)",
];

fn ask_ends(c: &Connection, must: bool) {
    let mut turn = 0;
    let mut unused = Vec::new();
    for column in COLUMNS {
        for keys in ["COL", "COL desc", "COL nulls first", "f, COL desc", "s, COL"] {
            // The expression has no index of its own, and must not take one of another column.
            let key = keys.replace("COL", if column.contains('(') { "s" } else { column });
            if key.contains("s, s") {
                continue;
            }
            rows(c, &format!("create index k on t ({key})"));
            for filter in FILTERS.iter().cycle().skip(turn).take(5) {
                turn += 1;
                set_turn(c, turn);
                let wanted = [
                    "min(COL)",
                    "max(COL)",
                    "min(COL), max(COL)",
                    "max(COL), count(*)",
                    "max(COL) filter (where id < 100), min(id)",
                    "max(COL), min(id)",
                ];
                for wanted in wanted.iter().cycle().skip(turn).take(2) {
                    let wanted = wanted.replace("COL", column);
                    answer(c, &format!("select {wanted} from t where {filter}"));
                }
            }
            let query = match keys.starts_with("s,") {
                true => format!("select min({column}), max({column}) from t where s = 77"),
                false => format!("select min({column}), max({column}) from t"),
            };
            // `where f` is no restriction, and what a restriction finds is few rows anyway.
            let must = must && !keys.contains(", ") && !column.contains('(');
            if must && !uses(c, &query) {
                unused.push(format!("({key}): {query}"));
            }
            rows(c, "drop index k");
        }
    }
    assert!(unused.is_empty(), "no lookup: {unused:#?}");
}

#[test]
fn orders_with_limits_answer_as_sorts() {
    for freeze in ["", "freeze table t", "freeze table t order by x"] {
        let c = memory();
        table(&c);
        rows(&c, freeze);
        ask_orders(&c, true);
    }
}

#[test]
fn orders_with_limits_answer_as_sorts_inside_a_transaction_that_wrote() {
    let c = memory();
    table(&c);
    rows(&c, "freeze table t; begin");
    rows(&c, "delete from t where id % 5 = 0 or id < 1000");
    rows(
        &c,
        "update t set s = s - 1, x = -x, t = t || 'é' where id % 3 = 0",
    );
    rows(
        &c,
        "insert into t select id - 30000, s, b, d, w, x, c, l, t, day, ts, f from t where id % 100 = 1",
    );
    ask_orders(&c, false);
    ask_ends(&c, false);
    rows(&c, "rollback");
    ask_ends(&c, true);
}

#[test]
fn ends_of_keys_answer_as_scans() {
    for freeze in ["", "freeze table t order by t"] {
        let c = memory();
        table(&c);
        rows(&c, freeze);
        ask_ends(&c, true);
        rows(&c, "create index k on t (id); delete from t");
        assert_eq!(answer(&c, "select min(id), max(id) from t"), "|");
        assert_eq!(answer(&c, "select id from t order by id limit 3"), "");
        rows(&c, "insert into t (id) values (7), (null)");
        assert_eq!(answer(&c, "select min(id), max(id) from t"), "7|7");
        assert_eq!(answer(&c, "select id from t order by id desc limit 1"), "");
    }
}

#[test]
fn first_rows_pass_through_joins() {
    let c = memory();
    table(&c);
    rows(&c, "create index k on t (id)");
    rows(&c, "create table u as select id, s from t where id % 900 = 3");
    for query in [
        "select t.id, u.s from t join u on u.id = t.id order by t.id limit 4",
        "select t.id, u.s from t join u on u.id = t.id order by t.id desc limit 4 offset 2",
        "select t.id, u.s from t left join u on u.id = t.id order by t.id limit 7",
        "select t.id, u.s from u left join t on u.id = t.id order by t.id limit 7",
        "select t.id, u.id from t full join u on u.id = t.id + 19000 order by t.id desc, u.id limit 7",
        "select t.id from t where exists (select 1 from u where u.id = t.id) order by t.id limit 3",
        "select t.id from t where not exists (select 1 from u where u.id = t.id) order by t.id limit 5",
        "select u.id from u where exists (select 1 from t where u.id = t.id) order by u.id limit 5",
        "select t.id, (select max(u.s) from u where u.id < t.id) from t order by t.id limit 5",
        "select min(id), min(id), max(id), min(distinct id), -max(id), min(id) + 1 from t",
        "select min(t.id), max(t.id) from t join u on u.id = t.id",
        "select min(t.id) from t join u on u.id = t.id",
        "(select id from t order by id limit 3) union all (select id from t order by id desc limit 3) order by 1",
        "select id from (select id from t union all select id from u) v order by id limit 5",
        "select max(id) from (select id from t union all select id + 100000 from u) v",
        "select s, min(id) from t where s < 5 group by s order by s limit 3",
    ] {
        answer(&c, query);
    }
}

#[test]
fn limits_that_are_parameters_count_rows() {
    let c = memory();
    table(&c);
    let statement = c
        .prepare("select id from t order by id desc limit $1 offset $2")
        .unwrap();
    let ask = |limit: i128, offset: i128| {
        let values = [frazil::RawValue::Int(limit), frazil::RawValue::Int(offset)];
        match statement.execute(&values).map(|r| r.outcome) {
            Ok(frazil::Outcome::Rows(found)) => {
                format!("{:?}", found.raw().map(|r| r[0].clone()).collect::<Vec<_>>())
            }
            Ok(_) => "no rows".to_owned(),
            Err(error) => error.state().0.to_owned(),
        }
    };
    let all = [
        (1, 0),
        (0, 3),
        (5, 5),
        (-1, 0),
        (1, -1),
        (30_000, 19_990),
        (2, 50_000),
    ];
    let expected: Vec<String> = all.iter().map(|&(l, o)| ask(l, o)).collect();
    rows(&c, "create unique index k on t (id)");
    let found: Vec<String> = all.iter().map(|&(l, o)| ask(l, o)).collect();
    assert_eq!(found, expected);
    assert_ne!(
        rows(&c, "select uses from frazil_indexes where index_name = 'k'"),
        "0"
    );
}
