//! Nothing that a process may change later moves or harms an open database: its working directory, environment, umask and limits, and
//! names and links on the way to the directory. Another database always waits where a path that is looked up again would lead.
//! `FRAZIL_PLACE_SEEDS=500` runs more lives.

use crate::{directory, rows, state};
use frazil::{Connection, Database, SqlState};
use frazil_testkit::{Random, SimVfs};
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::process::Command;

const DIRECTORY: &str = "FRAZIL_TEST_MOVED_DIRECTORY";

/// Opens the database of a simulated directory.
fn open(sim: &SimVfs, path: &str) -> Database {
    Database::open_over(sim.vfs(), Path::new(path)).unwrap_or_else(|e| panic!("{path}: {e:?}"))
}

/// Makes a database whose table `t` holds the number `n`.
fn filled(sim: &SimVfs, path: &str, n: usize) {
    let database = open(sim, path);
    let sql = format!("create table t (a integer); insert into t values ({n})");
    rows(&database.connect(), &sql);
    database.close().expect("it closes");
}

fn numbers(sim: &SimVfs, path: &str) -> String {
    let database = open(sim, path);
    let numbers = rows(&database.connect(), "select a from t order by a");
    database.close().expect("it closes");
    numbers.replace('\n', " ")
}

/// Changes the process or the names on the way to the database `/a/d`. Returns the path that leads to the database then; the
/// database `/x/d` stays where it is, and a second one takes a path that the first one leaves.
fn change(sim: &SimVfs, random: &mut Random, now: &str, decoys: &mut Vec<(String, usize)>) -> String {
    match random.below(5) {
        0..3 => {
            let to = ["/", "/a", "/x", "/x/in"][random.index(4)];
            sim.change_directory(Path::new(to));
            now.to_owned()
        }
        3 => {
            let to = format!("/{}/d{}", ["a", "x"][random.index(2)], decoys.len());
            sim.move_directory(Path::new(now), Path::new(&to));
            let n = 1_000 + decoys.len();
            filled(sim, now, n);
            decoys.push((now.to_owned(), n));
            to
        }
        _ => {
            sim.turn_link(
                Path::new("/to"),
                Path::new(["/a", "/x", "/x/in"][random.index(3)]),
            );
            now.to_owned()
        }
    }
}

fn life(seed: u64) {
    let mut random = Random::new(seed);
    let sim = SimVfs::new(seed);
    for made in ["/a", "/x", "/x/in"] {
        sim.vfs().create_directory(Path::new(made)).expect("it is made");
    }
    sim.turn_link(Path::new("/to"), Path::new("/a"));
    let mut decoys = vec![("/x/d".to_owned(), 1_000), ("/x/in/d".to_owned(), 1_000)];
    filled(&sim, "/x/d", 1_000);
    filled(&sim, "/x/in/d", 1_000);
    sim.change_directory(Path::new("/a"));
    let path = ["d", "./d", "/a/d", "/to/d"][random.index(4)];
    let database = open(&sim, path);
    let c = database.connect();
    rows(
        &c,
        "create table t (a integer primary key); set max_wal_size = '100kB'",
    );
    let (mut now, mut expected) = ("/a/d".to_owned(), Vec::new());
    for step in 0..20 + random.index(20) {
        if random.below(2) == 0 {
            now = change(&sim, &mut random, &now, &mut decoys);
        }
        match random.below(6) {
            0 => rows(&c, "checkpoint"),
            1 => rows(&c, "freeze table t"),
            2 => rows(&c, &format!("backup to '/b{step}'")),
            _ => {
                expected.push(step.to_string());
                rows(&c, &format!("insert into t values ({step})"))
            }
        };
    }
    drop(c);
    match random.below(3) {
        0 => drop(database),
        1 => database.close().expect("it closes"),
        // It dies, and its log is read.
        _ => std::mem::forget(database),
    }
    let sim = sim.restart_after_kill();
    assert_eq!(numbers(&sim, &now), expected.join(" "), "seed {seed}");
    for (path, n) in decoys {
        assert_eq!(numbers(&sim, &path), n.to_string(), "seed {seed}, {path}");
    }
}

#[test]
fn names_links_and_the_working_directory_may_change() {
    let lives = std::env::var("FRAZIL_PLACE_SEEDS")
        .ok()
        .and_then(|n| n.parse().ok());
    (0..lives.unwrap_or(40)).for_each(life);
}

/// Sets a limit of this process, as far as it may be raised again.
fn limit(which: libc::__rlimit_resource_t, to: Option<u64>) {
    let mut now = libc::rlimit {
        rlim_cur: 0,
        rlim_max: 0,
    };
    // SAFETY: a system call that fills a structure of ours.
    assert_eq!(unsafe { libc::getrlimit(which, &mut now) }, 0);
    now.rlim_cur = to.unwrap_or(now.rlim_max).min(now.rlim_max);
    // SAFETY: a system call that reads a structure of ours.
    assert_eq!(unsafe { libc::setrlimit(which, &now) }, 0);
}

fn umask(mask: libc::mode_t) {
    // SAFETY: a plain system call.
    unsafe { libc::umask(mask) };
}

fn go(to: &Path) {
    std::env::set_current_dir(to).expect("it is there");
}

/// One statement of the process that changes under its database; which is the last one is of no account.
fn work(c: &Connection, n: &mut i64) {
    *n += 1;
    rows(c, &format!("insert into t values ({n})"));
    match *n % 3 {
        0 => rows(c, "checkpoint"),
        1 => rows(c, "freeze table t"),
        _ => String::new(),
    };
}

#[test]
#[ignore = "run by a_process_changes_under_its_database in a process of its own"]
fn process_that_changes() {
    let Some(base) = std::env::var_os(DIRECTORY).map(PathBuf::from) else {
        return;
    };
    // SAFETY: no thread of this process handles this signal; a write beyond the limit is an error then.
    unsafe { libc::signal(libc::SIGXFSZ, libc::SIG_IGN) };
    go(&base.join("a"));
    let database = Database::open(Path::new("d")).expect("it opens");
    let c = database.connect();
    rows(&c, "create table t (a integer primary key)");
    let mut n = 0;
    work(&c, &mut n);
    for to in [base.join("x"), base.clone(), PathBuf::from("/")] {
        go(&to);
        (0..3).for_each(|_| work(&c, &mut n));
    }
    for mask in [0o077, 0o777, 0] {
        umask(mask);
        (0..3).for_each(|_| work(&c, &mut n));
        go(&base);
        rows(&c, &format!("backup to 'backup-{mask}'"));
    }
    umask(0o022);
    for name in ["TMPDIR", "HOME", "PWD", "TZ", "LANG"] {
        // SAFETY: the threads of the database read no variable; that is what is tested.
        unsafe { std::env::set_var(name, base.join("nowhere")) };
    }
    (0..3).for_each(|_| work(&c, &mut n));
    std::fs::rename(base.join("a"), base.join("moved")).expect("it is renamed");
    std::fs::rename(base.join("x"), base.join("a")).expect("it is renamed");
    (0..3).for_each(|_| work(&c, &mut n));
    go(&base.join("a"));
    (0..3).for_each(|_| work(&c, &mut n));
    limit(libc::RLIMIT_NOFILE, Some(3));
    assert_eq!(state(&c, "checkpoint"), SqlState::INSUFFICIENT_RESOURCES);
    limit(libc::RLIMIT_NOFILE, None);
    (0..3).for_each(|_| work(&c, &mut n));
    println!("\nworked {n}");
    // Nothing can be written any more: what was acknowledged is there all the same.
    limit(libc::RLIMIT_FSIZE, Some(1));
    let inserted = c.execute("insert into t values (0)");
    assert!(inserted.is_err(), "{inserted:?}");
    let written = c.execute("checkpoint");
    assert!(written.is_err(), "{written:?}");
    limit(libc::RLIMIT_FSIZE, None);
    drop(c);
    let _ = database.close();
}

/// Each file below a directory can be read and written by its owner.
fn check_permissions(directory: &Path) {
    for entry in std::fs::read_dir(directory).expect("it is listed") {
        let entry = entry.expect("it is listed");
        let metadata = entry.metadata().expect("it is there");
        let mode = metadata.permissions().mode() & 0o777;
        let wanted = if metadata.is_dir() { 0o755 } else { 0o644 };
        assert_eq!(mode, wanted, "{}: {mode:o}", entry.path().display());
        if metadata.is_dir() {
            check_permissions(&entry.path());
        }
    }
}

#[test]
fn a_process_changes_under_its_database() {
    let base = directory("moved");
    for made in ["a/d", "x"] {
        std::fs::create_dir_all(base.join(made)).expect("it is made");
    }
    let all = std::fs::Permissions::from_mode(0o755);
    std::fs::set_permissions(base.join("a/d"), all).expect("it is set");
    let other = |path: &str| Database::open(base.join(path)).expect("it opens");
    let database = other("x/d");
    rows(
        &database.connect(),
        "create table t (a integer); insert into t values (-7)",
    );
    database.close().expect("it closes");
    let test = [
        "places::process_that_changes",
        "--exact",
        "--ignored",
        "--nocapture",
    ];
    let output = Command::new(std::env::current_exe().expect("it runs"))
        .args(test)
        .env(DIRECTORY, &base)
        .output()
        .expect("it starts");
    let said = String::from_utf8_lossy(&output.stdout);
    assert!(
        output.status.success(),
        "{said}{}",
        String::from_utf8_lossy(&output.stderr)
    );
    let worked = said.lines().find_map(|line| line.strip_prefix("worked "));
    let n: i64 = worked.and_then(|n| n.parse().ok()).expect("it says so");
    check_permissions(&base.join("moved/d"));
    let database = other("moved/d");
    let sum = rows(&database.connect(), "select count(*), sum(a) from t where a > 0");
    assert_eq!(sum, format!("{n}|{}", n * (n + 1) / 2));
    drop(database);
    let database = other("a/d");
    assert_eq!(rows(&database.connect(), "select * from t"), "-7");
    drop(database);
    for (backup, least) in [("backup-63", 13), ("backup-511", 16), ("backup-0", 19)] {
        let database = other(backup);
        assert_eq!(
            rows(&database.connect(), "select max(a) from t"),
            least.to_string()
        );
    }
    let _ = std::fs::remove_dir_all(&base);
}
