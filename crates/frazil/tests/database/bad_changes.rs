//! Changes of rows that must not happen, in part or at all: interrupted ones, keys that are too long or taken, indexes that are
//! gone. Afterwards nothing has changed, and the connection goes on.

use crate::{eventually, memory, rows, state};
use frazil::{Connection, RawValue as Value, SqlState};
use std::sync::atomic::{AtomicBool, Ordering};

/// Rows of a table that takes a while to change.
const MANY: usize = 1 << 17;

/// A table `t` of [`MANY`] rows with a primary key and an index.
fn large() -> Connection {
    let c = memory();
    rows(&c, "create table t (k bigint primary key, n integer, s text)");
    rows(&c, "create index t_n on t (n)");
    rows(
        &c,
        "insert into t values (0, 0, 'a text that is longer than twelve bytes')",
    );
    let mut count = 1;
    while count < MANY {
        rows(&c, &format!("insert into t select k + {count}, n + 1, s from t"));
        count *= 2;
    }
    c
}

/// What must be as before.
fn sums(c: &Connection) -> String {
    rows(c, "select count(*), sum(k), sum(n), min(s), max(s) from t")
}

/// Runs `sql`, which fails with `expected`, alone and behind another change in a transaction; nothing of it stays.
fn leaves_nothing(
    c: &Connection,
    sql: &str,
    expected: SqlState,
    interrupted: &dyn Fn(&Connection, &str) -> SqlState,
) {
    let before = sums(c);
    assert_eq!(interrupted(c, sql), expected, "{sql}");
    eventually(c, "reset memory_limit; reset statement_timeout");
    assert_eq!(sums(c), before, "{sql}");
    rows(c, "begin; update t set n = -1 where k = 5; savepoint before");
    let inside = sums(c);
    assert_eq!(interrupted(c, sql), expected, "{sql}");
    assert_eq!(state(c, "select 1"), SqlState::IN_FAILED_TRANSACTION);
    eventually(c, "rollback to before");
    eventually(c, "reset memory_limit; reset statement_timeout");
    assert_eq!(sums(c), inside, "{sql}");
    // Keys of rows that the statement wrote are free, those of rows that it replaced are taken.
    assert_eq!(
        rows(
            c,
            "insert into t values (-7, 1, 'new'), (5, 1, 'old') on conflict do nothing"
        ),
        "INSERT 1"
    );
    rows(c, "rollback");
    assert_eq!(sums(c), before, "{sql}");
    assert_eq!(rows(c, "select k, n from t where k in (5, -7)"), "5|2");
}

/// Changes of all rows.
const CHANGES: [&str; 4] = [
    "update t set s = s || 'x', n = n + 1",
    "update t set k = -k - 1000000",
    "insert into t select -k - 1000000, n, s from t",
    "insert into t select k, n, s from t on conflict (k) do update set n = t.n + 1, s = excluded.s || 'y'",
];

#[test]
fn a_change_that_runs_out_of_memory_leaves_nothing() {
    let c = large();
    for sql in CHANGES {
        leaves_nothing(&c, sql, SqlState::OUT_OF_MEMORY, &|c, sql| {
            rows(c, "set memory_limit = '2MB'");
            state(c, sql)
        });
    }
}

#[test]
fn what_is_written_down_for_the_log_counts_against_the_memory_limit() {
    let path = crate::directory("redo-memory");
    let database = frazil::Database::open(&path).expect("it opens");
    for (c, is_logged) in [(memory(), false), (database.connect(), true)] {
        rows(&c, "create table w (b text); set memory_limit = '9MB'; begin");
        let insert = "insert into w values (repeat('x', 100000))";
        let refused = (0..60).find_map(|_| c.execute(insert).err());
        let expected = is_logged.then_some(SqlState::OUT_OF_MEMORY);
        assert_eq!(refused.map(|e| e.state()), expected);
        // What was written down is forgotten with what was written.
        rows(&c, "rollback; begin");
        rows(&c, insert);
        rows(&c, "commit");
        assert_eq!(rows(&c, "select count(*) from w"), "1");
    }
}

#[test]
fn new_rows_and_entries_of_indexes_count_against_the_memory_limit() {
    let c = large();
    // What the statement computes fits, what it writes does not: 65 bytes a row and as many for its entries.
    for sql in ["update t set n = n + 1", "update t set k = k + 1000000"] {
        leaves_nothing(&c, sql, SqlState::OUT_OF_MEMORY, &|c, sql| {
            rows(c, "set memory_limit = '8MB'");
            state(c, sql)
        });
        rows(&c, "begin; set memory_limit = '64MB'");
        assert_eq!(rows(&c, sql), format!("UPDATE {MANY}"));
        rows(&c, "rollback; reset memory_limit");
    }
    let c = memory();
    rows(
        &c,
        "create table w (a bigint, b text); create index w_ba on w (b, a)",
    );
    rows(
        &c,
        "insert into w select x, repeat('k', 1000) from (values (1), (2), (3), (4)) v (x)",
    );
    for _ in 0..8 {
        rows(&c, "insert into w select * from w");
    }
    let before = rows(&c, "select count(*), sum(a) from w");
    rows(&c, "set memory_limit = '2MB'");
    assert_eq!(state(&c, "update w set a = a + 1"), SqlState::OUT_OF_MEMORY);
    rows(&c, "reset memory_limit");
    assert_eq!(rows(&c, "select count(*), sum(a) from w"), before);
}

#[test]
fn a_change_that_takes_too_long_leaves_nothing() {
    let c = large();
    for sql in CHANGES {
        leaves_nothing(&c, sql, SqlState::QUERY_CANCELED, &|c, sql| {
            rows(c, "set statement_timeout = '5ms'");
            state(c, sql)
        });
    }
}

#[test]
fn a_change_that_is_cancelled_leaves_nothing() {
    let c = large();
    for sql in CHANGES {
        leaves_nothing(&c, sql, SqlState::QUERY_CANCELED, &|c, sql| {
            let done = AtomicBool::new(false);
            std::thread::scope(|scope| {
                let at_end = frazil_testkit::RaisedAtEnd(&done);
                scope.spawn(|| {
                    // What is cancelled before the statement begins is forgotten.
                    while !done.load(Ordering::Relaxed) {
                        std::thread::sleep(std::time::Duration::from_millis(2));
                        c.cancel_handle().cancel();
                    }
                });
                let found = state(c, sql);
                drop(at_end);
                found
            })
        });
    }
}

#[test]
fn a_key_that_is_too_long_is_refused() {
    let c = memory();
    rows(&c, "create table t (k text primary key, n integer)");
    // Not a text that anything would shorten.
    let long: String = (0..2100u32)
        .map(|i| char::from(b'a' + (i * i % 23) as u8))
        .collect();
    let insert = c.prepare("insert into t values ($1, 1)").expect("it parses");
    let text = |n: usize| [Value::Text(long[..n].to_string())];
    insert.execute(text(1900)).expect("it fits");
    let error = insert.execute(text(2100)).expect_err("it is too long");
    assert_eq!(error.state(), SqlState::PROGRAM_LIMIT_EXCEEDED);
    assert!(
        error.message().contains("t_pkey") && error.hint().is_some(),
        "{error:?}"
    );
    let update = c.prepare("update t set k = k || $1").expect("it parses");
    let error = update.execute(text(300)).expect_err("it is too long");
    assert_eq!(error.state(), SqlState::PROGRAM_LIMIT_EXCEEDED);
    assert_eq!(rows(&c, "select count(*), sum(length(k)) from t"), "1|1900");
}

#[test]
fn a_unique_index_over_duplicates_says_which_key_and_how_often() {
    let c = memory();
    rows(&c, "create table t (a integer, b text)");
    rows(
        &c,
        "insert into t values (1, 'x'), (2, 'y'), (2, 'y'), (2, 'y'), (3, null), (3, null)",
    );
    let error = c
        .execute("create unique index t_a_b on t (a, b)")
        .expect_err("(2, y) is there thrice");
    assert_eq!(error.state(), SqlState("23505"));
    let text = format!("{:?} {:?}", error.detail(), error.hint());
    assert!(
        text.contains("(a, b)=(2, y)") && text.contains("3 rows"),
        "{text}"
    );
    assert_eq!(rows(&c, "delete from t where a = 2"), "DELETE 3");
    rows(&c, "create unique index t_a_b on t (a, b)");
    assert_eq!(state(&c, "insert into t values (1, 'x')"), SqlState("23505"));
}

#[test]
fn prepared_statements_outlive_their_index() {
    let c = memory();
    rows(&c, "create table t (k integer, n integer)");
    rows(&c, "create unique index t_k on t (k)");
    let [find, set, put] = [
        "select n from t where k = $1",
        "update t set n = n + 1 where k = $1",
        "insert into t values ($1, 1) on conflict (k) do update set n = t.n + 10",
    ]
    .map(|sql| c.prepare(sql).expect("it parses"));
    let one = [Value::Int(1)];
    for _ in 0..2 {
        put.execute(&one).expect("there is an index");
        put.execute(&one).expect("there is an index");
        set.execute(&one).expect("it runs");
        rows(&c, "drop index t_k");
        let error = put.execute(&one).expect_err("there is no index");
        assert_eq!(error.state(), SqlState::INVALID_COLUMN_REFERENCE);
        set.execute(&one).expect("it runs");
        find.execute(&one).expect("it runs");
        rows(&c, "create unique index t_k on t (k)");
        rows(&c, "drop table t");
        for statement in [&find, &set, &put] {
            let error = statement.execute(&one).expect_err("there is no table");
            assert_eq!(error.state(), SqlState::UNDEFINED_TABLE);
        }
        rows(&c, "create table t (k integer, n integer)");
        rows(&c, "create unique index t_k on t (k)");
    }
    put.execute(&one).expect("there is an index");
    assert_eq!(rows(&c, "select * from t"), "1|1");
}
