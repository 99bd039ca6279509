//! Statements that give a column a value by which frozen rows are sorted, or nearly so, run without pipelines and
//! without an index, and do what they do as scans.

use crate::points::{Way, direct, int, outcome, same, string};
use crate::{memory, rows};
use frazil::{Connection, RawValue as Value};
use frazil_testkit::Random;

/// Rows of a block: too many for two of them to be gathered. Three rows that share a value are in two blocks.
const BLOCK: i128 = 33_001;
const BLOCKS: i128 = 3;

/// Two databases with the same rows, of which the second one is scanned by pipelines. `k` ascends, `g` has three rows
/// a value, `many` has 100, `r` is in no order, `day` ascends with NULLs between.
fn twins() -> [Connection; 2] {
    let twins = [memory(), memory()];
    rows(&twins[1], "set frazil.scan = 'sarg'");
    for c in &twins {
        rows(
            c,
            "set frazil.freeze_after = off; set frazil.refreeze_budget = off;
             create table t (k integer not null, g bigint, many smallint, r integer, day date, s text,
                m decimal(12, 2), f boolean)",
        );
        for block in 0..BLOCKS {
            let first = block * BLOCK;
            rows(
                c,
                &format!(
                    "insert into t select k, k / 3, k / 100, k * 7919 % 10007,
                        case when k % 4 = 1 then null else date '2020-01-01' + k / 5 end,
                        case when k % 6 = 5 then null else 'the text of row ' || k % 50 end, k * 0.25, k % 2 = 0
                    from generate_series({first}, {first} + {BLOCK} - 1) k;
                    freeze table t"
                ),
            );
        }
        assert_eq!(
            rows(
                c,
                "select count(distinct chunk) from frazil_blocks where table_name = 't'"
            ),
            BLOCKS.to_string()
        );
    }
    twins
}

/// Runs a statement that changes rows in both databases: the outcomes and sums over the rows must be equal.
fn same_change(twins: &[Connection; 2], sql: &str, values: &[Vec<Value>]) {
    let sums = "select count(*), sum(k), sum(g), sum(m), count(s), sum(length(s)) from t";
    let statements = twins.each_ref().map(|c| c.prepare(sql).unwrap());
    for values in values {
        let [narrow, scanned] = statements.each_ref().map(|statement| outcome(statement, values));
        assert_eq!(narrow, scanned, "{sql}, {values:?}");
    }
    let [narrow, scanned] = twins.each_ref().map(|c| rows(c, sums));
    assert_eq!(narrow, scanned, "{sql}");
}

fn each(values: impl IntoIterator<Item = i128>) -> Vec<Vec<Value>> {
    values.into_iter().map(|value| vec![int(value)]).collect()
}

/// Values of `k`: in blocks, at their ends, between, beyond, and none.
fn keys() -> Vec<Vec<Value>> {
    let ends = [
        -1,
        0,
        BLOCK - 1,
        BLOCK,
        BLOCK + 1,
        BLOCKS * BLOCK - 1,
        BLOCKS * BLOCK,
    ];
    let mut keys = each(
        ends.into_iter()
            .chain([777, BLOCK / 3, 2_000_000_000, -2_000_000_000]),
    );
    keys.push(vec![Value::Null]);
    keys
}

#[test]
fn rows_of_a_value_are_those_that_a_scan_finds() {
    let twins = twins();
    for sql in [
        "select * from t where k = $1",
        "select s, m * 2, upper(s), k from t where k = $1 and f",
        "select count(*), sum(m), min(s), max(day) from t where k = $1",
        "select k + 1 from t where k = $1 and r > 100 and s like '%text%'",
        "select k, s from t where g = $1 order by k desc",
        "select k, s from t where g = $1 order by s, k limit 2",
        "select k from t where g = $1 limit 1",
        "select k from t where g = $1 offset 1",
        "select max(k), count(s) from t where g = $1",
        "select k from t where g = $1 and k % 3 = 1",
    ] {
        same(&twins, sql, &keys(), Way::Direct);
    }
    let days = [
        "2020-01-01",
        "2020-10-26",
        "2024-02-09",
        "2019-12-31",
        "2030-01-01",
    ];
    let days: Vec<Vec<Value>> = days.map(|day| vec![string(day)]).into();
    same(
        &twins,
        "select k, day from t where day = $1 order by k",
        &days,
        Way::Direct,
    );
}

#[test]
fn rows_that_are_not_few_go_through_pipelines() {
    let twins = twins();
    let values = each([0, 7, 14, 15, 29, 40]);
    for sql in [
        // A hundred rows, a column in no order, no value, hot rows.
        "select k from t where many = $1",
        "select k from t where r = $1",
        "select k from t where k > $1 and k < $1 + 3",
        "select k from t where k in ($1, 7)",
        "select g, count(*) from t where k = $1 group by g",
        "select t.k from t, t u where t.k = $1 and u.k = t.r",
    ] {
        same(&twins, sql, &values, Way::Pipelines);
    }
    // Conditions on other columns make them few.
    same(
        &twins,
        "select k from t where many = $1 and s = 'the text of row 7'",
        &values,
        Way::Direct,
    );
    for c in &twins {
        rows(c, "insert into t (k, s) values (20, 'hot'), (30, 'hot')");
    }
    same(
        &twins,
        "select k, s from t where k = $1",
        &each([20, 25, 30]),
        Way::Pipelines,
    );
    same(
        &twins,
        "select k, s from t where k = $1",
        &each([19, 31]),
        Way::Direct,
    );
}

#[test]
fn few_rows_of_blocks_change_as_a_scan_changes_them() {
    let twins = twins();
    let values = each([0, 5, BLOCK / 3 - 1, BLOCK / 3, BLOCK / 3 + 1, 999_999]);
    for sql in [
        "delete from t where g = $1 and k % 3 = 1",
        "select k, s from t where g = $1 order by k",
        "update t set s = 'changed' where g = $1",
        "update t set m = m + 1, s = s || 'x' where g = $1 returning k, m, s",
        "select k, s, m from t where g = $1 order by k",
        "select k from t where g = $1 order by k for update",
        "delete from t where g = $1 returning k",
        "select k from t where g = $1",
    ] {
        same_change(&twins, sql, &values);
        twins.iter().for_each(|c| drop(rows(c, "begin")));
        same_change(&twins, sql, &each([8, 9]));
        twins.iter().for_each(|c| drop(rows(c, "savepoint s")));
        same_change(&twins, sql, &each([8, 10]));
        twins.iter().for_each(|c| drop(rows(c, "rollback to s")));
        same_change(&twins, sql, &each([8, 11]));
        twins.iter().for_each(|c| drop(rows(c, "commit")));
    }
}

#[test]
fn each_version_has_its_own_bounds() {
    let [c, _] = twins();
    let other = c.database().connect();
    let [mine, its] = [&c, &other].map(|c| c.prepare("select k, s from t where k = $1").unwrap());
    let look = |statement: &frazil::Statement| outcome(statement, &[int(2000)]);
    let before = look(&its);
    look(&mine);
    rows(&other, "begin transaction isolation level repeatable read");
    assert_eq!(look(&its), before);
    rows(&c, "begin; update t set s = 'mine' where k = 2000");
    assert!(look(&mine).contains("mine"));
    assert_eq!(look(&its), before);
    rows(&c, "commit; freeze table t; freeze table t order by r");
    assert!(look(&mine).contains("mine"));
    assert_eq!(look(&its), before);
    rows(&other, "commit");
    assert!(look(&its).contains("mine"));
    rows(
        &c,
        "alter table t drop column r; alter table t add column n integer default 7",
    );
    assert!(look(&mine).contains("mine"));
    assert!(look(&its).contains("mine"));
    let added = c.prepare("select k from t where n = $1 and k = 2000").unwrap();
    assert!(outcome(&added, &[int(7)]).contains("2000"));
    assert!(outcome(&added, &[int(8)]).ends_with(": "));
    rows(&c, "truncate t");
    assert!(look(&mine).ends_with(": "));
    assert!(look(&its).ends_with(": "));
}

#[test]
fn scans_of_other_kinds_and_counters() {
    let [c, _] = twins();
    let statement = c.prepare("select s from t where k = $1").unwrap();
    let scans = "select seq_scan from pg_stat_user_tables where relname = 't'";
    for (kind, is_direct) in [
        ("psma", true),
        ("sma", true),
        ("sarg", false),
        ("vectorized", false),
        ("compiled", false),
        ("psma", true),
    ] {
        rows(&c, &format!("set frazil.scan = '{kind}'"));
        outcome(&statement, &[int(4321)]);
        let scanned: i64 = rows(&c, scans).parse().unwrap();
        let before = direct(&c);
        assert!(
            outcome(&statement, &[int(4321)]).ends_with("the text of row 21"),
            "{kind}"
        );
        assert_eq!(direct(&c) - before, u64::from(is_direct), "{kind}");
        assert_eq!(rows(&c, scans).parse::<i64>().unwrap(), scanned + 1, "{kind}");
    }
}

#[test]
fn random_statements_of_few_rows_in_blocks() {
    let mut random = Random::new(53);
    let twins = twins();
    for c in &twins {
        rows(
            c,
            "delete from t where k % 7 = 3; update t set m = 0 where k % 500 = 2",
        );
    }
    for _ in 0..40 {
        let mut below = |n: i128| i128::from(random.below(n as u64));
        let (column, value) = match below(4) {
            0 => ("k", below(BLOCKS * BLOCK)),
            1 => ("g", below(BLOCKS * BLOCK / 3)),
            2 => ("many", below(BLOCKS * BLOCK / 100)),
            _ => ("r", below(10_007)),
        };
        let other = [
            "",
            "and f",
            "and m > 100",
            "and s is null",
            "and day is not null",
            "and r % 2 = 0",
        ];
        let other = other[below(6) as usize];
        let list = ["*", "k, s || 'x'", "count(*), max(m)", "min(s), sum(k)"][below(4) as usize];
        let sql = format!("select {list} from t where {column} = $1 {other}");
        same(&twins, &sql, &each([value, value + 1]), Way::Either);
    }
}
