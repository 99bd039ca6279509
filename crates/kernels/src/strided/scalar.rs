//! The oracle of kernels on partitions.

use super::cells::{Strided, each_group_of_four};
use super::{Combine, Comparable, Number, RangeOp};
use crate::compare;

/// See [`super::between`].
pub fn between<T: Comparable>(
    cells: Strided<'_, T>,
    op: RangeOp,
    low: T,
    high: T,
    combine: Combine,
    out: &mut [u64],
) {
    let mut words = out.iter_mut();
    cells.each_group(|group, rows| {
        if let Some(word) = words.next() {
            let word = std::slice::from_mut(word);
            compare::scalar::between(&group[..rows], op, low, high, combine, word);
        }
    });
}

/// See [`super::least_sum`].
pub fn least_sum<T: Number>(columns: [Strided<'_, T>; 4]) -> T {
    fold_least(columns)
}

/// See [`super::sum_of_products`].
pub fn sum_of_products<T: Number>(columns: [Strided<'_, T>; 4]) -> i64 {
    fold_products(columns)
}

/// What every instruction set compiles for itself.
#[inline(always)]
pub(super) fn fold_least<T: Number>(columns: [Strided<'_, T>; 4]) -> T {
    let mut least = [T::GREATEST; 64];
    each_group_of_four(columns, |[a, b, c, d], rows| {
        let lower = |(i, least): (usize, &mut T)| {
            *least = (*least).min(a[i].plus(b[i]).plus(c[i].plus(d[i])));
        };
        // Of known length for all groups but the last.
        match rows {
            64 => least.iter_mut().enumerate().for_each(lower),
            _ => least.iter_mut().enumerate().take(rows).for_each(lower),
        }
    });
    least.into_iter().min().unwrap_or(T::GREATEST)
}

/// As above.
#[inline(always)]
pub(super) fn fold_products<T: Number>(columns: [Strided<'_, T>; 4]) -> i64 {
    let mut sum = 0i64;
    each_group_of_four(columns, |[a, b, c, d], rows| {
        let mut of_group = 0i64;
        let add = |i: usize| {
            let product = a[i].times(b[i]).times(c[i].times(d[i]));
            of_group = of_group.wrapping_add(product.widened());
        };
        match rows {
            64 => (0..64).for_each(add),
            _ => (0..rows).for_each(add),
        }
        sum = sum.wrapping_add(of_group);
    });
    sum
}
