//! Damage of one table is that table's: its statements say what is wrong, everything else opens, reads, writes and
//! makes checkpoints, and nothing of the damaged table is thrown away. When its files are put back, it is there
//! again, with what the log had about it.

use crate::{rows, state};
use frazil::{Connection, Database, Error, SqlState};
use frazil_testkit::SimVfs;
use frazil_vfs::Vfs;
use std::path::{Path, PathBuf};

fn open(sim: &SimVfs) -> Result<Database, Error> {
    let database = Database::open_over(sim.vfs(), Path::new("/db"))?;
    rows(
        &database.connect(),
        "set frazil.freeze_after = off; set max_wal_size = off; set checkpoint_timeout = off",
    );
    Ok(database)
}

fn connect(sim: &SimVfs) -> Connection {
    open(sim).expect("it opens").connect()
}

/// The segments that are there.
fn segments(sim: &SimVfs) -> Vec<PathBuf> {
    let directory = Path::new("/db/segments");
    let names = sim.list(directory).expect("it is there");
    names.iter().map(|name| directory.join(name)).collect()
}

/// Everything that is asked of the table that is damaged, and of the other one.
const OF_T: [&str; 4] = [
    "select * from t order by k",
    "select s from t where k = 7",
    "select count(*), sum(k), min(late), max(late), count(renamed) from t",
    "select * from over_t",
];
const OF_U: &str = "select count(*), sum(a) from u";

fn answers(c: &Connection) -> Vec<String> {
    OF_T.iter().map(|sql| rows(c, sql)).collect()
}

/// A database whose table t has a block in a segment of its own, and in the log behind the last checkpoint rows,
/// deleted rows, columns that came and went and another name, a bulk load in another segment, and an index; the
/// process was killed. Returns the segment, too.
fn killed() -> (SimVfs, PathBuf, Vec<String>) {
    let sim = SimVfs::new(3);
    let c = connect(&sim);
    rows(
        &c,
        "create table other_name (k integer primary key, s text, v integer); create table u (a integer)",
    );
    rows(
        &c,
        "insert into other_name select n, 'text ' || n, n % 5 from generate_series(1, 3000) n; freeze other_name; checkpoint",
    );
    let [segment] = &segments(&sim)[..] else {
        panic!("{:?}", segments(&sim))
    };
    let segment = segment.clone();
    rows(
        &c,
        "insert into u select n from generate_series(1, 100) n; checkpoint",
    );
    rows(
        &c,
        "insert into other_name values (4000, 'hot', 1); delete from other_name where k % 7 = 3; insert into u values (1000)",
    );
    rows(
        &c,
        "alter table other_name rename to t; alter table t add column late interval default '1 day'",
    );
    rows(
        &c,
        "alter table t drop column v; alter table t rename column s to renamed; alter table t rename column renamed to s",
    );
    rows(&c, "alter table t add column renamed text; create index on t (s)");
    rows(
        &c,
        "update t set s = s || '!' where k = 7; insert into t (k, late) values (5000, '2 days')",
    );
    // A load of 70,000 rows is a block of its own.
    rows(
        &c,
        "insert into t (k, s) select n, 'bulk' from generate_series(10000, 90000) n",
    );
    rows(
        &c,
        "delete from t where k between 20000 and 80000; create view over_t as select count(*) as n from t",
    );
    let found = answers(&c);
    (sim.restart_after_kill(), segment, found)
}

/// Checks that statements of the table fail and name the damage, and that everything else works.
fn check_damaged(c: &Connection, expected_of_u: &str) {
    for sql in [
        "select * from t",
        "select count(*) from t",
        "select 1 from t where false",
        "select nothing from t",
        "select * from over_t",
        "insert into t (k) values (1)",
        "update t set k = 1",
        "delete from t",
        "truncate t",
        "freeze t",
        "alter table t add column b integer",
        "alter table t rename to x",
        "create index on t (k)",
        "create view w as select * from t",
        "create table w as select * from t",
        "select * from u join t on a = k",
        "explain select * from t",
        "copy t to '/nowhere/t.csv'",
        "insert into u select k from t",
    ] {
        let error = c.execute(sql).expect_err(sql);
        assert_eq!(error.state(), SqlState::DATA_CORRUPTED, "{sql}: {error:?}");
        let names = |what: &str| error.message().contains(what);
        assert!(
            names("table \"t\" cannot be read: ") && names(".seg"),
            "{sql}: {error:?}"
        );
        assert!(
            error.hint().is_some_and(|hint| hint.contains("--salvage")),
            "{sql}"
        );
    }
    assert_eq!(state(c, "create table t (a integer)"), SqlState::DUPLICATE_TABLE);
    assert_eq!(rows(c, OF_U), expected_of_u);
    rows(
        c,
        "create table v (a integer); insert into v values (1); drop table v",
    );
    rows(
        c,
        "select * from frazil_blocks; select * from frazil_indexes; select * from frazil_wal",
    );
    let told = c.database().damaged_tables();
    assert_eq!(told.len(), 1);
    assert!(
        told[0].message().starts_with("table \"t\" cannot be read: "),
        "{told:?}"
    );
    let verified = c.verify().expect("it runs");
    assert!(
        verified.findings.iter().any(|f| f.contains("table \"t\"")),
        "{:?}",
        verified.findings
    );
    let faults: Vec<(&str, u64)> = (verified.tables.iter())
        .map(|t| (t.table.as_str(), t.faults))
        .collect();
    assert_eq!(faults, [("t", 1), ("u", 0)]);
    assert_eq!(state(c, "backup to '/backup'"), SqlState::DATA_CORRUPTED);
}

#[test]
fn a_damaged_table_closes_no_other_and_comes_back_whole() {
    for (what, damage) in [
        ("cut off", (|bytes| bytes.truncate(70)) as fn(&mut Vec<u8>)),
        ("empty", |bytes| bytes.clear()),
        ("no header", |bytes| bytes[64..128].fill(0)),
        ("foreign", |bytes| bytes[0] ^= 1),
        // The index on a key that is read when the directory is opened.
        ("one bit of the key", |bytes| bytes[1_400] ^= 1),
    ] {
        let (mut sim, segment, found) = killed();
        let whole = sim.read(&segment).expect("it is there");
        sim.tamper(&segment, damage);
        let damaged = sim.read(&segment);
        check_damaged(&connect(&sim), "101|6050");
        // Checkpoints that go on without it, and lives in which nothing is written.
        for n in 1..4 {
            sim = sim.restart_after_kill();
            let database = open(&sim).unwrap_or_else(|e| panic!("{what}: {e:?}"));
            let c = database.connect();
            rows(&c, "insert into u values (0)");
            if n > 1 {
                rows(
                    &c,
                    "checkpoint; insert into u values (0); checkpoint; delete from u where a = 0",
                );
                rows(&c, "insert into u values (0)");
            }
            check_damaged(&c, "102|6050");
            rows(&c, "delete from u where a = 0");
            drop(c);
            database.close().unwrap_or_else(|e| panic!("{what}: {e:?}"));
            assert_eq!(sim.read(&segment), damaged, "{what}: it stays as it is");
        }
        sim = sim.restart_after_power_cut();
        sim.tamper(&segment, |bytes| bytes.clone_from(&whole));
        for round in 0..3 {
            let database = open(&sim).unwrap_or_else(|e| panic!("{what}: {e:?}"));
            let c = database.connect();
            assert_eq!(answers(&c), found, "{what}, round {round}");
            assert_eq!(c.verify().expect("it runs").findings, [""; 0], "{what}");
            assert_eq!(
                state(&c, "insert into t (k) values (7)"),
                SqlState::UNIQUE_VIOLATION
            );
            rows(
                &c,
                &format!(
                    "insert into t (k) values (-1); delete from t where k = -1; backup to '/backup{round}'"
                ),
            );
            drop(c);
            database.close().expect("it closes");
        }
        let manifest = sim.read(Path::new("/db/manifest")).expect("it is there");
        assert!(
            manifest.starts_with(b"frazil manifest 7 "),
            "nothing is kept beside it any more"
        );
    }
}

#[test]
fn a_damaged_table_can_be_dropped() {
    let (sim, segment, _) = killed();
    sim.tamper(&segment, |bytes| bytes.truncate(70));
    let database = open(&sim).expect("it opens");
    let c = database.connect();
    rows(&c, "checkpoint");
    rows(
        &c,
        "drop view over_t; drop table t; create table t (k text); insert into t values ('new')",
    );
    drop(c);
    database.close().expect("it closes");
    let database = open(&sim).expect("it opens");
    assert_eq!(database.damaged_tables().len(), 0);
    let c = database.connect();
    assert_eq!(rows(&c, "select * from t"), "new");
    assert_eq!(rows(&c, OF_U), "101|6050");
    rows(&c, "backup to '/backup'");
    assert!(!segments(&sim).contains(&segment), "{:?}", segments(&sim));
}

/// CRC-32C, bit by bit.
fn crc32c(bytes: &[u8]) -> u32 {
    let step = |crc: u32, _| (crc >> 1) ^ (0x82f6_3b78 & (crc & 1).wrapping_neg());
    !bytes
        .iter()
        .fold(u32::MAX, |crc, byte| (0..8).fold(crc ^ u32::from(*byte), step))
}

/// Changes the text of a manifest as a defect, or a newer program, would have written it.
fn rewrite_manifest(sim: &SimVfs, old: &str, new: &str) {
    sim.tamper(Path::new("/db/manifest"), |bytes| {
        let text = String::from_utf8(bytes.clone()).expect("it is text");
        let (head, body) = text.trim_end().split_once('\n').expect("it has two lines");
        let version = head.split(' ').nth(2).expect("it has a version");
        let changed = body.replacen(old, new, 1);
        assert_ne!(changed, body, "{old}");
        let crc = crc32c(changed.as_bytes());
        *bytes = format!("frazil manifest {version} {crc:08x}\n{changed}\n").into_bytes();
    });
}

#[test]
fn a_record_that_is_not_understood_is_kept_as_it_is() {
    for (good, bad, told) in [
        (
            "\"type\":\"uuid\"",
            "\"type\":\"geometry\"",
            "of type geometry, which this Frazil does not know",
        ),
        (
            "\"name\":\"one\",\"unique\"",
            "\"name\":\"one\",\"unknown\"",
            "constraints or indexes",
        ),
        ("\"number\":2", "\"number\":7777", "the numbers of its columns"),
        (
            "\"missing\":{\"interval\":\"18446744073709551616\"}",
            "\"missing\":{\"int\":\"1\"}",
            "\"n\" in rows that lack it",
        ),
        (
            "\"name\":\"t\",\"next_chunk\":",
            "\"name\":\"t\",\"next\":",
            "a field of it",
        ),
    ] {
        let sim = SimVfs::new(9);
        let database = open(&sim).expect("it opens");
        let c = database.connect();
        rows(&c, "create table u (a integer); insert into u values (5)");
        rows(
            &c,
            "create table t (k uuid, v integer, constraint one unique (v)); insert into t values (null, 1), (null, 2); checkpoint",
        );
        rows(
            &c,
            "alter table t add column n interval default '00:00:00.000001'",
        );
        drop(c);
        database.close().expect("it closes");
        rewrite_manifest(&sim, good, bad);
        for n in 0..3 {
            let database = open(&sim).unwrap_or_else(|e| panic!("{bad}: {e:?}"));
            let c = database.connect();
            for sql in [
                "select * from t",
                "select k from t",
                "insert into t values (null)",
                "alter table t add column x integer",
            ] {
                let error = c.execute(sql).expect_err(sql);
                assert_eq!(error.state(), SqlState::DATA_CORRUPTED, "{sql}: {error:?}");
                assert!(error.message().contains(told), "{bad}: {sql}: {error:?}");
            }
            assert_eq!(state(&c, "create table t (a integer)"), SqlState::DUPLICATE_TABLE);
            rows(&c, &format!("insert into u values ({n})"));
            drop(c);
            database.close().expect("it closes");
        }
        rewrite_manifest(&sim, bad, good);
        let c = connect(&sim);
        assert_eq!(
            rows(&c, "select v, n from t order by v"),
            "1|00:00:00.000001\n2|00:00:00.000001"
        );
        assert_eq!(rows(&c, "select count(*) from u"), "4");
        assert_eq!(
            state(&c, "insert into t (v) values (1)"),
            SqlState::UNIQUE_VIOLATION
        );
    }
}

#[test]
fn changes_in_the_log_that_do_not_fit_a_table_are_its_own() {
    let sim = SimVfs::new(11);
    let c = connect(&sim);
    rows(
        &c,
        "create table t (k smallint, s text); create table u (a integer); checkpoint",
    );
    rows(
        &c,
        "insert into t values (1, 'one'), (2, 'two'); insert into u values (1); delete from t where k = 1",
    );
    let sim = sim.restart_after_kill();
    rewrite_manifest(&sim, "\"type\":\"smallint\"", "\"type\":\"boolean\"");
    for n in 0..3 {
        let database = open(&sim).expect("it opens");
        let c = database.connect();
        let error = c.execute("select * from t").expect_err("it is damaged");
        assert!(error.message().contains("position "), "{error:?}");
        rows(&c, "insert into u values (1)");
        assert_eq!(rows(&c, "select count(*) from u"), (n + 2).to_string());
        drop(c);
        database.close().expect("it closes");
    }
    rewrite_manifest(&sim, "\"type\":\"boolean\"", "\"type\":\"smallint\"");
    let text = sim.read(Path::new("/db/manifest")).expect("it is there");
    // The record has the table twice: as it is, and as it was before the changes that are kept.
    if String::from_utf8_lossy(&text).contains("\"type\":\"boolean\"") {
        rewrite_manifest(&sim, "\"type\":\"boolean\"", "\"type\":\"smallint\"");
    }
    assert_eq!(rows(&connect(&sim), "select * from t"), "2|two");
}

#[test]
fn a_table_that_the_log_made_is_damaged_alone_too() {
    let sim = SimVfs::new(13);
    let c = connect(&sim);
    rows(
        &c,
        "create table u (a integer); insert into u values (1); checkpoint",
    );
    let before = segments(&sim);
    // A load of 70,000 rows is a block of its own, which the log names.
    rows(
        &c,
        "create table t (k integer); insert into t select n from generate_series(1, 70000) n; delete from t where k > 10",
    );
    rows(&c, "insert into u values (2)");
    let mut sim = sim.restart_after_kill();
    let new = segments(&sim);
    let segment = new
        .iter()
        .find(|path| !before.contains(path))
        .expect("the load's");
    let whole = sim.read(segment).expect("it is there");
    sim.tamper(segment, |bytes| bytes.truncate(70));
    for n in 0..3 {
        let database = open(&sim).expect("it opens");
        let c = database.connect();
        let error = c.execute("select * from t").expect_err("it is damaged");
        assert!(
            error.message().starts_with("table \"t\" cannot be read: "),
            "{error:?}"
        );
        rows(&c, "insert into u values (1)");
        assert_eq!(rows(&c, "select count(*) from u"), (n + 3).to_string());
        drop(c);
        database.close().expect("it closes");
        sim = sim.restart_after_kill();
    }
    sim.tamper(segment, |bytes| bytes.clone_from(&whole));
    assert_eq!(rows(&connect(&sim), "select count(*), sum(k) from t"), "10|55");
}
