//! CSV: NULLs and empty strings, quotes over lines, byte order marks, and errors that name the place.

use frazil_files::{BatchReader, CsvOptions, CsvReader};
use frazil_types::{ColumnDef, Error, LogicalType, SqlState, Value};
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
        header,
        ..CsvOptions::default()
    };
    let mut reader = CsvReader::open(&file.0, &columns(), options)?;
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
    assert_eq!(error.state(), SqlState::INVALID_TEXT);
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
