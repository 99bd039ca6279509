//! Places that databases do not like: paths that are not UTF-8, media that take no changes, file systems without locks, files of a later version,
//! copies of a directory that was open, and a process without descriptors. Each is told by name, or harms nothing.

use crate::{directory, rows, state};
use frazil::{Access, Connection, Database, Error, Opening, SqlState};
use frazil_testkit::{Random, SimVfs};
use frazil_vfs::Vfs;
use std::ffi::OsStr;
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, Ordering};

fn open(sim: &SimVfs, access: Access) -> Result<Connection, Error> {
    Database::open_over_as(sim.vfs(), Path::new("/db"), &Opening::to(access)).map(|d| d.connect())
}

fn refused(opened: Result<Connection, Error>) -> Error {
    opened.map(drop).expect_err("it does not open")
}

/// A database with a segment and a log behind its checkpoint, whose process was killed.
fn killed() -> SimVfs {
    let sim = SimVfs::new(11);
    let c = open(&sim, Access::Write).expect("it opens");
    rows(
        &c,
        "set frazil.freeze_after = off; set max_wal_size = off; create table t (k integer primary key, s text); \
         insert into t values (1, 'one'), (2, 'two'); freeze table t; checkpoint; insert into t values (3, 'three')",
    );
    sim.restart_after_kill()
}

#[test]
fn a_path_need_not_be_utf8() {
    let above = directory("not-utf8");
    std::fs::create_dir(&above).expect("it can be made");
    let path = above.join(OsStr::from_bytes(b"d\xff\xfeb"));
    let database = Database::open(&path).expect("it opens");
    let c = database.connect();
    rows(
        &c,
        "create table t (a integer primary key); insert into t values (1); freeze table t; insert into t values (2)",
    );
    let error = Database::open(&path).expect_err("it is open");
    assert_eq!(error.state(), SqlState::OBJECT_IN_USE);
    assert!(error.message().contains("d\u{fffd}\u{fffd}b"), "{error}");
    drop(c);
    database.close().expect("it closes");
    for access in [Access::Read, Access::Write] {
        let database = Database::open_as(&path, &Opening::to(access)).expect("it opens");
        assert_eq!(rows(&database.connect(), "select count(*), sum(a) from t"), "2|3");
    }
    let segment = std::fs::read_dir(path.join("segments"))
        .expect("it is there")
        .next();
    let segment = segment.expect("there is one").expect("it can be read").path();
    std::fs::write(&segment, b"nothing").expect("it can be written");
    let database = Database::open(&path).expect("it opens without the table");
    let error = database
        .connect()
        .execute("select a from t")
        .expect_err("a segment is damaged");
    assert_eq!(error.state(), SqlState::DATA_CORRUPTED);
    assert!(error.message().contains("d\u{fffd}\u{fffd}b/segments"), "{error}");
    let _ = std::fs::remove_dir_all(&above);
}

#[test]
fn a_medium_that_takes_no_changes_says_so() {
    let sim = SimVfs::new(2);
    sim.set_medium(Access::Read);
    let error = refused(open(&sim, Access::Write));
    assert_eq!(error.state(), SqlState::IO_ERROR);
    assert!(
        error.message().contains("\"/db\"") && error.message().contains("read-only"),
        "{error}"
    );
    let sim = killed();
    sim.set_medium(Access::Read);
    let error = refused(open(&sim, Access::Write));
    assert_eq!(error.state(), SqlState::IO_ERROR);
    assert!(error.message().contains("\"/db"), "{error}");
    assert!(
        error
            .hint()
            .is_some_and(|hint| hint.contains("open it read-only")),
        "{error:?}"
    );
    assert!(
        error
            .hint()
            .is_some_and(|hint| hint.contains("open it read-only")),
        "{error:?}"
    );
    assert_eq!(
        rows(
            &open(&sim, Access::Read).expect("it can be read"),
            "select count(*) from t"
        ),
        "3"
    );
    // It becomes one while the database is open, as a file system does whose disk fails.
    sim.set_medium(Access::Write);
    let c = open(&sim, Access::Write).expect("it opens");
    sim.set_medium(Access::Read);
    let error = c
        .execute("insert into t values (4, 'four')")
        .map(drop)
        .expect_err("nothing is written");
    let codes = [SqlState::IO_ERROR, SqlState::TRANSACTION_RESOLUTION_UNKNOWN];
    assert!(
        codes.contains(&error.state()) && error.message().contains("\"/db/log"),
        "{error:?}"
    );
    assert_eq!(rows(&c, "select count(*) from t"), "3");
    drop(c);
    sim.set_medium(Access::Write);
    let sim = sim.restart_after_kill();
    assert_eq!(
        rows(
            &open(&sim, Access::Write).expect("it opens"),
            "select count(*) from t"
        ),
        "3"
    );
}

#[test]
fn a_file_system_without_locks_is_not_written() {
    let sim = killed();
    sim.set_has_locks(false);
    let error = refused(open(&sim, Access::Write));
    assert_eq!(error.state(), SqlState::IO_ERROR);
    assert!(error.message().contains("\"/db\" cannot lock files"), "{error}");
    assert!(
        error
            .hint()
            .is_some_and(|hint| hint.contains("put it on a file system")),
        "{error:?}"
    );
    // A reader locks nothing.
    assert_eq!(
        rows(
            &open(&sim, Access::Read).expect("it opens"),
            "select count(*) from t"
        ),
        "3"
    );
    sim.set_has_locks(true);
    assert_eq!(
        rows(
            &open(&sim, Access::Write).expect("it opens"),
            "select count(*) from t"
        ),
        "3"
    );
}

#[test]
fn files_of_a_later_version_are_named() {
    let files = |sim: &SimVfs, directory: &str| {
        let names = sim.list(Path::new(directory)).expect("it is there").into_iter();
        let mut files: Vec<PathBuf> = names.map(|name| Path::new(directory).join(name)).collect();
        files.retain(|path| sim.read(path).is_some_and(|bytes| bytes[0] != 0));
        files
    };
    let good = killed();
    let kinds = [
        (
            vec![PathBuf::from("/db/manifest")],
            "frazil manifest 7",
            "frazil manifest 99 ",
            SqlState::FEATURE_NOT_SUPPORTED,
        ),
        (
            files(&good, "/db/log"),
            "frazil log v3",
            "frazil log v9",
            SqlState::FEATURE_NOT_SUPPORTED,
        ),
        (
            files(&good, "/db/segments"),
            "frazil segment 1",
            "frazil segment 9",
            SqlState::DATA_CORRUPTED,
        ),
    ];
    for (files, ours, later, expected) in kinds {
        assert!(!files.is_empty());
        for file in files {
            let sim = good.copy(1);
            sim.tamper(&file, |bytes| {
                assert!(bytes.starts_with(ours.as_bytes()), "{}", file.display());
                bytes[..later.len()].copy_from_slice(later.as_bytes());
            });
            for access in [Access::Read, Access::Write] {
                let error = match expected {
                    // A segment of a later version is its table's damage.
                    SqlState::DATA_CORRUPTED => {
                        let c = open(&sim, access).expect("it opens without the table");
                        c.execute("select s from t").expect_err("its segment is not read")
                    }
                    _ => refused(open(&sim, access)),
                };
                assert_eq!(error.state(), expected, "{error}");
                let of_directory =
                    file.ends_with("manifest") && error.message().contains("\"/db\" has format version 99");
                assert!(
                    of_directory || error.message().contains(&format!("\"{}\"", file.display())),
                    "{error}"
                );
                assert!(error.message().contains("version"), "{error}");
            }
        }
    }
}

/// The files of a directory, one by one in any order, as somebody copies them who does not know BACKUP. A file may vanish meanwhile.
fn copy_in_any_order(from: &Path, to: &Path, random: &mut Random) {
    let mut files = vec![PathBuf::from("manifest")];
    for directory in ["segments", "log"] {
        let names = std::fs::read_dir(from.join(directory)).expect("it is there");
        files.extend(
            names
                .flatten()
                .map(|entry| Path::new(directory).join(entry.file_name())),
        );
        std::fs::create_dir_all(to.join(directory)).expect("it can be made");
    }
    while !files.is_empty() {
        let file = files.swap_remove(random.index(files.len()));
        let _ = std::fs::copy(from.join(&file), to.join(&file));
    }
}

/// Sets a flag when it is dropped.
struct SetOnDrop<'a>(&'a AtomicBool);

impl Drop for SetOnDrop<'_> {
    fn drop(&mut self) {
        self.0.store(true, Ordering::Relaxed);
    }
}

/// Opens a copy and checks that it holds what some commit left: rows without a gap, up to the one that the commit
/// noted. Returns the error that names a file which is missing or damaged.
fn whole_copy(copy: &Path) -> frazil::Result<()> {
    let c = Database::open(copy)?.connect();
    for table in ["t", "last"] {
        c.execute(&format!("select * from {table}"))?;
    }
    let found = rows(
        &c,
        "select count(*), max(t.k) - min(last.k), min(t.k) from t, last",
    );
    let count = found.split('|').next().unwrap_or_default();
    let whole = rows(
        &c,
        &format!("select count(*) = 0 or (max(k) = {count} - 1 and min(k) = 0) from t"),
    );
    assert_eq!(whole, "t", "{found}");
    assert_eq!(
        rows(&c, "select max(k) + 1 from last"),
        rows(&c, "select count(*) from t")
    );
    assert_eq!(c.verify().expect("it reads all").findings, Vec::<String>::new());
    Ok(())
}

#[test]
fn a_copy_of_an_open_directory_opens_with_what_some_commit_left_or_says_what_is_wrong() {
    let path = directory("copied");
    let database = Database::open(&path).expect("it opens");
    let c = database.connect();
    rows(
        &c,
        "set max_wal_size = '100kB'; set frazil.freeze_after = '1ms'; create table t (k integer primary key, s text); \
         create table last (k integer); insert into last values (-1)",
    );
    let is_over = AtomicBool::new(false);
    let (mut opened, mut told) = (0, 0);
    std::thread::scope(|scope| {
        // The writer ends even if a check below fails.
        let _over = SetOnDrop(&is_over);
        scope.spawn(|| {
            let c = database.connect();
            for k in 0.. {
                let text = "x".repeat(k as usize % 700);
                rows(
                    &c,
                    &format!("begin; insert into t values ({k}, '{text}'); update last set k = {k}; commit"),
                );
                if is_over.load(Ordering::Relaxed) {
                    break;
                }
            }
        });
        let mut random = Random::new(3);
        for n in 0..30 {
            std::thread::sleep(std::time::Duration::from_millis(20));
            let copy = directory(&format!("copied-{n}"));
            copy_in_any_order(&path, &copy, &mut random);
            match whole_copy(&copy) {
                Ok(()) => opened += 1,
                Err(e) => {
                    let codes = [SqlState::DATA_CORRUPTED, SqlState::UNDEFINED_FILE];
                    assert!(codes.contains(&e.state()), "{e:?}");
                    assert!(e.message().contains(&copy.display().to_string()), "{e}");
                    told += 1;
                }
            }
            let _ = std::fs::remove_dir_all(&copy);
        }
    });
    println!("{opened} copies open, {told} are refused");
    assert_eq!(
        state(&c, "insert into t values (0, '')"),
        SqlState::UNIQUE_VIOLATION
    );
    drop((c, database));
    let _ = std::fs::remove_dir_all(&path);
}
