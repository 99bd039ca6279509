//! Columns of every codec and kind that other writers choose: nested ones, dictionaries, narrow and wide numbers. What is read is what
//! was written, and damaged files are read or refused by name.

use arrow_array::builder::{Int32Builder, ListBuilder, MapBuilder, StringBuilder, StringDictionaryBuilder};
use arrow_array::types::Int8Type;
use arrow_array::{
    ArrayRef, Date64Array, Decimal256Array, Float64Array, Int32Array, RecordBatch, StringArray, StructArray,
};
use arrow_buffer::{NullBuffer, i256};
use arrow_schema::{DataType, Field};
use frazil_files::{ColumnsOf, ParquetFiles, PathColumns, ReadLimits, json_of};
use frazil_testkit::Random;
use frazil_types::{Result, SqlState};
use parquet::arrow::ArrowWriter;
use parquet::basic::{Compression, GzipLevel, ZstdLevel};
use parquet::file::properties::{WriterProperties, WriterVersion};
use std::path::PathBuf;
use std::sync::Arc;

const ROWS: usize = 1000;

struct TempFile(PathBuf);

impl TempFile {
    fn new(name: &str) -> TempFile {
        TempFile(std::env::temp_dir().join(format!("frazil-{name}-{}.parquet", std::process::id())))
    }
}

impl Drop for TempFile {
    fn drop(&mut self) {
        let _ = std::fs::remove_file(&self.0);
    }
}

/// Name, values, and the JSON of each row.
type Column = (&'static str, ArrayRef, fn(usize) -> String);

fn texts() -> StringArray {
    (0..ROWS)
        .map(|row| (row % 5 != 0).then(|| format!("text {}", row % 90)))
        .collect()
}

fn text(row: usize) -> String {
    if row.is_multiple_of(5) {
        "null".to_owned()
    } else {
        format!("\"text {}\"", row % 90)
    }
}

fn structs() -> ArrayRef {
    let fields = vec![
        Arc::new(Field::new("n", DataType::Int32, false)),
        Arc::new(Field::new("a \"text\"", DataType::Utf8, true)),
    ];
    let numbers: Int32Array = (0..ROWS as i32).collect();
    let nulls = NullBuffer::from_iter((0..ROWS).map(|row| row % 7 != 0));
    let columns: Vec<ArrayRef> = vec![Arc::new(numbers), Arc::new(texts())];
    Arc::new(StructArray::new(fields.into(), columns, Some(nulls)))
}

fn maps() -> ArrayRef {
    let mut maps = MapBuilder::new(None, StringBuilder::new(), Int32Builder::new());
    for row in 0..ROWS {
        for entry in 0..row % 3 {
            maps.keys().append_value(format!("k{entry}"));
            maps.values().append_option((entry == 0).then_some(row as i32));
        }
        maps.append(row % 4 != 0).expect("as many keys as values");
    }
    Arc::new(maps.finish())
}

fn lists() -> ArrayRef {
    let mut lists = ListBuilder::new(ListBuilder::new(Int32Builder::new()));
    for row in 0..ROWS {
        for inner in 0..row % 3 {
            lists
                .values()
                .values()
                .append_option((row % 2 == 0).then_some(inner as i32));
            lists.values().append(inner != 1);
        }
        lists.append(row % 4 != 0);
    }
    Arc::new(lists.finish())
}

fn categories() -> ArrayRef {
    let mut categories = StringDictionaryBuilder::<Int8Type>::new();
    for row in 0..ROWS {
        match row % 5 {
            0 => categories.append_null(),
            _ => categories.append_value(format!("text {}", row % 90)),
        }
    }
    Arc::new(categories.finish())
}

fn columns() -> Vec<Column> {
    let days: Date64Array = (0..ROWS as i64).map(|day| Some(day * 24 * 3600 * 1000)).collect();
    let wide: Decimal256Array = (0..ROWS)
        .map(|row| Some(i256::from(row as i32) * i256::from_i128(1 << 100)))
        .collect();
    let wide = wide.with_precision_and_scale(70, 0).expect("they fit");
    let doubles: Float64Array = (0..ROWS)
        .map(|row| (row % 3 != 0).then_some(row as f64 / 2.0))
        .collect();
    vec![
        ("row", Arc::new((0..ROWS as i32).collect::<Int32Array>()), |row| {
            row.to_string()
        }),
        ("double", Arc::new(doubles), |row| match row % 3 {
            0 => "null".to_owned(),
            _ => (row as f64 / 2.0).to_string(),
        }),
        ("text", Arc::new(texts()), text),
        ("category", categories(), text),
        ("struct", structs(), |row| match row % 7 {
            0 => "null".to_owned(),
            _ => format!("{{\"n\": {row}, \"a \\\"text\\\"\": {}}}", text(row)),
        }),
        ("map", maps(), |row| match (row % 4, row % 3) {
            (0, _) => "null".to_owned(),
            (_, 0) => "{}".to_owned(),
            (_, 1) => format!("{{\"k0\": {row}}}"),
            _ => format!("{{\"k0\": {row}, \"k1\": null}}"),
        }),
        ("lists", lists(), |row| {
            let item = if row % 2 == 0 { "0" } else { "null" };
            match (row % 4, row % 3) {
                (0, _) => "null".to_owned(),
                (_, 0) => "[]".to_owned(),
                (_, 1) => format!("[[{item}]]"),
                _ => format!("[[{item}], null]"),
            }
        }),
        ("day", Arc::new(days), |row| {
            format!(
                "\"{}\"",
                frazil_types::Value::Int(row as i128).display(frazil_types::LogicalType::Date)
            )
        }),
        ("wide", Arc::new(wide), |row| ((row as i128) << 100).to_string()),
    ]
}

fn written(compression: Compression, version: WriterVersion) -> Vec<u8> {
    let arrays = columns().into_iter().map(|(name, array, _)| (name, array, true));
    let batch = RecordBatch::try_from_iter_with_nullable(arrays).expect("a batch");
    let properties = WriterProperties::builder()
        .set_compression(compression)
        .set_writer_version(version)
        .set_data_page_row_count_limit(300)
        .set_write_batch_size(100)
        .set_max_row_group_row_count(Some(700))
        .build();
    let mut bytes = Vec::new();
    let mut writer = ArrowWriter::try_new(&mut bytes, batch.schema(), Some(properties)).expect("a writer");
    writer.write(&batch).expect("it is written");
    writer.close().expect("it is closed");
    bytes
}

/// The JSON of every value of a file, column by column.
fn read(file: &TempFile, content: &[u8]) -> Result<Vec<Result<Vec<String>>>> {
    std::fs::write(&file.0, content).expect("a temporary file");
    let files = ParquetFiles::open(
        std::slice::from_ref(&file.0),
        &PathColumns::default(),
        ColumnsOf::FirstFile,
        &ReadLimits::default(),
    )?;
    let column = |at: usize| {
        let mut all = Vec::new();
        for chunk in 0..files.chunks().len() {
            let (column, _) = files.column(chunk, at)?;
            for row in 0..column.len() {
                all.push(json_of(&column, row)?);
            }
        }
        Ok(all)
    };
    Ok((0..files.columns().len()).map(column).collect())
}

#[test]
fn every_codec_gives_every_kind() {
    let file = TempFile::new("kinds");
    for compression in [
        Compression::UNCOMPRESSED,
        Compression::SNAPPY,
        Compression::GZIP(GzipLevel::default()),
        Compression::BROTLI(Default::default()),
        Compression::ZSTD(ZstdLevel::default()),
        Compression::LZ4,
        Compression::LZ4_RAW,
    ] {
        for version in [WriterVersion::PARQUET_1_0, WriterVersion::PARQUET_2_0] {
            let found = read(&file, &written(compression, version)).expect("it is sound");
            for ((name, _, expected), found) in columns().into_iter().zip(found) {
                let found = found.expect(name);
                assert_eq!(found.len(), ROWS, "{name}");
                for (row, found) in found.iter().enumerate() {
                    assert_eq!(*found, expected(row), "{compression}, column {name}, row {row}");
                }
            }
        }
    }
}

#[test]
fn damaged_columns_are_read_or_refused_by_name() {
    let mut random = Random::new(48);
    let file = TempFile::new("damaged");
    let files = [Compression::GZIP(GzipLevel::default()), Compression::UNCOMPRESSED]
        .map(|compression| written(compression, WriterVersion::PARQUET_1_0));
    let mut refused = 0;
    for round in 0..60 {
        let mut content = files[round % 2].clone();
        // Half of the damages are in the footer: schemas, row groups, places of dictionaries and pages.
        let from = if round % 4 < 2 { content.len() * 3 / 4 } else { 4 };
        for _ in 0..1 + random.below(3) {
            let at = from + random.below((content.len() - from) as u64) as usize;
            content[at] ^= 1 << random.below(8);
        }
        let errors: Vec<_> = match read(&file, &content) {
            Ok(columns) => columns.into_iter().filter_map(Result::err).collect(),
            Err(error) => vec![error],
        };
        for error in errors {
            assert!(error.message().contains("damaged"), "{error}");
            assert_ne!(error.state(), SqlState::INTERNAL_ERROR, "{error}");
            refused += 1;
        }
    }
    assert!(refused > 10, "{refused} refused");
}
