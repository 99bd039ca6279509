//! Whom LOCK TABLE keeps out, in each of its modes: the answers are PostgreSQL 15's, recorded by two of its sessions.

use frazil::{Connection, Database};

/// The modes, from the weakest to the strongest.
const MODES: [&str; 8] = [
    "access share",
    "row share",
    "row exclusive",
    "share update exclusive",
    "share",
    "share row exclusive",
    "exclusive",
    "access exclusive",
];

/// A row for each mode that is held, a column for each that another session wants: `x` is 55P03.
const CONFLICTS: [&str; 8] = [
    ".......x", "......xx", "....xxxx", "...xxxxx", "..xx.xxx", "..xxxxxx", ".xxxxxxx", "xxxxxxxx",
];

/// For each statement, the modes that keep it out. CREATE INDEX also waits for SHARE, which PostgreSQL lets it pass: it
/// becomes a writer of the table that it changes.
const STATEMENTS: [(&str, &str); 10] = [
    ("select * from t for key share", "......xx"),
    ("select * from t for update", "......xx"),
    ("insert into t values (2, 2)", "....xxxx"),
    ("update t set n = n + 1", "....xxxx"),
    ("delete from t", "....xxxx"),
    ("create index on t (n)", "..xxxxxx"),
    ("truncate t", "xxxxxxxx"),
    ("alter table t add column x int", "xxxxxxxx"),
    ("drop table t", "xxxxxxxx"),
    ("create table child (id int references t)", "..xxxxxx"),
];

fn run(connection: &Connection, sql: &str) {
    connection.execute(sql).unwrap_or_else(|e| panic!("{sql}: {e:?}"));
}

/// Two sessions, and a table with a row.
fn sessions() -> [Connection; 2] {
    let database = Database::memory().expect("memory is there");
    let sessions = [database.connect(), database.connect()];
    run(
        &sessions[0],
        "create table t (id int primary key, n int); insert into t values (1, 1)",
    );
    sessions
}

/// For each mode that the first session holds: whether the second one's statement is 55P03.
fn kept_out([first, second]: &[Connection; 2], level: &str, sql: &str) -> String {
    let outcome = |mode: &&str| {
        run(
            first,
            &format!("begin isolation level {level}; lock table t in {mode} mode"),
        );
        run(
            second,
            &format!("begin isolation level {level}; set local lock_timeout = '1ms'"),
        );
        let outcome = match second.execute(sql) {
            Ok(_) => '.',
            Err(error) => {
                assert_eq!(
                    error.state().to_string(),
                    "55P03",
                    "{sql} beside {mode}: {error:?}"
                );
                'x'
            }
        };
        run(second, "rollback");
        run(first, "rollback");
        outcome
    };
    MODES.iter().map(outcome).collect()
}

#[test]
fn modes_conflict_as_in_postgresql() {
    let sessions = sessions();
    for level in ["read committed", "repeatable read"] {
        for (wanted, mode) in MODES.iter().enumerate() {
            for nowait in ["", " nowait"] {
                let sql = format!("lock table t in {mode} mode{nowait}");
                let recorded: String = CONFLICTS.iter().map(|row| &row[wanted..=wanted]).collect();
                assert_eq!(kept_out(&sessions, level, &sql), recorded, "{sql}");
            }
        }
    }
}

#[test]
fn statements_conflict_with_modes_as_in_postgresql() {
    let sessions = sessions();
    for (sql, recorded) in STATEMENTS {
        for level in ["read committed", "repeatable read"] {
            assert_eq!(kept_out(&sessions, level, sql), recorded, "{sql}");
        }
    }
    // Readers never wait.
    assert_eq!(
        kept_out(&sessions, "read committed", "select * from t"),
        "........"
    );
}

#[test]
fn a_serializable_transaction_locks_all_tables() {
    let [first, second] = sessions();
    run(
        &first,
        "begin isolation level serializable; lock table t in access share mode",
    );
    run(&second, "set lock_timeout = '1ms'");
    let error = second.execute("insert into t values (2, 2)").unwrap_err();
    assert_eq!(error.state().to_string(), "55P03");
    run(&first, "rollback");
    run(&second, "insert into t values (2, 2)");
}

#[test]
fn errors_name_the_table() {
    let [first, second] = sessions();
    run(&first, "begin; lock table t in share mode");
    run(&second, "begin");
    let error = second
        .execute("lock table t in exclusive mode nowait")
        .unwrap_err();
    assert_eq!(error.message(), "could not obtain lock on relation \"t\"");
    run(&second, "rollback; begin; set local lock_timeout = '1ms'");
    let error = second.execute("lock table t in exclusive mode").unwrap_err();
    assert_eq!(error.message(), "canceling statement due to lock timeout");
    assert_eq!(
        error.detail(),
        Some("The statement waited for a lock EXCLUSIVE on table \"t\".")
    );
}

/// A server describes a statement before it runs it; that must not choose the version which a transaction sees.
#[test]
fn a_described_lock_comes_before_the_snapshot() {
    let [first, second] = sessions();
    run(&first, "begin isolation level repeatable read");
    let lock = first
        .prepare("lock table t in share row exclusive mode")
        .expect("it is prepared");
    lock.describe().expect("it is described");
    run(&second, "insert into t values (2, 2)");
    lock.execute(()).expect("it locks");
    let rows = first.query("select * from t", ()).expect("it reads");
    assert_eq!(rows.raw().count(), 2, "it sees what came before the lock");
    run(&first, "update t set n = n + 1; commit");
    let rows = second
        .query("select * from t where n in (2, 3)", ())
        .expect("it reads");
    assert_eq!(rows.raw().count(), 2);
}
