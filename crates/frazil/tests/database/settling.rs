//! A transaction beside a commit that is not durable yet: the numbers of rows that its statements wrote are told at
//! once; rows, errors and the end of the transaction wait.

use crate::{rows, shown};
use frazil::{Connection, Database};
use frazil_testkit::SimVfs;
use std::path::Path;
use std::sync::mpsc::{Receiver, RecvTimeoutError, Sender, channel};
use std::thread::JoinHandle;
use std::time::Duration;

/// Time after which an answer is taken for one that waits.
const WAITS: Duration = Duration::from_millis(60);
/// Longest time of an answer that does not wait, or no longer.
const PATIENCE: Duration = Duration::from_secs(30);

/// A database whose log is durable up to a commit, which another one follows.
struct Stopped {
    database: Database,
    /// Lets the log be synced.
    go_on: Sender<()>,
    committed: JoinHandle<()>,
}

impl Stopped {
    /// A table with the rows 1, 2 and 3, of which another session adds one to that of key 1. The commit is on its way
    /// to the disk.
    fn new() -> Stopped {
        let sim = SimVfs::new(1);
        let database = Database::open_over(sim.vfs(), Path::new("/db")).expect("it opens");
        let c = database.connect();
        rows(
            &c,
            "create table t (k integer primary key, v integer); insert into t values (1, 10), (2, 20), (3, 30)",
        );
        let (go_on, may_go_on) = channel();
        let (stops, has_stopped) = channel();
        sim.run_before("sync", move || {
            stops.send(()).expect("the test waits");
            let _: Result<(), _> = may_go_on.recv();
        });
        let committed = std::thread::spawn(move || {
            rows(&c, "begin; update t set v = v + 1 where k = 1; commit");
        });
        has_stopped.recv().expect("it syncs");
        Stopped {
            database,
            go_on,
            committed,
        }
    }

    /// Runs a statement on a thread. Returns what it gives, as [`rows`] shows it, or the SQLSTATE.
    fn ask(c: &Connection, sql: &'static str) -> Receiver<String> {
        let (tells, told) = channel();
        let c = c.clone();
        std::thread::spawn(move || {
            let answer = match c.execute(sql) {
                Ok(response) => shown(response.outcome),
                Err(error) => error.state().0.to_owned(),
            };
            // The test may have failed.
            let _ = tells.send(answer);
        });
        told
    }

    /// Checks that a statement is answered while the log stands still.
    fn at_once(c: &Connection, sql: &'static str, expected: &str) {
        let told = Stopped::ask(c, sql).recv_timeout(PATIENCE);
        assert_eq!(told.as_deref(), Ok(expected), "{sql}");
    }

    /// Checks that a statement is answered once the log goes on.
    fn waits(self, c: &Connection, sql: &'static str, expected: &str) {
        let told = Stopped::ask(c, sql);
        assert_eq!(told.recv_timeout(WAITS), Err(RecvTimeoutError::Timeout), "{sql}");
        self.go_on.send(()).expect("the log waits");
        assert_eq!(told.recv_timeout(PATIENCE).as_deref(), Ok(expected), "{sql}");
        self.committed.join().expect("it commits");
    }

    /// A transaction that has met the row of key 1, and sees the commit.
    fn met(&self) -> Connection {
        let c = self.database.connect();
        Stopped::at_once(&c, "begin", "BEGIN");
        Stopped::at_once(&c, "update t set v = v + 1 where k = 1", "UPDATE 1");
        c
    }
}

#[test]
fn statements_that_do_not_meet_the_commit_are_answered_at_once() {
    let stopped = Stopped::new();
    let c = stopped.database.connect();
    Stopped::at_once(&c, "begin", "BEGIN");
    Stopped::at_once(&c, "select v from t where k = 1", "10");
    Stopped::at_once(&c, "update t set v = v + 1 where k = 2 returning v", "21");
    Stopped::at_once(&c, "insert into t values (4, 40)", "INSERT 1");
    Stopped::at_once(&c, "delete from t where k = 3", "DELETE 1");
    Stopped::at_once(&c, "select k, v from t order by k", "1|10\n2|21\n4|40");
    stopped.waits(&c, "commit", "COMMIT");
    assert_eq!(rows(&c, "select k, v from t order by k"), "1|11\n2|21\n4|40");
}

#[test]
fn numbers_of_rows_are_told_at_once() {
    let stopped = Stopped::new();
    let c = stopped.met();
    Stopped::at_once(&c, "update t set v = v + 1 where k = 1", "UPDATE 1");
    Stopped::at_once(&c, "insert into t values (5, 50)", "INSERT 1");
    Stopped::at_once(&c, "savepoint s", "SAVEPOINT");
    Stopped::at_once(&c, "delete from t where k = 1", "DELETE 1");
    Stopped::at_once(&c, "rollback to s", "ROLLBACK");
    stopped.waits(&c, "commit", "COMMIT");
    assert_eq!(rows(&c, "select v from t where k = 1"), "13");
}

#[test]
fn rows_wait_for_the_commit_that_they_show() {
    let stopped = Stopped::new();
    let c = stopped.met();
    stopped.waits(&c, "select v from t where k = 1", "12");
    let stopped = Stopped::new();
    let c = stopped.met();
    stopped.waits(&c, "update t set v = v + 1 where k = 1 returning v", "13");
    let stopped = Stopped::new();
    let c = stopped.met();
    stopped.waits(&c, "declare c cursor for select v from t", "DECLARE CURSOR");
    let stopped = Stopped::new();
    let c = stopped.met();
    stopped.waits(
        &c,
        "with w as (delete from t where k = 3 returning k) select v from t where k = 1",
        "12",
    );
}

#[test]
fn errors_and_the_end_of_a_transaction_wait_for_what_it_saw() {
    let stopped = Stopped::new();
    let c = stopped.met();
    stopped.waits(&c, "insert into t values (1, 0)", "23505");
    let stopped = Stopped::new();
    let c = stopped.met();
    stopped.waits(&c, "rollback", "ROLLBACK");
    let stopped = Stopped::new();
    let c = stopped.met();
    stopped.waits(&c, "select nothing", "42703");
}

/// The session that has a row locked sees what the one that locked it before has inserted, although readers do not see
/// that yet.
#[test]
fn the_next_one_that_locks_a_row_sees_the_commit_of_the_last_one() {
    let stopped = Stopped::new();
    let d = stopped.database.connect();
    rows(
        &d,
        "begin; select v from t where k = 2 for update; insert into t values (4, 40)",
    );
    let committed = Stopped::ask(&d, "commit");
    assert_eq!(committed.recv_timeout(WAITS), Err(RecvTimeoutError::Timeout));
    let c = stopped.database.connect();
    Stopped::at_once(&c, "begin", "BEGIN");
    Stopped::at_once(&c, "select count(*) from t", "3");
    Stopped::at_once(&c, "select v from t where k = 2 for update", "20");
    stopped.waits(&c, "select count(*) from t", "4");
    assert_eq!(committed.recv_timeout(PATIENCE).as_deref(), Ok("COMMIT"));
}
