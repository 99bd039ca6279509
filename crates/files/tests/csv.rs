//! CSV: NULLs and empty strings, quotes over lines, byte order marks, and errors that name the place.

use frazil_files::{BatchReader, CsvOptions, CsvReader, Header, Origin, ReadLimits};
use frazil_types::{Cancel, ColumnDef, Error, LogicalType, MemoryBudget, SqlState, Value};
use std::path::PathBuf;

struct TempFile(PathBuf);

impl TempFile {
    fn new(name: &str, content: &[u8]) -> TempFile {
        let path = std::env::temp_dir().join(format!("frazil-files-{}-{name}.csv", std::process::id()));
        std::fs::write(&path, content).unwrap();
        TempFile(path)
    }
}

impl Drop for TempFile {
    fn drop(&mut self) {
        let _ = std::fs::remove_file(&self.0);
    }
}

fn columns() -> Vec<ColumnDef> {
    vec![
        ColumnDef::new("id", LogicalType::Integer).not_null(),
        ColumnDef::new(
            "price",
            LogicalType::Decimal {
                precision: 15,
                scale: 2,
            },
        ),
        ColumnDef::new("note", LogicalType::Varchar(10)),
    ]
}

fn read(name: &str, content: &[u8], header: bool) -> Result<Vec<Vec<Value>>, Error> {
    let file = TempFile::new(name, content);
    let options = CsvOptions {
        header: if header { Header::Checked } else { Header::Absent },
        ..CsvOptions::default()
    };
    let mut reader = CsvReader::open(Origin::File(&file.0), &columns(), options, ReadLimits::default())?;
    let mut rows = Vec::new();
    while let Some(batch) = reader.next_batch()? {
        for row in 0..batch.rows {
            rows.push(batch.columns.iter().map(|c| c.value(row)).collect());
        }
    }
    Ok(rows)
}

#[test]
fn reads_what_postgres_would() {
    let content = b"\xef\xbb\xbfid,price,note\r\n1,2.5,\"a\n\"\"b\"\"\"\r\n\n2,,\r\n3,-1,\"\"";
    let rows = read("plain", content, true).unwrap();
    assert_eq!(
        rows,
        [
            vec![Value::Int(1), Value::Int(250), Value::Text("a\n\"b\"".into())],
            vec![Value::Int(2), Value::Null, Value::Null],
            vec![Value::Int(3), Value::Int(-100), Value::Text(String::new())],
        ]
    );
}

#[test]
fn errors_name_file_line_and_column() {
    for (name, content, state, place) in [
        (
            "integer",
            "1,1,a\nx,1,a\n",
            SqlState::INVALID_TEXT,
            "line 2, column 1 (\"id\")",
        ),
        ("null", ",1,a\n", SqlState::NOT_NULL_VIOLATION, "line 1, column 1"),
        (
            "long",
            "1,1,\"a\nb\"\n2,1,abcdefghijk\n",
            SqlState::STRING_TRUNCATION,
            "line 3, column 3",
        ),
        ("wide", "1,1,a,b\n", SqlState::BAD_COPY_FORMAT, "line 1"),
        (
            "narrow",
            "1,1\n",
            SqlState::BAD_COPY_FORMAT,
            "missing data for column \"note\"",
        ),
        (
            "open",
            "1,1,\"a\n",
            SqlState::BAD_COPY_FORMAT,
            "unterminated quoted field",
        ),
        (
            "range",
            "99999999999,1,a\n",
            SqlState::NUMERIC_OUT_OF_RANGE,
            "column 1",
        ),
    ] {
        let error = read(name, content.as_bytes(), false).unwrap_err();
        assert_eq!(error.state(), state, "{name}: {error}");
        assert!(
            error.message().contains(place) && error.message().contains(name),
            "{name}: {error}"
        );
    }
    let error = read("invalid-utf8", b"1,1,\xff\n", false).unwrap_err();
    assert_eq!(error.state(), SqlState::CHARACTER_NOT_IN_REPERTOIRE);
    let error = read("nul", b"1,1,a\0b\n", false).unwrap_err();
    assert_eq!(error.state(), SqlState::CHARACTER_NOT_IN_REPERTOIRE);
    let error = read("nul-in-quotes", b"1,1,\"a\0\"\n", false).unwrap_err();
    assert_eq!(error.state(), SqlState::CHARACTER_NOT_IN_REPERTOIRE);
}

#[test]
fn records_longer_than_the_buffer_are_whole() {
    let mut content = Vec::new();
    for i in 0..150_000 {
        content.extend_from_slice(format!("{i},{i}.25,\"n,{}\"\n", i % 7).as_bytes());
    }
    let rows = read("many", &content, false).unwrap();
    assert_eq!(rows.len(), 150_000);
    assert_eq!(
        rows[149_999],
        [
            Value::Int(149_999),
            Value::Int(14_999_925),
            Value::Text("n,3".into())
        ]
    );
}

fn text_column() -> Vec<ColumnDef> {
    vec![ColumnDef::new("note", LogicalType::Text)]
}

#[test]
fn what_a_record_takes_is_within_the_budget() {
    for (name, quote) in [("long-line", ""), ("long-quote", "\"")] {
        let content = format!("short\n{quote}{}", "x".repeat(12 << 20));
        let file = TempFile::new(name, content.as_bytes());
        let limits = ReadLimits {
            budget: MemoryBudget::new(8 << 20),
            ..ReadLimits::default()
        };
        let budget = limits.budget.clone();
        let mut reader = CsvReader::open(
            Origin::File(&file.0),
            &text_column(),
            CsvOptions::default(),
            limits,
        )
        .expect("it opens");
        let error = reader.next_batch().expect_err("too long");
        assert_eq!(error.state(), SqlState::OUT_OF_MEMORY);
        assert!(error.message().contains("line 2"), "{error}");
        assert!(budget.peak() <= 8 << 20);
        drop(reader);
        assert_eq!(budget.used(), 0);
    }
}

#[test]
fn strings_of_a_batch_are_within_the_budget() {
    let content = format!("{}\n", "y".repeat(1000)).repeat(5000);
    let file = TempFile::new("wide-rows", content.as_bytes());
    let read = |bytes| {
        let limits = ReadLimits {
            budget: MemoryBudget::new(bytes),
            ..ReadLimits::default()
        };
        let mut reader = CsvReader::open(
            Origin::File(&file.0),
            &text_column(),
            CsvOptions::default(),
            limits,
        )?;
        reader.next_batch().map(|b| b.map_or(0, |b| b.rows))
    };
    assert_eq!(read(10 << 20).expect("enough"), 5000);
    let error = read(3 << 20).expect_err("too few");
    assert_eq!(error.state(), SqlState::OUT_OF_MEMORY);
    assert!(error.message().contains("column 1 (\"note\")"), "{error}");
}

#[cfg(unix)]
#[test]
fn a_pipe_is_read_and_waited_for_until_the_statement_is_cancelled() {
    let path = std::env::temp_dir().join(format!("frazil-files-{}-pipe", std::process::id()));
    let made = std::process::Command::new("mkfifo").arg(&path).status();
    assert!(made.expect("mkfifo").success());
    let fifo = TempFile(path);
    let open = |limits| {
        CsvReader::open(
            Origin::File(&fifo.0),
            &text_column(),
            CsvOptions::default(),
            limits,
        )
    };
    let to = fifo.0.clone();
    let writer = std::thread::spawn(move || std::fs::write(to, "one\ntwo\n"));
    let batch = open(ReadLimits::default())
        .and_then(|mut r| r.next_batch())
        .expect("two rows");
    assert_eq!(batch.expect("two rows").rows, 2);
    writer.join().expect("no panic").expect("it is written");
    // Nobody writes: only the flag ends the wait.
    let limits = ReadLimits {
        cancel: Cancel::new(),
        ..ReadLimits::default()
    };
    let cancel = limits.cancel.clone();
    let canceller = std::thread::spawn(move || {
        std::thread::sleep(std::time::Duration::from_millis(50));
        cancel.time_out();
    });
    let error = open(limits).map(|_| ()).expect_err("it is cancelled");
    assert_eq!(error.message(), "canceling statement due to statement timeout");
    canceller.join().expect("it only cancels");
}
