//! A block that was just built is compared with the rows it was built of: whatever byte of it is wrong, it does not take
//! their place.

use crate::support::{Column, columns, pinned, same};
use frazil_block::{Block, BlockBytes, ColumnBuffer, ColumnInput, Encoding, Layout, format};
use frazil_kernels::{Isa, Selection};
use frazil_types::{ColumnVector, SqlState, Value};

fn vector(column: &Column) -> ColumnVector {
    ColumnVector::from_values(column.ty, &column.values)
}

fn check(block: &Block, column: &Column) -> frazil_types::Result<()> {
    let vector = vector(column);
    let input = ColumnInput::of_vector(&vector, 0..vector.len()).named("c");
    block.check_holds(&[input], &mut ColumnBuffer::new())
}

/// Blocks of one column, of every kind and in every way.
fn blocks() -> Vec<(Column, Block)> {
    let mut out = Vec::new();
    for encoding in Encoding::ALL {
        for layout in std::iter::once(None).chain(Layout::ALL.map(Some)) {
            for column in columns(70, 13) {
                if column.name.contains("95") {
                    continue;
                }
                if let Some(block) = pinned(&column, encoding, layout) {
                    out.push((column, block));
                }
            }
        }
    }
    out
}

#[test]
fn a_block_of_other_rows_is_not_sound() {
    for (mut column, block) in blocks() {
        check(&block, &column).unwrap_or_else(|e| panic!("{}: {e}", column.name));
        let last = column.values.len() - 1;
        column.values[last] = match &column.values[last] {
            Value::Null => column
                .values
                .iter()
                .find(|v| !v.is_null())
                .cloned()
                .unwrap_or(Value::Null),
            Value::Bool(v) => Value::Bool(!v),
            Value::Int(v) => Value::Int(v ^ 1),
            Value::Double(v) => Value::Double(if *v == 7.0 { 8.0 } else { 7.0 }),
            Value::Text(v) => Value::Text(format!("{v}!")),
            other => other.clone(),
        };
        let error = check(&block, &column).expect_err("a value differs");
        assert_eq!(error.state(), SqlState::INTERNAL_ERROR);
        assert!(error.message().starts_with("column \"c\": "), "{error}");
    }
}

/// With checksums that fit, as those of a defective encoder would.
#[test]
fn no_wrong_byte_passes_that_changes_a_value_or_that_a_reader_refuses() {
    let (mut refused, mut harmless) = (0, 0);
    for (nth, (column, block)) in blocks().into_iter().enumerate() {
        let original = block.bytes().to_vec();
        // All bytes of the sections, by steps that no structure has.
        for at in (64 + nth % 7..original.len()).step_by(7) {
            let mut bytes = original.clone();
            bytes[at] ^= 1 << (at % 8);
            format::reseal(&mut bytes);
            let Ok(changed) = Block::open(BlockBytes::copy_of(&bytes)) else {
                continue;
            };
            match check(&changed, &column) {
                Err(_) => refused += 1,
                Ok(()) => {
                    harmless += 1;
                    unharmed(&changed, &column);
                }
            }
        }
    }
    assert!(
        refused > 1_000 && harmless > 100,
        "{refused} refused, {harmless} harmless"
    );
}

fn unharmed(block: &Block, column: &Column) {
    block.verify().expect("a reader takes it");
    let mut out = ColumnBuffer::new();
    let all = Selection::all(0..block.rows());
    block
        .unpack(Isa::detect(), 0, all, &mut out)
        .expect("a reader takes it");
    for (row, value) in column.values.iter().enumerate() {
        assert!(same(&out.value(row), value), "{}, row {row}", column.name);
    }
}
