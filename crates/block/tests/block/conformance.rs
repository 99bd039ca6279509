//! Conformance: every encoding × layout × type × operator × selection form × instruction set against the
//! naive oracle.

use crate::support::{Column, Random, block_of, build, columns, pinned, same, satisfies};
use frazil_block::{
    Block, BlockBytes, BlockScan, ColumnBuffer, ColumnOptions, Encoding, Layout, Matched, Purpose,
    ScanOptions,
};
use frazil_kernels::{Isa, Selection};
use frazil_types::{CompareOp, Disjunction, MatchBits, Restriction, RestrictionKind, Value};
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
            operands.extend([0.0, -0.0, f64::NAN, 1e300, -1e300, 0.7, 12.345].map(Value::Double));
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
    scan_any(block, restrictions, &[], options, window)
}

/// The same with disjunctions.
fn scan_any(
    block: &Block,
    restrictions: &[Restriction],
    disjunctions: &[Disjunction],
    options: ScanOptions,
    window: u32,
) -> Vec<usize> {
    let mut scan = BlockScan::new(block, restrictions, disjunctions, options).expect("a sound block");
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

/// A restriction, and the rows of a column that satisfy it by the oracle.
pub struct Expected {
    restriction: Restriction,
    rows: Vec<usize>,
}

/// What the oracle says of a column: found once, asked of every block that holds it.
fn expectations(column: &Column, random: &mut Random) -> Vec<Expected> {
    expected_of(column, restrictions(column, random))
}

/// What the oracle says of some restrictions on a column.
pub fn expected_of(column: &Column, kinds: Vec<RestrictionKind>) -> Vec<Expected> {
    (kinds.into_iter())
        .map(|kind| Expected {
            rows: (0..column.values.len())
                .filter(|&row| satisfies(&column.values[row], &kind))
                .collect(),
            restriction: Restriction { column: 0, kind },
        })
        .collect()
}

fn check_matches(column: &Column, block: &Block, isa: Isa, expectations: &[Expected]) {
    for Expected { restriction, rows } in expectations {
        for (use_sma, use_psma, window) in [(true, true, 4096), (false, false, 1000), (true, true, 77)] {
            let options = ScanOptions {
                isa,
                use_sma,
                use_psma,
            };
            let found = scan(block, std::slice::from_ref(restriction), options, window);
            let info = block.column_info(0);
            assert!(
                found == *rows,
                "{} as {info:?} on {isa}: {restriction:?}, window {window}: {} rows, not {}",
                column.name,
                found.len(),
                rows.len()
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
    let expectations = expectations(column, random);
    check_block(column, &block_of(column), random, &expectations);
}

/// A block holds a column: every selection unpacks, every restriction matches, before and after reopening.
pub fn check_block(column: &Column, built: &Block, random: &mut Random, expectations: &[Expected]) {
    let reopened = Block::open(BlockBytes::copy_of(built.bytes())).expect("a sound header");
    reopened
        .verify()
        .unwrap_or_else(|e| panic!("{}: {e}", column.name));
    for isa in Isa::available() {
        check_matches(column, &reopened, isa, expectations);
        check_unpack(column, built, isa, random);
    }
    // A buffer serves one row after the other, and blocks that were not touched before as well.
    let mut one = ColumnBuffer::new();
    let untouched = Block::open(BlockBytes::copy_of(built.bytes())).expect("a sound header");
    for block in [built, &untouched] {
        for _ in 0..20 {
            let row = random.below(column.values.len() as u64) as usize;
            block.expect_row(0..1, row as u16).expect("a sound block");
            block.value_into(0, row as u16, &mut one).expect("a sound block");
            assert!(
                same(&one.value(0), &column.values[row]),
                "{}, row {row}",
                column.name
            );
        }
    }
}

#[test]
fn every_column_matches_and_unpacks_as_the_oracle_does() {
    let mut random = Random::new(42);
    for rows in [3000, 130, 1] {
        for column in columns(rows, rows as u64) {
            check_column(&column, &mut random);
        }
    }
}

/// Every encoding that holds a column, on every layout.
#[test]
fn every_encoding_on_every_layout_matches_and_unpacks_as_the_oracle_does() {
    let mut random = Random::new(44);
    let mut held = BTreeSet::new();
    for rows in [650, 1] {
        for column in columns(rows, rows as u64 + 2) {
            if column.name.contains("95") && rows > 1 {
                continue;
            }
            let expectations = expectations(&column, &mut random);
            for encoding in Encoding::ALL {
                for layout in Layout::ALL {
                    let Some(block) = pinned(&column, encoding, Some(layout)) else {
                        continue;
                    };
                    let info = block.column_info(0);
                    if info.encoding == Encoding::Constant {
                        continue;
                    }
                    assert_eq!(
                        (info.encoding, info.layout),
                        (encoding, layout),
                        "{}",
                        column.name
                    );
                    held.insert(format!("{encoding} {layout} {:?}", info.native));
                    check_block(&column, &block, &mut random, &expectations);
                }
            }
        }
    }
    for layout in Layout::ALL {
        for native in ["I16", "I32", "I64", "I128"] {
            assert!(held.contains(&format!("frame of reference {layout} {native}")));
            assert!(held.contains(&format!("dictionary {layout} {native}")));
            assert!(held.contains(&format!("patched frame of reference {layout} {native}")));
            assert!(held.contains(&format!("frames of reference {layout} {native}")));
        }
        assert!(held.contains(&format!("decimal {layout} F64")));
        assert!(held.contains(&format!("frame of reference {layout} Bool")));
        assert!(held.contains(&format!("dictionary {layout} F64")));
        assert!(held.contains(&format!("dictionary {layout} String")));
    }
}

#[test]
fn every_purpose_makes_sound_blocks() {
    let mut random = Random::new(45);
    for purpose in Purpose::ALL {
        for column in columns(1100, 9).iter().filter(|c| !c.name.contains("95")) {
            let asked = ColumnOptions {
                purpose: Some(purpose),
                ..ColumnOptions::default()
            };
            let block = build(&[column], vec![asked]).expect("sound");
            check_unpack(column, &block, Isa::detect(), &mut random);
            check_matches(column, &block, Isa::detect(), &expectations(column, &mut random));
        }
    }
}

#[test]
fn what_cannot_be_held_is_refused_by_name() {
    let all = columns(300, 3);
    let named = |name: &str| all.iter().find(|c| c.name.starts_with(name)).expect("there");
    let refused = |name: &str, encoding, layout| {
        let asked = ColumnOptions {
            encoding,
            layout,
            purpose: None,
        };
        let error = build(&[named(name)], vec![asked]).expect_err("it does not fit");
        format!("{}: {}", error.message(), error.hint().unwrap_or_default())
    };
    assert_eq!(
        refused(
            "wide full, 0",
            Some(Encoding::FrameOfReference),
            Some(Layout::Vbp)
        ),
        "column \"wide full, 0 % NULL\": its values cannot be held as frame of reference with vbp codes: \
         they can be held as: raw"
    );
    assert!(
        refused("text noise, 0", Some(Encoding::Raw), Some(Layout::Hbp)).contains("dictionary in any layout")
    );
    assert!(refused("integer 1 byte, 0", Some(Encoding::Constant), None).contains("frame of reference"));
    assert!(refused("bigint extremes, 10", Some(Encoding::FrameOfReference), None).contains("dictionary"));
}

#[test]
fn full_blocks_match_and_unpack() {
    let mut random = Random::new(43);
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
        "Bool frame of reference 1 false",
        "I16 raw 16 false",
        "I16 frame of reference 8 false",
        "I32 constant 0 false",
        "I32 dictionary 5 false",
        "I32 frame of reference 8 false",
        "I32 frame of reference 16 false",
        "I32 patched frame of reference 8 false",
        "I32 raw 32 false",
        "I64 frame of reference 32 false",
        "I64 dictionary 9 false",
        "I64 raw 64 false",
        "I128 frame of reference 3 false",
        "I128 raw 128 false",
        "F64 dictionary 3 false",
        "F64 raw 64 false",
        "String constant 0 false",
        "String dictionary 3 false",
        "String raw 32 false",
        "String raw 32 true",
    ] {
        assert!(seen.contains(wanted), "{wanted} is not among {seen:#?}");
    }
    assert_eq!(Encoding::Raw.to_string(), "raw");
}

#[test]
fn conjunctions_match_as_the_oracle_does() {
    let mut random = Random::new(7);
    let all = columns(3000, 77);
    for _ in 0..150 {
        let (picked, block) = any_three(&all, &mut random);
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

/// Three columns in any layout, and their block.
fn any_three<'a>(all: &'a [Column], random: &mut Random) -> (Vec<&'a Column>, Block) {
    let picked: Vec<&Column> = (0..3)
        .map(|_| &all[random.below(all.len() as u64) as usize])
        .collect();
    let asked = (0..3).map(|_| ColumnOptions {
        layout: Layout::ALL.get(random.below(8) as usize).copied(),
        ..ColumnOptions::default()
    });
    // Not every column has codes to lay out.
    let block = build(&picked, asked.collect())
        .or_else(|_| build(&picked, vec![]))
        .expect("sound");
    (picked, block)
}

#[test]
fn disjunctions_match_as_the_oracle_does() {
    let mut random = Random::new(8);
    let all = columns(3000, 78);
    for round in 0..250u64 {
        let (picked, block) = any_three(&all, &mut random);
        let restriction = |random: &mut Random, column: usize| {
            let mut kinds = restrictions(picked[column], random);
            let kind = kinds.swap_remove(random.below(kinds.len() as u64) as usize);
            Restriction { column, kind }
        };
        let conjunction: Vec<Restriction> = (0..round % 2).map(|_| restriction(&mut random, 0)).collect();
        let disjunctions: Vec<Disjunction> = (0..1 + round % 3 / 2)
            .map(|_| {
                // Every fifth has a single column, every seventh an alternative that asks for nothing.
                let mut alternative = |least: u64| -> Vec<Restriction> {
                    let tests = match round % 5 {
                        0 => 1,
                        _ => least + random.below(3),
                    };
                    let columns = if round % 5 == 0 { 1 } else { 3 };
                    (0..tests)
                        .map(|_| {
                            let column = random.below(columns) as usize;
                            restriction(&mut random, column)
                        })
                        .collect()
                };
                let alternatives = (0..round % 4 + 1)
                    .map(|_| alternative(u64::from(round % 7 != 0)))
                    .collect();
                Disjunction { alternatives }
            })
            .collect();
        let holds = |row: usize, r: &Restriction| satisfies(&picked[r.column].values[row], &r.kind);
        let any = |row: usize, d: &Disjunction| {
            d.alternatives
                .iter()
                .any(|alternative| alternative.iter().all(|r| holds(row, r)))
        };
        let expected: Vec<usize> = (0..3000)
            .filter(|&row| {
                conjunction.iter().all(|r| holds(row, r)) && disjunctions.iter().all(|d| any(row, d))
            })
            .collect();
        for (isa, window) in Isa::available()
            .into_iter()
            .zip([512, 4096, 77].into_iter().cycle())
        {
            let options = ScanOptions {
                isa,
                use_sma: round % 2 == 0,
                use_psma: round % 3 > 0,
            };
            assert_eq!(
                scan_any(&block, &conjunction, &disjunctions, options, window),
                expected,
                "{isa}: {conjunction:?} and {disjunctions:?} on {:?}",
                [0, 1, 2].map(|c| block.column_info(c))
            );
        }
    }
}
