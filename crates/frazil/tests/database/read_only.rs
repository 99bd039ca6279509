//! Databases that are opened to be read: by several, and without a trace.

use crate::{directory, rows, state};
use frazil::{Access, Connection, Database, Error, Opening, SqlState};
use frazil_testkit::SimVfs;
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::time::{Duration, SystemTime};

const ANSWERS: &str = "select k, v, s from t order by k";

fn open(sim: &SimVfs, access: Access) -> Result<Connection, Error> {
    Database::open_over_as(sim.vfs(), Path::new("/db"), &Opening::to(access)).map(|d| d.connect())
}

/// A table with keys, a view, blocks, deleted rows and, in the log behind the checkpoint, a load, changes and another table.
fn fill(c: &Connection) {
    rows(
        c,
        "set frazil.freeze_after = off; set max_wal_size = off; \
         create table t (k integer primary key, v integer check (v >= 0), s text); create index on t (v); \
         create view w as select count(*) as n from t; \
         insert into t values (1, 1, 'one'), (2, 2, null), (3, 3, 'three'); freeze table t; delete from t where k = 2; checkpoint; \
         insert into t values (4, 4, 'four'); update t set v = 10 where k = 3; create table u as select * from t; freeze table u",
    );
}

#[test]
fn several_read_what_a_killed_writer_left_on_a_medium_that_takes_no_changes() {
    let sim = SimVfs::new(3);
    let writer = open(&sim, Access::Write).expect("it opens");
    fill(&writer);
    let expected = rows(&writer, ANSWERS);
    let sim = sim.restart_after_kill();
    sim.set_medium(Access::Read);
    let before = sim.used();
    let readers: Vec<Connection> = (0..3)
        .map(|_| open(&sim, Access::Read).expect("it opens"))
        .collect();
    for reader in &readers {
        assert!(reader.database().is_read_only());
        assert_eq!(rows(reader, ANSWERS), expected);
        assert_eq!(rows(reader, "select s from t where k = 4"), "four");
        assert_eq!(rows(reader, "select n from w"), "3");
        assert_eq!(rows(reader, "select count(*), sum(v) from u"), "3|15");
        assert_eq!(rows(reader, "select recovered_commits from frazil_wal"), "4");
        assert_eq!(
            reader.verify().expect("it reads all").findings,
            Vec::<String>::new()
        );
    }
    let changes = ["write", "create", "rename", "remove"];
    let changed = sim
        .trace()
        .into_iter()
        .find(|line| changes.iter().any(|c| line.starts_with(c)));
    assert_eq!(changed, None);
    assert_eq!(sim.used(), before);
    // The writer need not wait until they are gone, and each closes by itself.
    sim.set_medium(Access::Write);
    let writer = open(&sim, Access::Write).expect("nobody keeps it away");
    rows(&writer, "insert into t values (5, 5, 'five')");
    for reader in readers {
        assert_eq!(rows(&reader, "select n from w"), "4");
        reader.database().clone().close().expect("it closes");
        assert_eq!(state(&reader, "select 1"), SqlState::CONNECTION_DOES_NOT_EXIST);
    }
    let error = open(&sim, Access::Write)
        .map(drop)
        .expect_err("it is being written");
    assert_eq!(error.state(), SqlState::OBJECT_IN_USE);
    assert!(error.message().contains("in use by process"), "{error}");
    // A process that salvages what is there keeps writers away, and a writer keeps it away.
    let salvaging = Opening {
        salvages: true,
        ..Opening::to(Access::Read)
    };
    let salvage = || Database::open_over_as(sim.vfs(), Path::new("/db"), &salvaging);
    let error = salvage().expect_err("it is being written");
    assert_eq!(error.state(), SqlState::OBJECT_IN_USE);
    writer.database().clone().close().expect("it closes");
    let salvaged = salvage().expect("nobody writes");
    let error = open(&sim, Access::Write).map(drop).expect_err("it is being read");
    assert!(
        error.message().contains("being read by other processes"),
        "{error}"
    );
    assert_eq!(rows(&salvaged.connect(), "select n from w"), "4");
}

#[test]
fn whatever_would_write_is_refused() {
    let sim = SimVfs::new(3);
    fill(&open(&sim, Access::Write).expect("it opens"));
    let c = open(&sim, Access::Read).expect("it opens");
    for sql in [
        "insert into t values (9, 9, '')",
        "insert into t select k + 10, v, s from t",
        "update t set v = 1 where k = 1",
        "update t set v = v + 1",
        "delete from t",
        "delete from t where k = 1",
        "truncate t",
        "create table x (a integer)",
        "create table x as select 1 as a",
        "create view x as select 1 as a",
        "create index on t (s)",
        "alter table t add a integer",
        "drop table t cascade",
        "drop view w",
        "freeze table t",
        "checkpoint",
        "backup to '/copy'",
        "copy t from '/dev/null'",
    ] {
        assert_eq!(state(&c, sql), SqlState::READ_ONLY_TRANSACTION, "{sql}");
    }
    let insert = c.prepare("insert into t values ($1, 1, '')").expect("it parses");
    let refused = insert
        .execute(&[frazil::RawValue::Int(9)])
        .expect_err("nothing is written");
    assert_eq!(refused.state(), SqlState::READ_ONLY_TRANSACTION);
    assert!(c.appender("t").is_err());
    // In a transaction it is an error like others.
    rows(&c, "begin");
    assert_eq!(rows(&c, "select count(*) from t"), "3");
    assert_eq!(state(&c, "delete from t"), SqlState::READ_ONLY_TRANSACTION);
    assert_eq!(state(&c, "select 1"), SqlState::IN_FAILED_TRANSACTION);
    rows(&c, "rollback; begin; savepoint a");
    assert_eq!(state(&c, "delete from t"), SqlState::READ_ONLY_TRANSACTION);
    assert_eq!(rows(&c, "rollback to a; select count(*) from t"), "3");
    rows(&c, "commit; set threads = 1; set frazil.freeze_after = '1ms'");
    // Nothing is done in the background either.
    std::thread::sleep(Duration::from_millis(1_200));
    assert_eq!(rows(&c, "show frazil.background_failures"), "0");
    assert_eq!(rows(&c, "select count(*), sum(v) from t"), "3|15");
}

/// All files below a directory: their bytes, and when they were changed last.
fn files(path: &Path) -> BTreeMap<PathBuf, (Vec<u8>, SystemTime)> {
    let mut found = BTreeMap::new();
    for entry in std::fs::read_dir(path).expect("it is there") {
        let path = entry.expect("it can be read").path();
        match path.is_dir() {
            true => found.extend(files(&path)),
            false => {
                let changed = path
                    .metadata()
                    .and_then(|m| m.modified())
                    .expect("the system knows");
                found.insert(
                    path.clone(),
                    (std::fs::read(&path).expect("it can be read"), changed),
                );
            }
        }
    }
    found
}

#[test]
fn files_stay_as_they_are() {
    let path = directory("read-only");
    let writer = Database::open(&path).expect("it opens");
    fill(&writer.connect());
    // What a crash leaves.
    let crashed = directory("read-only-crashed");
    crate::directories::copy_all(&path, &crashed);
    std::fs::write(crashed.join("segments/00000099.seg"), b"a leftover").expect("it can be written");
    std::fs::remove_file(crashed.join("lock")).expect("it is there");
    let before = files(&path);
    let reader = Database::open_read_only(&path).expect("it may be written meanwhile");
    assert_eq!(rows(&reader.connect(), ANSWERS), rows(&writer.connect(), ANSWERS));
    drop(reader);
    assert!(files(&path) == before);
    drop(writer);
    for path in [&path, &crashed] {
        let before = files(path);
        let first = Database::open_read_only(path).expect("it opens");
        let second = Database::open_read_only(path).expect("it opens");
        assert_eq!(rows(&first.connect(), ANSWERS), rows(&second.connect(), ANSWERS));
        assert_eq!(rows(&first.connect(), "select count(*), sum(v) from u"), "3|15");
        drop(first);
        second.close().expect("it closes");
        assert!(files(path) == before);
        Database::open(path)
            .expect("it opens")
            .close()
            .expect("it closes");
        let _ = std::fs::remove_dir_all(path);
    }
}

#[test]
fn what_is_read_must_be_there() {
    let path = directory("read-only-absent");
    let refused = |path: &Path| Database::open_read_only(path).expect_err("it is not there");
    let error = refused(&path);
    assert_eq!(error.state(), SqlState::UNDEFINED_FILE);
    assert!(
        error.message().contains("does not exist") && !path.exists(),
        "{error}"
    );
    std::fs::create_dir(&path).expect("it can be made");
    let error = refused(&path);
    assert_eq!(error.state(), SqlState::UNDEFINED_FILE);
    assert!(error.message().contains("holds no database"), "{error}");
    assert!(std::fs::read_dir(&path).expect("it is there").next().is_none());
    std::fs::write(path.join("letter.txt"), b"").expect("it can be written");
    let error = refused(&path);
    assert_eq!(error.state(), SqlState::INVALID_PARAMETER);
    assert!(error.message().contains("letter.txt"), "{error}");
    for memory in ["", ":memory:"] {
        assert_eq!(refused(Path::new(memory)).state(), SqlState::INVALID_PARAMETER);
    }
    let _ = std::fs::remove_dir_all(&path);
}

#[test]
fn directories_of_older_formats_are_read_and_stay_as_they_are() {
    for version in 1..=5 {
        let path = directory(&format!("read-only-golden-{version}"));
        let golden = format!("tests/golden/directory_v{version}");
        crate::directories::copy_all(&Path::new(env!("CARGO_MANIFEST_DIR")).join(golden), &path);
        let before = files(&path);
        let found = Database::inspect(&path, &frazil::Cancel::new(), &|_, _| ()).expect("nobody writes it");
        assert_eq!(found.findings, Vec::<String>::new(), "version {version}");
        let database = Database::open_read_only(&path).expect("it opens");
        let c = database.connect();
        assert_eq!(
            rows(&c, "select count(*), sum(id), min(price) from goods"),
            "597|180567|-4.99",
            "version {version}"
        );
        assert_eq!(c.verify().expect("it reads all").findings, Vec::<String>::new());
        assert_eq!(state(&c, "delete from goods"), SqlState::READ_ONLY_TRANSACTION);
        drop((c, found));
        database.close().expect("it closes");
        assert!(files(&path) == before, "version {version}");
        let _ = std::fs::remove_dir_all(&path);
    }
}
