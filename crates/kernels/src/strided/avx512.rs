//! Kernels on partitions, 64 rows at a time in 512-bit vectors.

use super::Number;
use super::cells::Strided;
use super::scalar::{fold_least, fold_products};
use crate::compare::avx512::Lanes;
use crate::compare::words::INSIDE;
use crate::compare::{Combine, RangeOp};

/// See [`super::between`] and [`crate::compare::RangeTest`].
#[target_feature(enable = "avx512vbmi,avx512vbmi2,avx512dq,avx512vl,bmi1,bmi2,lzcnt,popcnt")]
pub fn inside<W: Lanes>(
    cells: Strided<'_, W>,
    low: W,
    span: W,
    op: RangeOp,
    combine: Combine,
    out: &mut [u64],
) {
    let mut words = out.iter_mut();
    cells.each_group(|group, rows| {
        if let Some(word) = words.next() {
            // SAFETY: this function has the features.
            let fresh = unsafe { W::inside::<INSIDE>(group, low, span) } ^ op.flip();
            *word = combine.apply(*word, fresh) & (!0 >> (64 - rows));
        }
    });
}

/// See [`super::least_sum`].
#[target_feature(enable = "avx512vbmi,avx512vbmi2,avx512dq,avx512vl,bmi1,bmi2,lzcnt,popcnt")]
pub fn least_sum<T: Number>(columns: [Strided<'_, T>; 4]) -> T {
    fold_least(columns)
}

/// See [`super::sum_of_products`].
#[target_feature(enable = "avx512vbmi,avx512vbmi2,avx512dq,avx512vl,bmi1,bmi2,lzcnt,popcnt")]
pub fn sum_of_products<T: Number>(columns: [Strided<'_, T>; 4]) -> i64 {
    fold_products(columns)
}
