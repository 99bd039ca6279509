//! EXPLAIN in all its forms.

use crate::{memory, rows};

#[test]
fn every_form_of_a_statement_is_shown() {
    let c = memory();
    rows(
        &c,
        "create table t (a integer not null, b decimal(10,2) not null)",
    );
    rows(&c, "insert into t values (1, 1.5), (2, 2.5), (3, 3.5)");
    let query = "select sum(b) from t where a >= 2";
    let plan = rows(&c, &format!("explain {query}"));
    assert!(plan.contains("Aggregate") && plan.contains("Scan t"), "{plan}");
    let pipelines = rows(&c, &format!("explain (pipelines) {query}"));
    assert!(
        pipelines.contains("Pipeline 0") && pipelines.contains("into groups 0"),
        "{pipelines}"
    );
    let stages = rows(&c, &format!("explain (stages) {query}"));
    assert!(stages.contains("stage 0"), "{stages}");
    let clif = rows(&c, &format!("explain (clif) {query}"));
    assert!(clif.contains("function") && clif.contains("block0"), "{clif}");
}

#[test]
fn analyze_counts_what_was_skipped() {
    let c = memory();
    rows(&c, "create table t (a integer not null)");
    rows(&c, "insert into t values (1), (2), (3)");
    rows(&c, "freeze table t");
    let text = rows(&c, "explain analyze select count(*) from t where a > 100");
    assert!(text.contains("1 skipped by SMA"), "{text}");
    assert!(text.contains("compile") && text.contains("pipeline 1"), "{text}");
    rows(&c, "set frazil.scan = 'blocks'");
    let text = rows(&c, "explain analyze select count(*) from t where a > 100");
    assert!(text.contains("0 skipped by SMA"), "{text}");
    let text = rows(&c, "explain analyze insert into t values (9)");
    assert!(text.lines().count() > 2, "{text}");
    assert_eq!(rows(&c, "select count(*) from t"), "3");
}

/// The paper's scans differ in how predicates are evaluated, not in how a row is found by its key.
#[test]
fn a_row_is_found_by_its_key_in_every_kind_of_scan() {
    let c = memory();
    rows(&c, "create table t (k integer primary key, x integer)");
    rows(&c, "insert into t values (1, 10), (2, 20), (3, 30)");
    for scan in ["compiled", "vectorized", "sarg", "blocks", "sma", "psma"] {
        rows(
            &c,
            &format!("set frazil.scan = '{scan}'; set frazil.use_indexes = on"),
        );
        let text = rows(&c, "explain select x from t where k = 2 and x > 1");
        assert!(text.contains("t_pkey"), "{scan}: {text}");
        assert_eq!(rows(&c, "select x from t where k = 2 and x > 1"), "20", "{scan}");
        assert_eq!(rows(&c, "select x from t where k = 2 and x > 20"), "", "{scan}");
        assert_eq!(
            rows(&c, "select k from t where x >= 20 order by k"),
            "2\n3",
            "{scan}"
        );
        rows(&c, "set frazil.use_indexes = off");
        let text = rows(&c, "explain select x from t where k = 2 and x > 1");
        assert!(!text.contains("t_pkey"), "{scan}: {text}");
    }
}

#[test]
fn scans_probe_selective_joins_early() {
    let c = memory();
    rows(&c, "create table orders (id integer not null, day date not null)");
    rows(&c, "create table lines (o integer not null, x integer not null)");
    let day = |i: u32| {
        if i.is_multiple_of(50) {
            "2026-05-01"
        } else {
            "2026-01-01"
        }
    };
    let orders: Vec<String> = (0..2000).map(|i| format!("({i}, date '{}')", day(i))).collect();
    let lines: Vec<String> = (0..6000).map(|i| format!("({}, {i})", i / 3)).collect();
    rows(&c, &format!("insert into orders values {}", orders.join(", ")));
    rows(&c, &format!("insert into lines values {}", lines.join(", ")));
    let query = "select sum(x), count(*) from orders join lines on id = o where day > date '2026-04-01'";
    for freeze in [false, true] {
        if freeze {
            rows(&c, "freeze table orders");
            rows(&c, "freeze table lines");
        }
        rows(&c, "set frazil.early_probes = on");
        let plan = rows(&c, &format!("explain (pipelines) {query}"));
        assert!(plan.contains("o early in join 0"), "{plan}");
        let text = rows(&c, &format!("explain analyze {query}"));
        assert!(text.contains("5880 dropped early, 120 rows returned"), "{text}");
        let probed = rows(&c, query);
        rows(&c, "set frazil.early_probes = off");
        let text = rows(&c, &format!("explain analyze {query}"));
        assert!(text.contains("0 dropped early, 6000 rows returned"), "{text}");
        assert_eq!(rows(&c, query), probed);
    }
}

/// The number in front of some words in the line of a pipeline.
fn number_before(line: &str, words: &str) -> u64 {
    let at = line.find(words).unwrap_or_else(|| panic!("no {words} in {line}"));
    let digits = line[..at].rsplit(|c: char| !c.is_ascii_digit()).next();
    digits
        .and_then(|d| d.parse().ok())
        .unwrap_or_else(|| panic!("no number before {words} in {line}"))
}

#[test]
fn lists_scan_no_more_rows_than_their_values_do() {
    let c = memory();
    rows(&c, "create table t (k integer not null, r integer not null)");
    rows(
        &c,
        "insert into t select i, i / 100 from generate_series(1, 140000) as s (i)",
    );
    rows(&c, "delete from t where k % 1000 = 7");
    rows(&c, "freeze table t");
    let scanned = |condition: &str| {
        let text = rows(
            &c,
            &format!("explain analyze select count(*) from t where {condition}"),
        );
        let line = text
            .lines()
            .find(|line| line.contains("; scan:"))
            .expect("a scan");
        number_before(line, " rows scanned")
    };
    for (column, values) in [("k", vec![5, 60_000, 70_000, 139_999]), ("r", vec![1, 600, 1390])] {
        let list: Vec<String> = values.iter().map(ToString::to_string).collect();
        let single: u64 = values.iter().map(|v| scanned(&format!("{column} = {v}"))).sum();
        let ored: Vec<String> = values
            .iter()
            .map(|v| format!("{column} = {v} and k > 0"))
            .collect();
        for condition in [format!("{column} in ({})", list.join(", ")), ored.join(" or ")] {
            let of_list = scanned(&condition);
            assert!(
                of_list <= 2 * single,
                "{condition}: {of_list} rows, {single} of its values"
            );
            let counted = rows(&c, &format!("select count(*), sum(k) from t where {condition}"));
            let alone = format!("select count(*), sum(k) from t where ({condition}) is true");
            assert_eq!(counted, rows(&c, &alone), "{condition}");
        }
    }
}

/// A condition that keeps all rows and is expected to keep few: nobody knows remainders.
const EXPECTED_TO_KEEP_FEW: &str =
    "k % 2 * 3 % 5 <> 17 and (k * 7 + 3) % 9 = (k * 7 + 3) % 9 and (k % 11) * 0 = 0";

#[test]
fn the_size_of_a_build_side_decides_on_its_boundary() {
    let c = memory();
    rows(&c, "set frazil.early_probes = off; set threads = 1");
    rows(&c, "create table build (k bigint not null, x integer not null)");
    rows(&c, "create table probe (k bigint not null)");
    rows(
        &c,
        "insert into build select cast(i as bigint) * 1000003, i from generate_series(1, 200000) as s (i)",
    );
    rows(
        &c,
        "insert into probe select cast(i as bigint) * 1000003 from generate_series(1, 400000) as s (i)",
    );
    let query = format!(
        "select count(*), sum(x) from probe join (select * from build where {EXPECTED_TO_KEEP_FEW}) b on b.k = probe.k"
    );
    let moved = |c: &frazil::Connection| {
        let text = rows(c, &format!("explain analyze {query}"));
        text.contains("cut into 2 stages by the sizes of what it looks into")
    };
    for policy in ["fused", "relaxed", "staged"] {
        rows(&c, &format!("set frazil.stages = '{policy}'"));
        for _ in 0..3 {
            assert_eq!(rows(&c, &query), "200000|20000100000", "{policy}");
        }
        assert_eq!(moved(&c), policy == "relaxed", "{policy}");
    }
}
