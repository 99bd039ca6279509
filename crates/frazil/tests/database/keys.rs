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

#[test]
fn checks_and_computed_defaults_are_enforced() {
    let c = memory();
    rows(
        &c,
        "create table t (a integer check (a > 0), b integer default 1 + 1, c text default upper('x') || 'y')",
    );
    rows(
        &c,
        "insert into t (a) values (1); insert into t (b) values (null)",
    );
    assert_eq!(rows(&c, "select * from t order by a"), "1|2|Xy\n||Xy");
    let refused = ("23514", "t".to_string(), "t_a_check".to_string());
    assert_eq!(violated(&c, "insert into t values (0, 1, 'z')"), refused);
    assert_eq!(
        violated(&c, "insert into t (a) select x from (values (3), (-1)) v(x)"),
        refused
    );
    let few = ("23514", "t".to_string(), "few".to_string());
    assert_eq!(
        violated(&c, "alter table t add constraint few check (b < 2)"),
        few
    );
    rows(
        &c,
        "alter table t add constraint few check (t.b < 3 and \"b\" > -9 -- so few\n)",
    );
    assert_eq!(violated(&c, "insert into t (a, b) values (1, 3)"), few);
    rows(
        &c,
        "alter table t rename b to \"order\"; alter table t rename to u",
    );
    let few = ("23514", "u".to_string(), "few".to_string());
    assert_eq!(violated(&c, "insert into u (a, \"order\") values (1, 3)"), few);
    let table = c.table("u").unwrap();
    let check = table.constraints.iter().find(|k| k.name == "few").unwrap();
    assert_eq!(check.definition, "CHECK (u.\"order\" < 3 and \"order\" > -9)");
    rows(
        &c,
        "alter table u drop constraint few, alter c set default 'q' || 'r'; insert into u values (1, 3)",
    );
    assert_eq!(rows(&c, "select c from u where \"order\" = 3"), "qr");
    for (sql, expected) in [
        (
            "alter table u add constraint t_a_check check (a < 5)",
            SqlState("42710"),
        ),
        (
            "alter table u add check (nothing > 0)",
            SqlState::UNDEFINED_COLUMN,
        ),
        (
            "alter table u add unique (a) not valid",
            SqlState::FEATURE_NOT_SUPPORTED,
        ),
    ] {
        assert_eq!(state(&c, sql), expected, "{sql}");
    }
}
