//! Workers whose groups outgrow the cache go on with other code, and answer as before.

use crate::{memory, rows, state};
use frazil::{Connection, SqlState};

/// A condition that keeps all rows. The planner expects it to keep few, so that it expects few groups.
const EXPECTED_TO_KEEP_FEW: &str =
    "a % 2 * 3 % 5 <> 17 and (a * 7 + 3) % 9 = (a * 7 + 3) % 9 and (a % 11) * 0 = 0";

/// Aggregations of some 100,000 groups or more. Their code has constants of all kinds, states that keep rows, NULLs,
/// strings of the source, of expressions and of build rows.
const AGGREGATIONS: [&str; 9] = [
    "select count(*) as n, sum(c) as s from t where {few} group by a, b",
    "select count(*) filter (where s like '%7%') as n, sum(case when s in ('text 5', 'text 70') then c end) as s
     from t where {few} group by a, d",
    "select max(c) as n, min(d) as s from t where {few} group by 'a key of some length ' || a, s",
    "select count(s) as n, sum(length(concat(s, ' a constant'))) as s from t where {few} group by a + 1, b",
    "select length(max(m)) as n, min(c) as s
     from (select *, s || ' and some more' as m from t) as t where {few} group by a, m",
    "select cardinality(array_agg(c order by c)) as n, sum(d) as s from t where {few} group by a, b",
    "select count(distinct b) as n, max(b) as s from t where {few} group by a, s",
    "select sum(c) as n, sum(y) as s from t join v on v.k = t.d where {few} group by a, name",
    "select max(c) as n, count(*) as s from t where {few} group by a",
];

fn few(text: &str) -> String {
    text.replace("{few}", EXPECTED_TO_KEEP_FEW)
}

fn tables() -> Connection {
    let c = memory();
    rows(
        &c,
        "create table t (a integer not null, b integer, c bigint not null, d integer, s text)",
    );
    rows(
        &c,
        "insert into t select cast(i as bigint) * 7919 % 100003, case when i % 3 > 0 then i % 2 end, i,
                case when i % 5 > 0 then i % 4 end, case when i % 7 > 0 then 'text ' || i % 100 end
         from generate_series(1, 450000) as g (i)",
    );
    rows(
        &c,
        "create table v as select i as k, i as y, 'name ' || i as name from generate_series(0, 3) as g (i)",
    );
    c
}

#[test]
fn outgrown_groups_are_those_of_fused_stages() {
    let c = tables();
    for freeze in [false, true] {
        if freeze {
            rows(&c, "freeze table t");
        }
        for aggregation in AGGREGATIONS {
            let query = format!(
                "select count(*), sum(n), sum(s), max(n), min(s) from ({}) as q",
                few(aggregation)
            );
            rows(&c, "set frazil.stages = 'fused'; set threads = 1");
            let expected = rows(&c, &query);
            for threads in [1, 2] {
                rows(
                    &c,
                    &format!("set frazil.stages = 'relaxed'; set threads = {threads}"),
                );
                // The second run finds the code that the first one made.
                for _ in 0..2 {
                    assert_eq!(rows(&c, &query), expected, "{threads} {freeze}: {query}");
                }
            }
        }
    }
}

#[test]
fn the_size_of_groups_decides_on_their_boundary() {
    let c = tables();
    rows(&c, "set threads = 1");
    let is_cut = |query: &str| {
        let text = rows(&c, &format!("explain analyze {}", few(query)));
        text.contains("cut into 2 stages by the sizes of what it looks into")
    };
    for policy in ["fused", "relaxed", "staged"] {
        rows(&c, &format!("set frazil.stages = '{policy}'"));
        let query =
            "select count(*), sum(n) from (select count(*) as n from t where {few} group by a, b) as q";
        assert_eq!(is_cut(query), policy == "relaxed", "{policy}");
        assert!(
            !is_cut("select count(*) from t where {few} group by b, d"),
            "{policy}"
        );
    }
}

#[test]
fn errors_of_outgrown_groups_name_their_place() {
    let c = tables();
    rows(&c, "set threads = 1");
    let query = few("select a, b, sum(1 / (c - 449999)) from t where {few} group by a, b");
    assert_eq!(state(&c, &query), SqlState::DIVISION_BY_ZERO);
    let error = c.execute(&query).expect_err("a row divides by zero");
    let place = query.find("1 / (c").expect("the expression is there");
    assert_eq!(error.position(), Some(place + 1), "{error}");
    rows(&c, "set memory_limit = '6MB'");
    let query = few("select count(*) from (select count(*) from t where {few} group by a, b) as q");
    assert_eq!(state(&c, &query), SqlState::OUT_OF_MEMORY);
}
