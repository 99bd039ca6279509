//! Statements that find their row by a key run without pipelines, and do what they do as scans.

use crate::{memory, rows, state};
use frazil::{Connection, Outcome, RawValue as Value, Rows, SqlState, Statement};
use std::sync::atomic::{AtomicBool, Ordering};

/// Rows of the table.
const ROWS: i128 = 2000;

/// A table `t` of [`ROWS`] rows with a unique index of every kind.
fn table(c: &Connection) {
    rows(
        c,
        "create table t (
            k bigint primary key, t text unique, d decimal(12,2) unique, a integer, b text, c char(6) unique,
            x double precision unique, day date unique, l char(1), sm smallint unique, w decimal(30,3) unique, n integer not null,
            s text, m decimal(20,4), z integer, check (n >= 0), unique (a, b))",
    );
    let digits = "(values (0), (1), (2), (3), (4), (5), (6), (7), (8), (9))";
    rows(
        c,
        &format!(
            "insert into t select i, case when i % 11 = 0 then null else 'the key of row ' || i end,
                case when i % 13 = 0 then null else i * 0.25 end, i / 10, 'part ' || i % 10,
                case when i % 17 = 0 then null else i || ' ' end, case when i = 3 then 'NaN'::double precision when i = 4 then 0e0 else i * 0.5e0 + 1 end,
                date '1990-01-01' + i, chr(65 + i % 26), i, i * 1000000007.125, i % 97, repeat('ab', i % 15), i * 1.0001,
                case when i % 3 = 0 then null else i end
            from (select a.v + b.v * 10 + c.v * 100 + d.v * 1000 as i
                from {digits} a (v), {digits} b (v), {digits} c (v), (values (0), (1)) d (v)) numbers"
        ),
    );
}

/// How the rows lie that statements find.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Lying {
    Hot,
    Frozen,
    /// Frozen, with newer rows that are not.
    Both,
}

/// Two databases with the same rows: in the first one rows are looked up, in the second one scanned.
fn twins(lying: Lying) -> [Connection; 2] {
    let twins = [memory(), memory()];
    // Bounds of blocks do not lead to few rows either.
    rows(
        &twins[1],
        "set frazil.use_indexes = off; set frazil.scan = 'sarg'",
    );
    for c in &twins {
        table(c);
        if lying != Lying::Hot {
            rows(c, "freeze table t");
        }
        if lying == Lying::Both {
            rows(c, "update t set s = s || 'new', z = 7 where k % 2 = 0");
            rows(c, "delete from t where k % 10 = 6");
        }
    }
    twins
}

fn text(rows: &Rows) -> String {
    let types: Vec<_> = rows.schema().columns.iter().map(|c| c.ty).collect();
    let line = |row: Vec<Value>| {
        let cells = row.iter().zip(&types).map(|(v, ty)| v.display(*ty).to_string());
        cells.collect::<Vec<_>>().join("|")
    };
    rows.raw().map(line).collect::<Vec<_>>().join("\n")
}

/// What a statement gives: rows, their number, or its error.
pub fn outcome(statement: &Statement, values: &[Value]) -> String {
    match statement.execute(values) {
        Ok(response) => match response.outcome {
            Outcome::Rows(rows) => format!("{} {:?}: {}", rows.tag(), rows.schema(), text(&rows)),
            Outcome::Command { tag, rows } => format!("{tag} {rows:?}"),
        },
        Err(error) => format!("{} {}", error.state().0, error.message()),
    }
}

pub fn direct(c: &Connection) -> u64 {
    rows(c, "show frazil.direct_statements")
        .parse()
        .expect("a number")
}

/// How a statement runs.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Way {
    Direct,
    Pipelines,
    Either,
}

/// Runs a statement in both twins with each of some values, thrice. `is_direct`: it must run without pipelines.
#[track_caller]
pub fn same(twins: &[Connection; 2], sql: &str, values: &[Vec<Value>], way: Way) -> Vec<String> {
    let [looking, scanning] = twins
        .each_ref()
        .map(|c| c.prepare(sql).unwrap_or_else(|e| panic!("{sql}: {e:?}")));
    let mut outcomes = Vec::new();
    for values in values {
        for run in 0..3 {
            let before = direct(&twins[0]);
            let outcome_of = outcome(&looking, values);
            let ran = direct(&twins[0]) - before;
            assert_eq!(
                outcome_of,
                outcome(&scanning, values),
                "{sql}, {values:?}, run {run}"
            );
            // The first run compiles it, and perhaps the next one does, because it finds values beyond those that were known.
            if way != Way::Either && run == 2 && !outcome_of.starts_with("42") {
                assert_eq!(
                    ran,
                    u64::from(way == Way::Direct),
                    "{sql}, {values:?}: {outcome_of}"
                );
            }
            outcomes.push(outcome_of);
        }
    }
    if !sql.starts_with("select") {
        let contents = twins.each_ref().map(|c| rows(c, "select * from t order by k"));
        assert!(contents[0] == contents[1], "{sql}");
    }
    outcomes
}

pub fn int(n: i128) -> Value {
    Value::Int(n)
}

pub fn string(t: &str) -> Value {
    Value::Text(t.to_owned())
}

/// Values of one parameter each.
fn each(values: &[Value]) -> Vec<Vec<Value>> {
    values.iter().map(|v| vec![v.clone()]).collect()
}

fn keys() -> Vec<Vec<Value>> {
    each(&[5, 1999, 0, 1006, -1, 70_000, 1100].map(int))
        .into_iter()
        .chain([vec![Value::Null]])
        .collect()
}

fn ask(twins: &[Connection; 2]) {
    let found = same(twins, "select * from t where k = $1", &keys(), Way::Direct);
    assert!(found[0].contains("the key of row 5"), "{found:?}");
    let texts = [
        string("the key of row 5"),
        string("the key of row 1999"),
        string(""),
        Value::Null,
        string("x"),
    ];
    same(
        twins,
        "select n, s, k from t where t = $1",
        &each(&texts),
        Way::Direct,
    );
    let decimals = [
        int(25),
        string("25.00"),
        string("1e2"),
        string("-1"),
        Value::Null,
        Value::Double(30.25),
    ];
    same(
        twins,
        "select d, k from t where d = $1",
        &each(&decimals),
        Way::Direct,
    );
    let pairs = [(5, "part 7"), (5, "part"), (199, "part 9"), (-5, "part 7")];
    let mut pairs: Vec<Vec<Value>> = pairs.iter().map(|&(a, b)| vec![int(a), string(b)]).collect();
    pairs.extend([vec![int(5), Value::Null], vec![Value::Null, string("part 7")]]);
    same(
        twins,
        "select * from t where a = $1 and b = $2",
        &pairs,
        Way::Direct,
    );
    let chars = [
        string("12"),
        string("12   "),
        string("1999"),
        string(""),
        Value::Null,
    ];
    same(
        twins,
        "select c, k from t where c = $1",
        &each(&chars),
        Way::Direct,
    );
    let doubles = [-0.0, 0.0, f64::NAN, 5.5, 0.1, f64::INFINITY].map(Value::Double);
    same(
        twins,
        "select x, k from t where x = $1",
        &each(&doubles),
        Way::Direct,
    );
    let days = [string("1990-01-06"), string("2024-02-29"), Value::Null];
    same(
        twins,
        "select day, k from t where day = $1",
        &each(&days),
        Way::Direct,
    );
    same(
        twins,
        "select sm, k from t where sm = $1",
        &each(&[5, 1999, -3].map(int)),
        Way::Direct,
    );
    let wide = [string("7000000049.875"), int(0), string("1.001"), Value::Null];
    same(
        twins,
        "select w, k from t where w = $1",
        &each(&wide),
        Way::Direct,
    );
    same(twins, "select s, k from t where k = 17", &[vec![]], Way::Direct);
    same(
        twins,
        "select k, k, n, n, s, s from t where k = $1",
        &keys(),
        Way::Direct,
    );
    same(twins, "select 1 from t where k = $1", &keys(), Way::Direct);
    compute(twins);
    conjuncts(twins);
}

/// Lists in which something is computed.
fn compute(twins: &[Connection; 2]) {
    same(
        twins,
        "select n + 1, s || '!' || coalesce(t, 'none'), m * 2, w + d, z is null, upper(b),
            case when n > 5 then s else t end, day + 1, -x, extract(year from day), k::text from t where k = $1",
        &keys(),
        Way::Direct,
    );
    same(
        twins,
        "select repeat(s, n), md5(s), lpad(b, n, '*') from t where k = $1",
        &keys(),
        Way::Direct,
    );
    let both: Vec<Vec<Value>> = keys().into_iter().map(|k| [k, vec![int(3)]].concat()).collect();
    same(
        twins,
        "select n + $2::integer, $2::text || s from t where k = $1",
        &both,
        Way::Direct,
    );
    same(
        twins,
        "select 100 / (n - 5), k from t where k = $1",
        &keys(),
        Way::Direct,
    );
    same(
        twins,
        "select now() > timestamp '2020-01-01', current_date > day from t where k = $1",
        &keys(),
        Way::Direct,
    );
    same(
        twins,
        "select s, n + 1 from t where k = $1 limit 1",
        &keys(),
        Way::Direct,
    );
    same(
        twins,
        "select s from t where k = $1 order by n limit 3",
        &keys(),
        Way::Either,
    );
    same(
        twins,
        "select s from t where k = $1 limit 0",
        &keys(),
        Way::Either,
    );
    same(
        twins,
        "select s from t where k = $1 offset 1",
        &keys(),
        Way::Pipelines,
    );
    same(
        twins,
        "select s from t where k = $1 union all select s from t where k = 7 order by 1",
        &keys(),
        Way::Pipelines,
    );
    same(
        twins,
        "select exists (select 1 from t where k = $1)",
        &keys(),
        Way::Pipelines,
    );
    same(
        twins,
        "select count(*), max(s) from t where k = $1",
        &keys(),
        Way::Pipelines,
    );
    same(
        twins,
        "select u.n, t.s from t, t u where t.k = $1 and u.k = t.n order by 1",
        &keys(),
        Way::Pipelines,
    );
    same(
        twins,
        "select s from t where k = (select max(n) from t where k < $1)",
        &keys(),
        Way::Pipelines,
    );
}

/// What else is asked of the row.
fn conjuncts(twins: &[Connection; 2]) {
    for condition in [
        "n > 4",
        "n between 4 and 6 and s like 'ab%'",
        "s like '%b' and s not like 'a_ab'",
        "(n = 5 or n in (59, 60))",
        "(n = 5 and z is not null or n > 50 and b = 'part 9')",
        "z is null",
        "z is not null",
        "l in ('F', 'X')",
        "n not in (5, 6)",
        "t like 'the key of row 1%'",
        "n % 2 = 1 and length(s) > 5",
        "d > 1 and w > 5.5",
        "100 / (n - 5) > 0",
        "k = 5",
        "k < 1000",
        "n = 5 and n = 6",
        "false",
    ] {
        let sql = format!("select k, n, s from t where k = $1 and {condition}");
        same(twins, &sql, &keys(), Way::Direct);
    }
    let both: Vec<Vec<Value>> = [(5, 5), (5, 6)]
        .iter()
        .map(|&(a, b)| vec![int(a), int(b)])
        .collect();
    same(
        twins,
        "select n from t where k = $1 and k = $2",
        &both,
        Way::Direct,
    );
    same(
        twins,
        "select n from t where k = $1 and n <> $2",
        &both,
        Way::Direct,
    );
}

fn change(twins: &[Connection; 2]) {
    let s = |k: i128, s: &str| vec![int(k), string(s)];
    same(
        twins,
        "update t set s = $2 where k = $1",
        &[s(7, "short"), s(8, "a text of many characters"), s(-7, "")],
        Way::Direct,
    );
    same(
        twins,
        "update t set n = n + 1, s = s || $2 where k = $1 returning k, n, s, n * 2",
        &[s(7, "!"), s(9, ""), s(-1, "")],
        Way::Direct,
    );
    same(
        twins,
        "update t set s = null, z = null where t = $1",
        &each(&[string("the key of row 12"), Value::Null]),
        Way::Direct,
    );
    same(
        twins,
        "update t set n = n where a = $1 and b = $2 returning *",
        &[vec![int(3), string("part 5")]],
        Way::Direct,
    );
    same(
        twins,
        "update t set m = m / 3, d = d + 0.01 where d = $1",
        &each(&[string("25.25"), string("25.26")]),
        Way::Direct,
    );
    same(
        twins,
        "update t set n = $2 where k = $1",
        &[
            vec![int(15), int(3)],
            vec![int(15), int(-3)],
            vec![int(15), Value::Null],
        ],
        Way::Direct,
    );
    let key = |k: i128, new: i128| vec![int(k), int(new)];
    same(
        twins,
        "update t set k = $2 where k = $1 returning k",
        &[key(20, 20_020), key(20_020, 21), key(20_020, 20)],
        Way::Direct,
    );
    same(
        twins,
        "update t set t = 'the key of row 5' where k = $1",
        &each(&[int(5), int(8)]),
        Way::Direct,
    );
    same(
        twins,
        "update t set n = 1 where k = $1 and n > 90 returning k",
        &keys(),
        Way::Direct,
    );
    same(
        twins,
        "update t set n = 100 / (n - 5) where k = $1",
        &keys(),
        Way::Direct,
    );
    same(
        twins,
        "delete from t where k = $1 and n = 3",
        &each(&[int(15), int(16)]),
        Way::Direct,
    );
    same(
        twins,
        "delete from t where k = $1",
        &each(&[int(31), int(31), int(-31), Value::Null]),
        Way::Direct,
    );
    same(
        twins,
        "delete from t where t = $1 returning *",
        &each(&[string("the key of row 32"), string("x")]),
        Way::Direct,
    );
    same(
        twins,
        "delete from t where d = $1 returning k, s || 'gone', d + 1",
        &each(&[string("10.25")]),
        Way::Direct,
    );
    let new = |k: i128, n: Value, s: &str| vec![int(k), n, string(s)];
    same(
        twins,
        "insert into t (k, n, s) values ($1, $2::integer + 1, 'se' || $3) returning k, n, s || '?', n * 2",
        &[
            new(7000, int(3), "ven"),
            new(7001, Value::Null, "x"),
            new(7002, int(-5), "x"),
            new(7003, int(5), "a text of many characters"),
        ],
        Way::Direct,
    );
    same(
        twins,
        "select $2::integer + 1, upper($3), $1 is null, 'constant', null, 100 / $1::integer, repeat($3, $1::integer)",
        &[
            new(3, int(7), "é"),
            new(0, int(7), ""),
            new(2, Value::Null, "a text of many characters"),
        ],
        Way::Direct,
    );
    same(
        twins,
        "insert into t (k, n, s) values ($1, 1, 'new') on conflict (k) do update set s = t.s || 'again' returning s",
        &each(&[int(31), int(5000), int(40)]),
        Way::Pipelines,
    );
    same(
        twins,
        "insert into t (k, n) values ($1, 1) on conflict do nothing",
        &each(&[int(31), int(5001)]),
        Way::Either,
    );
    same(
        twins,
        "select * from t where k = $1",
        &each(&[31, 32, 5000, 5001, 20_020, 20].map(int)),
        Way::Direct,
    );
}

/// A failed statement ends a transaction, so errors are left out there.
fn change_inside(twins: &[Connection; 2]) {
    same(
        twins,
        "update t set s = 'inside', k = k + 100000 where k = $1",
        &each(&[50, 51, 52].map(int)),
        Way::Direct,
    );
    same(
        twins,
        "delete from t where k = $1 returning s",
        &each(&[100_050, 53].map(int)),
        Way::Direct,
    );
    same(
        twins,
        "insert into t (k, n) values ($1, 1) on conflict do nothing",
        &each(&[50, 53, 6000].map(int)),
        Way::Either,
    );
    same(
        twins,
        "select k, s from t where k = $1",
        &each(&[50, 51, 52, 53, 100_050, 100_051, 6000].map(int)),
        Way::Direct,
    );
}

#[test]
fn a_key_finds_what_a_scan_finds() {
    for lying in [Lying::Hot, Lying::Frozen, Lying::Both] {
        let twins = twins(lying);
        ask(&twins);
        change(&twins);
        let before = rows(&twins[0], "select * from t order by k");
        for end in ["rollback", "commit"] {
            twins.iter().for_each(|c| drop(rows(c, "begin")));
            change_inside(&twins);
            twins.iter().for_each(|c| drop(rows(c, "savepoint s")));
            change_inside(&twins);
            twins.iter().for_each(|c| drop(rows(c, "rollback to s")));
            change_inside(&twins);
            twins.iter().for_each(|c| drop(rows(c, end)));
            let after = rows(&twins[0], "select * from t order by k");
            assert_eq!(after == before, end == "rollback");
        }
        twins
            .iter()
            .for_each(|c| drop(rows(c, "freeze table t order by s")));
        for policy in ["fused", "staged", "relaxed"] {
            twins
                .iter()
                .for_each(|c| drop(rows(c, &format!("set frazil.stages = '{policy}'"))));
            conjuncts(&twins);
        }
    }
}

fn rows_of(statement: &Statement, values: &[Value]) -> String {
    match statement.execute(values).map(|response| response.outcome) {
        Ok(Outcome::Rows(rows)) => text(&rows),
        other => panic!("{other:?}"),
    }
}

#[test]
fn an_index_that_goes_and_comes_is_used_while_it_is_there() {
    let c = memory();
    table(&c);
    rows(&c, "create unique index by_n on t (k, n)");
    let find = c.prepare("select s from t where t = $1").unwrap();
    let count = |values: &[Value], expected: &str, is_direct: bool| {
        rows_of(&find, values);
        let before = direct(&c);
        assert_eq!(rows_of(&find, values), expected);
        assert_eq!(direct(&c) - before, u64::from(is_direct));
    };
    let key = [string("the key of row 5")];
    count(&key, "ababababab", true);
    rows(&c, "alter table t drop constraint t_t_key");
    count(&key, "ababababab", false);
    rows(
        &c,
        "insert into t (k, t, n, s) values (9000, 'the key of row 5', 1, 'second')",
    );
    assert_eq!(rows_of(&find, &key).lines().count(), 2);
    rows(
        &c,
        "delete from t where k = 5; create unique index t_t on t (t desc)",
    );
    count(&key, "second", true);
    rows(&c, "set frazil.use_indexes = off");
    count(&key, "second", false);
    rows(&c, "set frazil.use_indexes = on");
    count(&key, "second", true);
    rows(&c, "begin; drop index t_t");
    count(&key, "second", false);
    rows(&c, "rollback");
    count(&key, "second", true);
    rows(&c, "truncate t");
    count(&key, "", true);
    rows(&c, "drop table t");
    assert!(outcome(&find, &key).starts_with("42P01"));
}

#[test]
fn long_texts_are_whole_and_hold_no_memory_afterwards() {
    for freeze in ["", "freeze table t"] {
        let c = memory();
        table(&c);
        rows(&c, "update t set s = repeat('xyz', 100000) where k = 9");
        rows(&c, freeze);
        rows(&c, "set memory_limit = '16MB'");
        // So many statements may not keep a page each of what they are allowed to take.
        for number in 0..300 {
            let sql = format!("select s || '{number}' || s, upper(s) || $2, s from t where k = $1");
            let response = c.execute_with(&sql, &[int(9), string("end")]).unwrap();
            let Outcome::Rows(rows) = response.outcome else {
                panic!("a query")
            };
            let row = rows.raw().next().expect("a row");
            let long = "xyz".repeat(100_000);
            let expected = [
                format!("{long}{number}{long}"),
                format!("{}end", long.to_uppercase()),
                long,
            ];
            assert!(row == expected.map(Value::Text), "{number}");
        }
    }
}

#[test]
fn the_use_of_columns_is_counted() {
    let c = memory();
    table(&c);
    let find = c
        .prepare("select s, n + 1 from t where k = $1 and z is not null")
        .unwrap();
    let fetched = "select column_name, fetched, visits from frazil_access where table_name = 't' and fetched > 0 order by 1";
    let before = rows(&c, fetched);
    rows(&c, "set frazil.access_counters = off");
    (0..200).for_each(|k| drop(rows_of(&find, &[int(k)])));
    assert_eq!(rows(&c, fetched), before);
    rows(&c, "set frazil.access_counters = on");
    (0..200).for_each(|k| drop(rows_of(&find, &[int(k)])));
    assert_eq!(rows(&c, fetched), "n|192|192\ns|192|192\nz|192|192");
    rows(&c, "freeze table t");
    (0..56).for_each(|k| drop(rows_of(&find, &[int(k)])));
    assert_eq!(
        rows(
            &c,
            "select distinct visits from frazil_blocks where table_name = 't'"
        ),
        "248",
        "192 before it was frozen, and 56"
    );
}

#[test]
fn explain_names_the_index() {
    let c = memory();
    table(&c);
    let explained = rows(
        &c,
        "explain select s from t where b = 'part 7' and n > 1 and a = 5",
    );
    assert!(explained.contains("looked up by index t_a_b_key"), "{explained}");
    let explained = rows(
        &c,
        "explain (pipelines) delete from t where b = 'part 7' and n > 1 and a = 5",
    );
    assert!(
        explained.contains("by index t_a_b_key where a = 5 and b = 'part 7'"),
        "{explained}"
    );
    let explained = rows(&c, "explain analyze select s from t where k = 7 and s = 'x'");
    assert!(explained.contains("rows of index t_pkey"), "{explained}");
    rows(&c, "set frazil.use_indexes = off");
    let explained = rows(&c, "explain select s from t where k = 7");
    assert!(!explained.contains("t_pkey"), "{explained}");
}

#[test]
fn others_see_what_is_committed() {
    for freeze in ["", "freeze table t"] {
        let c = memory();
        table(&c);
        rows(&c, freeze);
        let other = c.database().connect();
        let [mine, its] = [&c, &other].map(|c| c.prepare("select s from t where k = $1").unwrap());
        let update = c.prepare("update t set s = $2 where k = $1").unwrap();
        let delete = c.prepare("delete from t where k = $1").unwrap();
        let five = [int(5)];
        rows(&c, "begin");
        outcome(&update, &[int(5), string("mine")]);
        assert_eq!(
            (rows_of(&mine, &five), rows_of(&its, &five)),
            ("mine".into(), "ababababab".into())
        );
        outcome(&delete, &five);
        assert_eq!(
            (rows_of(&mine, &five), rows_of(&its, &five)),
            (String::new(), "ababababab".into())
        );
        rows(&c, "rollback");
        assert_eq!(rows_of(&mine, &five), "ababababab");
        outcome(&delete, &five);
        assert_eq!(rows_of(&its, &five), "");
        rows(&other, "insert into t (k, n, s) values (5, 1, 'back')");
        assert_eq!(rows_of(&mine, &five), "back");
    }
}

#[test]
fn a_row_is_the_same_as_values_and_as_a_batch() {
    let of_batches = |rows: &Rows| -> Vec<Vec<Value>> {
        let of = |b: &frazil::RowBatch| -> Vec<Vec<Value>> {
            let row = |row| b.columns.iter().map(|column| column.value(row)).collect();
            (0..b.rows).map(row).collect()
        };
        rows.batches().iter().flat_map(of).collect()
    };
    for lying in [Lying::Hot, Lying::Frozen, Lying::Both] {
        let [c, _] = twins(lying);
        for sql in [
            "select * from t where k = $1",
            "select s || ' and more than fits', s, z, w * 2, n + 1, day from t where k = $1",
        ] {
            let statement = c.prepare(sql).unwrap();
            for k in [0, 5, 11, 13, 17, 44, 5000] {
                let Outcome::Rows(rows) = statement.execute(&[int(k)]).unwrap().outcome else {
                    panic!("a query")
                };
                let values: Vec<Vec<Value>> = rows.raw().collect();
                assert_eq!(
                    (values.len(), rows.is_empty()),
                    (usize::from(k < ROWS), k >= ROWS)
                );
                let copy = rows.clone();
                assert_eq!(of_batches(&rows), values);
                assert_eq!(of_batches(&rows.clone()), values);
                assert_eq!(
                    rows.to_arrow()
                        .unwrap()
                        .1
                        .iter()
                        .map(|b| b.num_rows())
                        .sum::<usize>(),
                    rows.len()
                );
                drop(rows);
                assert_eq!(copy.raw().collect::<Vec<_>>(), values);
                assert_eq!(of_batches(&copy), values);
            }
        }
    }
}

#[test]
fn many_connections_run_one_statement() {
    let c = memory();
    table(&c);
    let stop = AtomicBool::new(false);
    std::thread::scope(|scope| {
        let at_end = frazil_testkit::RaisedAtEnd(&stop);
        let readers: Vec<_> = (0..4)
            .map(|_| {
                let connection = c.database().connect();
                let stop = &stop;
                scope.spawn(move || {
                    let mut found = 0;
                    while !stop.load(Ordering::Relaxed) || found == 0 {
                        let sql = "select s || k, n from t where k = $1";
                        let response = connection.execute_with(sql, &[int(found % ROWS)]).unwrap();
                        let Outcome::Rows(rows) = response.outcome else {
                            panic!("a query")
                        };
                        let row = rows.raw().next().expect("a row");
                        let Value::Text(text) = &row[0] else {
                            panic!("a text")
                        };
                        assert!(text.ends_with(&(found % ROWS).to_string()));
                        found += 1;
                    }
                })
            })
            .collect();
        let update = c
            .prepare("update t set n = n + 1, s = s || 'x' where k = $1")
            .unwrap();
        for round in 0..3000 {
            assert_eq!(outcome(&update, &[int(round % 50)]), "UPDATE Some(1)");
        }
        drop(at_end);
        readers
            .into_iter()
            .for_each(|reader| reader.join().expect("no panic"));
    });
    assert_eq!(
        rows(&c, "select sum(length(s)) from t where k < 50"),
        rows(&c, "select sum(k % 15 * 2 + 60) from t where k < 50")
    );
}

#[test]
fn limits_hold() {
    let c = memory();
    table(&c);
    let long = c
        .prepare("select repeat(s || 'x', $2::integer) from t where k = $1")
        .unwrap();
    let values = |n| [int(5), int(n)];
    for _ in 0..3 {
        assert!(outcome(&long, &values(2)).ends_with("abababababxabababababx"));
        rows(&c, "set memory_limit = '16MB'");
        assert!(outcome(&long, &values(10_000_000)).starts_with("53200"));
        rows(&c, "reset memory_limit");
    }
    let canceled = c.prepare("update t set s = s || 'y' where k = $1").unwrap();
    assert_eq!(outcome(&canceled, &[int(5)]), "UPDATE Some(1)");
    let slow = c
        .prepare("select length(repeat(s || 'x', $2::integer)) from t where k = $1")
        .unwrap();
    // From here on: preparing, too, may run out of a millisecond on a machine that is busy.
    rows(&c, "set statement_timeout = '1ms'");
    for _ in 0..20 {
        // It ends in time, or is canceled; either way the next one runs.
        let ended = outcome(&slow, &values(20_000_000));
        assert!(
            ended.starts_with("57014") || ended.starts_with("SELECT"),
            "{ended}"
        );
    }
    // As the statement itself may run out of time.
    while c.execute("reset statement_timeout").is_err() {}
    assert!(outcome(&long, &values(1)).ends_with("abababababyx"));
    assert_eq!(
        state(&c, "set frazil.direct_statements = 1"),
        SqlState::CANT_CHANGE_PARAMETER
    );
}
