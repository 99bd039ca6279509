//! The first groups in an order: rows behind those that are kept leave before their averages are made, and the answer
//! is the beginning of the whole order.

use crate::{memory, rows, state};
use frazil::{Connection, SqlState};

/// Keys of every width and sign, 40,000 rows of some 9,000 groups, many of which have equal counts.
fn table(is_frozen: bool) -> Connection {
    let c = memory();
    rows(
        &c,
        "create table t (a bigint not null, b smallint not null, c integer, x integer not null, y numeric,
             z double precision, s text)",
    );
    rows(
        &c,
        "insert into t select (i * 7919 % 9001 - 4500) * 1000000007, i * 7919 % 9001 % 200 - 100,
             case when i % 11 > 0 then i % 9 - 4 end,
                i * 31 % 1009 - 500, case when i % 5 > 0 then i / 7.0 end,
                     case when i % 6 > 0 then i / 3.0 end, 'text ' || i % 50
         from generate_series(1::bigint, 40000) as g (i)",
    );
    if is_frozen {
        rows(&c, "freeze table t");
    }
    c
}

/// Aggregations by their results and keys, and orders of all their columns.
const GROUPS: [(&str, &str); 4] = [
    ("a, count(*) as n, avg(x) as m, sum(x) as t from t", "a"),
    ("a, b, count(*) as n, avg(y) as m, avg(z) as t from t", "a, b"),
    (
        "a, c, count(*) as n, avg(x) filter (where x > 0) as m, max(x) as t from t",
        "a, c",
    ),
    (
        "s as a, c, count(*) as n, avg(z) as m, min(y) as t from t",
        "s, c",
    ),
];

const ORDERS: [&str; 9] = [
    "n desc, a",
    "n, a desc",
    "a",
    "a desc",
    "n desc, t, a",
    "m desc, a",
    "m nulls first, n, a desc",
    "n desc, m, a",
    "t desc nulls last, n, a",
];

/// The first lines of a result.
fn first(result: &str, offset: usize, limit: usize) -> Vec<&str> {
    result.lines().skip(offset).take(limit).collect()
}

#[test]
fn the_first_groups_are_those_of_the_whole_order() {
    for is_frozen in [false, true] {
        let c = table(is_frozen);
        for (select, keys) in GROUPS {
            let tie = if keys.contains("b") { ", b" } else { ", c" };
            let tie = if keys == "a" { "" } else { tie };
            for order in ORDERS {
                let query = format!("select {select} group by {keys} order by {order}{tie}");
                rows(&c, "set threads = 1; set frazil.stages = 'relaxed'");
                let all = rows(&c, &query);
                for (stages, threads, offset, limit) in [
                    ("relaxed", 1, 0, 10),
                    ("relaxed", 2, 3, 1),
                    ("fused", 1, 5, 700),
                    ("staged", 2, 0, 3000),
                    ("relaxed", 1, 0, 0),
                ] {
                    rows(
                        &c,
                        &format!("set threads = {threads}; set frazil.stages = '{stages}'"),
                    );
                    let few = rows(&c, &format!("{query} limit {limit} offset {offset}"));
                    let found: Vec<&str> = few.lines().collect();
                    assert_eq!(found, first(&all, offset, limit), "{stages} {threads}: {query}");
                }
            }
        }
    }
}

#[test]
fn averages_that_wait_are_read_by_whatever_follows() {
    let c = table(true);
    let of_each = "(select a, avg(x) as m, avg(z) as z, count(*) as n, sum(x) as t, count(x) as k
         from t group by a) as q";
    // An average that is made at once is that of a sum and a count.
    let exact = "(case when k > 0 then cast(t as numeric) / k end)";
    for stages in ["fused", "relaxed", "staged"] {
        rows(&c, &format!("set frazil.stages = '{stages}'"));
        let same =
            |with: &str, without: &str| assert_eq!(rows(&c, with), rows(&c, without), "{stages}: {with}");
        same(
            &format!("select count(*), min(n), max(a) from {of_each} where m > 3"),
            &format!("select count(*), min(n), max(a) from {of_each} where {exact} > 3"),
        );
        same(
            &format!(
                "select a, case when n > 4 then round(m, 4) else -round(m, 4) end as v
                     from {of_each} order by n desc, a limit 20"
            ),
            &format!(
                "select a, case when n > 4 then round({exact}, 4) else -round({exact}, 4) end as v
                     from {of_each} order by n desc, a limit 20"
            ),
        );
        same(
            &format!(
                "select count(*), sum(round(m, 3)) from {of_each} join t as o on o.a = q.a and o.x > q.m"
            ),
            &format!(
                "select count(*), sum(round({exact}, 3)) from {of_each} join t as o on o.a = q.a and o.x > {exact}"
            ),
        );
        same(
            &format!(
                "select count(*), max(r) from (select q.*, rank() over (order by m) as r from {of_each}) as w"
            ),
            &format!(
                "select count(*), max(r) from (select q.*, rank() over (order by {exact}) as r from {of_each}) as w"
            ),
        );
    }
}

#[test]
fn errors_of_the_first_groups_stay() {
    let c = table(false);
    let query = "select a, avg(1 / (x + 500)) as m, count(*) as n from t group by a order by n, a limit 3";
    assert_eq!(state(&c, query), SqlState::DIVISION_BY_ZERO);
    let query = "select a, count(*) as n, avg(x) as m from t group by a order by n, a limit -1";
    assert_eq!(state(&c, query), SqlState("2201W"));
}
