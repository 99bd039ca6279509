//! A storm by seed: eight writers, four readers that scan, and threads that freeze, write checkpoints and change
//! definitions, in a directory; writers cancel each other, and vanish. Every snapshot keeps the invariants, and at the
//! end nothing is held. `FRAZIL_STORM_TRANSACTIONS=5000` is the long form, `FRAZIL_STORM_SEED=7` another storm.

use crate::{directory, rows};
use frazil::{CancelHandle, Connection, Database, Outcome, Result, SqlState};
use frazil_testkit::Random;
use std::sync::Mutex;
use std::sync::atomic::{AtomicBool, Ordering};

const WRITERS: usize = 8;
const READERS: usize = 4;
const ACCOUNTS: u64 = 12;
const PARENTS: u64 = 8;

fn given(name: &str, otherwise: u64) -> u64 {
    let given = std::env::var(name).ok().and_then(|n| n.parse().ok());
    given.unwrap_or(otherwise)
}

/// Counts of one writer, or of all.
#[derive(Clone, Copy, Debug, Default)]
struct Done {
    /// Changes of accounts, jobs, keys and hits that were committed.
    changes: u64,
    jobs: u64,
    keys: u64,
    hits: u64,
    back_to_savepoint: u64,
    vanished: u64,
    deadlocks: u64,
    newer: u64,
    cancelled: u64,
    /// Violations of unique and foreign keys.
    refused: u64,
}

impl Done {
    fn add(self, other: Done) -> Done {
        Done {
            changes: self.changes + other.changes,
            jobs: self.jobs + other.jobs,
            keys: self.keys + other.keys,
            hits: self.hits + other.hits,
            back_to_savepoint: self.back_to_savepoint + other.back_to_savepoint,
            vanished: self.vanished + other.vanished,
            deadlocks: self.deadlocks + other.deadlocks,
            newer: self.newer + other.newer,
            cancelled: self.cancelled + other.cancelled,
            refused: self.refused + other.refused,
        }
    }
}

struct Writer<'a> {
    database: &'a Database,
    connection: Connection,
    random: Random,
    number: usize,
    /// Handles that cancel the statements of each writer.
    cancels: &'a Mutex<Vec<CancelHandle>>,
    done: Done,
    next_key: u64,
}

fn connect(database: &Database) -> Connection {
    let connection = database.connect();
    rows(&connection, "set threads = 1; set lock_timeout = '10min'");
    connection
}

fn count(connection: &Connection, sql: &str) -> Result<u64> {
    Ok(match connection.execute(sql)?.outcome {
        Outcome::Command { rows, .. } => rows.unwrap_or(0),
        Outcome::Rows(rows) => rows.iter().count() as u64,
    })
}

impl Writer<'_> {
    /// Runs a transaction. If it fails, it is gone; if it is committed, its numbers count.
    fn transaction(&mut self) {
        let level = ["read committed", "repeatable read"][self.random.index(2)];
        let before = self.done;
        let run = (self.connection.execute(&format!("begin isolation level {level}")))
            .and_then(|_| self.statements())
            .and_then(|goes_on| match goes_on {
                true => self.connection.execute("commit").map(|_| true),
                false => Ok(false),
            });
        if matches!(run, Ok(true)) {
            return;
        }
        self.done = Done {
            back_to_savepoint: self.done.back_to_savepoint,
            vanished: self.done.vanished,
            ..before
        };
        let Err(error) = run else { return };
        match error.state() {
            SqlState::DEADLOCK_DETECTED => self.done.deadlocks += 1,
            SqlState::SERIALIZATION_FAILURE => self.done.newer += 1,
            SqlState::QUERY_CANCELED => self.done.cancelled += 1,
            SqlState::UNIQUE_VIOLATION | SqlState::FOREIGN_KEY_VIOLATION => self.done.refused += 1,
            _ => panic!("{error:?}"),
        }
        // A cancel may come late, and stop this statement.
        while self.connection.in_transaction() || self.connection.in_failed_transaction() {
            let _ = self.connection.execute("rollback");
        }
    }

    /// Returns false if the transaction is gone with its connection.
    fn statements(&mut self) -> Result<bool> {
        for _ in 0..1 + self.random.below(3) {
            match self.random.below(12) {
                0..=3 => self.transfer()?,
                4 => {
                    count(&self.connection, "savepoint s")?;
                    let before = self.done;
                    self.transfer()?;
                    self.take_job()?;
                    count(&self.connection, "rollback to s")?;
                    self.done = Done {
                        back_to_savepoint: before.back_to_savepoint + 1,
                        ..before
                    };
                }
                5 => self.change_family()?,
                6 | 7 => self.take_job()?,
                8 => {
                    let id = self.random.below(5);
                    let sql = format!(
                        "insert into hits values ({id}, 1) on conflict (id) do update set n = hits.n + 1"
                    );
                    self.done.hits += count(&self.connection, &sql)?;
                }
                9 | 10 => self.insert_key()?,
                _ if self.random.below(2) == 0 => {
                    self.vanish();
                    return Ok(false);
                }
                _ => {
                    let other = self.random.index(WRITERS);
                    self.cancels.lock().expect("no panic")[other].cancel();
                }
            }
        }
        Ok(true)
    }

    fn transfer(&mut self) -> Result<()> {
        let [from, to] = [0; 2].map(|_| self.random.below(ACCOUNTS));
        let amount = self.random.below(9);
        if self.random.below(4) == 0 {
            count(
                &self.connection,
                &format!("select * from accounts where id = {to} for update"),
            )?;
        }
        for (id, sign) in [(from, '-'), (to, '+')] {
            let sql = format!(
                "update accounts set balance = balance {sign} {amount}, changes = changes + 1 where id = {id}"
            );
            self.done.changes += count(&self.connection, &sql)?;
        }
        Ok(())
    }

    /// Inserts or deletes parents and children. The keys between them refuse some of it.
    fn change_family(&mut self) -> Result<()> {
        let parent = self.random.below(PARENTS);
        let child = self.random.below(30);
        let sql = match self.random.below(4) {
            0 => format!("insert into parents values ({parent}) on conflict do nothing"),
            1 | 2 => format!("insert into children values ({child}, {parent}) on conflict do nothing"),
            _ => format!("delete from children where id = {child}; delete from parents where id = {parent}"),
        };
        self.connection.execute(&sql).map(drop)
    }

    fn take_job(&mut self) -> Result<()> {
        let taken = self.connection.query_opt(
            "select id from jobs where worker is null order by id limit 1 for update skip locked",
            (),
        )?;
        if let Some(row) = taken {
            let (id, worker) = (row.get::<i64>(0)?, self.number);
            count(
                &self.connection,
                &format!("update jobs set worker = {worker} where id = {id}"),
            )?;
            self.done.jobs += count(
                &self.connection,
                &format!("insert into work values ({id}, {worker})"),
            )?;
        }
        Ok(())
    }

    /// Inserts a key that other writers may insert as well.
    fn insert_key(&mut self) -> Result<()> {
        self.next_key += self.random.below(3);
        let sql = format!("insert into keys values ({}, {})", self.next_key, self.number);
        self.done.keys += count(&self.connection, &sql)?;
        Ok(())
    }

    /// The thread of the open transaction panics, as one of a program that embeds the database. What the transaction
    /// did goes with its connection; the writer goes on with a new one.
    fn vanish(&mut self) {
        let next = connect(self.database);
        self.cancels.lock().expect("no panic")[self.number] = next.cancel_handle();
        let connection = std::mem::replace(&mut self.connection, next);
        let panicked = std::thread::scope(|scope| {
            let thread = scope.spawn(move || {
                let _ = connection.execute("insert into keys values (-1, 0)");
                // Without the message of a panic.
                std::panic::resume_unwind(Box::new(()));
            });
            thread.join().is_err()
        });
        assert!(panicked);
        self.done.vanished += 1;
    }
}

const TABLES: [&str; 7] = ["accounts", "keys", "jobs", "work", "hits", "parents", "children"];

/// True in every snapshot.
fn check(c: &Connection) {
    let balance = ACCOUNTS * 100;
    assert_eq!(
        rows(
            c,
            "select sum(balance), count(*), count(distinct id) from accounts"
        ),
        format!("{balance}|{ACCOUNTS}|{ACCOUNTS}")
    );
    for (table, key) in [("keys", "k"), ("work", "job"), ("children", "id"), ("hits", "id")] {
        let doubles = format!("select count(*) - count(distinct {key}) from {table}");
        assert_eq!(rows(c, &doubles), "0", "{table}");
    }
    let orphans =
        "select count(*) from children c where not exists (select 1 from parents p where p.id = c.parent)";
    assert_eq!(rows(c, orphans), "0");
    let undone = "select (select count(*) from jobs where worker is not null) - (select count(*) from work)";
    assert_eq!(rows(c, undone), "0");
}

fn read(database: &Database, is_over: &AtomicBool) -> u64 {
    let c = connect(database);
    let mut views = 0;
    while !is_over.load(Ordering::Relaxed) {
        check(&c);
        rows(&c, "begin isolation level repeatable read");
        let first = rows(&c, "select sum(changes) from accounts");
        check(&c);
        assert_eq!(rows(&c, "select sum(changes) from accounts"), first);
        rows(&c, "commit");
        views += 1;
    }
    views
}

/// Runs statements in a circle until the storm is over. Returns the number of those that were not refused.
fn maintain(database: &Database, statements: &[&str], is_over: &AtomicBool) -> u64 {
    let c = connect(database);
    let mut done = 0;
    for sql in statements.iter().cycle() {
        if is_over.load(Ordering::Relaxed) {
            break;
        }
        match c.execute(sql) {
            Ok(_) => done += 1,
            Err(error) => assert_eq!(error.state(), SqlState::DEADLOCK_DETECTED, "{sql}: {error:?}"),
        }
    }
    done
}

const FREEZES: [&str; 8] = [
    "freeze table accounts",
    "checkpoint",
    "freeze table keys order by k",
    "freeze table jobs",
    "freeze table work",
    "checkpoint",
    "freeze table children",
    "freeze table accounts order by id",
];

const DEFINITIONS: [&str; 8] = [
    "create table scratch (x integer)",
    "create index by_balance on accounts (balance)",
    "insert into scratch select balance from accounts",
    "truncate scratch",
    "drop index by_balance",
    "alter table scratch add y text default 'y'",
    "create view rich as select * from accounts where balance > 100",
    "drop view rich; drop table scratch",
];

/// Nothing is held or waited for: each row can be locked, and each table changed, at once.
fn check_free(database: &Database) {
    assert_eq!(database.waiting_statements(), 0);
    let c = database.connect();
    rows(&c, "set lock_timeout = 1");
    for table in TABLES {
        rows(
            &c,
            &format!("begin; select count(*) from (select * from {table} for update nowait) x; rollback"),
        );
        rows(
            &c,
            &format!("begin; alter table {table} add extra integer; rollback"),
        );
    }
    assert_eq!(c.verify().expect("it reads all").findings, Vec::<String>::new());
    check(&c);
}

fn check_numbers(c: &Connection, done: Done) {
    let numbers = "select (select sum(changes) from accounts), (select count(*) from work), \
                   (select count(*) from keys), (select coalesce(sum(n), 0) from hits)";
    let Done {
        changes,
        jobs,
        keys,
        hits,
        ..
    } = done;
    assert_eq!(rows(c, numbers), format!("{changes}|{jobs}|{keys}|{hits}"));
    assert_eq!(rows(c, "select count(*) from keys where k < 0"), "0");
}

#[test]
fn a_storm_of_everything_keeps_every_invariant_and_leaves_nothing_held() {
    let (transactions, seed) = (
        given("FRAZIL_STORM_TRANSACTIONS", 25),
        given("FRAZIL_STORM_SEED", 1),
    );
    let path = directory("storm_of_everything");
    let database = Database::open(&path).expect("it opens");
    rows(
        &database.connect(),
        &format!(
            "set max_wal_size = '100kB'; set frazil.freeze_after = '1ms';
             create table accounts (id integer primary key, balance integer, changes integer default 0);
             insert into accounts select i, 100 from generate_series(0, {ACCOUNTS} - 1) as s(i);
             create table keys (k integer primary key, writer integer);
             create table jobs (id bigint primary key, worker integer);
             insert into jobs select i, null from generate_series(1, {}) as s(i);
             create table work (job bigint primary key, worker integer);
             create table hits (id integer primary key, n integer);
             create table parents (id integer primary key);
             create table children (id integer primary key, parent integer references parents)",
            transactions * 8
        ),
    );
    let connections: Vec<Connection> = (0..WRITERS).map(|_| connect(&database)).collect();
    let cancels = Mutex::new(connections.iter().map(Connection::cancel_handle).collect());
    let is_over = AtomicBool::new(false);
    let (database, cancels, is_over) = (&database, &cancels, &is_over);
    let (done, others) = std::thread::scope(|scope| {
        let at_end = frazil_testkit::RaisedAtEnd(is_over);
        let writers = connections.into_iter().enumerate().map(|(number, connection)| {
            let mut writer = Writer {
                database,
                connection,
                random: Random::new(seed * 100 + number as u64),
                number,
                cancels,
                done: Done::default(),
                next_key: 0,
            };
            scope.spawn(move || {
                (0..transactions).for_each(|_| writer.transaction());
                writer.done
            })
        });
        let writers: Vec<_> = writers.collect();
        let others: Vec<_> = (0..READERS)
            .map(|_| scope.spawn(|| read(database, is_over)))
            .chain([
                scope.spawn(|| maintain(database, &FREEZES, is_over)),
                scope.spawn(|| maintain(database, &DEFINITIONS, is_over)),
            ])
            .collect();
        let done: Vec<_> = writers.into_iter().map(|writer| writer.join()).collect();
        drop(at_end);
        let others = others.into_iter().map(|other| other.join().expect("no panic"));
        let others: Vec<u64> = others.collect();
        let done = done.into_iter().map(|done| done.expect("no panic"));
        (done.fold(Done::default(), Done::add), others)
    });
    println!("{done:?}\nviews of each reader, then freezes with checkpoints, and definitions: {others:?}");
    check_free(database);
    check_numbers(&database.connect(), done);
    database.clone().close().expect("it closes");
    let database = Database::open(&path).expect("it opens again");
    check_free(&database);
    check_numbers(&database.connect(), done);
    drop(database);
    let _ = std::fs::remove_dir_all(&path);
}
