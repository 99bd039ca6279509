//! Files of the machine and roles: a plain role touches none, by whatever statement.

use crate::{directory, rows, state};
use frazil::{Database, SqlState};

/// Statements that read a file, whose name replaces FILE.
const READING: [&str; 16] = [
    "select * from 'FILE'",
    "select * from read_csv('FILE')",
    "select * from read_json('FILE')",
    "select * from read_parquet('FILE')",
    "select * from published('FILE', 't')",
    "select (select count(*) from 'FILE')",
    "with w as (select * from 'FILE') select * from w",
    "explain select * from 'FILE'",
    "create table other as select * from 'FILE'",
    "insert into t select a from 'FILE'",
    "update t set a = f.a from 'FILE' f",
    "delete from t using 'FILE' f where t.a = f.a",
    "describe 'FILE'",
    "summarize 'FILE'",
    "prepare p as select * from 'FILE'",
    "copy t from 'FILE' (format csv, header true)",
];

/// Statements that write a file or directory.
const WRITING: [&str; 6] = [
    "copy t to 'FILE.out'",
    "copy (select 1) to 'FILE.out'",
    "copy t to 'FILE.out' (format parquet)",
    "copy t to 'FILE.out' (format json)",
    "backup to 'FILE.backup'",
    "publish to 'FILE.published'",
];

#[test]
fn a_plain_role_touches_no_file() {
    let path = directory("role-files");
    std::fs::create_dir_all(&path).expect("it is made");
    let file = path.join("rows.csv");
    std::fs::write(&file, "a\n1\n").expect("it is written");
    let file = file.to_str().expect("it is text");
    let c = Database::memory().expect("it opens").connect();
    rows(
        &c,
        "create table t (a integer); create role plain; grant all on t to plain",
    );
    rows(
        &c,
        "grant create on schema public to plain; create role reader; create role writer",
    );
    rows(
        &c,
        "grant all on t to reader, writer; grant create on schema public to reader",
    );
    rows(
        &c,
        "grant pg_read_server_files to reader; grant pg_write_server_files to writer",
    );
    let as_role = |role: &str, sql: &str| {
        rows(&c, &format!("set role {role}"));
        let done = c
            .execute(&sql.replace("FILE", file))
            .map_err(|error| error.state());
        rows(&c, "reset role");
        done.map(drop)
    };
    let denied = Err(SqlState::INSUFFICIENT_PRIVILEGE);
    for sql in READING.iter().chain(&WRITING) {
        assert_eq!(as_role("plain", sql), denied, "{sql}");
    }
    for sql in READING {
        assert_eq!(as_role("writer", sql), denied, "{sql}");
        assert_ne!(as_role("reader", sql), denied, "{sql}");
    }
    for sql in WRITING {
        assert_eq!(as_role("reader", sql), denied, "{sql}");
        assert_ne!(as_role("writer", sql), denied, "{sql}");
    }
    assert_eq!(state(&c, "select * from nothing"), SqlState::UNDEFINED_TABLE);
    let _ = std::fs::remove_dir_all(&path);
}
