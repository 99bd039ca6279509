//! Views: plans that read them, transactions, directories, depth.

use crate::{directory, memory, rows, state};
use frazil::{Connection, Database, SqlState};

fn message(connection: &Connection, sql: &str) -> String {
    let error = connection.execute(sql).expect_err(sql);
    let parts = [Some(error.message()), error.detail(), error.hint()];
    parts.into_iter().flatten().collect::<Vec<_>>().join(" / ")
}

#[test]
fn a_plan_over_a_view_that_was_replaced_is_made_anew() {
    let c = memory();
    let other = c.database().connect();
    rows(
        &c,
        "create table t (a integer); insert into t values (1), (2), (3)",
    );
    rows(
        &c,
        "create view v as select a from t where a < 3; create view w as select a + 1 as b from v",
    );
    let sql = "select count(*), sum(b) from w";
    let prepared = c.prepare(sql).expect("it parses");
    let run = || {
        let response = prepared.execute(()).map_err(|e| e.state());
        response.map(|_| rows(&c, sql))
    };
    assert_eq!(run().as_deref(), Ok("2|5"));
    assert_eq!(rows(&other, sql), "2|5");
    rows(&c, "create or replace view v as select a * 10 as a from t");
    assert_eq!(run().as_deref(), Ok("3|63"));
    assert_eq!(rows(&other, sql), "3|63");
    rows(&c, "drop view v cascade");
    assert_eq!(run(), Err(SqlState::UNDEFINED_TABLE));
    rows(&c, "create table w (b bigint); insert into w values (7)");
    assert_eq!(run().as_deref(), Ok("1|7"));
    assert_eq!(
        state(&c, "create view w as select 1 as a"),
        SqlState::DUPLICATE_TABLE
    );
    assert_eq!(
        rows(&c, "create view if not exists w as select 1 as a"),
        "CREATE VIEW"
    );
    assert_eq!(run().as_deref(), Ok("1|7"));
}

#[test]
fn a_view_is_seen_when_its_transaction_commits() {
    let a = memory();
    let b = a.database().connect();
    rows(&a, "create table t (a integer); insert into t values (1)");
    rows(&a, "begin; create view v as select a from t");
    assert_eq!(rows(&a, "select * from v"), "1");
    assert_eq!(state(&b, "select * from v"), SqlState::UNDEFINED_TABLE);
    rows(&a, "commit");
    assert_eq!(rows(&b, "select * from v"), "1");
    rows(&a, "begin; create or replace view v as select a + 1 as a from t");
    assert_eq!(
        (rows(&a, "select * from v"), rows(&b, "select * from v")),
        ("2".into(), "1".into())
    );
    rows(&a, "rollback");
    assert_eq!(
        (rows(&a, "select * from v"), rows(&b, "select * from v")),
        ("1".into(), "1".into())
    );
    rows(&a, "begin; drop table t cascade");
    assert_eq!(rows(&b, "select * from v"), "1");
    assert_eq!(state(&a, "select * from v"), SqlState::UNDEFINED_TABLE);
    rows(&a, "rollback");
    assert_eq!(rows(&a, "select * from v"), "1");
}

#[test]
fn what_is_refused_says_why() {
    let c = memory();
    rows(
        &c,
        "create table t (a integer); create view v as select a from t; create view \"W x\" as table v",
    );
    for (sql, text) in [
        (
            "drop table t",
            "cannot drop table t because other objects depend on it / view v depends on table t\n\
             view \"W x\" depends on view v / Use DROP ... CASCADE to drop the dependent objects too.",
        ),
        (
            "drop view v",
            "cannot drop view v because other objects depend on it / view \"W x\" depends on view v / \
             Use DROP ... CASCADE to drop the dependent objects too.",
        ),
        (
            "drop table v",
            "\"v\" is not a table / Use DROP VIEW to remove a view.",
        ),
        (
            "drop view t",
            "\"t\" is not a view / Use DROP TABLE to remove a table.",
        ),
        ("create table v (a integer)", "relation \"v\" already exists"),
        ("create or replace view t as select 1 as a", "\"t\" is not a view"),
        (
            "create view frazil_blocks as select 1 as a",
            "\"frazil_blocks\" is a system table",
        ),
        ("drop view vv", "view \"vv\" does not exist / did you mean \"v\"?"),
        (
            "insert into v values (1)",
            "INSERT into view v is not supported / change the rows of the tables that it reads",
        ),
    ] {
        assert_eq!(message(&c, sql), text, "{sql}");
    }
    let appender = c.appender("v").map(drop);
    assert_eq!(appender.unwrap_err().state(), SqlState::WRONG_OBJECT_TYPE);
    assert_eq!(rows(&c, "select * from v"), "");
}

#[test]
fn a_view_is_described_listed_and_explained() {
    let c = memory();
    rows(&c, "create table t (a integer not null, b text)");
    rows(
        &c,
        "create view v (x) as select a, b || '!' as y, null as z from t",
    );
    assert_eq!(rows(&c, "describe v"), "x|integer|YES|\ny|text|YES|\nz|text|YES|");
    let listed = rows(&c, "show tables");
    assert!(listed.lines().any(|l| l == "v") && listed.lines().any(|l| l == "t"));
    let plan = rows(&c, "explain select x from v where x > 3");
    assert!(plan.contains("Scan t") && !plan.contains('v'), "{plan}");
    rows(
        &c,
        "create view held as select table_name, count(*) as n from frazil_blocks group by table_name",
    );
    assert_eq!(rows(&c, "select * from held"), "");
    rows(&c, "insert into t values (1, 'one')");
    assert_eq!(rows(&c, "select * from held"), "t|2");
    assert_eq!(
        rows(&c, "select definition from frazil_views where view_name = 'v'"),
        "select a, b || '!' as y, null as z from t"
    );
}

#[test]
fn views_last_in_a_directory() {
    let path = directory("views");
    let database = Database::open(&path).expect("an empty directory opens");
    let c = database.connect();
    rows(
        &c,
        "create table t (a integer not null, b text); insert into t values (1, 'ä'), (2, null)",
    );
    rows(
        &c,
        "create view v as select *, 'it''s' as s -- all of it\n from t",
    );
    rows(
        &c,
        "create view w (n, i) as select count(*), interval '1 day' from v",
    );
    rows(&c, "create view gone as select 1 as a; drop view gone");
    drop(c);
    database.close().expect("it closes");

    let database = Database::open(&path).expect("it opens again");
    let c = database.connect();
    assert_eq!(rows(&c, "select * from v order by a"), "1|ä|it's\n2||it's");
    assert_eq!(
        rows(&c, "select n, date '2020-01-01' + i from w"),
        "2|2020-01-02 00:00:00"
    );
    assert_eq!(state(&c, "drop table t"), SqlState("2BP01"));
    assert_eq!(state(&c, "table gone"), SqlState::UNDEFINED_TABLE);
    // A new object does not get the identity of one that views read.
    rows(
        &c,
        "create table other (a integer); insert into t values (3, 'c'); checkpoint",
    );
    rows(
        &c,
        "create or replace view v as select a, b, 's' as s, 4 as four from t",
    );
    assert_eq!(rows(&c, "checkpoint"), "CHECKPOINT");
    drop(c);
    drop(database);

    let database = Database::open(&path).expect("it opens after a crash");
    let c = database.connect();
    assert_eq!(rows(&c, "select n from w"), "3");
    assert_eq!(rows(&c, "select four, s from v where a = 3"), "4|s");
    rows(&c, "drop table t cascade");
    drop(c);
    database.close().expect("it closes");
    let database = Database::open(&path).expect("it opens without them");
    let left = rows(&database.connect(), "show tables");
    assert!(
        !left.lines().any(|name| ["t", "v", "w"].contains(&name)),
        "{left}"
    );
    drop(database);
    let _ = std::fs::remove_dir_all(&path);
}

/// Runs on a thread of 2 MB.
fn on_small_stack(run: impl FnOnce() + Send) {
    std::thread::scope(|scope| {
        let thread = std::thread::Builder::new().stack_size(2 << 20);
        thread.spawn_scoped(scope, run).unwrap().join().unwrap();
    });
}

#[test]
fn deep_views_are_answered_or_refused() {
    on_small_stack(|| {
        let c = memory();
        rows(&c, "create table t (a integer); insert into t values (1), (2)");
        rows(&c, "create view v0 as select a from t");
        for at in 1..=600 {
            let below = at - 1;
            rows(
                &c,
                &format!("create view v{at} as select a + 1 as a from v{below} where a > 0"),
            );
        }
        assert_eq!(rows(&c, "select sum(a) from v60"), "123");
        assert_eq!(
            state(&c, "select sum(a) from v600"),
            SqlState::STATEMENT_TOO_COMPLEX
        );
        assert_eq!(rows(&c, "drop table t cascade"), "DROP TABLE");
        assert_eq!(state(&c, "table v300"), SqlState::UNDEFINED_TABLE);
    });
}
