//! Sessions that write side by side, in threads: what must hold whatever the order of their statements is.

use crate::directories::copy_all;
use crate::{directory, rows, state};
use frazil::{Connection, Database, Error, SqlState};
use frazil_testkit::Random;
use std::sync::atomic::{AtomicBool, Ordering};

/// `FRAZIL_STORM_ROUNDS=50` makes the storms fifty times longer.
pub fn rounds() -> u64 {
    let given = std::env::var("FRAZIL_STORM_ROUNDS").ok();
    given.and_then(|n| n.parse().ok()).unwrap_or(1)
}

/// Runs `work` in threads, each with a connection of its own.
pub fn side_by_side<T: Send>(
    database: &Database,
    threads: u64,
    work: impl Fn(u64, &Connection) -> T + Sync,
) -> Vec<T> {
    std::thread::scope(|scope| {
        let run = |thread| {
            let (database, work) = (database.clone(), &work);
            scope.spawn(move || {
                let c = database.connect();
                rows(&c, "set threads = 1; set lock_timeout = '10min'");
                work(thread, &c)
            })
        };
        let running: Vec<_> = (0..threads).map(run).collect();
        running
            .into_iter()
            .map(|thread| thread.join().expect("no panic"))
            .collect()
    })
}

/// Runs a transaction until no other one is in its way. Returns how many times it had to run again.
pub fn again_and_again(c: &Connection, statements: &[String]) -> u64 {
    again_unless(c, statements, &[])
}

/// As [`again_and_again`], but gives a transaction up that fails with one of these SQLSTATEs.
pub fn again_unless(c: &Connection, statements: &[String], states: &[&'static str]) -> u64 {
    let is_one_of = |error: &Error, states: &[&'static str]| {
        let mut states = states.iter();
        states.any(|state| SqlState(state) == error.state())
    };
    for again in 0.. {
        let failed = statements.iter().find_map(|sql| c.execute(sql).err());
        let Some(error) = failed else { return again };
        if c.in_transaction() {
            rows(c, "rollback");
        }
        if is_one_of(&error, states) {
            return again;
        }
        assert!(is_one_of(&error, &["40001", "40P01"]), "{error:?}");
    }
    unreachable!("it runs until it returns")
}

/// Transfers between ten accounts, beside somebody who adds the accounts up: the sum is the same in each snapshot.
fn transfers_keep_the_sum(database: &Database, level: &str, transfers: u64) {
    let c = database.connect();
    rows(
        &c,
        "create table accounts (id integer primary key, balance integer, changes integer default 0);
         insert into accounts select i, 100 from generate_series(0, 9) as s(i)",
    );
    let is_over = AtomicBool::new(false);
    let threads = 4;
    std::thread::scope(|scope| {
        let at_end = frazil_testkit::RaisedAtEnd(&is_over);
        let reader = scope.spawn(|| {
            let c = database.connect();
            let mut seen = 0;
            while !is_over.load(Ordering::Relaxed) {
                assert_eq!(rows(&c, "select sum(balance), count(*) from accounts"), "1000|10");
                let by_key = "select count(*) from generate_series(0, 9) as s(i) join accounts on id = i";
                assert_eq!(rows(&c, by_key), "10");
                seen += 1;
            }
            assert!(seen > 0);
        });
        side_by_side(database, threads, |thread, c| {
            let mut random = Random::new(thread);
            for _ in 0..transfers {
                let (from, to, amount) = (random.below(10), random.below(10), random.below(20));
                let change = |account, amount: i64| {
                    format!(
                        "update accounts set balance = balance + {amount}, changes = changes + 1 where id = {account}"
                    )
                };
                let statements = [
                    format!("begin isolation level {level}"),
                    change(from, -(amount as i64)),
                    change(to, amount as i64),
                    "commit".to_string(),
                ];
                again_and_again(c, &statements);
            }
        });
        drop(at_end);
        reader.join().expect("no panic");
    });
    let changes = (2 * threads * transfers).to_string();
    assert_eq!(
        rows(&c, "select sum(balance), sum(changes) from accounts"),
        format!("1000|{changes}")
    );
    assert_eq!(
        rows(&c, "select count(*) from accounts where id between 0 and 9"),
        "10"
    );
}

#[test]
fn transfers_keep_the_sum_of_all_accounts() {
    for level in ["read committed", "repeatable read", "serializable"] {
        let database = Database::memory().expect("memory is there");
        transfers_keep_the_sum(&database, level, 25 * rounds());
    }
}

#[test]
fn transfers_keep_the_sum_in_a_directory() {
    let path = directory("transfers");
    let database = Database::open(&path).expect("it opens");
    rows(
        &database.connect(),
        "set max_wal_size = '50kB'; set frazil.freeze_after = '1ms'",
    );
    transfers_keep_the_sum(&database, "read committed", 15);
    database.close().expect("it closes");
    let c = Database::open(&path).expect("it opens again").connect();
    assert_eq!(
        rows(&c, "select sum(balance), sum(changes), count(*) from accounts"),
        "1000|120|10"
    );
    assert_eq!(
        rows(
            &c,
            "select count(*) from generate_series(0, 9) as s(i) join accounts on id = i"
        ),
        "10"
    );
}

/// A second unique index would meet a row that the first one let pass, so the key is alone in one of the tables.
#[test]
fn of_threads_that_insert_the_same_keys_one_gets_each() {
    for other in ["integer unique", "integer"] {
        one_gets_each_key(other);
    }
}

/// Inserts the same keys by eight threads into a table whose last column is declared as `other`.
fn one_gets_each_key(other: &str) {
    let database = Database::memory().expect("memory is there");
    let c = database.connect();
    rows(
        &c,
        &format!("create table keys (id integer primary key, thread integer, other {other})"),
    );
    let keys = 60;
    let inserted = side_by_side(&database, 8, |thread, c| {
        let mut random = Random::new(thread);
        let mut inserted = 0;
        for key in 0..keys {
            // Some roll back what they inserted, and others wait for that.
            let undone = random.below(4) == 0;
            rows(c, "begin");
            let insert = format!("insert into keys values ({key}, {thread}, {})", key + 1000);
            match c.execute(&insert) {
                Ok(_) if undone => drop(rows(c, "rollback")),
                Ok(_) => {
                    rows(c, "commit");
                    inserted += 1;
                }
                Err(error) => {
                    assert_eq!(error.state(), SqlState::UNIQUE_VIOLATION, "{error:?}");
                    assert!(
                        error
                            .detail()
                            .is_some_and(|detail| detail.contains("already exists"))
                    );
                    rows(c, "rollback");
                }
            }
        }
        inserted
    });
    let all = inserted.iter().sum::<u64>();
    let counted = rows(
        &c,
        "select count(*), count(distinct id), count(distinct other) from keys",
    );
    assert_eq!(counted, format!("{all}|{all}|{all}"));
}

#[test]
fn counters_lose_no_step() {
    let database = Database::memory().expect("memory is there");
    let c = database.connect();
    rows(
        &c,
        "create table counters (id integer primary key, n integer); insert into counters values (1, 0);
         create table hits (id integer primary key, n integer); create table first (id integer primary key, n integer)",
    );
    side_by_side(&database, 6, |thread, c| {
        for step in 0..20 {
            rows(c, "update counters set n = n + 1 where id = 1");
            let id = step % 3;
            rows(
                c,
                &format!("insert into hits values ({id}, 1) on conflict (id) do update set n = hits.n + 1"),
            );
            rows(
                c,
                &format!("insert into first values ({step}, {thread}) on conflict do nothing"),
            );
        }
    });
    assert_eq!(rows(&c, "select n from counters"), "120");
    assert_eq!(rows(&c, "select count(*), sum(n) from hits"), "3|120");
    assert_eq!(
        rows(&c, "select count(*), count(distinct id) from first"),
        "20|20"
    );
}

/// Rows that partial unique indexes on expressions find in the way are changed by many sessions, hot and frozen.
#[test]
fn upserts_by_partial_indexes_on_expressions_lose_no_step() {
    let database = Database::memory().expect("memory is there");
    let c = database.connect();
    rows(
        &c,
        "create table hits (name text, n integer, gone boolean not null default false);
         create unique index on hits (lower(name)) where not gone;
         insert into hits select 'name ' || i, 0 from generate_series(0, 2) as s(i);
         insert into hits select 'NAME ' || i, -1000, true from generate_series(0, 4) as s(i), generate_series(1, 3);
         freeze table hits",
    );
    side_by_side(&database, 6, |thread, c| {
        for step in 0..20 {
            let name = ["name", "Name", "NAME"][(thread % 3) as usize];
            let upsert = format!(
                "insert into hits values ('{name} {}', 1) on conflict (lower(name)) where not gone
                 do update set n = hits.n + excluded.n",
                step % 5
            );
            again_and_again(c, &[upsert]);
            if step == 10 && thread == 0 {
                rows(c, "freeze table hits");
            }
        }
    });
    assert_eq!(
        rows(&c, "select count(*), sum(n) from hits where not gone"),
        "5|120"
    );
    assert_eq!(
        rows(&c, "select count(*), min(n), max(n) from hits where gone"),
        "15|-1000|-1000"
    );
}

/// Each thread reads a row FOR UPDATE, computes outside of the database and writes: no step is lost. Without the lock
/// two threads would write one value.
#[test]
fn what_was_read_for_update_is_not_changed_before_it_is_written() {
    let database = Database::memory().expect("memory is there");
    let c = database.connect();
    rows(
        &c,
        "create table purse (id integer primary key, coins integer);
         insert into purse select i, 0 from generate_series(1, 3) as s(i)",
    );
    side_by_side(&database, 6, |thread, c| {
        let mut random = Random::new(thread);
        for _ in 0..20 {
            let (id, level) = (1 + random.below(3), random.below(2));
            let lock = ["for update", "for no key update"][random.below(2) as usize];
            let begin = ["begin", "begin isolation level repeatable read"][level as usize];
            loop {
                let read = c.execute(begin).and_then(|_| {
                    let sql = format!("select coins from purse where id = {id} {lock}");
                    c.query_row(&sql, ())?.get::<i64>(0)
                });
                let written = read.and_then(|coins| {
                    c.execute(&format!("update purse set coins = {} where id = {id}", coins + 1))
                });
                match written {
                    Ok(_) => break,
                    Err(error) => assert_eq!(error.state(), SqlState("40001"), "{error:?}"),
                }
                rows(c, "rollback");
            }
            rows(c, "commit");
        }
    });
    assert_eq!(rows(&c, "select sum(coins) from purse"), "120");
}

/// Workers take jobs in every way that the clauses allow, give some back, and lose none: each job is done once.
#[test]
fn workers_that_skip_locked_jobs_do_each_once() {
    let database = Database::memory().expect("memory is there");
    let c = database.connect();
    let jobs = 120 * rounds();
    rows(
        &c,
        &format!(
            "create table job (id integer primary key, worker integer);
             create table work (job integer, worker integer);
             insert into job select i, null from generate_series(1, {jobs}) as s(i)"
        ),
    );
    let next = "select id from job where worker is null order by id limit 1 for update skip locked";
    side_by_side(&database, 5, |thread, c| {
        let mut random = Random::new(thread);
        let by_subquery = format!("update job set worker = {thread} where id = ({next}) returning id");
        let by_list = by_subquery.replace("id = (", "id in (");
        let by_with = format!(
            "with next as ({next}) update job set worker = {thread} from next where job.id = next.id returning job.id"
        );
        loop {
            rows(c, "begin");
            let taken = match random.below(4) {
                0 => rows(c, &by_subquery),
                1 => rows(c, &by_list),
                2 => rows(c, &by_with),
                _ => {
                    let id = rows(c, next);
                    if !id.is_empty() {
                        rows(c, &format!("update job set worker = {thread} where id = {id}"));
                    }
                    id
                }
            };
            if taken.is_empty() {
                rows(c, "commit");
                // Others may have given back what they had.
                if rows(c, "select count(*) from job where worker is null") == "0" {
                    return;
                }
                continue;
            }
            rows(c, &format!("insert into work values ({taken}, {thread})"));
            rows(
                c,
                if random.below(8) == 0 {
                    "rollback"
                } else {
                    "commit"
                },
            );
        }
    });
    let done = rows(&c, "select count(*), count(distinct job), sum(job) from work");
    assert_eq!(done, format!("{jobs}|{jobs}|{}", jobs * (jobs + 1) / 2));
    assert_eq!(
        rows(
            &c,
            "select count(*) from job natural join (select job as id, worker from work) w"
        ),
        jobs.to_string()
    );
}

#[test]
fn open_transactions_write_rows_of_one_table_and_none_waits() {
    let database = Database::memory().expect("memory is there");
    let (a, b) = (database.connect(), database.connect());
    rows(&b, "set lock_timeout = 1");
    rows(
        &a,
        "create table t (id integer primary key, x integer); insert into t values (1, 1), (2, 2), (3, 3)",
    );
    rows(
        &a,
        "begin; insert into t values (4, 4); update t set x = 10 where id = 1",
    );
    rows(
        &b,
        "begin; insert into t values (5, 5); update t set x = 20 where id = 2; delete from t where id = 3",
    );
    assert_eq!(
        state(&b, "update t set x = 0 where id = 1"),
        SqlState::LOCK_NOT_AVAILABLE
    );
    rows(
        &b,
        "rollback; begin; insert into t values (6, 6); update t set x = 20 where id = 2",
    );
    assert_eq!(rows(&b, "select sum(x) from t"), "30");
    assert_eq!(rows(&a, "select sum(x) from t"), "19");
    rows(&b, "commit");
    // At READ COMMITTED the next statement sees it, and savepoints lead back to what it did itself.
    assert_eq!(rows(&a, "select sum(x) from t"), "43");
    rows(
        &a,
        "savepoint s; insert into t values (7, 7); delete from t where id in (1, 2)",
    );
    assert_eq!(rows(&a, "select sum(x) from t"), "20");
    rows(&a, "rollback to s");
    assert_eq!(rows(&a, "select sum(x) from t"), "43");
    rows(&a, "commit");
    assert_eq!(
        rows(&b, "select id, x from t order by id"),
        "1|10\n2|20\n3|3\n4|4\n6|6"
    );
}

#[test]
fn whoever_changes_definitions_waits_for_writers_and_they_for_it() {
    let database = Database::memory().expect("memory is there");
    let (a, b) = (database.connect(), database.connect());
    rows(&b, "set lock_timeout = 1");
    rows(
        &a,
        "create type colour as enum ('red'); create table t (id integer primary key); begin; insert into t values (1)",
    );
    for sql in [
        "truncate t",
        "create index on t (id)",
        "alter table t add x integer",
        "freeze table t",
        "drop table t",
        "drop type colour",
    ] {
        assert_eq!(state(&b, sql), SqlState::LOCK_NOT_AVAILABLE, "{sql}");
    }
    rows(
        &b,
        "create table v (x integer); insert into v values (9); freeze table v; truncate v",
    );
    // Whoever has written may define. Others may not, until that ends.
    rows(
        &a,
        "create table u (x integer); insert into u values (7); alter table t add y integer",
    );
    assert_eq!(
        state(&b, "create table w (x integer)"),
        SqlState::LOCK_NOT_AVAILABLE
    );
    rows(&b, "insert into v values (1)");
    assert_eq!(
        state(&b, "insert into t values (2)"),
        SqlState::LOCK_NOT_AVAILABLE
    );
    rows(&a, "commit");
    rows(
        &b,
        "insert into t values (2); insert into u values (8); alter table t add x integer",
    );
    assert_eq!(rows(&a, "select * from t order by id"), "1||\n2||");
}

/// Rows of open transactions lie between each other in one chunk, and a checkpoint comes between their commits: what a
/// crash leaves has the committed ones.
#[test]
fn commits_out_of_the_order_of_their_rows_survive_a_crash() {
    let path = directory("out_of_order");
    let crashed = directory("out_of_order_crashed");
    let database = Database::open(&path).expect("it opens");
    let [a, b, c, d] = [0; 4].map(|_| database.connect());
    rows(
        &a,
        "create table t (id integer primary key, x text); insert into t values (0, 'zero')",
    );
    for (session, id) in [(&a, 1), (&b, 2), (&c, 3)] {
        rows(
            session,
            &format!("begin; insert into t values ({id}, 'a text of row {id}')"),
        );
    }
    rows(&b, "commit; checkpoint");
    rows(
        &c,
        "savepoint s; insert into t values (5, null); rollback to s; update t set x = 'again' where id = 3",
    );
    rows(&a, "insert into t values (6, 'six'); commit");
    rows(&d, "insert into t values (4, null); delete from t where id = 0");
    rows(&c, "commit");
    rows(
        &d,
        "begin; insert into t values (7, 'never'); delete from t where id = 6",
    );
    let expected = "1|a text of row 1\n2|a text of row 2\n3|again\n4|\n6|six";
    for again in 0..2 {
        if again == 1 {
            rows(&a, "checkpoint");
        }
        let _ = std::fs::remove_dir_all(&crashed);
        copy_all(&path, &crashed);
        let recovered = Database::open(&crashed).expect("it opens again");
        let r = recovered.connect();
        assert_eq!(rows(&r, "select * from t order by id"), expected);
        assert_eq!(
            rows(&r, "select id from t where id in (1, 3, 5, 7) order by id"),
            "1\n3"
        );
        rows(
            &r,
            "insert into t values (5, 'five'), (7, 'seven'); freeze table t",
        );
        assert_eq!(
            state(&r, "insert into t values (2, 'two')"),
            SqlState::UNIQUE_VIOLATION
        );
        assert_eq!(rows(&r, "select count(*), count(x) from t"), "7|6");
        recovered.close().expect("it closes");
    }
    rows(&d, "rollback");
    assert_eq!(rows(&a, "select * from t order by id"), expected);
}

/// A circle of a wait for a row and a wait for nobody else to write.
#[test]
fn a_definition_that_would_wait_for_its_own_waiter_is_a_deadlock() {
    let database = Database::memory().expect("memory is there");
    let (a, b) = (database.connect(), database.connect());
    rows(&a, "set lock_timeout = 0");
    rows(&b, "set lock_timeout = 0");
    rows(
        &a,
        "create table t (id integer primary key, x integer); insert into t values (1, 1), (2, 2)",
    );
    rows(&a, "begin; update t set x = 10 where id = 1");
    rows(&b, "begin; update t set x = 20 where id = 2");
    std::thread::scope(|scope| {
        let waiting = scope.spawn(|| rows(&b, "update t set x = 20 where id = 1"));
        while database.waiting_statements() == 0 {
            std::thread::yield_now();
        }
        assert_eq!(state(&a, "alter table t add y integer"), SqlState("40P01"));
        assert_eq!(waiting.join().expect("it goes on"), "UPDATE 1");
    });
    rows(&a, "rollback");
    rows(&b, "commit");
    assert_eq!(rows(&a, "select x from t order by id"), "20\n20");
    assert_eq!(database.waiting_statements(), 0);
}

/// A wait ends when its statement is cancelled, and takes nothing with it.
#[test]
fn waits_are_cancelled_and_leave_nothing() {
    let database = Database::memory().expect("memory is there");
    let (a, b) = (database.connect(), database.connect());
    rows(
        &a,
        "create table t (id integer primary key, x integer); insert into t values (1, 1)",
    );
    for sql in [
        "update t set x = 2 where id = 1",
        "insert into t values (2, 2)",
        "insert into t values (2, 2) on conflict do nothing",
        "alter table t add y integer",
    ] {
        rows(
            &a,
            "begin; update t set x = 3 where id = 1; insert into t values (2, 3)",
        );
        rows(&b, "begin; insert into t values (3, 3)");
        let cancel = b.cancel_handle();
        std::thread::scope(|scope| {
            let waiting = scope.spawn(|| state(&b, sql));
            while database.waiting_statements() == 0 {
                std::thread::yield_now();
            }
            cancel.cancel();
            assert_eq!(
                waiting.join().expect("it ends"),
                SqlState::QUERY_CANCELED,
                "{sql}"
            );
        });
        // The transaction failed, so its row is free.
        rows(&a, "insert into t values (3, 4); rollback");
        rows(&b, "rollback");
        assert_eq!(rows(&a, "select id, x from t"), "1|1");
    }
    rows(&a, "truncate t");
}

/// A transaction of the storm: transfers between accounts, notes of them, and savepoints that are returned to.
fn stormy_transaction(random: &mut Random, thread: u64, number: u64) -> Vec<String> {
    let level = ["read committed", "repeatable read"][random.index(2)];
    let mut statements = vec![format!("begin isolation level {level}")];
    for part in 0..1 + random.below(3) {
        let [from, to, amount] = [10, 10, 20].map(|most| random.below(most));
        let transfer = [
            format!("update accounts set balance = balance - {amount} where id = {from}"),
            format!("update accounts set balance = balance + {amount} where id = {to}"),
        ];
        let undone = random.below(3) == 0;
        if undone {
            statements.push("savepoint s".to_string());
        }
        statements.extend(transfer);
        statements.push(match random.below(3) {
            0 => format!("insert into notes values ({thread}, {number}, {part})"),
            1 => format!(
                "insert into hits values ({from}, 1) on conflict (id) do update set n = hits.n + excluded.n"
            ),
            _ => format!("delete from notes where thread = {thread} and number < {number}"),
        });
        if undone {
            statements.push("rollback to s".to_string());
        }
    }
    statements.push("commit".to_string());
    statements
}

/// A transaction that defines tables of its own and one that others write to, with a savepoint that is returned to.
fn defining_transaction(number: u64) -> Vec<String> {
    let statements = [
        "begin",
        "create table drafts (id integer primary key, x integer)",
        "insert into drafts select i, i from generate_series(1, 50) as s(i)",
        "savepoint s",
        "alter table hits add hint integer",
        "alter table drafts drop x",
        "insert into notes values (-1, 0, 0)",
        "rollback to s",
        "update drafts set x = x + 1 where id < 10",
        &format!("alter table hits alter n set default {number}"),
        "drop table drafts",
        "commit",
    ];
    statements.map(str::to_string).to_vec()
}

/// Writers, readers, checkpoints, freezes and definitions at once, in a directory that is opened again.
#[test]
fn a_storm_leaves_sums_keys_and_indexes_as_they_must_be() {
    let path = directory("storm");
    let database = Database::open(&path).expect("it opens");
    let c = database.connect();
    rows(
        &c,
        "set max_wal_size = '50kB'; set frazil.freeze_after = '1ms'; set lock_timeout = 0;
         create table accounts (id integer primary key, balance integer);
         insert into accounts select i, 100 from generate_series(0, 9) as s(i);
         create table hits (id integer primary key, n integer);
         create table notes (thread integer, number integer, part integer, primary key (thread, number, part))",
    );
    let is_over = AtomicBool::new(false);
    let again: u64 = std::thread::scope(|scope| {
        let at_end = frazil_testkit::RaisedAtEnd(&is_over);
        let reader = scope.spawn(|| {
            let c = database.connect();
            while !is_over.load(Ordering::Relaxed) {
                assert_eq!(rows(&c, "select sum(balance), count(*) from accounts"), "1000|10");
            }
        });
        let maintainer = scope.spawn(|| {
            let c = database.connect();
            rows(&c, "set lock_timeout = 0");
            let statements = [
                "freeze table accounts",
                "checkpoint",
                "create index by_balance on accounts (balance)",
                "freeze table notes order by number",
                "truncate hits",
                "drop index by_balance",
            ];
            for sql in statements.iter().cycle() {
                if is_over.load(Ordering::Relaxed) {
                    break;
                }
                rows(&c, sql);
            }
        });
        let definer = scope.spawn(|| {
            let c = database.connect();
            rows(&c, "set lock_timeout = 0");
            let mut number = 0;
            while number < 3 || !is_over.load(Ordering::Relaxed) {
                number += 1;
                again_and_again(&c, &defining_transaction(number));
            }
        });
        let again = side_by_side(&database, 4, |thread, c| {
            let mut random = Random::new(100 + thread);
            (0..12 * rounds())
                .map(|number| again_and_again(c, &stormy_transaction(&mut random, thread, number)))
                .sum::<u64>()
        });
        drop(at_end);
        reader.join().expect("no panic");
        maintainer.join().expect("no panic");
        definer.join().expect("no panic");
        again.iter().sum()
    });
    println!("{again} transactions had to run again");
    assert_eq!(database.waiting_statements(), 0);
    let check = |c: &Connection| {
        assert_eq!(c.verify().expect("it reads all").findings, Vec::<String>::new());
        assert_eq!(rows(c, "select sum(balance), count(*) from accounts"), "1000|10");
        let by_key = "select sum(balance) from generate_series(0, 9) as s(i) join accounts on id = i";
        assert_eq!(rows(c, by_key), "1000");
        assert_eq!(rows(c, "select count(*) from notes where thread < 0"), "0");
        for table in ["accounts", "hits", "notes"] {
            rows(c, &format!("freeze table {table}"));
        }
        rows(
            c,
            "select count(*), count(distinct (thread, number, part)) from notes",
        )
    };
    let notes = check(&c);
    drop(c);
    database.close().expect("it closes");
    let database = Database::open(&path).expect("it opens again");
    assert_eq!(check(&database.connect()), notes);
}
