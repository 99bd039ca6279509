//! Range and set tests of a whole window: values or codes → match bits (Data Blocks, section 4.2).
//!
//! On codes these are the restrictions of a block after translation; on native values those of a hot
//! chunk. Every test writes 64 rows as one word and can replace the bits, AND or OR them, so a
//! conjunction needs no second buffer.

mod scalar;

use crate::{CodeWord, Isa, Kernel, Plain, counters};
use frazil_types::{Native, NativeType};
use std::cmp::Ordering;

/// Which side of a range matches.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum RangeOp {
    /// `low <= v && v <= high`; nothing when `low > high`.
    Inside,
    /// The rest; everything when `low > high`.
    Outside,
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
}

macro_rules! comparable {
    ($($type:ty),*) => {
        $(
            impl Comparable for $type {
                #[inline(always)]
                fn order(self, other: Self) -> Ordering {
                    self.cmp(&other)
                }
            }
        )*
    };
}

comparable!(u8, u16, u32, u64, i16, i32, i64, i128);

impl Comparable for f64 {
    #[inline(always)]
    fn order(self, other: Self) -> Ordering {
        self.partial_cmp(&other)
            .unwrap_or_else(|| self.is_nan().cmp(&other.is_nan()))
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
    counters::count(Kernel::Between, isa.effective());
    scalar::between(values, op, low, high, combine, out);
}

/// Tests each code for membership in `set`, a bitmap by code; codes beyond the bitmap are not in it.
/// `out` as in [`between`].
pub fn in_set<C: CodeWord>(isa: Isa, codes: &[C], set: &[u64], combine: Combine, out: &mut [u64]) {
    assert_eq!(out.len(), codes.len().div_ceil(64), "words of match bits");
    counters::count(Kernel::InSet, isa.effective());
    scalar::in_set(codes, set, combine, out);
}

/// Whether range tests of a native type run here (booleans as bytes; strings do not).
pub fn has_range_tests(native: NativeType) -> bool {
    native != <frazil_types::StringRef as Native>::TYPE
}
