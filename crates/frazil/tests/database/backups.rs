//! BACKUP TO: a directory with what was committed, made beside those who write.

use crate::{memory, rows, state};
use frazil::{Connection, Database, SqlState};
use frazil_testkit::SimVfs;
use frazil_testkit::sim_vfs::FAILURES;
use std::path::Path;
use std::sync::atomic::{AtomicBool, Ordering};

fn open(sim: &SimVfs, path: &str) -> Connection {
    Database::open_over(sim.vfs(), Path::new(path))
        .expect("it opens")
        .connect()
}

const SETUP: &str = "set frazil.freeze_after = off; create table t (k integer primary key, v integer check (v >= 0), s text); \
    create view w as select count(*) as n from t; insert into t select x * 10 + y, y, 'text ' || x from \
    (values (0), (1), (2), (3), (4)) a (x), (values (0), (1), (2), (3), (4), (5), (6)) b (y); freeze table t; \
    delete from t where k % 4 = 1; insert into t values (100, 1, null)";

fn answer(c: &Connection) -> String {
    rows(c, "select k, v, s from t order by k") + &rows(c, "select n from w")
}

#[test]
fn a_backup_is_a_database_of_its_own() {
    let sim = SimVfs::new(2);
    let c = open(&sim, "/db");
    rows(&c, SETUP);
    let before = answer(&c);
    assert_eq!(rows(&c, "backup to '/backups/one'"), "BACKUP");
    assert_eq!(rows(&c, "select cause from frazil_checkpoints"), "backup");
    rows(&c, "update t set v = 7; drop view w");
    let copy = open(&sim, "/backups/one");
    assert_eq!(answer(&copy), before);
    assert_eq!(
        state(&copy, "insert into t values (100, 1, '')"),
        SqlState::UNIQUE_VIOLATION
    );
    assert_eq!(
        state(&copy, "insert into t values (101, -1, '')"),
        SqlState::CHECK_VIOLATION
    );
    rows(&copy, "insert into t values (101, 1, 'new')");
    // It is durable, has a log of its own, and can be copied in its turn.
    rows(&copy, "backup to '/backups/two'");
    let sim = sim.restart_after_power_cut();
    for path in ["/backups/one", "/backups/two"] {
        let copy = open(&sim, path);
        assert_eq!(rows(&copy, "select s from t where k = 101"), "new");
        assert_eq!(rows(&copy, "select count(*) from t"), "29");
    }
    assert_eq!(
        rows(&open(&sim, "/db"), "select min(v), max(v), count(*) from t"),
        "7|7|28"
    );
}

#[test]
fn what_holds_something_is_not_overwritten() {
    let sim = SimVfs::new(2);
    let c = open(&sim, "/db");
    rows(&c, SETUP);
    rows(&c, "backup to '/one'");
    for to in ["/one", "/db", "/db/segments", "/"] {
        assert_eq!(
            state(&c, &format!("backup to '{to}'")),
            SqlState::INVALID_PARAMETER,
            "{to}"
        );
    }
    for broken in [
        "backup",
        "backup to",
        "backup to x",
        "backup 'x'",
        "backup to 'x' y",
    ] {
        assert_eq!(state(&c, broken), SqlState::SYNTAX_ERROR, "{broken}");
    }
    rows(&c, "begin");
    assert_eq!(state(&c, "backup to '/two'"), SqlState::ACTIVE_TRANSACTION);
    rows(&c, "rollback");
    assert_eq!(
        state(&memory(), "backup to '/two'"),
        SqlState::FEATURE_NOT_SUPPORTED
    );
}

#[test]
fn commits_go_on_beside_a_backup() {
    let sim = SimVfs::new(4);
    let c = open(&sim, "/db");
    rows(
        &c,
        "set max_wal_size = '100kB'; set frazil.freeze_after = '1ms'; create table t (k integer primary key)",
    );
    let is_over = AtomicBool::new(false);
    std::thread::scope(|scope| {
        let (c, is_over) = (&c, &is_over);
        let _ends = Ends(is_over);
        scope.spawn(move || {
            let c = c.database().connect();
            for k in 0.. {
                rows(&c, &format!("insert into t values ({k})"));
                if is_over.load(Ordering::Relaxed) {
                    break;
                }
            }
        });
        let c = c.database().connect();
        for n in 0..8 {
            let least: i64 = rows(&c, "select count(*) from t").parse().expect("a number");
            rows(&c, &format!("backup to '/b{n}'"));
            let most: i64 = rows(&c, "select count(*) from t").parse().expect("a number");
            // A prefix of what was committed.
            let found = rows(
                &open(&sim, &format!("/b{n}")),
                "select count(*), coalesce(max(k), -1) + 1 from t",
            );
            let (count, next) = found.split_once('|').expect("two numbers");
            let count: i64 = count.parse().expect("a number");
            assert!(
                count.to_string() == next && (least..=most).contains(&count),
                "{least} {found} {most}"
            );
        }
    });
}

/// Says that it is over when the test ends, also with a panic.
struct Ends<'a>(&'a AtomicBool);

impl Drop for Ends<'_> {
    fn drop(&mut self) {
        self.0.store(true, Ordering::Relaxed);
    }
}

#[test]
fn a_backup_that_fails_is_none() {
    let (mut whole, mut failed) = (0, 0);
    for failure in FAILURES {
        for nth in (0..60).step_by(3) {
            let sim = SimVfs::new(nth);
            let c = open(&sim, "/db");
            rows(&c, "set max_wal_size = off; set checkpoint_timeout = off");
            rows(&c, SETUP);
            let expected = answer(&c);
            sim.fail_at(sim.operations() + nth, failure);
            let made = c.execute("backup to '/copies/one'");
            sim.heal();
            if let Err(e) = &made {
                assert!(e.message().contains(" \"/"), "{e:?}");
            }
            let sim = sim.restart_after_power_cut();
            let copy = Database::open_over(sim.vfs(), Path::new("/copies/one"));
            match made {
                Ok(_) => {
                    assert_eq!(answer(&copy.expect("it opens").connect()), expected);
                    whole += 1;
                }
                // The whole backup, an empty database or none.
                Err(_) => {
                    let found = copy.map(|copy| copy.connect().execute("select k from t").is_ok());
                    if found.is_ok_and(|has_table| has_table) {
                        let copy = open(&sim.restart_after_kill(), "/copies/one");
                        assert_eq!(answer(&copy), expected);
                    }
                    failed += 1;
                }
            }
        }
    }
    assert!(whole > 20 && failed > 20, "{whole} {failed}");
}

/// The log names the blocks of a load: a backup has them, those that come while it is made belong to the original alone.
#[test]
fn a_backup_has_the_loads_that_only_the_log_names() {
    let sim = SimVfs::new(6);
    let c = open(&sim, "/db");
    let digits = "(values (0), (1), (2), (3), (4), (5), (6), (7), (8), (9))";
    rows(
        &c,
        &format!(
            "set max_wal_size = off; set frazil.freeze_after = off; create table t (k integer primary key, s text); \
             create table n (a integer); insert into n select a.x * 10 + b.x from {digits} a (x), {digits} b (x)"
        ),
    );
    let load = |from: u32| {
        let rows_of = "select a.a * 10000 + b.a * 100 + c.a, 'text ' || c.a from n a, n b, n c where a.a";
        format!("insert into t {rows_of} between {from} and {}", from + 6)
    };
    rows(&c, &load(0));
    rows(&c, "delete from t where k % 100 = 7");
    assert_eq!(rows(&c, "select count(*) from frazil_checkpoints"), "0");
    let before = rows(&c, "select count(*), sum(k), min(s), max(s) from t");
    rows(&c, "backup to '/one'");
    rows(&c, &load(7));
    rows(&c, "backup to '/two'");
    let after = rows(&c, "select count(*), sum(k), min(s), max(s) from t");
    let sim = sim.restart_after_power_cut();
    for (path, expected) in [("/one", &before), ("/two", &after), ("/db", &after)] {
        let c = open(&sim, path);
        assert_eq!(
            &rows(&c, "select count(*), sum(k), min(s), max(s) from t"),
            expected,
            "{path}"
        );
        assert_eq!(rows(&c, "select s from t where k = 10108"), "text 8");
        assert_eq!(c.verify().expect("it reads all").findings, Vec::<String>::new());
        let to = format!("/copies{path}");
        rows(&c, &format!("backup to '{to}'; checkpoint"));
        let copy = open(&sim, &to);
        assert_eq!(
            &rows(&copy, "select count(*), sum(k), min(s), max(s) from t"),
            expected,
            "{path}"
        );
    }
}
