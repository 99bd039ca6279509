//! Histories of random transactions on lists and registers, judged by testkit's checker: what isolation levels
//! promise, whatever the order of statements is.
//!
//! In the stepped form one thread runs the statements of all sessions in an order that follows from the seed; a
//! statement that would wait fails. In the threaded form each session has a thread, and waits. Verdicts are the same
//! on every machine, counts of the threaded form are not: only the long form has bounds for them.
//! `FRAZIL_HISTORY_TRANSACTIONS=20000` is the long form, `FRAZIL_HISTORY_SEEDS=10` runs more seeds.

use crate::rows;
use frazil::{Connection, Database, Outcome, Params, Result, Row, SqlState};
use frazil_testkit::Random;
use frazil_testkit::histories::{Anomaly, Finding, History, Key, Operation, Transaction, check};
use std::collections::BTreeMap;
use std::sync::atomic::{AtomicU64, Ordering};

const SESSIONS: u64 = 8;

/// Transactions of a session on the same ten keys. Then the next ten are in use, so that lists stay short.
const ON_TEN_KEYS: usize = 100;

/// An isolation level and the anomalies that it allows.
#[derive(Clone, Copy)]
struct Level {
    name: &'static str,
    allows: &'static [Anomaly],
}

const LEVELS: [Level; 3] = [
    Level {
        name: "read committed",
        allows: &[Anomaly::ReadSkew, Anomaly::LostUpdate, Anomaly::WriteSkew],
    },
    Level {
        name: "repeatable read",
        allows: &[Anomaly::WriteSkew],
    },
    Level {
        name: "serializable",
        allows: &[],
    },
];

fn given(name: &str) -> Option<u64> {
    std::env::var(name).ok()?.parse().ok()
}

/// A session with the transactions that it ran.
struct Session<'a> {
    connection: Connection,
    random: Random,
    clock: &'a AtomicU64,
    level: Level,
    transactions: Vec<Transaction>,
    /// Statements that failed.
    failed: usize,
    /// The open transaction, the number of its statements to come, and the number of its operations before its
    /// savepoint.
    open: Option<(Transaction, u64, Option<usize>)>,
    /// The last value that it wrote.
    value: u64,
}

impl<'a> Session<'a> {
    fn new(database: &Database, number: u64, seed: u64, level: Level, clock: &'a AtomicU64) -> Session<'a> {
        let connection = database.connect();
        rows(&connection, "set threads = 1; set lock_timeout = '10min'");
        Session {
            connection,
            random: Random::new(seed * SESSIONS + number),
            clock,
            level,
            transactions: Vec::new(),
            failed: 0,
            open: None,
            value: (number + 1) * 1_000_000_000,
        }
    }

    /// The least of the ten keys in use. Lists are the first five, registers the others.
    fn first_key(&self) -> Key {
        (self.transactions.len() / ON_TEN_KEYS) as Key * 10
    }

    fn some_list(&mut self) -> Key {
        self.first_key() + self.random.below(5)
    }

    fn some_register(&mut self) -> Key {
        self.first_key() + 5 + self.random.below(5)
    }

    fn new_value(&mut self) -> u64 {
        self.value += 1;
        self.value
    }

    fn note(&mut self, operation: Operation) {
        let (transaction, ..) = self.open.as_mut().expect("it is open");
        transaction.operations.push(operation);
    }

    fn query(&self, sql: &str, parameters: impl Params) -> Result<Vec<Row>> {
        Ok(self.connection.query(sql, parameters)?.iter().collect())
    }

    /// Runs the next statement: the first, another, or the last of a transaction.
    fn step(&mut self) {
        let Some((_, left, _)) = &mut self.open else {
            let transaction = Transaction {
                began: self.clock.fetch_add(1, Ordering::SeqCst),
                ..Transaction::default()
            };
            self.open = Some((transaction, 1 + self.random.below(6), None));
            rows(
                &self.connection,
                &format!("begin isolation level {}", self.level.name),
            );
            return;
        };
        if *left == 0 {
            return self.end();
        }
        *left -= 1;
        if let Err(error) = self.act() {
            let expected = ["40001", "40P01", "55P03"].map(SqlState);
            assert!(expected.contains(&error.state()), "{error:?}");
            self.go_back_or_end();
        }
    }

    /// After an error: goes back to the savepoint, or rolls the transaction back.
    fn go_back_or_end(&mut self) {
        self.failed += 1;
        let savepoint = self.open.as_ref().and_then(|(.., savepoint)| *savepoint);
        match savepoint.filter(|_| self.random.below(2) == 0) {
            Some(savepoint) => {
                rows(&self.connection, "rollback to s");
                self.note(Operation::BackTo(savepoint));
            }
            None => {
                rows(&self.connection, "rollback");
                self.keep(false);
            }
        }
    }

    fn end(&mut self) {
        let commits = self.random.below(7) > 0;
        let ended = self
            .connection
            .execute(if commits { "commit" } else { "rollback" });
        assert!(ended.is_ok(), "{ended:?}");
        self.keep(commits);
    }

    fn keep(&mut self, committed: bool) {
        let (transaction, ..) = self.open.take().expect("it is open");
        self.transactions.push(Transaction {
            committed,
            ended: self.clock.fetch_add(1, Ordering::SeqCst),
            ..transaction
        });
    }

    fn act(&mut self) -> Result<()> {
        match self.random.below(19) {
            0..=2 => self.read_list(""),
            3 => self.read_list(" for update"),
            4 => self.read_all(),
            5..=7 => self.append("update lists set v = v || $2 where k = $1"),
            8 => self.append(
                "insert into lists values ($1, $2) on conflict (k) do update set v = lists.v || excluded.v",
            ),
            9 => self.replace_list(),
            10..=11 => self.read_register(),
            12..=14 => {
                self.write("update registers set before = value, value = $2 where k = $1 returning before")
            }
            15..=16 => self.write(
                "insert into registers values ($1, $2) on conflict (k) \
                 do update set before = registers.value, value = excluded.value returning before",
            ),
            17 => self.delete_register(),
            _ => self.savepoint(),
        }
    }

    fn read_list(&mut self, locking: &str) -> Result<()> {
        let key = self.some_list();
        let sql = format!("select v from lists where k = $1{locking}");
        for row in self.query(&sql, (key as i64,))? {
            let list = list(&row.get::<String>(0)?);
            self.note(Operation::ReadList { key, list });
        }
        Ok(())
    }

    /// Reads all lists and registers in use by two scans.
    fn read_all(&mut self) -> Result<()> {
        let keys = (self.first_key() as i64, self.first_key() as i64 + 9);
        for row in self.query("select k, v from lists where k between $1 and $2", keys)? {
            let (key, list) = (row.get::<i64>(0)? as Key, list(&row.get::<String>(1)?));
            self.note(Operation::ReadList { key, list });
        }
        for row in self.query("select k, value from registers where k between $1 and $2", keys)? {
            let (key, value) = (row.get::<i64>(0)? as Key, row.get::<i64>(1)? as u64);
            self.note_register(key, Some(value));
        }
        Ok(())
    }

    /// Notes a read of a register. Not of one that the transaction inserted at REPEATABLE READ: if another one deleted
    /// the register after the snapshot, the snapshot shows the deleted row beside the new one, in PostgreSQL as here.
    fn note_register(&mut self, key: Key, value: Option<u64>) {
        let (transaction, ..) = self.open.as_ref().expect("it is open");
        let is_inserted = transaction.operations.iter().any(|operation| match operation {
            Operation::Write { key: of, before, .. } => *of == key && before.is_none(),
            _ => false,
        });
        if !is_inserted || self.level.name != "repeatable read" {
            self.note(Operation::ReadRegister { key, value });
        }
    }

    fn append(&mut self, sql: &str) -> Result<()> {
        let (key, value) = (self.some_list(), self.new_value());
        let done = self
            .connection
            .execute_with(sql, (key as i64, format!("{value} ")))?;
        let is_one = matches!(done.outcome, Outcome::Command { rows: Some(1), .. });
        assert!(is_one, "each list is always there");
        self.note(Operation::Append { key, value });
        Ok(())
    }

    /// Deletes a list and inserts it again, with one value more.
    fn replace_list(&mut self) -> Result<()> {
        let (key, value) = (self.some_list(), self.new_value());
        let deleted = self.query("delete from lists where k = $1 returning v", (key as i64,))?;
        let [deleted] = &deleted[..] else {
            panic!("each list is always there");
        };
        let before = deleted.get::<String>(0)?;
        self.note(Operation::ReadList {
            key,
            list: list(&before),
        });
        let after = format!("{before}{value} ");
        self.connection
            .execute_with("insert into lists values ($1, $2)", (key as i64, after))?;
        self.note(Operation::Append { key, value });
        Ok(())
    }

    fn read_register(&mut self) -> Result<()> {
        let key = self.some_register();
        let found = self.query("select value from registers where k = $1", (key as i64,))?;
        let value = match &found[..] {
            [] => None,
            [row] => Some(row.get::<i64>(0)? as u64),
            rows => panic!("{} rows with key {key}", rows.len()),
        };
        self.note_register(key, value);
        Ok(())
    }

    fn write(&mut self, sql: &str) -> Result<()> {
        let (key, value) = (self.some_register(), self.new_value());
        for row in self.query(sql, (key as i64, value as i64))? {
            let before = row.get::<Option<i64>>(0)?.map(|before| before as u64);
            self.note(Operation::Write {
                key,
                value,
                before,
                deletes: false,
            });
        }
        Ok(())
    }

    fn delete_register(&mut self) -> Result<()> {
        let (key, value) = (self.some_register(), self.new_value());
        let deleted = self.query(
            "delete from registers where k = $1 returning value",
            (key as i64,),
        )?;
        for row in deleted {
            let before = Some(row.get::<i64>(0)? as u64);
            self.note(Operation::Write {
                key,
                value,
                before,
                deletes: true,
            });
        }
        Ok(())
    }

    /// Makes a savepoint, or goes back to the one that is there, or releases it.
    fn savepoint(&mut self) -> Result<()> {
        let (transaction, _, savepoint) = self.open.as_mut().expect("it is open");
        match *savepoint {
            None => {
                *savepoint = Some(transaction.operations.len());
                rows(&self.connection, "savepoint s");
            }
            Some(first) if self.random.below(3) > 0 => {
                transaction.operations.push(Operation::BackTo(first));
                rows(&self.connection, "rollback to s");
            }
            Some(_) => {
                *savepoint = None;
                rows(&self.connection, "release s");
            }
        }
        Ok(())
    }
}

/// The values of a list. Each has a blank after it.
fn list(text: &str) -> Vec<u64> {
    let values = text.split_whitespace();
    values
        .map(|value| value.parse().expect("a list of numbers"))
        .collect()
}

/// A database with the lists that `transactions` transactions of each session need.
fn database_for(transactions: usize) -> Database {
    let database = Database::memory().expect("memory is there");
    let sets = transactions / ON_TEN_KEYS;
    rows(
        &database.connect(),
        &format!(
            "create table lists (k bigint primary key, v text not null);
             create table registers (k bigint primary key, value bigint not null unique, before bigint);
             insert into lists select s * 10 + k, ''
             from generate_series(0, {sets}) as a(s), generate_series(0, 4) as b(k)"
        ),
    );
    database
}

fn freeze(connection: &Connection) {
    rows(connection, "freeze table lists; freeze table registers");
}

/// The history of all sessions. Panics if a statement still waits, or rows and indexes disagree.
fn history(database: &Database, sessions: Vec<Session<'_>>) -> History {
    let transactions = sessions.into_iter().flat_map(|session| session.transactions);
    let transactions = transactions.collect();
    let c = database.connect();
    assert_eq!(database.waiting_statements(), 0);
    assert_eq!(c.verify().expect("it reads all").findings, Vec::<String>::new());
    for table in ["lists", "registers"] {
        let doubles = format!("select count(*) - count(distinct k) from {table}");
        assert_eq!(rows(&c, &doubles), "0");
    }
    let read = c.query("select k, v from lists", ()).expect("it is read");
    let lists: BTreeMap<Key, Vec<u64>> = (read.iter())
        .map(|row| {
            let key = row.get::<i64>(0).expect("a key") as Key;
            (key, list(&row.get::<String>(1).expect("a list")))
        })
        .collect();
    History { transactions, lists }
}

/// One thread runs the sessions' statements in an order that follows from the seed. After half of them all tables are
/// frozen.
fn stepped(seed: u64, level: Level, transactions: usize) -> History {
    let database = database_for(transactions);
    let clock = AtomicU64::new(0);
    let mut sessions: Vec<Session<'_>> = (0..SESSIONS)
        .map(|number| Session::new(&database, number, seed, level, &clock))
        .collect();
    for session in &sessions {
        rows(&session.connection, "set lock_timeout = 1");
    }
    let mut random = Random::new(seed);
    let mut run = |sessions: &mut Vec<Session<'_>>, transactions: usize| {
        let goes_on =
            |session: &Session<'_>| session.open.is_some() || session.transactions.len() < transactions;
        while sessions.iter().any(goes_on) {
            let session = &mut sessions[random.index(SESSIONS as usize)];
            if goes_on(session) {
                session.step();
            }
        }
    };
    run(&mut sessions, transactions / 2);
    freeze(&database.connect());
    run(&mut sessions, transactions);
    history(&database, sessions)
}

/// Each session has a thread. One of them freezes all tables after half of its transactions. Returns the numbers of
/// waits and of statements that failed, too.
fn threaded(seed: u64, level: Level, transactions: usize) -> (History, u64, usize) {
    let database = database_for(transactions);
    let clock = AtomicU64::new(0);
    let run = |number| {
        let mut session = Session::new(&database, number, seed, level, &clock);
        let mut is_frozen = number > 0;
        while session.open.is_some() || session.transactions.len() < transactions {
            session.step();
            if session.open.is_some() {
                // On few cores a transaction would often be over before another thread runs.
                std::thread::sleep(std::time::Duration::from_micros(20));
            }
            if !is_frozen && session.open.is_none() && session.transactions.len() * 2 >= transactions {
                freeze(&session.connection);
                is_frozen = true;
            }
        }
        session
    };
    let sessions: Vec<Session<'_>> = std::thread::scope(|scope| {
        let running: Vec<_> = (0..SESSIONS)
            .map(|number| scope.spawn(move || run(number)))
            .collect();
        let ended = running.into_iter().map(|thread| thread.join());
        ended.map(|session| session.expect("no panic")).collect()
    });
    let failed = sessions.iter().map(|session| session.failed).sum();
    let history = history(&database, sessions);
    (history, database.waits_so_far(), failed)
}

/// The anomalies of a history with their numbers; none that the level forbids.
fn judge(history: &History, level: Level, seed: u64) -> BTreeMap<Anomaly, usize> {
    let findings = check(history);
    let is_forbidden = |finding: &&Finding| !level.allows.contains(&finding.anomaly);
    if let Some(finding) = findings.iter().find(is_forbidden) {
        let told: Vec<_> = (finding.transactions.iter())
            .map(|n| format!("{n}: {:?}", history.transactions[*n]))
            .collect();
        panic!("{}, seed {seed}: {finding}\n{}", level.name, told.join("\n"));
    }
    let mut counts = BTreeMap::new();
    for finding in findings {
        *counts.entry(finding.anomaly).or_default() += 1;
    }
    counts
}

fn share(part: usize, whole: usize) -> f64 {
    part as f64 / whole as f64
}

/// The stepped form proves that the generator is not too tame: the anomalies that a level allows happen.
#[test]
fn stepped_histories_have_what_the_level_allows_and_nothing_else() {
    for level in LEVELS {
        let history = stepped(1, level, 40);
        let found = judge(&history, level, 1);
        let allowed: Vec<_> = level.allows.iter().collect();
        let is_found = |anomaly: &&&Anomaly| found.contains_key(**anomaly);
        let all = history.transactions.len();
        let aborted = history.transactions.iter().filter(|t| !t.committed).count();
        println!("{}: {found:?}, {aborted} of {all} rolled back", level.name);
        match level.name {
            // A history of read skew has no cycle left that is write skew alone.
            "read committed" => assert!(allowed.iter().filter(is_found).count() >= 2, "{found:?}"),
            _ => assert!(allowed.iter().all(|anomaly| is_found(&anomaly)), "{found:?}"),
        }
    }
}

#[test]
fn threaded_histories_have_no_anomaly_that_the_level_forbids() {
    let long = given("FRAZIL_HISTORY_TRANSACTIONS");
    let transactions = (long.unwrap_or(672) / SESSIONS) as usize;
    for seed in 1..=given("FRAZIL_HISTORY_SEEDS").unwrap_or(1) {
        for level in LEVELS {
            let (history, waits, failed) = threaded(seed, level, transactions);
            let found = judge(&history, level, seed);
            let all = history.transactions.len();
            println!(
                "{}, seed {seed}: {all} transactions, {waits} waits, {failed} failed, {found:?}",
                level.name
            );
            if long.is_some() {
                assert!(share(waits as usize, all) >= 0.05 && share(failed, all) >= 0.02);
                let is_wild = level.name != "repeatable read" || found.contains_key(&Anomaly::WriteSkew);
                assert!(is_wild, "too tame: {found:?}");
            }
        }
    }
}
