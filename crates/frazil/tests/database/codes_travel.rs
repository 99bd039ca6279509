//! Groups of strings that are found by the codes of frozen blocks: answers are those of the strings, whatever
//! blocks hold.

use crate::top_bounds::number_before;
use crate::{memory, rows};
use frazil::Connection;

/// Rows of a block.
const BLOCK: usize = 4_000;

/// Tables of two blocks and a few rows more that stay hot. In `few` both blocks hold equal dictionaries, in `moved`
/// each has its own, in `many` strings are too many for dictionaries, in `one` they are constants, and `gaps` has
/// NULLs and empty strings.
fn tables() -> Connection {
    let c = memory();
    rows(
        &c,
        "set frazil.freeze_after = off; set frazil.refreeze_budget = off",
    );
    let make = |name: &str, s: &str, t: &str| {
        let fill = |from: usize, to: usize| {
            format!("insert into {name} select i, {s}, {t}, i % 97 from generate_series({from}, {to}) g (i)")
        };
        rows(
            &c,
            &format!("create table {name} (id integer not null, s text, t text not null, v integer)"),
        );
        for block in 0..2 {
            rows(&c, &fill(block * BLOCK, (block + 1) * BLOCK - 1));
            rows(&c, &format!("freeze table {name}"));
        }
        rows(&c, &fill(2 * BLOCK, 2 * BLOCK + 999));
    };
    make("few", "'name ' || i % 100", "'a type of many letters ' || i % 7");
    make(
        "moved",
        "'name ' || i / 100",
        "'a type of many letters ' || i % 7 + i / 4000",
    );
    make("many", "'name ' || i * 7919 % 3500", "'type ' || i % 3");
    make("one", "'ice'", "'frazil ice is ' || i / 4000");
    make(
        "gaps",
        "nullif(repeat('x', i % 5 * 4), 'xxxx')",
        "repeat('y', i % 3)",
    );
    rows(
        &c,
        "create table empty (id integer not null, s text, t text not null, v integer)",
    );
    rows(&c, "insert into empty select 1, 'a', 'b', 2");
    rows(&c, "freeze table empty; delete from empty");
    c
}

/// Tables of [`tables`], and the rows of each that are grouped by codes of `s` and of `t`.
const TABLES: [(&str, usize, usize); 6] = [
    ("few", 2 * BLOCK, 2 * BLOCK),
    ("moved", 2 * BLOCK, 2 * BLOCK),
    ("many", 0, 2 * BLOCK),
    ("one", 2 * BLOCK, 2 * BLOCK),
    ("gaps", 2 * BLOCK, 2 * BLOCK),
    ("empty", 0, 0),
];

/// Queries that group by strings.
const QUERIES: [&str; 14] = [
    "select s, count(*), sum(v), min(id), max(id) from T group by s order by s",
    "select t, s, count(v), sum(id) from T group by t, s order by t, s",
    "select s, t, s, count(*) from T group by s, t, s order by s, t",
    "select count(*), count(distinct s), count(distinct t) from T",
    "select t, count(distinct s) from T group by t order by t",
    "select distinct s from T order by s",
    "select distinct t, s from T where v < 50 order by t, s",
    "select s, min(s), max(s), min(t), sum(length(s)) from T group by s order by s",
    "select t, sum(length(s)) from T group by t order by t",
    "select s, count(*) from T where id % 100 = 17 group by s order by s",
    "select s, count(*) from T where s like '%3' or t < 'm' group by s order by s",
    "select s, string_agg(t, ',' order by id) from T where id % 50 = 3 group by s order by s",
    "select t, count(*) filter (where s > 'name 5') from T group by t order by t",
    "select a.s, count(*) from T a left join empty on a.v = empty.v group by a.s order by a.s",
];

#[test]
fn answers_are_those_of_the_strings() {
    let c = tables();
    for (table, ..) in TABLES {
        for query in QUERIES {
            let query = query.replace('T', table);
            rows(
                &c,
                "set frazil.codes_travel = off; set threads = 1; set frazil.stages = 'relaxed'",
            );
            let expected = rows(&c, &query);
            rows(&c, "set frazil.codes_travel = on");
            for ways in [
                "set threads = 1",
                "set threads = 2",
                "set frazil.stages = 'fused'",
                "set frazil.stages = 'staged'; set frazil.stage_rows = 64",
            ] {
                rows(&c, ways);
                assert_eq!(rows(&c, &query), expected, "{query}, {ways}");
            }
            rows(&c, "reset frazil.stage_rows");
        }
    }
}

#[test]
fn blocks_with_dictionaries_are_grouped_by_codes() {
    let c = tables();
    rows(&c, "set frazil.stages = 'fused'");
    for (table, by_s, by_t) in TABLES {
        for (column, by_code) in [("s", by_s), ("t", by_t)] {
            let query = format!("explain analyze select {column}, sum(v) from {table} group by {column}");
            let run = rows(&c, &query);
            let shown = if run.contains("rows by code") {
                number_before(&run, "rows by code")
            } else {
                0
            };
            assert_eq!(shown, by_code, "{table}.{column}: {run}");
        }
    }
    let two = rows(&c, "explain analyze select s, t, count(*) from few group by t, s");
    assert_eq!(number_before(&two, "rows by code"), 2 * BLOCK, "{two}");
    rows(&c, "set frazil.codes_travel = off");
    let off = rows(&c, "explain analyze select s, t, count(*) from few group by t, s");
    assert!(!off.contains("by code"), "{off}");
}

#[test]
fn groups_by_codes_follow_the_scan() {
    let c = tables();
    rows(&c, "delete from few where id % 3 = 0 or id between 4100 and 4400");
    rows(&c, "update few set s = 'other' where id % 1007 = 5");
    for query in [
        "select s, count(*), sum(v) from few group by s order by s",
        "select s, t, count(*) from few where v between 3 and 5 group by s, t order by s, t",
        "select s, count(*) from few where id = 1234 group by s",
        "select s from few group by s order by s limit 3",
    ] {
        rows(&c, "set frazil.codes_travel = off");
        let expected = rows(&c, query);
        rows(&c, "set frazil.codes_travel = on");
        assert_eq!(rows(&c, query), expected, "{query}");
    }
}
