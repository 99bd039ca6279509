//! Conformance: every encoding × type × operator × selection form × instruction set against the naive
//! oracle.

use crate::support::{Column, Random, block_of, columns, same, satisfies};
use frazil_block::{Block, BlockBytes, BlockScan, ColumnBuffer, Encoding, Matched, ScanOptions};
use frazil_kernels::{Isa, Selection};
use frazil_types::{CompareOp, MatchBits, Restriction, RestrictionKind, Value};
use std::collections::BTreeSet;

/// Restrictions whose operands lie in, between, at the edges of and beyond the values.
fn restrictions(column: &Column, random: &mut Random) -> Vec<RestrictionKind> {
    let mut operands: Vec<Value> = (0..3)
        .map(|_| column.values[random.below(column.values.len() as u64) as usize].clone())
        .collect();
    let valid = || column.values.iter().filter(|v| !v.is_null());
    operands.extend(valid().min_by(|a, b| crate::support::compare(a, b)).cloned());
    operands.extend(valid().max_by(|a, b| crate::support::compare(a, b)).cloned());
    match column.values.iter().find(|v| !v.is_null()) {
        Some(Value::Text(_)) => {
            operands.extend(["", "MAIM", "zzz", "regular d"].map(|t| Value::Text(t.into())))
        }
        Some(Value::Double(_)) => {
            operands.extend([0.0, -0.0, f64::NAN, 1e300, -1e300, 0.7].map(Value::Double));
        }
        Some(Value::Bool(_)) => operands.extend([false, true].map(Value::Bool)),
        _ => operands.extend([0, 1, 8100, i64::MAX, i64::MIN].map(|v| Value::Int(v.into()))),
    }
    let mut out = vec![RestrictionKind::IsNull, RestrictionKind::IsNotNull];
    use CompareOp::*;
    for v in &operands {
        out.extend([Eq, Ne, Lt, Le, Gt, Ge].map(|op| RestrictionKind::Compare(op, v.clone())));
        out.push(RestrictionKind::Between(operands[0].clone(), v.clone()));
    }
    out.push(RestrictionKind::In(operands.clone()));
    out.push(RestrictionKind::In(vec![]));
    if column.ty.is_string() {
        for p in ["", "A", "MAI", "regular", "00", "zzzz"] {
            out.push(RestrictionKind::Prefix(p.into()));
        }
        for pattern in ["%special%requests%", "_A%", "%a", "MAIL", "%", "%\\%\\_%", "ü%"] {
            for negated in [false, true] {
                out.push(RestrictionKind::Like {
                    pattern: pattern.into(),
                    negated,
                });
            }
        }
    }
    out
}

/// Rows of a block that satisfy restrictions, by windows of a size.
fn scan(block: &Block, restrictions: &[Restriction], options: ScanOptions, window: u32) -> Vec<usize> {
    let mut scan = BlockScan::new(block, restrictions, options).expect("a sound block");
    let (mut bits, mut positions, mut out) = (MatchBits::default(), Vec::new(), Vec::new());
    let range = scan.range();
    let mut start = range.start;
    while start < range.end {
        let end = range.end.min(start + window);
        let matched = scan
            .match_window(start..end, &mut bits, &mut positions)
            .expect("a sound block");
        match matched {
            Matched::None => {}
            Matched::All => out.extend(start as usize..end as usize),
            Matched::Bits => out.extend(bits.iter().map(|i| start as usize + i)),
            Matched::Positions => out.extend(positions.iter().map(|&p| usize::from(p))),
        }
        start = end;
    }
    out
}

fn check_matches(column: &Column, block: &Block, isa: Isa, random: &mut Random) {
    for kind in restrictions(column, random) {
        let expected: Vec<usize> = (0..column.values.len())
            .filter(|&row| satisfies(&column.values[row], &kind))
            .collect();
        let restriction = [Restriction {
            column: 0,
            kind: kind.clone(),
        }];
        for (use_sma, use_psma, window) in [(true, true, 4096), (false, false, 1000), (true, true, 77)] {
            let options = ScanOptions {
                isa,
                use_sma,
                use_psma,
            };
            let found = scan(block, &restriction, options, window);
            let info = block.column_info(0);
            assert!(
                found == expected,
                "{} as {info:?} on {isa}: {kind:?}, window {window}: {} rows, not {}",
                column.name,
                found.len(),
                expected.len()
            );
        }
    }
}

fn check_unpack(column: &Column, block: &Block, isa: Isa, random: &mut Random) {
    let rows = column.values.len() as u32;
    let mut out = ColumnBuffer::new();
    for percent in [0, 1, 50, 99, 100] {
        let start = random.below(u64::from(rows)) as u32;
        let len = random.below(u64::from(rows - start) + 1) as u32;
        let mut bits = MatchBits::zeros(len as usize);
        (0..len as usize)
            .filter(|_| random.below(100) < percent)
            .collect::<Vec<_>>()
            .into_iter()
            .for_each(|i| bits.set(i, true));
        let positions: Vec<u16> = bits.iter().map(|i| (start as usize + i) as u16).collect();
        let forms = [
            Selection::All { start, len },
            Selection::Bits {
                words: bits.words(),
                start,
                len,
            },
            Selection::Positions(&positions),
        ];
        for selection in forms {
            block.unpack(isa, 0, selection, &mut out).expect("a sound block");
            let expected: Vec<usize> = selection.rows().collect();
            assert_eq!(out.len(), expected.len());
            for flat in [false, true] {
                if flat {
                    out.flatten();
                }
                for (i, &row) in expected.iter().enumerate() {
                    let value = out.value(i);
                    assert!(
                        same(&value, &column.values[row]),
                        "{} on {isa}: row {row} is {value:?}, not {:?}",
                        column.name,
                        column.values[row]
                    );
                }
            }
        }
    }
}

fn check_column(column: &Column, random: &mut Random) {
    let built = block_of(column);
    let reopened = Block::open(BlockBytes::copy_of(built.bytes())).expect("a sound header");
    reopened
        .verify()
        .unwrap_or_else(|e| panic!("{}: {e}", column.name));
    for isa in Isa::available() {
        check_matches(column, &reopened, isa, random);
        check_unpack(column, &built, isa, random);
    }
    for _ in 0..20 {
        let row = random.below(column.values.len() as u64) as usize;
        let value = built.value_at(0, row as u16).expect("a sound block");
        assert!(same(&value, &column.values[row]));
    }
}

#[test]
fn every_column_matches_and_unpacks_as_the_oracle_does() {
    let mut random = Random(42);
    for rows in [3000, 130, 1] {
        for column in columns(rows, rows as u64) {
            check_column(&column, &mut random);
        }
    }
}

#[test]
fn full_blocks_match_and_unpack() {
    let mut random = Random(43);
    for column in columns(65_536, 5).iter().filter(|c| {
        [
            "integer 2 bytes, 10",
            "date ascending, 0",
            "text comments, 10",
            "decimal, 0",
        ]
        .iter()
        .any(|n| c.name.starts_with(n))
    }) {
        check_column(column, &mut random);
    }
}

#[test]
fn the_columns_cover_every_encoding() {
    let seen: BTreeSet<String> = columns(3000, 3000)
        .iter()
        .map(|c| {
            let info = block_of(c).column_info(0);
            format!(
                "{:?} {} {} {}",
                info.native, info.encoding, info.bits, info.compressed
            )
        })
        .collect();
    for wanted in [
        "Bool raw 8 false",
        "I16 raw 16 false",
        "I16 frame of reference 8 false",
        "I32 constant 0 false",
        "I32 dictionary 8 false",
        "I32 frame of reference 8 false",
        "I32 frame of reference 16 false",
        "I32 raw 32 false",
        "I64 frame of reference 32 false",
        "I64 dictionary 16 false",
        "I64 raw 64 false",
        "I128 frame of reference 8 false",
        "I128 raw 128 false",
        "F64 dictionary 8 false",
        "F64 raw 64 false",
        "String constant 0 false",
        "String dictionary 8 false",
        "String raw 32 false",
        "String raw 32 true",
    ] {
        assert!(seen.contains(wanted), "{wanted} is not among {seen:#?}");
    }
    assert_eq!(Encoding::Raw.to_string(), "raw");
}

#[test]
fn conjunctions_match_as_the_oracle_does() {
    let mut random = Random(7);
    let all = columns(3000, 77);
    for _ in 0..150 {
        let picked: Vec<&Column> = (0..3)
            .map(|_| &all[random.below(all.len() as u64) as usize])
            .collect();
        let vectors: Vec<_> = picked
            .iter()
            .map(|c| frazil_types::ColumnVector::from_values(c.ty, &c.values))
            .collect();
        let inputs: Vec<_> = vectors
            .iter()
            .map(|v| frazil_block::ColumnInput::of_vector(v, 0..v.len()))
            .collect();
        let block = frazil_block::BlockBuilder::default()
            .build(&inputs)
            .expect("sound");
        let restrictions: Vec<Restriction> = picked
            .iter()
            .enumerate()
            .map(|(column, c)| {
                let mut kinds = restrictions(c, &mut random);
                let kind = kinds.swap_remove(random.below(kinds.len() as u64) as usize);
                Restriction { column, kind }
            })
            .collect();
        let expected: Vec<usize> = (0..3000)
            .filter(|&row| {
                restrictions
                    .iter()
                    .all(|r| satisfies(&picked[r.column].values[row], &r.kind))
            })
            .collect();
        for isa in Isa::available() {
            let options = ScanOptions {
                isa,
                ..ScanOptions::default()
            };
            assert_eq!(
                scan(&block, &restrictions, options, 512),
                expected,
                "{restrictions:?}"
            );
        }
    }
}
