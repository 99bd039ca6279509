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

/// Columns of every type that a table has.
const EVERY_TYPE: &str = "create table every (b boolean, s smallint, i integer, l bigint, f double precision, \
     d decimal(10,2), w decimal(38,3), day date, at timestamp, c char(1), p char(5), v varchar(9), t text not null)";

/// NULLs, empty strings, edges of ranges, and what CSV has to quote.
const EVERY_VALUE: &str = "insert into every values \
     (true, 32767, 2147483647, 9223372036854775807, 1.7976931348623157e308, 99999999.99, \
      99999999999999999999999999999999999.999, '5874897-12-31', '9999-12-31 23:59:59.999999', 'é', 'ab', 'naïve', \
      e'a,\"b\"\\nc'), \
     (false, -32768, -2147483648, -9223372036854775808, -0.0, -99999999.99, \
      -99999999999999999999999999999999999.999, '0001-01-01', '0001-01-01', ',', 'a''b', '', ''), \
     (null, 0, 0, 0, 5e-324, 0, 0.001, '1970-01-01', '1969-12-31 23:59:59.999999', '\"', '', ' x ', '\\.'), \
     (null, null, null, null, 'NaN', null, null, null, null, null, null, null, 'null'), \
     (null, null, null, null, '-Infinity', null, null, '2024-02-29', null, null, null, '漢字', '')";

#[test]
fn what_is_copied_out_comes_back_equal() {
    let c = memory();
    rows(&c, EVERY_TYPE);
    rows(&c, EVERY_VALUE);
    let all = rows(&c, "select * from every order by l, f");
    for (name, options) in [
        ("every.csv", ""),
        ("header.csv", "(header)"),
        ("marks.csv", "(delimiter ';', quote '''', null 'nil')"),
        ("every.data", ""),
        (
            "every.text",
            "(format text, delimiter '|', null 'nil', header match)",
        ),
        ("forced.csv", "csv header force quote *"),
        ("every.csv.gz", ""),
        ("every.csv.zst", ""),
        ("every.txt", "(format csv, compression gzip)"),
        ("every.parquet", ""),
        ("zstd.parquet", "(compression zstd, row_group_size 2)"),
        ("plain.parquet", "(compression none)"),
        ("lz4.parquet", "(compression lz4)"),
    ] {
        let path = directory(name);
        let file = path.display();
        assert_eq!(
            rows(
                &c,
                &format!("copy every to '{file}' {}", options.replace(" match", ""))
            ),
            "COPY 5",
            "{name}"
        );
        rows(&c, "create table again as select * from every where false");
        assert_eq!(
            rows(
                &c,
                &format!(
                    "copy again from '{file}' {}",
                    options.replace(" force quote *", "")
                )
            ),
            "COPY 5",
            "{name}"
        );
        assert_eq!(rows(&c, "select * from again order by l, f"), all, "{name}");
        rows(&c, "drop table again");
        let _ = std::fs::remove_file(&path);
    }
}

#[test]
fn a_copy_that_fails_leaves_the_file_of_before() {
    let c = memory();
    let path = directory("kept.csv");
    std::fs::write(&path, "kept").expect("it is written");
    let read = || std::fs::read_to_string(&path).expect("it is there");
    let file = path.display();
    let failing = format!("copy (select 1 / x from (values (1), (0)) v(x)) to '{file}'");
    assert_eq!(state(&c, &failing), SqlState::DIVISION_BY_ZERO);
    assert_eq!(read(), "kept");
    for (refused, why) in [
        (
            "copy (select 1) to '/does/not/exist/x.csv'",
            SqlState::UNDEFINED_FILE,
        ),
        ("copy (select 1) to '/dev/full'", SqlState::DISK_FULL),
        ("copy (select 1) to stdout", SqlState::FEATURE_NOT_SUPPORTED),
        (
            "copy (select interval '1 day -1 us' as i) to '/tmp/x.parquet'",
            SqlState::DATETIME_OVERFLOW,
        ),
        (
            "copy (select 1) to '/tmp/x.csv' (compression snappy)",
            SqlState::FEATURE_NOT_SUPPORTED,
        ),
    ] {
        assert_eq!(state(&c, refused), why, "{refused}");
    }
    rows(
        &c,
        &format!("copy (select 1 as a, 'x' as b) to '{file}' (format json, array true)"),
    );
    assert_eq!(read(), "[\n{\"a\":1,\"b\":\"x\"}\n]\n");
    rows(
        &c,
        &format!("copy (select 1 as a where false) to '{file}' (header)"),
    );
    assert_eq!(read(), "a\n");
    let _ = std::fs::remove_file(&path);
}

/// What PostgreSQL 15 writes of the rows that it reads from [`TEXT_READ`].
const TEXT_WRITTEN: &str = "1\tplain\t{a,b}\t\\\\x00ff\tt\t2026-01-31\t1.5\n\\N\t\\N\t\\N\t\\N\t\\N\t\\N\t\\N\n\
    2\ttab\\there\\\\ back\\nnew\\rret\\b\\f\\v\t{\"a b\",\"c\\\\\"d\"}\t\\\\xab\tf\tinfinity\t-Infinity\n\
    3\t\t{}\t\\\\x\tt\t2000-02-28\tNaN\n4\tABq\\\\N\t{NULL}\t\\\\x01\tt\t2000-02-29\t1e+300\n";

/// The same rows with other escapes, and what stands behind the mark of their end.
const TEXT_READ: &str = "1\tplain\t{a,b}\t\\\\x00ff\tt\t2026-01-31\t1.5\n\\N\t\\N\t\\N\t\\N\t\\N\t\\N\t\\N\r\n\
    2\ttab\\there\\\\ back\\\nnew\\rret\\b\\f\\v\t{\"a b\",\"c\\\\\"d\"}\t\\\\xab\tf\tinfinity\t-Infinity\n\
    3\t\t{}\t\\\\x\tt\t2000-02-28\tNaN\n4\t\\101\\x42\\q\\\\N\t{NULL}\t\\\\x01\tt\t2000-02-29\t1e300\n\\.\nnot a row\n";

#[test]
fn the_text_format_is_postgresqls() {
    let c = memory();
    rows(
        &c,
        "create table texts (a integer, b text, c text[], d bytea, e boolean, f date, g double precision)",
    );
    let (from, to) = (directory("from.data"), directory("to.data"));
    std::fs::write(&from, TEXT_READ).expect("it is written");
    assert_eq!(
        rows(&c, &format!("copy texts from '{}'", from.display())),
        "COPY 5"
    );
    let written = |options: &str| {
        rows(&c, &format!("copy texts to '{}' {options}", to.display()));
        std::fs::read_to_string(&to).expect("it is there")
    };
    assert_eq!(written(""), TEXT_WRITTEN);
    assert_eq!(written("(format text)"), TEXT_WRITTEN);
    let marked = written("(delimiter '|', null '-', header)");
    let marked: Vec<&str> = marked.lines().take(3).collect();
    assert_eq!(
        marked,
        [
            "a|b|c|d|e|f|g",
            "1|plain|{a,b}|\\\\x00ff|t|2026-01-31|1.5",
            "-|-|-|-|-|-|-"
        ]
    );
    let quoted = written("csv header force quote b, a");
    assert!(
        quoted.starts_with("a,b,c,d,e,f,g\n\"1\",\"plain\",\"{a,b}\",\\x00ff,t,"),
        "{quoted}"
    );
    for (wrong, state_of_it) in [
        ("1\tx\n", "22P04"),
        ("1\tx\t{}\t\\\\x\tt\t2000-01-01\t1\t2\n", "22P04"),
        ("\n", "22P04"),
        ("x\t\\N\t\\N\t\\N\t\\N\t\\N\t\\N\n", "22P02"),
        ("1\t\\377\t\\N\t\\N\t\\N\t\\N\t\\N\n", "22021"),
    ] {
        std::fs::write(&from, wrong).expect("it is written");
        assert_eq!(
            state(&c, &format!("copy texts from '{}'", from.display())).0,
            state_of_it,
            "{wrong:?}"
        );
    }
    let _ = (std::fs::remove_file(&from), std::fs::remove_file(&to));
}

#[test]
fn nulls_are_forced_and_headers_matched() {
    let c = memory();
    rows(&c, "create table t (a text, b text)");
    let path = directory("forced.csv");
    let file = path.display();
    let read = |text: &str, options: &str| {
        std::fs::write(&path, text).expect("it is written");
        rows(&c, "truncate t");
        rows(&c, &format!("copy t from '{file}' {options}"));
        rows(&c, "select coalesce(a, 'none'), coalesce(b, 'none') from t")
    };
    assert_eq!(read(",\"\"\n", "csv"), "none|");
    assert_eq!(read(",\"\"\n", "csv force not null a force null b"), "|none");
    assert_eq!(
        read(
            "n,\"n\"\n",
            "(format csv, null 'n', force_not_null (a), force_null (b))"
        ),
        "n|none"
    );
    assert_eq!(
        read("n,\"n\"\n", "(format csv, null 'n', force_null *)"),
        "none|none"
    );
    assert_eq!(read("a,b\nx,y\n", "(header match)"), "x|y");
    std::fs::write(&path, "A,b\nx,y\n").expect("it is written");
    assert_eq!(
        state(&c, &format!("copy t from '{file}' (header match)")).0,
        "22P04"
    );
    for (wrong, state_of_it) in [
        ("to 'x' (header match)", "0A000"),
        ("to 'x' (quote '\"')", "0A000"),
        ("to 'x' (delimiter 'a')", "22023"),
        ("to 'x' (delimiter 'ab')", "0A000"),
        ("to 'x' (null e'\\n')", "22023"),
        ("to 'x' (null e'\\t')", "0A000"),
        ("to 'x' (format csv, null '\"')", "0A000"),
        ("to 'x' (format csv, delimiter '\"')", "22023"),
        ("to 'x' (force_quote *)", "0A000"),
        ("to 'x' (format csv, force_null (a))", "0A000"),
        ("from 'x' (format csv, force_quote (a))", "0A000"),
        ("to 'x' (format csv, force_quote (c))", "42703"),
        ("to 'x' (format csv, force_quote a)", "22023"),
        ("to 'x' (format nothing)", "22023"),
        ("to 'x' (format binary, delimiter ',')", "42601"),
        ("to 'x' (format binary, null '')", "42601"),
        ("to 'x' (format binary, header)", "0A000"),
        ("to 'x' (format binary, quote '\"')", "0A000"),
        ("from 'x' (format binary, force_null (a))", "0A000"),
        ("to 'x' (header nothing)", "42601"),
        ("to 'x' csv csv", "42601"),
    ] {
        assert_eq!(state(&c, &format!("copy t {wrong}")).0, state_of_it, "{wrong}");
    }
    let _ = std::fs::remove_file(&path);
}
