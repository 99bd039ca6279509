//! Groups of strings that are found by the codes of frozen blocks: answers are those of the strings, whatever
//! blocks hold.

use crate::top_bounds::number_before;
use crate::{memory, rows};
use frazil::Connection;

/// Rows of a block.
const BLOCK: usize = 8_000;
/// Rows of a full chunk.
const CHUNK: usize = 65_536;

/// Tables of a block and some rows that stay hot. In `few` and `moved` strings have dictionaries, in `many` and
/// `pages` they are compressed, in `one` they are constants, and `gaps` has NULLs and empty strings.
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
        rows(&c, &fill(0, BLOCK - 1));
        rows(&c, &format!("freeze table {name}"));
        rows(&c, &fill(BLOCK, BLOCK + 999));
    };
    make("few", "'name ' || i % 100", "'a type of many letters ' || i % 7");
    make(
        "moved",
        "'name ' || i / 100",
        "'a type of many letters ' || i % 7 + i / 4000",
    );
    make("many", "'name ' || i * 7919 % 7001", "'type ' || i % 3");
    make(
        "pages",
        "'https://example.com/pages/' || i * 7919 % 7500",
        "case when i % 50 = 7 then repeat('no symbols 4 ' || i, 9) else 'page ' || i end",
    );
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
const TABLES: [(&str, usize, usize); 7] = [
    ("few", BLOCK, BLOCK),
    ("moved", BLOCK, BLOCK),
    ("many", BLOCK, BLOCK),
    ("pages", BLOCK, BLOCK),
    ("one", BLOCK, BLOCK),
    ("gaps", BLOCK, BLOCK),
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
    assert_eq!(number_before(&two, "rows by code"), BLOCK, "{two}");
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

/// A table of three chunks and some hot rows: columns of few strings, of others in each chunk, of many strings that
/// repeat themselves, of strings that do not, and two whose pairs are many.
fn chunks() -> Connection {
    let c = memory();
    rows(
        &c,
        "set frazil.freeze_after = off; set frazil.refreeze_budget = off; set threads = 1",
    );
    rows(
        &c,
        "create table c (id integer not null, few text not null, moved text, pages text not null, u text not null,
                         x text not null, y text, v integer not null, w bigint)",
    );
    let fill = |from: usize, to: usize| {
        format!(
            "insert into c select i, 'name ' || i % 100, nullif('name ' || i / 700, 'name 5'),
                    'https://example.com/pages/' || i * 7919::bigint % 40000, 'https://example.com/pages/' || i,
                    'name ' || i % 120, nullif('type ' || i % 119, 'type 3'), i % 1009, nullif(i % 7, 3)
             from generate_series({from}, {to}) g (i)"
        )
    };
    rows(&c, &fill(0, 3 * CHUNK - 1));
    rows(&c, "freeze table c");
    rows(&c, &fill(3 * CHUNK, 3 * CHUNK + 499));
    c
}

/// The answer of a query, which must be what it is by strings.
fn answer(c: &Connection, query: &str) -> String {
    rows(c, "set frazil.codes_travel = off");
    let expected = rows(c, query);
    rows(c, "set frazil.codes_travel = on");
    for threads in [2, 1] {
        rows(c, &format!("set threads = {threads}"));
        let found = rows(c, query);
        let shown = |answer: &str| answer.lines().next().unwrap_or_default().to_owned();
        assert!(
            found == expected,
            "{query}: {} and {}",
            shown(&found),
            shown(&expected)
        );
    }
    expected
}

/// The rows that a query groups by codes.
fn rows_by_code(c: &Connection, query: &str) -> usize {
    let run = rows(c, &format!("explain analyze {query}"));
    match run.contains("rows by code") {
        true => number_before(&run, "rows by code"),
        false => 0,
    }
}

#[test]
fn chunks_have_dictionaries_of_their_own() {
    let c = chunks();
    for (key, by_code) in [("few", 3 * CHUNK), ("moved", 3 * CHUNK), ("x, few", 3 * CHUNK)] {
        let query = format!("select {key}, count(*), sum(v), min(w) from c group by {key} order by {key}");
        answer(&c, &query);
        assert_eq!(rows_by_code(&c, &query), by_code, "{query}");
    }
    let query =
        "select count(distinct few), count(distinct moved), count(distinct pages), count(distinct u) from c";
    assert_eq!(answer(&c, query), format!("100|281|40000|{}", 3 * CHUNK + 500));

    // Compressed strings that recur in later chunks are found by their bytes; others are given up.
    let query = |key: &str| {
        format!(
            "select count(*), sum(n), min({key}) from (select {key}, count(*) as n from c group by {key}) q"
        )
    };
    answer(&c, &query("pages"));
    answer(
        &c,
        "select pages, count(*), sum(id) from c group by pages order by pages",
    );
    assert_eq!(rows_by_code(&c, &query("pages")), 3 * CHUNK);
    answer(&c, &query("u"));
    assert!(rows_by_code(&c, &query("u")) <= 2 * CHUNK);
    answer(
        &c,
        "select pages, count(*) from c where v = 17 or id % 1000 = 1 group by pages order by pages",
    );

    // Groups too many for a cache are looked up by vectors, which rows whose cells know their groups do not enter.
    let states =
        "count(*), sum(v), sum(w), min(v), max(w), min(id), max(id), count(w), max(v), min(w), sum(v + w)";
    for keys in ["x, y", "pages", "y, x"] {
        let query = format!("select {keys}, {states} from c group by {keys} order by {keys}");
        answer(&c, &query);
        let shown = rows(&c, &format!("explain (stages) {query}"));
        assert!(shown.contains("stage 1"), "{shown}");
        assert_eq!(rows_by_code(&c, &query), 3 * CHUNK, "{query}");
    }
    // A sum of doubles, and a list, depend on the order of rows: no row overtakes another one.
    rows(&c, "set threads = 1");
    for states in [
        "sum(v / 3.0::double precision)",
        "array_agg(id)",
        "string_agg(y, ',')",
    ] {
        let query =
            format!("select pages, {states}, min(v), max(w), min(id) from c group by pages order by pages");
        rows(&c, "set frazil.codes_travel = off");
        let expected = rows(&c, &query);
        rows(&c, "set frazil.codes_travel = on");
        assert!(rows(&c, &query) == expected, "{query}");
    }
}

#[test]
fn null_is_a_group_among_compressed_strings() {
    let c = memory();
    rows(
        &c,
        "set frazil.freeze_after = off; set frazil.refreeze_budget = off",
    );
    rows(&c, "create table gaps (id integer not null, s text, v integer)");
    let text = "case when i % 5 <> 3 then 'https://example.com/pages/' || i * 7919 % 30000 end";
    let last = 3 * CHUNK + 499;
    rows(
        &c,
        &format!("insert into gaps select i, {text}, i % 97 from generate_series(0, {last}) g (i)"),
    );
    rows(&c, "alter table gaps set (\"encoding.s\" = 'raw')");
    rows(&c, "freeze table gaps");
    for (id, s) in [
        ("1", "null"),
        ("2", "''"),
        ("3", "'https://example.com/pages/7919'"),
    ] {
        rows(&c, &format!("insert into gaps values ({id}, {s}, 5)"));
    }
    for query in [
        "select s, count(*), sum(v), min(id) from gaps group by s order by s",
        "select s, count(*), sum(v), min(id) from gaps where v < 60 or id % 10 = 8 group by s order by s",
        "select count(distinct s), count(s), count(*) from gaps",
        "select count(*) from (select distinct s from gaps where s is null or id % 2 = 0) q",
    ] {
        answer(&c, query);
    }
    let query = "select s, count(*) from gaps group by s";
    assert!(rows_by_code(&c, query) >= 3 * CHUNK, "{query}");
}

#[test]
fn codes_are_given_up_if_restrictions_leave_few_rows_of_a_string() {
    let c = memory();
    rows(
        &c,
        "set frazil.freeze_after = off; set frazil.refreeze_budget = off",
    );
    rows(
        &c,
        "create table few (id integer not null, s text not null, v integer not null)",
    );
    let last = 4 * CHUNK - 1;
    let text = "'a name of more than twelve bytes ' || i / 65536 || ' ' || i * 7919 % 65521 % 9000";
    rows(
        &c,
        &format!("insert into few select i, {text}, i % 10 from generate_series(0, {last}) g (i)"),
    );
    rows(&c, "alter table few set (\"encoding.s\" = 'dictionary')");
    rows(&c, "freeze table few");
    let of = |restriction: &str| {
        format!("select s, count(*), min(id) from few where {restriction} group by s order by s")
    };
    answer(&c, &of("v < 9"));
    answer(&c, &of("v = 3"));
    rows(&c, "set threads = 1");
    assert!(rows_by_code(&c, &of("v < 9")) > 3 * CHUNK);
    let by_code = rows_by_code(&c, &of("v = 3"));
    assert!(by_code > 0 && by_code < CHUNK / 5, "{by_code}");
}
