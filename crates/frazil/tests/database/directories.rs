//! Databases on directories: closed, reopened, crashed.

use crate::{directory, rows, state};
use frazil::{Database, SqlState};

#[test]
fn a_closed_database_opens_with_all_its_data() {
    let path = directory("closed");
    let database = Database::open(&path).expect("an empty directory opens");
    let c = database.connect();
    rows(
        &c,
        "create table t (a integer not null, b varchar(20) default 'x', c decimal(10,2))",
    );
    rows(&c, "insert into t values (1, 'one', 1.5), (2, null, null)");
    rows(&c, "insert into t (a) values (3)");
    rows(&c, "freeze table t");
    rows(&c, "insert into t values (4, 'four', -4.25)");
    rows(&c, "delete from t where a = 2");
    database.close().expect("it closes");
    assert_eq!(state(&c, "select 1"), SqlState::CONNECTION_DOES_NOT_EXIST);

    let database = Database::open(&path).expect("it opens again");
    let c = database.connect();
    assert_eq!(
        rows(&c, "select * from t order by a"),
        "1|one|1.50\n3|x|\n4|four|-4.25"
    );
    rows(&c, "insert into t (a) values (5)");
    assert_eq!(rows(&c, "select b from t where a = 5"), "x");
    drop(c);
    database.close().expect("it closes");
    let _ = std::fs::remove_dir_all(&path);
}

#[test]
fn a_second_opener_is_told() {
    let path = directory("locked");
    let first = Database::open(&path).expect("an empty directory opens");
    let error = Database::open(&path).expect_err("it is locked");
    assert_eq!(error.state(), SqlState::OBJECT_IN_USE);
    first.close().expect("it closes");
    Database::open(&path).expect("the lock is gone");
    let _ = std::fs::remove_dir_all(&path);
}

#[test]
fn checkpoint_keeps_what_was_committed() {
    let path = directory("checkpoint");
    let database = Database::open(&path).expect("an empty directory opens");
    let c = database.connect();
    rows(&c, "create table t (a integer); insert into t values (1), (2)");
    assert_eq!(rows(&c, "checkpoint"), "CHECKPOINT");
    assert_eq!(state(&c, "begin; checkpoint"), SqlState::ACTIVE_TRANSACTION);
    rows(&c, "rollback");
    // What a crash leaves is what the directory holds now.
    let copy = directory("checkpoint-copy");
    copy_all(&path, &copy);
    rows(&c, "insert into t values (3)");
    let crashed = Database::open(&copy).expect("a crashed directory opens");
    assert_eq!(rows(&crashed.connect(), "select count(*) from t"), "2");
    for path in [&path, &copy] {
        let _ = std::fs::remove_dir_all(path);
    }
}

pub fn copy_all(from: &std::path::Path, to: &std::path::Path) {
    std::fs::create_dir(to).expect("the directory is new");
    for entry in std::fs::read_dir(from).expect("it is there") {
        let path = entry.expect("it can be read").path();
        let target = to.join(path.file_name().expect("it has a name"));
        match path.is_dir() {
            true => copy_all(&path, &target),
            false => drop(std::fs::copy(&path, &target).expect("it can be copied")),
        }
    }
}
