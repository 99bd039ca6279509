//! Settings that clients of a server are told, those that all connections share, and calls of `set_config` at once.

use crate::{memory, rows, state};
use frazil::SqlState;

#[test]
fn clients_are_told_what_postgresql_tells_them() {
    let c = memory();
    let told = |name: &str| {
        let reported = c.reported_settings();
        reported.into_iter().find(|one| one.0 == name).map(|one| one.1)
    };
    for name in [
        "server_version",
        "server_encoding",
        "client_encoding",
        "application_name",
        "is_superuser",
        "session_authorization",
        "default_transaction_read_only",
        "in_hot_standby",
        "DateStyle",
        "IntervalStyle",
        "TimeZone",
        "integer_datetimes",
        "standard_conforming_strings",
    ] {
        assert!(told(name).is_some(), "{name}");
    }
    assert_eq!(c.reported_settings().len(), 13);
    rows(
        &c,
        "set timezone = 'Europe/Berlin'; select set_config('application_name', 'a', false)",
    );
    assert_eq!(told("TimeZone").as_deref(), Some("Europe/Berlin"));
    assert_eq!(told("application_name").as_deref(), Some("a"));
    rows(&c, "begin; set application_name = b; rollback");
    assert_eq!(told("application_name").as_deref(), Some("a"));
}

#[test]
fn settings_of_the_database_are_neither_undone_nor_set_by_functions() {
    let c = memory();
    rows(&c, "begin; set max_wal_size = '1GB'; rollback");
    assert_eq!(rows(&c, "show max_wal_size"), "1GB");
    assert_eq!(rows(&c, "select current_setting('max_wal_size')"), "1GB");
    for sql in [
        "select set_config('max_wal_size', '2GB', false)",
        "select set_config('transaction_isolation', 'serializable', true)",
        "begin; set local max_wal_size = '2GB'",
    ] {
        assert_eq!(state(&c, sql), SqlState::FEATURE_NOT_SUPPORTED, "{sql}");
        rows(&c, "rollback");
    }
    rows(&c, "begin isolation level serializable; select 1");
    assert_eq!(
        rows(&c, "select current_setting('transaction_isolation')"),
        "serializable"
    );
    rows(&c, "rollback");
    // Access to files stays narrowed.
    rows(&c, "begin; set file_access = off; rollback");
    assert_eq!(rows(&c, "show file_access"), "off");
}

#[test]
fn workers_of_a_statement_read_and_change_the_settings_of_its_session() {
    let (a, b) = (memory(), memory());
    rows(
        &a,
        "set threads = 4; set app.name = 'a'; create table t (x integer)",
    );
    rows(&a, "insert into t select * from generate_series(1, 200000)");
    rows(&b, "set app.name = 'b'");
    assert_eq!(
        rows(&a, "select count(*), min(current_setting('app.name')) from t"),
        "200000|a"
    );
    assert_eq!(rows(&b, "select current_setting('app.name')"), "b");
    rows(
        &a,
        "select count(set_config('app.n', x::text, false)) from t where x % 50000 = 0",
    );
    assert_eq!(rows(&a, "select count(current_setting('app.n', true))"), "1");
}

/// A session keeps a limited number of settings of its own, and of many changes of one setting the last.
#[test]
fn many_calls_of_set_config_end_in_few_changes() {
    let c = memory();
    let many = "select count(set_config('app.a' || x, 'v', false)) from generate_series(1, 1001) s (x)";
    assert_eq!(state(&c, many), SqlState::PROGRAM_LIMIT_EXCEEDED);
    assert_eq!(rows(&c, "select current_setting('app.a1', true) is null"), "t");
    // The value of the last row counts, for each of the two scopes.
    rows(&c, "set threads = 1");
    rows(
        &c,
        "begin; select count(set_config('app.X', x::text, x % 2 = 0)) from generate_series(1, 20001) s (x)",
    );
    assert_eq!(rows(&c, "show app.x"), "20001");
    rows(
        &c,
        "select set_config('app.x', 'session', false), set_config('App.x', 'local', true)",
    );
    assert_eq!(rows(&c, "show app.x"), "local");
    rows(&c, "commit");
    assert_eq!(rows(&c, "show app.x"), "session");
    // One more name is refused when there are 1,000.
    let rest = "select count(set_config('app.b' || x, 'v', false)) from generate_series(1, 999) s (x)";
    assert_eq!(rows(&c, rest), "999");
    assert_eq!(state(&c, "set app.more = 1"), SqlState::PROGRAM_LIMIT_EXCEEDED);
    assert_eq!(rows(&c, "set app.b7 = 'w'; show app.b7"), "w");
}
