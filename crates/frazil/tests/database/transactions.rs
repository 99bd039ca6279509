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
