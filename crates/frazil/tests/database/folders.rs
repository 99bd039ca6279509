//! Files in folders that say columns, as `year=2024`.

use crate::{directory, memory, rows, state};
use frazil::{Connection, SqlState};
use std::path::{Path, PathBuf};

/// A directory with files in folders.
fn tree(name: &str, files: &[(&str, &str)]) -> PathBuf {
    let path = directory(name);
    for (name, text) in files {
        write(&path.join(name), text.as_bytes());
    }
    path
}

fn write(file: &Path, bytes: &[u8]) {
    std::fs::create_dir_all(file.parent().expect("a folder")).expect("it is made");
    std::fs::write(file, bytes).expect("it is written");
}

/// Names and types of the columns of a query.
fn columns(c: &Connection, from: &str) -> String {
    let response = c.execute(&format!("select * from {from} limit 0")).expect(from);
    let frazil::Outcome::Rows(rows) = response.outcome else {
        panic!("{from} gives rows");
    };
    let columns = rows.schema().columns.iter();
    let columns = columns.map(|c| format!("{} {}", c.name, c.ty));
    columns.collect::<Vec<_>>().join(", ")
}

#[test]
fn folders_are_columns() {
    let c = memory();
    let path = tree(
        "folders",
        &[
            ("a/Year=2023/day=2023-01-05/x.csv", "n,s\n1,one\n2,two\n"),
            ("a/Year=2024/day=2024-02-29/x.csv", "n,s\n3,three\n"),
            (
                "a/Year=__HIVE_DEFAULT_PARTITION__/day=2024-03-01/x.csv",
                "n,s\n4,four\n",
            ),
            ("j/s=a%20b%2Fc/x.json", "{\"n\":1}\n{\"n\":2}\n"),
            ("j/s=/x.json", "{\"n\":3,\"m\":4}\n"),
            // The file has the column, too: the folder's value counts, in the file's place.
            ("o/s=7/x.csv", "s,n\nseven,1\n"),
            ("mixed/s=7/x.csv", "n\n1\n"),
            ("mixed/t=7/x.csv", "n\n2\n"),
            ("zero/s=007/x.csv", "n\n1\n"),
        ],
    );
    let from = |part: &str| format!("'{}/{part}'", path.display());
    let a = from("a/**/*.csv");
    assert_eq!(columns(&c, &a), "n bigint, s text, year bigint, day date");
    let all = "1|one|2023|2023-01-05\n2|two|2023|2023-01-05\n3|three|2024|2024-02-29\n4|four||2024-03-01";
    assert_eq!(rows(&c, &format!("select * from {a} order by n")), all);
    let sums = format!("select year, sum(n), min(day) from {a} group by year order by year");
    assert_eq!(
        rows(&c, &sums),
        "2023|3|2023-01-05\n2024|3|2024-02-29\n|4|2024-03-01"
    );
    let off = format!("read_csv({a}, hive_partitioning => false)");
    assert_eq!(columns(&c, &off), "n bigint, s text");
    let j = from("j/*/*.json");
    assert_eq!(columns(&c, &j), "n bigint, m bigint, s text");
    assert_eq!(
        rows(&c, &format!("select n, m, '<' || s || '>' from {j} order by n")),
        "1||<a b/c>\n2||<a b/c>\n3|4|<>"
    );
    assert_eq!(rows(&c, &format!("select * from {}", from("o/*/x.csv"))), "7|1");
    assert_eq!(columns(&c, &from("zero/*/x.csv")), "n bigint, s text");
    assert_eq!(columns(&c, &from("zero/s=007/x.csv")), "n bigint, s text");
    let mixed = from("mixed/*/*.csv");
    assert_eq!(columns(&c, &mixed), "n bigint");
    let asked = format!("select * from read_csv({mixed}, hive_partitioning => true)");
    assert_eq!(state(&c, &asked), SqlState::INVALID_PARAMETER);
    let none = format!("select * from read_csv({a}, hive_partitioning => 'perhaps')");
    assert_eq!(state(&c, &none), SqlState::INVALID_PARAMETER);
    // Rows of folders become rows of tables, by name.
    rows(
        &c,
        &format!("create table kept as select * from {a} where year is not null"),
    );
    assert_eq!(rows(&c, "select count(*), min(year) from kept"), "3|2023");
}

/// Parquet and CSV, three files of each, in folders; those of 2022 are damaged.
fn damaged(c: &Connection, name: &str) -> PathBuf {
    let path = directory(name);
    for year in [2022, 2023, 2024] {
        let folder = path.join(format!("year={year}"));
        std::fs::create_dir_all(&folder).expect("it is made");
        let query = format!(
            "(select x + {year} as n, 'text of ' || {year} || ' and ' || x as t from generate_series(1, 9) s(x))"
        );
        let parquet = folder.join("x.parquet").display().to_string();
        rows(c, &format!("copy {query} to '{parquet}' (compression none)"));
        let csv = folder.join("x.csv").display().to_string();
        rows(c, &format!("copy {query} to '{csv}' (header)"));
    }
    let parquet = path.join("year=2022/x.parquet");
    let mut bytes = std::fs::read(&parquet).expect("it is there");
    let text = b"text of 2022 and 5";
    let at = bytes.windows(text.len()).position(|w| w == text);
    bytes[at.expect("the text is there")] = 0xff;
    write(&parquet, &bytes);
    let csv = path.join("year=2022/x.csv");
    let text = std::fs::read_to_string(&csv).expect("it is there");
    write(&csv, format!("{text}2031,too many fields,y\n").as_bytes());
    path
}

#[test]
fn files_whose_folder_does_not_fit_are_not_read() {
    let c = memory();
    let path = damaged(&c, "folders-damaged");
    for (form, bad) in [
        ("parquet", SqlState::BAD_COPY_FORMAT),
        ("csv", SqlState::BAD_COPY_FORMAT),
    ] {
        let from = format!("'{}/*/*.{form}'", path.display());
        for all in [
            "select count(t), max(t) from F",
            "select max(t) from F where year < 2024",
            "select max(t) from F where year = 2024 or n = 2030",
            "select max(t) from F where year = 2024 union all select max(t) from F where year = 2022",
            "select max(t) from F where year between (select 2022) and 2023",
        ] {
            let error = c
                .execute(&all.replace('F', &from))
                .expect_err("a file of 2022 is damaged");
            assert_eq!(error.state(), bad, "{all}");
            let message = format!("{error:?}");
            assert!(message.contains("year=2022"), "{message}");
        }
        for (sql, expected) in [
            ("select max(t) from F where year = 2024", "text of 2024 and 9"),
            ("select count(t), sum(year) from F where year > 2022", "18|36423"),
            ("select count(t) from F where year in (2023, 1999)", "9"),
            (
                "select count(t) from F where year = 2024 or (year = 2023 and n < 2026)",
                "11",
            ),
            ("select count(t) from F where year is null", "0"),
            ("select count(t) from F where year <> 2022", "18"),
            (
                "select max(t) from F where year = 2023 union all select max(t) from F where year = 2024 order by 1",
                "text of 2023 and 9\ntext of 2024 and 9",
            ),
            (
                "select count(*) from F a join F b on a.n = b.n where a.year = 2023 and b.year = 2024 and a.t < b.t",
                "8",
            ),
            (
                "with a as (select * from F where year >= 2023) select (select max(t) from a), (select count(*) from a)",
                "text of 2024 and 9|18",
            ),
        ] {
            assert_eq!(rows(&c, &sql.replace('F', &from)), expected, "{form}: {sql}");
        }
        // Parameters are values, too.
        let sql = format!("select count(t) from {from} where year = $1");
        let prepared = c.prepare(&sql).expect("it is bound");
        for (year, expected) in [(2023, 9), (2024, 9), (2030, 0)] {
            let response = prepared.execute(&[frazil::RawValue::Int(year)]).expect("rows");
            let frazil::Outcome::Rows(found) = response.outcome else {
                panic!("a query gives rows");
            };
            let row = found.raw().next().expect("a row");
            assert_eq!(row[0], frazil::RawValue::Int(expected), "{form} {year}");
        }
        // Two plans of one statement ask for different files.
        rows(&c, "drop table if exists kept");
        rows(&c, "create table kept (t text)");
        let two = format!(
            "with first as (insert into kept select t from {from} where year = 2023 returning t)
             insert into kept select t from {from} where year = 2024"
        );
        rows(&c, &two);
        assert_eq!(state(&c, &two.replace("= 2024", "= 2022")), bad);
        assert_eq!(rows(&c, "select count(*), count(distinct t) from kept"), "18|18");
    }
}

#[test]
fn chunks_of_files_that_are_not_read_are_counted() {
    let c = memory();
    let path = damaged(&c, "folders-counted");
    let sql = format!(
        "explain analyze select max(t) from '{}/*/*.parquet' where year = 2024",
        path.display()
    );
    let shown = rows(&c, &sql);
    assert!(shown.contains("2 skipped") || shown.contains("2 of 3"), "{shown}");
}

#[test]
fn a_type_that_was_told_wrongly_is_an_error_that_says_what_helps() {
    let c = memory();
    let numbers: String = (0..200_000).map(|i| format!("{i}\n")).collect();
    let text = format!("n\n{numbers}many\n");
    let path = tree("folders-misled", &[("y=1/x.csv", &text), ("y=2/x.csv", "n\n5\n")]);
    let from = format!("'{}/*/*.csv'", path.display());
    assert_eq!(rows(&c, &format!("select sum(n) from {from} where y = 2")), "5");
    let error = c
        .execute(&format!("select sum(n) from {from}"))
        .expect_err("many");
    assert_eq!(error.state(), SqlState::INVALID_TEXT);
    assert!(format!("{error:?}").contains("all_text"), "{error:?}");
    let text = format!("select count(*), max(length(n)) from read_csv({from}, all_text => true)");
    assert_eq!(rows(&c, &text), "200002|6");
}

/// The files below a directory, by their paths from there, sorted.
fn files(directory: &Path) -> Vec<String> {
    let mut found = Vec::new();
    let mut left = vec![directory.to_path_buf()];
    while let Some(folder) = left.pop() {
        for entry in std::fs::read_dir(&folder).expect("a folder") {
            let path = entry.expect("an entry").path();
            match path.is_dir() {
                true => left.push(path),
                false => found.push(
                    path.strip_prefix(directory)
                        .expect("below it")
                        .display()
                        .to_string(),
                ),
            }
        }
    }
    found.sort();
    found
}

#[test]
fn rows_are_written_into_folders_and_read_back() {
    let c = memory();
    rows(&c, "create table t (year integer, place text, n bigint, s text)");
    rows(
        &c,
        "insert into t select 2020 + x % 3, case x % 4 when 0 then null when 1 then 'a/b c' when 2 then '' else '__HIVE_DEFAULT_PARTITION__' end, \
         x, 'text ' || x from generate_series(1, 1000) s(x)",
    );
    for form in ["csv", "parquet", "json"] {
        let path = directory(&format!("folders-written-{form}"));
        let header = if form == "csv" { ", header" } else { "" };
        let to = |options: &str| {
            format!(
                "copy t to '{}' (format {form}{header}, partition_by (year, place){options})",
                path.display()
            )
        };
        rows(&c, &to(""));
        let found = files(&path);
        assert_eq!(found.len(), 12, "{found:?}");
        assert!(
            found.contains(&format!("year=2020/place=a%2Fb%20c/data_0.{form}")),
            "{found:?}"
        );
        assert!(
            found.contains(&format!(
                "year=2022/place=__HIVE_DEFAULT_PARTITION__/data_0.{form}"
            )),
            "{found:?}"
        );
        let from = format!("'{}/*/*/*.{form}'", path.display());
        let back = format!("select year, place, n, s from {from}");
        let both = format!(
            "select (select count(*) from (select * from t except all ({back})) x), \
             (select count(*) from ({back} except all select * from t) x)"
        );
        assert_eq!(rows(&c, &both), "0|0", "{form}");
        // What is there is not overwritten unawares, and stays whole where a statement fails.
        assert_eq!(state(&c, &to("")), SqlState::DUPLICATE_FILE);
        let failing = to("").replace("copy t", "copy (select year, place, 1 / (n - 7) as n from t)");
        assert_eq!(
            state(&c, &failing.replace("partition_by", "overwrite, partition_by")),
            SqlState::DIVISION_BY_ZERO
        );
        assert_eq!(files(&path), found);
        write(&path.join("note.txt"), b"mine");
        rows(&c, &to(", append"));
        assert_eq!(files(&path).len(), 25);
        assert_eq!(rows(&c, &format!("select count(*) from {from}")), "2000");
        rows(&c, &to(", overwrite_or_ignore"));
        assert_eq!(files(&path).len(), 25);
        rows(&c, &to(", overwrite"));
        assert_eq!(files(&path), found);
        // A directory that was made for a statement that fails goes with it.
        let other = path.with_extension("other");
        let failing = failing.replace(&path.display().to_string(), &other.display().to_string());
        assert_eq!(state(&c, &failing), SqlState::DIVISION_BY_ZERO);
        assert!(!other.exists());
        // The files have the columns of the folders if that is asked for.
        rows(
            &c,
            &to(", write_partition_columns, overwrite").replace("(year, place)", "year"),
        );
        let from = format!("'{}/*/*.{form}'", path.display());
        assert_eq!(
            columns(&c, &format!("read_{form}({from}, hive_partitioning => false)"))
                .split(", ")
                .count(),
            4
        );
    }
}

#[test]
fn more_folders_than_files_may_be_open() {
    let c = memory();
    let path = directory("folders-many");
    rows(
        &c,
        &format!(
            "copy (select x % 1000 as k, x from generate_series(1, 20000) s(x)) to '{}' (format csv, partition_by k)",
            path.display()
        ),
    );
    assert_eq!(files(&path).len(), 1000);
    let from = format!("'{}/*/*.csv'", path.display());
    assert_eq!(
        rows(&c, &format!("select count(*), count(distinct k) from {from}")),
        "20000|1000"
    );
}

#[test]
fn options_of_folders_that_make_no_sense_are_refused() {
    let c = memory();
    rows(&c, "create table t (a integer, b integer)");
    let path = directory("folders-refused");
    let copy = |options: &str| format!("copy t to '{}' (format csv, {options})", path.display());
    for (options, expected) in [
        ("partition_by (a, b)", SqlState::INVALID_PARAMETER),
        ("partition_by (c)", SqlState::UNDEFINED_COLUMN),
        ("partition_by (a, a)", SqlState::DUPLICATE_COLUMN),
        ("overwrite", SqlState::FEATURE_NOT_SUPPORTED),
    ] {
        assert_eq!(state(&c, &copy(options)), expected, "{options}");
        assert!(!path.exists(), "{options}");
    }
    write(&path, b"a file");
    assert_eq!(state(&c, &copy("partition_by (a)")), SqlState::DUPLICATE_FILE);
}
