//! Settings, system tables, prepared statements, CREATE TABLE AS, freezing.

use crate::{memory, rows, state};
use frazil::{Outcome, RawValue as Value, SqlState};

#[test]
fn prepared_statements_take_parameters() {
    let c = memory();
    rows(&c, "create table t (a integer, b decimal(10,2), d date)");
    let insert = c.prepare("insert into t values ($1, $2, $3)").expect("it parses");
    for (a, b, d) in [(1, "1.50", "2020-01-01"), (2, "2.25", "2021-02-03")] {
        let values = [Value::Int(a), Value::Text(b.into()), Value::Text(d.into())];
        insert.execute(&values).expect("the values fit");
    }
    let query = c
        .prepare("select b from t where a = $1 and d > $2")
        .expect("it parses");
    let response = query
        .execute(&[Value::Int(2), Value::Text("2020-06-01".into())])
        .expect("it runs");
    let Outcome::Rows(found) = response.outcome else {
        panic!("a query gives rows")
    };
    assert_eq!(found.raw().collect::<Vec<_>>(), [[Value::Int(225)]]);
    let error = query.execute(&[Value::Int(1)]).expect_err("a value is missing");
    assert_eq!(error.state(), SqlState::UNDEFINED_PARAMETER);
    let error = c.prepare("select 1; select 2").expect_err("two statements");
    assert_eq!(error.state(), SqlState::SYNTAX_ERROR);
}

#[test]
fn create_table_as_keeps_types_and_rows() {
    let c = memory();
    rows(&c, "create table t (a integer not null, b text)");
    rows(
        &c,
        "insert into t values (1, 'a string longer than twelve bytes'), (2, null)",
    );
    assert_eq!(
        rows(&c, "create table u as select a * 2 as a, b from t"),
        "CREATE TABLE AS 2"
    );
    rows(&c, "drop table t");
    assert_eq!(
        rows(&c, "select * from u order by a"),
        "2|a string longer than twelve bytes\n4|"
    );
    assert_eq!(state(&c, "create table u (x integer)"), SqlState::DUPLICATE_TABLE);
    assert_eq!(
        rows(&c, "create table if not exists u (x integer)"),
        "CREATE TABLE"
    );
    assert_eq!(rows(&c, "drop table if exists nothing"), "DROP TABLE");
}

#[test]
fn create_table_as_takes_parameters_and_the_time() {
    let c = memory();
    rows(&c, "create table t (a integer)");
    rows(&c, "insert into t values (1), (2), (3)");
    let create =
        c.prepare("create table u as select a + $1 as a, $2::text as b, now() as n from t where a > $1");
    let create = create.expect("it parses");
    for (least, text) in [(1, "x"), (2, "y")] {
        let values = [Value::Int(least), Value::Text(text.to_string())];
        create.execute(&values).expect("it runs");
        let expected: Vec<String> = (least + 1..=3)
            .map(|a| format!("{}|{text}|t", a + least))
            .collect();
        assert_eq!(
            rows(&c, "select a, b, n <= now() from u order by a"),
            expected.join("\n")
        );
        rows(&c, "drop table u");
    }
    let none = c.execute_with("create table v as select $1::bigint as a with no data", (7,));
    none.expect("it runs");
    assert_eq!(rows(&c, "select count(*) from v"), "0");
}

#[test]
fn freezing_changes_blocks_not_answers() {
    let c = memory();
    rows(&c, "create table t (a integer not null, s text)");
    for i in 0..50 {
        let values: Vec<String> = (0..100)
            .map(|j| format!("({}, 's{}')", i * 100 + j, j % 7))
            .collect();
        rows(&c, &format!("insert into t values {}", values.join(", ")));
    }
    rows(&c, "delete from t where a < 10");
    let query = "select s, count(*), sum(a) from t group by s order by s";
    let hot = rows(&c, query);
    assert_eq!(
        rows(&c, "select count(*) from frazil_blocks where encoding = 'hot'"),
        "2"
    );
    rows(&c, "freeze table t order by a");
    assert_eq!(rows(&c, query), hot);
    assert_eq!(
        rows(&c, "select count(*) from frazil_blocks where encoding = 'hot'"),
        "0"
    );
    for setting in [
        "frazil.isa = 'scalar'",
        "frazil.stages = 'staged'",
        "frazil.scan = 'compiled'",
    ] {
        rows(&c, &format!("set {setting}"));
        assert_eq!(rows(&c, query), hot, "{setting}");
    }
}

#[test]
fn now_is_the_time_of_each_execution() {
    let c = memory();
    let query = c.prepare("select now()").expect("it parses");
    let run = || match query.execute(()).expect("it runs").outcome {
        Outcome::Rows(found) => found.raw().next().expect("one row"),
        Outcome::Command { .. } => panic!("a query gives rows"),
    };
    let first = run();
    std::thread::sleep(std::time::Duration::from_millis(2));
    assert_ne!(first, run());
}

#[test]
fn system_tables_are_only_read() {
    let c = memory();
    assert_eq!(
        state(&c, "delete from frazil_blocks"),
        SqlState::FEATURE_NOT_SUPPORTED
    );
    assert_eq!(
        state(&c, "create table frazil_blocks (a integer)"),
        SqlState::DUPLICATE_TABLE
    );
    assert_eq!(
        state(&c, "insert into frazil_access values ('t', 'a', 1, 1, 1, 1)"),
        SqlState::FEATURE_NOT_SUPPORTED
    );
    assert_eq!(
        state(&c, "create table frazil_access (a integer)"),
        SqlState::DUPLICATE_TABLE
    );
    assert_eq!(state(&c, "set frazil.nothing = 1"), SqlState::UNDEFINED_OBJECT);
    assert_eq!(rows(&c, "show frazil.freeze_after"), "1min");
    assert_eq!(
        rows(&c, "set frazil.freeze_after = off; show frazil.freeze_after"),
        "off"
    );
}

#[test]
fn full_chunks_freeze_in_the_background() {
    let c = memory();
    rows(&c, "create table n (x integer not null)");
    rows(
        &c,
        "insert into n values (0), (1), (2), (3), (4), (5), (6), (7), (8), (9)",
    );
    rows(&c, "create table t as select a.x from n a, n b, n c, n d, n e");
    rows(&c, "set frazil.freeze_after = 0");
    let frozen = "select count(*) from frazil_blocks where table_name = 't' and encoding <> 'hot'";
    let begun = std::time::Instant::now();
    while rows(&c, frozen) == "0" {
        assert!(begun.elapsed().as_secs() < 30, "it never freezes");
        std::thread::sleep(std::time::Duration::from_millis(20));
    }
    assert_eq!(rows(&c, "select count(*), sum(x) from t"), "100000|450000");
}

#[test]
fn a_known_query_is_not_compiled_again_until_its_tables_change() {
    let c = memory();
    let other = c.database().connect();
    rows(&c, "create table t (a integer not null)");
    rows(&c, "insert into t values (1), (2)");
    let query = "select sum(a) from t";
    let compiles = |c: &frazil::Connection| {
        let response = c.execute(query).expect("it runs");
        !response.timing.compile.is_zero()
    };
    assert!(compiles(&c) && !compiles(&c) && !compiles(&other));
    // Beyond the bounds the plan was made for.
    rows(&c, "insert into t values (2147483647), (2147483647)");
    assert_eq!(rows(&c, query), "4294967297");
    assert!(!compiles(&c));
    rows(&c, "begin; delete from t where a > 2");
    assert_eq!(rows(&c, query), "3");
    assert_eq!(rows(&other, query), "4294967297");
    rows(
        &c,
        "rollback; drop table t; create table t (a decimal(10,2)); insert into t values (1.5)",
    );
    assert_eq!(rows(&c, query), "1.50");
    rows(&c, "set frazil.plan_cache = off");
    assert!(compiles(&c));
}
