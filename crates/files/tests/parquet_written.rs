//! What is encoded here is read by the crate that knows the format: every value, through the index of pages too, and statistics hold.

use arrow_array::cast::AsArray;
use arrow_array::types::{Date32Type, Int32Type, Int64Type};
use arrow_array::{Array, ArrayRef, RecordBatch};
use frazil_files::{BatchWriter, Compression, Destination, Form, writer};
use frazil_types::{Cancel, ColumnDef, ColumnVector, LogicalType, RowBatch, Schema, Value};
use parquet::arrow::arrow_reader::statistics::StatisticsConverter;
use parquet::arrow::arrow_reader::{
    ArrowReaderOptions, ParquetRecordBatchReaderBuilder, RowSelection, RowSelector,
};
use parquet::basic::Encoding;
use parquet::file::metadata::PageIndexPolicy;
use std::fs::File;
use std::path::{Path, PathBuf};

const ROWS: usize = 180_000;
const ROW_GROUP_ROWS: usize = 140_000;

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

/// Name, type, and the value of each row.
type Column = (&'static str, LogicalType, fn(usize) -> Option<Cell>);

/// Every form that a column of integers or texts takes: dictionaries, those that overflow, runs, NULLs here and there or everywhere,
/// texts longer than statistics.
fn columns() -> Vec<Column> {
    let narrow = LogicalType::Decimal {
        precision: 5,
        scale: 2,
    };
    vec![
        ("few", LogicalType::Integer, |row| {
            Some(Cell::Int((row % 7) as i128 - 3))
        }),
        ("key", LogicalType::BigInt, |row| {
            Some(Cell::Int(row as i128 * 3 - 1000))
        }),
        ("falling", LogicalType::SmallInt, |row| {
            Some(Cell::Int(-((row / 10) as i128)))
        }),
        // Few values, and from row 66,000 on more than a dictionary has room for.
        ("overflowing", LogicalType::BigInt, |row| {
            (row % 50 != 1).then(|| {
                Cell::Int(if !(66_000..ROW_GROUP_ROWS).contains(&row) {
                    row % 100
                } else {
                    row * 7
                } as i128)
            })
        }),
        ("runs", LogicalType::Date, |row| {
            Some(Cell::Int((row / 1000 % 3) as i128))
        }),
        ("nothing", LogicalType::Integer, |_| None),
        ("money", narrow, |row| {
            (row % 3 != 0).then(|| Cell::Int((row % 99_999) as i128 - 50_000))
        }),
        ("one", LogicalType::Text, |_| Some(Cell::Text("x".into()))),
        ("mode", LogicalType::Text, |row| {
            (row % 11 != 0)
                .then(|| Cell::Text(["AIR", "", "a mode of more than twelve bytes", "é"][row % 4].into()))
        }),
        ("comment", LogicalType::Text, |row| {
            (row % 1001 != 0).then(|| Cell::Text(format!("{}{}", "é".repeat(row % 50), row)))
        }),
        ("overflowing texts", LogicalType::Text, |row| {
            Some(Cell::Text(if row < 70_000 {
                format!("text {}", row % 9)
            } else {
                format!("a text with so many bytes that a dictionary soon has no room: {row}")
            }))
        }),
    ]
}

enum Cell {
    Int(i128),
    Text(String),
}

fn value(cell: Option<Cell>) -> Value {
    match cell {
        None => Value::Null,
        Some(Cell::Int(value)) => Value::Int(value),
        Some(Cell::Text(text)) => Value::Text(text),
    }
}

fn write(path: &Path, compression: Compression) {
    let columns = columns();
    let defs = columns.iter().map(|(name, ty, of)| {
        let mut def = ColumnDef::new(*name, *ty);
        def.nullable = (0..ROWS).any(|row| of(row).is_none());
        def
    });
    let schema = Schema::new(defs.collect());
    let form = Form::Parquet {
        compression,
        row_group_rows: ROW_GROUP_ROWS,
    };
    let mut writer: Box<dyn BatchWriter> =
        writer(Destination::File(path, &Cancel::new()), &schema, &form).expect("a writer");
    let batch = |rows: std::ops::Range<usize>| RowBatch {
        columns: columns
            .iter()
            .map(|(_, ty, of)| {
                let values: Vec<Value> = rows.clone().map(|row| value(of(row))).collect();
                ColumnVector::from_values(*ty, &values)
            })
            .collect(),
        rows: rows.len(),
    };
    // The rows by which encodings are chosen, and pieces that fit no page.
    writer.write(&[batch(0..65_536)], 2).expect("written");
    let pieces: Vec<RowBatch> = (65_536..ROWS)
        .step_by(10_007)
        .map(|start| batch(start..ROWS.min(start + 10_007)))
        .collect();
    for pieces in pieces.chunks(3) {
        writer.write(pieces, 2).expect("written");
    }
    writer.finish().expect("a whole file");
}

fn reader(path: &Path) -> ParquetRecordBatchReaderBuilder<File> {
    let options = ArrowReaderOptions::new().with_page_index_policy(PageIndexPolicy::Required);
    let file = File::open(path).expect("the file that was written");
    ParquetRecordBatchReaderBuilder::try_new_with_options(file, options)
        .expect("a file of Parquet with an index of pages")
}

fn cell(array: &ArrayRef, at: usize) -> Value {
    use arrow_schema::DataType;
    if array.is_null(at) {
        return Value::Null;
    }
    match array.data_type() {
        DataType::Int16 => Value::Int(
            array
                .as_primitive::<arrow_array::types::Int16Type>()
                .value(at)
                .into(),
        ),
        DataType::Int32 => Value::Int(array.as_primitive::<Int32Type>().value(at).into()),
        DataType::Int64 => Value::Int(array.as_primitive::<Int64Type>().value(at).into()),
        DataType::Date32 => Value::Int(array.as_primitive::<Date32Type>().value(at).into()),
        DataType::Decimal128(..) => Value::Int(
            array
                .as_primitive::<arrow_array::types::Decimal128Type>()
                .value(at),
        ),
        DataType::Utf8 => Value::Text(array.as_string::<i32>().value(at).into()),
        other => panic!("a column of {other}"),
    }
}

fn same(batches: impl Iterator<Item = RecordBatch>, mut row: usize) -> usize {
    for batch in batches {
        for ((name, _, of), array) in columns().iter().zip(batch.columns()) {
            for at in 0..batch.num_rows() {
                assert_eq!(
                    cell(array, at),
                    value(of(row + at)),
                    "column {name}, row {}",
                    row + at
                );
            }
        }
        row += batch.num_rows();
    }
    row
}

#[test]
fn every_value_is_read_back() {
    for compression in [
        Compression::None,
        Compression::Snappy,
        Compression::Lz4,
        Compression::Zstd,
    ] {
        let file = TempFile::new(&format!("written-{compression:?}"));
        write(&file.0, compression);
        let all = reader(&file.0)
            .build()
            .expect("a reader")
            .map(|batch| batch.expect("a batch"));
        assert_eq!(same(all, 0), ROWS);
        for start in [0, 40_000, 139_990, 179_000] {
            let rows = vec![RowSelector::skip(start), RowSelector::select(500)];
            let some = reader(&file.0)
                .with_row_selection(RowSelection::from(rows))
                .build();
            same(
                some.expect("a reader").map(|batch| batch.expect("a batch")),
                start,
            );
        }
    }
}

#[test]
fn statistics_of_row_groups_and_pages_hold() {
    let file = TempFile::new("written-statistics");
    write(&file.0, Compression::Snappy);
    let read = reader(&file.0);
    let metadata = read.metadata().clone();
    let (columns_of, offsets) = (
        metadata.column_index().expect("an index of columns"),
        metadata.offset_index().expect("an index of offsets"),
    );
    let mut start = 0;
    for (group, of_group) in metadata.row_groups().iter().enumerate() {
        let rows = of_group.num_rows() as usize;
        for (at, (name, _, of)) in columns().iter().enumerate() {
            let arrow = read.schema().clone();
            let converter =
                StatisticsConverter::try_new(name, &arrow, read.parquet_schema()).expect("a column");
            let holds = |mins: ArrayRef,
                         maxes: ArrayRef,
                         nulls: Vec<Option<u64>>,
                         at: usize,
                         rows: std::ops::Range<usize>| {
                let values = || rows.clone().map(|row| value(of(row)));
                let there: Vec<Value> = values().filter(|v| *v != Value::Null).collect();
                assert_eq!(
                    nulls[at],
                    Some((rows.len() - there.len()) as u64),
                    "column {name}"
                );
                let bytes = |v: &Value| match v {
                    Value::Text(text) => text.clone().into_bytes(),
                    Value::Int(value) => (value + (1 << 64)).to_be_bytes().to_vec(),
                    _ => Vec::new(),
                };
                let (min, max) = (cell(&mins, at), cell(&maxes, at));
                assert_eq!(min == Value::Null, there.is_empty(), "column {name}");
                for value in &there {
                    assert!(
                        bytes(&min) <= bytes(value) && bytes(value) <= bytes(&max),
                        "column {name}: {min:?}, {value:?}, {max:?}"
                    );
                }
                let short = |v: &Value| bytes(v).len() <= 64;
                assert!(there.is_empty() || short(&min) && short(&max), "column {name}");
            };
            let of_column = of_group.column(at).statistics().expect("statistics");
            // Readers of today look into the fields of today.
            let says_nothing = of_column.min_bytes_opt().is_none();
            assert!(
                says_nothing || !of_column.is_min_max_deprecated(),
                "column {name}"
            );
            let groups = [of_group];
            let nulls = converter.row_group_null_counts(groups).expect("counted");
            holds(
                converter.row_group_mins(groups).expect("mins"),
                converter.row_group_maxes(groups).expect("maxes"),
                nulls.iter().collect(),
                0,
                start..start + rows,
            );
            let pages = offsets[group][at].page_locations();
            let mins = converter
                .data_page_mins(columns_of, offsets, [&group])
                .expect("mins of pages");
            let maxes = converter
                .data_page_maxes(columns_of, offsets, [&group])
                .expect("maxes of pages");
            let nulls = converter
                .data_page_null_counts(columns_of, offsets, [&group])
                .expect("counted");
            let nulls: Vec<_> = nulls.iter().collect();
            for (page, location) in pages.iter().enumerate() {
                let first = location.first_row_index as usize;
                let end = pages
                    .get(page + 1)
                    .map_or(rows, |next| next.first_row_index as usize);
                holds(
                    mins.clone(),
                    maxes.clone(),
                    nulls.clone(),
                    page,
                    start + first..start + end,
                );
            }
        }
        start += rows;
    }
    let encodings = |name: &str| {
        let at = columns()
            .iter()
            .position(|column| column.0 == name)
            .expect("a column");
        let stats = metadata.row_group(0).column(at).page_encoding_stats_mask();
        stats.expect("pages were counted").encodings().collect::<Vec<_>>()
    };
    assert_eq!(encodings("few"), [Encoding::RLE_DICTIONARY]);
    assert_eq!(encodings("key"), [Encoding::PLAIN]);
    for name in ["overflowing", "overflowing texts"] {
        let mut both = encodings(name);
        both.sort_by_key(|encoding| *encoding as i32);
        assert_eq!(both, [Encoding::PLAIN, Encoding::RLE_DICTIONARY], "column {name}");
    }
}
