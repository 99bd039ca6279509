//! The power is cut at a random operation of a random life: what opens is the database as one of its commits left it, no earlier than
//! the last one that was acknowledged, and keys and rows agree. A second cut while it opens changes nothing of that.
//! `FRAZIL_CRASH_SEEDS=500` runs more lives.

use crate::{directory, rows, state};
use frazil::{Connection, Database, SqlState};
use frazil_testkit::{Failure, Random, SimVfs};
use std::collections::BTreeMap;
use std::fmt::Write;
use std::path::{Path, PathBuf};

/// Rows of the file that is loaded: one chunk that becomes a block, and some.
const LOADED: usize = 65_536 + 20;

/// Transactions of a life that nothing ends.
const STEPS: usize = 100;

/// What the tables hold.
#[derive(Clone, Debug, Default, PartialEq)]
struct Contents {
    /// Rows of `t`, by their keys; `None`: there is no such table yet.
    rows: Option<BTreeMap<i64, (i64, String)>>,
    /// Numbers in the tables that come and go.
    others: BTreeMap<String, Vec<i64>>,
    /// Loads of the file into `loaded`, in no order: whether the odd numbers were deleted since. `None`: there is no such table.
    loaded: Option<Vec<bool>>,
}

impl Contents {
    /// Count and sum of the numbers in `loaded`.
    fn loaded_sums(loads: &[bool]) -> (usize, usize) {
        let even = || (0..LOADED).step_by(2);
        let sums = loads.iter().map(|halved| match halved {
            true => (even().count(), even().sum()),
            false => (LOADED, LOADED * (LOADED - 1) / 2),
        });
        sums.fold((0, 0), |all, one: (usize, usize)| (all.0 + one.0, all.1 + one.1))
    }
}

/// What a life went through, or several.
#[derive(Clone, Copy, Debug, Default)]
struct Passed {
    groups: u64,
    checkpoints: u64,
    freezes: u64,
    definitions: u64,
    loads: u64,
    truncations: u64,
    rolled_back: u64,
    cuts: u64,
    recovered_commits: u64,
}

impl Passed {
    /// Whether a life is one that is worth to be cut.
    fn enough(&self) -> bool {
        self.groups >= 20
            && self.checkpoints >= 2
            && self.freezes >= 5
            && self.definitions >= 3
            && self.loads >= 1
    }
}

/// A transaction: what it runs, and what it leaves.
struct Step {
    sql: Vec<String>,
    after: Contents,
}

struct Life<'a> {
    random: Random,
    connection: Connection,
    /// The database as each commit left it, in the order of the commits.
    states: Vec<Contents>,
    /// Position of the last one that was acknowledged as durable.
    acknowledged: usize,
    next_key: i64,
    file: &'a Path,
    freezes: u64,
    definitions: u64,
    loads: u64,
    truncations: u64,
    rolled_back: u64,
    rolls_back: bool,
}

impl Life<'_> {
    fn now(&self) -> &Contents {
        &self.states[self.states.len() - 1]
    }

    /// The next transaction.
    fn step(&mut self) -> Step {
        let mut after = self.now().clone();
        let Some(rows) = after.rows.as_mut() else {
            after.rows = Some(BTreeMap::new());
            self.definitions += 1;
            let sql = "create table t (k integer primary key, v integer not null check (v >= 0), name varchar(200))";
            return Step {
                sql: vec![sql.into(), "create index t_v on t (v)".into()],
                after,
            };
        };
        let sql = match self.random.below(22) {
            0..6 => vec![insert(&mut self.random, &mut self.next_key, rows)],
            6..9 => {
                let (m, r) = (2 + self.random.below(5) as i64, self.random.below(2) as i64);
                let changed = rows.iter_mut().filter(|(k, _)| *k % m == r);
                changed.for_each(|(_, row)| row.0 += 1);
                vec![format!("update t set v = v + 1 where k % {m} = {r}")]
            }
            9 | 10 => {
                let m = 3 + self.random.below(9) as i64;
                rows.retain(|k, _| k % m != 1);
                vec![format!("delete from t where k % {m} = 1")]
            }
            11 => {
                let key = self.random.below(1 + self.next_key as u64) as i64;
                self.next_key = self.next_key.max(key + 1);
                let row = rows.entry(key).or_insert((7, "new".to_string()));
                if row.1 != "new" || row.0 != 7 {
                    row.1 = "again".to_string();
                }
                vec![format!(
                    "insert into t values ({key}, 7, 'new') on conflict (k) do update set name = \
                     case when t.name = 'new' and t.v = 7 then 'new' else 'again' end"
                )]
            }
            12 | 13 => self.transaction(rows),
            14 => {
                self.definitions += 1;
                let name = format!("u{}", self.states.len());
                let numbers: Vec<i64> = (0..self.random.below(30) as i64).collect();
                let values: Vec<String> = numbers.iter().map(|n| format!("({n})")).collect();
                let mut sql = vec![format!("create table {name} (a integer)")];
                if !values.is_empty() {
                    sql.push(format!("insert into {name} values {}", values.join(", ")));
                }
                after.others.insert(name, numbers);
                sql
            }
            15 => self.change_another(&mut after),
            16 | 17 => {
                self.freezes += 1;
                let order = if self.random.below(3) == 0 {
                    " order by k"
                } else {
                    ""
                };
                vec![format!("freeze table t{order}")]
            }
            18 | 19 => self.load(&mut after),
            20 => {
                self.truncations += 1;
                rows.clear();
                let mut sql = vec!["truncate t".into()];
                if self.random.below(2) == 0 {
                    sql.push(insert(&mut self.random, &mut self.next_key, rows));
                }
                sql
            }
            _ => {
                self.rolls_back = true;
                after = self.now().clone();
                vec![
                    "insert into t select k + 1000000, v, name from t".into(),
                    "delete from t where k % 2 = 0".into(),
                ]
            }
        };
        Step { sql, after }
    }

    /// Loads the file into `loaded`, or deletes rows that were loaded.
    fn load(&mut self, after: &mut Contents) -> Vec<String> {
        let copy = format!("copy loaded from '{}'", self.file.display());
        self.loads += 1;
        let Some(loads) = &mut after.loaded else {
            self.definitions += 1;
            after.loaded = Some(vec![false]);
            return vec!["create table loaded (a integer not null, b text)".into(), copy];
        };
        match self.random.below(5) {
            0 => {
                self.definitions += 1;
                after.loaded = None;
                vec![copy, "drop table loaded".into()]
            }
            1 => {
                self.truncations += 1;
                *loads = vec![false];
                vec![copy.clone(), "truncate loaded".into(), copy]
            }
            2 => {
                loads.push(false);
                loads.fill(true);
                vec![copy, "delete from loaded where a % 2 = 1".into()]
            }
            3 if loads.len() < 3 => {
                loads.extend([false, false]);
                let (savepoint, back) = ("savepoint l".to_string(), "rollback to l".to_string());
                vec![copy.clone(), savepoint, copy.clone(), back, copy]
            }
            _ => {
                self.loads -= 1;
                loads.fill(true);
                vec!["delete from loaded where a % 2 = 1".into()]
            }
        }
    }

    /// Several statements, some of which a savepoint takes back.
    fn transaction(&mut self, rows: &mut BTreeMap<i64, (i64, String)>) -> Vec<String> {
        let mut sql = vec![
            insert(&mut self.random, &mut self.next_key, rows),
            "savepoint s".into(),
        ];
        let mut taken_back = rows.clone();
        sql.push(insert(&mut self.random, &mut self.next_key, &mut taken_back));
        sql.push("delete from t where v % 2 = 0".into());
        sql.push("rollback to s".into());
        sql.push("update t set v = v + 10 where k % 5 = 0".into());
        (rows.iter_mut().filter(|(k, _)| *k % 5 == 0)).for_each(|(_, row)| row.0 += 10);
        sql
    }

    /// Drops, empties or renames one of the tables that come and go.
    fn change_another(&mut self, after: &mut Contents) -> Vec<String> {
        self.definitions += 1;
        let Some(name) = after.others.keys().next().cloned() else {
            return vec!["create or replace view big as select k, v from t where v > 5".into()];
        };
        match self.random.below(4) {
            0 => {
                after.others.entry(name.clone()).or_default().push(1_000);
                vec![
                    format!(
                        "alter table {name} add column c{} integer default 5",
                        self.states.len()
                    ),
                    format!("insert into {name} (a) values (1000)"),
                ]
            }
            1 => {
                after.others.remove(&name);
                vec![format!("drop table {name}")]
            }
            2 => {
                after.others.insert(name.clone(), vec![1]);
                vec![
                    format!("truncate {name}"),
                    format!("insert into {name} values (1)"),
                ]
            }
            _ => {
                let numbers = after.others.remove(&name).unwrap_or_default();
                let new = format!("{name}x");
                let sql = vec![format!("alter table {name} rename to {new}")];
                after.others.insert(new, numbers);
                sql
            }
        }
    }

    /// Runs the next transaction; whether the database still answers.
    fn go_on(&mut self) -> bool {
        let Step { sql, mut after } = self.step();
        after.loaded.iter_mut().for_each(|loads| loads.sort_unstable());
        let rolls_back = std::mem::take(&mut self.rolls_back);
        let is_off = self.random.below(4) == 0;
        let end = if rolls_back { "rollback" } else { "commit" };
        let whole = sql.iter().map(String::as_str);
        let local = is_off.then_some("set local synchronous_commit = off");
        for statement in std::iter::once("begin").chain(local).chain(whole) {
            if let Err(e) = self.connection.execute(statement) {
                assert!(is_of_files(e.state()), "{statement}: {e:?}");
                return false;
            }
        }
        match self.connection.execute(end) {
            Ok(_) if rolls_back => self.rolled_back += 1,
            Ok(_) => {
                // What changes nothing waits for nothing, also not for commits before it that did not wait: PostgreSQL's rule.
                let waits = !is_off && after != *self.now();
                self.states.push(after);
                if waits {
                    self.acknowledged = self.states.len() - 1;
                }
            }
            Err(e) => {
                assert!(is_of_files(e.state()), "{end}: {e:?}");
                if e.state() == SqlState::TRANSACTION_RESOLUTION_UNKNOWN {
                    self.states.push(after);
                }
                return false;
            }
        }
        let checkpoints = self.random.below(12) == 0;
        !checkpoints || self.connection.execute("checkpoint").is_ok()
    }
}

fn insert(random: &mut Random, next_key: &mut i64, rows: &mut BTreeMap<i64, (i64, String)>) -> String {
    let mut values = String::new();
    for n in 0..1 + random.below(12) {
        let (key, v) = (*next_key, random.below(40) as i64);
        let name = "name ".repeat(random.index(20));
        *next_key += 1 + random.below(2) as i64;
        let comma = if n == 0 { "" } else { ", " };
        write!(values, "{comma}({key}, {v}, '{name}')").expect("a String takes it");
        rows.insert(key, (v, name));
    }
    format!("insert into t values {values}")
}

pub(crate) fn is_of_files(state: SqlState) -> bool {
    [
        SqlState::IO_ERROR,
        SqlState::TRANSACTION_RESOLUTION_UNKNOWN,
        SqlState::UNDEFINED_FILE,
    ]
    .contains(&state)
}

/// What a database holds; its keys and rows agree.
fn contents(c: &Connection) -> Contents {
    let mut found = Contents::default();
    let tables = rows(c, "show tables");
    let names = tables.lines().map(|l| l.split('|').next().unwrap_or(l));
    for table in names.filter(|name| !name.starts_with("frazil_")) {
        match table {
            "t" => found.rows = Some(rows_of_t(c)),
            "loaded" => {
                found.loaded = Some(loads(&rows(
                    c,
                    "select count(*), coalesce(sum(a), 0), count(b) from loaded",
                )));
            }
            "big" => drop(rows(c, "select count(*) from big")),
            other => {
                let numbers = rows(c, &format!("select a from {other} order by a"));
                let numbers = numbers.lines().map(|l| l.parse().expect("a number")).collect();
                found.others.insert(other.to_string(), numbers);
            }
        }
    }
    found
}

/// The loads whose rows these are.
fn loads(found: &str) -> Vec<bool> {
    for whole in 0..10 {
        for halved in 0..10 {
            let loads: Vec<bool> = (0..whole + halved).map(|n| n >= whole).collect();
            let (count, sum) = Contents::loaded_sums(&loads);
            if found == format!("{count}|{sum}|{count}") {
                return loads;
            }
        }
    }
    panic!("no loads leave {found}");
}

fn rows_of_t(c: &Connection) -> BTreeMap<i64, (i64, String)> {
    let text = rows(c, "select k, v, name from t order by k");
    let line = |line: &str| {
        let mut cells = line.splitn(3, '|');
        let mut number = || cells.next().and_then(|t| t.parse().ok()).expect("a number");
        let (k, v): (i64, i64) = (number(), number());
        (k, (v, cells.next().unwrap_or_default().to_string()))
    };
    let found: Vec<_> = text.lines().map(line).collect();
    let count = found.len();
    let found: BTreeMap<_, _> = found.into_iter().collect();
    assert_eq!(found.len(), count, "a key comes twice");
    for (k, (v, _)) in found.iter().step_by(7) {
        assert_eq!(rows(c, &format!("select v from t where k = {k}")), v.to_string());
        let same = found.values().filter(|row| row.0 == *v).count();
        assert_eq!(
            rows(c, &format!("select count(name) from t where v = {v}")),
            same.to_string()
        );
    }
    found
}

/// Opens a database in which nothing happens by itself.
pub(crate) fn open(sim: &SimVfs) -> Option<Connection> {
    let database = Database::open_over(sim.vfs(), Path::new("/db")).ok()?;
    let c = database.connect();
    rows(
        &c,
        "set threads = 1; set frazil.freeze_after = off; set max_wal_size = off; set checkpoint_timeout = off",
    );
    Some(c)
}

/// A life that ends at an operation, or after some transactions. Returns the number of its operations.
fn live(seed: u64, cut: u64, file: &Path, passed: &mut Passed) -> u64 {
    let sim = SimVfs::new(seed);
    sim.fail_at(cut, Failure::PowerCut);
    let mut states = vec![Contents::default()];
    let mut acknowledged = 0;
    if let Some(connection) = open(&sim) {
        let mut life = Life {
            random: Random::new(seed),
            connection,
            states,
            acknowledged,
            next_key: 0,
            file,
            freezes: 0,
            definitions: 0,
            loads: 0,
            truncations: 0,
            rolled_back: 0,
            rolls_back: false,
        };
        for _ in 0..STEPS {
            if !life.go_on() {
                break;
            }
        }
        passed.freezes += life.freezes;
        passed.definitions += life.definitions;
        passed.loads += life.loads;
        passed.truncations += life.truncations;
        passed.rolled_back += life.rolled_back;
        let c = &life.connection.database().connect();
        passed.groups += number(c, "select groups from frazil_wal");
        passed.checkpoints += number(c, "select count(*) from frazil_checkpoints");
        (states, acknowledged) = (life.states, life.acknowledged);
    }
    passed.cuts += u64::from(!sim.struck().is_empty());
    let operations = sim.operations();
    let sim = match seed % 5 {
        0 => sim.restart_after_kill(),
        _ => sim.restart_after_power_cut(),
    };
    let mut possible = &states[acknowledged..];
    // The second cut.
    sim.fail_at(Random::new(seed).below(60), Failure::PowerCut);
    if let Some(c) = open(&sim) {
        let found = contents(&c);
        let at = position(possible, &found, seed, cut);
        possible = &possible[at..=at];
    }
    let sim = sim.restart_after_power_cut();
    let c =
        open(&sim).unwrap_or_else(|| panic!("seed {seed}, cut {cut}: it does not open: {:#?}", sim.trace()));
    let found = contents(&c);
    position(possible, &found, seed, cut);
    passed.recovered_commits += number(&c, "select recovered_commits from frazil_wal");
    goes_on(&c, &found);
    operations
}

fn number(c: &Connection, sql: &str) -> u64 {
    rows(c, sql).parse().expect("a number")
}

/// It goes on as a database.
fn goes_on(c: &Connection, found: &Contents) {
    let Some(rows_of_t) = &found.rows else { return };
    if let Some(key) = rows_of_t.keys().next() {
        let again = format!("insert into t values ({key}, 1, '')");
        assert_eq!(state(c, &again), SqlState::UNIQUE_VIOLATION);
    }
    assert_eq!(rows(c, "insert into t values (-5, 1, 'late')"), "INSERT 1");
    assert_eq!(rows(c, "select name from t where k = -5"), "late");
    assert_eq!(
        state(c, "insert into t values (-6, -1, '')"),
        SqlState::CHECK_VIOLATION
    );
}

fn position(possible: &[Contents], found: &Contents, seed: u64, cut: u64) -> usize {
    let size = |c: &Contents| {
        (
            c.rows.as_ref().map(BTreeMap::len),
            c.others.len(),
            c.loaded.clone(),
        )
    };
    (possible.iter().position(|c| c == found)).unwrap_or_else(|| {
        panic!(
            "seed {seed}, cut {cut}: found {:?}, which none of {:?} is",
            size(found),
            possible.iter().map(size).collect::<Vec<_>>()
        )
    })
}

fn csv() -> PathBuf {
    let path = directory("loaded.csv");
    let mut text = String::new();
    for i in 0..LOADED {
        writeln!(text, "{i},text {}", i % 100).expect("a String takes it");
    }
    std::fs::write(&path, text).expect("it can be written");
    path
}

#[test]
fn a_power_cut_leaves_a_prefix_that_holds_what_was_acknowledged() {
    let seeds = std::env::var("FRAZIL_CRASH_SEEDS")
        .ok()
        .and_then(|n| n.parse().ok());
    let seeds = seeds.unwrap_or(50);
    let file = csv();
    let (mut whole, mut cut_off, mut enough) = (Passed::default(), Passed::default(), 0);
    for seed in 1..=seeds {
        // First without a cut: how many operations there are, and what they pass.
        let mut life = Passed::default();
        let operations = live(seed, u64::MAX, &file, &mut life);
        enough += u64::from(life.enough());
        whole.groups += life.groups;
        whole.checkpoints += life.checkpoints;
        whole.freezes += life.freezes;
        whole.definitions += life.definitions;
        whole.loads += life.loads;
        whole.truncations += life.truncations;
        whole.rolled_back += life.rolled_back;
        let cut = Random::new(seed ^ 0x5eed).below(operations);
        live(seed, cut, &file, &mut cut_off);
    }
    println!(
        "{seeds} lives, {enough} of them with 20 groups, 2 checkpoints, 5 freezes, 3 definitions and a load at least:\n{whole:?}\n\
         cut: {cut_off:?}"
    );
    assert!(enough * 10 >= seeds * 9, "{enough} of {seeds}");
    assert!(
        cut_off.cuts == seeds && cut_off.recovered_commits > seeds,
        "{cut_off:?}"
    );
    let _ = std::fs::remove_file(&file);
}
