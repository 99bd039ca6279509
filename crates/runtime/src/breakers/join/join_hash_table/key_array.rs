//! Build rows in an array, by their integer keys: if keys are dense and differ, a probe computes where its row lies.
//!
//! ```text
//! slot     0        1        2        3
//!        ┌────────┬────────┬────────┬────────┐   a slot: the fields of a row; no chain, no hash
//! key    │ min    │ min+1  │ 0      │ min+3  │   an empty slot holds another key than its own: 0, in the slot of 0: 1
//!        └────────┴────────┴────────┴────────┘
//! ```
//!
//! Nobody knows beforehand that keys differ. Linking copies rows into their slots, and claims each slot by a bit. If a
//! second row claims a slot, the array is given up, and rows are linked behind a directory of pointers.

use super::{Ask, JoinSpec, JoinTable, KIND_ARRAY, KIND_DIRECT, LINK_AHEAD};
use crate::memory::Memory;
use crate::row_layout::CHAIN_HEADER;
use frazil_kernels::prefetch::prefetch_read;
use frazil_types::{NativeType, Reservation, Result};
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};

/// Bytes of an array for each row at most: as many as a directory of pointers may take.
const ARRAY_BYTES_PER_ROW: u64 = 64;
/// An array may take this many bytes whatever the number of rows.
const ARRAY_BYTES_ALWAYS: u64 = 1 << 16;
/// Bytes of a cache line, at whose multiples arrays begin.
const LINE: usize = 64;

/// Slots that have a row, a bit each.
#[derive(Debug)]
pub(super) struct Claims {
    words: Vec<AtomicU64>,
    /// True once two rows had one key.
    repeated: AtomicBool,
    _held: Reservation,
}

impl JoinSpec {
    /// Bytes from one row of an array to the next: a row without its header.
    pub fn array_stride(&self) -> usize {
        self.layout.size - CHAIN_HEADER as usize
    }

    /// True if rows may be in an array. Rows with marks may not, because they are given out where they were built.
    pub fn may_be_array(&self) -> bool {
        self.has_integer_key() && self.layout.mark.is_none()
    }

    /// True if rows may be in an array of `slots` slots.
    pub(super) fn fits_array(&self, rows: u64, slots: u64) -> bool {
        let most = ARRAY_BYTES_ALWAYS.max(rows * ARRAY_BYTES_PER_ROW);
        self.may_be_array() && rows <= slots && slots * self.array_stride() as u64 <= most
    }
}

impl JoinTable {
    /// Takes memory for an array of rows and for the claims of its slots. Error 53200.
    pub(super) fn open_array(&mut self) -> Result<()> {
        let slots = self.header.slots as usize;
        let words = slots.div_ceil(64);
        let mut held = self.reservation.budget().reservation();
        held.grow(words * 8)?;
        // If there are as many rows as slots, and no key repeats, no slot stays empty.
        let is_full = self.linked_rows() == slots;
        let memory = if is_full { Memory::stale } else { Memory::zeroed };
        self.take_directory(slots * self.spec.array_stride(), memory)?;
        // The address of a row is that of the header it does not have.
        self.header.directory = (self.directory.as_ptr())
            .wrapping_sub(CHAIN_HEADER as usize)
            .cast();
        self.claims = Some(Claims {
            words: (0..words).map(|_| AtomicU64::new(0)).collect(),
            repeated: AtomicBool::new(false),
            _held: held,
        });
        Ok(())
    }

    /// Copies the rows of a part into their slots. `claim` sets a bit in a word of the claims, and returns the word as
    /// it was.
    #[inline(always)]
    pub(super) fn place(&self, part: usize, claims: &Claims, claim: impl Fn(&AtomicU64, u64) -> u64) {
        let (build, page, unlinked) = self.parts[part];
        if unlinked {
            return;
        }
        let (start, rows) = self.builds[build].pages.page(page);
        let size = self.spec.layout.size;
        let words = self.spec.array_stride() / 8;
        let array = self.directory.as_ptr().cast::<u64>();
        for r in 0..rows {
            let row = start.wrapping_add(r * size);
            if r + LINK_AHEAD < rows {
                let ahead = self.slot_of(row.wrapping_add(LINK_AHEAD * size));
                prefetch_read(array.wrapping_add(ahead as usize * words));
            }
            let slot = self.slot_of(row) as usize;
            let bit = 1 << (slot % 64);
            if claim(&claims.words[slot / 64], bit) & bit != 0 {
                claims.repeated.store(true, Ordering::Relaxed);
                return;
            }
            let fields = row.wrapping_add(CHAIN_HEADER as usize).cast::<u64>();
            for word in 0..words {
                // SAFETY: a live row, and a slot within the array, which is this row's alone: its bit was clear.
                unsafe {
                    array
                        .wrapping_add(slot * words + word)
                        .write(fields.wrapping_add(word).read());
                }
            }
        }
    }

    /// Ends linking. Returns false if keys repeat that were thought to differ: all parts are to be linked once more,
    /// into a directory. Error 53200.
    pub fn settle(&mut self) -> Result<bool> {
        let Some(claims) = self.claims.take() else {
            return Ok(true);
        };
        if claims.repeated.load(Ordering::Relaxed) {
            self.header.kind = KIND_DIRECT;
            self.open_directory()?;
            return Ok(false);
        }
        let zero = 0i64.wrapping_sub(self.header.min_key) as u64;
        if zero < self.header.slots {
            let zero = zero as usize;
            let is_empty = claims.words[zero / 64].load(Ordering::Relaxed) >> (zero % 64) & 1 == 0;
            if is_empty {
                self.set_key(zero, 1);
            }
        }
        Ok(true)
    }

    /// Writes the key of a slot.
    fn set_key(&mut self, slot: usize, key: i16) {
        let place = &self.spec.layout.fields[0];
        let row =
            (self.header.directory.cast_mut().cast::<u8>()).wrapping_add(slot * self.spec.array_stride());
        // SAFETY: the field of a slot within the array, which this table alone knows.
        unsafe {
            match place.native {
                NativeType::I16 => place.set::<i16>(row, key),
                NativeType::I32 => place.set::<i32>(row, key.into()),
                _ => place.set::<i64>(row, key.into()),
            }
        }
    }

    /// For each key the row of its slot, which is asked for; null beyond the array.
    pub(super) fn slots_of(&self, keys: &[i64], out: &mut [*const u8], ask: Ask) {
        debug_assert_eq!(self.header.kind, KIND_ARRAY);
        let array = self.header.directory.cast::<u8>();
        let (min, slots, stride) = (self.header.min_key, self.header.slots, self.spec.array_stride());
        let header = CHAIN_HEADER as usize;
        let in_one_line = LINE.is_multiple_of(stride);
        for (&key, head) in keys.iter().zip(out) {
            let slot = key.wrapping_sub(min) as u64;
            let row = array.wrapping_add((slot as usize).wrapping_mul(stride));
            if ask == Ask::Ahead {
                prefetch_read(row.wrapping_add(header));
            }
            if ask == Ask::Ahead && !in_one_line {
                prefetch_read(row.wrapping_add(header + stride - 1));
            }
            *head = if slot < slots { row } else { std::ptr::null() };
        }
    }
}
