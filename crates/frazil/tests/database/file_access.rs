//! Which files statements may name. Every form of a statement that names one is in [`forms`].

use crate::{directory, rows};
use frazil::{Connection, FileAccess, OpenOptions, SqlState};
use std::os::unix::fs::symlink;
use std::path::{Path, PathBuf};

/// Each form of a statement that names a path, and a file's name that fits. A new form gets a line here.
fn forms(folder: &Path) -> Vec<(&'static str, String)> {
    let at = |name: &str| folder.join(name).display().to_string();
    let (csv, json, parquet) = (at("in.csv"), at("in.json"), at("in.parquet"));
    let (pattern, out, parts, new) = (at("*.csv"), at("out.csv"), at("parts"), at("new"));
    vec![
        ("FROM", format!("select * from '{csv}'")),
        ("FROM json", format!("select * from '{json}'")),
        ("FROM parquet", format!("select * from '{parquet}'")),
        ("FROM pattern", format!("select * from '{pattern}'")),
        ("read_csv", format!("select * from read_csv('{csv}')")),
        ("read_json", format!("select * from read_json('{json}')")),
        ("read_parquet", format!("select * from read_parquet('{parquet}')")),
        ("subquery", format!("select (select count(*) from '{csv}')")),
        ("join", format!("select * from t join '{csv}' x on true")),
        (
            "CTE",
            format!("with x as (select * from '{csv}') select * from x"),
        ),
        (
            "CREATE TABLE AS",
            format!("drop table if exists made; create table made as select * from '{csv}'"),
        ),
        ("INSERT", format!("insert into t select a from '{csv}'")),
        (
            "UPDATE",
            format!("update t set a = 1 where a in (select a from '{csv}')"),
        ),
        (
            "DELETE",
            format!("delete from t where a in (select a from '{csv}')"),
        ),
        ("EXPLAIN", format!("explain select * from '{csv}'")),
        (
            "EXPLAIN ANALYZE",
            format!("explain analyze select * from '{csv}'"),
        ),
        (
            "PREPARE",
            format!("deallocate all; prepare p as select * from '{csv}'; execute p"),
        ),
        ("COPY FROM", format!("copy t from '{csv}' (header)")),
        ("COPY FROM json", format!("copy t from '{json}'")),
        ("COPY FROM parquet", format!("copy t from '{parquet}'")),
        ("COPY TO", format!("copy t to '{out}'")),
        (
            "COPY query TO",
            format!("copy (select 1) to '{out}' (format parquet)"),
        ),
        (
            "COPY TO folders",
            format!("copy (select 1 a, 2 b) to '{parts}' (format csv, partition_by (a), overwrite)"),
        ),
        (
            "COPY query of a file",
            format!("copy (select * from '{csv}') to '{out}'"),
        ),
        ("BACKUP", format!("backup to '{new}'")),
        ("PUBLISH", format!("publish to '{new}-published' incremental")),
    ]
}

fn place(name: &str) -> PathBuf {
    let base = directory(name);
    std::fs::create_dir_all(base.join("in")).expect("it is made");
    std::fs::create_dir_all(base.join("out")).expect("it is made");
    symlink("../out", base.join("in/link")).expect("it is linked");
    for folder in ["in", "out"] {
        let folder = base.join(folder);
        std::fs::write(folder.join("in.csv"), "a\n1\n").expect("it is written");
        std::fs::write(folder.join("in.json"), "{\"a\":1}\n").expect("it is written");
        let parquet = folder.join("in.parquet");
        rows(
            &crate::memory(),
            &format!("copy (select 1 a) to '{}'", parquet.display()),
        );
    }
    base
}

fn open(base: &Path, access: FileAccess) -> Connection {
    let database = OpenOptions::new().file_access(access).open(base.join("db"));
    let c = database.expect("it opens").connect();
    rows(&c, "create table if not exists t (a integer)");
    c
}

fn check_denied(c: &Connection, name: &str, sql: &str) {
    let error = c.execute(sql).expect_err(name);
    assert_eq!(
        error.state(),
        SqlState::INSUFFICIENT_PRIVILEGE,
        "{name}: {error:?}"
    );
    let told = (error.message().contains("file_access is"), error.hint().is_some());
    assert_eq!(told, (true, true), "{name}: {error:?}");
}

fn check_allowed(c: &Connection, name: &str, sql: &str) {
    c.execute(sql).unwrap_or_else(|e| panic!("{name}: {e:?}"));
}

#[test]
fn every_form_of_a_statement_asks() {
    let base = place("access-forms");
    let (inside, outside, linked) = (base.join("in"), base.join("out"), base.join("in/link"));
    let c = open(&base, FileAccess::On);
    for (name, sql) in forms(&outside) {
        check_allowed(&c, name, &sql);
    }
    let _ = std::fs::remove_dir_all(outside.join("new"));
    drop(c);
    let c = open(&base, FileAccess::to_folders(&[&inside]).expect("it is there"));
    let dotted = inside.join("../out");
    for (name, sql) in forms(&inside) {
        check_allowed(&c, name, &sql);
    }
    for folder in [&outside, &linked, &dotted] {
        for (name, sql) in forms(folder) {
            check_denied(&c, name, &sql);
        }
    }
    check_denied(&c, "relative", "select * from 'x.csv'");
    check_denied(&c, "relative pattern", "select * from '*.csv'");
    check_denied(&c, "no such file", "select * from '/does/not/exist.csv'");
    drop(c);
    let c = open(&base, FileAccess::Off);
    for (name, sql) in forms(&inside) {
        check_denied(&c, name, &sql);
    }
    let error = c.execute("set file_access = 'on'").expect_err("it is off");
    assert_eq!(error.state(), SqlState::INSUFFICIENT_PRIVILEGE);
    assert!(!outside.join("new").exists());
    drop(c);
    let _ = std::fs::remove_dir_all(&base);
}

#[test]
fn a_session_narrows_it_for_itself() {
    let base = place("access-narrowed");
    let c = open(&base, FileAccess::On);
    let other = c.database().connect();
    let csv = base.join("in/in.csv").display().to_string();
    let select = format!("select * from '{csv}'");
    rows(&c, &format!("prepare q as {select}"));
    for sql in [select.as_str(), "execute q"] {
        check_allowed(&c, sql, sql);
        check_allowed(&c, sql, sql);
    }
    let kept = c.prepare(&select).expect("it is prepared");
    kept.execute(()).expect("it runs");
    let folder = base.join("out").display().to_string();
    rows(&c, &format!("set file_access = '{folder}'"));
    assert!(rows(&c, "show file_access").ends_with("/out"));
    for sql in [select.as_str(), "execute q"] {
        check_denied(&c, sql, sql);
        check_allowed(&other, sql, if sql == "execute q" { "select 1" } else { sql });
    }
    let error = kept.execute(()).expect_err("it asks again");
    assert_eq!(error.state(), SqlState::INSUFFICIENT_PRIVILEGE);
    for wider in ["'on'", "'/'", "default"] {
        let error = c.execute(&format!("set file_access = {wider}")).expect_err(wider);
        assert_eq!(error.state(), SqlState::INSUFFICIENT_PRIVILEGE, "{wider}");
    }
    assert!(c.execute("begin; set local file_access = 'off'").is_err());
    rows(&c, "rollback");
    rows(&c, "set file_access = off");
    assert_eq!(rows(&c, "show file_access"), "off");
    assert_eq!(rows(&other, "show file_access"), "on");
    drop((c, other, kept));
    let _ = std::fs::remove_dir_all(&base);
}
