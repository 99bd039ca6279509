//! Files in FROM.

use crate::{directory, memory, rows, state};
use frazil::{Connection, SqlState};
use std::io::Write;
use std::path::PathBuf;

/// A directory with files.
fn files(name: &str, files: &[(&str, &[u8])]) -> PathBuf {
    let path = directory(name);
    std::fs::create_dir_all(&path).expect("it is made");
    for (name, bytes) in files {
        std::fs::write(path.join(name), bytes).expect("it is written");
    }
    path
}

/// Names and types of the columns of a query.
fn columns(connection: &Connection, from: &str) -> String {
    let response = connection.execute(&format!("select * from {from} limit 0"));
    let response = response.unwrap_or_else(|e| panic!("{from}: {e:?}"));
    let frazil::Outcome::Rows(rows) = response.outcome else {
        panic!("{from} gives rows");
    };
    let columns = rows
        .schema()
        .columns
        .iter()
        .map(|c| format!("{} {}", c.name, c.ty));
    columns.collect::<Vec<_>>().join(", ")
}

#[test]
fn csv_is_found_out() {
    let c = memory();
    let cases: &[(&str, &[u8], &str, &str)] = &[
        (
            "plain.csv",
            b"Id,Price,Day,At,Ok,Code,Note\n1,2.5,2024-02-29,2024-02-29 12:30:00,true,007,x\n2,,,,false,,\"\"\n",
            "id bigint, price double precision, day date, at timestamp, ok boolean, code text, note text",
            "1|2.5|2024-02-29|2024-02-29 12:30:00|t|007|x\n2||||f||",
        ),
        ("semicolons.csv", b"a;b\n1,5;x\n2,5;y\n", "a text, b text", "1,5|x\n2,5|y"),
        ("tabs.tsv", b"a\tb\n1\tx y\n", "a bigint, b text", "1|x y"),
        ("bars.txt", b"1|2\r\n3|4\r\n", "column0 bigint, column1 bigint", "1|2\n3|4"),
        (
            "names.csv",
            b"name\n\"Smith, John\"\n\"Doe, Jane\"\n",
            "name text",
            "Smith, John\nDoe, Jane",
        ),
        ("quotes.csv", b"a,b\n1,'x,y'\n2,'z'\n", "a bigint, b text", "1|x,y\n2|z"),
        ("one.csv", b"name\nanna\nbert\n", "name text", "anna\nbert"),
        ("numbers.csv", b"1\n2\n", "column0 bigint", "1\n2"),
        ("bom.csv", b"\xef\xbb\xbfa,b\n1,2\n", "a bigint, b bigint", "1|2"),
        ("twice.csv", b"a,A,a,\n1,2,3,4\n", "a bigint, A bigint, a_1 bigint, column3 bigint", "1|2|3|4"),
        ("wide.csv", b"x\n99999999999999999999\n1\n", "x decimal(38,0)", "99999999999999999999\n1"),
        ("lines.csv", b"a,b\n1,\"two\nlines\"\n", "a bigint, b text", "1|two\nlines"),
        ("mixed.csv", b"d\n2024-01-01\n2024-01-01 10:00:00\n", "d timestamp", "2024-01-01 00:00:00\n2024-01-01 10:00:00"),
        ("header.csv", b"a,b\n", "a text, b text", ""),
        ("long.csv", b"x\n99999999999999999999\n1.5\n", "x double precision", "1e+20\n1.5"),
        ("comments.csv", b"# made\na,b\n1,x\n#2,y\n3,z # no\n", "a bigint, b text", "1|x\n3|z # no"),
        ("tags.csv", b"tag\n#one\n#two\n", "tag text", "#one\n#two"),
        ("title.csv", b"A report\r\n\r\na;b\r\n1;x\r\n2;y\r\n", "a bigint, b text", "1|x\n2|y"),
        ("days.csv", b"d,at\n31/12/2023,1.2.2024 10:00\n1/2/2024,2.2.2024 11:30\n", "d date, at timestamp",
            "2023-12-31|2024-02-01 10:00:00\n2024-02-01|2024-02-02 11:30:00"),
        ("months.csv", b"d,y\n12/31/2023,2024/1/2\n1/2/2024,2024/2/3\n", "d date, y date", "2023-12-31|2024-01-02\n2024-01-02|2024-02-03"),
        ("either.csv", b"d\n1/2/2024\n2/1/2024\n", "d text", "1/2/2024\n2/1/2024"),
        ("times.csv", b"t,f\n10:20:30,yes\n23:59:59.5,no\n", "t time, f boolean", "10:20:30|t\n23:59:59.5|f"),
        ("zones.csv", b"t\n2024-01-01 10:00:00+02\n", "t timestamptz", "2024-01-01 08:00:00+00"),
        ("zulu.csv", b"t\n2013-01-01T10:00:00Z\n2013-01-01 10:00:00-03:30\n", "t timestamptz", "2013-01-01 10:00:00+00\n2013-01-01 13:30:00+00"),
        ("partly.csv", b"t\n2013-01-01T10:00:00Z\n2013-01-01 10:00:00\n", "t text", "2013-01-01T10:00:00Z\n2013-01-01 10:00:00"),
        ("named.csv", b"t\n2013-01-01 10:00:00 CET\n", "t text", "2013-01-01 10:00:00 CET"),
        ("escapes.csv", b"a,b\n1,\"x \\\"y\\\", z\"\n2,\"w\"\n", "a bigint, b text", "1|x \"y\", z\n2|w"),
        ("padded.csv", b"a, b\n1, \"x, y\"\n2, \"z\"\n", "a bigint, b text", "1|x, y\n2|z"),
        ("words.csv", b"a,b\n1.5,nan\n-inf,inf\n", "a double precision, b text", "1.5|nan\n-Infinity|inf"),
    ];
    for (name, bytes, types, values) in cases {
        let path = files("sniffed", &[(name, bytes)]);
        let from = format!("'{}'", path.join(name).display());
        assert_eq!(columns(&c, &from), *types, "{name}");
        assert_eq!(rows(&c, &format!("select * from {from}")), *values, "{name}");
    }
    let path = files("sniffed", &[("o.csv", b"1;nil\n2;x\n")]);
    let from = format!(
        "read_csv('{}', header => false, delim = ';', null := 'nil')",
        path.join("o.csv").display()
    );
    assert_eq!(
        rows(
            &c,
            &format!("select column0, column1 is null from {from} t where t.column0 < 5")
        ),
        "1|t\n2|f"
    );
    let text = format!("read_csv('{}', all_text => true)", path.join("o.csv").display());
    assert_eq!(columns(&c, &text), "column0 text, column1 text");
}

#[test]
fn a_type_that_the_first_megabyte_tells_wrongly_is_found_by_all_of_the_file() {
    let c = memory();
    let mut text = b"n\n".to_vec();
    for i in 0..200_000 {
        writeln!(text, "{i}").expect("a Vec takes it");
    }
    text.extend_from_slice(b"many\n");
    let path = files("misled", &[("n.csv", &text)]);
    let from = format!("'{}'", path.join("n.csv").display());
    assert_eq!(
        rows(&c, &format!("select count(*), max(length(n)) from {from}")),
        "200001|6"
    );
    assert_eq!(columns(&c, &from), "n text");
}

#[test]
fn json_is_read_as_it_comes() {
    let c = memory();
    let lines = b"{\"Id\":1,\"name\":\"x\",\"tags\":[1,2]}\n{\"Id\":2.5,\"day\":\"2024-02-29\",\"ok\":true}\n\n{\"name\":null}\n";
    let array = b"[{\"a\":1,\"b\":{\"c\":null}},\n {\"b\":3}]";
    let path = files(
        "json",
        &[
            ("l.jsonl", lines),
            ("a.json", array),
            ("bad.json", b"{\"a\":1}\n{\"a\":}\n"),
            ("none.json", b"[]"),
        ],
    );
    let from = |name: &str| format!("'{}'", path.join(name).display());
    let types = "id double precision, name text, tags jsonb, day date, ok boolean";
    assert_eq!(columns(&c, &from("l.jsonl")), types);
    assert_eq!(
        rows(&c, &format!("select * from {}", from("l.jsonl"))),
        "1|x|[1, 2]||\n2.5|||2024-02-29|t\n||||"
    );
    assert_eq!(
        rows(&c, &format!("select a, b from {}", from("a.json"))),
        "1|{\"c\": null}\n|3"
    );
    let bad = c
        .execute(&format!("select * from {}", from("bad.json")))
        .expect_err("it is not JSON");
    assert_eq!(bad.state(), SqlState::BAD_COPY_FORMAT);
    assert!(bad.message().contains("line 2, column 6"), "{}", bad.message());
}

#[test]
fn json_becomes_rows_of_a_table_by_its_names() {
    let c = memory();
    rows(
        &c,
        "create table t (n decimal(38,3), b bigint not null default 7, s varchar(5), at timestamptz, x bytea)",
    );
    let lines =
        b"{\"s\":\"ab\",\"N\":12345678901234567890123456789012345.678,\"more\":[1, {\"z\":1,\"a\":2}]}\n\
        {\"s\":null,\"at\":\"2024-02-29 12:00:00+02\",\"x\":\"\\\\x00ff\"}";
    let path = files(
        "json_of_a_table",
        &[
            ("l.jsonl", lines),
            ("none.json", b"[]"),
            ("wide.json", b"[{\"s\":\"abc\"},\n{\"s\":\"abcdef\"}]"),
            ("null.json", b"{\"b\":null}"),
            (
                "long.json",
                b"{\"b\":12345678901234567890,\"o\":{\"z\": 1.0, \"a\":2}}",
            ),
        ],
    );
    let from = |name: &str| format!("'{}'", path.join(name).display());
    rows(&c, &format!("copy t (s, n, at, x) from {}", from("l.jsonl")));
    rows(&c, "set time zone 'UTC'");
    assert_eq!(
        rows(&c, "select * from t"),
        "12345678901234567890123456789012345.678|7|ab||\n|7||2024-02-29 10:00:00+00|\\x00ff"
    );
    rows(&c, &format!("copy t from {}", from("none.json")));
    for (columns, file, why, said) in [
        ("(s)", "wide.json", SqlState::STRING_TRUNCATION, "row 2, \"s\""),
        ("(b)", "null.json", SqlState::NOT_NULL_VIOLATION, "row 1, \"b\""),
        ("(b)", "long.json", SqlState::NUMERIC_OUT_OF_RANGE, "row 1, \"b\""),
        (
            "",
            "l.jsonl",
            SqlState::UNDEFINED_COLUMN,
            "has \"b\"; they have s, n, more, at, x",
        ),
    ] {
        let error = c
            .execute(&format!("copy t {columns} from {}", from(file)))
            .expect_err(said);
        assert_eq!(error.state(), why, "{error:?}");
        assert!(error.to_string().contains(said), "{error}");
    }
    assert_eq!(rows(&c, "select count(*) from t"), "2");
    // Digits stay as they were written, and nested values are documents.
    let long = from("long.json");
    assert_eq!(columns(&c, &long), "b decimal(38,0), o jsonb");
    assert_eq!(
        rows(&c, &format!("select * from {long}")),
        "12345678901234567890|{\"a\": 2, \"z\": 1.0}"
    );
}

#[test]
fn what_is_written_is_read_and_becomes_a_table() {
    let c = memory();
    rows(
        &c,
        "create table t as select x, 'name ' || x as name, cast(x * 1.5 as decimal(10,2)) as m \
              from (values (1), (2), (3)) v(x)",
    );
    let path = files("made", &[]);
    for name in ["t.parquet", "t.csv.gz", "t.jsonl.zst"] {
        let file = path.join(name);
        let header = if name.contains("csv") { "(header)" } else { "" };
        rows(&c, &format!("copy t to '{}' {header}", file.display()));
        assert_eq!(
            rows(
                &c,
                &format!("select sum(x), max(name), sum(m) from '{}'", file.display())
            )
            .replace(".00", ""),
            "6|name 3|9"
        );
    }
    rows(
        &c,
        &format!(
            "copy (select 4 as x, 'name 4' as name, 0.5 as m) to '{}'",
            path.join("u.parquet").display()
        ),
    );
    let all = format!("'{}/*.parquet'", path.display());
    assert_eq!(rows(&c, &format!("select count(*), sum(x) from {all}")), "4|10");
    rows(
        &c,
        &format!("create table made as select * from {all} where x > 1"),
    );
    rows(
        &c,
        &format!(
            "insert into made select * from read_parquet('{}')",
            path.join("u.parquet").display()
        ),
    );
    assert_eq!(rows(&c, "select count(*), sum(x) from made"), "4|13");
    // A file and its columns are named as tables are, and the same file may be read twice.
    let file = path.join("t.csv.gz").display().to_string();
    assert_eq!(
        rows(
            &c,
            &format!("select t.x, b.name from '{file}', '{file}' b where t.x = b.x + 1 order by 1")
        ),
        "2|name 1\n3|name 2"
    );
    std::fs::remove_file(path.join("u.parquet")).expect("it is there");
    assert_eq!(rows(&c, &format!("select count(*) from {all}")), "3");
}

#[test]
fn bad_files_are_named() {
    let c = memory();
    let path = files(
        "bad-files",
        &[
            ("ragged.csv", b"a,b\n1,2\n3\n"),
            ("quote.csv", b"a,b\n1,\"x\n"),
            ("wide.csv", b"\xff\xfea\0"),
            ("latin.csv", b"a\n\xe9\n"),
            ("empty.csv", b""),
            ("text.parquet", b"nothing of the kind"),
            ("one.csv", b"a\n1\n"),
            ("other.csv", b"b\n1\n"),
            ("broken.csv.gz", b"no gzip"),
        ],
    );
    for name in ["folder.csv", "folder.json", "folder.parquet"] {
        std::fs::create_dir(path.join(name)).expect("it can be made");
    }
    for (name, why, what) in [
        ("ragged.csv", SqlState::BAD_COPY_FORMAT, "line 3"),
        ("quote.csv", SqlState::BAD_COPY_FORMAT, "quote.csv"),
        ("wide.csv", SqlState::BAD_COPY_FORMAT, "UTF-16"),
        ("latin.csv", SqlState::CHARACTER_NOT_IN_REPERTOIRE, "line 2"),
        ("empty.csv", SqlState::BAD_COPY_FORMAT, "is empty"),
        ("text.parquet", SqlState::BAD_COPY_FORMAT, "Parquet"),
        (
            "o*.csv",
            SqlState::BAD_COPY_FORMAT,
            "has the columns b, those before it a",
        ),
        ("none*.csv", SqlState::UNDEFINED_FILE, "no file matches"),
        ("none.csv", SqlState::UNDEFINED_FILE, "none.csv"),
        ("broken.csv.gz", SqlState::IO_ERROR, "broken.csv.gz"),
        ("file.bin", SqlState::INVALID_PARAMETER, "nothing tells the form"),
        ("folder.csv", SqlState::WRONG_OBJECT_TYPE, "is a folder"),
        ("folder.json", SqlState::WRONG_OBJECT_TYPE, "is a folder"),
        ("folder.parquet", SqlState::WRONG_OBJECT_TYPE, "is a folder"),
    ] {
        let error = c
            .execute(&format!("select * from '{}'", path.join(name).display()))
            .expect_err(name);
        assert_eq!(error.state(), why, "{name}: {}", error.message());
        assert!(error.message().contains(what), "{name}: {}", error.message());
    }
    let one = path.join("one.csv").display().to_string();
    for (sql, why) in [
        (
            format!("create view v as select * from '{one}'"),
            SqlState::FEATURE_NOT_SUPPORTED,
        ),
        (
            format!("select * from read_csv('{one}', colour => 'red')"),
            SqlState::INVALID_PARAMETER,
        ),
        (
            format!("select * from read_csv('{one}', 5)"),
            SqlState::INVALID_PARAMETER,
        ),
        (
            format!("select * from generate_files('{one}')"),
            SqlState::UNDEFINED_FUNCTION,
        ),
        (format!("select b from '{one}'"), SqlState::UNDEFINED_COLUMN),
        ("select * from read_csv()".to_owned(), SqlState::INVALID_PARAMETER),
    ] {
        assert_eq!(state(&c, &sql), why, "{sql}");
    }
    rows(&c, "set memory_limit = '20MB'");
    let big = format!("x\n{}", "some text of a row that takes room\n".repeat(1_000_000));
    std::fs::write(path.join("big.csv"), big).expect("it is written");
    assert_eq!(
        state(
            &c,
            &format!("select count(*) from '{}'", path.join("big.csv").display())
        ),
        SqlState::OUT_OF_MEMORY
    );
}

/// Numerics, alone and in arrays, come back from Parquet with every digit, or the value and its column are named.
#[test]
fn numerics_come_back_from_parquet_or_are_refused() {
    let c = memory();
    let path = directory("numerics.parquet");
    let file = path.display();
    rows(&c, "create table n (k integer, v numeric, a numeric[])");
    rows(
        &c,
        "insert into n select k, v, array[v, null, -v] from (values (1, 1.5), (2, 123456789012345678), \
         (3, -0.12345678901234567890), (4, 1.50000000000000000000000000), (5, null), (6, 0)) r (k, v)",
    );
    rows(&c, &format!("copy n to '{file}'"));
    rows(&c, "create table back (k integer, v numeric, a numeric[])");
    rows(&c, &format!("copy back from '{file}'"));
    let equal = "n.v is not distinct from back.v and n.a is not distinct from back.a";
    let same = format!("select count(*) from n join back on n.k = back.k and {equal}");
    assert_eq!(rows(&c, &same), "6");
    for value in ["1e18", "-1234567890123456789.5", "0.123456789012345678901"] {
        for column in [value.to_owned(), format!("array[0.5, {value}]")] {
            let copy = format!(
                "copy (select {column}::numeric{} as x) to '{file}'",
                match column == value {
                    true => "",
                    false => "[]",
                }
            );
            let error = c.execute(&copy).unwrap_err();
            assert_eq!(error.state(), SqlState::NUMERIC_OUT_OF_RANGE, "{copy}");
            assert!(
                error.message().contains("column \"x\": numeric "),
                "{copy}: {error}"
            );
            assert!(
                error.hint().is_some_and(|hint| hint.contains("decimal(p,s)")),
                "{copy}: {error}"
            );
        }
        rows(
            &c,
            &format!("copy (select cast({value} as decimal(38,15)) as x) to '{file}'"),
        );
    }
    let _ = std::fs::remove_file(&path);
}

/// jsonb is marked in Parquet: it is jsonb when it is read, also with NULLs and many row groups. json stays text.
#[test]
fn jsonb_comes_back_from_parquet() {
    let c = memory();
    rows(
        &c,
        "create table d as select x, ('{\"a\": [' || x || ', null], \"b\": {}}')::jsonb j, \
                nullif('null'::jsonb, 'null') none, ('{\"z\" : ' || x || '}')::json as written \
              from generate_series(1, 3000) s (x)",
    );
    rows(&c, "insert into d values (0, null, '[]', null)");
    let path = files("jsonb_parquet", &[]);
    let file = format!("'{}'", path.join("d.parquet").display());
    rows(&c, &format!("copy d to {file} (row_group_size 1000)"));
    assert_eq!(columns(&c, &file), "x integer, j jsonb, none jsonb, written text");
    assert_eq!(
        rows(
            &c,
            &format!("select x, j, none from d except select x, j, none from {file}")
        ),
        ""
    );
    assert_eq!(
        rows(
            &c,
            &format!("select sum((j -> 'a' ->> 0)::int) from {file} where j @> '{{\"b\": {{}}}}'")
        ),
        "4501500"
    );
    rows(&c, "create table back (x int, j jsonb, none jsonb, written json)");
    rows(&c, &format!("copy back from {file}"));
    assert_eq!(
        rows(&c, "select count(*), count(j), count(none) from back"),
        "3001|3000|1"
    );
    rows(&c, "create table texts (x int, j text, none text, written text)");
    rows(&c, &format!("copy texts from {file}"));
    assert_eq!(
        rows(&c, "select j, none from texts where x in (0, 7)"),
        "{\"a\": [7, null], \"b\": {}}|\n|[]"
    );
}
