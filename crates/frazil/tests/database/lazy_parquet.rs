//! Parquet in FROM: what a statement does not need is not read.

use crate::{directory, memory, rows};
use frazil::{Connection, SqlState};
use std::path::PathBuf;

/// Ten row groups of a thousand rows: a number, its text, a day, a double, bytes; every tenth text is NULL.
fn made(c: &Connection, name: &str) -> PathBuf {
    let path = directory(name);
    std::fs::create_dir_all(&path).expect("it is made");
    let file = path.join("t.parquet");
    let sql = format!(
        "copy (select x as n, case when x % 10 = 3 then null else 'text of ' || (100000 + x) end as t,
            date '2024-01-01' + (x / 1000)::integer as d, x / 2.0::double precision as f, (x * 1.25)::decimal(12,2) as m
            from generate_series(0, 9999) s(x))
         to '{}' (format parquet, row_group_size 1000, compression none)",
        file.display()
    );
    rows(c, &sql);
    file
}

/// Makes the first text of the file that contains `text` no UTF-8.
fn damage(file: &PathBuf, text: &str) {
    let mut bytes = std::fs::read(file).expect("it is there");
    let at = bytes.windows(text.len()).position(|w| w == text.as_bytes());
    bytes[at.expect("the text is there")] = 0xff;
    std::fs::write(file, bytes).expect("it is written");
}

#[test]
fn columns_and_row_groups_that_nobody_needs_are_not_read() {
    let c = memory();
    let file = made(&c, "lazy");
    let from = format!("'{}'", file.display());
    let sums = format!("select count(*), count(t), sum(n), max(t), min(d), sum(f), sum(m) from {from}");
    let all = "10000|9000|49995000|text of 109999|2024-01-01|24997500|62493750.00";
    assert_eq!(rows(&c, &sums), all);
    damage(&file, "text of 105432");
    let error = c.execute(&sums).expect_err("a text is damaged");
    assert_eq!(error.state(), SqlState::BAD_COPY_FORMAT);
    assert!(error.message().contains("t.parquet"), "{}", error.message());
    // Nobody reads the texts, or not those of the row group.
    for (sql, expected) in [
        ("select count(*) from F", "10000"),
        (
            "select sum(n), sum(m) from F where d = date '2024-01-06'",
            "5499500|6874375.00",
        ),
        ("select t from F where n = 4711", "text of 104711"),
        (
            "select max(t) from F where n between 2000 and 2999",
            "text of 102999",
        ),
        ("select count(t) from F where n < 5000", "4500"),
        (
            "select count(t) from F where d in (date '2024-01-02', date '2024-01-09')",
            "1800",
        ),
        // NaN, which statistics do not know, is greater than all: such groups are only ruled out from above.
        ("select min(t) from F where f < 400", "text of 100000"),
        ("select max(t) from F where m <= 1.25", "text of 100001"),
        ("select count(t) from F where n > 20000", "0"),
        (
            "select a.t from F a, F b where a.n = b.n + 1 and b.n = 1500 and a.n < 1600",
            "text of 101501",
        ),
        ("select t from F where n is null", ""),
        (
            "select n from F where t like 'text of 10471%' order by n limit 1",
            "4710",
        ),
    ] {
        let sql = sql.replace('F', &from);
        assert_eq!(rows(&c, &sql), expected, "{sql}");
    }
}

#[test]
fn skipped_row_groups_are_counted() {
    let c = memory();
    let file = made(&c, "lazy-counted");
    let sql = format!(
        "explain analyze select sum(f) from '{}' where n between 4500 and 5499",
        file.display()
    );
    let shown = rows(&c, &sql);
    assert!(
        shown.contains("8 skipped") || shown.contains("8 of 10"),
        "{shown}"
    );
}

#[test]
fn values_outside_of_the_statistics_are_an_error() {
    let c = memory();
    let path = directory("lying");
    std::fs::create_dir_all(&path).expect("it is made");
    let file = path.join("t.parquet");
    rows(
        &c,
        &format!(
            "copy (select 1234567890123 as n union all select 7) to '{}' (compression none)",
            file.display()
        ),
    );
    // The data page comes first; the statistics in the footer keep the number.
    let mut bytes = std::fs::read(&file).expect("it is there");
    let number = 1_234_567_890_123_i64.to_le_bytes();
    let places: Vec<usize> = (0..bytes.len() - 8)
        .filter(|&at| bytes[at..at + 8] == number)
        .collect();
    bytes[places[0] + 7] = 0x10;
    std::fs::write(&file, bytes).expect("it is written");
    let error = c.execute(&format!("select sum(n) from '{}'", file.display()));
    let error = error.expect_err("the statistics lie");
    assert_eq!(error.state(), SqlState::BAD_COPY_FORMAT);
    assert!(error.message().contains("\"n\""), "{}", error.message());
}

#[test]
fn rows_are_counted_by_the_footer() {
    let c = memory();
    let file = made(&c, "lazy-count");
    let from = format!("'{}'", file.display());
    for (sql, expected) in [
        ("select count(*) from F", "10000"),
        ("select count(*) + 1, count(*) from F", "10001|10000"),
        (
            "select count(*) filter (where n < 10), count(*) from F",
            "10|10000",
        ),
        ("select count(t), count(*) from F", "9000|10000"),
        ("select count(*) from F where n >= 9990", "10"),
        ("select count(*) from F having count(*) > 10000", ""),
        ("select count(distinct d) from F", "10"),
        (
            "select d, count(*) from F group by d order by d limit 1",
            "2024-01-01|1000",
        ),
        (
            "select x, (select count(*) from F) from generate_series(1, 2) s(x)",
            "1|10000\n2|10000",
        ),
        (
            "select count(*) from (select count(*) from F union all select n from F where n < 3) u",
            "4",
        ),
        ("select count(*) from F a, F b where a.n = b.n", "10000"),
        ("select exists (select count(*) from F where false)", "t"),
        ("select count(*) from (select * from F limit 5) l", "5"),
    ] {
        let sql = sql.replace('F', &from);
        assert_eq!(rows(&c, &sql), expected, "{sql}");
    }
    let shown = rows(&c, &format!("explain select count(*) from {from}"));
    assert!(shown.contains("Values") && !shown.contains("Scan"), "{shown}");
    // A prepared statement counts the file that is there when it runs.
    let prepared = c
        .prepare(&format!("select count(*) from {from}"))
        .expect("it is prepared");
    for count in [10_000, 7] {
        let told = rows(&c, &format!("select count(*) from {from}"));
        assert_eq!(told, count.to_string());
        let response = prepared.execute(()).expect("it runs");
        let frazil::Outcome::Rows(counted) = response.outcome else {
            panic!("a query gives rows");
        };
        assert_eq!(counted.batches()[0].columns[0].values::<i64>(), [count]);
        let sql = format!("copy (select x as n from generate_series(1, 7) s(x)) to {from}");
        rows(&c, &sql);
    }
}
