//! BEGIN, COMMIT, ROLLBACK and savepoints.

use crate::{memory, rows, state};
use frazil::{Connection, SqlState};

#[test]
fn a_transaction_is_seen_whole_or_not_at_all() {
    let a = memory();
    let b = a.database().connect();
    rows(&a, "create table t (x integer)");
    rows(&a, "begin; insert into t values (1); insert into t values (2)");
    assert_eq!(rows(&a, "select count(*) from t"), "2");
    assert_eq!(rows(&b, "select count(*) from t"), "0");
    assert_eq!(rows(&a, "commit"), "COMMIT");
    assert_eq!(rows(&b, "select count(*) from t"), "2");
    rows(&a, "begin; delete from t; create table u (y text)");
    assert_eq!(rows(&a, "select count(*) from t"), "0");
    assert_eq!(rows(&a, "rollback"), "ROLLBACK");
    assert_eq!(rows(&a, "select count(*) from t"), "2");
    assert_eq!(state(&a, "select * from u"), SqlState::UNDEFINED_TABLE);
}

#[test]
fn a_second_writer_of_a_row_waits_and_then_gives_up() {
    let a = memory();
    let b = a.database().connect();
    rows(&a, "create table t (x integer); insert into t values (1)");
    rows(&a, "begin; update t set x = x + 1");
    rows(&b, "set lock_timeout = 30");
    assert_eq!(state(&b, "update t set x = x + 10"), SqlState::LOCK_NOT_AVAILABLE);
    rows(&b, "set lock_timeout = '10min'");
    let waiting = std::thread::spawn(move || rows(&b, "update t set x = x + 10"));
    while a.database().waiting_statements() == 0 {
        std::thread::yield_now();
    }
    rows(&a, "commit");
    assert_eq!(waiting.join().expect("the writer gets its turn"), "UPDATE 1");
    assert_eq!(rows(&a, "select x from t"), "12");
}

#[test]
fn after_a_failure_only_rollback_is_left() {
    let c = memory();
    rows(&c, "create table t (x integer not null)");
    rows(&c, "begin; insert into t values (1)");
    assert_eq!(
        state(&c, "insert into t values (null)"),
        SqlState::NOT_NULL_VIOLATION
    );
    assert_eq!(state(&c, "select 1"), SqlState::IN_FAILED_TRANSACTION);
    assert_eq!(rows(&c, "commit"), "ROLLBACK");
    assert_eq!(rows(&c, "select count(*) from t"), "0");
}

/// The warnings of a text, with their codes.
fn warnings(c: &Connection, sql: &str) -> Vec<String> {
    let notices = c.execute(sql).expect("it succeeds").notices;
    let text = |notice: &frazil::Notice| {
        assert_eq!(notice.severity, frazil::Severity::Warning);
        format!("{} {}", notice.state, notice.message)
    };
    notices.iter().map(text).collect()
}

#[test]
fn what_begins_or_ends_no_transaction_is_a_warning() {
    let c = memory();
    rows(&c, "create table t (x integer)");
    let none = "25P01 there is no transaction in progress";
    let open = "25001 there is already a transaction in progress";
    assert_eq!(warnings(&c, "commit"), [none]);
    assert_eq!(warnings(&c, "rollback"), [none]);
    assert_eq!(warnings(&c, "begin; insert into t values (1); begin"), [open]);
    // The transaction goes on.
    assert_eq!(warnings(&c, "start transaction"), [open]);
    rows(&c, "rollback");
    assert_eq!(rows(&c, "select count(*) from t"), "0");
    assert_eq!(
        warnings(&c, "set local lock_timeout = 1; set transaction read only"),
        [
            "25P01 SET LOCAL can only be used in transaction blocks",
            "25P01 SET TRANSACTION can only be used in transaction blocks"
        ]
    );
    // What is a warning is not counted as one by who does not want to hear it.
    rows(&c, "set client_min_messages = error");
    assert!(warnings(&c, "commit").is_empty());
    assert_eq!(state(&c, "commit and chain"), SqlState::NO_ACTIVE_TRANSACTION);
    rows(&c, "begin");
    state(&c, "select nothing");
    assert_eq!(state(&c, "begin"), SqlState::IN_FAILED_TRANSACTION);
}

#[test]
fn transactions_have_modes() {
    let c = memory();
    rows(&c, "create table t (x integer)");
    let shown = || {
        (
            rows(&c, "show transaction isolation level"),
            rows(&c, "show transaction_read_only"),
        )
    };
    let pair = |level: &str, flag: &str| (level.to_string(), flag.to_string());
    assert_eq!(shown(), pair("read committed", "off"));
    for (begin, level, flag) in [
        (
            "begin isolation level read uncommitted",
            "read uncommitted",
            "off",
        ),
        (
            "begin work isolation level read committed read only",
            "read committed",
            "on",
        ),
        (
            "start transaction isolation level repeatable read, read write, not deferrable",
            "repeatable read",
            "off",
        ),
        (
            "begin transaction deferrable, isolation level serializable",
            "serializable",
            "off",
        ),
        (
            "begin; set transaction isolation level serializable read only",
            "serializable",
            "on",
        ),
        (
            "begin; set transaction_isolation = 'repeatable read'",
            "repeatable read",
            "off",
        ),
    ] {
        rows(&c, begin);
        assert_eq!(shown(), pair(level, flag), "{begin}");
        rows(&c, "commit and chain");
        assert_eq!(shown(), pair(level, flag), "{begin}");
        rows(&c, "rollback");
        assert_eq!(shown(), pair("read committed", "off"), "{begin}");
    }
    rows(&c, "begin; select 1");
    assert_eq!(
        state(&c, "set transaction isolation level serializable"),
        SqlState::ACTIVE_TRANSACTION
    );
    rows(
        &c,
        "rollback; set session characteristics as transaction isolation level serializable, read only; begin",
    );
    assert_eq!(shown(), pair("serializable", "on"));
    rows(&c, "rollback; reset all");
    assert_eq!(shown(), pair("read committed", "off"));
    for wrong in [
        "begin isolation read committed",
        "begin read",
        "begin isolation level none",
        "begin read only,",
        "set transaction",
        "commit and",
    ] {
        assert_eq!(state(&c, wrong), SqlState::SYNTAX_ERROR, "{wrong}");
    }
}

#[test]
fn read_only_transactions_change_nothing() {
    let c = memory();
    rows(&c, "create table t (x integer); insert into t values (1)");
    for refused in [
        "insert into t values (2)",
        "update t set x = 2",
        "delete from t",
        "truncate t",
        "create table u (x integer)",
        "drop table t",
        "create index on t (x)",
        "with d as (delete from t returning x) select x from d",
        "alter table t add column y integer",
    ] {
        rows(&c, "begin read only; select x from t");
        assert_eq!(state(&c, refused), SqlState::READ_ONLY_TRANSACTION, "{refused}");
        rows(&c, "rollback; set default_transaction_read_only = on");
        assert_eq!(state(&c, refused), SqlState::READ_ONLY_TRANSACTION, "{refused}");
        rows(&c, "set default_transaction_read_only = off");
    }
    rows(
        &c,
        "begin read only; set transaction read write; insert into t values (2); commit",
    );
    rows(&c, "begin read only; select x from t");
    assert_eq!(
        state(&c, "set transaction read write"),
        SqlState::ACTIVE_TRANSACTION
    );
    rows(&c, "rollback");
    assert_eq!(rows(&c, "select count(*) from t"), "2");
}

#[test]
fn serializable_sees_one_version_and_writes_on_top_of_it_alone() {
    let a = memory();
    let b = a.database().connect();
    rows(&a, "create table t (x integer); insert into t values (1)");
    let count = |c: &Connection| rows(c, "select count(*) from t");
    rows(&b, "truncate t; insert into t values (1)");
    rows(&a, "begin isolation level serializable; set lock_timeout = '1s'");
    // The first query decides which version is seen.
    rows(&b, "insert into t values (2)");
    assert_eq!(count(&a), "2");
    rows(&b, "insert into t values (3)");
    assert_eq!((count(&a), count(&b)), ("2".into(), "3".into()));
    assert_eq!(state(&a, "insert into t values (4)"), SqlState("40001"));
    rows(&a, "rollback");
    assert_eq!(count(&a), "3");
    // One that writes first waits for nobody and is not refused.
    rows(&a, "begin isolation level serializable; insert into t values (4)");
    assert_eq!((count(&a), count(&b)), ("4".into(), "3".into()));
    rows(&a, "commit");
    assert_eq!(count(&b), "4");
}

/// Statements that were compiled before are not bound again, so that nothing looks at the version before they write.
#[test]
fn what_was_shown_is_not_overwritten_by_a_statement_that_was_compiled_before() {
    let a = memory();
    let b = a.database().connect();
    rows(&a, "create table t (x integer); insert into t values (1)");
    for level in ["repeatable read", "serializable"] {
        for _ in 0..3 {
            rows(&a, "update t set x = x + 1");
            rows(&a, &format!("begin isolation level {level}"));
            rows(&a, "select x from t");
            rows(&b, "update t set x = x + 10");
            assert_eq!(state(&a, "update t set x = x + 1"), SqlState("40001"), "{level}");
            rows(&a, "rollback");
        }
    }
    assert_eq!(rows(&a, "select x from t"), "67");
}

#[test]
fn repeatable_read_sees_one_version_and_writes_rows_that_nobody_has_changed_since() {
    let a = memory();
    let b = a.database().connect();
    rows(
        &a,
        "create table t (x integer primary key); insert into t values (1), (2), (3)",
    );
    let all = |c: &Connection| rows(c, "select string_agg(x::text, ' ' order by x) from t");
    for sql in ["update t set x = 10 where x = 2", "delete from t where x = 2"] {
        rows(&a, "begin isolation level repeatable read");
        assert_eq!(all(&a), "1 2 3");
        rows(&b, "update t set x = 20 where x = 2; insert into t values (4)");
        rows(&a, "insert into t values (5); delete from t where x = 1");
        // The key that another has inserted is taken, though its row is not seen.
        rows(&a, "savepoint s");
        assert_eq!(state(&a, "insert into t values (4)"), SqlState::UNIQUE_VIOLATION);
        rows(&a, "rollback to s");
        assert_eq!(all(&a), "2 3 5");
        assert_eq!(state(&a, sql), SqlState("40001"));
        rows(&a, "rollback to s; delete from t where x = 3");
        assert_eq!((all(&a), all(&b)), ("2 5".into(), "1 3 4 20".into()));
        rows(&a, "commit");
        assert_eq!(all(&b), "4 5 20");
        rows(&b, "truncate t; insert into t values (1), (2), (3)");
    }
    // Definitions of other tables do not matter.
    rows(&a, "begin isolation level repeatable read; select * from t");
    rows(&b, "create table u (x integer)");
    rows(&a, "insert into t values (9); rollback");
    // Those of the table, and TRUNCATE, are changes of all its rows.
    for sql in ["create index on t (x)", "truncate t"] {
        rows(&a, "begin isolation level repeatable read; select * from t");
        rows(&b, sql);
        assert_eq!(state(&a, "insert into t values (9)"), SqlState("40001"), "{sql}");
        rows(&a, "rollback");
    }
    rows(&a, "begin; select count(*) from t");
    rows(&b, "insert into t values (5)");
    assert_eq!(all(&a), "5");
    rows(&a, "insert into t values (6); commit");
    assert_eq!(all(&b), "5 6");
}

#[test]
fn a_statement_does_not_see_its_own_rows() {
    let c = memory();
    rows(&c, "create table t (x integer)");
    rows(&c, "insert into t values (1), (2), (3)");
    assert_eq!(rows(&c, "insert into t select x + 10 from t"), "INSERT 3");
    assert_eq!(rows(&c, "select count(*), sum(x) from t"), "6|42");
}

#[test]
fn a_failed_insert_leaves_no_trace() {
    let c = memory();
    rows(&c, "create table t (x integer not null)");
    assert_eq!(
        state(&c, "insert into t values (1), (null), (3)"),
        SqlState::NOT_NULL_VIOLATION
    );
    assert_eq!(
        state(
            &c,
            "insert into t select 2147483647 + x from (values (0), (1)) v(x)"
        ),
        SqlState::NUMERIC_OUT_OF_RANGE
    );
    assert_eq!(rows(&c, "select count(*) from t"), "0");
}

/// The numbers of table `t`, ascending.
fn numbers(connection: &frazil::Connection) -> String {
    rows(connection, "select x from t order by x").replace('\n', " ")
}

#[test]
fn a_savepoint_is_a_moment_to_return_to() {
    let c = memory();
    rows(&c, "create table t (x integer); insert into t values (0)");
    rows(&c, "begin; insert into t values (1)");
    assert_eq!(rows(&c, "savepoint s"), "SAVEPOINT");
    rows(
        &c,
        "insert into t values (2); savepoint within_it; delete from t where x < 2",
    );
    assert_eq!(numbers(&c), "2");
    assert_eq!(rows(&c, "rollback to savepoint s"), "ROLLBACK");
    assert_eq!(numbers(&c), "0 1");
    rows(&c, "insert into t values (3)");
    assert_eq!(rows(&c, "rollback work to s"), "ROLLBACK");
    rows(&c, "insert into t values (4)");
    assert_eq!(rows(&c, "release s"), "RELEASE");
    assert_eq!(rows(&c, "commit"), "COMMIT");
    assert_eq!(numbers(&c), "0 1 4");
}

#[test]
fn savepoints_shadow_one_another_and_go_with_those_before_them() {
    let c = memory();
    rows(
        &c,
        "create table t (x integer); begin; savepoint s; insert into t values (1)",
    );
    rows(&c, "savepoint s; insert into t values (2); rollback to s");
    assert_eq!(numbers(&c), "1");
    rows(&c, "release savepoint s; rollback to s");
    assert_eq!(numbers(&c), "");
    rows(
        &c,
        "savepoint \"A b\"; savepoint savepoint; release savepoint savepoint; rollback to s",
    );
    // A savepoint made after the one that was returned to is gone.
    assert_eq!(state(&c, "rollback to \"A b\""), SqlState("3B001"));
    assert_eq!(state(&c, "select 1"), SqlState::IN_FAILED_TRANSACTION);
    assert_eq!(state(&c, "rollback to nowhere"), SqlState("3B001"));
    rows(&c, "rollback to s; insert into t values (5); commit");
    assert_eq!(numbers(&c), "5");
}

#[test]
fn a_failed_transaction_goes_on_from_a_savepoint() {
    let c = memory();
    rows(&c, "create table t (x integer not null)");
    rows(&c, "begin; savepoint a; insert into t values (1); savepoint b");
    for sql in [
        "insert into t values (2), (null)",
        "insert into t select 10 / (2 - x) from (values (0), (1), (2)) v(x)",
        "select nothing",
        "delete from t where 1 / (x - 1) > 0",
        "create table t (y text)",
    ] {
        state(&c, sql);
        for refused in [
            "select 1",
            "insert into t values (9)",
            "savepoint c",
            "release b",
            "begin",
        ] {
            assert_eq!(state(&c, refused), SqlState::IN_FAILED_TRANSACTION, "{refused}");
        }
        rows(&c, "rollback to b");
        assert_eq!(numbers(&c), "1", "{sql}");
    }
    rows(&c, "insert into t values (3)");
    state(&c, "select nothing");
    rows(&c, "rollback to savepoint a; insert into t values (4); commit");
    assert_eq!(numbers(&c), "4");
}

#[test]
fn savepoints_are_of_a_transaction() {
    let c = memory();
    for sql in ["savepoint s", "rollback to s", "release s"] {
        assert_eq!(state(&c, sql), SqlState::NO_ACTIVE_TRANSACTION, "{sql}");
    }
    rows(&c, "begin; savepoint s; commit; begin");
    assert_eq!(state(&c, "release s"), SqlState("3B001"));
    assert_eq!(rows(&c, "commit"), "ROLLBACK");
    for sql in [
        "savepoint",
        "savepoint a b",
        "rollback to",
        "release",
        "rollback to savepoint a b",
    ] {
        assert_eq!(state(&c, sql), SqlState::SYNTAX_ERROR, "{sql}");
    }
}

#[test]
fn a_savepoint_undoes_tables_and_views() {
    let c = memory();
    rows(
        &c,
        "create table t (x integer); insert into t values (1); begin; savepoint s",
    );
    rows(
        &c,
        "create table u (y integer); insert into u values (7); create view v as select y from u",
    );
    assert_eq!(rows(&c, "select y from v"), "7");
    rows(&c, "drop table t; rollback to s");
    assert_eq!(numbers(&c), "1");
    rows(&c, "create table u (y text); insert into u values ('seven')");
    assert_eq!(rows(&c, "select y from u"), "seven");
    rows(&c, "savepoint s2; drop table u; rollback to s2; commit");
    assert_eq!(rows(&c, "select y from u"), "seven");
    assert_eq!(state(&c, "select y from v"), SqlState::UNDEFINED_TABLE);
}

#[test]
fn a_failed_transaction_without_savepoints_gives_back_what_it_claimed() {
    let a = memory();
    let b = a.database().connect();
    rows(
        &a,
        "create table t (x integer primary key); begin; insert into t values (1)",
    );
    state(&a, "select nothing");
    rows(&b, "set lock_timeout = 30; insert into t values (1), (2)");
    // An error gives back what was claimed since the last savepoint, and keeps what was claimed before.
    rows(
        &a,
        "rollback; begin; insert into t values (5); savepoint s; insert into t values (3)",
    );
    state(&a, "select nothing");
    rows(&b, "insert into t values (3)");
    assert_eq!(
        state(&b, "insert into t values (5)"),
        SqlState::LOCK_NOT_AVAILABLE
    );
    rows(&a, "rollback to s");
    rows(
        &a,
        "insert into t values (6); savepoint s; insert into t values (7)",
    );
    rows(&a, "rollback to s");
    assert_eq!(
        state(&b, "insert into t values (6)"),
        SqlState::LOCK_NOT_AVAILABLE
    );
    rows(&b, "insert into t values (7)");
    rows(&a, "commit");
    assert_eq!(numbers(&a), "1 2 3 5 6 7");
}

#[test]
fn truncate_empties_tables_within_a_transaction() {
    let a = memory();
    let b = a.database().connect();
    rows(
        &a,
        "create table t (x integer); create table u (y text); insert into t values (1), (2); insert into u values ('a')",
    );
    rows(&a, "freeze t; insert into t values (3)");
    assert_eq!(rows(&a, "begin; truncate t, u"), "TRUNCATE TABLE");
    assert_eq!(
        rows(&a, "select (select count(*) from t), (select count(*) from u)"),
        "0|0"
    );
    rows(&a, "insert into t values (4)");
    assert_eq!(numbers(&b), "1 2 3");
    assert_eq!(numbers(&a), "4");
    rows(
        &a,
        "savepoint s; truncate t; insert into t values (5); rollback to s",
    );
    assert_eq!(numbers(&a), "4");
    rows(&a, "rollback");
    assert_eq!(numbers(&a), "1 2 3");
    rows(&a, "truncate table t restart identity; insert into t values (6)");
    assert_eq!(
        (numbers(&b), rows(&b, "select y from u")),
        ("6".to_string(), "a".to_string())
    );
    rows(&a, "create view v as select y from u");
    assert_eq!(state(&a, "truncate v"), SqlState("42809"));
    assert_eq!(state(&a, "truncate t, nowhere"), SqlState::UNDEFINED_TABLE);
    assert_eq!(numbers(&a), "6");
}
