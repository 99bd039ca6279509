//! Directories that a process opens several times.

use crate::{directory, rows, state};
use frazil::{Database, Error, FileAccess, OpenOptions, SharedDatabase, SqlState};
use std::path::Path;

fn open(path: &Path) -> SharedDatabase {
    OpenOptions::new().open_shared(path).expect("it opens")
}

fn refused(options: OpenOptions, path: &Path) -> Error {
    options.open_shared(path).map(drop).expect_err("it is refused")
}

#[test]
fn every_path_to_a_directory_leads_to_one_database() {
    let above = directory("sharing-paths");
    std::fs::create_dir(&above).expect("it can be made");
    let path = above.join("db");
    let first = open(&path);
    rows(&first.connect(), "create table t (a integer)");
    let link = above.join("link");
    std::os::unix::fs::symlink("db", &link).expect("it can be made");
    let others = [path.clone(), path.join(""), above.join("./db/../db"), link];
    let handles: Vec<_> = others.iter().map(|path| open(path)).collect();
    for handle in &handles {
        rows(&handle.connect(), "insert into t values (1)");
    }
    assert_eq!(rows(&first.connect(), "select count(*) from t"), "4");
    let elsewhere = open(&above.join("db2"));
    assert_eq!(state(&elsewhere.connect(), "table t"), SqlState::UNDEFINED_TABLE);
    // A session goes on until the last handle is closed.
    let session = first.connect();
    first.close().expect("it closes");
    for handle in handles {
        rows(&session, "insert into t values (1)");
        handle.close().expect("it closes");
    }
    assert_eq!(state(&session, "table t"), SqlState::CONNECTION_DOES_NOT_EXIST);
    // The directory is free for others than sharers.
    let alone = Database::open(&path).expect("nobody has it open");
    assert_eq!(rows(&alone.connect(), "select count(*) from t"), "8");
    let error = refused(OpenOptions::new(), &path);
    assert_eq!(error.state(), SqlState::OBJECT_IN_USE);
    alone.close().expect("it closes");
    open(&path).close().expect("it closes");
    let _ = std::fs::remove_dir_all(&above);
}

#[test]
fn other_options_are_refused_with_the_way_out() {
    let path = directory("sharing-options");
    let first = open(&path);
    rows(&first.connect(), "create table t (a integer)");
    let reading = || OpenOptions::new().read_only(true);
    let narrow = || OpenOptions::new().file_access(FileAccess::Off);
    for (options, how) in [(reading(), "for writing"), (narrow(), "with another file_access")] {
        let error = refused(options, &path);
        assert_eq!(error.state(), SqlState::OBJECT_IN_USE);
        let place = path.display().to_string();
        assert!(
            error.message().contains(&place) && error.message().contains(how),
            "{error}"
        );
        assert!(
            error.hint().is_some_and(|hint| hint.contains("close")),
            "{error:?}"
        );
    }
    first.close().expect("it closes");
    let readers = [(); 2].map(|()| reading().open_shared(&path).expect("it opens"));
    let error = refused(OpenOptions::new(), &path);
    assert!(error.message().contains("read-only"), "{error}");
    for reader in readers {
        assert_eq!(
            state(&reader.connect(), "insert into t values (1)"),
            SqlState::READ_ONLY_TRANSACTION
        );
        reader.close().expect("it closes");
    }
    open(&path).close().expect("it closes");
    let _ = std::fs::remove_dir_all(&path);
}

#[test]
fn a_database_outlives_its_handles_as_long_as_it_is_used() {
    let path = directory("sharing-dropped");
    let session = open(&path).connect();
    rows(&session, "create table t (a integer); insert into t values (1)");
    // No handle is left, but the session is.
    let again = open(&path);
    assert_eq!(rows(&again.connect(), "table t"), "1");
    drop(again);
    drop(session);
    let anew = Database::open(&path).expect("nobody has it open");
    assert_eq!(rows(&anew.connect(), "table t"), "1");
    drop(anew);
    let _ = std::fs::remove_dir_all(&path);
}

#[test]
fn a_directory_in_the_place_of_a_removed_one_is_another() {
    let path = directory("sharing-removed");
    let first = open(&path);
    rows(&first.connect(), "create table t (a integer)");
    std::fs::remove_dir_all(&path).expect("it can be removed");
    let second = open(&path);
    assert_eq!(state(&second.connect(), "table t"), SqlState::UNDEFINED_TABLE);
    rows(&second.connect(), "create table u (a integer)");
    assert_eq!(rows(&first.connect(), "table t"), "");
    second.close().expect("it closes");
    drop(first);
    assert_eq!(rows(&open(&path).connect(), "table u"), "");
    let _ = std::fs::remove_dir_all(&path);
}

#[test]
fn in_memory_nothing_is_shared() {
    let [first, second] = [":memory:", ""].map(|path| open(Path::new(path)));
    rows(&first.connect(), "create table t (a integer)");
    assert_eq!(state(&second.connect(), "table t"), SqlState::UNDEFINED_TABLE);
    let session = first.connect();
    first.close().expect("it closes");
    assert_eq!(state(&session, "table t"), SqlState::CONNECTION_DOES_NOT_EXIST);
}

#[test]
fn threads_that_open_and_close_at_any_time_lose_nothing() {
    const THREADS: usize = 4;
    const TURNS: usize = 12;
    let path = directory("sharing-threads");
    let first = open(&path);
    rows(&first.connect(), "create table t (a integer)");
    first.close().expect("it closes");
    let work = |thread: usize| {
        for turn in 0..TURNS {
            let database = open(&path);
            let session = database.connect();
            rows(
                &session,
                &format!("insert into t values ({})", thread * TURNS + turn),
            );
            // Handles go before or behind their sessions, with and without being closed.
            match (thread + turn) % 3 {
                0 => database.close().expect("it closes"),
                1 => drop(database),
                _ => {
                    drop(session);
                    drop(database);
                }
            }
        }
    };
    std::thread::scope(|scope| {
        for thread in 0..THREADS {
            scope.spawn(move || work(thread));
        }
    });
    let database = open(&path);
    let found = rows(&database.connect(), "select count(*), count(distinct a) from t");
    assert_eq!(found, format!("{0}|{0}", THREADS * TURNS));
    database.close().expect("it closes");
    let _ = std::fs::remove_dir_all(&path);
}
