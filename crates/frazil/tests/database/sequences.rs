//! Sequences beside the versions: no value is given twice, whatever becomes of transactions, sessions and the power.

use crate::{rows, state};
use frazil::{Cancel, Connection, Database, SqlState};
use frazil_durability::inspect;
use frazil_testkit::{Random, SimVfs};
use std::collections::HashSet;
use std::path::Path;

fn over(sim: &SimVfs) -> Connection {
    let c = Database::open_over(sim.vfs(), Path::new("/db"))
        .expect("it opens")
        .connect();
    rows(&c, "set max_wal_size = off; set checkpoint_timeout = off");
    c
}

/// Reads every byte of the files, as `frazil verify` does.
fn assert_sound(sim: &SimVfs) {
    let found = inspect(&sim.vfs(), Path::new("/db"), &Cancel::new(), &|_, _| ()).expect("nobody writes it");
    assert_eq!(found.findings, Vec::<String>::new());
}

fn numbers(text: &str) -> Vec<i64> {
    text.lines().map(|line| line.parse().expect("a number")).collect()
}

/// Values that a statement gave, none of which was given before.
fn take(c: &Connection, sql: &str, given: &mut HashSet<i64>) {
    for value in numbers(&rows(c, sql)) {
        assert!(given.insert(value), "{value} was given before: {sql}");
    }
}

#[test]
fn no_value_is_given_twice_across_power_cuts() {
    let mut cuts = 0;
    for seed in 0..40 {
        let mut random = Random::new(seed);
        let mut sim = SimVfs::new(seed);
        let mut c = over(&sim);
        rows(
            &c,
            "create sequence s; create table t (id bigint default nextval('s'), n integer)",
        );
        let mut given = HashSet::new();
        for step in 0..60 {
            match random.below(12) {
                0..3 => take(&c, "select nextval('s')", &mut given),
                3 => {
                    let count = 1 + random.below(200);
                    let sql = format!("select nextval('s') from generate_series(1, {count})");
                    take(&c, &sql, &mut given);
                }
                4 | 5 => take(&c, "insert into t (n) values (1), (2) returning id", &mut given),
                6 => {
                    rows(&c, "begin");
                    take(&c, "insert into t (n) values (3) returning id", &mut given);
                    take(&c, "select nextval('s')", &mut given);
                    rows(&c, "rollback");
                }
                7 => {
                    rows(&c, "begin; alter sequence s restart with 1");
                    rows(&c, "select nextval('s')");
                    rows(&c, "rollback");
                }
                8 => drop(rows(
                    &c,
                    &format!("create sequence other_{step}; select nextval('other_{step}')"),
                )),
                9 => drop(rows(&c, "checkpoint")),
                10 => drop(rows(&c, "alter sequence s cache 5")),
                11 if random.below(2) == 0 => {
                    // An orderly close: nothing is lost, also if no commit came behind the last value.
                    let last = rows(&c, "select last_value, is_called from s");
                    c.database().clone().close().expect("it closes");
                    drop(c);
                    assert_sound(&sim);
                    c = over(&sim);
                    assert_eq!(
                        rows(&c, "select last_value, is_called from s"),
                        last,
                        "seed {seed}"
                    );
                }
                _ => {
                    // The cut ends a transaction that is open; the values that it took stay given.
                    if random.below(2) == 0 {
                        rows(&c, "begin");
                        take(&c, "select nextval('s')", &mut given);
                    }
                    let next = sim.restart_after_power_cut();
                    sim = next;
                    assert_sound(&sim);
                    c = over(&sim);
                    cuts += 1;
                }
            }
        }
        assert!(given.len() > 50, "seed {seed}: {} values", given.len());
        assert_eq!(rows(&c, "select count(*) - count(distinct id) from t"), "0");
    }
    assert!(cuts > 100, "{cuts} cuts");
}

#[test]
fn states_are_those_of_the_commits_after_a_cut() {
    let mut sim = SimVfs::new(7);
    rows(
        &over(&sim),
        "create sequence created; create sequence set_to; create sequence restarted; create sequence renamed; \
         select nextval('restarted'); select setval('set_to', 500); select setval('set_to', 100, false); \
         alter sequence restarted restart with 40; select nextval('renamed'); \
         alter sequence renamed rename to of_another_name; create sequence dropped; drop sequence dropped; \
         begin; create sequence taken; select nextval('taken'); select nextval('taken'); commit",
    );
    for _ in 0..2 {
        sim = sim.restart_after_power_cut();
        let c = over(&sim);
        assert_eq!(rows(&c, "select last_value, is_called from created"), "1|f");
        assert_eq!(rows(&c, "select last_value, is_called from set_to"), "100|f");
        assert_eq!(rows(&c, "select last_value, is_called from restarted"), "40|f");
        assert_eq!(rows(&c, "select last_value, is_called from taken"), "2|t");
        assert_eq!(rows(&c, "select nextval('of_another_name') > 1"), "t");
        assert_eq!(state(&c, "select nextval('dropped')"), SqlState::UNDEFINED_TABLE);
    }
}

#[test]
fn a_database_that_is_closed_goes_on_with_the_next_value() {
    let sim = SimVfs::new(8);
    let database = Database::open_over(sim.vfs(), Path::new("/db")).expect("it opens");
    rows(
        &database.connect(),
        "create sequence s; select nextval('s') from generate_series(1, 7)",
    );
    database.close().expect("it closes");
    let database = Database::open_over(sim.vfs(), Path::new("/db")).expect("it opens");
    assert_eq!(rows(&database.connect(), "select nextval('s')"), "8");
    database.close().expect("it closes");
}

#[test]
fn values_behind_the_last_commit_are_counted_exactly_when_it_is_closed() {
    let sim = SimVfs::new(10);
    rows(
        &over(&sim),
        "create sequence s; create table t (id serial, check (id < 0))",
    );
    for expected in 1..4 {
        let database = Database::open_over(sim.vfs(), Path::new("/db")).expect("it opens");
        assert_eq!(
            rows(&database.connect(), "select nextval('s')"),
            expected.to_string()
        );
        let refused = state(&database.connect(), "insert into t default values");
        assert_eq!(refused, SqlState::CHECK_VIOLATION);
        assert_eq!(
            rows(&database.connect(), "select last_value from t_id_seq"),
            expected.to_string()
        );
        database.close().expect("it closes");
        assert_sound(&sim);
    }
}

#[test]
fn many_values_take_few_syncs() {
    let sim = SimVfs::new(9);
    let c = over(&sim);
    rows(&c, "create sequence s");
    let syncs = |c: &Connection| numbers(&rows(c, "select syncs from frazil_wal"))[0];
    let before = syncs(&c);
    let sql = "select count(distinct n) from (select nextval('s') as n from generate_series(1, 200000)) x";
    assert_eq!(rows(&c, sql), "200000");
    let took = syncs(&c) - before;
    assert!((1..=32).contains(&took), "{took} syncs");
    // One for 33 values that come alone.
    let before = syncs(&c);
    (0..66).for_each(|_| drop(rows(&c, "select nextval('s')")));
    assert!(syncs(&c) - before <= 2);
}

#[test]
fn sessions_take_values_of_their_own_at_once() {
    let database = Database::memory().expect("it opens");
    rows(&database.connect(), "create sequence s");
    let of_session = |_: usize| {
        let c = database.connect();
        let values: Vec<i64> = (0..100)
            .flat_map(|_| {
                let taken = numbers(&rows(&c, "select nextval('s') from generate_series(1, 3)"));
                let last = numbers(&rows(&c, "select currval('s')"))[0];
                assert_eq!(taken.iter().max(), Some(&last), "a value of another session");
                taken
            })
            .collect();
        values
    };
    let taken: Vec<i64> = std::thread::scope(|scope| {
        let sessions: Vec<_> = (0..4).map(|at| scope.spawn(move || of_session(at))).collect();
        sessions
            .into_iter()
            .flat_map(|s| s.join().expect("it ends"))
            .collect()
    });
    let distinct: HashSet<i64> = taken.iter().copied().collect();
    assert_eq!((distinct.len(), distinct.iter().max()), (1200, Some(&1200)));
}

#[test]
fn a_restart_counts_for_others_when_it_commits() {
    let database = Database::memory().expect("it opens");
    let (a, b) = (database.connect(), database.connect());
    rows(
        &a,
        "create sequence s; create table t (id integer default nextval('s'))",
    );
    rows(&b, "set lock_timeout = '50ms'");
    let next = "select nextval('s')";
    assert_eq!((rows(&a, next), rows(&b, next)), ("1".into(), "2".into()));
    rows(&a, "begin; alter sequence s restart with 100");
    assert_eq!((rows(&a, next), rows(&b, next)), ("100".into(), "3".into()));
    rows(&a, "rollback");
    assert_eq!((rows(&a, next), rows(&b, next)), ("4".into(), "5".into()));
    rows(&a, "begin; alter sequence s restart with 100");
    rows(
        &b,
        "begin isolation level repeatable read; select count(*) from t",
    );
    rows(&a, "commit");
    // The older version that `b` sees leads to the state that counts.
    assert_eq!((rows(&b, next), rows(&a, next)), ("100".into(), "101".into()));
    rows(&b, "commit");
    // A plan that was kept is of the sequence as it was.
    rows(&a, "alter sequence s increment by 10");
    assert_eq!((rows(&a, next), rows(&b, next)), ("111".into(), "121".into()));
    rows(&a, "drop table t; drop sequence s");
    assert_eq!(state(&b, next), SqlState::UNDEFINED_TABLE);
}
