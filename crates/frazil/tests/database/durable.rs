//! When commits are durable, and what tells of it: settings, system tables, a log that fails.

use crate::{directory, memory, rows, state};
use frazil::{Connection, Database, SqlState};
use frazil_testkit::{Failure, SimVfs};
use std::path::Path;
use std::time::{Duration, Instant};

fn wait_until(what: &str, mut holds: impl FnMut() -> bool) {
    let start = Instant::now();
    while !holds() {
        assert!(start.elapsed() < Duration::from_secs(60), "{what}");
        std::thread::sleep(Duration::from_millis(10));
    }
}

fn over(sim: &SimVfs) -> Connection {
    Database::open_over(sim.vfs(), Path::new("/db"))
        .expect("it opens")
        .connect()
}

#[test]
fn set_local_ends_with_its_transaction_and_with_its_savepoint() {
    let c = memory();
    let shown = |c: &Connection| rows(c, "show synchronous_commit");
    rows(&c, "set local synchronous_commit = off");
    assert_eq!(shown(&c), "on");
    for end in ["commit", "rollback"] {
        rows(
            &c,
            "begin; set local synchronous_commit = off; set local lock_timeout = '1s'",
        );
        assert_eq!(shown(&c), "off");
        rows(&c, end);
        assert_eq!(
            (shown(&c), rows(&c, "show lock_timeout")),
            ("on".into(), "10s".into())
        );
    }
    rows(
        &c,
        "begin; savepoint a; set local synchronous_commit = off; savepoint b; set local threads = 1; rollback to b",
    );
    assert_eq!(shown(&c), "off");
    rows(&c, "rollback to a");
    assert_eq!(shown(&c), "on");
    // SET outlives the transaction, also after SET LOCAL; an error ends what was local as well.
    rows(
        &c,
        "set local synchronous_commit = off; set synchronous_commit = off; commit",
    );
    assert_eq!(shown(&c), "off");
    rows(
        &c,
        "set synchronous_commit = default; begin; set local synchronous_commit = off",
    );
    assert_eq!(state(&c, "select 1 / 0"), SqlState::DIVISION_BY_ZERO);
    rows(&c, "rollback");
    assert_eq!(shown(&c), "on");
    rows(&c, "begin");
    assert_eq!(
        state(&c, "set local memory_limit = '1GB'"),
        SqlState::FEATURE_NOT_SUPPORTED
    );
    rows(&c, "rollback");
    assert_eq!(
        state(&c, "set synchronous_commit = sometimes"),
        SqlState::INVALID_PARAMETER
    );
}

#[test]
fn what_nobody_waits_for_is_durable_before_long() {
    let sim = SimVfs::new(1);
    let c = over(&sim);
    rows(&c, "set frazil.freeze_after = off; create table t (a integer)");
    let wal = |what: &str| rows(&c, &format!("select {what} from frazil_wal"));
    assert_eq!(wal("durable_lsn = end_lsn and failure is null"), "t");
    let groups: u64 = wal("groups").parse().expect("a number");
    rows(&c, "set synchronous_commit = off");
    for i in 0..20 {
        rows(&c, &format!("insert into t values ({i})"));
    }
    assert_eq!(wal("records"), "21");
    wait_until("it is durable", || wal("durable_lsn = end_lsn") == "t");
    let written: u64 = wal("groups").parse().expect("a number");
    assert!(written < groups + 20, "{written} groups");
    let sim = sim.restart_after_power_cut();
    let c = over(&sim);
    assert_eq!(rows(&c, "select count(*) from t"), "20");
    assert_eq!(
        rows(&c, "select recovered_commits, recovered_rows from frazil_wal"),
        "21|20"
    );
}

#[test]
fn checkpoints_come_by_the_size_of_the_log_and_free_it() {
    let path = directory("by-size");
    let database = Database::open(&path).expect("it opens");
    let c = database.connect();
    assert_eq!(
        (rows(&c, "show max_wal_size"), rows(&c, "show checkpoint_timeout")),
        ("64MB".into(), "5min".into())
    );
    rows(
        &c,
        "create table t (a integer, b text); set max_wal_size = '100kB'",
    );
    let insert = c
        .prepare("insert into t values (1, repeat('x', 2000))")
        .expect("it parses");
    let by_size = || {
        let count = "select count(*) from frazil_checkpoints where cause = 'size'";
        rows(&c, count).parse::<u64>().expect("a number")
    };
    let mut inserted = 0;
    wait_until("there are checkpoints", || {
        for _ in 0..40 {
            insert.execute(()).expect("it fits");
        }
        inserted += 40;
        by_size() >= 3
    });
    let shown = "select min(number) = 1, min(blocks) >= 0, min(milliseconds) >= 0, max(lsn) > 0 from frazil_checkpoints";
    assert_eq!(rows(&c, shown), "t|t|t|t");
    rows(&c, "set max_wal_size = off; set checkpoint_timeout = '1ms'");
    rows(&c, "insert into t values (0, '')");
    wait_until("there is one by time", || {
        rows(
            &c,
            "select count(*) > 0 from frazil_checkpoints where cause = 'time'",
        ) == "t"
    });
    // Freed files of the log are used again or removed.
    let files = std::fs::read_dir(path.join("log")).expect("it is there").count();
    assert!(files <= 6, "{files} files");
    assert_eq!(rows(&c, "show frazil.background_failures"), "0");
    drop((insert, c));
    database.close().expect("it closes");
    let c = Database::open(&path).expect("it opens").connect();
    assert_eq!(rows(&c, "select count(*) from t"), (inserted + 1).to_string());
    assert_eq!(rows(&c, "select recovered_commits from frazil_wal"), "0");
    let c = memory();
    for table in ["frazil_wal", "frazil_checkpoints"] {
        assert_eq!(rows(&c, &format!("select count(*) from {table}")), "0");
    }
}

#[test]
fn a_sync_that_fails_ends_writing_and_not_reading() {
    for seed in 0..6 {
        let sim = SimVfs::new(seed);
        let c = over(&sim);
        rows(
            &c,
            "set frazil.freeze_after = off; create table t (a integer primary key); insert into t values (1)",
        );
        let other = c.database().connect();
        sim.fail_at(sim.operations() + 1, Failure::Undone);
        assert_eq!(
            state(&c, "insert into t values (2)"),
            SqlState::TRANSACTION_RESOLUTION_UNKNOWN
        );
        for connection in [&c, &other] {
            assert_eq!(rows(connection, "select a from t"), "1");
            assert_eq!(state(connection, "insert into t values (3)"), SqlState::IO_ERROR);
            // Not even an error tells of what may be lost.
            assert_eq!(state(connection, "insert into t values (2)"), SqlState::IO_ERROR);
            assert_eq!(state(connection, "begin; update t set a = 7"), SqlState::IO_ERROR);
            assert_eq!(rows(connection, "rollback"), "ROLLBACK");
            assert_eq!(
                state(connection, "create table u (a integer)"),
                SqlState::IO_ERROR
            );
        }
        assert!(rows(&other, "select failure from frazil_wal").contains("could not sync"));
        // What is durable can be closed, and opened again.
        c.database().clone().close().expect("it closes");
        let c = over(&sim);
        let found = rows(&c, "select count(*) from t");
        assert!(found == "1" || found == "2", "{found}");
        rows(&c, "insert into t values (3)");
        assert_eq!(rows(&c, "select max(a) from t"), "3");
    }
}

#[test]
fn a_full_disk_refuses_a_commit_and_heals() {
    let sim = SimVfs::new(3);
    let c = over(&sim);
    rows(
        &c,
        "set frazil.freeze_after = off; create table t (a integer, b text)",
    );
    sim.set_capacity(sim.used() + 100_000);
    let mut kept = 0;
    let refused = loop {
        match c.execute("insert into t values (1, repeat('y', 5000))") {
            Ok(_) => kept += 1,
            Err(e) => break e,
        }
    };
    assert_eq!(refused.state(), SqlState::DISK_FULL, "{refused:?}");
    assert_eq!(rows(&c, "select count(*) from t"), kept.to_string());
    sim.set_capacity(u64::MAX);
    rows(&c, "insert into t values (2, 'room')");
    let c = over(&sim.restart_after_power_cut());
    assert_eq!(
        rows(&c, "select count(*), max(a) from t"),
        format!("{}|2", kept + 1)
    );
}
