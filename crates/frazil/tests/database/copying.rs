//! COPY FROM.

use crate::{directory, memory, rows, state};
use frazil::{Database, SqlState};
use std::fmt::Write;

#[test]
fn a_bad_file_loads_nothing() {
    let path = directory("bad.csv");
    std::fs::write(&path, "a,b\n1,x\n2,y\nthree,z\n").expect("it can be written");
    let c = memory();
    rows(&c, "create table t (a integer, b text)");
    let error = c
        .execute(&format!("copy t from '{}' (header)", path.display()))
        .expect_err("three is no number");
    assert_eq!(error.state(), SqlState::INVALID_TEXT);
    for part in ["bad.csv", "line 4", "\"a\"", "three"] {
        assert!(error.message().contains(part), "{part} in {}", error.message());
    }
    assert_eq!(rows(&c, "select count(*) from t"), "0");
    assert_eq!(
        state(&c, "copy t from '/does/not/exist.csv'"),
        SqlState::UNDEFINED_FILE
    );
    let _ = std::fs::remove_file(&path);
}

#[test]
fn columns_left_out_get_their_default() {
    let path = directory("some.csv");
    std::fs::write(&path, "7;\"a;b\"\n8;\n").expect("it can be written");
    let c = memory();
    rows(&c, "create table t (a integer default 5, b text, c integer)");
    let copy = format!("copy t (c, b) from '{}' (delimiter ';')", path.display());
    assert_eq!(rows(&c, &copy), "COPY 2");
    assert_eq!(rows(&c, "select * from t order by c"), "5|a;b|7\n5||8");
    let _ = std::fs::remove_file(&path);
}

#[test]
fn large_files_enter_a_directory_as_blocks() {
    let csv = directory("large.csv");
    let mut text = String::new();
    let count = 150_000;
    for i in 0..count {
        writeln!(text, "{i},name {}", i % 100).expect("a String takes it");
    }
    std::fs::write(&csv, text).expect("it can be written");
    for threads in [1, 3] {
        let path = directory("large");
        let database = Database::open(&path).expect("an empty directory opens");
        let c = database.connect();
        rows(
            &c,
            &format!("set threads = {threads}; create table t (a integer not null, b text not null)"),
        );
        assert_eq!(
            rows(&c, &format!("copy t from '{}'", csv.display())),
            format!("COPY {count}")
        );
        assert_eq!(
            rows(&c, "select count(*), sum(a), count(distinct b) from t"),
            "150000|11249925000|100"
        );
        let blocks = "select count(*) from frazil_blocks where column_name = 'a' and encoding <> 'hot'";
        assert_eq!(rows(&c, blocks), "2");
        drop(c);
        database.close().expect("it closes");
        let _ = std::fs::remove_dir_all(&path);
    }
    let _ = std::fs::remove_file(&csv);
}
