//! Build rows in an array, by their integer keys: if keys are dense and differ, a probe computes where its row lies.
//!
//! ```text
//! slot     0        1        2        3
//!        ┌────────┬────────┬────────┬────────┐   a slot: the fields of a row; no chain, no hash
//! key    │ min    │ min+1  │ 0      │ min+3  │   an empty slot holds another key than its own: 0, in the slot of 0: 1
//!        └────────┴────────┴────────┴────────┘
//! ```
//!
//! If there are as many keys as slots, no slot stays empty, and its key is known without a look at it. In such a *full
//! array* a slot is the payload alone, unless somebody reads keys. Probes of a large array wait for memory, and fewer
//! bytes miss fewer caches.
//!
//! Nobody knows beforehand that keys differ. Linking copies rows into their slots, and claims each slot by a bit. If a
//! second row claims a slot, the array is given up, and rows are linked behind a directory of pointers.

use super::{Ask, JoinSpec, JoinTable, KIND_ARRAY, KIND_DIRECT, KIND_FULL_ARRAY, LINK_AHEAD};
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

    /// Bytes from one payload of a full array to the next: a power of two up to 8, a multiple of 8 above; 0 without a
    /// payload.
    pub fn payload_stride(&self) -> usize {
        let payload = &self.layout.fields[self.keys..];
        let ends = payload.iter().map(|place| {
            let value = place.offset as usize + place.native.size();
            place.validity.map_or(value, |at| value.max(at as usize + 1))
        });
        let bytes = ends.max().map_or(0, |end| end - CHAIN_HEADER as usize);
        match bytes {
            0 => 0,
            1..=8 => bytes.next_power_of_two(),
            _ => bytes.next_multiple_of(8),
        }
    }

    /// True if an array without an empty slot is one of payloads.
    pub fn may_be_full_array(&self) -> bool {
        self.may_be_array() && !self.reads_keys
    }

    /// True if rows may be in an array of `slots` slots.
    pub(super) fn fits_array(&self, rows: u64, slots: u64) -> bool {
        let most = ARRAY_BYTES_ALWAYS.max(rows * ARRAY_BYTES_PER_ROW);
        self.may_be_array() && rows <= slots && slots * self.array_stride() as u64 <= most
    }
}

impl JoinTable {
    /// True if rows are in an array, full or not.
    pub fn is_array(&self) -> bool {
        self.header.kind >= KIND_ARRAY
    }

    /// Bytes from one slot of the array to the next.
    fn slot_bytes(&self) -> usize {
        match self.header.kind {
            KIND_FULL_ARRAY => self.spec.payload_stride(),
            _ => self.spec.array_stride(),
        }
    }

    /// Takes memory for an array of rows and for the claims of its slots. Error 53200.
    pub(super) fn open_array(&mut self) -> Result<()> {
        let slots = self.header.slots as usize;
        let words = slots.div_ceil(64);
        let mut held = self.reservation.budget().reservation();
        held.grow(words * 8)?;
        // If there are as many rows as slots, and no key repeats, no slot stays empty.
        let is_full = self.linked_rows() == slots;
        let memory = if is_full { Memory::stale } else { Memory::zeroed };
        if is_full && self.spec.may_be_full_array() {
            self.header.kind = KIND_FULL_ARRAY;
        }
        // Rows without a payload have an address, too, and null means none.
        self.take_directory((slots * self.slot_bytes()).max(LINE), memory)?;
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
        let stride = self.slot_bytes();
        let array = self.directory.as_ptr();
        for r in 0..rows {
            let row = start.wrapping_add(r * size);
            if r + LINK_AHEAD < rows {
                let ahead = self.slot_of(row.wrapping_add(LINK_AHEAD * size));
                prefetch_read(array.wrapping_add(ahead as usize * stride));
            }
            let slot = self.slot_of(row) as usize;
            let bit = 1 << (slot % 64);
            if claim(&claims.words[slot / 64], bit) & bit != 0 {
                claims.repeated.store(true, Ordering::Relaxed);
                return;
            }
            let fields = row.wrapping_add(CHAIN_HEADER as usize);
            // SAFETY: a live row, whose fields take a multiple of 8 bytes, and so no fewer than a slot. The slot is in
            // the array, and this row's alone: its bit was clear.
            unsafe { copy_slot(fields, array.add(slot * stride), stride) };
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
        if self.header.kind == KIND_FULL_ARRAY {
            return Ok(true);
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
        debug_assert!(self.is_array());
        let array = self.header.directory.cast::<u8>();
        let (min, slots, stride) = (self.header.min_key, self.header.slots, self.slot_bytes());
        let header = CHAIN_HEADER as usize;
        let in_one_line = stride == 0 || LINE.is_multiple_of(stride);
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

/// Copies what a slot holds of a row.
///
/// # Safety
/// Both places must have `stride` bytes, and not overlap; nobody else may use the slot.
#[inline(always)]
unsafe fn copy_slot(fields: *const u8, slot: *mut u8, stride: usize) {
    // SAFETY: by contract. Bytes are copied as they are, because those between fields were never written.
    unsafe {
        match stride {
            // Copies of a known length are single moves.
            2 => slot.copy_from_nonoverlapping(fields, 2),
            4 => slot.copy_from_nonoverlapping(fields, 4),
            8 => slot.copy_from_nonoverlapping(fields, 8),
            16 => slot.copy_from_nonoverlapping(fields, 16),
            _ => slot.copy_from_nonoverlapping(fields, stride),
        }
    }
}
