//! Cancelling, timeouts, the memory budget.

use crate::{eventually, memory, rows, state};
use frazil::{Connection, SqlState};
use std::time::{Duration, Instant};

const LONG: &str = "select count(*) from n a, n b, n c where a.x + b.x < c.x";

fn numbers() -> Connection {
    let c = memory();
    rows(&c, "create table n (x integer not null)");
    rows(
        &c,
        "insert into n values (0), (1), (2), (3), (4), (5), (6), (7), (8), (9)",
    );
    for _ in 0..3 {
        rows(
            &c,
            "insert into n select a.x + 10 * b.x from n a, n b where a.x < 1000 and b.x < 10",
        );
    }
    c
}

#[test]
fn a_timeout_ends_the_statement_alone() {
    let c = numbers();
    for threads in [1, 2] {
        rows(&c, &format!("set threads = {threads}"));
        rows(&c, "set statement_timeout = '30ms'");
        let begun = Instant::now();
        assert_eq!(state(&c, LONG), SqlState::QUERY_CANCELED);
        assert!(begun.elapsed() < Duration::from_secs(5));
        eventually(&c, "set statement_timeout = 0");
        assert_eq!(rows(&c, "select 1"), "1");
    }
}

#[test]
fn a_timeout_is_heard_while_a_statement_is_read_and_planned() {
    let c = numbers();
    let nested = |n: usize| format!("select {}1{} from n", "exists (select ".repeat(n), ")".repeat(n));
    let long = format!("values {}", vec!["(abs(1), 'a')"; 100_000].join(", "));
    for sql in [nested(2000), long] {
        rows(&c, "set statement_timeout = '5ms'");
        assert_eq!(state(&c, &sql), SqlState::QUERY_CANCELED);
        eventually(&c, "set statement_timeout = 0");
    }
    assert_eq!(rows(&c, &nested(20)), rows(&c, "select true from n"));
}

/// The heaps of long strings are kept as they are: copies would take as much again.
#[test]
fn a_recursion_holds_its_strings_once() {
    let c = memory();
    rows(&c, "set memory_limit = '64MB'");
    let recursion = "with recursive r (n, t) as (select 1, repeat('x', 10000)
        union all select n + 1, t || 'y' from r where n < 4200) select count(*), max(length(t)) from r";
    assert_eq!(rows(&c, recursion), "4200|14199");
}

/// The strings of a file are in memory as long as a statement reads them as a table.
#[test]
fn the_strings_of_a_file_count() {
    let c = memory();
    let path = crate::directory("strings").with_extension("csv");
    let texts = "select repeat('x', 1000) || n t from generate_series(1, 20000) s (n)";
    rows(&c, &format!("copy ({texts}) to '{}' (header)", path.display()));
    let distinct = format!(
        "select count(*) from (select distinct t || 'z' from '{}') q",
        path.display()
    );
    rows(&c, "set memory_limit = '60MB'");
    assert_eq!(rows(&c, &distinct), "20000");
    rows(&c, "set memory_limit = '36MB'");
    assert_eq!(state(&c, &distinct), SqlState::OUT_OF_MEMORY);
    let _ = std::fs::remove_file(&path);
}

#[test]
fn cancel_comes_from_another_thread() {
    let c = numbers();
    let handle = c.cancel_handle();
    let canceller = std::thread::spawn(move || {
        std::thread::sleep(Duration::from_millis(50));
        handle.cancel();
    });
    let error = c.execute(LONG).expect_err("it is cancelled");
    assert_eq!(error.state(), SqlState::QUERY_CANCELED);
    assert!(error.message().contains("user"));
    canceller.join().expect("it only cancels");
    assert_eq!(rows(&c, "select 1"), "1");
}

#[test]
fn over_the_budget_nothing_else_is_harmed() {
    let c = numbers();
    let other = c.database().connect();
    rows(&c, "set memory_limit = '1MB'");
    let wide = "select a.x, b.x, count(*) from n a, n b group by a.x, b.x";
    assert_eq!(state(&c, wide), SqlState::OUT_OF_MEMORY);
    assert_eq!(
        rows(&other, "select count(*) from n where x < 5"),
        rows(&c, "select count(*) from n where x < 5")
    );
    rows(&c, "reset memory_limit");
    assert_ne!(rows(&c, "select count(*) from n"), "0");
}
