//! Joins by inequalities answer as nested loops do, whichever side is sorted. A condition `(a < b) is true` is
//! not a comparison of two sides to the optimizer, so that its join stays a nested loop.

use crate::{memory, rows};
use frazil::Connection;
use frazil_testkit::Random;

/// Columns of both tables that are compared.
const COLUMNS: [&str; 7] = ["i", "b", "d", "w", "f", "s", "at"];

/// Tables of few values, among them NULLs, of many sizes: `small`, `large`, `nothing`.
fn tables(c: &Connection) {
    for (name, count, factor) in [("small", 12, 5), ("large", 70, 11), ("nothing", 0, 1)] {
        rows(
            c,
            &format!(
                "create table {name} as select x as id, nullif(n, 7)::integer as i, nullif(n, 3)::bigint as b,
                    nullif(n, 5)::decimal(9,2) / 4 as d, nullif(n, 8)::decimal(30,3) as w,
                    nullif(n, 9)::double precision / 8 as f, 'text ' || nullif(n, 2) as s,
                    timestamp '2024-02-27' + nullif(n, 4) * interval '5 hours' as at
                 from (select x, x * {factor} % 31 as n from generate_series(1, {count}) as g (x)) as h"
            ),
        );
    }
}

/// A condition, as the optimizer likes it and as it hides the inequalities.
fn condition(random: &mut Random) -> (String, String) {
    let column = COLUMNS[random.index(COLUMNS.len())];
    let shift = |random: &mut Random| match column {
        "s" => "",
        "at" => [" + interval '1 day'", " - interval '3 hours'", ""][random.index(3)],
        _ => [" + 3", " - 2", ""][random.index(3)],
    };
    let (lower, upper) = ([">", ">="][random.index(2)], ["<", "<="][random.index(2)]);
    let bounds = [
        format!("l.{column} {lower} r.{column}{}", shift(random)),
        format!("l.{column} {upper} r.{column}{}", shift(random)),
        format!("r.{column} {lower} l.{column}{}", shift(random)),
        "l.id % 3 <> r.id % 2".to_owned(),
    ];
    let first = random.index(3);
    let mut parts = vec![&bounds[first]];
    parts.extend(
        bounds
            .iter()
            .enumerate()
            .filter(|(i, _)| *i != first && random.below(3) == 0)
            .map(|b| b.1),
    );
    let plain: Vec<String> = parts.iter().map(|p| p.to_string()).collect();
    let hidden: Vec<String> = parts.iter().map(|p| format!("(({p}) is true)")).collect();
    (plain.join(" and "), hidden.join(" and "))
}

/// A query that joins two tables by a condition.
fn query(shape: usize, left: &str, right: &str, condition: &str) -> String {
    let join = ["join", "left join", "right join", "full join"];
    match shape {
        0..4 => format!(
            "select l.id, r.id from {left} as l {} {right} as r on {condition} order by 1, 2",
            join[shape]
        ),
        4 => format!(
            "select id from {left} as l where exists (select 1 from {right} as r where {condition}) order by 1"
        ),
        5 => format!(
            "select id from {left} as l where not exists (select 1 from {right} as r where {condition}) order by 1"
        ),
        6 => format!(
            "select id, exists (select 1 from {right} as r where {condition}) or id = 3 from {left} as l order by 1"
        ),
        _ => format!(
            "select l.id, r.id, n.id from {left} as l, {right} as r, small as n \
             where {condition} and n.id < l.id order by 1, 2, 3"
        ),
    }
}

#[test]
fn inequality_joins_answer_as_nested_loops() {
    let c = memory();
    tables(&c);
    let names = ["small", "large", "nothing"];
    let mut random = Random::new(520);
    let mut ordered = 0;
    for turn in 0..120 {
        let (left, right) = (names[random.index(8).min(2) % 3], names[random.index(2)]);
        let (plain, hidden) = condition(&mut random);
        let (plain, hidden) = (
            query(turn % 8, left, right, &plain),
            query(turn % 8, left, right, &hidden),
        );
        let is_ordered = |sql: &str| rows(&c, &format!("explain {sql}")).contains(", ordered by ");
        ordered += usize::from(is_ordered(&plain));
        // The three-way join has a plain inequality of its own.
        assert!(turn % 8 == 7 || !is_ordered(&hidden), "{hidden}");
        assert_eq!(rows(&c, &plain), rows(&c, &hidden), "{plain}");
    }
    assert!(ordered > 60, "{ordered} joins of 120 are in order");
}

#[test]
fn the_side_that_is_cheap_to_sort_is_sorted() {
    let c = memory();
    rows(
        &c,
        "create table events as select x as id, x * 7 % 100003 as at from generate_series(1, 100000) as g (x)",
    );
    rows(
        &c,
        "create table spans as select x as id, x * 50 as lo, x * 50 + 3 as hi from generate_series(1, 3) as g (x)",
    );
    rows(
        &c,
        "create table many as select x as id, x * 5 as lo, x * 5 + 3 as hi from generate_series(1, 20000) as g (x)",
    );
    let sorted_by = |from: &str| {
        let plan = rows(
            &c,
            &format!("explain select count(*) from events, {from} where at between lo and hi"),
        );
        let at = plan.find("ordered by ").expect("it is in order") + "ordered by ".len();
        plan[at..at + 2].to_owned()
    };
    // Three spans are sorted rather than 100,000 events.
    assert_eq!(
        (sorted_by("spans").as_str(), sorted_by("many").as_str()),
        ("lo", "at")
    );
}

#[test]
fn conditions_that_may_fail_stay_where_they_are() {
    let c = memory();
    tables(&c);
    // The division fails for rows that have no partner.
    let sql = "select count(*) from small as l join nothing as r on l.id > r.id / (l.id - l.id)";
    assert_eq!(rows(&c, sql).trim(), "0");
    let plan = rows(&c, &format!("explain {sql}"));
    assert!(!plan.contains("ordered by"), "{plan}");
    let sql = "select count(*) from small as l join nothing as r on 1 / (l.id - 3) > r.id";
    assert_eq!(rows(&c, sql).trim(), "0");
}

#[test]
fn a_run_hears_a_timeout_and_its_order_is_counted_as_memory() {
    let c = memory();
    rows(
        &c,
        "create table long as select x as id, x % 1000 as k from generate_series(1, 300000) as g (x)",
    );
    // 45 billion pairs, of which none is given out.
    let sql = "select count(*) from long as a join long as b on a.id < b.id and a.k + b.k = -1";
    let state = |sql: &str| c.execute(sql).expect_err("it cannot end").state().to_string();
    rows(&c, "set statement_timeout = '300ms'");
    assert_eq!(state(sql), "57014");
    rows(&c, "set statement_timeout = 0");
    rows(&c, "set memory_limit = '4MB'");
    assert_eq!(
        state("select count(*) from long as a join long as b on a.id < b.id and b.id < a.k"),
        "53200"
    );
}

#[test]
fn first_matches_make_no_other_pairs() {
    let c = memory();
    rows(&c, "set threads = 2");
    for name in ["early", "late"] {
        rows(
            &c,
            &format!(
                "create table {name} as select g as id, g * 7919 % 20011 as at, g % 4 as k \
                 from generate_series(1, 20010) g"
            ),
        );
    }
    // All pairs, or those of a key, would need gigabytes.
    rows(&c, "set memory_limit = '24MB'");
    for (sql, wanted) in [
        (
            "select count(*), sum(l.at - e.at) from late l, \
             lateral (select at from early where early.at < l.at order by early.at desc limit 1) e",
            "20009|20009",
        ),
        (
            "select count(*), count(e.at), min(e.k - l.k), max(e.k - l.k) from late l left join \
             lateral (select * from early where early.k = l.k and early.at <= l.at \
             order by early.at desc limit 1) e on true",
            "20010|20010|0|0",
        ),
        (
            "select sum((select id from early where early.at >= l.at order by early.at limit 1) - l.id) from late l",
            "0",
        ),
        (
            "select sum(l.at - (select max(at) from early where early.at <= l.at)) from late l",
            "0",
        ),
        (
            "select count(*) from late where at > all (select at from early where at < 20000)",
            "11",
        ),
        (
            "select count(*) from late l where at < any (select at from early where early.k = l.k)",
            "20006",
        ),
        (
            "select count(*), sum(e.at - l.at) from late l, early e where e.at between l.at and l.at + 10 / l.id",
            "20037|87",
        ),
    ] {
        assert_eq!(rows(&c, sql), wanted, "{sql}");
    }
}
