//! Restrictions on hot chunks: evaluated on native values, by the same range kernels that test codes
//! of a block. Types are resolved once a window, never per value.

use crate::hot_chunk::HotChunk;
use frazil_kernels::compare::{self, Combine, RangeOp};
use frazil_kernels::strided::{self, between};
use frazil_kernels::{Comparable, Isa, LikePattern, Plain, Strided};
use frazil_types::{
    CompareOp, Error, Native, NativeType, Restriction, RestrictionKind, Result, Schema, StringRef, Value,
};
use std::ops::Range;

/// A restriction whose operands have the native type of its column.
#[derive(Debug)]
pub struct HotPredicate {
    column: usize,
    native: NativeType,
    test: Test,
}

#[derive(Debug)]
enum Test {
    Never,
    IsNull,
    IsNotNull,
    Integers(RangeOp, i128, i128),
    IntegerIn(Vec<i128>),
    Doubles(RangeOp, f64, f64),
    DoubleIn(Vec<f64>),
    Compare(CompareOp, Vec<u8>),
    Between(Vec<u8>, Vec<u8>),
    In(Vec<Vec<u8>>),
    Prefix(String),
    Like(LikePattern, bool),
}

/// Buffers a cursor keeps from window to window.
#[derive(Debug, Default)]
pub struct MatchScratch {
    values: Vec<u128>,
    bits: Vec<u64>,
}

/// Strings of an IN list from which on each value is looked for in the sorted list. A step of that takes as long as five
/// tests for equality, which mostly end at the first four bytes.
const LONG_TEXT_LIST: usize = 48;

/// Integers of an IN list from which on that pays: several are compared in one instruction.
const LONG_INTEGER_LIST: usize = 512;

impl HotPredicate {
    /// Prepares a restriction on a table of `schema`.
    pub fn new(schema: &Schema, restriction: &Restriction) -> Result<HotPredicate> {
        let column = restriction.column;
        let native = (schema.columns.get(column))
            .ok_or_else(|| Error::internal(format!("a restriction on column {column}, which is not there")))?
            .ty
            .native();
        let test = match (native, &restriction.kind) {
            (NativeType::String, RestrictionKind::Like { pattern, negated }) => {
                let pattern = LikePattern::compile(pattern, Some('\\'))?;
                Some(Test::Like(pattern, *negated))
            }
            (NativeType::String, kind) => text_predicate(kind),
            (NativeType::F64, kind) => double_test(kind),
            (_, kind) => integer_test(native, kind),
        };
        let test = test.ok_or_else(|| {
            Error::internal(format!(
                "restriction {:?} does not fit its column",
                restriction.kind
            ))
        })?;
        Ok(HotPredicate { column, native, test })
    }

    /// Its cost relative to others: the cheap ones go first.
    pub fn cost(&self) -> u32 {
        match &self.test {
            Test::Never | Test::IsNull | Test::IsNotNull => 0,
            Test::Integers(..) => 1 + self.native.size() as u32,
            Test::Doubles(..) => 10,
            Test::IntegerIn(values) => 10 + values.len() as u32,
            Test::DoubleIn(values) => 10 + values.len() as u32,
            Test::Compare(..) | Test::Between(..) | Test::Prefix(_) => 100,
            Test::In(_) => 200,
            Test::Like(..) => 1000,
        }
    }

    /// Match bits of `rows`, combined with those in `bits`; bits beyond the rows become zero. Combining
    /// is [`Combine::Replace`] or [`Combine::And`].
    pub fn match_rows(
        &self,
        isa: Isa,
        hot: &HotChunk,
        rows: Range<usize>,
        combine: Combine,
        bits: &mut [u64],
        scratch: &mut MatchScratch,
    ) {
        if rows.len() > 1 && hot.constant(self.column).is_some() {
            return self.match_constant(isa, hot, rows.len(), combine, bits);
        }
        let MatchScratch { values, bits: any } = scratch;
        let valid = hot.validity_cells(self.column, rows.clone());
        match &self.test {
            Test::Never => return bits.fill(0),
            Test::IsNull => {
                return match valid {
                    Some(v) => between(isa, v, RangeOp::Inside, 0, 0, combine, bits),
                    None => bits.fill(0),
                };
            }
            Test::IsNotNull if combine == Combine::Replace => set_all(rows.len(), bits),
            Test::IsNotNull => {}
            Test::Doubles(op, low, high) => {
                let v = hot.cells::<f64>(self.column, rows.clone());
                between(isa, v, *op, *low, *high, combine, bits);
            }
            Test::DoubleIn(list) => {
                let v = side_by_side(hot.cells::<f64>(self.column, rows.clone()), values);
                match_any(isa, v, list.iter().copied(), combine, bits, any);
            }
            Test::Integers(..) | Test::IntegerIn(_) => {
                let test = IntegerMatch {
                    predicate: self,
                    isa,
                    hot,
                    rows: rows.clone(),
                    combine,
                };
                match self.native {
                    NativeType::Bool => test.run::<u8>(bits, values, any),
                    NativeType::I16 => test.run::<i16>(bits, values, any),
                    NativeType::I32 => test.run::<i32>(bits, values, any),
                    NativeType::I64 => test.run::<i64>(bits, values, any),
                    _ => test.run::<i128>(bits, values, any),
                }
            }
            _ => {
                let v = side_by_side(hot.cells::<StringRef>(self.column, rows.clone()), values);
                self.match_strings(v, combine, bits);
            }
        }
        if let Some(v) = valid {
            between(isa, v, RangeOp::Inside, 1, 1, Combine::And, bits);
        }
    }

    /// The same of `rows` rows that have one value.
    fn match_constant(&self, isa: Isa, hot: &HotChunk, rows: usize, combine: Combine, bits: &mut [u64]) {
        let mut first = [0];
        let mut scratch = MatchScratch::default();
        self.match_rows(isa, hot, 0..1, Combine::Replace, &mut first, &mut scratch);
        match first[0] {
            0 => bits.fill(0),
            _ if combine == Combine::Replace => set_all(rows, bits),
            _ => {}
        }
    }

    fn match_strings(&self, values: &[StringRef], combine: Combine, bits: &mut [u64]) {
        match &self.test {
            Test::Compare(op @ (CompareOp::Eq | CompareOp::Ne), text) => {
                let (operand, wanted) = (Alive::operand(text), *op == CompareOp::Eq);
                match_each(values, combine, bits, |s| s.equal(operand) == wanted);
            }
            Test::Compare(op, text) => {
                let operand = Alive::operand(text);
                match_each(values, combine, bits, |s| op.holds(s.compare(operand)));
            }
            Test::Between(low, high) => {
                let (low, high) = (Alive::operand(low), Alive::operand(high));
                let inside = |s: Alive| s.compare(low).is_ge() && s.compare(high).is_le();
                match_each(values, combine, bits, inside);
            }
            Test::In(list) => {
                let list: Vec<Alive> = list.iter().map(|t| Alive::operand(t)).collect();
                match list.len() > LONG_TEXT_LIST {
                    true => match_each(values, combine, bits, |s| {
                        list.binary_search_by(|t| t.compare(s)).is_ok()
                    }),
                    false => match_each(values, combine, bits, |s| list.iter().any(|t| s.equal(*t))),
                }
            }
            Test::Prefix(prefix) => {
                match_each(values, combine, bits, |s| {
                    s.bytes().starts_with(prefix.as_bytes())
                });
            }
            Test::Like(pattern, negated) => {
                match_each(values, combine, bits, |s| pattern.matches(s.bytes()) != *negated);
            }
            _ => bits.fill(0),
        }
    }
}

/// A string whose bytes are alive as long as the window is matched: strings of a hot chunk live as
/// long as the chunk, operands as long as the predicate, and both are borrowed meanwhile.
#[derive(Clone, Copy)]
struct Alive<'a>(StringRef, std::marker::PhantomData<&'a [u8]>);

impl<'a> Alive<'a> {
    fn operand(bytes: &'a [u8]) -> Alive<'a> {
        // SAFETY: the bytes are borrowed for `'a`.
        Alive(unsafe { StringRef::new(bytes) }, std::marker::PhantomData)
    }

    /// Called with strings of a chunk that is borrowed for `'a`.
    fn of_chunk(string: &'a StringRef) -> Alive<'a> {
        Alive(*string, std::marker::PhantomData)
    }

    #[inline(always)]
    fn equal(self, other: Alive) -> bool {
        // SAFETY: both are alive: see the type.
        unsafe { self.0.equal(other.0) }
    }

    #[inline(always)]
    fn compare(self, other: Alive) -> std::cmp::Ordering {
        // SAFETY: both are alive: see the type.
        unsafe { self.0.compare(other.0) }
    }

    #[inline(always)]
    fn bytes(&self) -> &[u8] {
        // SAFETY: alive: see the type; inline bytes are those of `self`.
        unsafe { self.0.bytes() }
    }
}

struct IntegerMatch<'a> {
    predicate: &'a HotPredicate,
    isa: Isa,
    hot: &'a HotChunk,
    rows: Range<usize>,
    combine: Combine,
}

impl IntegerMatch<'_> {
    fn run<T: Native + Comparable + Ord + TryFrom<i128>>(
        self,
        bits: &mut [u64],
        values: &mut Vec<u128>,
        any: &mut Vec<u64>,
    ) {
        let cells = self.hot.cells::<T>(self.predicate.column, self.rows);
        // Operands were clamped to the type when the predicate was prepared.
        let narrow = |x: i128| T::try_from(x).unwrap_or_default();
        match &self.predicate.test {
            Test::Integers(op, low, high) => {
                between(
                    self.isa,
                    cells,
                    *op,
                    narrow(*low),
                    narrow(*high),
                    self.combine,
                    bits,
                );
            }
            Test::IntegerIn(list) if list.len() > LONG_INTEGER_LIST => {
                let list: Vec<T> = list.iter().map(|&x| narrow(x)).collect();
                let is_in = |value: &T| list.binary_search(value).is_ok();
                match_values(side_by_side(cells, values), self.combine, bits, is_in);
            }
            Test::IntegerIn(list) => {
                match_any(
                    self.isa,
                    side_by_side(cells, values),
                    list.iter().map(|&x| narrow(x)),
                    self.combine,
                    bits,
                    any,
                );
            }
            _ => bits.fill(0),
        }
    }
}

/// Matches any of `list`, which is not empty.
fn match_any<T: Comparable>(
    isa: Isa,
    values: &[T],
    list: impl Iterator<Item = T>,
    combine: Combine,
    bits: &mut [u64],
    any: &mut Vec<u64>,
) {
    any.clear();
    any.resize(bits.len(), 0);
    for x in list {
        compare::between(isa, values, RangeOp::Inside, x, x, Combine::Or, any);
    }
    for (word, fresh) in bits.iter_mut().zip(&*any) {
        *word = combine.apply(*word, *fresh);
    }
}

/// Evaluates a test on each string whose bit can still matter.
fn match_each(values: &[StringRef], combine: Combine, bits: &mut [u64], mut test: impl FnMut(Alive) -> bool) {
    match_values(values, combine, bits, |value| test(Alive::of_chunk(value)));
}

/// Evaluates a test on each value whose bit can still matter.
fn match_values<T>(values: &[T], combine: Combine, bits: &mut [u64], mut test: impl FnMut(&T) -> bool) {
    for (word, values) in bits.iter_mut().zip(values.chunks(64)) {
        let mut fresh = 0u64;
        for (i, value) in values.iter().enumerate() {
            let wanted = combine == Combine::Replace || *word >> i & 1 == 1;
            fresh |= u64::from(wanted && test(value)) << i;
        }
        *word = fresh;
    }
}

pub(crate) fn set_all(rows: usize, bits: &mut [u64]) {
    bits.fill(!0);
    if !rows.is_multiple_of(64)
        && let Some(last) = bits.last_mut()
    {
        *last = (1 << (rows % 64)) - 1;
    }
}

/// The cells side by side, for tests that look at them several times or one by one.
fn side_by_side<'a, T: Plain>(cells: Strided<'a, T>, scratch: &'a mut Vec<u128>) -> &'a [T] {
    if let Some(values) = cells.side_by_side() {
        return values;
    }
    scratch.resize((cells.rows() * size_of::<T>()).div_ceil(16), 0);
    // SAFETY: the scratch holds that many bytes, aligned to 16; a plain type takes any bytes.
    let out = unsafe { std::slice::from_raw_parts_mut(scratch.as_mut_ptr().cast::<T>(), cells.rows()) };
    strided::copy(cells, out);
    out
}

/// Least and greatest value of an integer-like native type.
pub fn integer_limits(native: NativeType) -> (i128, i128) {
    match native {
        NativeType::Bool => (0, 1),
        NativeType::I16 => (i16::MIN.into(), i16::MAX.into()),
        NativeType::I32 => (i32::MIN.into(), i32::MAX.into()),
        NativeType::I64 => (i64::MIN.into(), i64::MAX.into()),
        _ => (i128::MIN, i128::MAX),
    }
}

/// `None`: the operands are not integers.
fn integer_test(native: NativeType, kind: &RestrictionKind) -> Option<Test> {
    let (least, most) = integer_limits(native);
    let range = |op: RangeOp, low: i128, high: i128| {
        if low > high || low > most || high < least {
            return match op {
                RangeOp::Inside => Test::Never,
                RangeOp::Outside => Test::IsNotNull,
            };
        }
        Test::Integers(op, low.max(least), high.min(most))
    };
    Some(match kind {
        RestrictionKind::IsNull => Test::IsNull,
        RestrictionKind::IsNotNull => Test::IsNotNull,
        RestrictionKind::Compare(_, Value::Null) => Test::Never,
        RestrictionKind::Compare(op, value) => {
            let x = value.as_int()?;
            match op {
                CompareOp::Eq => range(RangeOp::Inside, x, x),
                CompareOp::Ne => range(RangeOp::Outside, x, x),
                CompareOp::Lt if x == i128::MIN => Test::Never,
                CompareOp::Lt => range(RangeOp::Inside, least, x - 1),
                CompareOp::Le => range(RangeOp::Inside, least, x),
                CompareOp::Gt if x == i128::MAX => Test::Never,
                CompareOp::Gt => range(RangeOp::Inside, x + 1, most),
                CompareOp::Ge => range(RangeOp::Inside, x, most),
            }
        }
        RestrictionKind::Between(Value::Null, _) | RestrictionKind::Between(_, Value::Null) => Test::Never,
        RestrictionKind::Between(low, high) => range(RangeOp::Inside, low.as_int()?, high.as_int()?),
        RestrictionKind::In(list) => {
            let mut values = Vec::new();
            for value in list.iter().filter(|v| !v.is_null()) {
                values.extend(Some(value.as_int()?).filter(|x| (least..=most).contains(x)));
            }
            values.sort_unstable();
            values.dedup();
            if values.is_empty() {
                Test::Never
            } else {
                Test::IntegerIn(values)
            }
        }
        RestrictionKind::Prefix(_) | RestrictionKind::Like { .. } => return None,
    })
}

fn double_test(kind: &RestrictionKind) -> Option<Test> {
    let double = |value: &Value| match value {
        Value::Double(d) => Some(*d),
        _ => None,
    };
    let range = |low, high| Test::Doubles(RangeOp::Inside, low, high);
    const LEAST: f64 = f64::NEG_INFINITY;
    Some(match kind {
        RestrictionKind::IsNull => Test::IsNull,
        RestrictionKind::IsNotNull => Test::IsNotNull,
        RestrictionKind::Compare(_, Value::Null) => Test::Never,
        RestrictionKind::Compare(op, value) => {
            let x = double(value)?;
            match op {
                CompareOp::Eq => range(x, x),
                CompareOp::Ne => Test::Doubles(RangeOp::Outside, x, x),
                CompareOp::Lt if x == LEAST => Test::Never,
                // NaN is the greatest value, infinity the one below it.
                CompareOp::Lt if x.is_nan() => range(LEAST, f64::INFINITY),
                CompareOp::Lt => range(LEAST, x.next_down()),
                CompareOp::Le => range(LEAST, x),
                CompareOp::Gt if x.is_nan() => Test::Never,
                CompareOp::Gt if x == f64::INFINITY => range(f64::NAN, f64::NAN),
                CompareOp::Gt => range(x.next_up(), f64::NAN),
                CompareOp::Ge => range(x, f64::NAN),
            }
        }
        RestrictionKind::Between(Value::Null, _) | RestrictionKind::Between(_, Value::Null) => Test::Never,
        RestrictionKind::Between(low, high) => range(double(low)?, double(high)?),
        RestrictionKind::In(list) => {
            let values: Option<Vec<f64>> = list.iter().filter(|v| !v.is_null()).map(double).collect();
            match values? {
                values if values.is_empty() => Test::Never,
                values => Test::DoubleIn(values),
            }
        }
        RestrictionKind::Prefix(_) | RestrictionKind::Like { .. } => return None,
    })
}

fn text_predicate(kind: &RestrictionKind) -> Option<Test> {
    let text = |value: &Value| value.as_bytes().map(<[u8]>::to_vec);
    Some(match kind {
        RestrictionKind::IsNull => Test::IsNull,
        RestrictionKind::IsNotNull => Test::IsNotNull,
        RestrictionKind::Compare(_, Value::Null) => Test::Never,
        RestrictionKind::Compare(op, value) => Test::Compare(*op, text(value)?),
        RestrictionKind::Between(Value::Null, _) | RestrictionKind::Between(_, Value::Null) => Test::Never,
        RestrictionKind::Between(low, high) => Test::Between(text(low)?, text(high)?),
        RestrictionKind::In(list) => {
            let values: Option<Vec<Vec<u8>>> = list.iter().filter(|v| !v.is_null()).map(text).collect();
            let mut values = values?;
            values.sort_unstable();
            values.dedup();
            match values.is_empty() {
                true => Test::Never,
                false => Test::In(values),
            }
        }
        RestrictionKind::Prefix(prefix) => Test::Prefix(prefix.clone()),
        RestrictionKind::Like { .. } => return None,
    })
}
