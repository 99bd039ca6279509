//! ALTER TABLE.

use crate::{directory, memory, rows, state};
use frazil::{ColumnVector, Connection, LogicalType, RawValue as Value, RowBatch, SqlState};

/// A table with rows, and a view of it.
fn crops() -> Connection {
    let c = memory();
    rows(
        &c,
        "create table crops (id integer not null, sort text default 'rye', acres integer)",
    );
    rows(&c, "insert into crops values (1, 'rye', 5), (2, 'oats', null)");
    rows(&c, "create view fields as select sort, acres from crops");
    c
}

#[test]
fn columns_and_tables_get_other_names() {
    let c = crops();
    rows(&c, "freeze crops; alter table crops rename column sort to kind");
    assert_eq!(
        rows(&c, "alter table crops rename acres to \"Size\""),
        "ALTER TABLE"
    );
    assert_eq!(
        rows(&c, "select kind, \"Size\" from crops order by id"),
        "rye|5\noats|"
    );
    assert_eq!(state(&c, "select sort from crops"), SqlState::UNDEFINED_COLUMN);
    assert_eq!(
        rows(&c, "select sort, acres from fields order by 1"),
        "oats|\nrye|5"
    );
    rows(&c, "insert into crops (id, \"Size\") values (3, 7)");
    rows(&c, "alter table crops rename to plants");
    assert_eq!(state(&c, "select * from crops"), SqlState::UNDEFINED_TABLE);
    assert_eq!(rows(&c, "select sort from fields where acres = 7"), "rye");
    rows(&c, "create table crops (x integer)");
    assert_eq!(rows(&c, "select count(*) from fields"), "3");
    for (sql, state_) in [
        ("alter table plants rename to crops", SqlState::DUPLICATE_TABLE),
        ("alter table plants rename to fields", SqlState::DUPLICATE_TABLE),
        ("alter table plants rename kind to id", SqlState::DUPLICATE_COLUMN),
        ("alter table plants rename id to id", SqlState::DUPLICATE_COLUMN),
        (
            "alter table plants rename nothing to x",
            SqlState::UNDEFINED_COLUMN,
        ),
        ("alter table nothing rename to x", SqlState::UNDEFINED_TABLE),
        (
            "alter table plants rename to x, alter id set not null",
            SqlState::SYNTAX_ERROR,
        ),
        (
            "alter table plants rename constraint a to b",
            SqlState::UNDEFINED_OBJECT,
        ),
        ("alter table plants drop constraint a", SqlState::UNDEFINED_OBJECT),
    ] {
        assert_eq!(state(&c, sql), state_, "{sql}");
    }
    rows(&c, "alter table if exists nothing rename to x");
    rows(&c, "alter table plants drop constraint if exists a");
}

#[test]
fn defaults_and_not_null_come_and_go() {
    let c = crops();
    rows(
        &c,
        "alter table crops alter acres set default 9, alter column sort drop default",
    );
    rows(&c, "insert into crops (id) values (3)");
    assert_eq!(rows(&c, "select sort, acres from crops where id = 3"), "|9");
    let error = c
        .execute("alter table crops alter acres set not null")
        .unwrap_err();
    assert_eq!(
        (error.state(), error.table(), error.column()),
        (SqlState::NOT_NULL_VIOLATION, Some("crops"), Some("acres"))
    );
    assert_eq!(
        state(
            &c,
            "alter table crops alter sort set default 'x', alter sort set not null"
        ),
        SqlState::NOT_NULL_VIOLATION
    );
    rows(
        &c,
        "delete from crops where acres is null; alter table crops alter acres set not null",
    );
    rows(&c, "alter table crops alter acres set not null");
    assert_eq!(
        state(&c, "insert into crops values (4, 'x', null)"),
        SqlState::NOT_NULL_VIOLATION
    );
    // The action before was undone with its statement.
    rows(&c, "insert into crops (id) values (5)");
    assert_eq!(rows(&c, "select sort from crops where id = 5"), "");
    rows(
        &c,
        "alter table crops alter acres drop not null; insert into crops values (6, 'x', null)",
    );
    assert_eq!(rows(&c, "select count(*) from crops where acres is null"), "1");
    assert_eq!(
        state(&c, "alter table crops alter acres set default 'many'"),
        SqlState("22P02")
    );
    assert_eq!(
        state(&c, "alter table crops alter nothing set default 1"),
        SqlState::UNDEFINED_COLUMN
    );
}

#[test]
fn what_was_altered_is_rolled_back_and_written_down() {
    let path = directory("altering");
    let database = frazil::Database::open(&path).unwrap();
    let c = database.connect();
    rows(
        &c,
        "create table t (a integer, b text); insert into t values (1, 'x'); begin; savepoint s",
    );
    rows(
        &c,
        "alter table t rename a to c; alter table t rename to u; insert into u (c) values (2)",
    );
    assert_eq!(rows(&c, "select c, b from u order by c"), "1|x\n2|");
    rows(&c, "rollback to s");
    assert_eq!(rows(&c, "select a, b from t"), "1|x");
    rows(
        &c,
        "alter table t rename b to d; alter table t alter a set not null, alter d set default 'y'; commit",
    );
    drop(c);
    database.close().unwrap();
    let database = frazil::Database::open(&path).unwrap();
    let c = database.connect();
    rows(&c, "insert into t (a) values (3)");
    assert_eq!(rows(&c, "select a, d from t order by a"), "1|x\n3|y");
    assert_eq!(
        state(&c, "insert into t (d) values ('z')"),
        SqlState::NOT_NULL_VIOLATION
    );
    drop(c);
    database.close().unwrap();
    let _ = std::fs::remove_dir_all(&path);
}

/// What an appender says of a batch of integers, and then of another one, and what the table has afterwards.
fn appended(
    c: &Connection,
    first: &[Value],
    second: &[Value],
) -> (Option<SqlState>, Option<SqlState>, String) {
    let batch = |values: &[Value]| RowBatch {
        columns: vec![ColumnVector::from_values(LogicalType::Integer, values)],
        rows: values.len(),
    };
    let mut appender = c.appender("pens").expect("the table is there");
    let first = appender.append(batch(first)).err().map(|e| e.state());
    let second = appender.append(batch(second)).err().map(|e| e.state());
    let finished = appender.finish().map_err(|e| e.state());
    assert_eq!(
        finished.err(),
        (first.or(second)).map(|_| SqlState::IN_FAILED_TRANSACTION)
    );
    (first, second, rows(c, "select n from pens order by n"))
}

#[test]
fn an_appender_asks_the_checks_and_keys_that_there_are() {
    let c = memory();
    rows(
        &c,
        "create table pens (m integer check (m > 0 or pens.m is null) unique)",
    );
    rows(
        &c,
        "alter table pens rename m to n; alter table pens add check (n < 100)",
    );
    let bad = appended(&c, &[Value::Int(1), Value::Int(100)], &[Value::Int(0)]);
    let check = Some(SqlState::CHECK_VIOLATION);
    assert_eq!(bad, (check, check, String::new()));
    rows(&c, "truncate pens");
    let twice = appended(&c, &[Value::Int(3), Value::Null], &[Value::Int(4), Value::Int(3)]);
    assert_eq!(twice, (None, Some(SqlState::UNIQUE_VIOLATION), String::new()));
    rows(&c, "truncate pens");
    let good = appended(&c, &[Value::Int(3)], &[Value::Int(4)]);
    assert_eq!(good, (None, None, "3\n4".to_string()));
}
