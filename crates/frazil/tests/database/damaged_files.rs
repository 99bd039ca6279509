//! Bits are flipped and ends cut off in every kind of file that a database has: what opens has the right rows, or an error names the
//! file. `FRAZIL_DAMAGE_SEEDS=5000` damages more often.

use crate::rows;
use frazil::{Access, Connection, Database, Error, Opening, SqlState};
use frazil_testkit::{Random, SimVfs};
use frazil_vfs::Vfs;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

/// What all rows are read by. Together they read every column of every block and use every index.
const QUERIES: [&str; 6] = [
    "select count(*), sum(k), sum(v), min(name), max(name), sum(length(name)) from t",
    "select k, v, name from t order by k",
    "select count(*) from t where v = 3",
    "select count(*), sum(a), count(b), max(b), sum(d), max(at) from u",
    "select * from joined",
    "select name from t where k = 17",
];

/// The databases that are damaged, each with the answers that its commits left, in order.
struct Undamaged {
    sim: SimVfs,
    answers: Vec<String>,
    /// Files of each kind: manifest, segments, log.
    kinds: [Vec<PathBuf>; 3],
}

fn answer(c: &Connection) -> Result<String, Error> {
    let mut all = String::new();
    for sql in QUERIES {
        c.execute(sql)?;
        all += &rows(c, sql);
        all.push('\n');
    }
    Ok(all)
}

fn open(sim: &SimVfs) -> Result<Connection, Error> {
    let c = Database::open_over(sim.vfs(), Path::new("/db"))?.connect();
    rows(
        &c,
        "set threads = 1; set frazil.freeze_after = off; set max_wal_size = off; set checkpoint_timeout = off",
    );
    Ok(c)
}

/// A database with blocks, deleted rows, hot chunks, indexes and a view, and a log of several files behind its checkpoint, whose
/// process was killed.
fn undamaged() -> Undamaged {
    let sim = SimVfs::new(5);
    let c = open(&sim).expect("it opens");
    rows(
        &c,
        "create table t (k integer primary key, v integer, name varchar(30000)); create index on t (v); \
         create table u (a bigint not null, b text, d decimal(12, 2), at timestamp); \
         create view joined as select count(*) as n, max(u.b) as b from t join u on t.k = u.a",
    );
    let numbered = |count: usize, row: &dyn Fn(usize) -> String| {
        let rows: Vec<String> = (1..=count).map(row).collect();
        rows.join(", ")
    };
    let of_t = |i| format!("({i}, {}, '{}{i}')", i % 7, "name ".repeat(i % 9));
    rows(
        &c,
        &format!("insert into t values {}; freeze table t", numbered(900, &of_t)),
    );
    let of_u = |i| {
        let text = if i % 4 == 0 {
            "null".to_string()
        } else {
            format!("'text {}'", i % 50)
        };
        format!(
            "({i}, {text}, {i}.25, timestamp '2026-01-01 {:02}:{:02}:00')",
            i % 24,
            i % 60
        )
    };
    rows(
        &c,
        &format!("insert into u values {}; freeze table u", numbered(2_000, &of_u)),
    );
    rows(
        &c,
        "delete from t where k % 10 = 3; insert into t values (2000, 3, 'hot'); checkpoint",
    );
    let mut answers = vec![answer(&c).expect("it answers")];
    for n in 0..24 {
        let sql = match n % 4 {
            0 => format!(
                "insert into t values ({}, 3, repeat('long {n} ', 3000))",
                3_000 + n
            ),
            1 => format!("update t set v = v + 1 where k % 5 = {}", n % 5),
            2 => format!("delete from u where a % 100 = {n}"),
            _ => format!("insert into u values ({n}, 'late', 1.5, timestamp '2027-01-01 00:00:00')"),
        };
        rows(&c, &sql);
        answers.push(answer(&c).expect("it answers"));
    }
    let sim = sim.restart_after_kill();
    let files = |directory: &str| {
        let directory = Path::new("/db").join(directory);
        let names = sim.list(&directory).expect("it is there");
        let mut files: Vec<PathBuf> = names.iter().map(|name| directory.join(name)).collect();
        files.sort();
        files
    };
    let is_used = |path: &PathBuf| sim.read(path).is_some_and(|bytes| bytes[0] != 0);
    let log: Vec<PathBuf> = files("log").into_iter().filter(is_used).collect();
    assert!(log.len() >= 2, "{log:?}");
    let kinds = [vec![PathBuf::from("/db/manifest")], files("segments"), log];
    Undamaged { sim, answers, kinds }
}

/// Changes a file; says how.
fn damage(random: &mut Random, bytes: &mut Vec<u8>) -> String {
    // A log's file is mostly zeros.
    let used = bytes.iter().rposition(|b| *b != 0).map_or(0, |last| last + 1);
    let reach = if random.below(8) == 0 { bytes.len() } else { used };
    let at = random.index(reach);
    match random.below(10) {
        0..6 => {
            let bit = random.below(8);
            bytes[at] ^= 1 << bit;
            format!("bit {bit} of byte {at} is flipped")
        }
        6 => {
            let byte = random.bits() as u8;
            bytes[at] = byte;
            format!("byte {at} is {byte}")
        }
        7 => {
            let sector = at - at % 512;
            let end = (sector + 512).min(bytes.len());
            bytes[sector..end].fill(0);
            format!("the sector at {sector} is zero")
        }
        _ => {
            bytes.truncate(at);
            format!("{at} bytes are left")
        }
    }
}

/// A named error: of damage, with the file.
fn check_error(e: &Error, what: &str) {
    let codes = [
        SqlState::DATA_CORRUPTED,
        SqlState::FEATURE_NOT_SUPPORTED,
        SqlState::UNDEFINED_FILE,
    ];
    assert!(codes.contains(&e.state()), "{what}: {e:?}");
    assert!(e.message().contains("\"/db"), "{what}: {e:?}");
}

/// What was committed before the log is damaged.
fn salvaged(sim: &SimVfs) -> String {
    let opening = Opening {
        salvages: true,
        ..Opening::to(Access::Read)
    };
    let database = Database::open_over_as(sim.vfs(), Path::new("/db"), &opening).expect("it opens");
    answer(&database.connect()).expect("it answers")
}

#[test]
fn damaged_files_give_a_named_error_or_the_right_answer() {
    let seeds = std::env::var("FRAZIL_DAMAGE_SEEDS")
        .ok()
        .and_then(|n| n.parse().ok());
    let seeds: u64 = seeds.unwrap_or(500);
    let database = undamaged();
    let last = &database.answers[database.answers.len() - 1];
    assert_eq!(
        &answer(&open(&database.sim.copy(0)).expect("it opens")).expect("it answers"),
        last
    );
    let (mut refused, mut failed, mut shorter, mut right) = ([0; 3], [0; 3], 0, [0; 3]);
    for seed in 1..=seeds {
        let begun = Instant::now();
        let mut random = Random::new(seed);
        let kind = random.index(3);
        let files = &database.kinds[kind];
        let file = &files[random.index(files.len())];
        let sim = database.sim.copy(seed);
        let mut how = String::new();
        sim.tamper(file, |bytes| how = damage(&mut random, bytes));
        let what = format!("seed {seed}, {}: {how}", file.display());
        match open(&sim).map(|c| answer(&c)) {
            Err(e) => {
                check_error(&e, &what);
                refused[kind] += 1;
                if kind == 2 && e.state() == SqlState::DATA_CORRUPTED {
                    let found = salvaged(&sim);
                    assert!(database.answers.contains(&found), "{what}: wrong rows");
                }
            }
            Ok(Err(e)) => {
                check_error(&e, &what);
                failed[kind] += 1;
            }
            Ok(Ok(found)) if &found == last => right[kind] += 1,
            // The last group of commits alone cannot be told from what a power cut leaves.
            Ok(Ok(found)) => {
                let without_last = &database.answers[database.answers.len() - 2];
                assert!(
                    &found == without_last && database.kinds[2].last() == Some(file),
                    "{what}: wrong rows"
                );
                shorter += 1;
            }
        }
        assert!(
            begun.elapsed() < Duration::from_secs(60),
            "{what}: {:?}",
            begun.elapsed()
        );
    }
    println!(
        "{seeds} damages of manifest, segments, log: {refused:?} do not open, {failed:?} fail when they are read, {right:?} harm nothing, \
         {shorter} logs end earlier"
    );
    assert!(refused[0] > 0 && failed[1] > 0 && refused[2] > 0);
}
