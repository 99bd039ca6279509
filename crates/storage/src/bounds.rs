//! Bounds of columns: what the optimizer proves things from.
//!
//! A compiled plan outlives the version of the table it was made for, so what it relies on must hold for every
//! version that can come: [`TableBounds`] hold all rows that were ever written to a table, those of open and of
//! rolled back transactions included, and only widen. A writer widens them before its rows can be seen; a reader
//! takes its view first and looks at them afterwards, so that they hold every row of the view.

use crate::moved_columns::Moved;
use frazil_types::{ColumnVector, Native};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Mutex, MutexGuard};

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

    /// Widens the bounds so that they hold other rows, too.
    #[inline]
    pub fn take_in(&mut self, rows: ColumnBounds) {
        if !holds(self.range, rows.range) {
            self.range = self.merge(rows).range;
        }
        self.nulls += rows.nulls;
    }

    /// Bounds of rows `from..to` of a column.
    pub fn of(column: &ColumnVector, from: usize, to: usize) -> ColumnBounds {
        let nulls = (column.nulls()).map_or(0, |n| (from..to).filter(|&r| n.get(r)).count() as u64);
        use frazil_types::NativeType::*;
        let range = match column.native() {
            // Nothing but NULLs has no range.
            _ if nulls == (to - from) as u64 => None,
            Bool => range::<u8>(column, from, to),
            I16 => range::<i16>(column, from, to),
            I32 => range::<i32>(column, from, to),
            I64 => range::<i64>(column, from, to),
            // The integers of intervals say nothing of their order.
            I128 if column.ty().is_span() => None,
            I128 => range::<i128>(column, from, to),
            F64 | String => None,
        };
        ColumnBounds { range, nulls }
    }
}

/// Whether values of a range lie within another one: so it is with most rows, and nothing need be written.
#[inline]
fn holds(known: Option<(i128, i128)>, rows: Option<(i128, i128)>) -> bool {
    match (known, rows) {
        (_, None) => true,
        (Some(known), Some(rows)) => known.0 <= rows.0 && rows.1 <= known.1,
        (None, Some(_)) => false,
    }
}

/// Least and greatest value of rows that are not all NULL.
#[inline]
fn range<T: Native + Ord + Into<i128>>(
    column: &ColumnVector,
    from: usize,
    to: usize,
) -> Option<(i128, i128)> {
    let values = &column.values::<T>()[from..to];
    if let [value] = values {
        // A row of its own, which is not NULL.
        return Some(((*value).into(), (*value).into()));
    }
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

/// What holds for one column of every version of a table.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct LastingBounds {
    /// Least and greatest value ever written; `None` where there was none, or the type has no integers.
    pub range: Option<(i128, i128)>,
    /// Whether NULL was ever written.
    pub has_nulls: bool,
}

impl LastingBounds {
    /// Bounds that hold these rows, too.
    fn with(self, rows: ColumnBounds) -> LastingBounds {
        let known = ColumnBounds {
            range: self.range,
            nulls: 0,
        };
        LastingBounds {
            range: known.merge(rows).range,
            has_nulls: self.has_nulls || rows.nulls > 0,
        }
    }
}

/// What holds for every version of a table, as of some moment.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct WidestBounds {
    /// Of each column.
    pub columns: Box<[LastingBounds]>,
    /// The epoch in which this holds.
    pub epoch: u64,
}

/// The bounds of a table, which all its versions share. They only widen.
#[derive(Debug)]
pub struct TableBounds {
    widest: Mutex<WidestBounds>,
    epoch: AtomicU64,
}

impl TableBounds {
    /// Of a table of so many columns that never had a row.
    pub(crate) fn new(columns: usize) -> TableBounds {
        TableBounds {
            widest: Mutex::new(WidestBounds {
                columns: vec![LastingBounds::default(); columns].into(),
                epoch: 0,
            }),
            epoch: AtomicU64::new(0),
        }
    }

    /// The bounds of the same table with other columns. A new one has no values yet.
    pub(crate) fn reshaped(&self, moved: &Moved) -> TableBounds {
        let widest = self.lock();
        let columns = moved.of(&widest.columns, LastingBounds::default());
        TableBounds {
            epoch: AtomicU64::new(widest.epoch),
            widest: Mutex::new(WidestBounds {
                columns: columns.into(),
                epoch: widest.epoch,
            }),
        }
    }

    /// Grows whenever something widens. What held for the views of an epoch holds for all views taken in it.
    pub fn epoch(&self) -> u64 {
        self.epoch.load(Ordering::Acquire)
    }

    /// The bounds now: they hold every view that was taken before.
    pub fn widest(&self) -> WidestBounds {
        self.lock().clone()
    }

    /// Looks at the bounds now, as [`TableBounds::widest`] gives them.
    pub fn look<T>(&self, look: impl FnOnce(&WidestBounds) -> T) -> T {
        look(&self.lock())
    }

    /// Takes in rows within these bounds, one for each column. Called before anybody can see them.
    pub(crate) fn widen(&self, rows: impl Iterator<Item = ColumnBounds>) {
        let mut widening = self.widening();
        for (column, rows) in rows.enumerate() {
            widening.take_in(column, rows);
        }
    }

    /// Takes in rows column by column, as one step. Ends before anybody can see the rows.
    pub(crate) fn widening(&self) -> Widening<'_> {
        Widening {
            widest: self.lock(),
            epoch: &self.epoch,
            changed: false,
        }
    }

    fn lock(&self) -> MutexGuard<'_, WidestBounds> {
        self.widest.lock().unwrap_or_else(|e| e.into_inner())
    }
}

/// Bounds of a table that are being widened; nobody sees them before this is dropped.
pub(crate) struct Widening<'a> {
    widest: MutexGuard<'a, WidestBounds>,
    epoch: &'a AtomicU64,
    changed: bool,
}

impl Widening<'_> {
    /// Takes in rows whose values of a column lie within bounds.
    #[inline]
    pub fn take_in(&mut self, column: usize, rows: ColumnBounds) {
        let known = &mut self.widest.columns[column];
        if !holds(known.range, rows.range) || rows.nulls > 0 && !known.has_nulls {
            *known = known.with(rows);
            self.changed = true;
        }
    }
}

impl Drop for Widening<'_> {
    fn drop(&mut self) {
        if self.changed {
            self.widest.epoch += 1;
            self.epoch.store(self.widest.epoch, Ordering::Release);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use frazil_types::{LogicalType, Value};

    #[test]
    fn bounds_that_take_rows_in_are_those_of_both() {
        let all = [
            None,
            Some((3, 3)),
            Some((1, 5)),
            Some((-9, 4)),
            Some((i128::MIN, i128::MAX)),
        ];
        for (range, other) in all.iter().flat_map(|a| all.iter().map(move |b| (*a, *b))) {
            for nulls in [0, 2] {
                let rows = ColumnBounds { range: other, nulls };
                let mut taken = ColumnBounds { range, nulls: 1 };
                let merged = taken.merge(rows);
                taken.take_in(rows);
                assert_eq!(taken, merged);
            }
        }
    }

    #[test]
    fn bounds_only_widen_and_an_epoch_ends_when_they_do() {
        let bounds = TableBounds::new(1);
        let take_in = |values: &[Value]| {
            let column = ColumnVector::from_values(LogicalType::BigInt, values);
            bounds.widen([ColumnBounds::of(&column, 0, values.len())].into_iter());
            (bounds.widest().columns[0], bounds.epoch())
        };
        let lasting = |min, max, has_nulls| LastingBounds {
            range: Some((min, max)),
            has_nulls,
        };
        assert_eq!(take_in(&[Value::Int(3)]), (lasting(3, 3, false), 1));
        assert_eq!(take_in(&[Value::Int(3)]), (lasting(3, 3, false), 1));
        assert_eq!(take_in(&[Value::Null, Value::Int(-7)]), (lasting(-7, 3, true), 2));
        assert_eq!(
            take_in(&[Value::Int(0), Value::Null, Value::Int(3)]),
            (lasting(-7, 3, true), 2)
        );
        let extremes = [Value::Int(i64::MIN.into()), Value::Int(i64::MAX.into())];
        assert_eq!(
            take_in(&extremes),
            (lasting(i64::MIN.into(), i64::MAX.into(), true), 3)
        );
    }
}
