//! BEGIN, COMMIT, ROLLBACK of one writer.

use crate::{memory, rows, state};
use frazil::SqlState;

#[test]
fn a_transaction_is_seen_whole_or_not_at_all() {
    let a = memory();
    let b = a.database().connect();
    rows(&a, "create table t (x integer)");
    rows(&a, "begin; insert into t values (1); insert into t values (2)");
    assert_eq!(rows(&a, "select count(*) from t"), "2");
    assert_eq!(rows(&b, "select count(*) from t"), "0");
    assert_eq!(rows(&a, "commit"), "COMMIT");
    assert_eq!(rows(&b, "select count(*) from t"), "2");
    rows(&a, "begin; delete from t; create table u (y text)");
    assert_eq!(rows(&a, "select count(*) from t"), "0");
    assert_eq!(rows(&a, "rollback"), "ROLLBACK");
    assert_eq!(rows(&a, "select count(*) from t"), "2");
    assert_eq!(state(&a, "select * from u"), SqlState::UNDEFINED_TABLE);
}

#[test]
fn a_second_writer_waits_and_then_gives_up() {
    let a = memory();
    let b = a.database().connect();
    rows(&a, "create table t (x integer)");
    rows(&a, "begin; insert into t values (1)");
    rows(&b, "set lock_timeout = 30");
    assert_eq!(
        state(&b, "insert into t values (2)"),
        SqlState::LOCK_NOT_AVAILABLE
    );
    rows(&b, "set lock_timeout = '30s'");
    let waiting = std::thread::spawn(move || rows(&b, "insert into t values (2)"));
    std::thread::sleep(std::time::Duration::from_millis(50));
    rows(&a, "commit");
    assert_eq!(waiting.join().expect("the writer gets its turn"), "INSERT 1");
    assert_eq!(rows(&a, "select x from t order by x"), "1\n2");
}

#[test]
fn after_a_failure_only_rollback_is_left() {
    let c = memory();
    rows(&c, "create table t (x integer not null)");
    rows(&c, "begin; insert into t values (1)");
    assert_eq!(
        state(&c, "insert into t values (null)"),
        SqlState::NOT_NULL_VIOLATION
    );
    assert_eq!(state(&c, "select 1"), SqlState::IN_FAILED_TRANSACTION);
    assert_eq!(rows(&c, "commit"), "ROLLBACK");
    assert_eq!(rows(&c, "select count(*) from t"), "0");
    assert_eq!(state(&c, "commit"), SqlState::NO_ACTIVE_TRANSACTION);
    rows(&c, "begin");
    assert_eq!(state(&c, "begin"), SqlState::ACTIVE_TRANSACTION);
}

#[test]
fn a_statement_does_not_see_its_own_rows() {
    let c = memory();
    rows(&c, "create table t (x integer)");
    rows(&c, "insert into t values (1), (2), (3)");
    assert_eq!(rows(&c, "insert into t select x + 10 from t"), "INSERT 3");
    assert_eq!(rows(&c, "select count(*), sum(x) from t"), "6|42");
}

#[test]
fn a_failed_insert_leaves_no_trace() {
    let c = memory();
    rows(&c, "create table t (x integer not null)");
    assert_eq!(
        state(&c, "insert into t values (1), (null), (3)"),
        SqlState::NOT_NULL_VIOLATION
    );
    assert_eq!(
        state(
            &c,
            "insert into t select 2147483647 + x from (values (0), (1)) v(x)"
        ),
        SqlState::NUMERIC_OUT_OF_RANGE
    );
    assert_eq!(rows(&c, "select count(*) from t"), "0");
}

/// The numbers of table `t`, ascending.
fn numbers(connection: &frazil::Connection) -> String {
    rows(connection, "select x from t order by x").replace('\n', " ")
}

#[test]
fn a_savepoint_is_a_moment_to_return_to() {
    let c = memory();
    rows(&c, "create table t (x integer); insert into t values (0)");
    rows(&c, "begin; insert into t values (1)");
    assert_eq!(rows(&c, "savepoint s"), "SAVEPOINT");
    rows(
        &c,
        "insert into t values (2); savepoint inner; delete from t where x < 2",
    );
    assert_eq!(numbers(&c), "2");
    assert_eq!(rows(&c, "rollback to savepoint s"), "ROLLBACK");
    assert_eq!(numbers(&c), "0 1");
    rows(&c, "insert into t values (3)");
    assert_eq!(rows(&c, "rollback work to s"), "ROLLBACK");
    rows(&c, "insert into t values (4)");
    assert_eq!(rows(&c, "release s"), "RELEASE");
    assert_eq!(rows(&c, "commit"), "COMMIT");
    assert_eq!(numbers(&c), "0 1 4");
}

#[test]
fn savepoints_shadow_one_another_and_go_with_those_before_them() {
    let c = memory();
    rows(
        &c,
        "create table t (x integer); begin; savepoint s; insert into t values (1)",
    );
    rows(&c, "savepoint s; insert into t values (2); rollback to s");
    assert_eq!(numbers(&c), "1");
    rows(&c, "release savepoint s; rollback to s");
    assert_eq!(numbers(&c), "");
    rows(
        &c,
        "savepoint \"A b\"; savepoint savepoint; release savepoint savepoint; rollback to s",
    );
    // A savepoint made after the one that was returned to is gone.
    assert_eq!(state(&c, "rollback to \"A b\""), SqlState("3B001"));
    assert_eq!(state(&c, "select 1"), SqlState::IN_FAILED_TRANSACTION);
    assert_eq!(state(&c, "rollback to nowhere"), SqlState("3B001"));
    rows(&c, "rollback to s; insert into t values (5); commit");
    assert_eq!(numbers(&c), "5");
}

#[test]
fn a_failed_transaction_goes_on_from_a_savepoint() {
    let c = memory();
    rows(&c, "create table t (x integer not null)");
    rows(&c, "begin; savepoint a; insert into t values (1); savepoint b");
    for sql in [
        "insert into t values (2), (null)",
        "insert into t select 10 / (2 - x) from (values (0), (1), (2)) v(x)",
        "select nothing",
        "delete from t where 1 / (x - 1) > 0",
        "create table t (y text)",
    ] {
        state(&c, sql);
        for refused in [
            "select 1",
            "insert into t values (9)",
            "savepoint c",
            "release b",
            "begin",
        ] {
            assert_eq!(state(&c, refused), SqlState::IN_FAILED_TRANSACTION, "{refused}");
        }
        rows(&c, "rollback to b");
        assert_eq!(numbers(&c), "1", "{sql}");
    }
    rows(&c, "insert into t values (3)");
    state(&c, "select nothing");
    rows(&c, "rollback to savepoint a; insert into t values (4); commit");
    assert_eq!(numbers(&c), "4");
}

#[test]
fn savepoints_are_of_a_transaction() {
    let c = memory();
    for sql in ["savepoint s", "rollback to s", "release s"] {
        assert_eq!(state(&c, sql), SqlState::NO_ACTIVE_TRANSACTION, "{sql}");
    }
    rows(&c, "begin; savepoint s; commit; begin");
    assert_eq!(state(&c, "release s"), SqlState("3B001"));
    assert_eq!(rows(&c, "commit"), "ROLLBACK");
    for sql in [
        "savepoint",
        "savepoint a b",
        "rollback to",
        "release",
        "rollback to savepoint a b",
    ] {
        assert_eq!(state(&c, sql), SqlState::SYNTAX_ERROR, "{sql}");
    }
}

#[test]
fn a_savepoint_undoes_tables_and_views() {
    let c = memory();
    rows(
        &c,
        "create table t (x integer); insert into t values (1); begin; savepoint s",
    );
    rows(
        &c,
        "create table u (y integer); insert into u values (7); create view v as select y from u",
    );
    assert_eq!(rows(&c, "select y from v"), "7");
    rows(&c, "drop table t; rollback to s");
    assert_eq!(numbers(&c), "1");
    rows(&c, "create table u (y text); insert into u values ('seven')");
    assert_eq!(rows(&c, "select y from u"), "seven");
    rows(&c, "savepoint s2; drop table u; rollback to s2; commit");
    assert_eq!(rows(&c, "select y from u"), "seven");
    assert_eq!(state(&c, "select y from v"), SqlState::UNDEFINED_TABLE);
}

#[test]
fn a_failed_transaction_without_savepoints_lets_the_next_writer_in() {
    let a = memory();
    let b = a.database().connect();
    rows(&a, "create table t (x integer); begin; insert into t values (1)");
    state(&a, "select nothing");
    rows(&b, "set lock_timeout = 30; insert into t values (2)");
    rows(&a, "rollback; begin; savepoint s; insert into t values (3)");
    state(&a, "select nothing");
    assert_eq!(
        state(&b, "insert into t values (4)"),
        SqlState::LOCK_NOT_AVAILABLE
    );
    // Before the savepoint nothing was written, so the writer's place is free again.
    rows(&a, "rollback to s");
    rows(&b, "insert into t values (5)");
    rows(&a, "insert into t values (6); commit");
    assert_eq!(numbers(&a), "2 5 6");
}

#[test]
fn truncate_empties_tables_within_a_transaction() {
    let a = memory();
    let b = a.database().connect();
    rows(
        &a,
        "create table t (x integer); create table u (y text); insert into t values (1), (2); insert into u values ('a')",
    );
    rows(&a, "freeze t; insert into t values (3)");
    assert_eq!(rows(&a, "begin; truncate t, u"), "TRUNCATE TABLE");
    assert_eq!(
        rows(&a, "select (select count(*) from t), (select count(*) from u)"),
        "0|0"
    );
    rows(&a, "insert into t values (4)");
    assert_eq!(numbers(&b), "1 2 3");
    assert_eq!(numbers(&a), "4");
    rows(
        &a,
        "savepoint s; truncate t; insert into t values (5); rollback to s",
    );
    assert_eq!(numbers(&a), "4");
    rows(&a, "rollback");
    assert_eq!(numbers(&a), "1 2 3");
    rows(&a, "truncate table t restart identity; insert into t values (6)");
    assert_eq!(
        (numbers(&b), rows(&b, "select y from u")),
        ("6".to_string(), "a".to_string())
    );
    rows(&a, "create view v as select y from u");
    assert_eq!(state(&a, "truncate v"), SqlState("42809"));
    assert_eq!(state(&a, "truncate t, nowhere"), SqlState::UNDEFINED_TABLE);
    assert_eq!(numbers(&a), "6");
}
