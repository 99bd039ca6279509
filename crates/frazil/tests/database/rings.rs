//! Rings of sessions that wait for each other over rows, keys and tables, and a queue of many for one row: the numbers
//! that must come out, whatever the order is. `FRAZIL_RINGS=1000` and `FRAZIL_QUEUE_SESSIONS=500` are the long forms.

use crate::rows;
use frazil::{Connection, Database, SqlState};
use frazil_testkit::Random;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::channel;
use std::time::Instant;

fn given(name: &str, otherwise: u64) -> u64 {
    let given = std::env::var(name).ok().and_then(|n| n.parse().ok());
    given.unwrap_or(otherwise)
}

/// A statement with which a member holds something, and one with which the member before it wants that.
fn thing(random: &mut Random, member: usize) -> (String, String) {
    let id = member + 1;
    let (new, other) = (1000 + id, 2000 + id);
    match random.below(10) {
        0 | 1 => {
            let update = format!("update t set x = x + 1 where id = {id}");
            (update.clone(), update)
        }
        2 => (
            format!("delete from t where id = {id}"),
            format!("select x from t where id = {id} for share"),
        ),
        3 => (
            format!("select x from t where id = {id} for update"),
            format!("update t set x = 0 where id = {id}"),
        ),
        4 => (
            format!("select x from t where id = {id} for share"),
            format!("delete from t where id = {id}"),
        ),
        // The key of a row that is being inserted.
        5 => (
            format!("insert into t values ({new}, {new}, 0)"),
            format!("insert into t values ({new}, {other}, 0)"),
        ),
        6 => (
            format!("insert into t values ({new}, {new}, 0)"),
            format!("insert into t values ({other}, {new}, 0) on conflict (u) do update set x = 1"),
        ),
        // The key of a row that is being deleted.
        7 => (
            format!("delete from t where id = {id}"),
            format!("insert into t values ({id}, {other}, 0) on conflict do nothing"),
        ),
        // A table of the member's own.
        8 => (
            format!("truncate own_{id}"),
            format!("insert into own_{id} values (1)"),
        ),
        // No other definitions: only one transaction at a time changes the catalog, which would close smaller circles.
        _ => (
            format!("insert into own_{id} values (1)"),
            format!("truncate own_{id}"),
        ),
    }
}

/// Runs a ring: each member holds something, then wants what the next one holds. The last one closes the circle.
fn ring(database: &Database, seed: u64) {
    let mut random = Random::new(seed);
    let size = 2 + random.index(7);
    let c = database.connect();
    rows(
        &c,
        "drop table if exists t; create table t (id integer primary key, u integer unique, x integer);
         insert into t select i, -i, 0 from generate_series(1, 8) as s(i)",
    );
    for id in 1..=8 {
        let own = format!(
            "drop table if exists own_{id}; create table own_{id} (x integer); insert into own_{id} values (0)"
        );
        rows(&c, &own);
    }
    if random.below(2) == 0 {
        rows(&c, "freeze table t");
    }
    let things: Vec<(String, String)> = (0..size).map(|member| thing(&mut random, member)).collect();
    let sessions: Vec<Connection> = (0..size).map(|_| database.connect()).collect();
    for (session, (hold, _)) in sessions.iter().zip(&things) {
        rows(session, "set threads = 1; set lock_timeout = '10min'; begin");
        rows(session, hold);
    }
    let (ended, ends) = channel();
    // True once a statement is answered: too early, if the circle is not closed yet.
    let finished = AtomicBool::new(false);
    let mut results: Vec<(usize, Option<SqlState>)> = std::thread::scope(|scope| {
        for (member, session) in sessions.iter().enumerate() {
            let (ended, finished, want) = (ended.clone(), &finished, &things[(member + 1) % size].1);
            scope.spawn(move || {
                let state = session.execute(want).err().map(|error| error.state());
                finished.store(true, Ordering::Relaxed);
                // Whoever waits for this session goes on when it ends.
                rows(session, if state.is_some() { "rollback" } else { "commit" });
                ended.send((member, state)).expect("somebody listens");
            });
            while member + 1 < size
                && database.waiting_statements() < member + 1
                && !finished.load(Ordering::Relaxed)
            {
                std::thread::yield_now();
            }
        }
        (0..size).map(|_| ends.recv().expect("all end")).collect()
    });
    results.sort_unstable_by_key(|(member, _)| *member);
    let victims: Vec<usize> = (results.iter())
        .filter(|(_, state)| *state == Some(SqlState::DEADLOCK_DETECTED))
        .map(|(member, _)| *member)
        .collect();
    // The one that closes the circle is its victim. A key that was taken meanwhile is 23505.
    assert_eq!(victims, [size - 1], "seed {seed}: {results:?} of {things:?}");
    let is_expected = |state: Option<SqlState>| {
        let expected = [SqlState::DEADLOCK_DETECTED, SqlState::UNIQUE_VIOLATION];
        state.is_none_or(|state| expected.contains(&state))
    };
    assert!(
        results.iter().all(|(_, state)| is_expected(*state)),
        "seed {seed}: {results:?} of {things:?}"
    );
    assert_eq!(database.waiting_statements(), 0);
    assert_eq!(c.verify().expect("it reads all").findings, Vec::<String>::new());
}

#[test]
fn each_ring_over_rows_keys_and_tables_has_one_victim() {
    let database = Database::memory().expect("memory is there");
    for seed in 1..=given("FRAZIL_RINGS", 30) {
        ring(&database, seed);
    }
}

/// Many sessions update one row: no step is lost, nobody fails, and the longest wait is printed.
#[test]
fn a_queue_of_many_sessions_for_one_row_loses_no_step() {
    let (sessions, steps) = (given("FRAZIL_QUEUE_SESSIONS", 60), 5);
    let database = Database::memory().expect("memory is there");
    let c = database.connect();
    rows(
        &c,
        "create table counter (id integer primary key, n bigint); insert into counter values (1, 0)",
    );
    let begun = Instant::now();
    let mut waits: Vec<_> = std::thread::scope(|scope| {
        let run = || {
            let c = database.connect();
            rows(&c, "set threads = 1; set lock_timeout = '10min'");
            let step = || {
                let sent = Instant::now();
                assert_eq!(rows(&c, "update counter set n = n + 1 where id = 1"), "UPDATE 1");
                sent.elapsed()
            };
            (0..steps).map(|_| step()).collect::<Vec<_>>()
        };
        let running: Vec<_> = (0..sessions).map(|_| scope.spawn(run)).collect();
        let ended = running
            .into_iter()
            .flat_map(|thread| thread.join().expect("no panic"));
        ended.collect()
    });
    waits.sort_unstable();
    println!(
        "{sessions} sessions × {steps} updates in {:?}; median {:?}, longest {:?}",
        begun.elapsed(),
        waits[waits.len() / 2],
        waits[waits.len() - 1]
    );
    assert_eq!(rows(&c, "select n from counter"), (sessions * steps).to_string());
    assert_eq!(database.waiting_statements(), 0);
}
