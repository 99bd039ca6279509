//! Index entries that commits leave to the thread in the background while commits come often.

use crate::rows;
use frazil::Database;
use std::time::{Duration, Instant};

/// The thread in the background decides twice a second if commits leave index entries to it.
#[test]
fn indexes_that_go_while_entries_wait_for_the_background_leave_the_others_right() {
    let database = Database::memory().expect("it opens");
    let c = database.connect();
    rows(
        &c,
        "create table counted (k integer primary key, n integer not null)",
    );
    rows(
        &c,
        "insert into counted select k, 0 from generate_series(1, 50) as s (k)",
    );
    let begun = Instant::now();
    let mut steps = 0;
    while begun.elapsed() < Duration::from_millis(1_800) {
        let table = format!("t{}", steps % 3);
        rows(
            &c,
            &format!("create table {table} (k integer primary key, n integer not null)"),
        );
        rows(&c, &format!("create index {table}_n on {table} (n)"));
        rows(
            &c,
            &format!("insert into {table} select k, k from generate_series(1, 20) as s (k)"),
        );
        for k in 1..=20 {
            rows(&c, &format!("update {table} set n = n + 1 where k = {k}"));
            rows(
                &c,
                &format!("update counted set n = n + 1 where k = {}", 1 + steps % 50),
            );
            steps += 1;
        }
        rows(&c, &format!("drop index {table}_n"));
        rows(&c, &format!("delete from {table} where k > 10"));
        match steps / 20 % 2 {
            0 => rows(&c, &format!("truncate {table}")),
            _ => rows(&c, &format!("alter table {table} drop column n")),
        };
        let found = c.verify().expect("it runs");
        assert!(found.findings.is_empty(), "{:?}", found.findings);
        rows(&c, &format!("drop table {table}"));
    }
    assert_eq!(rows(&c, "select sum(n) from counted"), steps.to_string());
    // Once commits are rare, an index has the entries of its rows.
    let until = Instant::now() + Duration::from_secs(60);
    while rows(&c, "select entries from frazil_indexes") != "50" {
        assert!(Instant::now() < until, "entries of dead rows stay");
        std::thread::sleep(Duration::from_millis(50));
    }
    assert_eq!(rows(&c, "show frazil.background_failures"), "0");
}
