//! ORDER BY with LIMIT, whose bound goes back into the scan, gives what the beginning of the whole order is.

use crate::edge_values::{Edges, TYPES};
use crate::{memory, rows, state};
use frazil::{Connection, Outcome, RawValue as Value};

const DIGITS: &str = "(values (0), (1), (2), (3), (4), (5), (6), (7), (8), (9))";

/// So many rows numbered from `first` on.
fn numbers(first: usize, count: usize) -> String {
    format!(
        "(select n + {first} as n from (select a.v + b.v * 10 + c.v * 100 + d.v * 1000 as n
        from {DIGITS} a (v), {DIGITS} b (v), {DIGITS} c (v), {DIGITS} d (v)) all_numbers where n < {count}) numbers"
    )
}

/// A table `t` of 9,000 rows: three chunks of 3,000, of which so many are frozen.
fn table(frozen: usize) -> Connection {
    let c = memory();
    rows(
        &c,
        "create table t (id integer not null, k integer not null, m integer, d double precision, s text not null, u text,
         b boolean, p integer not null)",
    );
    for chunk in 0..3 {
        rows(
            &c,
            &format!(
                "insert into t select n, n * 7919 % 10007, case when n % 17 = 0 then null else n * 31 % 101 end,
                 case when n % 1001 = 0 then cast('NaN' as double precision) when n % 977 = 0 then cast('infinity' as double precision) when n % 13 = 0 then null
                      else (n * 7919 % 10007) / 8.0 - 600 end,
                 'key ' || cast(n * 6101 % 10007 as text), case when n % 5 = 0 then null else 'a long prefix of all keys ' ||
                 cast(n * 523 % 10007 as text) end, n % 3 = 0, n % 7 from {}",
                numbers(3000 * chunk, 3000)
            ),
        );
        if chunk < frozen {
            rows(&c, "freeze table t");
        }
    }
    c
}

/// Total orders.
const ORDERS: [&str; 16] = [
    "k, id",
    "k desc, id desc",
    "id desc",
    "id",
    "m, id",
    "m desc, id",
    "m nulls first, id desc",
    "m desc nulls last, k, id",
    "d, id",
    "d desc, id",
    "d desc nulls last, id",
    "s, id",
    "s desc, id",
    "u desc, id",
    "u nulls first, id",
    "b desc nulls last, p, k, id",
];

const LIMITS: [(usize, usize); 6] = [(10, 0), (1, 0), (7, 30), (0, 0), (1500, 3), (20_000, 8990)];

/// Asks for the first rows of a query in all orders, and compares them with those of the whole order.
#[track_caller]
fn ask(c: &Connection, query: &str, orders: &[&str]) {
    for (turn, order) in orders.iter().enumerate() {
        let whole = rows(c, &format!("{query} order by {order}"));
        let whole: Vec<&str> = whole.lines().collect();
        for (i, (limit, offset)) in LIMITS.into_iter().enumerate() {
            let turn = turn + i;
            let stages = ["relaxed", "fused", "staged"][turn % 3];
            rows(
                c,
                &format!(
                    "set frazil.stages = '{stages}'; set threads = {}",
                    1 + turn / 3 % 2
                ),
            );
            let first = format!("{query} order by {order} limit {limit} offset {offset}");
            let expected: Vec<&str> = whole.iter().skip(offset).take(limit).copied().collect();
            assert_eq!(rows(c, &first), expected.join("\n"), "{first}");
        }
    }
}

const ALL: &str = "select id, k, m, d, s, u, b from t";

#[test]
fn first_rows_are_those_of_the_whole_order() {
    for frozen in 0..=3 {
        ask(&table(frozen), ALL, &ORDERS);
    }
}

#[test]
fn filters_and_expressions_go_with_a_bound() {
    let c = table(2);
    ask(&c, &format!("{ALL} where p < 3 and s like '%7%'"), &ORDERS[..6]);
    ask(
        &c,
        "select id, k * 2 + 1 as k2, upper(s) as s2, k from t where m is null or m > 50",
        &ORDERS[..4],
    );
    ask(&c, "select id, k + p as e, k from t", &["e desc, id", "e, k, id"]);
    ask(
        &c,
        "select id, m, k from t where m = 5 or k < 100",
        &["m, id", "k desc, id"],
    );
}

#[test]
fn a_transaction_sees_the_first_of_its_own_rows() {
    for frozen in [0, 2, 3] {
        let c = table(frozen);
        rows(&c, "begin");
        rows(
            &c,
            "delete from t where k > 9800 or k < 200 and p = 0 or d = 'NaN'",
        );
        rows(&c, "update t set k = -k, s = s || 'x', d = -d where p = 1");
        rows(&c, "update t set m = null, u = null where p = 2");
        rows(
            &c,
            "insert into t select id + 20000, k + 5000, m, d, s, u, b, p from t where p = 3",
        );
        ask(&c, ALL, &ORDERS);
        rows(&c, "rollback");
        ask(&c, ALL, &ORDERS[..3]);
    }
}

#[test]
fn first_rows_come_through_joins_and_unions() {
    let c = table(2);
    rows(&c, "create table p (p integer not null, name text not null)");
    rows(&c, "insert into p values (1, 'one'), (2, 'two'), (3, 'three')");
    rows(
        &c,
        "create view v as select t.id, t.k, t.m, name from t join p on t.p = p.p",
    );
    ask(
        &c,
        "select id, k, m, name from v",
        &["k desc, id", "m, id", "m desc, id"],
    );
    ask(
        &c,
        "select id, k, name from t left join p on t.p = p.p",
        &["k, id", "name desc, k, id"],
    );
    ask(
        &c,
        "select id, k from t where p in (select p from p)",
        &["k desc, id"],
    );
    ask(
        &c,
        "select id, k from t where not exists (select 1 from p where p.p = t.p)",
        &["k, id"],
    );
    ask(
        &c,
        "select p.p, name, id from p left join t on t.p = p.p and t.k < 50",
        &["id desc, p", "name, id"],
    );
    ask(
        &c,
        "select p.p, name, id from p full join t on t.p = p.p",
        &["id desc nulls last, p.p", "id, name"],
    );
    ask(
        &c,
        "select * from (select id, k from t where p < 3 union all select -id, k + 3 from t where p > 2 union all select k, id from t) x",
        &["k desc, id", "id, k"],
    );
    ask(
        &c,
        "with x as (select id, k, m from t where p > 1) select * from x",
        &["m desc, id", "k, id"],
    );
    ask(
        &c,
        "select k % 100 as g, count(*) as n from t group by k % 100",
        &["g desc", "n, g"],
    );
    ask(
        &c,
        "select p as g, max(k) as n from t group by p",
        &["g desc", "n"],
    );
    let lowest = "select p.p, (select k from t where t.p = p.p order by k limit 1) from p order by 1";
    let least = "select p.p, (select min(k) from t where t.p = p.p) from p order by 1";
    assert_eq!(rows(&c, lowest), rows(&c, least));
    let inner = "select sum(k) from (select k from t order by k desc limit 100) x";
    let outer = "select sum(k) from t where k >= (select k from t order by k desc offset 99 limit 1)";
    assert_eq!(rows(&c, inner), rows(&c, outer));
}

#[test]
fn ties_of_the_first_key_pass() {
    let c = table(3);
    // All rows are equal in the first key, or nearly all.
    rows(&c, "update t set m = 4, b = null");
    ask(
        &c,
        "select id, k, m, b from t",
        &["m, k, id", "b desc, k desc, id", "b nulls first, m desc, s, id"],
    );
}

#[test]
fn limits_may_be_parameters() {
    let c = table(2);
    let prepared = c
        .prepare("select k from t order by k desc limit $1 offset $2")
        .expect("it parses");
    let whole = rows(&c, "select k from t order by k desc");
    let whole: Vec<&str> = whole.lines().collect();
    for (limit, offset) in [(5, 0), (3000, 1), (0, 9), (1, 8999)] {
        let response = prepared
            .execute(&[Value::Int(limit), Value::Int(offset)])
            .expect("it runs");
        let Outcome::Rows(found) = response.outcome else {
            panic!("no rows");
        };
        let found: Vec<String> = found.raw().map(|row| format!("{:?}", row[0])).collect();
        let expected = whole.iter().skip(offset as usize).take(limit as usize);
        assert_eq!(found, expected.map(|k| format!("Int({k})")).collect::<Vec<_>>());
    }
    let response = prepared.execute(&[Value::Null, Value::Null]).expect("it runs");
    let Outcome::Rows(found) = response.outcome else {
        panic!("no rows");
    };
    assert_eq!(found.raw().count(), 9000);
}

#[test]
fn an_error_is_raised_for_rows_that_do_not_count() {
    for frozen in [0, 3] {
        let c = table(frozen);
        // The last rows in this order divide by zero.
        let query = "select id, k, 10 / (k - 10006) as q from t order by k, id limit 5";
        assert_eq!(state(&c, query).0, "22012");
        assert_eq!(
            state(
                &c,
                "select id from t where 10 / (k - 10006) < 3 order by k limit 5"
            )
            .0,
            "22012"
        );
    }
}

#[test]
fn every_type_has_first_rows() {
    for edges in TYPES
        .iter()
        .filter(|t| t.ty.info().is_stored && t.ty.is_comparable())
    {
        for frozen in [false, true] {
            let c = memory();
            fill(&c, edges);
            if frozen {
                rows(&c, "freeze table t");
                rows(&c, "insert into t select i + 100000, v from t where i < 1200");
            }
            for order in ["v, i", "v desc, i", "v nulls first, i", "v desc nulls last, i"] {
                let query = format!("select i, v from t order by {order}");
                let whole = rows(&c, &query);
                for count in [1, 40, 900] {
                    let first: Vec<&str> = whole.lines().take(count).collect();
                    let ty = edges.ty;
                    assert_eq!(
                        rows(&c, &format!("{query} limit {count}")),
                        first.join("\n"),
                        "{ty}, {order}"
                    );
                }
            }
        }
    }
}

/// A table `t (i, v)` of some 4,000 rows with all values of a type in turn, NULL among them.
fn fill(c: &Connection, edges: &Edges) {
    rows(c, &format!("create table t (i integer not null, v {})", edges.ty));
    rows(
        c,
        &format!("create table round (n integer not null, v {})", edges.ty),
    );
    let round = edges.texts.len() + 1;
    let all: Vec<String> = (0..round)
        .map(|i| format!("({i}, {})", edges.literal(i)))
        .collect();
    rows(c, &format!("insert into round values {}", all.join(", ")));
    let turns = 4000 / round;
    rows(
        c,
        &format!(
            "insert into t select numbers.n * {round} + r.n, r.v from {}, round r where numbers.n < {turns}",
            numbers(0, turns)
        ),
    );
}

/// The number in front of some words of a text.
pub fn number_before(text: &str, words: &str) -> usize {
    let end = text.find(words).unwrap_or_else(|| panic!("{words}: {text}"));
    let number = text[..end].trim_end().rsplit(' ').next().expect("a number");
    number.parse().unwrap_or_else(|_| panic!("{words}: {text}"))
}

/// A table `big` of 140,000 rows in two full chunks and one of 8,928 rows: `id` runs on, `v` is in no order.
fn big() -> Connection {
    let c = memory();
    rows(
        &c,
        "create table big (id integer not null, v integer not null, x text)",
    );
    for part in 0..14 {
        let numbers = numbers(10_000 * part, 10_000);
        rows(
            &c,
            &format!("insert into big select n, n * 7919 % 140009, 'row ' || cast(n as text) from {numbers}"),
        );
    }
    c
}

#[test]
fn a_bound_skips_what_it_rules_out() {
    let c = big();
    let least: Vec<String> = (0..5)
        .map(|v| (0..140_000).find(|n| n * 7919_i64 % 140_009 == v))
        .map(|n| n.map(|n| format!("{n}|row {n}")).expect("each number once"))
        .collect();
    for is_frozen in [false, true] {
        for threads in [1, 2] {
            rows(&c, &format!("set threads = {threads}"));
            let first = |order: &str| rows(&c, &format!("select id, x from big order by {order} limit 5"));
            assert_eq!(first("id"), "0|row 0\n1|row 1\n2|row 2\n3|row 3\n4|row 4");
            assert_eq!(first("id desc").lines().next(), Some("139999|row 139999"));
            assert_eq!(first("v"), least.join("\n"));
        }
        rows(&c, "set threads = 1");
        for order in ["id", "id desc"] {
            let text = rows(
                &c,
                &format!("explain analyze select * from big order by {order} limit 10"),
            );
            // The chunk with the first rows comes first.
            assert!(number_before(&text, "rows returned") <= 8928, "{text}");
            if is_frozen {
                assert_eq!(number_before(&text, "skipped by SMA"), 2, "{text}");
            }
        }
        let text = rows(&c, "explain analyze select * from big order by v limit 10");
        assert!(number_before(&text, "rows returned") < 8000, "{text}");
        rows(&c, "freeze table big");
    }
}

#[test]
fn the_bound_is_shown() {
    let c = table(0);
    rows(&c, "create table p (p integer not null)");
    let shown = |query: &str| rows(&c, &format!("explain (pipelines) {query}"));
    for query in [
        "select id, m from t where m > 3 order by m desc limit 10",
        "select id, m from t order by m limit 10",
    ] {
        let text = shown(query);
        assert!(text.contains("m bounded by sort 0"), "{text}");
    }
    for query in [
        "select * from t order by k",
        "select 1 / k from t where 1 / k > 2 order by k limit 10",
        "select p.p, x.k from p left join t x on p.p = x.p order by x.k limit 3",
        "select k + 1 as e from t order by e limit 10",
    ] {
        let text = shown(query);
        assert!(!text.contains("bounded by"), "{text}");
    }
}
