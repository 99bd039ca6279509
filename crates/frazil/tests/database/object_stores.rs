//! Files of object stores in statements: read, written, refused. Stores are in the memory of the process.

use crate::{directory, rows, state};
use frazil::{Connection, Database, FileAccess, OpenOptions, SqlState};
use frazil_objects::{ObjectMeta, ObjectStore, ObjectUrl, Put};
use frazil_types::Cancel;
use std::sync::Arc;

/// A bucket of the process that no other test has.
struct Bucket {
    name: &'static str,
    store: Arc<ObjectStore>,
}

impl Bucket {
    fn new(name: &'static str) -> Bucket {
        let store = ObjectStore::in_memory();
        ObjectStore::stand_in(&url(&format!("s3://{name}/")), store.clone());
        Bucket { name, store }
    }

    fn put(&self, key: &str, bytes: &[u8]) {
        let at = url(&format!("s3://{}/{key}", self.name));
        let put = self.store.put(&at, bytes.to_vec(), &Put::Replace, &Cancel::new());
        put.expect("it is written");
    }

    fn objects(&self) -> Vec<ObjectMeta> {
        let root = url(&format!("s3://{}/", self.name));
        self.store.list(&root, &Cancel::new()).expect("it is listed")
    }

    fn keys(&self) -> String {
        let objects = self.objects();
        let keys: Vec<&str> = objects.iter().map(|object| object.url.key()).collect();
        keys.join(" ")
    }
}

fn url(text: &str) -> ObjectUrl {
    ObjectUrl::parse(text).expect("a URL").expect("a sound one")
}

fn connected() -> Connection {
    Database::memory().expect("it opens").connect()
}

#[test]
fn rows_go_out_and_come_back_in_every_form() {
    let bucket = Bucket::new("forms");
    let c = connected();
    rows(
        &c,
        "create table t (i integer, s text, d date, n numeric(12,2), b boolean)",
    );
    rows(
        &c,
        "insert into t select i, case when i % 7 = 0 then null else 'row ' || i end, date '2024-01-01' + i / 100, \
         i / 4.0, i % 2 = 0 from generate_series(1, 20000) r(i)",
    );
    for (form, options) in [
        ("csv", "(header)"),
        ("csv.gz", "(header)"),
        ("csv.zst", "(header)"),
        ("json", ""),
        ("jsonl.gz", ""),
        ("parquet", "(row_group_size 7000)"),
        ("parquet", "(compression zstd)"),
        ("bin", "(format binary)"),
        ("txt", "(format text)"),
    ] {
        let at = format!("s3://forms/out/t.{form}");
        rows(&c, &format!("copy t to '{at}' {options}"));
        let from = match form {
            "parquet" | "json" | "jsonl.gz" => "",
            _ => options,
        };
        rows(
            &c,
            &format!("create table u as table t with no data; copy u from '{at}' {from}"),
        );
        let differ =
            "select count(*) from ((table t except all table u) union all (table u except all table t)) x";
        assert_eq!(rows(&c, differ), "0", "{form}");
        assert_eq!(rows(&c, "select count(*) from u"), "20000");
        rows(&c, "drop table u");
        if !["bin", "txt"].contains(&form) {
            let sums = format!(
                "select count(*), sum(i), count(s), max(d), min(n), count(*) filter (where b) from '{at}'"
            );
            assert_eq!(
                rows(&c, &sums),
                rows(&c, &sums.replace(&format!("'{at}'"), "t")),
                "{form}"
            );
        }
    }
    assert!(bucket.keys().contains("out/t.csv.gz"));
}

#[test]
fn patterns_folders_and_functions_name_objects() {
    let bucket = Bucket::new("patterns");
    let c = connected();
    for (year, month, value) in [(2023, 1, 1), (2023, 2, 2), (2024, 1, 4), (2024, 2, 8)] {
        let at = format!("s3://patterns/y/year={year}/month={month}");
        rows(
            &c,
            &format!("copy (select {value} as a, 'x' as b) to '{at}/part-0.parquet'"),
        );
        rows(
            &c,
            &format!("copy (select {value} as a, 'x' as b) to '{at}/part-0.csv' (header)"),
        );
    }
    bucket.put("y/year=2024/_SUCCESS", b"");
    bucket.put("list.json", b"{\"a\":1,\"b\":[1,2]}\n{\"a\":2}\n");
    for (sql, expected) in [
        ("select sum(a) from 's3://patterns/y/*/*/part-*.parquet'", "15"),
        ("select sum(a) from 's3://patterns/y/**/*.parquet'", "15"),
        (
            "select sum(a) from 's3://patterns/y/**/*.csv' where year = 2024",
            "12",
        ),
        (
            "select sum(a) from 's3://patterns/y/**/*.parquet' where year = 2023 and month = 2",
            "2",
        ),
        (
            "select sum(a) from read_parquet('s3://patterns/y/year=202[4-9]/month=?/*.parquet')",
            "12",
        ),
        (
            "select sum(a) from read_csv('s3://patterns/y/year=2023/*/part-0.csv', hive_partitioning => false)",
            "3",
        ),
        (
            "select min(filename) from read_csv('s3://patterns/y/*/*/*.csv', filename => true)",
            "s3://patterns/y/year=2023/month=1/part-0.csv",
        ),
        (
            "select sum(a) from read_parquet(['s3://patterns/y/year=2023/month=1/part-0.parquet', \
             's3://patterns/y/year=2024/month=1/part-0.parquet'])",
            "5",
        ),
        ("select sum(a) from read_json('s3://patterns/list.json')", "3"),
        ("select list.a from 's3://patterns/list.json' where a = 2", "2"),
    ] {
        assert_eq!(rows(&c, sql), expected, "{sql}");
    }
    for (sql, expected) in [
        ("select * from 's3://patterns/none.csv'", SqlState::UNDEFINED_FILE),
        (
            "select * from 's3://patterns/none-*.csv'",
            SqlState::UNDEFINED_FILE,
        ),
        (
            "select * from 's3://patterns/none.parquet'",
            SqlState::UNDEFINED_FILE,
        ),
        (
            "copy (select 1) to 's3://patterns/x/'",
            SqlState::WRONG_OBJECT_TYPE,
        ),
        (
            "copy (select 1) to 's3://patterns/a/../b.csv'",
            SqlState::INVALID_PARAMETER,
        ),
        (
            "select * from 's3://key:secret@patterns/x.csv'",
            SqlState::INVALID_PARAMETER,
        ),
        (
            "select * from read_csv('s3://patterns/x.csv?X-Amz-Signature=abc')",
            SqlState::INVALID_PARAMETER,
        ),
        (
            "copy (select 1 a, 2 b) to 's3://patterns/parts' (format csv, partition_by (a))",
            SqlState::FEATURE_NOT_SUPPORTED,
        ),
    ] {
        assert_eq!(state(&c, sql), expected, "{sql}");
    }
}

#[test]
fn an_object_is_whole_or_as_it_was() {
    let bucket = Bucket::new("whole");
    let c = connected();
    bucket.put("old.csv", b"old");
    for form in ["csv", "json", "parquet", "csv.gz"] {
        let sql = format!(
            "copy (select 1 / (i - 95000), repeat('x', 100) from generate_series(1, 100000) r(i)) to \
                           's3://whole/new.{form}'"
        );
        assert_eq!(state(&c, &sql), SqlState::DIVISION_BY_ZERO, "{form}");
    }
    let sql = "copy (select 1 / (i - 95000), repeat('x', 100) from generate_series(1, 100000) r(i)) to 's3://whole/old.csv'";
    assert_eq!(state(&c, sql), SqlState::DIVISION_BY_ZERO);
    assert_eq!(bucket.keys(), "old.csv");
    assert_eq!(bucket.objects()[0].bytes, 3);
    rows(
        &c,
        "copy (select repeat('x', 100) from generate_series(1, 100000)) to 's3://whole/old.csv'",
    );
    assert_eq!(bucket.objects()[0].bytes, 100_000 * 101);
    rows(&c, "copy (select 1 where false) to 's3://whole/empty.parquet'");
    assert_eq!(rows(&c, "select count(*) from 's3://whole/empty.parquet'"), "0");
}

#[test]
fn damaged_objects_are_named() {
    let bucket = Bucket::new("damaged");
    let c = connected();
    rows(&c, "create table t (a integer)");
    bucket.put("x.parquet", b"PAR1 this is none");
    bucket.put("empty.parquet", b"");
    bucket.put("x.csv.gz", b"\x1f\x8b this is none");
    bucket.put("x.csv", b"1\nx\n");
    for sql in [
        "select * from 's3://damaged/x.parquet'",
        "copy t from 's3://damaged/x.parquet'",
        "select * from 's3://damaged/empty.parquet'",
        "select * from 's3://damaged/x.csv.gz'",
        "copy t from 's3://damaged/x.csv'",
    ] {
        let error = c.execute(sql).expect_err(sql);
        assert!(format!("{error:?}").contains("s3://damaged/"), "{sql}: {error:?}");
    }
    // A footer that is cut, and a column that is.
    rows(
        &c,
        "copy (select i, 'text ' || i s from generate_series(1, 20000) r(i)) to 's3://damaged/cut.parquet'",
    );
    let whole = bucket
        .objects()
        .into_iter()
        .find(|o| o.url.key() == "cut.parquet")
        .expect("it is there");
    let mut bytes = vec![0; whole.bytes as usize];
    bucket
        .store
        .read_at(&whole, 0, &mut bytes, &Cancel::new())
        .expect("read");
    for cut in [4, bytes.len() / 2, bytes.len() - 9] {
        bucket.put("cut.parquet", &bytes[..cut]);
        assert_eq!(
            state(&c, "select * from 's3://damaged/cut.parquet'"),
            SqlState::BAD_COPY_FORMAT
        );
    }
}

#[test]
fn footers_are_those_of_the_version_that_is_read() {
    let _bucket = Bucket::new("versions");
    let c = connected();
    for n in [1, 5, 3] {
        rows(
            &c,
            &format!("copy (select i from generate_series(1, {n}) r(i)) to 's3://versions/x.parquet'"),
        );
        for _ in 0..2 {
            assert_eq!(
                rows(&c, "select count(*), max(i) from 's3://versions/x.parquet'"),
                format!("{n}|{n}")
            );
        }
    }
}

#[test]
fn a_memory_limit_holds_for_objects() {
    let _bucket = Bucket::new("limits");
    let c = connected();
    rows(
        &c,
        "copy (select i, repeat('x', 200) s from generate_series(1, 100000) r(i)) to 's3://limits/x.csv'",
    );
    rows(&c, "create table t (i integer, s text)");
    rows(&c, "set memory_limit = '16MB'");
    assert_eq!(
        state(&c, "select * from 's3://limits/x.csv'"),
        SqlState::OUT_OF_MEMORY
    );
    assert_eq!(
        state(&c, "copy t from 's3://limits/x.csv'"),
        SqlState::OUT_OF_MEMORY
    );
}

#[test]
fn objects_are_files_for_privileges_and_file_access() {
    let bucket = Bucket::new("guarded");
    bucket.put("in/x.csv", b"a\n1\n");
    bucket.put("x.csv", b"a\n1\n");
    let statements = |folder: &str| {
        [
            format!("select * from '{folder}x.csv'"),
            format!("select * from '{folder}x*.csv'"),
            format!("select * from read_csv('{folder}x.csv')"),
            format!("copy t from '{folder}x.csv' (header)"),
            format!("copy t to '{folder}out.csv'"),
            format!("copy t to '{folder}out.parquet'"),
        ]
    };
    let folder = directory("object-access");
    std::fs::create_dir_all(&folder).expect("it is made");
    let local = FileAccess::to_folders(&[&folder]).expect("a folder");
    let inside = FileAccess::of_text("s3://guarded/in").expect("a folder");
    for (access, outer, inner) in [
        (FileAccess::On, true, true),
        (FileAccess::Off, false, false),
        (local, false, false),
        (inside, false, true),
    ] {
        let options = OpenOptions::new().file_access(access.clone());
        let c = options.open(folder.join("db")).expect("it opens").connect();
        rows(&c, "drop table if exists t; create table t (a integer)");
        for (folder, is_allowed) in [("s3://guarded/", outer), ("s3://guarded/in/", inner)] {
            for sql in statements(folder) {
                match is_allowed {
                    true => drop(rows(&c, &sql)),
                    false => {
                        let error = c.execute(&sql).expect_err(&sql);
                        assert_eq!(error.state(), SqlState::INSUFFICIENT_PRIVILEGE, "{access} {sql}");
                        assert!(error.hint().is_some());
                    }
                }
            }
        }
    }
    let c = connected();
    rows(
        &c,
        "create table t (a integer); create role plain; grant all on t to plain; set role plain",
    );
    for sql in statements("s3://guarded/") {
        assert_eq!(state(&c, &sql), SqlState::INSUFFICIENT_PRIVILEGE, "{sql}");
    }
}
