//! Columns that make the builder choose each encoding, and the naive evaluation of restrictions.

use frazil_block::{Block, BlockBuilder, BuildOptions, ColumnInput, ColumnOptions, Encoding, Layout};
use frazil_types::{ColumnVector, LogicalType, RestrictionKind, SqlState, Value};
use std::cmp::Ordering;

pub use frazil_testkit::Random;

/// A column by name.
pub struct Column {
    /// What it stands for.
    pub name: String,
    /// Its type.
    pub ty: LogicalType,
    /// Its rows.
    pub values: Vec<Value>,
}

const DECIMAL: LogicalType = LogicalType::Decimal {
    precision: 15,
    scale: 2,
};
const WIDE: LogicalType = LogicalType::Decimal {
    precision: 38,
    scale: 0,
};

fn words(random: &mut Random) -> String {
    const WORDS: [&str; 12] = [
        "regular",
        "deposits",
        "sleep",
        "furiously",
        "special",
        "requests",
        "ünïcödé",
        "packages",
        "even",
        "a",
        "",
        "%_",
    ];
    let n = random.below(7);
    (0..n)
        .map(|_| WORDS[random.below(12) as usize])
        .collect::<Vec<_>>()
        .join(" ")
}

/// Every kind of column, with and without NULLs.
pub fn columns(rows: usize, seed: u64) -> Vec<Column> {
    let mut random = Random::new(seed);
    let mut out = Vec::new();
    let mut add = |name: &str, ty, value: &mut dyn FnMut(&mut Random, usize) -> Value| {
        for nulls in [0, 10, 95] {
            let values = (0..rows)
                .map(|row| {
                    let v = value(&mut random, row);
                    if random.below(100) < nulls { Value::Null } else { v }
                })
                .collect();
            out.push(Column {
                name: format!("{name}, {nulls} % NULL"),
                ty,
                values,
            });
        }
    };
    use LogicalType::*;
    let int = |v: i64| Value::Int(v.into());
    add("boolean", Boolean, &mut |r, _| Value::Bool(r.below(2) == 1));
    add("all true", Boolean, &mut |_, _| Value::Bool(true));
    add("constant", Integer, &mut |_, _| int(-7));
    add("smallint narrow", SmallInt, &mut |r, _| {
        int(r.below(100) as i64 - 50)
    });
    add("smallint full", SmallInt, &mut |r, _| int(r.bits() as i16 as i64));
    add("integer 1 byte", Integer, &mut |r, _| {
        int(1_000_000 + r.below(256) as i64)
    });
    add("integer 2 bytes", Integer, &mut |r, _| {
        int(r.below(65_000) as i64 - 32_000)
    });
    add("integer full", Integer, &mut |r, _| int(r.bits() as i32 as i64));
    add("integer dictionary", Integer, &mut |r, _| {
        int(r.below(20) as i64 * 100_000_000 - 1_000_000_000)
    });
    add("date ascending", Date, &mut |_, row| int(8000 + row as i64 / 3));
    add("char(1)", Char(1), &mut |r, _| {
        int([65, 78, 82, 0x1f600][r.below(4) as usize])
    });
    add("bigint 4 bytes", BigInt, &mut |r, _| {
        int(-(r.below(1 << 31) as i64))
    });
    add("bigint full", BigInt, &mut |r, _| int(r.bits() as i64));
    add("bigint dictionary", BigInt, &mut |r, _| {
        int((r.below(300) as i64 - 150) * (1 << 50))
    });
    add("bigint extremes", BigInt, &mut |r, _| {
        int([i64::MIN, 0, i64::MAX][r.below(3) as usize])
    });
    add("decimal", DECIMAL, &mut |r, _| {
        int(90_000 + r.below(10_000_000) as i64)
    });
    add("wide narrow", WIDE, &mut |r, _| {
        Value::Int(i128::MAX - 5 + r.below(5) as i128)
    });
    add("wide full", WIDE, &mut |r, _| {
        Value::Int((r.bits() as i128) << 60 ^ r.bits() as i128)
    });
    add("double", Double, &mut |r, _| {
        Value::Double(r.bits() as i64 as f64 / 1e10)
    });
    add("double dictionary", Double, &mut |r, _| {
        Value::Double([-0.0, 0.0, 1.5, f64::NAN, f64::NEG_INFINITY, -3.25][r.below(6) as usize])
    });
    add("double special", Double, &mut |r, row| {
        let special = [-0.0, 0.0, f64::NAN, f64::INFINITY, f64::NEG_INFINITY];
        Value::Double(
            special
                .get(r.below(10) as usize)
                .copied()
                .unwrap_or(row as f64 - 99.5),
        )
    });
    add("text constant", Text, &mut |_, _| {
        Value::Text("the one and only text".into())
    });
    add("text dictionary", Varchar(25), &mut |r, _| {
        let modes = [
            "AIR",
            "MAIL",
            "SHIP",
            "TRUCK",
            "",
            "DELIVER IN PERSON",
            "COLLECT COD",
            "aü%_",
        ];
        Value::Text(modes[r.below(8) as usize].into())
    });
    add("text noise", Text, &mut |r, _| {
        let noise = |_| char::from(33 + r.below(94) as u8);
        Value::Text((0..20).map(noise).collect())
    });
    add("text comments", Text, &mut |r, row| {
        Value::Text(format!("{} {row}", words(r)))
    });
    // What version 1 was made with ends here.
    add("integer with outliers", Integer, &mut |r, _| match r.below(50) {
        0 => int(-2_000_000_000),
        1 => int(r.below(1 << 31) as i64),
        _ => int(700 + r.below(100) as i64),
    });
    add("bigint drifting", BigInt, &mut |r, row| {
        int((1 << 40) + row as i64 * 1000 + r.below(30) as i64)
    });
    add("double prices", Double, &mut |r, _| {
        Value::Double((r.below(200_000) as i64 - 50_000) as f64 / 100.0)
    });
    out
}

/// Builds a block of one column.
pub fn block_of(column: &Column) -> Block {
    build(&[column], vec![]).expect("the column is well-formed")
}

/// Builds a block of one column held so, if it can be. Panics if that fails for another reason.
pub fn pinned(column: &Column, encoding: Encoding, layout: Option<Layout>) -> Option<Block> {
    let encoding = Some(encoding);
    let options = ColumnOptions {
        encoding,
        layout,
        purpose: None,
    };
    match build(&[column], vec![options]) {
        Ok(block) => Some(block),
        Err(e) if e.state() == SqlState::INVALID_PARAMETER => None,
        Err(e) => panic!("{} as {encoding:?} with {layout:?} codes: {e}", column.name),
    }
}

/// Builds a block of columns, with what is asked of each.
pub fn build(columns: &[&Column], asked: Vec<ColumnOptions>) -> frazil_types::Result<Block> {
    let vectors: Vec<ColumnVector> = columns
        .iter()
        .map(|c| ColumnVector::from_values(c.ty, &c.values))
        .collect();
    let inputs: Vec<ColumnInput> = vectors
        .iter()
        .zip(columns)
        .map(|(v, c)| ColumnInput::of_vector(v, 0..v.len()).named(&c.name))
        .collect();
    let options = BuildOptions {
        columns: asked,
        ..BuildOptions::default()
    };
    BlockBuilder::new(options).build(&inputs)
}

/// Order of two values that are not NULL, as PostgreSQL orders them.
pub fn compare(a: &Value, b: &Value) -> Ordering {
    match (a, b) {
        (Value::Text(a), Value::Text(b)) => a.as_bytes().cmp(b.as_bytes()),
        (Value::Double(a), Value::Double(b)) => {
            a.partial_cmp(b).unwrap_or_else(|| a.is_nan().cmp(&b.is_nan()))
        }
        _ => a.as_int().cmp(&b.as_int()),
    }
}

/// Whether two values are the same to the bit, all NaNs being one.
pub fn same(a: &Value, b: &Value) -> bool {
    match (a, b) {
        (Value::Double(a), Value::Double(b)) => a.to_bits() == b.to_bits() || a.is_nan() && b.is_nan(),
        _ => a == b,
    }
}

fn like(text: &[char], pattern: &[char]) -> bool {
    match pattern {
        [] => text.is_empty(),
        ['%', rest @ ..] => (0..=text.len()).any(|i| like(&text[i..], rest)),
        ['\\', c, rest @ ..] => text.first() == Some(c) && like(&text[1..], rest),
        ['_', rest @ ..] => !text.is_empty() && like(&text[1..], rest),
        [c, rest @ ..] => text.first() == Some(c) && like(&text[1..], rest),
    }
}

/// The oracle: whether a row's value satisfies a restriction.
pub fn satisfies(value: &Value, kind: &RestrictionKind) -> bool {
    if let RestrictionKind::IsNull = kind {
        return value.is_null();
    }
    if value.is_null() {
        return false;
    }
    match kind {
        RestrictionKind::IsNull | RestrictionKind::IsNotNull => true,
        RestrictionKind::Compare(op, v) => !v.is_null() && op.holds(compare(value, v)),
        RestrictionKind::Between(a, b) => {
            !a.is_null() && !b.is_null() && compare(value, a).is_ge() && compare(value, b).is_le()
        }
        RestrictionKind::In(list) => list.iter().any(|v| !v.is_null() && compare(value, v).is_eq()),
        RestrictionKind::Prefix(p) => text_of(value).starts_with(p),
        RestrictionKind::Like { pattern, negated } => {
            let text: Vec<char> = text_of(value).chars().collect();
            let pattern: Vec<char> = pattern.chars().collect();
            like(&text, &pattern) != *negated
        }
    }
}

/// A text, or the text of a char(1), which is held as its code point.
fn text_of(value: &Value) -> String {
    match value {
        Value::Int(v) => u32::try_from(*v)
            .ok()
            .and_then(char::from_u32)
            .map_or(String::new(), String::from),
        other => other.as_text().unwrap_or_default().into(),
    }
}
