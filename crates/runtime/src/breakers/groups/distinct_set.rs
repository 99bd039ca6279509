//! The values an aggregate with DISTINCT has seen, group by group.
//!
//! Plans avoid it: grouping twice is faster and merges. It serves statements that mix aggregates with and
//! without DISTINCT, or over different arguments. As it knows groups by the address of their row,
//! the rows of one aggregation must all pass through one worker.

use frazil_kernels::hash::double_word;
use frazil_types::{MemoryBudget, NativeType, Reservation, Result, StringRef};
use std::collections::HashSet;

/// What an entry is taken to need, beside the bytes of a long string.
const ENTRY_BYTES: usize = 48;
/// Memory is reserved for this many entries at once.
const RESERVED_ENTRIES: usize = 1024;

/// Pairs of group and value.
#[derive(Debug)]
pub struct DistinctSet {
    native: NativeType,
    words: HashSet<(u64, i128)>,
    strings: HashSet<(u64, Box<[u8]>)>,
    reservation: Reservation,
    needed: usize,
}

impl DistinctSet {
    /// An empty set of values of a native type.
    pub fn new(native: NativeType, budget: &MemoryBudget) -> DistinctSet {
        DistinctSet {
            native,
            words: HashSet::new(),
            strings: HashSet::new(),
            reservation: budget.reservation(),
            needed: 0,
        }
    }

    /// Adds a value to a group; whether it is new there. Error 53200 over the budget.
    ///
    /// # Safety
    /// `value` must point at a value of the native type (of any alignment); a string must be alive.
    pub unsafe fn insert(&mut self, group: *const u8, value: *const u8) -> Result<bool> {
        let group = group as u64;
        // SAFETY: by contract.
        unsafe {
            let word = match self.native {
                NativeType::Bool => i128::from(value.read()),
                NativeType::I16 => i128::from(value.cast::<i16>().read_unaligned()),
                NativeType::I32 => i128::from(value.cast::<i32>().read_unaligned()),
                NativeType::I64 => i128::from(value.cast::<i64>().read_unaligned()),
                NativeType::I128 => value.cast::<i128>().read_unaligned(),
                NativeType::F64 => i128::from(double_word(value.cast::<f64>().read_unaligned())),
                NativeType::String => {
                    let string = value.cast::<StringRef>().read_unaligned();
                    return self.insert_string(group, string.bytes());
                }
            };
            if !self.words.insert((group, word)) {
                return Ok(false);
            }
        }
        self.account(ENTRY_BYTES)?;
        Ok(true)
    }

    fn insert_string(&mut self, group: u64, bytes: &[u8]) -> Result<bool> {
        let key = (group, Box::from(bytes));
        if !self.strings.insert(key) {
            return Ok(false);
        }
        self.account(ENTRY_BYTES + bytes.len())?;
        Ok(true)
    }

    fn account(&mut self, bytes: usize) -> Result<()> {
        self.needed += bytes;
        if self.needed > self.reservation.bytes() {
            self.reservation.grow(bytes.max(RESERVED_ENTRIES * ENTRY_BYTES))?;
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_value_is_new_once_in_each_group() {
        let budget = MemoryBudget::unlimited();
        let groups = [std::ptr::without_provenance(1), std::ptr::without_provenance(2)];
        let mut numbers = DistinctSet::new(NativeType::F64, &budget);
        let mut strings = DistinctSet::new(NativeType::String, &budget);
        for group in groups {
            for (value, new) in [(1.5, true), (0.0, true), (-0.0, false), (1.5, false)] {
                let value: f64 = value;
                // SAFETY: a local.
                let inserted = unsafe { numbers.insert(group, (&raw const value).cast()) };
                assert_eq!(inserted.unwrap(), new);
            }
            for new in [true, false] {
                let text = StringRef::from_static("a string longer than twelve");
                // SAFETY: a static string.
                let inserted = unsafe { strings.insert(group, (&raw const text).cast()) };
                assert_eq!(inserted.unwrap(), new);
            }
        }
        let mut small = DistinctSet::new(NativeType::I32, &MemoryBudget::new(100 << 10));
        let failed = (0..10_000).find(|v: &i32| {
            // SAFETY: a local.
            unsafe { small.insert(groups[0], (v as *const i32).cast()) }.is_err()
        });
        assert!(failed.is_some_and(|v| v > 1000));
    }
}
