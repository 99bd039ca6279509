//! Keys and indexes as a database's users define them: rows that there are, transactions, directories.

use crate::{directory, memory, rows, state};
use frazil::{Connection, Database, SqlState};

/// The state, table and constraint of the error a statement must give.
fn violated(connection: &Connection, sql: &str) -> (&'static str, String, String) {
    let error = connection.execute(sql).expect_err(sql);
    let field = |field: Option<&str>| field.unwrap_or("-").to_string();
    (error.state().0, field(error.table()), field(error.constraint()))
}

fn duplicate(table: &str, constraint: &str) -> (&'static str, String, String) {
    ("23505", table.to_string(), constraint.to_string())
}

#[test]
fn keys_and_indexes_are_enforced_from_their_definition_on() {
    let c = memory();
    rows(
        &c,
        "create table t (a integer primary key, b text unique nulls not distinct, c integer)",
    );
    rows(&c, "insert into t values (1, 'x', 1), (2, null, 1)");
    assert_eq!(
        violated(&c, "insert into t values (1, 'y', 2)"),
        duplicate("t", "t_pkey")
    );
    assert_eq!(
        violated(&c, "insert into t values (3, null, 2)"),
        duplicate("t", "t_b_key")
    );
    let error = c
        .execute("insert into t select null::integer, 'z', 2")
        .unwrap_err();
    assert_eq!(
        (error.state(), error.column()),
        (SqlState::NOT_NULL_VIOLATION, Some("a"))
    );
    assert_eq!(
        violated(&c, "create unique index on t (c)"),
        duplicate("t", "t_c_idx")
    );
    assert_eq!(rows(&c, "create index on t (c desc)"), "CREATE INDEX");
    rows(
        &c,
        "delete from t where a = 2; create unique index t_c on t (c) include (b); freeze t",
    );
    assert_eq!(
        violated(&c, "insert into t values (5, 'v', 1)"),
        duplicate("t", "t_c")
    );
    assert_eq!(rows(&c, "drop index t_c, t_c_idx"), "DROP INDEX");
    rows(&c, "insert into t values (5, 'v', 1)");
    assert_eq!(state(&c, "drop index t_pkey"), SqlState::DEPENDENT_OBJECTS);
    assert_eq!(
        state(&c, "create index t_pkey on t (c)"),
        SqlState::DUPLICATE_TABLE
    );
    assert_eq!(
        state(&c, "create index frazil_blocks on t (c)"),
        SqlState::DUPLICATE_TABLE
    );
}

#[test]
fn keys_come_to_tables_with_rows_and_go() {
    let c = memory();
    rows(
        &c,
        "create table t (a integer, b integer); insert into t values (1, 1), (2, 1), (2, null)",
    );
    assert_eq!(
        violated(&c, "alter table t add primary key (a)"),
        duplicate("t", "t_pkey")
    );
    let error = c.execute("alter table t add primary key (b)").unwrap_err();
    assert_eq!(
        (error.state(), error.column()),
        (SqlState::NOT_NULL_VIOLATION, Some("b"))
    );
    rows(
        &c,
        "delete from t where b is null; alter table t add constraint k primary key (a)",
    );
    assert_eq!(violated(&c, "insert into t values (2, 2)"), duplicate("t", "k"));
    assert_eq!(state(&c, "alter table t add primary key (b)"), SqlState("42P16"));
    assert_eq!(
        state(&c, "alter table t alter a drop not null"),
        SqlState("42P16")
    );
    rows(
        &c,
        "alter table t rename constraint k to first; alter table t rename a to id",
    );
    assert_eq!(
        violated(&c, "insert into t values (2, 2)"),
        duplicate("t", "first")
    );
    rows(
        &c,
        "alter table t drop constraint first; insert into t values (2, 2)",
    );
    assert_eq!(
        state(&c, "insert into t (b) values (3)"),
        SqlState::NOT_NULL_VIOLATION
    );
}

#[test]
fn definitions_of_keys_are_rolled_back() {
    let c = memory();
    rows(
        &c,
        "create table t (a integer); insert into t values (1); begin; savepoint s",
    );
    rows(&c, "alter table t add unique (a)");
    assert_eq!(
        violated(&c, "insert into t values (1)"),
        duplicate("t", "t_a_key")
    );
    rows(&c, "rollback to s; insert into t values (1)");
    assert_eq!(state(&c, "alter table t add unique (a)"), SqlState("23505"));
    rows(
        &c,
        "rollback; create unique index i on t (a); begin; truncate t; insert into t values (1), (2)",
    );
    assert_eq!(violated(&c, "insert into t values (2)"), duplicate("t", "i"));
    rows(&c, "rollback");
    assert_eq!(violated(&c, "insert into t values (1)"), duplicate("t", "i"));
    rows(
        &c,
        "begin; drop index i; insert into t values (1); rollback; insert into t values (2)",
    );
    assert_eq!(violated(&c, "insert into t values (1)"), duplicate("t", "i"));
}

#[test]
fn a_directory_keeps_keys_and_builds_their_indexes() {
    let path = directory("keys");
    let database = Database::open(&path).unwrap();
    let c = database.connect();
    for table in ["t", "u", "v"] {
        rows(
            &c,
            &format!("create table {table} (a integer primary key, b text)"),
        );
        rows(
            &c,
            &format!("insert into {table} select x, 'r' || x from (values (1), (2), (3)) v(x)"),
        );
    }
    rows(
        &c,
        "freeze t; delete from t where a = 2; create unique index t_b on t (b); freeze u",
    );
    drop(c);
    database.close().unwrap();
    let database = Database::open(&path).unwrap();
    let c = database.connect();
    for table in ["t", "u", "v"] {
        assert_eq!(
            violated(&c, &format!("insert into {table} values (3, 'x')")),
            duplicate(table, &format!("{table}_pkey"))
        );
    }
    assert_eq!(
        violated(&c, "insert into t values (4, 'r1')"),
        duplicate("t", "t_b")
    );
    rows(&c, "insert into t values (2, 'r2')");
    let table = c.table("t").unwrap();
    assert_eq!(
        table.ddl(),
        "create table t (\n  a integer not null,\n  b text,\n  constraint t_pkey PRIMARY KEY (a)\n);\n\
         create unique index t_b on t (b);"
    );
    drop(c);
    database.close().unwrap();
    let _ = std::fs::remove_dir_all(&path);
}
