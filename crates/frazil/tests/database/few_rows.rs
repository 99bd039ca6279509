//! Statements of the few rows that values for the first columns of an index find run without pipelines, and do what
//! they do as scans.

use crate::points::{Lying, Way, direct, int, outcome, same, string};
use crate::{memory, rows};
use frazil::{Connection, RawValue as Value};
use frazil_testkit::Random;

/// Indexes of the table: each has an order of its own behind the first columns.
const INDEXES: [&str; 5] = [
    "create index g_v on t (g, v, k)",
    "create index g_s on t (g, s desc nulls last)",
    "create index d_g on t (day, g desc, v nulls first)",
    "create index s_l on t (s, l)",
    "create index x_i on t (x)",
];

/// Two databases with the same rows: in the first one rows are looked up, in the second one scanned. Group `g` has `g`
/// rows, so that some groups are few rows, and others are not.
fn twins(lying: Lying) -> [Connection; 2] {
    let twins = [memory(), memory()];
    // Bounds of blocks do not lead to few rows either.
    rows(
        &twins[1],
        "set frazil.use_indexes = off; set frazil.scan = 'sarg'",
    );
    for c in &twins {
        rows(
            c,
            "create table t (k integer primary key, g integer, v integer, s text, l varchar(30), day date,
                m decimal(12, 2), w decimal(30, 3), x double precision, f boolean)",
        );
        INDEXES.iter().for_each(|index| drop(rows(c, index)));
        rows(
            c,
            "insert into t select g * 100 + i, case when g % 19 = 18 then null else g end,
                case when i % 7 = 3 then null else i * 37 % 50 end,
                case when i % 5 = 4 then null else 'the text of row ' || i % 12 end,
                repeat('l', i % 20), date '2020-01-01' + g / 4, i * 0.75, i * 1000000007.125,
                case when i % 9 = 0 then 'NaN'::double precision else i * 0.5e0 end, i % 2 = 0
            from generate_series(0, 90) g, generate_series(0, 99) i where i < g",
        );
        if lying != Lying::Hot {
            rows(c, "freeze table t");
        }
        if lying == Lying::Both {
            rows(c, "update t set s = s || 'new', v = v + 1 where k % 3 = 0");
            rows(c, "delete from t where k % 10 = 6");
        }
    }
    twins
}

/// Values for `g`: groups of no rows, of few, of just as many as are few, of more.
fn groups() -> Vec<Vec<Value>> {
    let numbers = [1, 0, 2, 9, 10, 17, 64, 65, 66, 90, 18, -5, 2_000_000_000].map(int);
    numbers
        .into_iter()
        .chain([Value::Null])
        .map(|g| vec![g])
        .collect()
}

/// The select lists that are asked of the rows of a group.
const LISTS: [&str; 12] = [
    "*",
    "k, s, l",
    "k, v + 1, s || '!', w * 2, upper(l), coalesce(s, l), f and v > 3",
    "count(*), sum(v), avg(m), min(s), max(x), sum(w), bool_or(f)",
    "min(v)",
    "max(v)",
    "min(s)",
    "max(s)",
    "min(v), max(v), count(*)",
    "max(v) + 1, min(k)",
    "count(distinct v)",
    "string_agg(s, ',' order by k), array_agg(k)",
];

const ENDS: [&str; 15] = [
    "",
    "order by k",
    "order by v, k",
    "order by v desc nulls last, k desc",
    "order by v desc, k desc limit 3",
    "order by v, k limit 1",
    "order by v nulls first, k limit 4 offset 2",
    "order by s desc nulls last, k limit 2",
    "order by s nulls first, k limit 70",
    "order by v + 1, k limit 5",
    "order by k limit 0",
    "order by k offset 3",
    "limit 5",
    "limit 3 offset 2",
    "order by l, k fetch first 2 rows only",
];

#[test]
fn few_rows_are_those_that_a_scan_finds() {
    for lying in [Lying::Hot, Lying::Frozen, Lying::Both] {
        let twins = twins(lying);
        for list in LISTS {
            same(
                &twins,
                &format!("select {list} from t where g = $1"),
                &groups(),
                Way::Either,
            );
        }
        let conditions = ["g = $1", "g = $1 and v > 20", "g = $1", "g = $1 and k % 3 = 1"];
        for (end, condition) in ENDS.iter().zip(conditions.iter().cycle()) {
            let sql = format!("select k, s, v * 2, l || 'x' from t where {condition} {end}");
            same(&twins, &sql, &groups(), Way::Either);
        }
    }
}

#[test]
fn it_is_known_which_statements_run_without_pipelines() {
    let twins = twins(Lying::Both);
    let few: Vec<Vec<Value>> = [1, 9, 64].map(|g| vec![int(g)]).into();
    for sql in [
        "select k, s from t where g = $1",
        "select k, s || 'x' from t where g = $1 order by v, k",
        "select k from t where g = $1 order by v desc, k desc limit 1",
        "select min(v) from t where g = $1",
        "select max(v) from t where g = $1",
        "select count(*), sum(v) from t where g = $1",
        "select k, v from t where g = $1 for update",
        "update t set l = 'new' where g = $1 returning k, l",
        "update t set v = v + 1 where g = $1",
    ] {
        same(&twins, sql, &few, Way::Direct);
    }
    // The walk for least and greatest values ends with the first row, however many there are.
    let many = [vec![int(90)]];
    for sql in [
        "select min(v) from t where g = $1",
        "select max(v) from t where g = $1",
        "select k, v from t where g = $1 order by v, k limit 2",
    ] {
        same(&twins, sql, &many, Way::Direct);
    }
    for sql in [
        "select k, s from t where g = $1",
        "select count(*) from t where g = $1",
        "select k from t where g = $1 order by l, k limit 2",
        "select min(v), max(v) from t where g = $1",
        "update t set l = 'newer' where g = $1",
    ] {
        same(&twins, sql, &many, Way::Pipelines);
    }
    for sql in [
        "select k from t where g = $1 and v is null",
        "select k from t where g > $1 and g < $1 + 2",
        "select k from t where g in ($1, 3)",
        "select t.k from t, t u where t.g = $1 and u.k = t.v",
        "select g, count(*) from t where g = $1 group by g",
        "select k from t where v + 0 = $1",
    ] {
        same(&twins, sql, &few, Way::Pipelines);
    }
}

#[test]
fn few_rows_change_as_a_scan_changes_them() {
    for lying in [Lying::Hot, Lying::Frozen, Lying::Both] {
        let twins = twins(lying);
        for sql in [
            "update t set l = 'changed' where g = $1",
            "update t set v = v * 2, s = s || l where g = $1 returning k, v, s",
            "update t set k = k + 100000 where g = $1 returning k",
            "update t set g = g + 1 where g = $1",
            "delete from t where g = $1 and v = 11",
            "select k from t where g = $1 order by k for update",
            "delete from t where g = $1 returning k, s || l, v + 1",
        ] {
            same(&twins, sql, &groups(), Way::Either);
            twins.iter().for_each(|c| drop(rows(c, "begin")));
            let few: Vec<Vec<Value>> = [3, 12, 64].map(|g| vec![int(g)]).into();
            same(&twins, sql, &few, Way::Either);
            twins.iter().for_each(|c| drop(rows(c, "savepoint s")));
            same(&twins, sql, &few, Way::Either);
            twins.iter().for_each(|c| drop(rows(c, "rollback to s")));
            same(&twins, sql, &few, Way::Either);
            twins.iter().for_each(|c| drop(rows(c, "commit")));
        }
        let verified = rows(&twins[0], "select count(*) from t where g is not null");
        assert_eq!(
            verified,
            rows(&twins[1], "select count(*) from t where g is not null")
        );
    }
}

/// A value for a column, and whether the condition is written with it as a constant.
fn condition(random: &mut Random, column: &str, at: usize) -> (String, Value) {
    let value = match column {
        "g" => int(i128::from(random.below(92))),
        "s" => string(&format!("the text of row {}", random.below(13))),
        "l" => string(&"l".repeat(random.below(21) as usize)),
        "v" => int(i128::from(random.below(50))),
        "day" => string(&format!("2020-01-{:02}", 1 + random.below(24))),
        _ => Value::Double(random.below(40) as f64 * 0.5),
    };
    let value = if random.below(12) == 0 { Value::Null } else { value };
    (format!("{column} = ${at}"), value)
}

#[test]
fn random_statements_of_few_rows() {
    let mut random = Random::new(20_261_129);
    for lying in [Lying::Hot, Lying::Frozen, Lying::Both] {
        let twins = twins(lying);
        for _ in 0..60 {
            let columns: &[&str] = match random.below(8) {
                0 => &["g"],
                1 => &["g", "v"],
                2 => &["v", "g"],
                3 => &["g", "s"],
                4 => &["day"],
                5 => &["day", "g"],
                6 => &["l", "s"],
                _ => &["x"],
            };
            let conditions: Vec<(String, Value)> = (columns.iter().enumerate())
                .map(|(i, column)| condition(&mut random, column, i + 1))
                .collect();
            let list = LISTS[random.below(LISTS.len() as u64) as usize];
            let is_plain = !list.contains('(') || list.starts_with("k, v + 1");
            let end = match is_plain {
                true => ENDS[random.below(ENDS.len() as u64) as usize],
                false => "",
            };
            let all: Vec<&str> = conditions.iter().map(|(text, _)| text.as_str()).collect();
            let sql = format!("select {list} from t where {} {end}", all.join(" and "));
            let values = vec![conditions.iter().map(|(_, value)| value.clone()).collect()];
            same(&twins, &sql, &values, Way::Either);
        }
    }
}

#[test]
fn two_sessions_see_and_wait_as_with_scans() {
    let [c, _] = twins(Lying::Both);
    let other = c.database().connect();
    let lines = "select k, l from t where g = $1 order by k";
    let [mine, its] = [&c, &other].map(|c| c.prepare(lines).unwrap());
    let update = c.prepare("update t set l = $2 where g = $1").unwrap();
    let before = outcome(&its, &[int(9)]);
    rows(&c, "begin");
    assert!(outcome(&update, &[int(9), string("mine")]).starts_with("UPDATE Some("));
    assert!(outcome(&mine, &[int(9)]).contains("mine"));
    assert_eq!(outcome(&its, &[int(9)]), before);
    rows(&other, "set lock_timeout = '10ms'");
    let blocked = other.prepare("delete from t where g = $1").unwrap();
    assert!(outcome(&blocked, &[int(9)]).starts_with("55P03"));
    rows(&other, "begin transaction isolation level repeatable read");
    assert_eq!(outcome(&its, &[int(9)]), before);
    rows(&c, "commit");
    assert_eq!(outcome(&its, &[int(9)]), before);
    assert!(outcome(&blocked, &[int(9)]).starts_with("40001"));
    rows(&other, "rollback");
    assert!(outcome(&its, &[int(9)]).contains("mine"));
    assert!(outcome(&blocked, &[int(9)]).starts_with("DELETE Some("));
}

#[test]
fn rights_and_views_hold() {
    let [c, _] = twins(Lying::Hot);
    rows(
        &c,
        "create role r; create view w as select k, l from t where g = 9; grant select on w to r",
    );
    let through = c.prepare("select k from w").unwrap();
    let straight = c.prepare("select k from t where g = $1").unwrap();
    for _ in 0..2 {
        assert!(outcome(&straight, &[int(9)]).starts_with("SELECT"));
        rows(&c, "set role r");
        assert!(outcome(&straight, &[int(9)]).starts_with("42501"));
        let before = direct(&c);
        assert!(outcome(&through, &[]).starts_with("SELECT"));
        outcome(&through, &[]);
        assert!(direct(&c) > before);
        rows(&c, "reset role");
    }
}

#[test]
fn memory_and_time_are_limited() {
    let [c, _] = twins(Lying::Hot);
    let long = c
        .prepare("select repeat(l || 'x', $2::integer) from t where g = $1")
        .unwrap();
    let values = |n| [int(9), int(n)];
    for _ in 0..3 {
        assert!(outcome(&long, &values(1)).starts_with("SELECT"));
        rows(&c, "set memory_limit = '16MB'");
        assert!(outcome(&long, &values(10_000_000)).starts_with("53200"));
        rows(&c, "reset memory_limit");
    }
}

/// Statements of two pipelines, whose workers are kept from run to run: what one run has had is not in the next.
const TWO_PIPELINES: [&str; 6] = [
    "select min(s), max(l || $2) from t where g = $1",
    "select s || $2, k from t where g = $1 order by s desc nulls last, k",
    "select l, k from t where g = $1 and l <> $2 order by v, k limit 3",
    "select count(*), max(s) from t where g = $1 and s > $2 having count(*) > 1",
    "select sum(w), $2 from t where g = $1",
    "select distinct_texts.n || $2 from (select count(distinct s) as n from t where g = $1) distinct_texts",
];

#[test]
fn runs_of_one_statement_share_nothing_but_their_workers() {
    let twins = twins(Lying::Both);
    let [kept, _] = &twins;
    let long = "z".repeat(100_000);
    let values: Vec<Vec<Value>> = [9, 0, 17, 3, 90, 9, 2, 0]
        .into_iter()
        .zip(["a", &long, "", "the text", "b", "the text of row 5", &long, "c"])
        .map(|(g, text)| vec![int(g), string(text)])
        .chain([vec![Value::Null, string("n")], vec![int(9), Value::Null]])
        .collect();
    for sql in TWO_PIPELINES {
        same(&twins, sql, &values, Way::Either);
    }
    // Runs at once, each with values of its own.
    std::thread::scope(|scope| {
        for thread in 0..4 {
            let c = kept.database().connect();
            scope.spawn(move || {
                let sql = "select k, v from t where g = $1 order by v desc nulls last, k";
                let statements =
                    [sql, "select min(v), count(*) from t where g = $1"].map(|sql| c.prepare(sql).unwrap());
                let alone = [5, 9, 17].map(|g| statements.each_ref().map(|s| outcome(s, &[int(g)])));
                for round in 0..300 {
                    let at = (round + thread) % 3;
                    let g = int([5, 9, 17][at]);
                    let found = statements
                        .each_ref()
                        .map(|s| outcome(s, std::slice::from_ref(&g)));
                    assert_eq!(found, alone[at]);
                }
            });
        }
    });
}

#[test]
fn limits_and_errors_of_a_run_are_not_those_of_the_next() {
    let [c, _] = twins(Lying::Hot);
    let first = c
        .prepare("select k from t where g = $1 order by v nulls first, k limit $2 offset $3")
        .unwrap();
    let all = outcome(&first, &[int(9), Value::Null, int(0)]);
    for _ in 0..2 {
        for limit in [3, 1, 0, 8, 2] {
            let found = outcome(&first, &[int(9), int(limit), int(1)]);
            assert_eq!(found.lines().filter(|l| l.contains("90")).count(), limit as usize);
        }
        assert!(outcome(&first, &[int(9), int(-1), int(0)]).starts_with("2201W"));
        assert!(outcome(&first, &[int(9), int(1), int(-1)]).starts_with("2201X"));
        assert_eq!(outcome(&first, &[int(9), Value::Null, int(0)]), all);
    }
    for sql in [
        "select min(k / $2::integer) from t where g = $1",
        "select k / $2::integer from t where g = $1 order by v, k",
    ] {
        let divided = c.prepare(sql).unwrap();
        let expected = outcome(&divided, &[int(9), int(2)]);
        for _ in 0..3 {
            assert!(outcome(&divided, &[int(9), int(0)]).starts_with("22012"));
            assert_eq!(outcome(&divided, &[int(9), int(2)]), expected);
        }
    }
    let long = c
        .prepare("select repeat(l || 'x', $2::integer) from t where g = $1 order by 1")
        .unwrap();
    assert!(outcome(&long, &[int(9), int(1)]).starts_with("SELECT"));
    for _ in 0..3 {
        let before = c.database().metrics().memory_used;
        assert!(outcome(&long, &[int(9), int(100_000)]).starts_with("SELECT"));
        let after = c.database().metrics().memory_used;
        assert!(after <= before + (64 << 10), "{before} bytes, then {after}");
        rows(&c, "set memory_limit = '16MB'");
        assert!(outcome(&long, &[int(9), int(10_000_000)]).starts_with("53200"));
        rows(&c, "reset memory_limit");
    }
}
