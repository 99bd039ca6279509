//! What `verify` finds: damage of every kind of file, rows that violate constraints, and nothing where nothing is wrong.

use crate::rows;
use frazil::{Access, Connection, Database, Error, Opening};
use frazil_durability::inspect;
use frazil_testkit::{Random, SimVfs};
use frazil_types::Cancel;
use frazil_vfs::Vfs;
use std::path::{Path, PathBuf};

fn open(sim: &SimVfs, access: Access) -> Result<Connection, Error> {
    Database::open_over_as(sim.vfs(), Path::new("/db"), &Opening::to(access)).map(|d| d.connect())
}

/// All that is found in the files, and in what they mean.
fn findings(sim: &SimVfs) -> Vec<String> {
    let files = inspect(&sim.vfs(), Path::new("/db"), &Cancel::new(), &|_, _| ()).expect("nobody writes it");
    let mut found = files.findings;
    match open(sim, Access::Read).and_then(|c| c.verify()) {
        Ok(contents) => found.extend(contents.findings),
        Err(e) => found.push(e.message().to_string()),
    }
    found
}

/// A database with segments of checkpoints and of loads, deleted rows, and a log behind its checkpoint, whose process was killed.
fn killed() -> SimVfs {
    let sim = SimVfs::new(7);
    let c = open(&sim, Access::Write).expect("it opens");
    rows(
        &c,
        "set frazil.freeze_after = off; set max_wal_size = off; \
         create table t (k integer primary key, v integer not null check (v >= 0), s text check (length(s) < 100), unique (v, k)); \
         create table n (a bigint); insert into n values (0), (1), (2), (3), (4), (5), (6), (7), (8), (9); \
         insert into t select a.a * 100 + b.a * 10 + c.a, b.a, 'text ' || c.a from n a, n b, n c; freeze table t; \
         delete from t where k % 10 = 3; insert into t values (-1, 0, null); checkpoint; \
         create table loaded as select a.a * 1000 + t.k as a, s as b from n a, n b, t; \
         update t set v = v + 1 where k % 100 = 1; alter table t add d date default date '2026-01-01'",
    );
    sim.restart_after_kill()
}

/// The files of each kind.
fn files(sim: &SimVfs) -> Vec<PathBuf> {
    let mut files = vec![PathBuf::from("/db/manifest")];
    for directory in ["segments", "log"] {
        let directory = Path::new("/db").join(directory);
        let names = sim.list(&directory).expect("it is there").into_iter();
        let used = names.map(|name| directory.join(name));
        files.extend(used.filter(|path| sim.read(path).is_some_and(|bytes| bytes[0] != 0)));
    }
    files
}

#[test]
fn nothing_is_found_where_nothing_is_wrong() {
    let sim = killed();
    let seen = std::cell::Cell::new((0, 0));
    let watch = |done, total| {
        assert!(done <= total && done >= seen.get().0, "{done} of {total}");
        seen.set((done, total));
    };
    let files = inspect(&sim.vfs(), Path::new("/db"), &Cancel::new(), &watch).expect("nobody writes it");
    assert_eq!((files.findings.len(), files.tables.len()), (0, 2), "{files:?}");
    assert!(
        files.segments >= 2 && files.logged_blocks >= 1 && files.log_records >= 3,
        "{files:?}"
    );
    assert!(seen.get().0 > 0);
    // Others may read it meanwhile, nobody writes.
    let c = open(&sim, Access::Read).expect("it opens");
    assert!(open(&sim, Access::Write).is_err());
    let found = c.verify().expect("it reads all");
    assert_eq!(found.findings, Vec::<String>::new());
    let t = found
        .tables
        .iter()
        .find(|t| t.table == "t")
        .expect("it is a table");
    assert_eq!(
        (t.rows, t.indexes, t.unique, t.not_null, t.checks, t.faults),
        (901, 2, 2, 2, 2, 0)
    );
    drop((files, c));
    open(&sim, Access::Write).expect("nobody reads it any more");
}

#[test]
fn every_fault_is_named_with_its_place() {
    let undamaged = killed();
    let mut random = Random::new(4);
    let all = files(&undamaged);
    for path in &all {
        let is_log = path.extension().is_some_and(|e| e == "log");
        for _ in 0..12 {
            let sim = undamaged.copy(1);
            let mut at = 0;
            sim.tamper(path, |bytes| {
                let used = bytes.iter().rposition(|b| *b != 0).map_or(0, |last| last + 1);
                at = random.index(used);
                bytes[at] ^= 1 << random.below(8);
            });
            let found = findings(&sim);
            let named = found
                .iter()
                .any(|fault| fault.contains(&format!("\"{}\"", path.display())) || fault.contains("\"/db\""));
            // The last group of the log cannot be told from what a crash leaves. Between blocks there are zeros that nobody reads.
            let lacks_at_most_the_last = is_log && commits(&sim) + 1 >= commits(&undamaged);
            let is_harmless =
                found.is_empty() && (lacks_at_most_the_last || answers(&sim) == answers(&undamaged.copy(1)));
            assert!(named || is_harmless, "byte {at} of {}: {found:?}", path.display());
        }
        let sim = undamaged.copy(1);
        sim.remove(path).expect("it is there");
        assert!(!findings(&sim).is_empty(), "{} is gone", path.display());
    }
}

/// How many commits the log has behind the checkpoint.
fn commits(sim: &SimVfs) -> u64 {
    let files = inspect(&sim.vfs(), Path::new("/db"), &Cancel::new(), &|_, _| ()).expect("nobody writes it");
    files.log_records
}

fn answers(sim: &SimVfs) -> String {
    let c = open(sim, Access::Read).expect("it opens");
    rows(&c, "select count(*), sum(k), sum(v), min(s), max(d) from t")
        + &rows(&c, "select count(*), sum(a), max(b) from loaded")
}

#[test]
fn several_faults_are_all_told() {
    let sim = killed();
    let segments: Vec<PathBuf> = files(&sim)
        .into_iter()
        .filter(|p| p.extension().is_some_and(|e| e == "seg"))
        .collect();
    for path in &segments {
        sim.tamper(path, |bytes| {
            let middle = bytes.len() / 2;
            bytes[middle] ^= 1;
        });
    }
    let files = inspect(&sim.vfs(), Path::new("/db"), &Cancel::new(), &|_, _| ()).expect("nobody writes it");
    for path in &segments {
        let name = path.display().to_string();
        assert!(
            files
                .findings
                .iter()
                .any(|f| f.contains(&name) && f.contains("offset")),
            "{name}: {files:?}"
        );
    }
}

/// CRC-32C, bit by bit.
fn crc32c(bytes: &[u8]) -> u32 {
    let step = |crc: u32, _| (crc >> 1) ^ (0x82f6_3b78 & (crc & 1).wrapping_neg());
    !bytes
        .iter()
        .fold(u32::MAX, |crc, byte| (0..8).fold(crc ^ u32::from(*byte), step))
}

const CHECKED: &str = "create table t (k integer, v integer, s text, constraint small check (v < 90), \
     constraint one unique (k, v)); create index two on t (v); \
     insert into t values (1, 5, 'a'), (2, 50, null), (3, 5, 'b'); create table sound (a integer)";

/// The database of some statements with another manifest, as a defect would have written it.
fn with_manifest(sql: &str, old: &str, new: &str) -> SimVfs {
    let sim = SimVfs::new(7);
    let c = open(&sim, Access::Write).expect("it opens");
    rows(&c, sql);
    c.database().clone().close().expect("it closes");
    sim.tamper(Path::new("/db/manifest"), |bytes| {
        let text = String::from_utf8(bytes.clone()).expect("it is text");
        let body = text.split_once('\n').expect("it has two lines").1.trim_end();
        let changed = body.replacen(old, new, 1);
        assert_ne!(changed, body, "{old}");
        *bytes = format!(
            "frazil manifest 5 {:08x}\n{changed}\n",
            crc32c(changed.as_bytes())
        )
        .into_bytes();
    });
    sim
}

#[test]
fn rows_that_violate_constraints_are_told() {
    for (old, new, fault) in [
        (
            "v < 90",
            "v < 9",
            "table \"t\": row 1 of chunk 0 violates check constraint \"small\"",
        ),
        (
            "v < 90",
            "v / (v - 50) < 9",
            "table \"t\": CHECK or a generated column of rows of chunk 0 fails: division by zero",
        ),
        // Those that keep a database from being opened.
        (
            "\"name\":\"s\",\"nullable\":true",
            "\"name\":\"s\",\"nullable\":false",
            "table \"t\", chunk 0: its columns are not those of the table",
        ),
        (
            "\"name\":\"two\",\"nulls_distinct\":true,\"unique\":false",
            "\"name\":\"two\",\"nulls_distinct\":true,\"unique\":true",
            "\"two\"",
        ),
    ] {
        let sim = with_manifest(CHECKED, old, new);
        let found = findings(&sim);
        assert!(found.iter().any(|f| f.contains(fault)), "{new}: {found:?}");
    }
    let sim = with_manifest(CHECKED, "v < 90", "v < 91");
    assert_eq!(findings(&sim), Vec::<String>::new());
}

#[test]
fn rows_without_a_parent_are_told() {
    let sql = "create table p (a numeric primary key); insert into p values (1); \
         create table c (a numeric, b integer); \
         insert into c values (1.0, 1), (2.00, 2), (null, 3), (3, 4); \
         alter table c add constraint f foreign key (a) references p not valid; \
         create table d (a integer, b integer, constraint g foreign key (a, b) references d match full, \
            primary key (a, b))";
    let sim = with_manifest(sql, "\"is_valid\":false", "\"is_valid\":true");
    let found = findings(&sim);
    let told = ["2.00", "3"].map(|key| {
        format!(
            "table \"c\": a row violates foreign key constraint \"f\": \
             Key (a)=({key}) is not present in table \"p\"."
        )
    });
    assert_eq!(found, told);
    let c = open(&sim, Access::Read).expect("it opens");
    let verified = c.verify().expect("it reads all").tables;
    let faults: Vec<(u64, u64)> = verified.iter().map(|t| (t.foreign_keys, t.faults)).collect();
    assert_eq!(faults, [(1, 2), (1, 0), (0, 0)]);
    // Inside a transaction rows may violate a deferred key.
    let c = crate::memory();
    rows(
        &c,
        "create table e (a integer unique, b integer references e (a) deferrable initially deferred); \
         begin; insert into e values (1, 2)",
    );
    assert_eq!(c.verify().expect("it reads all").findings, [""; 0]);
}
