//! COPY FROM … (ON_ERROR ignore): rows that cannot be read are left out, counted, and kept in a table.

use crate::{directory, memory, rows, state};
use frazil::{Connection, Database, SqlState};
use std::path::PathBuf;

fn file(name: &str, text: &[u8]) -> PathBuf {
    let path = std::env::temp_dir().join(format!("frazil-test-{}-{name}", std::process::id()));
    std::fs::write(&path, text).expect("it can be written");
    path
}

/// What a statement says beside its result.
fn notices(c: &Connection, sql: &str) -> Vec<String> {
    let response = c.execute(sql).unwrap_or_else(|e| panic!("{sql}: {e:?}"));
    response
        .notices
        .into_iter()
        .map(|notice| notice.message)
        .collect()
}

const MIXED: &str = "a,b,d\n1,x,2024-01-01\ntwo,y,2024-01-02\n3,too long a text,2024-01-03\n4,z,2024-02-30\n\
    99999999999,z,2024-01-01\n6,\"a\nb\",2024-01-06\n7,w,yesterdayish\n8,v,2024-01-08\n";

#[test]
fn rows_with_wrong_values_are_left_out() {
    let path = file("wrong.csv", MIXED.as_bytes());
    let c = memory();
    rows(&c, "create table t (a integer, b varchar(3), d date)");
    let copy = format!("copy t from '{}' (header, on_error ignore)", path.display());
    assert_eq!(
        notices(&c, &copy),
        ["5 rows were skipped because they could not be read"]
    );
    assert_eq!(
        rows(&c, "select a, replace(b, chr(10), '/') from t order by a"),
        "1|x\n6|a/b\n8|v"
    );
    assert_eq!(rows(&c, &copy), "COPY 3");
    let stop = copy.replace("ignore", "stop");
    assert_eq!(state(&c, &stop), SqlState::INVALID_TEXT);
    let clean = "copy (select 1, 'x', date '2024-01-01') to";
    rows(&c, &format!("{clean} '{}'", path.display()));
    assert!(notices(&c, &copy.replace("header, ", "")).is_empty());
    std::fs::remove_file(path).expect("it is there");
}

#[test]
fn rows_that_were_left_out_are_kept_in_a_table() {
    let path = file("kept.csv", MIXED.as_bytes());
    let c = memory();
    rows(&c, "create table t (a integer, b varchar(3), d date)");
    let copy = format!(
        "copy t from '{}' (header, on_error ignore, rejects_table 'bad')",
        path.display()
    );
    assert_eq!(rows(&c, &copy), "COPY 3");
    assert_eq!(
        rows(
            &c,
            "select line, \"column\", \"text\", reason from bad order by line"
        ),
        "3|a|two|invalid input syntax for type integer: \"two\"\n\
         4|b|too long a text|value too long for type character varying(3)\n\
         5|d|2024-02-30|date/time field value out of range: \"2024-02-30\"\n\
         6|a|99999999999|value \"99999999999\" is out of range for type integer\n\
         9|d|yesterdayish|invalid input syntax for type date: \"yesterdayish\""
    );
    let file = path.display();
    assert_eq!(rows(&c, "select distinct file from bad"), file.to_string());
    // The next ones stand behind them, and a table of the name may be an identifier.
    let again = copy.replace("on_error ignore, rejects_table 'bad'", "rejects_table bad");
    assert_eq!(rows(&c, &again), "COPY 3");
    assert_eq!(rows(&c, "select count(*) from bad"), "10");
    std::fs::remove_file(path).expect("it is there");
}

#[test]
fn records_of_other_widths_are_left_out_only_where_a_table_keeps_them() {
    let path = file("ragged.csv", b"1,x\n2\n3,y,more\n4,\"z\n\",\n5,\xff\n6,end\n");
    let c = memory();
    rows(&c, "create table t (a integer, b text)");
    let copy = format!("copy t from '{}' (on_error ignore)", path.display());
    assert_eq!(state(&c, &copy), SqlState::BAD_COPY_FORMAT);
    let copy = copy.replace("ignore", "ignore, rejects_table 'bad'");
    assert_eq!(rows(&c, &copy), "COPY 2");
    assert_eq!(
        rows(
            &c,
            "select line, \"column\", replace(\"text\", chr(10), '/'), reason from bad order by line"
        ),
        "2||2|missing data for column \"b\": 1 fields, expected 2\n\
         3||3,y,more|extra data after the last expected column: 3 fields, expected 2\n\
         4||4,\"z/\",|extra data after the last expected column: 3 fields, expected 2\n\
         6|b|\u{fffd}|invalid byte sequence for encoding UTF-8 at byte 1"
    );
    // Behind an open quote there is no next record.
    std::fs::write(&path, "1,x\n2,\"y\n3,z\n").expect("it can be written");
    assert_eq!(state(&c, &copy), SqlState::BAD_COPY_FORMAT);
    assert_eq!(rows(&c, "select count(*) from t"), "2");
    std::fs::remove_file(path).expect("it is there");
}

#[test]
fn constraints_fail_the_statement_with_all_that_it_did() {
    let path = file("constraints.csv", b"1,1\nx,1\n,1\n");
    let c = memory();
    rows(
        &c,
        "create table t (a integer not null, b integer check (b < 5), unique (a))",
    );
    let copy = format!(
        "copy t from '{}' (on_error ignore, rejects_table 'bad')",
        path.display()
    );
    assert_eq!(state(&c, &copy), SqlState::NOT_NULL_VIOLATION);
    std::fs::write(&path, "1,1\nx,1\n1,2\n").expect("it can be written");
    assert_eq!(state(&c, &copy), SqlState::UNIQUE_VIOLATION);
    std::fs::write(&path, "1,1\nx,1\n2,7\n").expect("it can be written");
    assert_eq!(state(&c, &copy), SqlState::CHECK_VIOLATION);
    assert_eq!(state(&c, "select * from bad"), SqlState::UNDEFINED_TABLE);
    std::fs::write(&path, "1,1\nx,1\n").expect("it can be written");
    rows(&c, "begin");
    assert_eq!(rows(&c, &copy), "COPY 1");
    assert_eq!(rows(&c, "select count(*) from bad"), "1");
    rows(&c, "rollback");
    assert_eq!(state(&c, "select * from bad"), SqlState::UNDEFINED_TABLE);
    std::fs::remove_file(path).expect("it is there");
}

#[test]
fn a_limit_ends_the_statement() {
    let path = file("limit.csv", b"1\nx\ny\n4\nz\n");
    let c = memory();
    rows(&c, "create table t (a integer)");
    let copy = format!(
        "copy t from '{}' (on_error ignore, reject_limit 2)",
        path.display()
    );
    let error = c.execute(&copy).expect_err("three are wrong");
    assert_eq!(error.state(), SqlState::INVALID_TEXT);
    for part in ["limit.csv", "line 5", "REJECT_LIMIT (2)", "\"z\""] {
        assert!(error.message().contains(part), "{part} in {}", error.message());
    }
    assert_eq!(rows(&c, "select count(*) from t"), "0");
    assert_eq!(rows(&c, &copy.replace("limit 2", "limit 3")), "COPY 2");
    std::fs::remove_file(path).expect("it is there");
}

#[test]
fn members_of_json_are_left_out_alike() {
    let text = "{\"a\": 1, \"b\": \"x\"}\n{\"a\": \"two\", \"b\": \"y\"}\n{\"a\": 3,\n \"b\": \"z\"}\n\n{\"b\": \"w\", \"a\": 4.5e99}\n{\"a\": 5}\n";
    let path = file("wrong.json", text.as_bytes());
    let c = memory();
    rows(&c, "create table t (a integer, b text)");
    let copy = format!("copy t from '{}' (on_error ignore)", path.display());
    assert_eq!(rows(&c, &copy), "COPY 3");
    assert_eq!(rows(&c, "select * from t order by a"), "1|x\n3|z\n5|");
    // A line that is no object is left out where a table keeps it.
    let broken = format!("{text}{{\"a\": 6, \"b\"\n[7]\n{{\"a\": 8}}\n");
    std::fs::write(&path, &broken).expect("it can be written");
    let error = c.execute(&copy).expect_err("a line is no object");
    assert_eq!(error.state(), SqlState::BAD_COPY_FORMAT);
    assert!(error.message().contains("line 9"), "{}", error.message());
    let copy = copy.replace("ignore", "ignore, rejects_table 'bad'");
    assert_eq!(rows(&c, &copy), "COPY 4");
    assert_eq!(
        rows(&c, "select line, \"column\", \"text\" from bad order by line"),
        "2|a|\"two\"\n6|a|4.5e99\n8||{\"a\": 6, \"b\"\n9||[7]"
    );
    // So is it where a query reads the file.
    let read = format!(
        "select sum(a) from read_json('{}', ignore_errors => true)",
        path.display()
    );
    let failing = read.replace(", ignore_errors => true", "");
    assert_eq!(state(&c, &failing), SqlState::BAD_COPY_FORMAT);
    assert_eq!(
        rows(&c, &read.replace("sum(a)", "count(*)")),
        "6",
        "what a is was found out"
    );
    // An array is read as a whole.
    std::fs::write(&path, "[{\"a\": 1}, {\"a\": }]").expect("it can be written");
    assert_eq!(state(&c, &copy), SqlState::BAD_COPY_FORMAT);
    std::fs::remove_file(path).expect("it is there");
}

#[test]
fn a_query_leaves_out_what_does_not_fit() {
    let mut text = String::from("a,b\n");
    (0..200_000).for_each(|i| text.push_str(&format!("{i},name {i}\n")));
    text.push_str("no number,x\n7\n200000,last\n");
    let path = file("query.csv", text.as_bytes());
    let c = memory();
    let read = |options: &str| {
        format!(
            "select count(*), max(a) from read_csv('{}'{options})",
            path.display()
        )
    };
    assert_eq!(state(&c, &read("")), SqlState::BAD_COPY_FORMAT);
    assert_eq!(rows(&c, &read(", on_error => 'ignore'")), "200001|200000");
    assert_eq!(rows(&c, &read(", ignore_errors = true")), "200001|200000");
    assert_eq!(
        state(&c, &read(", on_error => 'explode'")),
        SqlState::INVALID_PARAMETER
    );
    assert_eq!(
        state(&c, &read(", rejects_table => 'bad'")),
        SqlState::FEATURE_NOT_SUPPORTED
    );
    std::fs::remove_file(path).expect("it is there");
}

#[test]
fn many_rejects_take_no_more_memory_than_they_may() {
    let mut text = String::new();
    let long = "a text that is not short enough to be inline; ".repeat(20);
    (0..60_000).for_each(|i| text.push_str(&format!("{long}{i},x{i}\n")));
    text.push_str("good,1\n");
    let path = file("many.csv", text.as_bytes());
    let c = memory();
    rows(
        &c,
        "set memory_limit = '32MB'; create table t (b text, a integer)",
    );
    let copy = format!("copy t from '{}' (on_error ignore)", path.display());
    assert_eq!(
        notices(&c, &copy),
        ["60000 rows were skipped because they could not be read"]
    );
    assert_eq!(rows(&c, "select * from t"), "good|1");
    // Their values are short; then there is room for them.
    let kept = copy.replace("ignore", "ignore, rejects_table 'bad'");
    assert_eq!(rows(&c, &kept), "COPY 1");
    assert_eq!(rows(&c, "select count(*), max(line) from bad"), "60000|60000");
    // Whole records are long.
    let kept = kept.replace(" t from", " t (a) from");
    assert_eq!(state(&c, &kept), SqlState::OUT_OF_MEMORY);
    assert_eq!(rows(&c, "select count(*) from bad"), "60000");
    std::fs::remove_file(path).expect("it is there");
}

#[test]
fn blocks_and_rejects_stand_when_a_database_opens_again() {
    let mut text = String::new();
    (0..200_000).for_each(|i| match i % 1000 {
        7 => text.push_str("seven\n"),
        _ => text.push_str(&format!("{i}\n")),
    });
    let path = file("blocks.csv", text.as_bytes());
    let kept = directory("rejects");
    let database = Database::open(&kept).expect("an empty directory opens");
    let c = database.connect();
    rows(&c, "set threads = 3; create table t (a integer)");
    let copy = format!(
        "copy t from '{}' (on_error ignore, rejects_table 'bad')",
        path.display()
    );
    assert_eq!(rows(&c, &copy), "COPY 199800");
    drop(c);
    database.close().expect("it closes");
    let c = Database::open(&kept).expect("it opens again").connect();
    assert_eq!(rows(&c, "select count(*), max(a) from t"), "199800|199999");
    assert_eq!(
        rows(
            &c,
            "select count(*), min(line), max(line) from bad where \"text\" = 'seven'"
        ),
        "200|8|199008"
    );
    drop(c);
    std::fs::remove_dir_all(kept).expect("it is there");
    std::fs::remove_file(path).expect("it is there");
}

#[test]
fn options_that_make_no_sense_are_refused() {
    let path = file("options.csv", b"1\nx\n");
    let c = memory();
    rows(
        &c,
        "create table t (a integer); create table other (file text); create view v as select 1",
    );
    let from = |options: &str| format!("copy t from '{}' ({options})", path.display());
    for (options, expected) in [
        ("on_error explode", SqlState::INVALID_PARAMETER),
        ("reject_limit 3", SqlState::INVALID_PARAMETER),
        ("on_error ignore, reject_limit 0", SqlState::INVALID_PARAMETER),
        ("on_error stop, rejects_table 'bad'", SqlState::INVALID_PARAMETER),
        ("on_error ignore, reject_limit many", SqlState::SYNTAX_ERROR),
        ("on_error ignore, ignore_errors", SqlState::SYNTAX_ERROR),
        ("on_error ignore, format parquet", SqlState::FEATURE_NOT_SUPPORTED),
        ("rejects_table 'other'", SqlState::DATATYPE_MISMATCH),
        ("rejects_table 'v'", SqlState::WRONG_OBJECT_TYPE),
        ("rejects_table 't'", SqlState::INVALID_PARAMETER),
        ("rejects_table 'frazil_blocks'", SqlState::DUPLICATE_TABLE),
    ] {
        assert_eq!(state(&c, &from(options)), expected, "{options}");
    }
    let to = from("on_error ignore").replace(" from ", " to ");
    assert_eq!(state(&c, &to), SqlState::INVALID_PARAMETER);
    assert_eq!(rows(&c, "select count(*) from t"), "0");
    std::fs::remove_file(path).expect("it is there");
}
