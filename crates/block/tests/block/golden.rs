//! Golden files: every released version of the format stays readable. `tests/golden/v1.block` was
//! written when version 1 was made; `FRAZIL_WRITE_GOLDEN=1` writes the one of today's version anew,
//! which is right only while a version is unreleased.

use crate::support::{Column, columns, same};
use frazil_block::{Block, BlockBuilder, BlockBytes, ColumnInput};
use frazil_types::ColumnVector;

const FILE: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/golden/v1.block");

fn golden_columns() -> Vec<Column> {
    columns(1030, 2026)
        .into_iter()
        .filter(|c| c.name.ends_with(", 10 % NULL") || c.name.starts_with("constant, 0"))
        .filter(|c| !c.name.contains("full") && !c.name.starts_with("all true"))
        .collect()
}

fn build(columns: &[Column]) -> Block {
    let vectors: Vec<ColumnVector> = columns
        .iter()
        .map(|c| ColumnVector::from_values(c.ty, &c.values))
        .collect();
    let inputs: Vec<ColumnInput> = vectors
        .iter()
        .map(|v| ColumnInput::of_vector(v, 0..v.len()))
        .collect();
    BlockBuilder::default().build(&inputs).expect("sound columns")
}

#[test]
fn version_1_is_read() {
    let columns = golden_columns();
    if std::env::var_os("FRAZIL_WRITE_GOLDEN").is_some() {
        std::fs::write(FILE, build(&columns).bytes()).expect("the golden file can be written");
    }
    let bytes = std::fs::read(FILE).expect("the golden file is there");
    let block = Block::open(BlockBytes::copy_of(&bytes)).expect("version 1 is supported");
    block.verify().expect("the golden file is sound");
    assert_eq!((block.rows(), block.columns()), (1030, columns.len()));
    for (i, column) in columns.iter().enumerate() {
        for (row, value) in column.values.iter().enumerate() {
            let read = block.value_at(i, row as u16).expect("sound");
            assert!(same(&read, value), "{} row {row}", column.name);
        }
    }
}

/// The same columns give the same bytes today: an accidental change of the format shows here.
#[test]
fn version_1_is_written_as_it_was() {
    let bytes = std::fs::read(FILE).expect("the golden file is there");
    let built = build(&golden_columns());
    let golden = Block::open(BlockBytes::copy_of(&bytes)).expect("version 1 is supported");
    for column in 0..built.columns() {
        assert_eq!(built.entry(column), golden.entry(column), "column {column}");
    }
    assert!(built.bytes() == bytes);
}
