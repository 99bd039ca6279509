//! Four sessions write side by side, and the power is cut at a random operation: recovery finds the database as one of
//! the commits left it, no earlier than the last one that was acknowledged as durable.
//!
//! One thread runs all sessions, a statement at a time, in an order that follows from the seed. A statement that would
//! wait fails. So rows of open transactions are between rows of committed ones in each chunk, and commits come in
//! another order than their rows. `FRAZIL_CRASH_SEEDS=300` runs more lives.

use crate::power_cuts::{is_of_files, open};
use crate::rows;
use frazil::{Connection, Outcome, Result, SqlState};
use frazil_testkit::{Failure, Random, SimVfs};
use std::collections::BTreeMap;

const SESSIONS: usize = 4;

/// Statements of a life that nothing ends.
const STEPS: usize = 220;

/// Keys that all sessions change.
const SHARED_KEYS: u64 = 12;

/// The columns `v`, `u` and `s` of a row.
type Row = (i64, i64, String);

/// Rows by their keys.
type Table = BTreeMap<i64, Row>;

/// Rows that a transaction changed; `None`: it deleted the row.
type Changes = BTreeMap<i64, Option<Row>>;

/// A transaction that is open.
#[derive(Clone, Debug, Default)]
struct Open {
    changes: Changes,
    /// The changes before its savepoint, if it has one, and the place of its first row then.
    savepoint: Option<(Changes, Option<u64>)>,
    /// Statements to come.
    left: u64,
    keeps_snapshot: bool,
    /// Place of its first row that stands among all rows that were ever inserted.
    first_row: Option<u64>,
    /// A checkpoint was made after a later row than its first had been committed.
    is_passed: bool,
}

/// Numbers of a life, or of several.
#[derive(Clone, Copy, Debug, Default)]
struct Passed {
    commits: u64,
    /// Statements that would have waited.
    waits: u64,
    /// Statements that met a newer version of a row.
    newer: u64,
    back_to_savepoint: u64,
    checkpoints: u64,
    freezes: u64,
    /// Transactions that committed rows below those of an earlier commit, with a checkpoint between the commits.
    passed_by_checkpoint: u64,
    cuts: u64,
}

impl Passed {
    fn add(&mut self, other: Passed) {
        self.commits += other.commits;
        self.waits += other.waits;
        self.newer += other.newer;
        self.back_to_savepoint += other.back_to_savepoint;
        self.checkpoints += other.checkpoints;
        self.freezes += other.freezes;
        self.passed_by_checkpoint += other.passed_by_checkpoint;
        self.cuts += other.cuts;
    }
}

struct Life {
    random: Random,
    sessions: Vec<(Connection, Option<Open>)>,
    maintainer: Connection,
    /// The table as each commit left it, in the order of the commits.
    states: Vec<Table>,
    /// Position of the last state that was acknowledged as durable.
    acknowledged: usize,
    /// The next key that nobody has, and the next value of `u`.
    next: i64,
    inserted_rows: u64,
    /// Place of the last row that was committed.
    last_committed_row: u64,
    passed: Passed,
}

/// True if the database does not answer any more.
type Ended = bool;

impl Life {
    fn new(seed: u64, first: &Connection) -> Life {
        let connect = || {
            let connection = first.database().connect();
            rows(&connection, "set threads = 1; set lock_timeout = 1");
            connection
        };
        Life {
            random: Random::new(seed),
            sessions: (0..SESSIONS).map(|_| (connect(), None)).collect(),
            maintainer: connect(),
            states: vec![Table::new()],
            acknowledged: 0,
            next: SHARED_KEYS as i64,
            inserted_rows: 0,
            last_committed_row: 0,
            passed: Passed::default(),
        }
    }

    /// The next step of a session, or of maintenance.
    fn step(&mut self) -> Ended {
        match self.random.below(24) {
            0 => return self.checkpoint(),
            1 => return self.freeze(),
            _ => {}
        }
        let at = self.random.index(SESSIONS);
        let (connection, open) = &self.sessions[at];
        let connection = connection.clone();
        match open.clone() {
            None => {
                let keeps_snapshot = self.random.below(4) == 0;
                let level = ["read committed", "repeatable read"][usize::from(keeps_snapshot)];
                rows(&connection, &format!("begin isolation level {level}"));
                self.sessions[at].1 = Some(Open {
                    left: 1 + self.random.below(5),
                    keeps_snapshot,
                    ..Open::default()
                });
                false
            }
            Some(open) if open.left == 0 => {
                self.sessions[at].1 = None;
                self.end(&connection, open)
            }
            Some(mut open) => {
                open.left -= 1;
                let before = open.clone();
                let done = self.act(&connection, &mut open);
                let (kept, ended) = match done {
                    Ok(()) => (Some(open), false),
                    Err(error) if is_of_files(error.state()) => (None, true),
                    Err(error) => self.go_back(&connection, before, error.state()),
                };
                self.sessions[at].1 = kept;
                ended
            }
        }
    }

    /// After an error: goes back to the savepoint, or rolls the transaction back.
    fn go_back(&mut self, connection: &Connection, open: Open, state: SqlState) -> (Option<Open>, Ended) {
        match state {
            SqlState::LOCK_NOT_AVAILABLE => self.passed.waits += 1,
            SqlState::SERIALIZATION_FAILURE => self.passed.newer += 1,
            _ => panic!("{state:?}"),
        }
        match open.savepoint.clone() {
            Some(savepoint) => {
                rows(connection, "rollback to s");
                (Some(self.with_savepoint(open, savepoint)), false)
            }
            None => {
                rows(connection, "rollback");
                (None, false)
            }
        }
    }

    fn with_savepoint(&mut self, open: Open, savepoint: (Changes, Option<u64>)) -> Open {
        self.passed.back_to_savepoint += 1;
        Open {
            changes: savepoint.0.clone(),
            first_row: savepoint.1,
            savepoint: Some(savepoint),
            ..open
        }
    }

    fn end(&mut self, connection: &Connection, open: Open) -> Ended {
        if self.random.below(8) == 0 {
            rows(connection, "rollback");
            return false;
        }
        let is_off = self.random.below(4) == 0;
        let commit = match is_off {
            true => "set local synchronous_commit = off; commit",
            false => "commit",
        };
        let mut after = self.states[self.states.len() - 1].clone();
        for (key, row) in &open.changes {
            match row {
                Some(row) => after.insert(*key, row.clone()),
                None => after.remove(key),
            };
        }
        match connection.execute(commit) {
            Ok(_) if open.changes.is_empty() => {}
            Ok(_) => {
                self.states.push(after);
                if !is_off {
                    self.acknowledged = self.states.len() - 1;
                }
                self.passed.commits += 1;
                self.passed.passed_by_checkpoint += u64::from(open.is_passed && open.first_row.is_some());
                if open.first_row.is_some() {
                    self.last_committed_row = self.inserted_rows;
                }
            }
            Err(error) => {
                assert!(is_of_files(error.state()), "{error:?}");
                if error.state() == SqlState::TRANSACTION_RESOLUTION_UNKNOWN {
                    self.states.push(after);
                }
                return true;
            }
        }
        false
    }

    fn checkpoint(&mut self) -> Ended {
        if let Err(error) = self.maintainer.execute("checkpoint") {
            assert!(is_of_files(error.state()), "{error:?}");
            return true;
        }
        self.passed.checkpoints += 1;
        for (_, open) in &mut self.sessions {
            if let Some(open) = open
                && open.first_row.is_some_and(|row| row < self.last_committed_row)
            {
                open.is_passed = true;
            }
        }
        false
    }

    fn freeze(&mut self) -> Ended {
        let order = ["", " order by k"][self.random.index(2)];
        match self.maintainer.execute(&format!("freeze table t{order}")) {
            Ok(_) => self.passed.freezes += 1,
            Err(error) if error.state() == SqlState::LOCK_NOT_AVAILABLE => {}
            Err(error) => {
                assert!(is_of_files(error.state()), "{error:?}");
                return true;
            }
        }
        false
    }

    /// A row as a statement of the transaction finds it, if no other transaction is in the way.
    fn row(&self, open: &Open, key: i64) -> Option<Row> {
        let committed = || self.states[self.states.len() - 1].get(&key).cloned();
        open.changes.get(&key).cloned().unwrap_or_else(committed)
    }

    fn next_number(&mut self) -> i64 {
        self.next += 1;
        self.next
    }

    fn note_row(&mut self, open: &mut Open) {
        self.inserted_rows += 1;
        open.first_row.get_or_insert(self.inserted_rows);
    }

    fn act(&mut self, connection: &Connection, open: &mut Open) -> Result<()> {
        let key = self.random.below(SHARED_KEYS) as i64;
        match self.random.below(12) {
            0..=3 => self.insert(connection, open),
            4 | 5 => self.upsert(connection, open, key),
            6 | 7 => self.update(connection, open, key),
            8 => self.delete(connection, open, key),
            9 => self.update_many(connection, open),
            _ => {
                match open.savepoint.clone() {
                    None => {
                        rows(connection, "savepoint s");
                        open.savepoint = Some((open.changes.clone(), open.first_row));
                    }
                    Some(savepoint) => {
                        rows(connection, "rollback to s");
                        *open = self.with_savepoint(open.clone(), savepoint);
                    }
                }
                Ok(())
            }
        }
    }

    /// Inserts rows with keys that no session has.
    fn insert(&mut self, connection: &Connection, open: &mut Open) -> Result<()> {
        for _ in 0..1 + self.random.below(3) {
            let (key, v) = (self.next_number(), self.random.below(30) as i64);
            let s = "text ".repeat(self.random.index(12));
            connection.execute(&format!("insert into t values ({key}, {v}, {key}, '{s}')"))?;
            self.note_row(open);
            open.changes.insert(key, Some((v, key, s)));
        }
        Ok(())
    }

    fn upsert(&mut self, connection: &Connection, open: &mut Open, key: i64) -> Result<()> {
        let u = self.next_number();
        connection.execute(&format!(
            "insert into t values ({key}, 0, {u}, 'new') on conflict (k) do update set v = t.v + 1, u = excluded.u"
        ))?;
        let row = match self.row(open, key) {
            Some((v, _, s)) => (v + 1, u, s),
            None => (0, u, "new".to_string()),
        };
        self.note_row(open);
        open.changes.insert(key, Some(row));
        Ok(())
    }

    fn update(&mut self, connection: &Connection, open: &mut Open, key: i64) -> Result<()> {
        let u = self.next_number();
        let sql = format!("update t set v = v + 10, u = {u}, s = s || '+' where k = {key}");
        let changed = changed_rows(connection, &sql)?;
        let row = self.row(open, key);
        assert!(
            open.keeps_snapshot || changed == usize::from(row.is_some()),
            "{sql}"
        );
        if let Some((v, _, s)) = row.filter(|_| changed > 0) {
            self.note_row(open);
            open.changes.insert(key, Some((v + 10, u, s + "+")));
        }
        Ok(())
    }

    fn delete(&mut self, connection: &Connection, open: &mut Open, key: i64) -> Result<()> {
        let sql = format!("delete from t where k = {key}");
        if changed_rows(connection, &sql)? > 0 {
            open.changes.insert(key, None);
        }
        Ok(())
    }

    /// Updates every seventh row. A transaction that keeps its snapshot does not see what came after that.
    fn update_many(&mut self, connection: &Connection, open: &mut Open) -> Result<()> {
        if open.keeps_snapshot {
            return Ok(());
        }
        let rest = self.random.below(7) as i64;
        let sql = format!("update t set v = v + 1 where k % 7 = {rest}");
        let changed = changed_rows(connection, &sql)?;
        let last = &self.states[self.states.len() - 1];
        let keys: Vec<i64> = (last.keys().chain(open.changes.keys()).copied())
            .filter(|key| key % 7 == rest)
            .collect();
        let found: BTreeMap<i64, Row> = (keys.into_iter())
            .filter_map(|key| Some((key, self.row(open, key)?)))
            .collect();
        assert_eq!(changed, found.len(), "{sql}");
        for (key, (v, u, s)) in found {
            self.note_row(open);
            open.changes.insert(key, Some((v + 1, u, s)));
        }
        Ok(())
    }
}

fn changed_rows(connection: &Connection, sql: &str) -> Result<usize> {
    match connection.execute(sql)?.outcome {
        Outcome::Command { rows: Some(rows), .. } => Ok(rows as usize),
        other => panic!("{sql}: {other:?}"),
    }
}

/// The table as the database holds it. Its rows, its indexes and its files agree.
fn contents(c: &Connection) -> Table {
    if !rows(c, "show tables")
        .lines()
        .any(|line| line.starts_with("t|") || line == "t")
    {
        return Table::new();
    }
    let text = rows(c, "select k, v, u, s from t order by k");
    let row = |line: &str| {
        let mut cells = line.splitn(4, '|');
        let mut number = || cells.next().and_then(|t| t.parse().ok()).expect("a number");
        let (k, v, u): (i64, i64, i64) = (number(), number(), number());
        (k, (v, u, cells.next().unwrap_or_default().to_string()))
    };
    let all: Vec<(i64, Row)> = text.lines().map(row).collect();
    let found: Table = all.iter().cloned().collect();
    assert_eq!(found.len(), all.len(), "a key comes twice");
    for (k, (v, u, _)) in found.iter().step_by(5) {
        assert_eq!(rows(c, &format!("select u from t where k = {k}")), u.to_string());
        assert_eq!(rows(c, &format!("select k from t where u = {u}")), k.to_string());
        let same = found.values().filter(|row| row.0 == *v).count();
        assert_eq!(
            rows(c, &format!("select count(s) from t where v = {v}")),
            same.to_string()
        );
    }
    assert_eq!(c.verify().expect("it reads all").findings, Vec::<String>::new());
    found
}

/// A life that ends at an operation, or after some statements. Returns the number of its operations.
fn live(seed: u64, cut: u64) -> (u64, Passed) {
    let sim = SimVfs::new(seed);
    sim.fail_at(cut, Failure::PowerCut);
    let (mut states, mut acknowledged, mut passed) = (vec![Table::new()], 0, Passed::default());
    let made =
        "create table t (k integer primary key, v integer, u integer unique, s text); create index on t (v)";
    if let Some(connection) = open(&sim)
        && connection.execute(made).is_ok()
    {
        let mut life = Life::new(seed, &connection);
        for _ in 0..STEPS {
            if life.step() {
                break;
            }
        }
        (states, acknowledged, passed) = (life.states, life.acknowledged, life.passed);
    }
    passed.cuts = u64::from(!sim.struck().is_empty());
    let operations = sim.operations();
    let sim = match seed % 5 {
        0 => sim.restart_after_kill(),
        _ => sim.restart_after_power_cut(),
    };
    let mut possible = &states[acknowledged..];
    // A second cut, while it opens.
    sim.fail_at(Random::new(seed).below(60), Failure::PowerCut);
    if let Some(c) = open(&sim) {
        let at = position(possible, &contents(&c), seed, cut);
        possible = &possible[at..=at];
    }
    let sim = sim.restart_after_power_cut();
    let c = open(&sim).unwrap_or_else(|| panic!("seed {seed}, cut {cut}: {:#?}", sim.trace()));
    let found = contents(&c);
    position(possible, &found, seed, cut);
    if !found.is_empty() {
        goes_on(&c, &found);
    }
    (operations, passed)
}

/// Keys are taken, slots are free, and the table can be frozen.
fn goes_on(c: &Connection, found: &Table) {
    for (key, (_, u, _)) in found.iter().take(2) {
        for (key, u) in [(*key, -1), (-1, *u)] {
            let again = c.execute(&format!("insert into t values ({key}, 0, {u}, '')"));
            assert_eq!(
                again.expect_err("it is taken").state(),
                SqlState::UNIQUE_VIOLATION
            );
        }
    }
    rows(
        c,
        "insert into t values (-5, 1, -5, 'late'); update t set v = v + 1",
    );
    rows(c, "freeze table t; checkpoint");
    let mut expected = found.clone();
    expected.insert(-5, (1, -5, "late".to_string()));
    expected.values_mut().for_each(|row| row.0 += 1);
    assert_eq!(contents(c), expected);
}

fn position(possible: &[Table], found: &Table, seed: u64, cut: u64) -> usize {
    possible
        .iter()
        .position(|state| state == found)
        .unwrap_or_else(|| {
            let last = possible.last().expect("there is one");
            let differs = found.iter().filter(|(key, row)| last.get(key) != Some(row));
            panic!(
                "seed {seed}, cut {cut}: {} rows, which none of {} states has; beside the last: {:?}",
                found.len(),
                possible.len(),
                differs.collect::<Vec<_>>()
            )
        })
}

#[test]
fn a_power_cut_beside_open_transactions_leaves_a_prefix_of_the_commits() {
    let seeds = std::env::var("FRAZIL_CRASH_SEEDS").ok();
    let seeds = seeds.and_then(|n| n.parse().ok()).unwrap_or(30);
    let (mut whole, mut cut_off, mut between) = (Passed::default(), Passed::default(), 0);
    for seed in 1..=seeds {
        let (operations, passed) = live(seed, u64::MAX);
        between += u64::from(passed.passed_by_checkpoint > 0);
        whole.add(passed);
        let cut = Random::new(seed ^ 0x5eed).below(operations);
        cut_off.add(live(seed, cut).1);
    }
    println!(
        "{seeds} lives: {whole:?}\ncut: {cut_off:?}\n{between} with a checkpoint between commits out of order"
    );
    assert!(between * 2 >= seeds, "{between} of {seeds}");
    assert!(whole.waits >= seeds && whole.freezes >= seeds / 4, "{whole:?}");
    assert_eq!(cut_off.cuts, seeds);
}
