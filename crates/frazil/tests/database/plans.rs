//! Compiled plans and the tables they were made for: a plan serves as long as what it relies on holds.

use crate::{directory, memory, rows, state};
use frazil::{Connection, Database, RawValue as Value, SqlState};
use frazil_testkit::Random;

/// Five rows whose x add up to more than 64 bits hold, y from 0 to 4.
const HUGE: &str = "create table t (x bigint, y integer);
    insert into t values (9000000000000000000, 0), (9000000000000000000, 1), (9000000000000000000, 2),
        (9000000000000000000, 3), (9000000000000000000, 4)";

fn sum(connection: &Connection) -> String {
    rows(connection, "select sum(x) from t")
}

#[test]
fn a_sum_planned_over_one_row_is_not_used_over_five() {
    let a = memory();
    let b = a.database().connect();
    rows(&a, HUGE);
    rows(&a, "begin; delete from t where y > 0");
    assert_eq!(sum(&a), "9000000000000000000");
    assert_eq!(sum(&b), "45000000000000000000", "while the transaction is open");
    rows(&a, "rollback");
    assert_eq!(sum(&a), "45000000000000000000");
    assert_eq!(sum(&b), "45000000000000000000");
}

#[test]
fn a_sum_planned_beside_a_freeze_is_not_used_after_its_rollback() {
    let a = memory();
    let b = a.database().connect();
    rows(&a, HUGE);
    rows(&a, "begin; delete from t where y > 0; freeze table t");
    assert_eq!(sum(&a), "9000000000000000000");
    assert_eq!(sum(&b), "45000000000000000000");
    rows(&a, "rollback");
    assert_eq!(sum(&a), "45000000000000000000");
}

#[test]
fn bounds_of_a_private_freeze_do_not_outlive_it() {
    let path = directory("bounds-of-a-private-freeze");
    let database = Database::open(&path).expect("it opens");
    let a = database.connect();
    rows(
        &a,
        "create table t (x bigint, y integer); insert into t values (9000000000000000000, 0), (1, 1), (2, 2)",
    );
    drop(a);
    database.close().expect("it closes");
    let database = Database::open(&path).expect("it opens again");
    let (a, b) = (database.connect(), database.connect());
    let doubled = "select x + x from t where y = 0";
    let groups = "select x, count(*) from t group by x order by x";
    rows(&a, "begin; delete from t where x > 2; freeze table t");
    assert_eq!(rows(&a, doubled), "");
    assert_eq!(rows(&a, groups), "1|1\n2|1");
    let check = |c: &Connection| {
        assert_eq!(state(c, doubled), SqlState::NUMERIC_OUT_OF_RANGE);
        assert_eq!(rows(c, groups), "1|1\n2|1\n9000000000000000000|1");
    };
    check(&b);
    rows(&a, "rollback");
    check(&a);
    drop((a, b));
    database.close().expect("it closes");
    let _ = std::fs::remove_dir_all(path);
}

#[test]
fn values_that_were_rolled_back_leave_plans_right() {
    let a = memory();
    rows(
        &a,
        "create table t (x bigint, y integer); insert into t values (1, 0), (2, 1)",
    );
    rows(&a, "begin; insert into t values (9223372036854775807, 2)");
    assert_eq!(
        state(&a, "select x + 1 from t order by y"),
        SqlState::NUMERIC_OUT_OF_RANGE
    );
    rows(&a, "rollback");
    assert_eq!(rows(&a, "select x + 1 from t order by y"), "2\n3");
    rows(&a, "insert into t values (9223372036854775807, 2)");
    assert_eq!(
        state(&a, "select x + 1 from t order by y"),
        SqlState::NUMERIC_OUT_OF_RANGE
    );
}

#[test]
fn a_plan_of_a_table_that_was_rolled_back_is_forgotten() {
    let a = memory();
    let b = a.database().connect();
    rows(&a, "begin; create table t (x integer); insert into t values (7)");
    assert_eq!(rows(&a, "select * from t"), "7");
    rows(&a, "rollback");
    rows(
        &b,
        "create table t (x text, y integer); insert into t values ('seven', 7)",
    );
    assert_eq!(rows(&b, "select * from t"), "seven|7");
    assert_eq!(rows(&a, "select * from t"), "seven|7");
}

/// Whether a statement had to be compiled.
fn compiles(connection: &Connection, sql: &str) -> bool {
    let response = connection.execute(sql).unwrap_or_else(|e| panic!("{sql}: {e:?}"));
    !response.timing.compile.is_zero()
}

#[test]
fn plans_last_while_what_they_rely_on_holds() {
    let c = memory();
    rows(
        &c,
        "create table t (x bigint); insert into t values (0), (1000000)",
    );
    let query = "select sum(x) from t";
    assert!(compiles(&c, query));
    let mut compiled = 0;
    for i in 0..3000 {
        rows(&c, &format!("insert into t values ({i})"));
        compiled += i32::from(compiles(&c, query));
    }
    assert_eq!(rows(&c, query), (1_000_000 + 2999 * 3000 / 2).to_string());
    // 1,024 rows, 2,048, 4,096.
    assert!(compiled <= 2, "compiled {compiled} times");
    let mut compiled = 0;
    for bits in 0..63 {
        for _ in 0..2 {
            rows(&c, &format!("insert into t values ({})", 1u64 << bits));
            compiled += i32::from(compiles(&c, query));
        }
    }
    assert!(compiled <= 63, "compiled {compiled} times");
    rows(&c, "delete from t where x > 100; freeze table t");
    assert!(
        !compiles(&c, query),
        "fewer rows and narrower values leave it right"
    );
}

#[test]
fn statements_that_write_are_compiled_once() {
    let c = memory();
    rows(&c, "create table t (x integer, y text)");
    let prepared = |sql: &str| c.prepare(sql).expect("it parses");
    let insert = prepared("insert into t select $1 + 1, 'text'");
    let delete = prepared("delete from t where x < $1");
    let run = |statement: &frazil::Statement, value: i128| {
        let response = statement.execute(&[Value::Int(value)]).expect("it runs");
        (!response.timing.compile.is_zero(), response.outcome)
    };
    for i in 0..5 {
        assert_eq!(run(&insert, i).0, i == 0);
    }
    for i in 0..3 {
        let (compiled, outcome) = run(&delete, i + 1);
        assert_eq!(compiled, i == 0);
        assert!(
            matches!(outcome, frazil::Outcome::Command { tag: "DELETE", rows: Some(n) } if n == u64::from(i > 0))
        );
    }
    assert_eq!(rows(&c, "select x from t order by x"), "3\n4\n5");
    rows(
        &c,
        "drop table t; create table t (x bigint, y text, z integer default 9)",
    );
    assert!(run(&insert, 41).0, "another table of the name");
    assert_eq!(rows(&c, "select * from t"), "42|text|9");
}

#[test]
fn rows_of_constants_and_parameters_are_written_without_code_and_checked_as_others() {
    let c = memory();
    rows(
        &c,
        "create table t (a integer not null, b varchar(3) default 'def', c decimal(4,2), d char(2), e timestamptz)",
    );
    let insert = |sql: &str| c.execute(sql).map(|r| r.timing.compile.is_zero());
    assert_eq!(
        insert("insert into t values (1, 'abc', 12.34, 'x', '2020-01-02 03:04:05')").ok(),
        Some(true)
    );
    assert_eq!(
        insert("insert into t (c, a) values (1.005, 2), (null, 3)").ok(),
        Some(true)
    );
    assert_eq!(
        insert("insert into t values (4, default, default, null, now())").ok(),
        Some(true)
    );
    assert_eq!(
        rows(&c, "select a, b, c, d, e > '2020-01-01' from t order by a"),
        "1|abc|12.34|x|t\n2|def|1.01||\n3|def|||\n4|def|||t"
    );
    for (values, expected) in [
        ("(null, 'a', 1, 'a', null)", SqlState::NOT_NULL_VIOLATION),
        ("(1, 'abcd', 1, 'a', null)", SqlState::STRING_TRUNCATION),
        ("(1, 'a', 1, 'abc', null)", SqlState::STRING_TRUNCATION),
        ("(1, 'a', 100, 'a', null)", SqlState::NUMERIC_OUT_OF_RANGE),
        ("(3000000000, 'a', 1, 'a', null)", SqlState::NUMERIC_OUT_OF_RANGE),
    ] {
        assert_eq!(state(&c, &format!("insert into t values {values}")), expected);
    }
    // What is written through code is refused in the same way.
    for (query, expected) in [
        (
            "select nullif(a, 1), 'a', 1, 'a', null::timestamp from t where a = 1",
            SqlState::NOT_NULL_VIOLATION,
        ),
        (
            "select 1, 'a', a + 99, 'a', null::timestamp from t where a = 1",
            SqlState::NUMERIC_OUT_OF_RANGE,
        ),
    ] {
        assert_eq!(state(&c, &format!("insert into t {query}")), expected);
    }
    let prepared = c
        .prepare("insert into t (a, b, c) values ($1, $2, $3)")
        .expect("it parses");
    let run = |a: i128, b: &str, c: i128| {
        let a = if a == 0 { Value::Null } else { Value::Int(a) };
        let result = prepared.execute(&[a, Value::Text(b.to_owned()), Value::Int(c)]);
        result.map(|r| r.timing.compile.is_zero()).map_err(|e| e.state())
    };
    assert_eq!(run(5, "abc  ", 1), Ok(true));
    assert_eq!(run(0, "abc", 1), Err(SqlState::NOT_NULL_VIOLATION));
    assert_eq!(run(6, "abcd", 1), Err(SqlState::STRING_TRUNCATION));
    assert_eq!(run(6, "abc", 100), Err(SqlState::NUMERIC_OUT_OF_RANGE));
    assert_eq!(run(1 << 31, "abc", 1), Err(SqlState::NUMERIC_OUT_OF_RANGE));
    assert_eq!(rows(&c, "select a, b, c from t where a > 4"), "5|abc|1.00");
    assert_eq!(rows(&c, "select count(*) from t"), "5");
}

#[test]
fn now_is_when_the_transaction_began() {
    let c = memory();
    rows(&c, "begin");
    let first = rows(&c, "select now()");
    std::thread::sleep(std::time::Duration::from_millis(3));
    assert_eq!(rows(&c, "select now()"), first, "a cached plan");
    assert_eq!(rows(&c, "select now(), 1"), format!("{first}|1"));
    rows(
        &c,
        "create table t (x timestamptz); insert into t values (now()); insert into t select now()",
    );
    rows(&c, "commit");
    assert_eq!(rows(&c, "select x from t"), format!("{first}\n{first}"));
    let second = rows(&c, "select now()");
    assert!(second > first);
    std::thread::sleep(std::time::Duration::from_millis(3));
    assert!(
        rows(&c, "select now()") > second,
        "each statement is its own transaction"
    );
}

#[test]
fn a_view_is_kept_while_rows_are_written_one_by_one() {
    let a = memory();
    let b = a.database().connect();
    rows(&a, "create table t (x bigint)");
    let insert = a.prepare("insert into t values ($1)").expect("it parses");
    let mut sum = 0;
    for i in 0..2000i128 {
        insert.execute(&[Value::Int(i)]).expect("it inserts");
        sum += i;
        if i % 97 == 0 {
            assert_eq!(
                rows(&b, "select sum(x), count(*) from t"),
                format!("{sum}|{}", i + 1)
            );
        }
    }
    rows(&a, "begin");
    insert.execute(&[Value::Int(5)]).expect("it inserts");
    assert_eq!(rows(&a, "select count(*) from t"), "2001");
    assert_eq!(rows(&b, "select count(*) from t"), "2000");
    let other = b.prepare("insert into t values ($1)").expect("it parses");
    other.execute(&[Value::Int(5)]).expect("nobody is in its way");
    assert_eq!(rows(&b, "select count(*) from t"), "2001");
    assert_eq!(rows(&a, "select count(*) from t"), "2002");
    rows(&a, "rollback");
    assert_eq!(
        rows(&a, "select count(*), sum(x) from t"),
        format!("2001|{}", sum + 5)
    );
}

#[test]
fn a_definition_leaves_plans_of_other_objects_alone() {
    let a = memory();
    let b = a.database().connect();
    rows(
        &a,
        "create type mood as enum ('sad', 'happy'); create domain few as integer check (value < 10);
         create table t (x integer primary key, m mood, f few); insert into t values (1, 'sad', 1), (2, 'happy', 2);
         create view v as select x, m from t where m = 'sad'",
    );
    let texts = [
        "select m, count(*) from t group by m order by m",
        "select x from v where m < 'happy'",
        "select x::few + 1 from t where x = 2",
        "update t set f = f where m = 'happy'",
    ];
    let prepared = a.prepare("select sum(x) from v").expect("it parses");
    let prepared_compiles = || !prepared.execute(()).expect("it runs").timing.compile.is_zero();
    texts.iter().for_each(|sql| assert!(compiles(&a, sql), "{sql}"));
    prepared_compiles();
    for i in 0..1_000 {
        let kind = [
            "table u (x integer)",
            "view u as select 1 as x",
            "type u as enum ('a')",
        ][i % 3];
        rows(&b, &format!("create {kind}"));
        let sql = texts[i % texts.len()];
        assert!(!compiles(&a, sql), "{sql} after create {kind}");
        assert!(!prepared_compiles());
        rows(&b, &format!("drop {}", ["table u", "view u", "type u"][i % 3]));
        assert!(!compiles(&a, sql), "{sql} after the drop of {kind}");
    }
    rows(&b, "create index on t (m)");
    for sql in &texts {
        assert!(compiles(&a, sql), "{sql} after an index of its table");
    }
    rows(&b, "create or replace view v as select x + 10 as x, m from t");
    assert_eq!(rows(&a, texts[1]), "11");
    assert!(prepared_compiles() && !compiles(&a, texts[0]));
}

/// A definition of objects named a, b and c: of any kind, and under names that others have had.
fn definition(random: &mut Random) -> String {
    let mut name = || ["a", "b", "c"][random.below(3) as usize];
    let (one, two) = (name(), name());
    match random.below(11) {
        0 => format!("create table {one} as select 1 as x"),
        1 => format!("create table {one} as select 'one' as x, 2 as y"),
        2 => format!("create view {one} as select x from {two}"),
        3 => format!("create or replace view {one} as select x, count(*) as n from {two} group by x"),
        4 => format!("create type {one} as enum ('one', 'two')"),
        5 => format!("create domain {one} as integer check (value > 1)"),
        6 => format!("alter table {one} rename to {two}"),
        7 => format!("alter table {one} add column z integer default 7"),
        8 => format!("alter table {one} rename column x to y"),
        9 => format!(
            "drop {} if exists {one} cascade",
            ["table", "view"][random.below(2) as usize]
        ),
        _ => format!("drop type if exists {one} cascade"),
    }
}

/// The rows of a statement, or its SQLSTATE.
fn answer(connection: &Connection, sql: &str) -> String {
    match connection.execute(sql) {
        Ok(response) => format!("{:?}", response.outcome),
        Err(error) => error.state().0.to_owned(),
    }
}

#[test]
fn kept_plans_answer_as_new_ones_after_any_definition() {
    let queries = [
        "select * from a",
        "select x from a join b using (x)",
        "select count(*) from (select * from b union all select * from b) q",
        "select '2'::c",
        "select pg_typeof(x) from c",
    ];
    let mut answered = 0;
    for seed in 0..6 {
        let mut random = Random::new(seed);
        let kept = memory();
        let definer = kept.database().connect();
        let new = kept.database().connect();
        rows(&new, "set frazil.plan_cache = off");
        for _ in 0..40 {
            let sql = definition(&mut random);
            // A definition that is refused changes nothing, and is a step all the same.
            let _ = definer.execute(&sql);
            for query in &queries {
                let answer_of_kept = answer(&kept, query);
                assert_eq!(
                    answer_of_kept,
                    answer(&new, query),
                    "seed {seed}: {query} after {sql}"
                );
                answered += i32::from(answer_of_kept.len() > 5);
            }
        }
    }
    assert!(answered > 300, "{answered} queries had rows");
}
