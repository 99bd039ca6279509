//! Build rows in the order of their keys, for joins by inequalities.

use super::{JoinTable, KIND_ORDERED, integer_key, set_next};
use crate::breakers::Workers;
use crate::breakers::array::Array;
use crate::breakers::order::{Entry, Order};
use frazil_types::{NativeType, Result};

/// Entries that are linked without a look at the cancel flag: some milliseconds.
const UNPOLLED: usize = 256 << 10;

impl JoinTable {
    /// Sorts the rows, links them in their order, and makes entries of them the directory. If an integer of up to 64
    /// bits is the one key, an entry holds the key, sign-extended, so that a search reads no rows.
    /// Errors: 53200, 57014.
    pub fn put_in_order(&mut self, workers: &dyn Workers) -> Result<()> {
        debug_assert_eq!(self.header.kind, KIND_ORDERED);
        let rows = self.linked_rows();
        // SAFETY: an entry is two words of any bits, and all are written below.
        let mut entries = unsafe { Array::<Entry>::stale(rows, workers.budget())? };
        let all = self.builds.iter().flat_map(|b| b.pages.iter());
        for (entry, row) in entries.iter_mut().zip(all) {
            *entry = Entry { key: 0, row };
        }
        let order = Order::of(&self.spec.layout, &self.spec.order, &entries, workers)?;
        order.sort(&mut entries, rows, workers)?;
        let native = self.spec.layout.fields[0].native;
        let is_short =
            self.spec.keys == 1 && matches!(native, NativeType::I16 | NativeType::I32 | NativeType::I64);
        let mut next = std::ptr::null_mut();
        for run in entries.rchunks_mut(UNPOLLED) {
            workers.cancel().check()?;
            for entry in run.iter_mut().rev() {
                // SAFETY: a live row of the table, which no other thread knows yet; its key is an integer if it
                // is short.
                unsafe {
                    next = set_next(entry.row, next as u64);
                    if is_short {
                        entry.key = integer_key(&self.spec, entry.row) as u64;
                    }
                }
            }
        }
        self.header.first = next;
        self.header.slots = rows as u64;
        self.header.directory = entries.as_ptr().cast();
        self.entries = Some(entries);
        Ok(())
    }
}
