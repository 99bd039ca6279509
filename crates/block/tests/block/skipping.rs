//! What is not read: blocks ruled out by SMAs, rows by PSMAs, rows by the tests before. Counters and
//! ranges prove that the fast path ran.

use frazil_block::{
    Block, BlockBuilder, BlockBytes, BlockScan, BuildOptions, CodeRange, ColumnInput, Matched, ScanOptions,
};
use frazil_kernels::{Isa, Kernel, counters};
use frazil_types::{
    ColumnVector, CompareOp, Disjunction, LogicalType, MatchBits, Restriction, RestrictionKind, Value,
};

fn build(columns: &[(LogicalType, Vec<Value>)], options: BuildOptions) -> Block {
    let vectors: Vec<ColumnVector> = columns
        .iter()
        .map(|(ty, values)| ColumnVector::from_values(*ty, values))
        .collect();
    let inputs: Vec<ColumnInput> = vectors
        .iter()
        .map(|v| ColumnInput::of_vector(v, 0..v.len()))
        .collect();
    BlockBuilder::new(options).build(&inputs).expect("sound columns")
}

fn ints(rows: i128, value: impl Fn(i128) -> i128) -> (LogicalType, Vec<Value>) {
    (
        LogicalType::Integer,
        (0..rows).map(|i| Value::Int(value(i))).collect(),
    )
}

fn between(column: usize, low: i128, high: i128) -> Restriction {
    Restriction {
        column,
        kind: RestrictionKind::Between(Value::Int(low), Value::Int(high)),
    }
}

#[test]
fn a_block_ruled_out_by_its_sma_is_not_touched() {
    let block = build(&[ints(5000, |i| 100 + i % 400)], BuildOptions::default());
    let mut bytes = block.bytes().to_vec();
    let at = bytes.len() - 100;
    bytes[at] ^= 1;
    let damaged = Block::open(BlockBytes::copy_of(&bytes)).expect("the header is sound");
    let outside = BlockScan::new(&damaged, &[between(0, 500, 900)], &[], ScanOptions::default());
    let outside = outside.expect("ruled out without touching the damaged column");
    assert!(outside.skipped_by_sma() && outside.range().is_empty());
    let inside = BlockScan::new(&damaged, &[between(0, 400, 900)], &[], ScanOptions::default());
    assert!(
        inside
            .expect_err("the damage is found")
            .message()
            .contains("checksum")
    );
}

#[test]
fn psmas_narrow_sorted_blocks_and_intersect() {
    let block = build(
        &[
            ints(60_000, |i| 8000 + i / 24),
            ints(60_000, |i| 60_000 - i),
            ints(60_000, |i| i % 7),
        ],
        BuildOptions::default(),
    );
    let range = |restrictions: &[Restriction], options| {
        BlockScan::new(&block, restrictions, &[], options)
            .expect("sound")
            .range()
    };
    let with = ScanOptions::default();
    let without = ScanOptions {
        use_psma: false,
        ..with
    };
    // Deltas 200..=210 have slots of their own: the range is exact.
    assert_eq!(range(&[between(0, 8200, 8210)], with), 4800..5064);
    assert_eq!(range(&[between(0, 8200, 8210)], without), 0..60_000);
    // Deltas above 255 share a slot with 255 others.
    assert_eq!(range(&[between(0, 9000, 9000)], with), 768 * 24..1024 * 24);
    let both = [
        between(0, 8200, 8210),
        between(1, 55_000, 70_000),
        between(2, 3, 3),
    ];
    let narrowed = range(&both, with);
    assert!(narrowed.start >= 4800 && narrowed.end <= 5064 && !narrowed.is_empty());
    assert_eq!(
        range(&[between(0, 8200, 8210), between(1, 1, 200)], with).len(),
        0
    );
    let bare = build(
        &[ints(60_000, |i| 8000 + i / 24)],
        BuildOptions {
            psma: false,
            ..BuildOptions::default()
        },
    );
    let scan = BlockScan::new(&bare, &[between(0, 8200, 8210)], &[], with).expect("sound");
    assert_eq!(scan.range(), 0..60_000);
}

#[test]
fn blocks_are_skipped_where_every_alternative_is_ruled_out() {
    let block = build(
        &[ints(60_000, |i| 8000 + i / 24), ints(60_000, |i| i % 7)],
        BuildOptions::default(),
    );
    let scan = |alternatives: &[&[Restriction]], use_sma| {
        let alternatives = alternatives.iter().map(|a| a.to_vec()).collect();
        let options = ScanOptions {
            use_sma,
            ..ScanOptions::default()
        };
        BlockScan::new(&block, &[], &[Disjunction { alternatives }], options).expect("sound")
    };
    let (low, high, common) = (between(0, 0, 7000), between(0, 20_000, 30_000), between(1, 3, 3));
    let out: &[&[Restriction]] = &[std::slice::from_ref(&low), &[common.clone(), high.clone()]];
    assert!(scan(out, true).skipped_by_sma());
    let none = scan(out, false);
    assert!(none.range().is_empty() && !none.skipped_by_sma());
    // PSMAs leave the rows that they leave of each alternative.
    let narrow = |low, high| vec![between(0, low, high), common.clone()];
    let hull = scan(&[&narrow(8010, 8011), &narrow(8200, 8210), &[high]], true);
    // Packed codes are tested from whole words on.
    assert_eq!((hull.range(), hull.rows().rows()), (192..5064, 96 + 264));
    // Of one column: one range of codes.
    let one = scan(&[&[between(0, 8010, 8011)], &[between(0, 8012, 8020)]], true);
    assert_eq!(one.range(), 192..504);
    assert!(scan(&[&[low], &[]], true).matches_all());
}

#[test]
fn psmas_are_asked_for_each_value_of_a_list() {
    let block = build(
        &[ints(60_000, |i| i), ints(60_000, |i| i / 6000 * 1_000_000)],
        BuildOptions::default(),
    );
    let scanned = |kind: RestrictionKind, column| {
        let restriction = Restriction { column, kind };
        let scan = BlockScan::new(&block, &[restriction], &[], ScanOptions::default()).expect("sound");
        scan.rows().rows()
    };
    let list = |values: &[i128]| RestrictionKind::In(values.iter().map(|&v| Value::Int(v)).collect());
    for (column, values) in [
        (0, vec![3, 59_000]),
        (0, vec![7, 255, 30_000]),
        (1, vec![0, 9_000_000]),
    ] {
        let single = |v: &i128| scanned(RestrictionKind::Compare(CompareOp::Eq, Value::Int(*v)), column);
        let singles: usize = values.iter().map(single).sum();
        assert!(scanned(list(&values), column) <= singles, "{values:?}");
        assert!(scanned(list(&values), column) < 15_000, "{values:?}");
    }
}

#[test]
fn constants_and_absent_values_cost_nothing() {
    let rows = 3000;
    let even = |i: i128| (i % 50) * 10_000_000;
    let block = build(&[ints(rows, |_| 7), ints(rows, even)], BuildOptions::default());
    let scan = |column, low, high| {
        BlockScan::new(&block, &[between(column, low, high)], &[], ScanOptions::default()).expect("sound")
    };
    assert!(scan(0, 0, 7).matches_all());
    assert!(scan(0, 8, 9).range().is_empty());
    assert!(scan(1, -5, i128::MAX).matches_all());
    // Within min and max, but not in the dictionary (Data Blocks, section 3.4).
    let absent = scan(1, 10_000_001, 19_999_999);
    assert!(absent.range().is_empty() && !absent.skipped_by_sma());
    let set = RestrictionKind::In([1, 3, 5].map(|v| Value::Int(v * 10_000_000)).to_vec());
    assert_eq!(
        block.code_range(1, &set).expect("sound"),
        CodeRange::Set(vec![0b10_1010])
    );
    let but = RestrictionKind::Compare(CompareOp::Ne, Value::Int(30_000_000));
    assert_eq!(block.code_range(1, &but).expect("sound"), CodeRange::Except(3, 3));
}

#[test]
fn few_survivors_become_positions_and_are_reduced() {
    let block = build(
        &[ints(8192, |i| i * 7919 % 8191), ints(8192, |i| i % 200)],
        BuildOptions::default(),
    );
    for isa in Isa::available() {
        let options = ScanOptions {
            isa,
            ..ScanOptions::default()
        };
        let match_with = |restrictions: &[Restriction]| {
            let mut scan = BlockScan::new(&block, restrictions, &[], options).expect("sound");
            let (mut bits, mut positions) = (MatchBits::default(), Vec::new());
            let before = counters::calls(Kernel::Reduce, isa);
            let matched = scan
                .match_window(0..8192, &mut bits, &mut positions)
                .expect("sound");
            // Other tests may count on other threads meanwhile.
            (matched, counters::calls(Kernel::Reduce, isa) > before)
        };
        let rare = between(0, 10, 40);
        let frequent = between(1, 0, 150);
        assert_eq!(match_with(&[frequent.clone(), rare]), (Matched::Positions, true));
        let common = between(0, 10, 7000);
        assert_eq!(match_with(&[frequent, common]).0, Matched::Bits);
    }
}
