//! Closing beside running statements, in a forked child, and when it fails.

use crate::{directory, rows, state};
use frazil::{ColumnVector, Database, LogicalType, RawValue as Value, RowBatch, SqlState};
use frazil_testkit::{Failure, SimVfs};
use std::path::Path;

fn count(path: &Path) -> String {
    let database = Database::open(path).expect("it opens");
    let count = rows(&database.connect(), "select count(*) from t");
    database.close().expect("it closes");
    count
}

#[test]
fn every_insert_that_succeeded_before_the_database_was_closed_is_there() {
    let path = directory("close-beside-inserts");
    for round in 0..12 {
        let _ = std::fs::remove_dir_all(&path);
        let database = Database::open(&path).expect("it opens");
        rows(&database.connect(), "create table t (a integer)");
        let writer = database.connect();
        let (begun, beginning) = std::sync::mpsc::channel();
        let inserting = std::thread::spawn(move || {
            let insert = writer.prepare("insert into t values ($1)").expect("it parses");
            for i in 0.. {
                // Some rounds by prepared statements, some by text.
                let result = match round % 2 {
                    0 => insert.execute(&[Value::Int(i)]),
                    _ => writer.execute(&format!("insert into t values ({i})")),
                };
                if let Err(error) = result {
                    assert_eq!(error.state(), SqlState::CONNECTION_DOES_NOT_EXIST, "{error}");
                    return i;
                }
                let _ = begun.send(());
            }
            0
        });
        for _ in 0..=round {
            beginning.recv().expect("it inserts");
        }
        database.close().expect("it closes");
        let succeeded = inserting.join().expect("no panic");
        assert_eq!(count(&path), succeeded.to_string(), "round {round}");
    }
    let _ = std::fs::remove_dir_all(&path);
}

#[test]
fn an_appender_that_comes_too_late_is_told() {
    let path = directory("close-beside-appender");
    let database = Database::open(&path).expect("it opens");
    let c = database.connect();
    rows(&c, "create table t (a integer)");
    let mut appender = c.appender("t").expect("the table is there");
    let batch = RowBatch {
        columns: vec![ColumnVector::from_values(LogicalType::Integer, &[Value::Int(1)])],
        rows: 1,
    };
    appender.append(batch).expect("it fits");
    database.close().expect("it closes");
    let error = appender.finish().expect_err("the database was closed");
    assert_eq!(error.state(), SqlState::CONNECTION_DOES_NOT_EXIST);
    assert_eq!(state(&c, "select 1"), SqlState::CONNECTION_DOES_NOT_EXIST);
    assert_eq!(count(&path), "0");
    let _ = std::fs::remove_dir_all(&path);
}

#[test]
fn a_database_that_could_not_be_written_stays_open() {
    let sim = SimVfs::new(1);
    let path = Path::new("/db");
    let database = Database::open_over(sim.vfs(), path).expect("it opens");
    let c = database.connect();
    rows(&c, "create table t (a integer); insert into t values (1)");
    sim.fail_at(sim.operations() + 3, Failure::Undone);
    let error = database.close().expect_err("an operation fails");
    assert_eq!(sim.struck().len(), 1);
    assert_eq!(error.state(), SqlState::IO_ERROR, "{error}");
    assert_eq!(rows(&c, "insert into t values (2)"), "INSERT 1");
    c.database().clone().close().expect("it closes now");
    let sim = sim.restart_after_power_cut();
    let database = Database::open_over(sim.vfs(), path).expect("it opens");
    assert_eq!(rows(&database.connect(), "select count(*) from t"), "2");
}

#[test]
fn a_forked_child_leaves_the_database_to_its_parent() {
    let path = directory("forked");
    let database = Database::open(&path).expect("it opens");
    let c = database.connect();
    rows(&c, "create table t (a integer); insert into t values (1), (2)");
    // Worker threads that the child does not have.
    rows(&c, "set threads = 3; select sum(a) from t");
    let prepared = c.prepare("select 1").expect("it parses");
    // SAFETY: the child uses and drops its copy of the database, and ends without running anything of the tests' threads.
    let child = unsafe { libc::fork() };
    if child == 0 {
        // SAFETY: a child that hangs is ended.
        unsafe { libc::alarm(30) };
        let names_fork = |e: frazil::Error| {
            e.state() == SqlState::CONNECTION_DOES_NOT_EXIST && e.message().contains("forked")
        };
        let refused = [
            c.execute("select 1").is_err_and(names_fork),
            prepared.execute(()).is_err_and(names_fork),
            c.prepare("select 1").is_err_and(names_fork),
            c.appender("t").is_err_and(names_fork),
            database.checkpoint().is_err_and(names_fork),
            database.clone().close().is_err_and(names_fork),
        ];
        drop((prepared, c, database));
        let status = i32::from(refused != [true; 6]);
        // SAFETY: ends the child at once.
        unsafe { libc::_exit(status) };
    }
    let mut status = 0;
    // SAFETY: waits for the child that was just made.
    assert_eq!(unsafe { libc::waitpid(child, &mut status, 0) }, child);
    assert_eq!(status, 0, "the child is refused and ends well");
    rows(&c, "insert into t values (3)");
    rows(&c, "checkpoint");
    rows(&c, "insert into t values (4)");
    drop((prepared, c));
    database.close().expect("it closes");
    assert_eq!(count(&path), "4");
    let _ = std::fs::remove_dir_all(&path);
}

#[test]
fn the_empty_path_is_a_database_in_memory() {
    let before = std::fs::read_dir(".").expect("it can be read").count();
    for path in ["", ":memory:"] {
        let database = Database::open(Path::new(path)).expect("it opens");
        let c = database.connect();
        rows(
            &c,
            "create table t (a integer); insert into t values (1); checkpoint",
        );
        let other = Database::open(Path::new(path)).expect("it opens");
        assert_eq!(
            state(&other.connect(), "select * from t"),
            SqlState::UNDEFINED_TABLE
        );
        database.close().expect("it closes");
    }
    assert_eq!(std::fs::read_dir(".").expect("it can be read").count(), before);
}

#[test]
fn what_fails_in_the_background_can_be_seen_and_not_set() {
    let c = crate::memory();
    assert_eq!(rows(&c, "show frazil.background_failures"), "0");
    assert_eq!(
        state(&c, "set frazil.background_failures = 1"),
        SqlState::CANT_CHANGE_PARAMETER
    );
}
