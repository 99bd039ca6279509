//! The order of keys is the order of values: for every logical type, with NULLs first and last, ascending and descending, for
//! one column and several, row by row and column by column.

use frazil_testkit::Random;
use frazil_types::key_encoding::after_prefix;
use frazil_types::value_ops::order;
use frazil_types::{ColumnVector, EncodedKeys, Interval, KeyPart, KeySpec, LogicalType, Value};
use std::cmp::Ordering;

const TYPES: [LogicalType; 14] = [
    LogicalType::Boolean,
    LogicalType::SmallInt,
    LogicalType::Integer,
    LogicalType::BigInt,
    LogicalType::Double,
    LogicalType::Decimal {
        precision: 12,
        scale: 2,
    },
    LogicalType::Decimal {
        precision: 30,
        scale: 5,
    },
    LogicalType::Date,
    LogicalType::TIMESTAMP,
    LogicalType::Interval,
    LogicalType::Char(1),
    LogicalType::Char(7),
    LogicalType::Varchar(9),
    LogicalType::Text,
];

/// Most and least values of a type's integers that SQL knows.
fn integers(ty: LogicalType) -> (i128, i128) {
    match ty {
        LogicalType::SmallInt => (i16::MIN.into(), i16::MAX.into()),
        LogicalType::Integer | LogicalType::Date => (i32::MIN.into(), i32::MAX.into()),
        LogicalType::Char(1) => (0, 0x10_ffff),
        LogicalType::BigInt | LogicalType::TIMESTAMP => (i64::MIN.into(), i64::MAX.into()),
        LogicalType::Decimal { precision, .. } => {
            let most = 10i128.pow(precision.into()) - 1;
            (-most, most)
        }
        _ => unreachable!("{ty} holds no integers"),
    }
}

fn text(random: &mut Random) -> Value {
    const LETTERS: [&str; 8] = ["\0", "\u{1}", "\u{2}", " ", "a", "b", "é", "\u{ffff}"];
    let letters = random.index(12);
    Value::Text(
        (0..letters)
            .map(|_| LETTERS[random.index(LETTERS.len())])
            .collect(),
    )
}

fn value(ty: LogicalType, random: &mut Random) -> Value {
    const DOUBLES: [f64; 10] = [
        f64::NAN,
        f64::INFINITY,
        f64::NEG_INFINITY,
        0.0,
        -0.0,
        1.0,
        -1.0,
        f64::MIN_POSITIVE,
        f64::MAX,
        f64::MIN,
    ];
    match ty {
        LogicalType::Boolean => Value::Bool(random.below(2) == 1),
        LogicalType::Double if random.below(2) == 0 => Value::Double(DOUBLES[random.index(DOUBLES.len())]),
        LogicalType::Double => Value::Double(f64::from_bits(random.bits())),
        LogicalType::Interval => Value::Interval(Interval {
            months: random.below(5) as i32 - 2,
            days: random.below(100) as i32 - 50,
            micros: random.bits() as i64 >> random.below(60),
        }),
        LogicalType::Char(n) if n > 1 => match text(random) {
            // Blanks behind the text are nothing.
            Value::Text(t) => Value::Text(t.trim_end_matches(' ').to_string()),
            other => other,
        },
        ty if ty.is_string() && ty != LogicalType::Char(1) => text(random),
        ty => {
            let (least, most) = integers(ty);
            let near = random.below(7) as i128 - 3;
            Value::Int(match random.below(4) {
                0 => least + near.abs(),
                1 => most - near.abs(),
                2 => near.max(least),
                _ => {
                    least
                        + i128::from(random.bits())
                            .wrapping_mul(random.bits().into())
                            .rem_euclid(most - least)
                }
            })
        }
    }
}

/// The order that a part promises.
fn expected(part: &KeyPart, a: &Value, b: &Value) -> Ordering {
    match (a.is_null(), b.is_null()) {
        (true, true) => Ordering::Equal,
        (true, false) if part.nulls_first => Ordering::Less,
        (true, false) => Ordering::Greater,
        (false, true) => expected(part, b, a).reverse(),
        (false, false) if part.descending => order(b, a).unwrap(),
        (false, false) => order(a, b).unwrap(),
    }
}

fn random_part(ty: LogicalType, random: &mut Random) -> KeyPart {
    KeyPart {
        ty,
        nullable: random.below(2) == 0,
        descending: random.below(2) == 0,
        nulls_first: random.below(2) == 0,
    }
}

fn random_value(part: &KeyPart, random: &mut Random) -> Value {
    match part.nullable && random.below(5) == 0 {
        true => Value::Null,
        false => value(part.ty, random),
    }
}

fn key(spec: &KeySpec, values: &[Value]) -> Vec<u8> {
    let mut out = Vec::new();
    spec.encode(values, &mut out);
    out
}

/// Checks the keys of all pairs of these rows.
fn check(spec: &KeySpec, rows: &[Vec<Value>]) {
    let keys: Vec<Vec<u8>> = rows.iter().map(|row| key(spec, row)).collect();
    for (a, x) in rows.iter().zip(&keys) {
        assert!(spec.fixed_bytes().is_none_or(|bytes| bytes == x.len()));
        for (b, y) in rows.iter().zip(&keys) {
            let parts = spec.parts().iter().zip(a).zip(b);
            let order = parts.map(|((p, a), b)| expected(p, a, b)).find(|o| o.is_ne());
            let order = order.unwrap_or(Ordering::Equal);
            assert_eq!(x.cmp(y), order, "{:?}: {a:?} and {b:?}", spec.parts());
            assert!(order.is_eq() || !y.starts_with(x), "a prefix: {a:?} and {b:?}");
        }
    }
}

/// Checks that the columns of the rows have the keys that the rows have.
fn check_columns(spec: &KeySpec, rows: &[Vec<Value>]) {
    let columns: Vec<ColumnVector> = (0..spec.parts().len())
        .map(|c| {
            let values: Vec<Value> = rows.iter().map(|row| row[c].clone()).collect();
            ColumnVector::from_values(spec.parts()[c].ty, &values)
        })
        .collect();
    let mut keys = EncodedKeys::default();
    spec.encode_columns(&columns.iter().collect::<Vec<_>>(), &mut keys);
    assert_eq!(keys.len(), rows.len());
    for (i, row) in rows.iter().enumerate() {
        assert_eq!(keys.key(i), key(spec, row), "{:?}: {row:?}", spec.parts());
        assert_eq!(keys.has_null(i), row.iter().any(Value::is_null));
    }
}

#[test]
fn keys_of_one_column_are_ordered_as_its_values() {
    let mut random = Random::new(1);
    for ty in TYPES {
        for _ in 0..8 {
            let part = random_part(ty, &mut random);
            let spec = KeySpec::new(vec![part]);
            let rows: Vec<_> = (0..60).map(|_| vec![random_value(&part, &mut random)]).collect();
            check(&spec, &rows);
            check_columns(&spec, &rows);
        }
    }
}

#[test]
fn keys_of_several_columns_are_ordered_by_the_first_that_differs() {
    let mut random = Random::new(2);
    for _ in 0..60 {
        let parts: Vec<KeyPart> = (0..2 + random.index(3))
            .map(|_| random_part(TYPES[random.index(TYPES.len())], &mut random))
            .collect();
        let spec = KeySpec::new(parts);
        let mut rows: Vec<Vec<Value>> = Vec::new();
        for _ in 0..40 {
            // Half of the values are those of a row before, so that later columns decide.
            let mut row: Vec<Value> = spec
                .parts()
                .iter()
                .map(|p| random_value(p, &mut random))
                .collect();
            for (c, value) in row.iter_mut().enumerate() {
                if !rows.is_empty() && random.below(2) == 0 {
                    *value = rows[random.index(rows.len())][c].clone();
                }
            }
            rows.push(row);
        }
        check(&spec, &rows);
        check_columns(&spec, &rows);
    }
}

#[test]
fn a_not_null_integer_spends_no_byte_on_null() {
    let part = |nullable| KeyPart {
        ty: LogicalType::BigInt,
        nullable,
        descending: false,
        nulls_first: false,
    };
    assert_eq!(KeySpec::new(vec![part(false)]).fixed_bytes(), Some(8));
    assert_eq!(KeySpec::new(vec![part(true)]).fixed_bytes(), Some(9));
    assert_eq!(
        KeySpec::new(vec![part(true), part(false)]).fixed_bytes(),
        Some(17)
    );
}

#[test]
fn blanks_behind_a_char_are_not_part_of_its_key() {
    let spec = KeySpec::new(vec![KeyPart {
        ty: LogicalType::Char(5),
        nullable: false,
        descending: false,
        nulls_first: false,
    }]);
    let text = |t: &str| key(&spec, &[Value::Text(t.to_string())]);
    assert_eq!(text("ab"), text("ab   "));
    assert_ne!(text("ab"), text(" ab"));
}

#[test]
fn the_keys_of_a_prefix_lie_between_it_and_what_comes_after_it() {
    let mut random = Random::new(3);
    for _ in 0..2000 {
        let parts: Vec<KeyPart> = (0..2)
            .map(|_| random_part(TYPES[random.index(TYPES.len())], &mut random))
            .collect();
        let spec = KeySpec::new(parts);
        let row: Vec<Value> = spec
            .parts()
            .iter()
            .map(|p| random_value(p, &mut random))
            .collect();
        let other: Vec<Value> = spec
            .parts()
            .iter()
            .map(|p| random_value(p, &mut random))
            .collect();
        let from = key(&spec, &row[..1]);
        let mut to = from.clone();
        let bounded = after_prefix(&mut to);
        let within = |k: &[u8]| k >= &from[..] && (!bounded || k < &to[..]);
        let whole = key(&spec, &row);
        assert!(within(&whole));
        assert_eq!(spec.bytes_of(1, &whole), from.len());
        assert_eq!(spec.bytes_of(2, &whole), whole.len());
        let same = expected(&spec.parts()[0], &row[0], &other[0]).is_eq();
        assert_eq!(within(&key(&spec, &other)), same, "{row:?} and {other:?}");
    }
    assert!(!after_prefix(&mut vec![0xff, 0xff]));
    assert!(!after_prefix(&mut Vec::new()));
}

#[test]
fn null_in_a_part_that_is_not_nullable_leaves_the_keys_of_other_rows_alone() {
    let spec = KeySpec::new(vec![KeyPart {
        ty: LogicalType::Text,
        nullable: false,
        descending: false,
        nulls_first: false,
    }]);
    let values = [Value::Text("a".into()), Value::Null, Value::Text("b".into())];
    let column = ColumnVector::from_values(LogicalType::Text, &values);
    let mut keys = EncodedKeys::default();
    spec.encode_columns(&[&column], &mut keys);
    for row in [0, 2] {
        assert_eq!(keys.key(row), key(&spec, &[values[row].clone()]));
    }
}
