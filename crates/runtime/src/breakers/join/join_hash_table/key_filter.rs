//! The values of a key of a finished build side as a filter for the scan of the probe side (Data Blocks, appendix E).

use super::{JoinTable, integer};
use crate::row_layout::FieldPlace;
use frazil_kernels::KeyFilter;
use frazil_kernels::early_probe::hash_filter::HashFilter;
use frazil_kernels::hash::{HashKey, fold_string};
use frazil_storage::BuildKeys;
use frazil_types::{MemoryBudget, NativeType, Reservation, StringRef};
use std::sync::Arc;

/// A bitmap of integers may take this many bytes whatever the number of rows.
const BITMAP_BYTES_ALWAYS: usize = 1 << 22;
/// And this many bytes a row.
const BITMAP_BYTES_PER_ROW: usize = 32;
/// A filter of hashes may take this many bytes. A larger one does not stay in a cache, so that a test of it costs what the
/// probe does.
const HASHED_BYTES: usize = 1 << 24;

/// A filter of a build side's keys and the memory it holds.
#[derive(Debug)]
pub struct EarlyFilter {
    /// The keys.
    pub keys: BuildKeys,
    _reservation: Reservation,
}

impl JoinTable {
    /// The values of a key, given by its position among the keys, as a filter: a bitmap of integers that lie dense enough, else
    /// a filter of hashes. `None` if there are no rows or no keys, too many rows, or no memory for it.
    pub fn key_filter(&self, key: usize, budget: &MemoryBudget) -> Option<EarlyFilter> {
        let place = self.spec.layout.fields[..self.spec.keys].get(key)?;
        let rows = self.linked_rows();
        if rows == 0 {
            return None;
        }
        let bitmap = self.bounds_of_key(key).filter(|&(min, max)| {
            let most = BITMAP_BYTES_ALWAYS.max(rows * BITMAP_BYTES_PER_ROW);
            KeyFilter::bytes(min, max).is_some_and(|bytes| bytes <= most)
        });
        let mut reservation = budget.reservation();
        let keys = match bitmap {
            Some((min, max)) => {
                reservation.grow(KeyFilter::bytes(min, max)?).ok()?;
                let mut filter = KeyFilter::new(min, max);
                // SAFETY: live rows of the layout, whose key is an integer.
                (self.linked()).for_each(|row| filter.insert(unsafe { integer(place, row) }));
                BuildKeys::Range(Arc::new(filter))
            }
            None => {
                let bytes = HashFilter::bytes(rows);
                if bytes > HASHED_BYTES {
                    return None;
                }
                reservation.grow(bytes).ok()?;
                let mut filter = HashFilter::new(rows);
                // SAFETY: live rows of the layout, their strings alive.
                (self.linked()).for_each(|row| filter.insert(unsafe { hash_of_key(place, row) }));
                BuildKeys::Hashed(Arc::new(filter))
            }
        };
        Some(EarlyFilter {
            keys,
            _reservation: reservation,
        })
    }

    /// The rows that a probe may find.
    fn linked(&self) -> impl Iterator<Item = *const u8> {
        self.builds
            .iter()
            .flat_map(|b| b.pages.iter())
            .map(|row| row.cast_const())
    }

    /// Least and greatest value of a key, if it is an integer of up to 64 bits. There are rows.
    fn bounds_of_key(&self, key: usize) -> Option<(i64, i64)> {
        if self.spec.has_integer_key() {
            return self.key_range();
        }
        let place = &self.spec.layout.fields[key];
        if !matches!(place.native, NativeType::I16 | NativeType::I32 | NativeType::I64) {
            return None;
        }
        let bounds = |(min, max): (i64, i64), row| {
            // SAFETY: live rows of the layout, whose key is an integer.
            let value = unsafe { integer(place, row) };
            (min.min(value), max.max(value))
        };
        Some(self.linked().fold((i64::MAX, i64::MIN), bounds))
    }
}

/// The hash of a key that is not NULL, as scans compute it.
///
/// # Safety
/// `row` must be a live row of the layout that `place` is of, its strings alive.
unsafe fn hash_of_key(place: &FieldPlace, row: *const u8) -> u64 {
    // SAFETY: by contract; the types are the key's.
    unsafe {
        match place.native {
            NativeType::Bool => place.get::<u8>(row).fold(0),
            NativeType::I16 => place.get::<i16>(row).fold(0),
            NativeType::I32 => place.get::<i32>(row).fold(0),
            NativeType::I64 => place.get::<i64>(row).fold(0),
            NativeType::I128 => place.get::<i128>(row).fold(0),
            NativeType::F64 => place.get::<f64>(row).fold(0),
            NativeType::String => fold_string(0, place.get::<StringRef>(row)),
        }
    }
}
