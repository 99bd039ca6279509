//! DEFERRABLE UNIQUE and PRIMARY KEY: a table with such keys beside a twin without any, which gets the same rows. What
//! the twin holds says which statement, SET CONSTRAINTS and COMMIT must fail, and what a lookup by key must find.

use crate::{directory, memory, rows, state};
use frazil::{Connection, Database, SqlState};
use frazil_testkit::Random;

const TABLES: &str = "create table keyed (id integer, a integer, b integer);
    alter table keyed add constraint key_a unique (a) deferrable initially deferred;
    alter table keyed add constraint key_b unique (b) deferrable;
    create table twin (id integer, a integer, b integer);
    insert into keyed select n, n, n from generate_series(1, 8) x(n);
    insert into twin table keyed";

/// Number of keys that several rows of the twin have.
fn duplicates(c: &Connection, column: &str) -> u32 {
    let groups = format!("select from twin where {column} is not null group by {column} having count(*) > 1");
    rows(c, &format!("select count(*) from ({groups}) x"))
        .parse()
        .unwrap()
}

/// A statement on `TABLE`.
fn statement(random: &mut Random, next: &mut u64) -> String {
    let (a, b) = (random.below(12), random.below(12));
    match random.below(10) {
        0 | 1 => {
            *next += 2;
            format!("insert into TABLE values ({next}, {a}, {b}), ({next} + 1, {b} + 3, null)")
        }
        2 => {
            *next += 20;
            format!("insert into TABLE select {next} + id % 20, b, a from TABLE where a < {a} and id % 3 = 0")
        }
        3 => "update TABLE set a = a + 1, b = b + 1".to_string(),
        4 => format!("update TABLE set b = {a} - b where b <= {a}"),
        5 => format!("update TABLE set a = {a} where a = {b}"),
        6 => format!("update TABLE set b = case b when {a} then {b} else {a} end where b in ({a}, {b})"),
        7 => format!("delete from TABLE where a = {a} or b = {b}"),
        8 => format!("update TABLE set id = id, a = nullif(a, {a})"),
        _ => format!("delete from TABLE where id % 5 = {a} % 5"),
    }
}

/// The two keys: whether each is checked at once now.
#[derive(Clone, Copy)]
struct Immediate {
    a: bool,
    b: bool,
}

impl Immediate {
    const AT_FIRST: Immediate = Immediate { a: false, b: true };

    /// True if the twin holds rows of one key that is checked at once.
    fn is_violated(self, c: &Connection) -> bool {
        self.a && duplicates(c, "a") > 0 || self.b && duplicates(c, "b") > 0
    }
}

/// Counts of what happened.
#[derive(Debug, Default)]
struct Seen {
    refused: u32,
    shared: u32,
    committed: u32,
    not_committed: u32,
}

/// Runs a statement, which must fail with 23505 if the rows of the twin say so.
fn must(c: &Connection, sql: &str, fails: bool, seed: u64) {
    match c.execute(sql) {
        Ok(_) => assert!(!fails, "seed {seed}: {sql} succeeded"),
        Err(e) => {
            assert!(fails, "seed {seed}: {sql}: {e:?}");
            assert_eq!(e.state(), SqlState::UNIQUE_VIOLATION, "seed {seed}: {sql}");
        }
    }
}

/// Compares the tables, and lookups by key.
fn compare(c: &Connection, random: &mut Random, seed: u64) {
    let all = |table: &str| rows(c, &format!("select * from {table} order by id, a, b"));
    assert_eq!(all("keyed"), all("twin"), "seed {seed}");
    let (column, value) = (["a", "b"][random.below(2) as usize], random.below(12));
    let found = |table: &str| {
        rows(
            c,
            &format!("select id from {table} where {column} = {value} order by id"),
        )
    };
    assert_eq!(found("keyed"), found("twin"), "seed {seed}: {column} = {value}");
}

fn transaction(c: &Connection, random: &mut Random, next: &mut u64, seen: &mut Seen, seed: u64) {
    rows(c, "begin; savepoint s");
    let (mut now, mut at_savepoint) = (Immediate::AT_FIRST, Immediate::AT_FIRST);
    for _ in 0..3 + random.below(6) {
        match random.below(10) {
            0 => {
                rows(c, "savepoint s");
                at_savepoint = now;
            }
            1 => {
                rows(c, "rollback to s");
                now = at_savepoint;
            }
            2 => {
                rows(c, "set constraints all deferred");
                now = Immediate { a: false, b: false };
            }
            3 => {
                let all = Immediate { a: true, b: true };
                let fails = all.is_violated(c);
                must(c, "set constraints all immediate", fails, seed);
                now = all;
                if fails {
                    rows(c, "rollback to s");
                    now = at_savepoint;
                }
            }
            _ => {
                let sql = statement(random, next);
                rows(c, "savepoint before");
                rows(c, &sql.replace("TABLE", "twin"));
                let fails = now.is_violated(c);
                must(c, &sql.replace("TABLE", "keyed"), fails, seed);
                if fails {
                    rows(c, "rollback to before");
                    seen.refused += 1;
                }
                rows(c, "release before");
            }
        }
        compare(c, random, seed);
        seen.shared += u32::from(duplicates(c, "a") > 0);
    }
    let fails = duplicates(c, "a") + duplicates(c, "b") > 0;
    must(c, "commit", fails, seed);
    match fails {
        true => seen.not_committed += 1,
        false => seen.committed += 1,
    }
    compare(c, random, seed);
}

#[test]
fn rows_share_a_key_until_they_are_checked() {
    let mut seen = Seen::default();
    for seed in 0..10 {
        let random = &mut Random::new(seed);
        let (c, mut next) = (memory(), 100);
        rows(&c, TABLES);
        for number in 0..6 {
            transaction(&c, random, &mut next, &mut seen, seed);
            if number == 2 {
                rows(&c, "freeze keyed; freeze twin");
            }
        }
        assert!(c.verify().unwrap().findings.is_empty(), "seed {seed}");
    }
    let Seen {
        refused,
        shared,
        committed,
        not_committed,
    } = seen;
    assert!(
        refused > 20 && shared > 40 && committed > 15 && not_committed > 8,
        "{seen:?}"
    );
}

#[test]
fn a_directory_keeps_keys_deferrable() {
    let path = directory("deferrable-keys-reopen");
    {
        let c = Database::open(&path).unwrap().connect();
        rows(&c, TABLES);
        rows(&c, "begin; insert into keyed values (9, 1, 9)");
        assert_eq!(state(&c, "commit"), SqlState::UNIQUE_VIOLATION);
    }
    // From the log, then from a checkpoint.
    for next in [20, 21] {
        let c = Database::open(&path).unwrap().connect();
        rows(&c, "update keyed set b = b + 1");
        rows(
            &c,
            &format!(
                "begin; insert into keyed values ({next}, 1, {next} * 10); update keyed set a = a + 10 where id = 1"
            ),
        );
        rows(
            &c,
            &format!("update keyed set a = a + {next} * 100 where a = 1; commit"),
        );
        assert_eq!(
            state(&c, "insert into keyed values (99, 2, 99)"),
            SqlState::UNIQUE_VIOLATION
        );
        let ddl = c.table("keyed").unwrap().ddl();
        assert!(ddl.contains("UNIQUE (a) DEFERRABLE INITIALLY DEFERRED,"), "{ddl}");
        assert!(ddl.contains("UNIQUE (b) DEFERRABLE\n"), "{ddl}");
        rows(
            &c,
            "update keyed set a = 1 where id = 1; freeze keyed; checkpoint",
        );
    }
    std::fs::remove_dir_all(&path).unwrap();
}
