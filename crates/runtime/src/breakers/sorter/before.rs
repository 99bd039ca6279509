//! Which rows are not behind the last one that was kept, by their first key alone: of the rows that come once the first ones are
//! known, hardly any pass, and the others' keys need not be put together.

use super::sorted_rows::{SortField, normalized, ordered_double};
use crate::row_layout::{FieldPlace, RowLayout};
use crate::row_pages::RowPages;
use frazil_types::NativeType;

/// A first key that is a number, and that of the last row.
#[derive(Clone, Copy, Debug)]
pub(super) struct Before {
    place: FieldPlace,
    /// All bits of the number where it descends.
    flipped: u64,
    last: u64,
}

impl Before {
    /// By a live row of the layout; `None` where the first key is no number of up to 64 bits, or may be NULL.
    ///
    /// # Safety
    /// The row is live and of the layout.
    pub unsafe fn of(layout: &RowLayout, keys: &[SortField], last: *const u8) -> Option<Before> {
        let key = keys.first()?;
        let place = layout.fields[key.field];
        let is_number = matches!(place.native, NativeType::I32 | NativeType::I64 | NativeType::F64);
        if !is_number || place.validity.is_some() {
            return None;
        }
        // SAFETY: by contract.
        let (bits, width) = unsafe { normalized(&place, last) };
        let flipped = if key.descending {
            u64::MAX >> (64 - width)
        } else {
            0
        };
        let last = bits as u64 ^ flipped;
        Some(Before { place, flipped, last })
    }

    /// Rows of pages that are not behind.
    ///
    /// # Safety
    /// The rows are live and of the layout.
    pub unsafe fn rows(&self, pages: &RowPages) -> Vec<*mut u8> {
        // SAFETY: by contract; the types are the field's.
        unsafe {
            match self.place.native {
                NativeType::I32 => self.passing(pages, |row| {
                    u64::from(self.place.get::<i32>(row) as u32 ^ 1 << 31)
                }),
                NativeType::I64 => self.passing(pages, |row| self.place.get::<i64>(row) as u64 ^ 1 << 63),
                _ => self.passing(pages, |row| ordered_double(self.place.get::<f64>(row))),
            }
        }
    }

    fn passing(&self, pages: &RowPages, word: impl Fn(*const u8) -> u64) -> Vec<*mut u8> {
        let size = pages.row_size();
        let mut found = Vec::new();
        for page in 0..pages.pages() {
            let (start, rows) = pages.page(page);
            let rows = (0..rows).map(|row| start.wrapping_add(row * size));
            found.extend(rows.filter(|row| word(*row) ^ self.flipped <= self.last));
        }
        found
    }
}

#[cfg(test)]
mod tests {
    use super::super::sorted_rows::{GroupCounts, SortSpec, SortedRows, Sorter};
    use super::*;
    use crate::row_layout::RowField;
    use frazil_types::MemoryBudget;
    use proptest::prelude::*;
    use std::cmp::Ordering;

    type Row = (i32, i64, f64);

    fn order(keys: &[SortField], a: &Row, b: &Row) -> Ordering {
        let of = |key: &SortField| match key.field {
            0 => a.0.cmp(&b.0),
            1 => a.1.cmp(&b.1),
            _ => {
                a.2.partial_cmp(&b.2)
                    .unwrap_or_else(|| a.2.is_nan().cmp(&b.2.is_nan()))
            }
        };
        let directed = |key: &SortField| {
            if key.descending {
                of(key).reverse()
            } else {
                of(key)
            }
        };
        keys.iter().map(directed).fold(Ordering::Equal, Ordering::then)
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(32))]
        #[test]
        fn the_first_rows_are_those_of_a_sort(
            rows in prop::collection::vec(
                (-3000..3000_i32, prop::num::i64::ANY, prop_oneof![-9.0..9.0_f64, Just(f64::NAN), Just(-0.0), Just(0.0)]),
                1..6_000,
            ),
            first in 0..3_usize,
            descending: bool,
            then_descending: bool,
            limit in 1..40_usize,
        ) {
            let field = |native| RowField::new(native, false);
            let fields = [NativeType::I32, NativeType::I64, NativeType::F64].map(field);
            let keys = [(first, descending), ((first + 1) % 3, then_descending)].map(|(field, descending)| SortField {
                field,
                descending,
                nulls_first: false,
            });
            let spec = SortSpec {
                layout: RowLayout::of_sort(&fields),
                keys: keys.to_vec(),
                groups: 0,
                limit: Some(limit as u64),
                offset: 0,
                counts: GroupCounts::default(),
            };
            let places = spec.layout.fields.clone();
            let mut sorter = Sorter::new(spec, &MemoryBudget::unlimited());
            for (a, b, c) in &rows {
                let cursor = &sorter.pages.cursor;
                let room = cursor.end as usize - cursor.next as usize;
                let is_full = room < sorter.pages.row_size();
                let row = if is_full { sorter.grow() } else { sorter.pages.allocate() }.unwrap();
                // SAFETY: a fresh row of the layout.
                unsafe {
                    places[0].set(row, *a);
                    places[1].set(row, *b);
                    places[2].set(row, *c);
                }
            }
            let sorted = SortedRows::run(vec![sorter]).unwrap();
            // SAFETY: live rows of the layout.
            let found = sorted.in_order().iter().map(|&row| unsafe {
                (places[0].get(row), places[1].get(row), places[2].get(row))
            });
            let mut expected = rows;
            expected.sort_by(|a, b| order(&keys, a, b));
            prop_assert_eq!(sorted.in_order().len(), limit.min(expected.len()));
            for (found, expected) in found.zip(&expected) {
                prop_assert_eq!(order(&keys, &found, expected), Ordering::Equal);
            }
        }
    }
}
