//! Hostile Parquet: damaged files are read or refused with an error that names the file; they never panic. `FRAZIL_MUTATIONS` sets
//! their number (default 400).

use arrow_array::{ArrayRef, Decimal128Array, Int32Array, RecordBatch, StringArray};
use frazil_files::{BatchReader, ParquetReader, ReadLimits};
use frazil_types::{ColumnDef, LogicalType, MemoryBudget, SqlState};
use parquet::arrow::ArrowWriter;
use parquet::basic::Compression;
use parquet::file::properties::WriterProperties;
use std::path::PathBuf;
use std::sync::Arc;

struct Random(u64);

impl Random {
    fn below(&mut self, n: usize) -> usize {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        (self.0 >> 11) as usize % n
    }
}

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

fn columns() -> Vec<ColumnDef> {
    let price = LogicalType::Decimal {
        precision: 20,
        scale: 2,
    };
    vec![
        ColumnDef::new("id", LogicalType::Integer),
        ColumnDef::new("price", price),
        ColumnDef::new("note", LogicalType::Text),
    ]
}

/// A file of 1,000 rows in several pages.
fn sound(compression: Compression) -> Vec<u8> {
    let ids: Int32Array = (0..1000).map(|i| (i % 7 != 0).then_some(i)).collect();
    let prices: Decimal128Array = (0..1000).map(|i| Some(i128::from(i) * 101)).collect();
    let prices = prices.with_precision_and_scale(20, 2).expect("it fits");
    let notes: StringArray = (0..1000)
        .map(|i| (i % 5 != 0).then(|| format!("note {}", i % 90)))
        .collect();
    let arrays = [Arc::new(ids) as ArrayRef, Arc::new(prices), Arc::new(notes)];
    let batch = RecordBatch::try_from_iter(["id", "price", "note"].into_iter().zip(arrays)).expect("a batch");
    let properties = WriterProperties::builder()
        .set_compression(compression)
        .set_data_page_row_count_limit(300)
        .set_write_batch_size(100)
        .build();
    let mut bytes = Vec::new();
    let mut writer = ArrowWriter::try_new(&mut bytes, batch.schema(), Some(properties)).expect("a writer");
    writer.write(&batch).expect("it is written");
    writer.close().expect("it is closed");
    bytes
}

fn read(file: &TempFile, content: &[u8], budget: usize) -> Result<usize, frazil_types::Error> {
    std::fs::write(&file.0, content).expect("a temporary file");
    let limits = ReadLimits {
        budget: MemoryBudget::new(budget),
        ..ReadLimits::default()
    };
    let mut reader = ParquetReader::open(&file.0, &columns(), limits)?;
    let mut rows = 0;
    while let Some(batch) = reader.next_batch()? {
        rows += batch.rows;
    }
    Ok(rows)
}

#[test]
fn damaged_files_are_read_or_refused_by_name() {
    let rounds: usize = std::env::var("FRAZIL_MUTATIONS")
        .ok()
        .and_then(|n| n.parse().ok())
        .unwrap_or(400);
    let mut random = Random(0x2545_f491_4f6c_dd1d);
    let file = TempFile::new("mutation");
    let files = [sound(Compression::UNCOMPRESSED), sound(Compression::SNAPPY)];
    for content in &files {
        assert_eq!(read(&file, content, 64 << 20).expect("sound"), 1000);
    }
    let mut refused = 0;
    for round in 0..rounds {
        let mut content = files[round % 2].clone();
        for _ in 0..1 + random.below(4) {
            let at = random.below(content.len());
            match random.below(4) {
                0 if content.len() > 100 => content.truncate(content.len() - 1 - random.below(50)),
                1 => content[at] ^= 1 << random.below(8),
                2 => content[at] = [0, 0x7f, 0x80, 0xff][random.below(4)],
                _ => drop(content.drain(at..(at + random.below(4)).min(content.len()))),
            }
        }
        if let Err(error) = read(&file, &content, 64 << 20) {
            assert!(error.message().contains("mutation"), "{error}");
            assert_ne!(error.state(), SqlState::INTERNAL_ERROR, "{error}");
            refused += 1;
        }
    }
    assert!(refused > rounds / 4, "{refused} refused");
}

#[test]
fn what_a_file_holds_is_within_the_budget() {
    let file = TempFile::new("budget");
    let content = sound(Compression::UNCOMPRESSED);
    let error = read(&file, &content, 10_000).expect_err("too little");
    assert_eq!(error.state(), SqlState::OUT_OF_MEMORY);
}
