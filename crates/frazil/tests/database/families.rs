//! Foreign keys beside sessions that write parents and children at the same time, in threads.

use crate::writers::{again_and_again, again_unless, rounds, side_by_side};
use crate::{rows, state};
use frazil::{Database, SqlState};
use frazil_testkit::Random;

/// A transaction on parents and children of one of three groups of tables.
fn family_transaction(random: &mut Random, level: &str, thread: u64, number: u64) -> Vec<String> {
    let group = random.below(3);
    let mut statements = vec![format!("begin isolation level {level}")];
    for part in 0..1 + random.below(3) {
        let (parent, other) = (random.below(6), random.below(6));
        let child = 1_000_000 * thread + 10 * number + part;
        if random.below(8) == 0 {
            statements.push("savepoint s".to_string());
            statements.push(format!("delete from child{group} where parent = {other}"));
            statements.push(format!("delete from parent{group} where id = {other}"));
            statements.push("rollback to s".to_string());
        }
        statements.push(match random.below(10) {
            0 => format!("insert into parent{group} values ({parent}) on conflict do nothing"),
            1 => format!("delete from parent{group} where id = {parent}"),
            2 => format!(
                "update parent{group} set id = {other} where id = {parent}
                 and {other} not in (select id from parent{group})"
            ),
            3 => format!("delete from child{group} where parent = {parent}"),
            4 => format!("insert into loner values ({child})"),
            5 => format!("update parent{group} set x = x + 1 where id = {parent}"),
            6 => format!("select * from parent{group} where id = {parent} for update"),
            7 => format!(
                "update child{group} set parent = {parent} where parent = {other}
                 and {parent} in (select id from parent{group})"
            ),
            _ => {
                format!("insert into child{group} select {child}, id from parent{group} where id = {parent}")
            }
        });
    }
    statements.push("commit".to_string());
    statements
}

/// Parents and children come and go in all orders, beside a definition that makes and drops a foreign key: no child is
/// left without its parent.
#[test]
fn no_child_is_left_without_its_parent() {
    for level in ["read committed", "repeatable read"] {
        families_side_by_side(level);
    }
}

fn families_side_by_side(level: &str) {
    let database = Database::memory().expect("memory is there");
    let c = database.connect();
    for (group, action) in [
        (0, "on delete cascade on update cascade"),
        (1, "on delete set null on update cascade"),
        (2, "deferrable initially deferred"),
    ] {
        rows(
            &c,
            &format!(
                "create table parent{group} (id integer primary key, x integer default 0);
                 create table child{group} (id integer primary key, parent integer references parent{group} {action});
                 insert into parent{group} select i from generate_series(0, 5) as s(i)"
            ),
        );
    }
    rows(&c, "create table loner (id integer primary key)");
    // Parents go, and keys come, while a transaction waits; and a parent may have children.
    let states = ["23503", "23505"];
    side_by_side(&database, 4, |thread, c| {
        let mut random = Random::new(500 + thread);
        for number in 0..20 * rounds() {
            if thread == 0 && number % 5 == 0 {
                // The definer holds `loner` and waits for the other tables, as a transaction does that wrote them.
                for change in ["add column up integer references parent0", "drop column up"] {
                    again_and_again(c, &[format!("alter table loner {change}")]);
                }
            }
            let transaction = family_transaction(&mut random, level, thread, number);
            again_unless(c, &transaction, &states);
        }
    });
    for group in 0..3 {
        let orphans = format!(
            "select count(*) from child{group} c where parent is not null
             and not exists (select 1 from parent{group} p where p.id = c.parent)"
        );
        assert_eq!(rows(&c, &orphans), "0");
    }
    assert_eq!(database.waiting_statements(), 0);
    assert_eq!(c.verify().expect("it reads all").findings, Vec::<String>::new());
}

/// A transaction that claims more keys than it can count one by one claims all of them, and lets go of them with its
/// savepoint.
#[test]
fn many_keys_are_claimed_as_a_whole() {
    let database = Database::memory().expect("memory is there");
    let (c, d) = (database.connect(), database.connect());
    rows(
        &c,
        "create table p (id integer primary key, x integer);
         create table c (id integer primary key, p integer references p);
         insert into p select i, i from generate_series(1, 10000) as s(i)",
    );
    rows(&d, "set lock_timeout = '20ms'");
    rows(
        &c,
        "begin; savepoint a; insert into c select i, i from generate_series(1, 5000) as s(i)",
    );
    rows(&d, "insert into c values (10000, 10000)");
    rows(&d, "update p set x = 0 where id = 1");
    assert_eq!(state(&d, "delete from p where id = 9999"), SqlState("55P03"));
    rows(&c, "rollback to a");
    rows(&d, "delete from p where id = 9999");
    rows(
        &c,
        "insert into c select i, i from generate_series(1, 4000) as s(i)",
    );
    rows(&d, "delete from p where id = 9998");
    assert_eq!(state(&d, "delete from p where id = 3"), SqlState("55P03"));
    rows(&c, "commit");
    assert_eq!(state(&d, "delete from p where id = 3"), SqlState("23503"));
    rows(&c, "begin; delete from p where id between 4001 and 9000");
    assert_eq!(state(&d, "insert into c values (10001, 3)"), SqlState("55P03"));
    rows(&c, "rollback");
    // Keys that are set to what they are, and many children of one parent.
    rows(&c, "begin; update p set id = id, x = 1");
    rows(&d, "insert into c values (10001, 3)");
    rows(
        &c,
        "commit; begin; insert into c select i, 5 from generate_series(20000, 26000) as s(i)",
    );
    rows(&d, "delete from p where id = 9997");
    rows(&c, "commit");
    assert_eq!(c.verify().expect("it reads all").findings, Vec::<String>::new());
}
