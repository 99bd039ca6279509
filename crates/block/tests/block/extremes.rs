//! Conformance where windows and codes end: values at both ends of their type among values of a few bits, with
//! NULLs, in every encoding on every layout.

use crate::conformance::{check_block, expected_of};
use crate::support::{Column, Random, pinned};
use frazil_block::{Encoding, Layout};
use frazil_types::{CompareOp, LogicalType, RestrictionKind, Value};
use proptest::prelude::*;

/// The integers of a type.
fn range(ty: LogicalType) -> (i128, i128) {
    match ty {
        LogicalType::Boolean => (0, 1),
        LogicalType::SmallInt => (i16::MIN.into(), i16::MAX.into()),
        LogicalType::Integer => (i32::MIN.into(), i32::MAX.into()),
        LogicalType::BigInt => (i64::MIN.into(), i64::MAX.into()),
        _ => (i128::MIN, i128::MAX),
    }
}

/// What the rows of a column are drawn from.
#[derive(Clone, Debug)]
struct Shape {
    ty: LogicalType,
    rows: usize,
    /// Most values lie in a window of so many bits,
    bits: u32,
    /// which begins at the type's smallest value (0), ends at its largest (1), lies about 0 (2) or anywhere.
    place: u64,
    /// Percent of values at the ends of the type, or one beside them.
    extremes: u64,
    /// Percent of NULLs.
    nulls: u64,
    seed: u64,
}

impl Shape {
    fn column(&self) -> Column {
        let mut random = Random::new(self.seed | 1);
        let (least, most) = range(self.ty);
        let span = (1i128 << self.bits.min(126)) - 1;
        let span = span.min(most.saturating_sub(least));
        let start = match self.place {
            0 => least,
            1 => most - span,
            2 => -(span / 2),
            _ => (i128::from(random.bits() as i64) >> (random.bits() % 64)).max(least),
        };
        let start = start.clamp(least, most - span);
        let values = (0..self.rows).map(|_| {
            if random.below(100) < self.nulls {
                return Value::Null;
            }
            let inside = match random.below(8) {
                0 => 0,
                1 => span,
                _ => i128::from(random.bits()) % span.saturating_add(1).max(1),
            };
            let value = match random.below(100) < self.extremes {
                true => [least, least + 1, most - 1, most][random.below(4) as usize],
                false => start + inside,
            };
            match self.ty {
                LogicalType::Boolean => Value::Bool(value != 0),
                LogicalType::Double => Value::Double(double(value, self.bits)),
                _ => Value::Int(value),
            }
        });
        Column {
            name: format!("{self:?}"),
            ty: self.ty,
            values: values.collect(),
        }
    }
}

/// Doubles of few digits for small windows, and of any bits for large ones.
fn double(value: i128, bits: u32) -> f64 {
    match bits {
        0..=20 => value as f64 / 100.0,
        _ => f64::from_bits(value as u64),
    }
}

/// Comparisons with the values' ends, some of the values, and what lies beside them.
fn restrictions(column: &Column, random: &mut Random) -> Vec<RestrictionKind> {
    let valid: Vec<&Value> = column.values.iter().filter(|v| !v.is_null()).collect();
    let mut operands: Vec<Value> = Vec::new();
    let ends = |by: fn(&Value, &Value) -> std::cmp::Ordering| {
        let least = valid.iter().min_by(|a, b| by(a, b));
        least.into_iter().chain(valid.iter().max_by(|a, b| by(a, b)))
    };
    operands.extend(ends(crate::support::compare).map(|v| (*v).clone()));
    operands.extend((0..2).filter_map(|_| {
        let any = random.below(valid.len().max(1) as u64) as usize;
        valid.get(any).map(|v| (*v).clone())
    }));
    for i in 0..operands.len() {
        if let Value::Int(v) = operands[i] {
            operands.extend([v.saturating_sub(1), v.saturating_add(1)].map(Value::Int));
        }
    }
    if matches!(column.ty, LogicalType::BigInt | LogicalType::Integer) {
        operands.push(Value::Int(-1));
    }
    let mut out = vec![RestrictionKind::IsNull, RestrictionKind::In(operands.clone())];
    use CompareOp::*;
    for v in operands {
        out.extend([Eq, Ne, Lt, Ge].map(|op| RestrictionKind::Compare(op, v.clone())));
    }
    out
}

/// Holds a column in every way there is.
fn check(column: &Column, seed: u64) {
    let mut random = Random::new(seed | 1);
    let expected = expected_of(column, restrictions(column, &mut random));
    let layouts = || std::iter::once(None).chain(Layout::ALL.map(Some));
    for encoding in Encoding::ALL {
        for layout in layouts() {
            if let Some(block) = pinned(column, encoding, layout) {
                check_block(column, &block, &mut random, &expected);
            }
        }
    }
}

fn shape() -> impl Strategy<Value = Shape> {
    use LogicalType::*;
    let wide = Decimal {
        precision: 38,
        scale: 0,
    };
    let types = prop::sample::select(vec![Boolean, SmallInt, Integer, BigInt, BigInt, wide, Double]);
    let rows = prop::sample::select(vec![1usize, 63, 64, 65, 129, 300]);
    let nulls = prop::sample::select(vec![0u64, 12, 95]);
    let extremes = prop::sample::select(vec![0u64, 2, 40]);
    (types, rows, 0..66u32, 0..4u64, extremes, nulls, any::<u64>()).prop_map(
        |(ty, rows, bits, place, extremes, nulls, seed)| Shape {
            ty,
            rows,
            bits,
            place,
            extremes,
            nulls,
            seed,
        },
    )
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 48, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn extremes_are_held_in_every_encoding_on_every_layout(shape in shape()) {
        check(&shape.column(), shape.seed);
    }
}

/// Most values take 45 bits, which no machine word has: on byte-packed codes the window is wider than planned.
#[test]
fn a_window_wider_than_planned_does_not_wrap() {
    for (bits, place) in [(45, 2), (45, 0), (45, 1), (33, 3), (62, 2), (17, 2), (9, 1)] {
        let shape = Shape {
            ty: LogicalType::BigInt,
            rows: 600,
            bits,
            place,
            extremes: 3,
            nulls: 12,
            seed: u64::from(bits),
        };
        check(&shape.column(), shape.seed);
    }
}
