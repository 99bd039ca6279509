//! Foreign keys that are checked when the transaction ends: whatever statements and savepoints come before, COMMIT and
//! SET CONSTRAINTS … IMMEDIATE succeed if and only if a query finds no row without its parent.

use crate::{directory, memory, rows, state};
use frazil::{Connection, Database, SqlState};
use frazil_testkit::Random;

const TABLES: &str = "create table p (k integer primary key, up integer);
    create table c (id integer primary key, k integer, note text);
    alter table c add constraint to_p foreign key (k) references p deferrable initially deferred;
    alter table p add constraint to_c foreign key (up) references c deferrable;
    insert into p select n, null from generate_series(1, 6) x(n);
    insert into c select n, 1 + n % 6, 'x' from generate_series(1, 6) x(n)";

/// Rows without their parents: of `c`, then of `p`.
const ORPHANS: &str =
    "select (select count(*) from c where k is not null and not exists (select from p where p.k = c.k)),
    (select count(*) from p where up is not null and not exists (select from c where c.id = p.up))";

fn statement(random: &mut Random) -> String {
    let (a, b) = (random.below(9), random.below(9));
    match random.below(11) {
        0 => format!("insert into p values ({a}, null)"),
        1 => format!("insert into c values ({a}, {b}, 'new')"),
        2 => format!("insert into c values ({a}, {b}, 'up') on conflict (id) do update set k = excluded.k"),
        3 => format!("delete from p where k = {a}"),
        4 => format!("delete from c where id = {a}"),
        5 => format!("update p set k = {b} where k = {a}"),
        6 => format!("update c set k = {b} where id = {a}"),
        7 => format!("update c set note = note || 'y' where id % 3 = {a} % 3"),
        8 => format!("update c set id = {b} where id = {a}"),
        9 => format!("update p set up = {b} where k = {a}"),
        _ => format!("update p set up = null where k = {a}"),
    }
}

/// Counts of what happened.
#[derive(Debug, Default)]
struct Seen {
    committed: u32,
    refused: u32,
    checked: u32,
}

/// A transaction of random statements.
fn transaction(c: &Connection, random: &mut Random, seen: &mut Seen, seed: u64) {
    rows(c, "begin");
    rows(c, "set constraints all deferred");
    rows(c, "savepoint s");
    for _ in 0..3 + random.below(8) {
        let sql = match random.below(12) {
            0 => "savepoint s".to_string(),
            1 => "rollback to s".to_string(),
            2 => "set constraints all immediate".to_string(),
            _ => statement(random),
        };
        let orphans = rows(c, ORPHANS);
        match c.execute(&sql) {
            Ok(_) if sql.ends_with("immediate") => {
                assert_eq!(orphans, "0|0", "seed {seed}: {sql}");
                rows(c, "set constraints all deferred");
                seen.checked += 1;
            }
            Ok(_) => {}
            Err(e) => {
                if sql.ends_with("immediate") {
                    assert_eq!(e.state(), SqlState::FOREIGN_KEY_VIOLATION, "seed {seed}");
                    assert_ne!(orphans, "0|0", "seed {seed}: {e:?}");
                    seen.checked += 1;
                } else {
                    assert_eq!(e.state(), SqlState::UNIQUE_VIOLATION, "seed {seed}: {sql}: {e:?}");
                }
                rows(c, "rollback to s");
            }
        }
    }
    let orphans = rows(c, ORPHANS);
    match c.execute("commit") {
        Ok(_) => {
            assert_eq!(orphans, "0|0", "seed {seed}");
            seen.committed += 1;
        }
        Err(e) => {
            assert_eq!(e.state(), SqlState::FOREIGN_KEY_VIOLATION, "seed {seed}: {e:?}");
            assert_ne!(orphans, "0|0", "seed {seed}: {e:?}");
            seen.refused += 1;
        }
    }
    assert_eq!(rows(c, ORPHANS), "0|0", "seed {seed}");
}

#[test]
fn a_commit_succeeds_if_no_row_lacks_its_parent() {
    let mut seen = Seen::default();
    for seed in 0..40 {
        let random = &mut Random::new(seed);
        let c = memory();
        rows(&c, TABLES);
        for number in 0..6 {
            transaction(&c, random, &mut seen, seed);
            if number == 2 {
                rows(&c, "freeze p; freeze c");
            }
        }
        // Outside a transaction a statement is checked at its end.
        let sql = statement(random);
        drop(c.execute(&sql));
        assert_eq!(rows(&c, ORPHANS), "0|0", "seed {seed}: {sql}");
    }
    let Seen {
        committed,
        refused,
        checked,
    } = seen;
    assert!(committed > 100 && refused > 30 && checked > 100, "{seen:?}");
}

#[test]
fn what_would_move_rows_waits_for_their_checks() {
    let c = memory();
    rows(&c, TABLES);
    for sql in [
        "truncate c",
        "alter table c add x integer",
        "drop table c cascade",
        "freeze c",
    ] {
        rows(&c, "begin; insert into c values (7, 70, 'x')");
        assert_eq!(state(&c, sql), SqlState::OBJECT_IN_USE, "{sql}");
        rows(&c, "rollback");
    }
    rows(
        &c,
        "begin; insert into c values (7, 70, 'x'); insert into p values (70, null)",
    );
    rows(
        &c,
        "set constraints all immediate; alter table c add x integer; commit",
    );
    assert_eq!(rows(&c, "select * from c where id = 7"), "7|70|x|");
}

#[test]
fn a_directory_keeps_what_is_deferred() {
    let path = directory("deferred-reopen");
    {
        let database = Database::open(&path).unwrap();
        let c = database.connect();
        rows(&c, TABLES);
        rows(
            &c,
            "begin; insert into c values (7, 7, 'x'); insert into p values (7, null); commit",
        );
        rows(&c, "begin; insert into c values (8, 8, 'x')");
        assert_eq!(state(&c, "commit"), SqlState::FOREIGN_KEY_VIOLATION);
    }
    for _ in 0..2 {
        let c = Database::open(&path).unwrap().connect();
        assert_eq!(rows(&c, "select max(id) from c"), "7");
        rows(&c, "begin; insert into c values (8, 8, 'x')");
        assert_eq!(state(&c, "commit"), SqlState::FOREIGN_KEY_VIOLATION);
        assert_eq!(
            c.table("c").unwrap().ddl().lines().last(),
            Some(
                "alter table c add constraint to_p FOREIGN KEY (k) REFERENCES p(k) DEFERRABLE INITIALLY DEFERRED;"
            )
        );
        rows(&c, "checkpoint");
    }
    std::fs::remove_dir_all(&path).unwrap();
}
