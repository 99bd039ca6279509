//! Aggregates of ordered rows against their definitions, in few and many groups, on one thread and two; limits of memory and time.

use crate::{eventually, memory, rows, state};
use frazil::{Connection, SqlState};
use frazil_testkit::Random;
use std::cmp::Reverse;
use std::collections::{BTreeMap, BTreeSet};
use std::time::{Duration, Instant};

/// A row of the table.
#[derive(Clone, Debug)]
struct Row {
    id: i64,
    g: Option<i64>,
    k: Option<i64>,
    v: Option<i64>,
    s: Option<String>,
}

fn table(random: &mut Random, count: i64, groups: u64, values: u64) -> Vec<Row> {
    let cell = |random: &mut Random, below: u64| (random.below(8) > 0).then(|| random.below(below) as i64);
    (0..count)
        .map(|id| Row {
            id,
            g: cell(random, groups),
            k: cell(random, 5),
            v: cell(random, values),
            s: cell(random, values).map(|v| match v % 3 {
                0 => format!("a text that is longer than others {v}"),
                _ => v.to_string(),
            }),
        })
        .collect()
}

fn filled(all: &[Row]) -> Connection {
    let c = memory();
    rows(
        &c,
        "create table t (id bigint not null, g integer, k integer, v integer, s text)",
    );
    let number = |v: Option<i64>| v.map_or("null".to_string(), |v| v.to_string());
    for part in all.chunks(20_000) {
        let values: Vec<String> = (part.iter())
            .map(|r| {
                let text = r.s.as_ref().map_or("null".to_string(), |s| format!("'{s}'"));
                let (g, k, v) = (number(r.g), number(r.k), number(r.v));
                format!("({}, {g}, {k}, {v}, {text})", r.id)
            })
            .collect();
        rows(&c, &format!("insert into t values {}", values.join(", ")));
    }
    c
}

/// What is asked, and its answer for the rows of a group.
type Aggregate = (&'static str, fn(&[&Row]) -> String);

fn shown<T: ToString>(value: Option<T>) -> String {
    value.map_or(String::new(), |v| v.to_string())
}

fn joined(texts: Vec<&String>, delimiter: &str) -> String {
    let list: Vec<&str> = texts.iter().map(|s| s.as_str()).collect();
    shown((!list.is_empty()).then(|| list.join(delimiter)))
}

fn sorted(group: &[&Row]) -> Vec<i64> {
    let mut values: Vec<i64> = group.iter().filter_map(|r| r.v).collect();
    values.sort_unstable();
    values
}

fn before(group: &[&Row], supposed: i64) -> Vec<Option<i64>> {
    // NULLs come first.
    let all = group.iter().map(|r| r.v);
    all.filter(|v| v.is_none_or(|v| v < supposed)).collect()
}

const AGGREGATES: &[Aggregate] = &[
    ("string_agg(s, ',' order by k desc nulls last, id)", |group| {
        let mut all: Vec<&&Row> = group.iter().filter(|r| r.s.is_some()).collect();
        all.sort_by_key(|r| (r.k.is_none(), Reverse(r.k), r.id));
        joined(all.iter().filter_map(|r| r.s.as_ref()).collect(), ",")
    }),
    ("string_agg(distinct s, '; ' order by s desc)", |group| {
        let all: BTreeSet<&String> = group.iter().filter_map(|r| r.s.as_ref()).collect();
        joined(all.into_iter().rev().collect(), "; ")
    }),
    // Rows come in the order of the table.
    ("string_agg(s, '')", |group| {
        joined(group.iter().filter_map(|r| r.s.as_ref()).collect(), "")
    }),
    (
        "string_agg(s, k::text order by id) filter (where v < 4)",
        |group| {
            let mut text = None;
            for r in group.iter().filter(|r| r.v.is_some_and(|v| v < 4)) {
                let (Some(s), k) = (&r.s, r.k.map_or(String::new(), |k| k.to_string())) else {
                    continue;
                };
                text = Some(match text {
                    None => s.clone(),
                    Some(so_far) => format!("{so_far}{k}{s}"),
                });
            }
            shown(text)
        },
    ),
    ("percentile_disc(0.3) within group (order by v)", |group| {
        let all = sorted(group);
        let at = (0.3 * all.len() as f64).ceil() as usize;
        shown(all.get(at.max(1) - 1))
    }),
    (
        "(percentile_cont(0.75) within group (order by v desc))::numeric(20, 6)",
        |group| {
            let mut all = sorted(group);
            all.reverse();
            let at = 0.75 * (all.len().max(1) - 1) as f64;
            let value = all.get(at.floor() as usize).map(|low| {
                let high = all[at.ceil() as usize];
                *low as f64 + (at - at.floor()) * (high - low) as f64
            });
            value.map_or(String::new(), |v| format!("{v:.6}"))
        },
    ),
    ("mode() within group (order by v)", |group| {
        let mut counts = BTreeMap::new();
        group
            .iter()
            .filter_map(|r| r.v)
            .for_each(|v| *counts.entry(v).or_insert(0) += 1);
        shown(
            counts
                .iter()
                .max_by_key(|(v, n)| (**n, Reverse(**v)))
                .map(|(v, _)| v),
        )
    }),
    ("count(distinct v)", |group| {
        group
            .iter()
            .filter_map(|r| r.v)
            .collect::<BTreeSet<_>>()
            .len()
            .to_string()
    }),
    ("sum(distinct v)", |group| {
        let all: BTreeSet<i64> = group.iter().filter_map(|r| r.v).collect();
        shown((!all.is_empty()).then(|| all.iter().sum::<i64>()))
    }),
    ("count(distinct (k, v))", |group| {
        group
            .iter()
            .map(|r| (r.k, r.v))
            .collect::<BTreeSet<_>>()
            .len()
            .to_string()
    }),
    ("count(distinct (k, v)) filter (where id % 2 = 0)", |group| {
        let even = group.iter().filter(|r| r.id % 2 == 0);
        even.map(|r| (r.k, r.v))
            .collect::<BTreeSet<_>>()
            .len()
            .to_string()
    }),
    ("arg_max(s, id)", |group| {
        let known = group.iter().filter(|r| r.s.is_some());
        shown(known.max_by_key(|r| r.id).and_then(|r| r.s.as_ref()))
    }),
    ("min_by(id, -id) filter (where v is not null)", |group| {
        shown(group.iter().filter(|r| r.v.is_some()).map(|r| r.id).max())
    }),
    ("rank(7) within group (order by v nulls first)", |group| {
        (before(group, 7).len() + 1).to_string()
    }),
    ("dense_rank(7) within group (order by v nulls first)", |group| {
        (before(group, 7).into_iter().collect::<BTreeSet<_>>().len() + 1).to_string()
    }),
    ("first(v order by id desc)", |group| {
        shown(group.iter().max_by_key(|r| r.id).and_then(|r| r.v))
    }),
    ("last(v order by k nulls first, id)", |group| {
        shown(group.iter().max_by_key(|r| (r.k, r.id)).and_then(|r| r.v))
    }),
];

fn judge(c: &Connection, all: &[Row], wanted: &[Aggregate], by_group: bool) {
    let list: Vec<&str> = wanted.iter().map(|a| a.0).collect();
    let (keys, tail) = match by_group {
        true => ("coalesce(g, -1)", " group by g"),
        false => ("0", ""),
    };
    let sql = format!("select {keys}, {} from t{tail}", list.join(", "));
    let mut groups: BTreeMap<i64, Vec<&Row>> = BTreeMap::new();
    if !by_group {
        groups.insert(0, Vec::new());
    }
    for row in all {
        let key = if by_group { row.g.unwrap_or(-1) } else { 0 };
        groups.entry(key).or_default().push(row);
    }
    let found = rows(c, &sql);
    let mut lines: Vec<&str> = found.lines().collect();
    lines.sort_unstable();
    let mut expected: Vec<String> = (groups.iter())
        .map(|(key, group)| {
            let values = wanted.iter().map(|a| (a.1)(group));
            std::iter::once(key.to_string())
                .chain(values)
                .collect::<Vec<_>>()
                .join("|")
        })
        .collect();
    expected.sort_unstable();
    assert_eq!(lines.len(), expected.len(), "{sql}");
    for (found, expected) in lines.iter().zip(&expected) {
        assert!(found == expected, "{sql}\n{found:.2000}\n{expected:.2000}");
    }
}

#[test]
fn aggregates_of_ordered_rows_are_what_their_definitions_say() {
    for seed in 0..60 {
        let mut random = Random::new(seed);
        let (count, groups) = (random.below(60) as i64, 1 + random.below(5));
        let all = table(&mut random, count, groups, 3 + seed % 9);
        let c = filled(&all);
        for _ in 0..4 {
            let mut wanted = AGGREGATES.to_vec();
            for i in (1..wanted.len()).rev() {
                wanted.swap(i, random.below(i as u64 + 1) as usize);
            }
            wanted.truncate(1 + random.below(6) as usize);
            judge(&c, &all, &wanted, random.below(2) == 0);
        }
    }
}

/// Lists that one worker sorts and that all share; groups that several workers have a part of.
#[test]
fn few_large_groups_and_many_small_ones_are_read_on_all_threads() {
    let mut random = Random::new(3);
    for (count, groups) in [(140_000, 3), (40_000, 15_000)] {
        let all = table(&mut random, count, groups, 1_000);
        let c = filled(&all);
        rows(&c, "set threads = 2");
        for wanted in AGGREGATES.chunks(6) {
            judge(&c, &all, wanted, true);
        }
        judge(&c, &all, &AGGREGATES[..3], false);
        rows(&c, "set threads = 1");
        judge(&c, &all, &AGGREGATES[4..7], false);
    }
}

#[test]
fn approximate_counts_are_near() {
    let mut random = Random::new(5);
    let all = table(&mut random, 60_000, 3, 20_000);
    let c = filled(&all);
    for argument in [
        "id",
        "v",
        "s",
        "v * 1.5",
        "id::double precision",
        "v * interval '1 hour'",
    ] {
        let sql =
            format!("select approx_count_distinct({argument}), count(distinct {argument}) from t group by g");
        for line in rows(&c, &sql).lines() {
            let (near, exact) = line.split_once('|').expect("two columns");
            let [near, exact] = [near, exact].map(|n| n.parse::<f64>().expect("a number"));
            assert!((near / exact - 1.0).abs() < 0.08, "{argument}: {line}");
        }
    }
    assert_eq!(
        rows(&c, "select approx_count_distinct(v) from t where id < 0"),
        "0"
    );
    assert_eq!(
        rows(
            &c,
            "select approx_count_distinct(k), approx_count_distinct(null) from t"
        ),
        "5|0"
    );
}

#[test]
fn kept_rows_keep_to_the_memory_limit_and_hear_a_timeout() {
    let mut random = Random::new(9);
    let all = table(&mut random, 100_000, 50_000, 1_000);
    let c = filled(&all);
    let statements = [
        "select count(x) from (select string_agg(s, ',' order by k) as x from t group by g) y",
        "select length(string_agg(s, ',' order by k)) from t",
        "select count(x), sum(n) from (select string_agg(distinct s, ',') as x, count(distinct v) as n from t group by id) y",
        // So many rows that no machine selects among them within the timeout.
        "select percentile_cont(0.5) within group (order by v + x) \
         from t, (values (1), (2), (3), (4), (5), (6), (7), (8), (9), (10), (11), (12)) z(x)",
        "select count(a) from (select string_agg(s, ',') over (order by id rows 3 preceding exclude current row) as a from t) y",
    ];
    for sql in statements {
        let answer = rows(&c, sql);
        rows(&c, "set memory_limit = '1MB'");
        assert_eq!(state(&c, sql), SqlState::OUT_OF_MEMORY, "{sql}");
        rows(&c, "set memory_limit = '1GB'");
        assert_eq!(rows(&c, sql), answer, "{sql}");
        rows(&c, "set statement_timeout = '2ms'");
        let begun = Instant::now();
        assert_eq!(state(&c, sql), SqlState::QUERY_CANCELED, "{sql}");
        assert!(begun.elapsed() < Duration::from_secs(8), "{sql}");
        eventually(&c, "set statement_timeout = 0");
    }
}

/// A text over a window is a part of one that all rows share, or a copy where the frame has holes.
#[test]
fn texts_over_windows_are_those_of_their_frames() {
    let mut random = Random::new(1);
    for (count, threads) in [(40, 1), (140_000, 2)] {
        let all = table(&mut random, count, 2, 50);
        let c = filled(&all);
        rows(&c, &format!("set threads = {threads}"));
        for (frame, wanted) in [
            (
                "rows between 2 preceding and 1 following",
                [-2, -1, 0, 1].as_slice(),
            ),
            (
                "rows between 2 preceding and 1 following exclude current row",
                &[-2, -1, 1],
            ),
            ("rows between 3 preceding and 2 preceding", &[-3, -2]),
            (
                "rows between current row and 1 following exclude current row",
                &[1],
            ),
        ] {
            let sql = format!(
                "select id, string_agg(s, k::text) filter (where v > 5) over (order by id {frame}) from t"
            );
            let found = rows(&c, &sql);
            assert_eq!(found.lines().count(), all.len());
            for line in found.lines().filter(|_| count < 100 || random.below(50) == 0) {
                let (id, value) = line.split_once('|').expect("two columns");
                let id: i64 = id.parse().expect("an id");
                let near = wanted
                    .iter()
                    .filter_map(|by| all.get(usize::try_from(id + by).ok()?));
                let mut text: Option<String> = None;
                for r in near.filter(|r| r.v.is_some_and(|v| v > 5)) {
                    let Some(s) = &r.s else { continue };
                    let k = r.k.map_or(String::new(), |k| k.to_string());
                    text = Some(text.map_or(s.clone(), |so_far| format!("{so_far}{k}{s}")));
                }
                assert_eq!(value, shown(text), "{sql}: {id}");
            }
        }
    }
}

#[test]
fn explain_shows_the_order_of_an_aggregate() {
    let c = memory();
    rows(&c, "create table w (a integer, b integer not null, s text)");
    let text = rows(
        &c,
        "explain (pipelines) select a, string_agg(s, ', ' order by b desc, s nulls first), count(distinct b), \
         percentile_disc(0.5) within group (order by b), max_by(s, b) from w group by a",
    );
    for part in [
        "string_agg := string_agg(s, ', ' order by b desc, s nulls first)",
        "count := count(distinct b)",
        "percentile_disc := percentile_disc(b, 0.5 order by b)",
        "max_by := arg_max(s, ",
    ] {
        assert!(text.contains(part), "{part}: {text}");
    }
    // Alone DISTINCT is two aggregations, beside what comes of parts too.
    let alone = "explain select a, count(distinct (b, s)), sum(b) from w group by a";
    let aggregations = |sql: &str| rows(&c, sql).matches("Aggregate").count();
    assert_eq!(aggregations(alone), 2, "{}", rows(&c, alone));
    assert_eq!(
        aggregations("explain select count(distinct b), first(s) from w"),
        1
    );
}
