//! Compiled plans and the tables they were made for: a plan serves as long as what it relies on holds.

use crate::{directory, memory, rows, state};
use frazil::{Connection, Database};

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
        assert_eq!(state(c, doubled), frazil::SqlState::NUMERIC_OUT_OF_RANGE);
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
    rows(&a, "create table t (x bigint, y integer); insert into t values (1, 0), (2, 1)");
    rows(&a, "begin; insert into t values (9223372036854775807, 2)");
    assert_eq!(
        state(&a, "select x + 1 from t order by y"),
        frazil::SqlState::NUMERIC_OUT_OF_RANGE
    );
    rows(&a, "rollback");
    assert_eq!(rows(&a, "select x + 1 from t order by y"), "2\n3");
    rows(&a, "insert into t values (9223372036854775807, 2)");
    assert_eq!(
        state(&a, "select x + 1 from t order by y"),
        frazil::SqlState::NUMERIC_OUT_OF_RANGE
    );
}

#[test]
fn a_plan_of_a_table_that_was_rolled_back_is_forgotten() {
    let a = memory();
    let b = a.database().connect();
    rows(&a, "begin; create table t (x integer); insert into t values (7)");
    assert_eq!(rows(&a, "select * from t"), "7");
    rows(&a, "rollback");
    rows(&b, "create table t (x text, y integer); insert into t values ('seven', 7)");
    assert_eq!(rows(&b, "select * from t"), "seven|7");
    assert_eq!(rows(&a, "select * from t"), "seven|7");
}
