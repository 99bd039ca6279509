//! Window functions against their definitions ([`naive_windows`]); large partitions; limits of memory and time.

use crate::{eventually, memory, rows, state};
use frazil::{Connection, SqlState};
use frazil_testkit::Random;
use frazil_testkit::naive_windows::{Cell, Row, WindowQuery};
use std::collections::HashMap;
use std::time::{Duration, Instant};

/// Rows of the naive evaluator's table: few partitions, few keys, NULLs among all.
fn table(random: &mut Random, count: i64, partitions: u64, keys: u64) -> Vec<Row> {
    let cell = |random: &mut Random, below: u64| -> Cell {
        (random.below(8) > 0).then(|| random.below(below) as i64 - below as i64 / 3)
    };
    (0..count)
        .map(|id| Row {
            id,
            p: cell(random, partitions),
            k: cell(random, keys),
            v: cell(random, 100),
        })
        .collect()
}

fn filled(rows_of: &[Row]) -> Connection {
    let c = memory();
    rows(
        &c,
        "create table t (id bigint not null, p integer, k integer, v integer)",
    );
    let text = |cell: Cell| cell.map_or("null".to_string(), |v| v.to_string());
    for part in rows_of.chunks(20_000) {
        let values: Vec<String> = (part.iter())
            .map(|r| format!("({}, {}, {}, {})", r.id, text(r.p), text(r.k), text(r.v)))
            .collect();
        rows(&c, &format!("insert into t values {}", values.join(", ")));
    }
    c
}

/// The value of each row by its id.
fn answer(c: &Connection, sql: &str) -> HashMap<i64, Cell> {
    let lines = rows(c, sql);
    let pair = |line: &str| {
        let (id, value) = line.split_once('|').expect("two columns");
        (id.parse().expect("an id"), value.parse().ok())
    };
    lines.lines().map(pair).collect()
}

#[test]
fn random_windows_are_what_their_definitions_say() {
    for seed in 0..40 {
        let mut random = Random::new(seed);
        let count = random.below(40) as i64;
        let (partitions, keys) = (1 + random.below(4), 1 + random.below(12));
        let all = table(&mut random, count, partitions, keys);
        let c = filled(&all);
        for _ in 0..12 {
            let query = WindowQuery::random(&mut random, 6);
            let sql = query.sql();
            let found = answer(&c, &sql);
            assert_eq!(found.len(), all.len(), "{sql}");
            for row in &all {
                let partition = query.partition(&all, row);
                let at = partition
                    .iter()
                    .position(|r| r.id == row.id)
                    .expect("its own row");
                let wanted = query.value(&partition, at);
                assert_eq!(
                    found[&row.id], wanted,
                    "seed {seed}, id {}: {sql}\n{all:?}",
                    row.id
                );
            }
        }
    }
}

/// One partition that workers share, in blocks: a few rows are looked at, those at the ends of blocks among them.
#[test]
fn random_windows_over_a_large_partition_are_what_their_definitions_say() {
    const COUNT: i64 = 140_000;
    let mut random = Random::new(7);
    let all = table(&mut random, COUNT, 1, 50_000);
    let c = filled(&all);
    for round in 0..8 {
        rows(&c, &format!("set threads = {}", 1 + round % 2));
        let query = WindowQuery::random(&mut random, 50_000);
        let sql = query.sql();
        let found = answer(&c, &sql);
        assert_eq!(found.len(), all.len(), "{sql}");
        for block in 0..3 {
            let at = (block * 32_768 + random.below(3) as usize * 16_000).min(COUNT as usize - 1);
            let partition = query.partition(&all, &all[at]);
            let place = at.min(partition.len() - 1);
            let wanted = query.value(&partition, place);
            assert_eq!(found[&partition[place].id], wanted, "row {place}: {sql}");
        }
    }
}

fn numbers(count: usize) -> Connection {
    let c = memory();
    rows(&c, "create table n (x integer not null)");
    rows(&c, "insert into n values (0), (1), (2), (3), (4), (5), (6), (7)");
    while rows(&c, "select count(*) from n")
        .parse::<usize>()
        .is_ok_and(|n| n < count)
    {
        rows(&c, "insert into n select x + (select count(*) from n) from n");
    }
    c
}

#[test]
fn a_window_keeps_to_the_memory_limit_and_harms_nothing_else() {
    let c = numbers(500_000);
    rows(&c, "set memory_limit = '12MB'");
    let sql = "select max(s) from (select sum(x) over (order by x) as s from n) y";
    assert_eq!(state(&c, sql), SqlState::OUT_OF_MEMORY);
    assert_eq!(rows(&c, "select count(*) from n"), "524288");
    rows(&c, "set memory_limit = '400MB'");
    assert_eq!(rows(&c, sql), (524_287_i64 * 524_288 / 2).to_string());
}

/// What is asked for by rank is the same as what is left of all ranks; `r + 0` hides what is asked for.
#[test]
fn the_first_ranks_are_those_of_all_rows() {
    let mut random = Random::new(11);
    let all = table(&mut random, 80_000, 40, 3_000);
    let c = filled(&all);
    rows(&c, "set threads = 2");
    for over in [
        "partition by p order by k, id",
        "partition by p order by k desc nulls last",
        "partition by p, k order by v",
        "partition by v is null order by p::text, k",
        "order by k",
        "partition by p",
        "partition by id % 20000 order by k desc nulls last, id",
        "partition by id % 20000 order by v",
        "partition by id order by k",
    ] {
        for rank in ["row_number", "rank", "dense_rank"] {
            for condition in ["<= 3", "= 1", "< 6", "<= 0"] {
                let ranked = format!("select p, k, {rank}() over ({over}) as r from t");
                // Which of equal rows have a number is open.
                let shown = match rank == "row_number" && !over.ends_with("id") {
                    true => "r",
                    false => "p, k, r",
                };
                let sql = format!(
                    "select {shown}, count(*) from ({ranked}) x where r {condition} group by {shown} order by {shown}"
                );
                let plain = sql.replace(
                    &format!("where r {condition}"),
                    &format!("where r + 0 {condition}"),
                );
                assert_eq!(rows(&c, &sql), rows(&c, &plain), "{sql}");
            }
        }
    }
    let many = numbers(500_000);
    rows(&many, "set memory_limit = '6MB'");
    let sql =
        "select sum(x) from (select x, row_number() over (order by x % 1000, x) as r from n) y where r <= 3";
    assert_eq!(rows(&many, sql), "3000");
    assert_eq!(
        state(&many, &sql.replace("r <= 3", "r + 0 <= 3")),
        SqlState::OUT_OF_MEMORY
    );
}

#[test]
fn a_window_hears_a_timeout() {
    let c = numbers(500_000);
    let sql = "select max(s) from (select min(x) over (order by -x rows 200000 preceding) as s from n) y";
    for threads in [1, 2] {
        rows(&c, &format!("set threads = {threads}"));
        rows(&c, "set statement_timeout = '10ms'");
        let begun = Instant::now();
        assert_eq!(state(&c, sql), SqlState::QUERY_CANCELED);
        assert!(begun.elapsed() < Duration::from_secs(8));
        eventually(&c, "set statement_timeout = 0");
    }
}

#[test]
fn explain_shows_what_shares_a_sort() {
    let c = memory();
    rows(&c, "create table w (a integer, b integer, c integer)");
    let text = rows(
        &c,
        "explain (pipelines) select rank() over (partition by a order by b), \
         sum(c) over (partition by a order by b, c rows 2 preceding), \
         count(*) over (partition by b, a), lag(b) over (order by c desc) from w",
    );
    let windows = text.lines().filter(|line| line.contains("into windows"));
    assert_eq!(windows.count(), 1, "{text}");
    assert!(
        text.contains("window of (a) by b, c: sum := sum(c) rows between 2 preceding and current row"),
        "{text}"
    );
    assert!(text.contains("window of (a) by b: rank := rank()"), "{text}");
    assert!(text.contains("window of (a, b): count := count(*)"), "{text}");
    assert!(text.contains("window by c desc: lag := lag(b)"), "{text}");
}

#[test]
fn a_window_without_an_order_keeps_that_of_its_rows() {
    let c = memory();
    rows(&c, "set threads = 2");
    rows(
        &c,
        "create table w as select g * 7919 % 50021 as a from generate_series(1, 50020) g",
    );
    let ordered = "(select a from w order by a) as x";
    for sql in [
        format!("select count(*) from (select row_number() over () as r, a from {ordered}) y where r <> a"),
        format!("select count(*) from (select lag(a) over () as p, a from {ordered}) y where p <> a - 1"),
        format!(
            "with x as materialized {} \
             select count(*) from (select row_number() over () as r, a from x) y where r <> a",
            ordered.trim_end_matches(" as x")
        ),
    ] {
        for _ in 0..5 {
            assert_eq!(rows(&c, &sql), "0", "{sql}");
        }
    }
}
