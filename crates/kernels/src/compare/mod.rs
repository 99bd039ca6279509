//! Range and set tests of a whole window: values or codes → match bits (Data Blocks, section 4.2).
//!
//! On codes these are the restrictions of a block after translation; on native values those of a hot
//! chunk. Every test writes 64 rows as one word and can replace the bits, AND or OR them, so a
//! conjunction needs no second buffer.

#[cfg(target_arch = "x86_64")]
pub(crate) mod avx2;
#[cfg(target_arch = "x86_64")]
pub(crate) mod avx512;
pub(crate) mod scalar;
pub(crate) mod words;

use crate::isa::dispatch;
use crate::plain::{Codes, view};
use crate::{CodeWord, Isa, Kernel, Plain, counters};
use std::cmp::Ordering;

/// Which side of a range matches.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum RangeOp {
    /// `low <= v && v <= high`; nothing when `low > high`.
    Inside,
    /// The rest; everything when `low > high`.
    Outside,
}

impl RangeOp {
    /// What matches of the inside are inverted with.
    #[inline(always)]
    pub(crate) fn flip(self) -> u64 {
        match self {
            RangeOp::Inside => 0,
            RangeOp::Outside => !0,
        }
    }
}

/// What becomes of the bits that are already there.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Combine {
    /// They are overwritten.
    Replace,
    /// A row stays only if it matched before and matches now.
    And,
    /// A row that matched before or matches now.
    Or,
}

impl Combine {
    /// The new word from the old one and the fresh matches.
    #[inline(always)]
    pub fn apply(self, old: u64, fresh: u64) -> u64 {
        match self {
            Combine::Replace => fresh,
            Combine::And => old & fresh,
            Combine::Or => old | fresh,
        }
    }
}

/// A type with range tests: code words, and native integers and doubles.
pub trait Comparable: Plain {
    /// Its order; doubles as PostgreSQL orders them: −0 equals 0, NaN equals NaN and is greatest.
    fn order(self, other: Self) -> Ordering;

    /// A range test in the form the vector units take.
    fn range<'a>(values: &'a [Self], low: Self, high: Self) -> RangeTest<'a>;
}

/// A range test by machine word. Integers, signed or not, become one unsigned comparison:
/// `low <= v <= high` is `v - low <= high - low` modulo the word.
#[derive(Clone, Copy, Debug)]
pub enum RangeTest<'a> {
    /// Bytes `v` with `v - low <= span`.
    W8(&'a [u8], u8, u8),
    /// Two-byte words.
    W16(&'a [u16], u16, u16),
    /// Four-byte words.
    W32(&'a [u32], u32, u32),
    /// Eight-byte words.
    W64(&'a [u64], u64, u64),
    /// Doubles.
    Double(&'a [f64], DoubleRange),
    /// Nothing matches.
    Nothing,
    /// A type without vector units.
    Wide,
}

/// `low <= v && v <= high` as the machine compares (false for NaN), or, if `nan`, any NaN.
#[derive(Clone, Copy, Debug)]
pub struct DoubleRange {
    /// Lower bound.
    pub low: f64,
    /// Upper bound.
    pub high: f64,
    /// Whether NaN matches.
    pub nan: bool,
}

macro_rules! comparable {
    ($($type:ty as $word:ty => $width:ident),*) => {
        $(
            impl Comparable for $type {
                #[inline(always)]
                fn order(self, other: Self) -> Ordering {
                    self.cmp(&other)
                }

                fn range<'a>(values: &'a [Self], low: Self, high: Self) -> RangeTest<'a> {
                    if low > high {
                        return RangeTest::Nothing;
                    }
                    RangeTest::$width(view(values), low as $word, (high as $word).wrapping_sub(low as $word))
                }
            }
        )*
    };
}

comparable!(u8 as u8 => W8, u16 as u16 => W16, u32 as u32 => W32, u64 as u64 => W64);
comparable!(i16 as u16 => W16, i32 as u32 => W32, i64 as u64 => W64);

impl Comparable for i128 {
    #[inline(always)]
    fn order(self, other: Self) -> Ordering {
        self.cmp(&other)
    }

    fn range<'a>(_: &'a [Self], _: Self, _: Self) -> RangeTest<'a> {
        RangeTest::Wide
    }
}

impl Comparable for f64 {
    #[inline(always)]
    fn order(self, other: Self) -> Ordering {
        self.partial_cmp(&other)
            .unwrap_or_else(|| self.is_nan().cmp(&other.is_nan()))
    }

    fn range<'a>(values: &'a [Self], low: Self, high: Self) -> RangeTest<'a> {
        // NaN is the greatest value: as upper bound it admits everything from `low` on, as lower
        // bound nothing but itself.
        let range = match (low.is_nan(), high.is_nan()) {
            (false, false) => DoubleRange {
                low,
                high,
                nan: false,
            },
            (false, true) => DoubleRange {
                low,
                high: f64::INFINITY,
                nan: true,
            },
            (true, true) => DoubleRange {
                low: f64::INFINITY,
                high: f64::NEG_INFINITY,
                nan: true,
            },
            (true, false) => return RangeTest::Nothing,
        };
        RangeTest::Double(values, range)
    }
}

/// Tests each value against `low..=high`; bit `i` of `out` speaks of `values[i]`. `out` has exactly
/// `values.len().div_ceil(64)` words; bits beyond the values become zero.
pub fn between<T: Comparable>(
    isa: Isa,
    values: &[T],
    op: RangeOp,
    low: T,
    high: T,
    combine: Combine,
    out: &mut [u64],
) {
    assert_eq!(out.len(), values.len().div_ceil(64), "words of match bits");
    let isa = counters::enter(Kernel::Between, isa);
    if isa == Isa::Scalar {
        return scalar::between(values, op, low, high, combine, out);
    }
    macro_rules! inside {
        ($words:expr, $low:expr, $span:expr) => {
            dispatch!(
                isa,
                inside($words, $low, $span, op, combine, out),
                otherwise scalar::between(values, op, low, high, combine, out),
            )
        };
    }
    match T::range(values, low, high) {
        RangeTest::W8(words, low, span) => inside!(words, low, span),
        RangeTest::W16(words, low, span) => inside!(words, low, span),
        RangeTest::W32(words, low, span) => inside!(words, low, span),
        RangeTest::W64(words, low, span) => inside!(words, low, span),
        RangeTest::Double(doubles, range) => dispatch!(
            isa,
            inside_double(doubles, range, op, combine, out),
            otherwise scalar::between(values, op, low, high, combine, out),
        ),
        RangeTest::Nothing | RangeTest::Wide => scalar::between(values, op, low, high, combine, out),
    }
}

/// Tests each code for membership in `set`, a bitmap by code; codes beyond the bitmap are not in it.
/// `out` as in [`between`].
pub fn in_set<C: CodeWord>(isa: Isa, codes: &[C], set: &[u64], combine: Combine, out: &mut [u64]) {
    assert_eq!(out.len(), codes.len().div_ceil(64), "words of match bits");
    let isa = counters::enter(Kernel::InSet, isa);
    match C::codes(codes) {
        Codes::W8(words) => dispatch!(
            isa,
            in_set_of_bytes(words, set, combine, out),
            otherwise scalar::in_set(codes, set, combine, out),
        ),
        Codes::W16(words) => dispatch!(
            isa,
            in_set(words, set, combine, out),
            otherwise scalar::in_set(codes, set, combine, out),
        ),
        Codes::W32(words) => dispatch!(
            isa,
            in_set(words, set, combine, out),
            otherwise scalar::in_set(codes, set, combine, out),
        ),
        Codes::W64(_) => scalar::in_set(codes, set, combine, out),
    }
}
