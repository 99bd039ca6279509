//! Sorts that give out most of their rows: all workers sort one array of packed keys ([`super::super::order`]), whose
//! words are compared instead of rows.

use super::sorted_rows::{SortedRows, Sorter};
use crate::breakers::Workers;
use crate::breakers::order::{self, Order};
use frazil_types::Result;

/// All rows are sorted if at least one in this many is given out. Otherwise each worker selects its first ones.
const ROWS_A_KEPT_ONE: usize = 4;

/// True if a large part of the rows of some sorters is given out.
pub(super) fn are_mostly_kept(sorters: &[Sorter]) -> bool {
    let rows: usize = sorters.iter().map(|sorter| sorter.pages.rows()).sum();
    let wanted = sorters.first().and_then(|sorter| sorter.spec.rows_wanted());
    wanted.is_none_or(|wanted| wanted >= rows / ROWS_A_KEPT_ONE)
}

/// Sorts all rows on all workers. Errors: 53200, 57014; 2201W, 2201X where a group has a negative limit or offset.
pub(super) fn sorted(mut sorters: Vec<Sorter>, workers: &dyn Workers) -> Result<SortedRows> {
    let Some(spec) = sorters.first().map(|sorter| sorter.spec.clone()) else {
        return Ok(SortedRows::of(sorters, Vec::new(), Vec::new()));
    };
    let mut entries = order::entries(&sorters, workers)?;
    let rows = entries.len();
    let order = Order::of(&spec.layout, &spec.keys, &entries, workers)?;
    let mut moved = None;
    order.sort_moving(&mut entries, rows, &mut moved, workers)?;
    if moved.is_some() {
        sorters.iter_mut().for_each(Sorter::free_rows);
    }
    let rows = entries.iter().map(|entry| entry.row.cast_const());
    SortedRows::kept(sorters, &spec, rows, moved, workers.budget())
}

#[cfg(test)]
mod tests {
    use super::super::sorted_rows::{GroupCounts, SortField, SortSpec, compare_fields};
    use super::*;
    use crate::breakers::alone::Alone;
    use crate::row_layout::{RowField, RowLayout};
    use frazil_types::{Cancel, MemoryBudget, NativeType, StringRef};
    use proptest::prelude::*;

    type Row = (Option<Vec<u8>>, i64);

    fn key(field: usize, descending: bool, nulls_first: bool) -> SortField {
        SortField {
            field,
            descending,
            nulls_first,
        }
    }

    /// The rows as a sort of all gives them out.
    fn sorted_rows(rows: &[Row], keys: &[SortField], workers: usize) -> Vec<Row> {
        let fields = [
            RowField::new(NativeType::String, true),
            RowField::new(NativeType::I64, false),
        ];
        let spec = SortSpec {
            layout: RowLayout::of_sort(&fields),
            keys: keys.to_vec(),
            groups: 0,
            limit: None,
            offset: 0,
            counts: GroupCounts::default(),
        };
        let (budget, cancel) = (MemoryBudget::unlimited(), Cancel::new());
        let fields = &spec.layout.fields;
        let fill = |part: &[Row]| {
            let mut sorter = Sorter::new(spec.clone(), &budget);
            for (text, number) in part {
                let row = sorter.pages.allocate().unwrap();
                let string = sorter.heap.copy(text.as_deref().unwrap_or_default()).unwrap();
                // SAFETY: a fresh row of the layout.
                unsafe {
                    fields[0].set_valid(row, text.is_some());
                    fields[0].set(row, string);
                    fields[1].set(row, *number);
                }
            }
            sorter
        };
        let sorters = rows
            .chunks(rows.len().div_ceil(workers).max(1))
            .map(fill)
            .collect();
        let alone = Alone {
            budget: &budget,
            cancel: &cancel,
        };
        let sorted = sorted(sorters, &alone).unwrap();
        // SAFETY: live rows of the layout.
        let read = |&row: &*const u8| unsafe {
            let text = fields[0].get::<StringRef>(row);
            (
                fields[0].is_valid(row).then(|| text.bytes().to_vec()),
                fields[1].get(row),
            )
        };
        sorted.in_order().iter().map(read).collect()
    }

    /// Sorts by the standard library. NULL is last, although `None` is the first of all options.
    fn expected(rows: &[Row], descending: bool) -> Vec<Row> {
        let mut rows = rows.to_vec();
        rows.sort_by(|a, b| {
            let texts = (a.0.is_none(), &a.0).cmp(&(b.0.is_none(), &b.0));
            let texts = match (descending, a.0.is_some() && b.0.is_some()) {
                (true, true) => texts.reverse(),
                _ => texts,
            };
            texts.then(b.1.cmp(&a.1))
        });
        rows
    }

    proptest! {
        #[test]
        fn strings_of_a_common_beginning_are_sorted_as_bytes(
            common in prop::sample::select(vec![&b""[..], b"a", b"fourteen bytes", b"https://example.com/pages/"]),
            ends in prop::collection::vec(
                (
                    prop::option::weighted(
                        0.9,
                        prop::collection::vec(prop::sample::select(vec![0_u8, b'a', b'b', 255]), 0..22),
                    ),
                    -3..3_i64,
                ),
                0..300,
            ),
            (descending, workers) in (any::<bool>(), 1..4_usize),
        ) {
            let row = |(end, number): (Option<Vec<u8>>, i64)| (end.map(|end| [common, &end].concat()), number);
            let rows: Vec<Row> = ends.into_iter().map(row).collect();
            let keys = [key(0, descending, false), key(1, true, false)];
            prop_assert_eq!(sorted_rows(&rows, &keys, workers), expected(&rows, descending));
        }
    }

    #[test]
    fn many_rows_are_sorted_bucket_by_bucket() {
        let text = |i: i64| format!("https://example.com/pages/{}", i * 7919 % 9_973);
        let long = |i: i64| format!("{} and more bytes than a word has", text(i));
        // Packed whole, cut off, all alike, and in order already.
        let texts: [&dyn Fn(i64) -> String; 4] = [&text, &long, &|_| "alike".into(), &|i| format!("{i:09}")];
        for text in texts {
            let rows: Vec<Row> = (0..40_000)
                .map(|i| {
                    let is_null = i % 97 == 0;
                    ((!is_null).then(|| text(i).into_bytes()), i * 31 % 40_009)
                })
                .collect();
            let keys = [key(0, true, false), key(1, true, false)];
            assert!(sorted_rows(&rows, &keys, 3) == expected(&rows, true));
            let by_number = sorted_rows(&rows, &[key(1, false, false)], 2);
            assert!(by_number.is_sorted_by_key(|row| row.1));
        }
    }

    /// A sorter of rows of every type, made of numbers: NULL where a number is divisible by 7.
    fn of_every_type(numbers: &[i64], spec: &SortSpec, budget: &MemoryBudget) -> Sorter {
        let fields = &spec.layout.fields;
        let mut sorter = Sorter::new(spec.clone(), budget);
        for &number in numbers {
            let row = sorter.pages.allocate().unwrap();
            let string = sorter.heap.copy(format!("{number:x}").as_bytes()).unwrap();
            // SAFETY: a fresh row of the layout.
            unsafe {
                fields
                    .iter()
                    .for_each(|field| field.set_valid(row, number % 7 != 0));
                fields[0].set(row, u8::from(number % 2 == 0));
                fields[1].set(row, number as i16);
                fields[2].set(row, number as i32);
                fields[3].set(row, number);
                fields[4].set(row, i128::from(number) << 63);
                fields[5].set(
                    row,
                    if number % 11 == 0 {
                        f64::NAN
                    } else {
                        number as f64 / 8.0
                    },
                );
                fields[6].set(row, string);
            }
        }
        sorter
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(64))]
        #[test]
        fn keys_of_every_type_are_packed_in_their_order(
            numbers in prop::collection::vec(
                prop_oneof![-40..40_i64, -70_000..70_000_i64, any::<i64>()], 1..300,
            ),
            keys in prop::collection::vec((0..7_usize, any::<bool>(), any::<bool>()), 1..5),
        ) {
            let natives = [
                NativeType::Bool,
                NativeType::I16,
                NativeType::I32,
                NativeType::I64,
                NativeType::I128,
                NativeType::F64,
                NativeType::String,
            ];
            let spec = SortSpec {
                layout: RowLayout::of_sort(&natives.map(|native| RowField::new(native, true))),
                keys: keys.into_iter().map(|(field, descending, first)| key(field, descending, first)).collect(),
                groups: 0,
                limit: None,
                offset: 0,
                counts: GroupCounts::default(),
            };
            let (budget, cancel) = (MemoryBudget::unlimited(), Cancel::new());
            let sorters = numbers.chunks(100).map(|part| of_every_type(part, &spec, &budget)).collect();
            let sorted = sorted(sorters, &Alone { budget: &budget, cancel: &cancel }).unwrap();
            prop_assert_eq!(sorted.in_order().len(), numbers.len());
            for pair in sorted.in_order().windows(2) {
                // SAFETY: live rows of the layout.
                let order = unsafe { compare_fields(&spec.layout, &spec.keys, pair[0], pair[1]) };
                prop_assert!(order.is_le());
            }
        }
    }

    #[test]
    fn rows_move_if_memory_is_left() {
        let rows = 60_000;
        let spec = SortSpec {
            layout: RowLayout::of_sort(&[RowField::new(NativeType::I64, false); 3]),
            keys: vec![key(0, false, false)],
            groups: 0,
            limit: None,
            offset: 0,
            counts: GroupCounts::default(),
        };
        for limit in [None, Some(5 << 20), Some(16 << 20)] {
            let budget = limit.map_or_else(MemoryBudget::unlimited, MemoryBudget::new);
            let cancel = Cancel::new();
            let mut sorter = Sorter::new(spec.clone(), &budget);
            for i in 0..rows {
                let row = sorter.pages.allocate().unwrap();
                for (number, field) in spec.layout.fields.iter().enumerate() {
                    // SAFETY: a fresh row of the layout.
                    unsafe { field.set(row, i * 7919 % rows + number as i64) };
                }
            }
            let sorted = sorted(
                vec![sorter],
                &Alone {
                    budget: &budget,
                    cancel: &cancel,
                },
            )
            .unwrap();
            for (i, &row) in sorted.in_order().iter().enumerate() {
                // SAFETY: live rows of the layout.
                let values = [0, 1, 2].map(|field| unsafe { spec.layout.fields[field].get::<i64>(row) });
                assert_eq!(values, [0, 1, 2].map(|number| i as i64 + number));
            }
            // The rows that were moved lie side by side, in their buckets.
            let addresses = sorted.in_order().iter().map(|row| row.addr());
            let span = addresses.clone().max().unwrap() - addresses.min().unwrap();
            assert_eq!(
                span < rows as usize * spec.layout.size,
                limit != Some(5 << 20),
                "{limit:?}"
            );
        }
    }

    #[test]
    fn rows_of_equal_keys_stay_in_their_order() {
        let rows: Vec<Row> = (0..40_000)
            .map(|i| (Some(vec![b'a' + (i % 3) as u8]), i))
            .collect();
        let sorted = sorted_rows(&rows, &[key(0, false, false)], 2);
        assert!(sorted.is_sorted());
    }

    #[test]
    fn a_cancelled_sort_is_left() {
        let (budget, cancel) = (MemoryBudget::unlimited(), Cancel::new());
        let spec = SortSpec {
            layout: RowLayout::of_sort(&[RowField::new(NativeType::I64, false)]),
            keys: vec![key(0, false, false)],
            groups: 0,
            limit: None,
            offset: 0,
            counts: GroupCounts::default(),
        };
        let mut sorter = Sorter::new(spec.clone(), &budget);
        for i in 0..50_000_i64 {
            let row = sorter.pages.allocate().unwrap();
            // SAFETY: a fresh row of the layout.
            unsafe { spec.layout.fields[0].set(row, i * 7919 % 50_021) };
        }
        cancel.time_out();
        let alone = Alone {
            budget: &budget,
            cancel: &cancel,
        };
        let left = sorted(vec![sorter], &alone).unwrap_err();
        assert!(left.message().contains("statement timeout"));
        assert_eq!(budget.used(), 0);
    }
}
