//! PUBLISH TO: snapshots in a folder, made beside those who write and opened beside later ones.

use crate::{directory, memory, rows, shown, state};
use frazil::{Access, Cancel, Connection, Database, Error, Opening, PublishOptions, SqlState};
use frazil_testkit::SimVfs;
use frazil_testkit::sim_vfs::{FAILURES, Failure};
use std::path::Path;
use std::sync::atomic::{AtomicBool, Ordering};

fn open(sim: &SimVfs, path: &str) -> Connection {
    Database::open_over(sim.vfs(), Path::new(path))
        .expect("it opens")
        .connect()
}

fn try_read(sim: &SimVfs, path: &str) -> Result<Connection, Error> {
    let opening = Opening::to(Access::Read);
    Database::open_over_as(sim.vfs(), Path::new(path), &opening).map(|database| database.connect())
}

fn read(sim: &SimVfs, path: &str) -> Connection {
    try_read(sim, path).unwrap_or_else(|e| panic!("{path}: {e:?}"))
}

/// Frozen and hot rows, deleted ones among both, a key, a view, a sequence, a comment.
const SETUP: &str = "set frazil.freeze_after = off; create sequence q; \
    create table t (k integer primary key, v integer check (v >= 0), s text); comment on table t is 'all of it'; \
    create view w as select count(*) as n from t; create table e (a integer); \
    insert into t select i, i % 7, 'text ' || i % 13 from generate_series(0, 699) i; freeze table t; \
    delete from t where k % 4 = 1; insert into t values (1000, 1, null), (1001, 2, 'x'); \
    delete from t where k = 1001; select nextval('q')";

fn answer(c: &Connection) -> String {
    rows(c, "select count(*), sum(k), sum(v), count(s), max(s) from t") + "/" + &rows(c, "select n from w")
}

/// Number of segments in a folder.
fn segments(sim: &SimVfs, folder: &str) -> usize {
    let vfs = sim.vfs();
    vfs.list(&Path::new(folder).join("segments"))
        .expect("it is there")
        .len()
}

/// A column of PUBLISH's row.
fn number(row: &str, column: usize) -> u64 {
    row.split('|')
        .nth(column)
        .and_then(|n| n.parse().ok())
        .expect("a number")
}

#[test]
fn a_snapshot_has_what_was_committed_when_it_was_published() {
    let sim = SimVfs::new(2);
    let c = open(&sim, "/db");
    rows(&c, SETUP);
    let before = answer(&c);
    let made = rows(&c, "publish to '/p/one'");
    assert_eq!(number(&made, 0), 1);
    assert!(
        number(&made, 2) > 0 && number(&made, 3) == number(&made, 4),
        "{made}"
    );
    assert_eq!(rows(&c, "select cause from frazil_checkpoints"), "publish");
    rows(&c, "update t set v = 5; drop view w");
    let reader = read(&sim, "/p/one");
    assert_eq!(answer(&reader), before);
    assert_eq!(rows(&reader, "select s from t where k = 13"), "");
    assert_eq!(rows(&reader, "select s from t where k = 14"), "text 1");
    assert_eq!(
        rows(&reader, "select obj_description('t'::regclass)"),
        "all of it"
    );
    assert_eq!(rows(&reader, "select last_value from q"), "1");
    assert_eq!(rows(&reader, "select count(*) from e"), "0");
    assert_eq!(
        state(&reader, "insert into e values (1)"),
        SqlState::READ_ONLY_TRANSACTION
    );
    assert_eq!(
        state(&reader, "publish to '/p/two'"),
        SqlState::READ_ONLY_TRANSACTION
    );
    assert_eq!(
        reader.verify().expect("it reads all").findings,
        Vec::<String>::new()
    );
    let snapshot = reader.database().published_snapshot().expect("it is one");
    assert_eq!((snapshot.number, snapshot.lsn.0), (1, number(&made, 1)));
    assert_eq!(c.database().published_snapshot(), None);
    // The snapshot stays after a power cut, and nobody writes it.
    let sim = sim.restart_after_power_cut();
    assert_eq!(answer(&read(&sim, "/p/one")), before);
    assert_eq!(answer(&read(&sim, "/p/one/snapshots/00000001")), before);
    for path in ["/p/one", "/p/one/snapshots/00000001"] {
        let error = Database::open_over(sim.vfs(), Path::new(path))
            .map(drop)
            .expect_err("it is only read");
        assert_eq!(error.state(), SqlState::READ_ONLY_TRANSACTION, "{path}");
        assert!(
            error.message().contains("\"/p/one\" is a published folder"),
            "{error}"
        );
    }
}

#[test]
fn a_reader_moves_to_the_next_snapshot_and_a_named_one_stays() {
    let sim = SimVfs::new(3);
    let c = open(&sim, "/db");
    rows(&c, SETUP);
    rows(&c, "publish to '/p' keep 2");
    let (newest, first) = (read(&sim, "/p"), read(&sim, "/p/snapshots/00000001"));
    let one = answer(&c);
    rows(
        &c,
        "update t set v = v + 1 where k < 20; create table later (a integer)",
    );
    let two = answer(&c);
    rows(&newest, "begin isolation level repeatable read");
    assert_eq!(answer(&newest), one);
    rows(&c, "publish to '/p' incremental keep 2");
    assert_eq!(answer(&newest), one, "its transaction keeps its version");
    rows(&newest, "commit");
    assert_eq!(answer(&newest), two);
    assert_eq!(rows(&newest, "select count(*) from later"), "0");
    assert_eq!(newest.database().published_snapshot().map(|s| s.number), Some(2));
    assert_eq!(answer(&first), one);
    assert_eq!(answer(&read(&sim, "/p/snapshots/00000001")), one);
    rows(&c, "delete from t where k < 100");
    let three = answer(&c);
    rows(&c, "publish to '/p' incremental keep 2");
    // The first snapshot is gone for those who come, and there for those who have it open.
    let error = try_read(&sim, "/p/snapshots/00000001").expect_err("it is removed");
    assert_eq!(error.state(), SqlState::UNDEFINED_FILE);
    assert!(error.message().contains("has no snapshot 1"), "{error}");
    assert_eq!(answer(&first), one);
    assert_eq!(answer(&read(&sim, "/p/snapshots/00000002")), two);
    assert_eq!(answer(&newest), three);
    rows(&c, "publish to '/p' keep 1");
    assert_eq!(answer(&read(&sim, "/p")), three);
    assert_eq!(segments(&sim, "/p"), 1);
    let error = try_read(&sim, "/p/snapshots/00000009").expect_err("it never was");
    assert_eq!(error.state(), SqlState::UNDEFINED_FILE);
}

#[test]
fn what_holds_something_else_is_refused_by_name() {
    let sim = SimVfs::new(2);
    let c = open(&sim, "/db");
    rows(&c, SETUP);
    let other = open(&sim, "/other");
    rows(&other, "create table o (a integer); publish to '/of-other'");
    let vfs = sim.vfs();
    for made in ["/full", "/full/in", "/file-of-another", "/aside"] {
        vfs.create_directory(Path::new(made)).expect("it can be made");
    }
    vfs.create(Path::new("/file-of-another/published"))
        .expect("it can be made");
    sim.turn_link(Path::new("/link"), Path::new("/db/segments"));
    sim.turn_link(Path::new("/aside/own"), Path::new("/db"));
    for (to, why) in [
        ("/full", "it holds \"in\""),
        ("/other", "is the directory of a database"),
        ("/of-other", "holds snapshots of another database"),
        ("/file-of-another", "it holds \"published\""),
        ("/db", "is inside the database directory \"/db\""),
        ("/db/new", "is inside the database directory \"/db\""),
        ("/link", "is inside the database directory \"/db\""),
        ("/aside/own/a/b", "is inside the database directory \"/db\""),
        ("/", "is not a published folder"),
    ] {
        for how in ["", " incremental keep 3"] {
            let before = sim.used();
            let error = c
                .execute(&format!("publish to '{to}'{how}"))
                .map(drop)
                .expect_err(to);
            assert_eq!(error.state(), SqlState::INVALID_PARAMETER, "{to}");
            assert!(error.message().contains(why), "{error}");
            assert_eq!(sim.used(), before, "{to}: nothing is written");
        }
    }
    assert_eq!(rows(&other, "select count(*) from o"), "0");
    assert_eq!(rows(&read(&sim, "/of-other"), "select count(*) from o"), "0");
    for broken in [
        "publish",
        "publish to",
        "publish to x",
        "publish to 'x' y",
        "publish to 'x' keep",
        "publish to 'x' keep 1.5",
        "publish to 'x' keep -1",
        "publish to 'x' keep 1 incremental",
    ] {
        assert_eq!(state(&c, broken), SqlState::SYNTAX_ERROR, "{broken}");
    }
    assert_eq!(state(&c, "publish to 'x' keep 0"), SqlState::INVALID_PARAMETER);
    rows(&c, "begin");
    assert_eq!(state(&c, "publish to '/two'"), SqlState::ACTIVE_TRANSACTION);
    rows(&c, "rollback");
    assert_eq!(
        state(&memory(), "publish to '/two'"),
        SqlState::FEATURE_NOT_SUPPORTED
    );
}

#[test]
fn two_cannot_publish_to_a_folder_at_once() {
    let sim = SimVfs::new(5);
    let c = open(&sim, "/db");
    rows(&c, SETUP);
    let second = c.database().connect();
    let (sender, receiver) = std::sync::mpsc::channel();
    sim.run_before("create /p/segments/", move || {
        sender
            .send(second.execute("publish to '/p'").map(drop))
            .expect("somebody listens");
    });
    rows(&c, "publish to '/p'");
    let error = receiver
        .recv()
        .expect("it ran")
        .expect_err("the folder is in use");
    assert_eq!(error.state(), SqlState::OBJECT_IN_USE);
    assert!(error.message().contains("\"/p\""), "{error}");
    assert_eq!(answer(&read(&sim, "/p")), answer(&c));
}

/// A power cut, and any other failure, at each operation of a first PUBLISH: the folder has the snapshot or none.
#[test]
fn after_a_failure_at_any_operation_of_a_first_publish_the_folder_has_the_snapshot_or_none() {
    let sim = SimVfs::new(11);
    let c = open(&sim, "/db");
    rows(&c, SETUP);
    rows(&c, "checkpoint; update t set v = 2 where k between 20 and 90");
    let outcomes = Before::new(&sim, &c, None).outcomes();
    assert!(outcomes.old > 50 && outcomes.new > 8, "{outcomes:?}");
}

/// A power cut, and any other failure, at each operation of an incremental PUBLISH that removes an old snapshot: the
/// folder shows the snapshot from before or the new one, and has the one from before under its name.
#[test]
fn after_a_failure_at_any_operation_of_a_later_publish_the_folder_has_the_old_snapshot_or_the_new_one() {
    let sim = SimVfs::new(12);
    let c = open(&sim, "/db");
    rows(&c, SETUP);
    rows(&c, "publish to '/p' keep 2; update t set v = 1 where k < 30");
    let older = sums(&c);
    rows(
        &c,
        "publish to '/p' incremental keep 2; update t set v = 2 where k between 20 and 90",
    );
    let outcomes = Before::new(&sim, &c, Some(older)).outcomes();
    assert!(outcomes.old > 50 && outcomes.new > 8, "{outcomes:?}");
}

/// Number of failures after which the folder showed the snapshot from before, or none, and the new one.
#[derive(Debug, Default)]
struct Outcomes {
    old: u32,
    new: u32,
}

/// A database before a PUBLISH.
struct Before {
    sim: SimVfs,
    /// The answer of the snapshot in the folder, if there is one.
    older: Option<String>,
    newer: String,
}

impl Before {
    fn new(sim: &SimVfs, c: &Connection, older: Option<String>) -> Before {
        Before {
            newer: sums(c),
            sim: sim.copy(0),
            older,
        }
    }

    fn outcomes(&self) -> Outcomes {
        let mut outcomes = Outcomes::default();
        // A file that vanishes takes its data along.
        for failure in FAILURES
            .into_iter()
            .filter(|failure| *failure != Failure::Vanished)
        {
            let step = if failure == Failure::PowerCut { 1 } else { 7 };
            let mut nth = 0;
            while self.fail(nth, failure, &mut outcomes) {
                nth += step;
            }
        }
        outcomes
    }

    /// Publishes with a failure at the `nth` operation, and looks at what is there after a power cut. False if the
    /// PUBLISH has no such operation.
    fn fail(&self, nth: u64, failure: Failure, outcomes: &mut Outcomes) -> bool {
        let context = format!("{failure:?} at {nth}");
        let sim = self.sim.copy(nth);
        let c = open(&sim, "/db");
        rows(
            &c,
            "set max_wal_size = off; set checkpoint_timeout = off; set frazil.freeze_after = off",
        );
        sim.fail_at(sim.operations() + nth, failure);
        let made = c.execute("publish to '/p' incremental keep 2");
        let was_struck = !sim.struck().is_empty();
        sim.heal();
        if let Err(e) = &made {
            assert!(e.message().contains('"'), "{context}: {e:?}");
        }
        drop(c);
        let sim = sim.restart_after_power_cut();
        let is_new = self.is_new(&sim, &context);
        assert!(made.is_err() || is_new, "{context}");
        match is_new {
            true => outcomes.new += 1,
            false => outcomes.old += 1,
        }
        if let Some(older) = &self.older {
            assert_eq!(sums(&read(&sim, "/p/snapshots/00000002")), *older, "{context}");
        }
        if nth % 5 > 0 {
            return was_struck;
        }
        // The next one goes through, and leaves nothing behind that no snapshot needs.
        let c = open(&sim, "/db");
        rows(&c, "publish to '/p' incremental");
        let reader = read(&sim, "/p");
        assert_eq!(sums(&reader), self.newer, "{context}");
        rows(&c, "publish to '/p'");
        assert_eq!(segments(&sim, "/p"), 1, "{context}");
        was_struck
    }

    /// True if the folder shows the new snapshot; otherwise it shows the one from before, or there is none.
    fn is_new(&self, sim: &SimVfs, context: &str) -> bool {
        match try_read(sim, "/p") {
            Ok(reader) => {
                // A database without the table is an empty one: a directory without a manifest.
                let found = reader.execute(SUMS).ok().map(|response| shown(response.outcome));
                let is_new = found.as_ref() == Some(&self.newer);
                assert!(is_new || found == self.older, "{context}: {found:?}");
                is_new
            }
            Err(e) => {
                assert!(self.older.is_none(), "{context}: {e:?}");
                let named = [SqlState::UNDEFINED_FILE, SqlState::INVALID_PARAMETER];
                assert!(named.contains(&e.state()), "{context}: {e:?}");
                false
            }
        }
    }
}

/// Sums over a table by one query, because compiling queries takes most of the time of these tests.
fn sums(c: &Connection) -> String {
    rows(c, SUMS)
}

const SUMS: &str = "select count(*), sum(k), sum(v) from t";

#[test]
fn a_full_disk_is_named_and_leaves_the_snapshot_that_was_there() {
    let sim = SimVfs::new(8);
    let c = open(&sim, "/db");
    rows(&c, SETUP);
    rows(&c, "publish to '/p'");
    let old = answer(&c);
    rows(
        &c,
        "insert into t select i, 1, repeat('long text ', i % 50) from generate_series(10000, 12000) i; checkpoint",
    );
    sim.set_capacity(sim.used() + 1000);
    let used = sim.used();
    let error = c
        .execute("publish to '/p' incremental")
        .map(drop)
        .expect_err("the disk is full");
    assert_eq!(error.state(), SqlState::DISK_FULL, "{error}");
    assert!(error.message().contains("\"/p/segments/"), "{error}");
    assert_eq!(sim.used(), used, "what was written is removed");
    assert_eq!(answer(&read(&sim, "/p")), old);
    sim.set_capacity(u64::MAX);
    rows(&c, "publish to '/p' incremental");
    assert_eq!(answer(&read(&sim, "/p")), answer(&c));
}

#[test]
fn a_cancelled_publish_leaves_the_snapshot_that_was_there() {
    let sim = SimVfs::new(8);
    let c = open(&sim, "/db");
    rows(&c, SETUP);
    rows(&c, "publish to '/p'");
    let old = answer(&c);
    rows(&c, "update t set v = 0");
    let cancel = Cancel::new();
    let stopped = cancel.clone();
    sim.run_before("create /p/segments/", move || stopped.cancel());
    let error = c
        .database()
        .publish("/p", &PublishOptions::default(), &cancel)
        .expect_err("it is stopped");
    assert_eq!(error.state(), SqlState::QUERY_CANCELED);
    assert_eq!(answer(&read(&sim, "/p")), old);
    assert_eq!(segments(&sim, "/p"), 1);
}

/// After one row in a hundred has changed, an incremental PUBLISH copies a twentieth of the bytes at most, also when the
/// last chunk was frozen since.
#[test]
fn an_incremental_publish_copies_what_has_changed() {
    let sim = SimVfs::new(1);
    let c = open(&sim, "/db");
    rows(
        &c,
        "set frazil.freeze_after = off; create table t (k integer primary key, v integer, s text); \
         insert into t select i, i * 7 % 1000, 'some text of row ' || i from generate_series(1, 200000) i; \
         publish to '/p'",
    );
    let share = |made: &str| number(made, 3) as f64 / number(made, 4) as f64;
    assert_eq!(
        number(&rows(&c, "publish to '/p' incremental"), 3),
        0,
        "nothing has changed"
    );
    rows(&c, "update t set v = v + 1 where k % 100 = 0");
    let spread = rows(&c, "publish to '/p' incremental keep 2");
    assert!(share(&spread) <= 0.05, "{spread}");
    rows(&c, "delete from t where k between 100000 and 104000");
    let near = rows(&c, "publish to '/p' incremental keep 2");
    assert!(share(&near) <= 0.02, "{near}");
    // Freezing the last chunk writes its block anew, and no other.
    rows(&c, "freeze table t");
    let frozen = rows(&c, "publish to '/p' incremental keep 2");
    assert!(share(&frozen) <= 0.05, "{frozen}");
    let reader = read(&sim, "/p");
    let all = "select count(*), sum(k), sum(v), max(s) from t";
    assert_eq!(rows(&reader, all), rows(&c, all));
    assert_eq!(
        rows(&read(&sim, "/p/snapshots/00000004"), "select count(*) from t"),
        "195999"
    );
}

#[test]
fn folders_of_the_operating_system_are_published_to_and_read() {
    let path = directory("publishing");
    let folder = path.join("published");
    let c = Database::open(path.join("db")).expect("it opens").connect();
    rows(&c, SETUP);
    rows(&c, &format!("publish to '{}'", folder.display()));
    let reader = Database::open_read_only(&folder).expect("it opens").connect();
    assert_eq!(answer(&reader), answer(&c));
    rows(&c, "update t set v = 3");
    rows(
        &c,
        &format!("publish to '{}' incremental keep 3", folder.display()),
    );
    let before = answer(&c);
    assert_eq!(answer(&reader), before);
    let snapshot = reader.database().published_snapshot().expect("it is one");
    let pinned = Database::open_read_only(snapshot.path(&folder))
        .expect("it opens")
        .connect();
    rows(
        &c,
        &format!("truncate t; publish to '{}' incremental keep 3", folder.display()),
    );
    assert_eq!(answer(&pinned), before);
    assert_eq!(rows(&reader, "select count(*) from t"), "0");
    let inspection = Database::inspect(&folder, &Cancel::new(), &|_, _| ()).expect("it reads all");
    assert_eq!(inspection.findings, Vec::<String>::new());
    std::os::unix::fs::symlink(path.join("db"), path.join("link")).expect("a link can be made");
    for to in ["db", "db/in", "link", "link/in/it"] {
        let to = path.join(to);
        let error = c
            .execute(&format!("publish to '{}'", to.display()))
            .map(drop)
            .expect_err("it is inside");
        assert!(
            error.message().contains("is inside the database directory"),
            "{error}"
        );
    }
    assert!(!path.join("db/in").exists());
    std::fs::remove_dir_all(&path).expect("it can be removed");
}

/// A folder with a segment that is gone or cut off, or with another manifest, is named. An incremental PUBLISH copies
/// the lost blocks anew, and does not touch a folder whose manifest is damaged.
#[test]
fn a_damaged_folder_is_named_and_lost_blocks_are_copied_anew() {
    let path = directory("publishing-damaged");
    let folder = path.join("p");
    let c = Database::open(path.join("db")).expect("it opens").connect();
    rows(&c, SETUP);
    let publish = format!("publish to '{}' incremental", folder.display());
    rows(&c, &publish);
    let read_folder = || Database::open_read_only(&folder).expect("it opens").connect();
    for spoil in [cut_off as fn(&Path), remove] {
        let files = std::fs::read_dir(folder.join("segments")).expect("it is there");
        files.for_each(|file| spoil(&file.expect("it is listed").path()));
        let error = read_folder()
            .execute("select count(*) from t")
            .map(drop)
            .expect_err("it is damaged");
        assert_eq!(error.state(), SqlState::DATA_CORRUPTED, "{error}");
        assert!(error.message().contains("segments/"), "{error}");
        assert_eq!(rows(&read_folder(), "select count(*) from e"), "0");
        let made = rows(&c, &publish);
        assert_eq!(number(&made, 3), number(&made, 4), "{made}");
        assert_eq!(answer(&read_folder()), answer(&c));
    }
    let manifest = folder.join("manifest");
    let whole = std::fs::read(&manifest).expect("it is there");
    let text = String::from_utf8_lossy(&whole);
    for (damaged, wanted) in [
        (text.replace("all of it", "all of IT"), SqlState::DATA_CORRUPTED),
        (text[..text.len() / 2].to_owned(), SqlState::DATA_CORRUPTED),
        (
            text.replace("manifest 15", "manifest 99"),
            SqlState::FEATURE_NOT_SUPPORTED,
        ),
    ] {
        std::fs::write(&manifest, damaged).expect("it can be written");
        for error in [
            Database::open_read_only(&folder).map(drop),
            c.execute(&publish).map(drop),
            c.execute(&publish.replace("incremental", "")).map(drop),
        ] {
            let error = error.expect_err("it is damaged");
            assert_eq!(error.state(), wanted, "{error}");
            assert!(error.message().contains("/p"), "{error}");
        }
    }
    std::fs::write(&manifest, &whole).expect("it can be written");
    assert_eq!(answer(&read_folder()), answer(&c));
    std::fs::remove_dir_all(&path).expect("it can be removed");
}

fn cut_off(file: &Path) {
    let length = std::fs::metadata(file).expect("it is there").len();
    let file = std::fs::File::options().write(true).open(file);
    let file = file.expect("it can be opened");
    file.set_len(length / 2).expect("it can be cut off");
}

fn remove(file: &Path) {
    std::fs::remove_file(file).expect("it can be removed");
}

/// Readers that open and read the folder while one PUBLISH follows the other see one snapshot each, whole.
#[test]
fn readers_beside_publishes_see_whole_snapshots() {
    let sim = SimVfs::new(4);
    let c = open(&sim, "/db");
    rows(
        &c,
        "set frazil.freeze_after = off; create table a (k integer primary key, v integer); \
         create table b (v integer); insert into a select i, 0 from generate_series(1, 500) i; \
         insert into b values (0); publish to '/p'",
    );
    let is_over = AtomicBool::new(false);
    std::thread::scope(|scope| {
        let (sim, is_over) = (&sim, &is_over);
        let _ends = Ends(is_over);
        for _ in 0..2 {
            scope.spawn(move || {
                let follower = read(sim, "/p");
                let same =
                    "select min(a.v) = max(a.v) and max(a.v) = max(b.v) and count(*) = 500, max(b.v) from a, b";
                let mut is_last = false;
                while !is_last {
                    is_last = is_over.load(Ordering::Relaxed);
                    for c in [&follower, &read(sim, "/p")] {
                        let found = rows(c, same);
                        assert!(found.starts_with('t'), "{found}");
                        assert!(!is_last || number(&found, 1) == 15, "{found}");
                    }
                }
            });
        }
        for n in 1..=15 {
            rows(
                &c,
                &format!("begin; update a set v = {n}; update b set v = {n}; commit"),
            );
            rows(&c, &format!("publish to '/p' incremental keep {}", n % 3 + 1));
        }
    });
    assert_eq!(rows(&read(&sim, "/p"), "select min(v), max(v) from a"), "15|15");
}

/// Says that it is over when the test ends, also with a panic.
struct Ends<'a>(&'a AtomicBool);

impl Drop for Ends<'_> {
    fn drop(&mut self) {
        self.0.store(true, Ordering::Relaxed);
    }
}

/// FROM published('folder', 'table') reads a single table, in a statement of any database.
#[test]
fn a_query_reads_a_table_of_a_published_folder() {
    let path = directory("publishing-from");
    let folder = path.join("p").display().to_string();
    let c = Database::open(path.join("db")).expect("it opens").connect();
    rows(&c, SETUP);
    rows(
        &c,
        "create schema s; create table s.u (a integer); insert into s.u values (7); \
         create type mood as enum ('sad', 'happy'); create table moods (m mood); \
         create index on t ((v + 1)); create index on t (s) where v > 2; create table empty (a integer, b text)",
    );
    let publish = format!("publish to '{folder}' incremental keep 2");
    rows(&c, &publish);
    let other = memory();
    let all = |c: &Connection, from: &str| {
        rows(
            c,
            &format!("select count(*), sum(k), sum(v), count(s), max(s) from {from}"),
        )
    };
    let published = format!("published('{folder}', 't')");
    assert_eq!(all(&other, &published), all(&c, "t"));
    assert_eq!(
        rows(&other, &format!("select * from {published} where k = 14")),
        "14|0|text 1"
    );
    assert_eq!(
        rows(&other, &format!("select * from {published} where k = 13")),
        ""
    );
    assert_eq!(
        rows(&other, &format!("select t.v from {published} where t.k = 1000")),
        "1"
    );
    let joined = format!(
        "select count(*) from {published} a join {published} b on a.k = b.k join generate_series(0, 20) g on g = a.k"
    );
    assert_eq!(rows(&other, &joined), "16");
    rows(&other, &format!("create table mine as select * from {published}"));
    assert_eq!(all(&other, "mine"), all(&c, "t"));
    assert_eq!(
        rows(
            &other,
            &format!("select * from published('{folder}', 'u', schema => 's')")
        ),
        "7"
    );
    assert_eq!(
        rows(&other, &format!("select * from published('{folder}', 'empty')")),
        ""
    );
    // The next statement sees the next snapshot; a numbered one stays.
    rows(&c, "update t set v = 6");
    rows(&c, &publish);
    assert_eq!(all(&other, &published), all(&c, "t"));
    assert_eq!(
        all(&other, &format!("published('{folder}/snapshots/00000001', 't')")),
        all(&other, "mine")
    );
    for (from, wanted) in [
        (
            format!("published('{folder}', 'none')"),
            SqlState::UNDEFINED_TABLE,
        ),
        (format!("published('{folder}', 'w')"), SqlState::WRONG_OBJECT_TYPE),
        (
            format!("published('{folder}', 'moods')"),
            SqlState::FEATURE_NOT_SUPPORTED,
        ),
        (
            format!("published('{folder}', 't', schema => 'x')"),
            SqlState::INVALID_SCHEMA,
        ),
        (
            format!("published('{folder}', 't', wrong => 'x')"),
            SqlState::INVALID_PARAMETER,
        ),
        (format!("published('{folder}')"), SqlState::INVALID_PARAMETER),
        (
            format!("published('{folder}', 't', 's')"),
            SqlState::INVALID_PARAMETER,
        ),
        (
            format!("published('{folder}/snapshots/00000009', 't')"),
            SqlState::UNDEFINED_FILE,
        ),
        (
            format!("published('{}', 't')", path.join("db").display()),
            SqlState::INVALID_PARAMETER,
        ),
        (
            format!("published('{}', 't')", path.join("none").display()),
            SqlState::UNDEFINED_FILE,
        ),
    ] {
        assert_eq!(state(&other, &format!("select * from {from}")), wanted, "{from}");
    }
    rows(&other, "set file_access = off");
    assert_eq!(
        state(&other, &format!("select * from {published}")),
        SqlState::INSUFFICIENT_PRIVILEGE
    );
    std::fs::remove_dir_all(&path).expect("it can be removed");
}
