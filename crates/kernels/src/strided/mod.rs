//! Cells that lie k rows at a time side by side, and from one partition to the next a stride apart: the columns of
//! hot chunks in memPAX(k) (Runtime Fragility, section 2), without a call for each run.
//!
//! Long runs of whole groups of 64 rows are left to the kernels for values side by side; the next run is asked for
//! before the end of each. Everything else goes 64 rows at a time: where they lie in one run they are read where they
//! are; else they are put side by side on the stack first, partitions of a few rows by loops of known length. Gather
//! instructions were not tried: they too load cell by cell.

#[cfg(target_arch = "x86_64")]
mod avx2;
#[cfg(target_arch = "x86_64")]
mod avx512;
mod cells;
mod scalar;

pub use cells::Strided;

use crate::compare::{self, Combine, Comparable, RangeOp, RangeTest};
use crate::isa::dispatch;
use crate::{Isa, Kernel, Plain, counters};

/// Tests each cell against `low..=high`, as [`compare::between`] does for values side by side.
pub fn between<T: Comparable>(
    isa: Isa,
    cells: Strided<'_, T>,
    op: RangeOp,
    low: T,
    high: T,
    combine: Combine,
    out: &mut [u64],
) {
    assert_eq!(out.len(), cells.rows().div_ceil(64), "words of match bits");
    if cells.in_long_runs() {
        let mut words = out;
        return cells.each_run(|values| {
            let (here, rest) = std::mem::take(&mut words).split_at_mut(values.len().div_ceil(64));
            compare::between(isa, values, op, low, high, combine, here);
            words = rest;
        });
    }
    let isa = counters::enter(Kernel::Between, isa);
    if isa == Isa::Scalar {
        return scalar::between(cells, op, low, high, combine, out);
    }
    macro_rules! inside {
        ($low:expr, $span:expr) => {
            dispatch!(
                isa,
                inside(cells.view(), $low, $span, op, combine, out),
                otherwise scalar::between(cells, op, low, high, combine, out),
            )
        };
    }
    match T::range(&[], low, high) {
        RangeTest::W8(_, low, span) => inside!(low, span),
        RangeTest::W16(_, low, span) => inside!(low, span),
        RangeTest::W32(_, low, span) => inside!(low, span),
        RangeTest::W64(_, low, span) => inside!(low, span),
        RangeTest::Double(..) => {
            let mut words = out.iter_mut();
            cells.each_group(|group, rows| {
                if let Some(word) = words.next() {
                    let word = std::slice::from_mut(word);
                    compare::between(isa, &group[..rows], op, low, high, combine, word);
                }
            });
        }
        RangeTest::Nothing | RangeTest::Wide => scalar::between(cells, op, low, high, combine, out),
    }
}

/// Puts the cells side by side in `out`, which has room for just them.
pub fn copy<T: Plain>(cells: Strided<'_, T>, out: &mut [T]) {
    assert_eq!(out.len(), cells.rows(), "room for the cells");
    let mut groups = out.chunks_mut(64);
    cells.each_group(|group, rows| {
        if let Some(out) = groups.next() {
            match <&mut [T; 64]>::try_from(&mut *out) {
                Ok(out) => *out = *group,
                Err(_) => out.copy_from_slice(&group[..rows]),
            }
        }
    });
}

/// A number that rows of four columns are folded into.
pub trait Number: Plain + Ord {
    /// The greatest one.
    const GREATEST: Self;
    /// The sum, modulo the type.
    fn plus(self, other: Self) -> Self;
    /// The product, modulo the type.
    fn times(self, other: Self) -> Self;
    /// The same number in 64 bits.
    fn widened(self) -> i64;
}

macro_rules! numbers {
    ($($type:ty),*) => {
        $(
            impl Number for $type {
                const GREATEST: $type = <$type>::MAX;
                #[inline(always)]
                fn plus(self, other: $type) -> $type {
                    self.wrapping_add(other)
                }
                #[inline(always)]
                fn times(self, other: $type) -> $type {
                    self.wrapping_mul(other)
                }
                #[inline(always)]
                fn widened(self) -> i64 {
                    self as i64
                }
            }
        )*
    };
}

numbers!(u8, i16, i32, i64);

/// `min(a + b + c + d)` over all rows (Runtime Fragility, figure 2, Q1), sums modulo the type; its greatest number if
/// there is no row. Panics unless the columns have the same rows and partitions.
pub fn least_sum<T: Number>(isa: Isa, columns: [Strided<'_, T>; 4]) -> T {
    cells::assert_alike(&columns);
    let isa = counters::enter(Kernel::Copy, isa);
    dispatch!(isa, least_sum(columns), otherwise scalar::least_sum(columns))
}

/// `sum(a * b * c * d)` over all rows (figure 2, Q2), products modulo the type, their sum modulo 2^64. Panics as
/// [`least_sum`] does.
pub fn sum_of_products<T: Number>(isa: Isa, columns: [Strided<'_, T>; 4]) -> i64 {
    cells::assert_alike(&columns);
    let isa = counters::enter(Kernel::Copy, isa);
    dispatch!(isa, sum_of_products(columns), otherwise scalar::sum_of_products(columns))
}
