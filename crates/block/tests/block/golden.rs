//! Golden files: every released version of the format stays readable. `tests/golden/v1.block` was
//! written when version 1 was made, the others with version 2; `FRAZIL_WRITE_GOLDEN=1` writes those that
//! are not there anew, which is right only while a version is unreleased. `odd_width.block` has bit-packed codes of
//! 17 bits, a width that is read and not written any more.

use crate::support::{Column, build, columns, same};
use frazil_block::{Block, BlockBytes, ColumnOptions, Encoding, Layout};

const DIRECTORY: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/golden");

fn golden_columns() -> Vec<Column> {
    columns(1030, 2026)
        .into_iter()
        .filter(|c| c.name.ends_with(", 10 % NULL") || c.name.starts_with("constant, 0"))
        .filter(|c| !c.name.contains("full") && !c.name.starts_with("all true"))
        .collect()
}

/// The columns of a file and how each is held.
type Held = Vec<(Column, Encoding, Option<Layout>)>;

/// Every column that an encoding holds, on a layout.
fn held_as(encoding: Encoding, layout: Layout) -> Held {
    let held = golden_columns().into_iter().filter(|c| {
        let block = crate::support::pinned(c, encoding, Some(layout));
        block.is_some_and(|b| b.entry(0).encoding == encoding)
    });
    held.map(|c| (c, encoding, Some(layout))).collect()
}

/// The files of version 2, by name.
fn files() -> Vec<(&'static str, Held)> {
    let mut layouts = Vec::new();
    for layout in Layout::ALL {
        layouts.extend(held_as(Encoding::FrameOfReference, layout).into_iter().take(4));
        layouts.extend(held_as(Encoding::Dictionary, layout).into_iter().take(3));
        let strings = held_as(Encoding::Dictionary, layout).into_iter();
        layouts.extend(strings.filter(|(c, ..)| c.name.starts_with("text dictionary")));
    }
    let mut codecs = Vec::new();
    for encoding in [Encoding::Patched, Encoding::Frames, Encoding::Decimal] {
        for layout in Layout::ALL {
            let held = held_as(encoding, layout);
            let wanted = [
                "integer with outliers",
                "bigint drifting",
                "double prices",
                "wide narrow",
            ];
            let wanted = |c: &Column| wanted.iter().any(|w| c.name.starts_with(w));
            codecs.extend(held.into_iter().filter(|(c, ..)| wanted(c)));
        }
    }
    vec![("layouts", layouts), ("codecs", codecs)]
}

fn built(held: &Held) -> Block {
    let columns: Vec<&Column> = held.iter().map(|(c, ..)| c).collect();
    let asked = |(_, encoding, layout): &(Column, Encoding, Option<Layout>)| ColumnOptions {
        encoding: Some(*encoding),
        layout: *layout,
        purpose: None,
    };
    build(&columns, held.iter().map(asked).collect()).expect("sound columns")
}

fn open(file: &str) -> Option<Block> {
    let bytes = std::fs::read(file).ok()?;
    let block = Block::open(BlockBytes::copy_of(&bytes)).expect("a version that is supported");
    block.verify().expect("the golden file is sound");
    Some(block)
}

fn check_values(block: &Block, columns: &[&Column]) {
    assert_eq!((block.rows(), block.columns()), (1030, columns.len()));
    for (i, column) in columns.iter().enumerate() {
        for (row, value) in column.values.iter().enumerate() {
            let read = block.value_at(i, row as u16).expect("sound");
            assert!(same(&read, value), "{} row {row}", column.name);
        }
    }
}

/// The same columns give the same bytes today: an accidental change of the format shows here.
fn check_bytes(golden: &Block, today: &Block) {
    for column in 0..today.columns() {
        assert_eq!(today.entry(column), golden.entry(column), "column {column}");
    }
    assert!(today.bytes() == golden.bytes());
}

#[test]
fn version_1_is_read_and_written_as_it_was() {
    let golden = open(&format!("{DIRECTORY}/v1.block")).expect("the golden file is there");
    let mut columns = golden_columns();
    columns.truncate(golden.columns());
    check_values(&golden, &columns.iter().collect::<Vec<_>>());
    let held = columns.into_iter().enumerate().map(|(i, c)| {
        let entry = golden.entry(i);
        let layout = (entry.layout != Layout::None).then_some(entry.layout);
        (c, entry.encoding, layout)
    });
    check_bytes(&golden, &built(&held.collect()));
}

#[test]
fn version_2_is_read_and_written_as_it_was() {
    for (name, held) in files() {
        let file = format!("{DIRECTORY}/{name}.block");
        let today = built(&held);
        if std::env::var_os("FRAZIL_WRITE_GOLDEN").is_some() && open(&file).is_none() {
            std::fs::write(&file, today.bytes()).expect("the golden file can be written");
        }
        let golden = open(&file).unwrap_or_else(|| panic!("{name} is there"));
        check_values(&golden, &held.iter().map(|(c, ..)| c).collect::<Vec<_>>());
        check_bytes(&golden, &today);
    }
}

#[test]
fn odd_widths_are_read() {
    let drifting = |(c, ..): &(Column, Encoding, Option<Layout>)| c.name.starts_with("bigint drifting");
    let held: Held = held_as(Encoding::Frames, Layout::BitPacked)
        .into_iter()
        .filter(drifting)
        .collect();
    let golden = open(&format!("{DIRECTORY}/odd_width.block")).expect("the golden file is there");
    assert_eq!(golden.entry(0).code_bits, 17);
    check_values(&golden, &held.iter().map(|(c, ..)| c).collect::<Vec<_>>());
    assert_eq!(built(&held).entry(0).code_bits, 18);
}
