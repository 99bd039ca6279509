//! Bounds of a column's values: what the optimizer derives value bounds from.

use frazil_types::{ColumnVector, Native};

/// Least and greatest value of an integer-like column over some rows, and how many are NULL. Rows that
/// were deleted may still count: the bounds hold, they need not be tight.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct ColumnBounds {
    /// Least and greatest value that is not NULL; `None` where there is none, or the type has no integers.
    pub range: Option<(i128, i128)>,
    /// Rows that are NULL.
    pub nulls: u64,
}

impl ColumnBounds {
    /// Bounds over the rows of both.
    pub fn merge(self, other: ColumnBounds) -> ColumnBounds {
        let range = match (self.range, other.range) {
            (Some(a), Some(b)) => Some((a.0.min(b.0), a.1.max(b.1))),
            (a, b) => a.or(b),
        };
        ColumnBounds {
            range,
            nulls: self.nulls + other.nulls,
        }
    }

    /// Bounds of rows `from..to` of a column.
    pub fn of(column: &ColumnVector, from: usize, to: usize) -> ColumnBounds {
        let nulls = (column.nulls()).map_or(0, |n| (from..to).filter(|&r| n.get(r)).count() as u64);
        use frazil_types::NativeType::*;
        let range = match column.native() {
            Bool => range::<u8>(column, from, to),
            I16 => range::<i16>(column, from, to),
            I32 => range::<i32>(column, from, to),
            I64 => range::<i64>(column, from, to),
            I128 => range::<i128>(column, from, to),
            F64 | String => None,
        };
        ColumnBounds { range, nulls }
    }
}

fn range<T: Native + Ord + Into<i128>>(
    column: &ColumnVector,
    from: usize,
    to: usize,
) -> Option<(i128, i128)> {
    let values = &column.values::<T>()[from..to];
    let (min, max) = match column.nulls() {
        None => {
            let first = *values.first()?;
            (values.iter()).fold((first, first), |(lo, hi), &v| (lo.min(v), hi.max(v)))
        }
        Some(nulls) => {
            let mut valid = (values.iter().enumerate())
                .filter(|&(i, _)| !nulls.get(from + i))
                .map(|(_, &v)| v);
            let first = valid.next()?;
            valid.fold((first, first), |(lo, hi), v| (lo.min(v), hi.max(v)))
        }
    };
    Some((min.into(), max.into()))
}
