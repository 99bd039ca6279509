//! Columns that are fetched for the rows that ORDER BY with LIMIT gives out, and for no others.

use crate::edge_values::TYPES;
use crate::{memory, rows};
use frazil::{Connection, Outcome, RawValue as Value};

/// A table `t` of 4,000 rows, a table `p` of three.
fn tables() -> Connection {
    let c = memory();
    rows(
        &c,
        "create table t (id integer not null, k integer not null, s text not null, u text, d double precision, p integer not null)",
    );
    let digits = "(values (0), (1), (2), (3), (4), (5), (6), (7), (8), (9))";
    rows(
        &c,
        &format!(
            "insert into t select n, n * 7919 % 4001, 'a text that is too long to lie in its cell ' || cast(n as text),
             case when n % 3 = 0 then null else 'u' || cast(n as text) end, n / 4.0, n % 7
             from (select a.v + b.v * 10 + c.v * 100 + d.v * 1000 as n
             from {digits} a (v), {digits} b (v), {digits} c (v), {digits} d (v)) numbers where n < 4000"
        ),
    );
    rows(
        &c,
        "create table p (p integer not null, name text not null, note text)",
    );
    rows(
        &c,
        "insert into p values (1, 'one', null), (2, 'two', 'a note'), (3, 'three', 'another note')",
    );
    c
}

/// Asks for the first rows in an order, hot, partly frozen and frozen, and with both numbers of threads; they are those of the whole order.
#[track_caller]
fn ask(c: &Connection, query: &str, is_late: bool) {
    let whole = rows(c, query);
    for (turn, (limit, offset)) in [(10, 0), (1, 20), (25, 3), (0, 0)].into_iter().enumerate() {
        let first = format!("{query} limit {limit} offset {offset}");
        let stages = ["relaxed", "fused", "staged"][turn % 3];
        rows(
            c,
            &format!("set frazil.stages = '{stages}'; set threads = {}", 1 + turn % 2),
        );
        let expected: Vec<&str> = whole.lines().skip(offset).take(limit).collect();
        assert_eq!(rows(c, &first), expected.join("\n"), "{first}");
    }
    let text = rows(c, &format!("explain (pipelines) {query} limit 10"));
    assert_eq!(text.contains(" by row id"), is_late, "{text}");
}

#[test]
fn columns_of_the_first_rows_are_fetched_late() {
    let c = tables();
    for frozen in [false, true] {
        ask(&c, "select * from t order by k", true);
        ask(&c, "select s, u, d from t where p < 4 order by d desc", true);
        ask(&c, "select s, u, k + p as e from t order by e desc, id", true);
        ask(&c, "select upper(s), u from t order by k", true);
        ask(&c, "select * from t where id <> 7 and k > 50 order by k", true);
        ask(
            &c,
            "select s as a, u as b, s as c from (select s, u, k from t) x order by k",
            true,
        );
        // Nothing that is worth it, or nothing that is not computed with.
        ask(&c, "select k, id from t order by k", false);
        ask(
            &c,
            "select length(s || coalesce(u, '')) as n from t order by n, k",
            false,
        );
        rows(
            &c,
            "insert into t select id + 4000, k + 4001, s, u, d, p from t where p = 1",
        );
        if !frozen {
            rows(&c, "freeze table t");
            rows(&c, "delete from t where p = 6");
        }
    }
}

#[test]
fn late_columns_come_through_joins() {
    let c = tables();
    for frozen in [false, true] {
        ask(&c, "select t.*, name from t join p on t.p = p.p order by k", true);
        ask(
            &c,
            "select t.*, name, note from t left join p on t.p = p.p order by k desc",
            true,
        );
        ask(
            &c,
            "select s, u, name from t join p on t.p = p.p order by name, k desc",
            true,
        );
        ask(
            &c,
            "select s, u from t where p in (select p from p) order by k",
            true,
        );
        ask(
            &c,
            "select t.s, t.u, x.s as xs from t join t x on t.k = x.id and x.p = 3 order by t.k",
            true,
        );
        ask(
            &c,
            "select s, u, name from p left join t on t.p = p.p and t.k < 2000 order by name, k",
            false,
        );
        ask(
            &c,
            "select s, u, k from t union all select name, note, p from p order by 3, 1",
            false,
        );
        let outer = "select name, (select s || coalesce(u, '') from t where t.p = p.p order by k limit 1) from p order by p";
        let least = "select name, s || coalesce(u, '') from p join t on t.p = p.p
                     where k = (select min(k) from t x where x.p = p.p) order by p.p";
        assert_eq!(rows(&c, outer), rows(&c, least));
        rows(&c, "freeze table t");
        if frozen {
            break;
        }
    }
}

#[test]
fn late_columns_are_those_of_the_statement_s_version() {
    let c = tables();
    rows(&c, "freeze table t");
    rows(&c, "begin");
    rows(&c, "update t set s = 'changed ' || s, u = null where k < 5");
    rows(&c, "delete from t where k in (6, 8)");
    rows(&c, "insert into t values (9000, -1, 'new', 'row', null, 0)");
    ask(&c, "select * from t order by k", true);
    rows(&c, "commit");
    rows(
        &c,
        "alter table t add column later text default 'a value of a column that came later'",
    );
    rows(
        &c,
        "insert into t values (9001, -2, 'newer', null, 1, 0, 'its own')",
    );
    ask(&c, "select * from t order by k", true);
    rows(&c, "alter table t drop column u");
    rows(&c, "freeze table t order by d");
    ask(&c, "select * from t order by k", true);
    // What reads and writes one table reads what was there before.
    rows(&c, "create table kept as select * from t order by k limit 20");
    rows(
        &c,
        "insert into t select id + 20000, k - 100, s, d, p, later from t order by k limit 20",
    );
    rows(
        &c,
        "update t set later = (select x.s || x.later from t x where x.p = t.p order by x.k limit 1) where k < 3",
    );
    rows(
        &c,
        "delete from t where k in (select k from t order by k desc limit 5)",
    );
    let copied = rows(&c, "select s, d from t where id >= 20000 order by k");
    assert_eq!(copied, rows(&c, "select s, d from kept order by k"));
    ask(&c, "select * from t order by k", true);
}

#[test]
fn a_limit_that_is_a_parameter_fetches_any_number_of_rows() {
    let c = tables();
    let prepared = c
        .prepare("select s, u, id from t order by k limit $1")
        .expect("it parses");
    let whole = rows(&c, "select s, u, id from t order by k");
    for limit in [
        Value::Int(3),
        Value::Int(0),
        Value::Int(4000),
        Value::Int(2500),
        Value::Null,
    ] {
        let count = limit.as_int().map_or(4000, |n| n as usize);
        let Outcome::Rows(found) = prepared.execute(&[limit]).expect("it runs").outcome else {
            panic!("no rows");
        };
        let ids: Vec<String> = found.raw().map(|row| format!("{:?}", row[2])).collect();
        let expected = whole
            .lines()
            .take(count)
            .map(|line| line.rsplit('|').next().unwrap_or_default());
        assert_eq!(ids, expected.map(|id| format!("Int({id})")).collect::<Vec<_>>());
    }
}

#[test]
fn values_of_every_type_are_fetched_late() {
    for edges in TYPES
        .iter()
        .filter(|t| t.ty.info().is_stored && t.ty.is_comparable())
    {
        let c = memory();
        rows(
            &c,
            &format!(
                "create table t (i integer not null, v {}, w text, x {} not null)",
                edges.ty, edges.ty
            ),
        );
        let round = edges.texts.len() + 1;
        let row = |i: usize| {
            let (any, some) = (edges.literal(i % round), edges.literal(i % edges.texts.len()));
            format!("({}, {any}, 'word {i}', {some})", i * 7919 % 4001)
        };
        let all: Vec<String> = (0..1500).map(row).collect();
        rows(&c, &format!("insert into t values {}", all.join(", ")));
        for frozen in [false, true] {
            ask(&c, "select w, v, x from t order by i desc", true);
            if !frozen {
                rows(&c, "freeze table t");
            }
        }
    }
}
