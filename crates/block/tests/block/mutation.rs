//! Hostile bytes: blocks with flipped, overwritten and missing bytes never panic and never read wrongly.
//!
//! With checksums left as they were, every change is either reported or without effect. With checksums
//! made to fit, values may differ, but nothing panics and nothing is read out of bounds. The number of
//! mutations per test is `FRAZIL_MUTATIONS` (default 4,000).

use crate::support::{Column, Random, build, columns, pinned, same};
use frazil_block::{
    Block, BlockBytes, BlockScan, ColumnBuffer, ColumnOptions, Encoding, Layout, ScanOptions, format,
};
use frazil_kernels::{Isa, Selection};
use frazil_types::{CompareOp, MatchBits, NativeType, Restriction, RestrictionKind, Value};

fn mutations() -> usize {
    std::env::var("FRAZIL_MUTATIONS")
        .ok()
        .and_then(|n| n.parse().ok())
        .unwrap_or(4000)
}

/// A block of every kind of column, small enough that mutations hit everything.
fn victim(rows: usize) -> (Vec<Column>, Vec<u8>) {
    let columns: Vec<Column> = columns(rows, 11)
        .into_iter()
        .filter(|c| !c.name.contains("95"))
        .collect();
    let block = build(&columns.iter().collect::<Vec<_>>(), vec![]).expect("sound columns");
    (columns, block.bytes().to_vec())
}

/// A block of every encoding on every layout.
fn pinned_victim(rows: usize) -> (Vec<Column>, Vec<u8>) {
    let (mut held, mut asked) = (Vec::new(), Vec::new());
    for encoding in Encoding::ALL {
        for layout in Layout::ALL {
            for name in [
                "integer with",
                "bigint drift",
                "double prices",
                "text dict",
                "wide narrow",
            ] {
                let all = columns(rows, 11).into_iter();
                let wanted = |c: &Column| c.name.starts_with(name) && c.name.ends_with(", 10 % NULL");
                let column = all
                    .filter(wanted)
                    .find(|c| pinned(c, encoding, Some(layout)).is_some());
                asked.extend(column.is_some().then_some(ColumnOptions {
                    encoding: Some(encoding),
                    layout: Some(layout),
                    purpose: None,
                }));
                held.extend(column);
            }
        }
    }
    let block = build(&held.iter().collect::<Vec<_>>(), asked).expect("sound columns");
    (held, block.bytes().to_vec())
}

/// Changes a few bytes, most often in the header's region or at the start of a section.
fn mutate(bytes: &mut [u8], random: &mut Random) {
    let header = u32::from_le_bytes(bytes[20..24].try_into().expect("four")) as usize;
    for _ in 0..=random.below(3) {
        let at = match random.below(3) {
            0 => random.below(header as u64) as usize,
            1 => (random.below(bytes.len() as u64 / 64) * 64 + random.below(8)) as usize,
            _ => random.below(bytes.len() as u64) as usize,
        };
        match random.below(4) {
            0 => bytes[at] ^= 1 << random.below(8),
            1 => bytes[at] = random.bits() as u8,
            2 => bytes[at] = [0, 0xff, 0x7f, 0x80][random.below(4) as usize],
            _ => {
                let from = random.below(bytes.len() as u64 - 8) as usize;
                let end = (at + 8).min(bytes.len());
                bytes.copy_within(from..from + (end - at), at);
            }
        }
    }
}

/// Does everything to a column that a query might.
fn exercise(block: &Block, column: usize) -> frazil_types::Result<Vec<Value>> {
    let operand = match block.native(column) {
        NativeType::String => Value::Text("MAIL".into()),
        NativeType::F64 => Value::Double(0.5),
        NativeType::Bool => Value::Bool(true),
        _ => Value::Int(78),
    };
    let mut kinds = vec![
        RestrictionKind::Compare(CompareOp::Le, operand.clone()),
        RestrictionKind::Compare(CompareOp::Ne, operand.clone()),
        RestrictionKind::In(vec![operand.clone(), operand]),
        RestrictionKind::IsNull,
        RestrictionKind::IsNotNull,
    ];
    if block.native(column) == NativeType::String {
        kinds.push(RestrictionKind::Prefix("re".into()));
        kinds.push(RestrictionKind::Like {
            pattern: "%special%requests%".into(),
            negated: false,
        });
    }
    let (mut bits, mut positions) = (MatchBits::default(), Vec::new());
    for kind in kinds {
        let restriction = [Restriction { column, kind }];
        let mut scan = BlockScan::new(block, &restriction, &[], ScanOptions::default())?;
        let range = scan.range();
        scan.match_window(range, &mut bits, &mut positions)?;
    }
    let mut out = ColumnBuffer::new();
    block.column_info(column);
    block.borrow(column)?;
    block.unpack(Isa::detect(), column, Selection::all(0..block.rows()), &mut out)?;
    Ok((0..out.len()).map(|i| out.value(i)).collect())
}

#[test]
fn a_changed_byte_is_reported_or_without_effect() {
    let (columns, original) = victim(70);
    unharmed_or_reported(&columns, &original, mutations());
    let (columns, original) = pinned_victim(70);
    unharmed_or_reported(&columns, &original, mutations() / 4);
}

fn unharmed_or_reported(columns: &[Column], original: &[u8], mutations: usize) {
    let mut random = Random::new(101);
    let mut reported = 0;
    for _ in 0..mutations {
        let mut bytes = original.to_vec();
        mutate(&mut bytes, &mut random);
        let Ok(block) = Block::open(BlockBytes::copy_of(&bytes)) else {
            reported += 1;
            continue;
        };
        for (i, column) in columns.iter().enumerate() {
            match exercise(&block, i) {
                Ok(values) => assert!(
                    values.iter().zip(&column.values).all(|(a, b)| same(a, b)),
                    "{} was read wrongly",
                    column.name
                ),
                Err(e) => {
                    assert!(e.message().starts_with(&format!("column {i}")), "{e}");
                    reported += 1;
                }
            }
        }
    }
    assert!(reported > mutations / 4);
}

#[test]
fn hostile_bytes_with_fitting_checksums_do_no_harm() {
    for (columns, original) in [victim(70), victim(1100), pinned_victim(70), pinned_victim(1100)] {
        let mut random = Random::new(202);
        let (mut refused, mut survived) = (0, 0);
        for _ in 0..mutations() / 8 {
            let mut bytes = original.clone();
            mutate(&mut bytes, &mut random);
            format::reseal(&mut bytes);
            let Ok(block) = Block::open(BlockBytes::copy_of(&bytes)) else {
                refused += 1;
                continue;
            };
            for column in 0..block.columns().min(columns.len()) {
                match exercise(&block, column) {
                    Ok(_) => survived += 1,
                    Err(_) => refused += 1,
                }
            }
        }
        assert!(refused > 0 && survived > 0);
    }
}

#[test]
fn truncated_blocks_are_refused() {
    let (_, original) = victim(70);
    for len in (0..original.len()).step_by(97) {
        let mut bytes = original[..len].to_vec();
        assert!(Block::open(BlockBytes::copy_of(&bytes)).is_err());
        if len >= 64 {
            bytes[24..32].copy_from_slice(&(len as u64).to_le_bytes());
            format::reseal(&mut bytes);
            if let Ok(block) = Block::open(BlockBytes::copy_of(&bytes)) {
                assert!(block.verify().is_err());
            }
        }
    }
}

#[test]
fn errors_name_what_is_wrong() {
    let (_, original) = victim(70);
    let open = |bytes: &[u8]| Block::open(BlockBytes::copy_of(bytes)).map(|b| b.verify());
    let message = |bytes: &[u8]| match open(bytes) {
        Ok(Ok(())) => String::new(),
        Ok(Err(e)) | Err(e) => format!("{} {}", e.state(), e.message()),
    };
    assert_eq!(message(&original), "");
    let mut bytes = original.clone();
    bytes[16] = 9;
    assert_eq!(
        message(&bytes),
        "0A000 Data Block format version 9 is not supported; this program reads 1 to 2"
    );
    let mut bytes = original.clone();
    bytes[64] = 77;
    format::reseal(&mut bytes);
    assert_eq!(message(&bytes), "XX001 column 0: unknown encoding 77");
    let mut bytes = original.clone();
    bytes[8] = 0;
    assert_eq!(
        message(&bytes),
        "XX001 no Data Block begins here (offset 8: wrong magic)"
    );
    let mut bytes = original.clone();
    let at = bytes.len() - 65;
    bytes[at] ^= 1;
    assert!(message(&bytes).contains("the checksum of"), "{}", message(&bytes));
}
