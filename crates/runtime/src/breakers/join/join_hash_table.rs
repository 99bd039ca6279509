//! The hash table of a join.
//!
//! **Build.** Each worker writes rows into its private [`JoinBuild`]: chain header, keys, payload. When
//! all are done, [`JoinTable::new`] knows the exact number of rows and the range of the keys, and
//! chooses the directory:
//!
//! - **hash**: 2^k slots, slot = `hash >> shift`. A slot holds the pointer to the first row of its chain
//!   in the low 48 bits and sixteen **tag bits** above it: the union of the [`tags`] of all rows in the
//!   chain. Most probes without a match end at the tag test, without touching a row.
//! - **array**: a single integer key whose values are dense and differ. slot = `key - min_key`; a slot holds the
//!   row itself without its header, so that a probe touches one cache line (`key_array.rs`).
//! - **full array**: as an array, if no key is missing and nobody reads keys: a slot holds the payload alone.
//! - **direct**: a single integer key whose values are dense and repeat. slot = `key - min_key`; a slot holds the
//!   plain pointer. All rows of a chain have the key looked for.
//! - **list**: no keys. All rows hang in one chain.
//! - **ordered**: rows are sorted by their keys, and perhaps by more (`in_order.rs`). All rows hang in one chain, in
//!   that order. The directory is an array of [`Entry`] in that order; probes search it.
//!
//! Workers link the rows part by part with compare-and-swap; afterwards the table is read-only, save
//! for the mark bytes, which are only ever set to 1.
//!
//! **Probe**, as generated code does it:
//!
//! ```text
//! hash:   entry = directory[hash >> shift];  if entry & tags(hash) != tags(hash): no match
//!         row = entry & POINTER_MASK;        while row != 0: compare hash and keys; row = row.next
//! array:  i = key - min_key (64 bits, wrapping);  if i >= slots (unsigned): no match
//!         row = directory + i * stride;      if key of row = key: a match
//! full:   i and row as in an array, by another stride;                        a match
//! direct: i = key - min_key (64 bits, wrapping);  if i >= slots (unsigned): no match
//!         row = directory[i];                while row != 0: a match; row = row.next
//! list:   row = first;                       while row != 0: a match; row = row.next
//! ordered: i = first entry not below low;     while row != 0 and key is not beyond high: a match; row = row.next
//! ```

use super::JoinFlags;
use crate::breakers::array::Array;
use crate::breakers::order::Entry;
use crate::breakers::sorter::sorted_rows::SortField;
use crate::memory::Memory;
use crate::row_layout::{
    CHAIN_HEADER, FieldPlace, HASH_HEADER, HASH_OFFSET, NEXT_OFFSET, RowField, RowLayout, prefetch_strings,
};
use crate::row_pages::RowPages;
use crate::string_heap::StringHeap;
use frazil_kernels::hash::hash_u64;
use frazil_kernels::prefetch::prefetch_read;
use frazil_plan::breakers::Which;
use frazil_types::{MemoryBudget, NativeType, Reservation, Result};
use key_array::Claims;
use std::sync::atomic::{AtomicU64, Ordering};

/// The pointer in a slot or chain.
pub const POINTER_MASK: u64 = (1 << 48) - 1;
/// [`JoinHeader::kind`]: slot = hash >> shift.
pub const KIND_HASH: u64 = 0;
/// [`JoinHeader::kind`]: slot = key − min_key.
pub const KIND_DIRECT: u64 = 1;
/// [`JoinHeader::kind`]: one chain of all rows.
pub const KIND_LIST: u64 = 2;
/// [`JoinHeader::kind`]: entries in the order of their keys.
pub const KIND_ORDERED: u64 = 3;
/// [`JoinHeader::kind`]: the row of a key is in slot key − min_key.
pub const KIND_ARRAY: u64 = 4;
/// [`JoinHeader::kind`]: the payload of a key is in slot key − min_key, and no slot is empty. Kinds from [`KIND_ARRAY`]
/// on are arrays.
pub const KIND_FULL_ARRAY: u64 = 5;

/// Direct addressing may take this many slots a row.
const DIRECT_SLOTS_PER_ROW: u64 = 8;
/// Direct addressing is chosen below this many slots whatever the number of rows.
const DIRECT_SLOTS_ALWAYS: u64 = 1 << 13;
/// How many rows ahead linking asks for the slot.
const LINK_AHEAD: usize = 16;

/// The tag bits of a hash: two of sixteen (maybe the same), in the place of a slot's upper bits.
#[inline(always)]
pub const fn tags(hash: u64) -> u64 {
    (1 << (48 + (hash & 15))) | (1 << (48 + ((hash >> 4) & 15)))
}

/// What generated code reads of a [`JoinTable`], at its start.
#[repr(C)]
#[derive(Debug)]
pub struct JoinHeader {
    /// First slot; always at least one readable slot. Array: the row of slot 0, whose header is not there: only its
    /// fields may be read, of a full array only the payload.
    pub directory: *const u64,
    /// [`KIND_HASH`], [`KIND_ARRAY`], [`KIND_FULL_ARRAY`], [`KIND_DIRECT`], [`KIND_LIST`] or [`KIND_ORDERED`].
    pub kind: u64,
    /// Hash: how far the hash is shifted to give the slot.
    pub shift: u64,
    /// Array and direct: the key of slot 0.
    pub min_key: i64,
    /// Number of slots; ordered: of entries.
    pub slots: u64,
    /// Number of build rows, those with NULL keys included.
    pub rows: u64,
    /// Number of build rows met that had a NULL key, whether kept or not.
    pub null_keys: u64,
    /// List and ordered: the first row, or null if there are none; else null.
    pub first: *const u8,
}

/// Decides if lines of memory are asked for before they are read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Ask {
    /// Lines are asked for, those of a whole vector at once.
    Ahead,
    /// They are not: what it saves is measured.
    Never,
}

/// How a join's rows look.
#[derive(Clone, Debug)]
pub struct JoinSpec {
    /// Rows: keys first, then payload.
    pub layout: RowLayout,
    /// Number of keys; 0 makes a list.
    pub keys: usize,
    /// The order in which rows are linked, its leading fields the keys in their order. Empty: rows are hashed by their
    /// keys.
    pub order: Vec<SortField>,
    /// False if nobody reads the keys of rows that were found: they are those of the probe rows.
    pub reads_keys: bool,
}

impl JoinSpec {
    /// Rows of these keys and payload columns.
    pub fn new(keys: &[RowField], payload: &[RowField], marked: bool) -> JoinSpec {
        let fields: Vec<RowField> = keys.iter().chain(payload).copied().collect();
        let header = match keys {
            [] => CHAIN_HEADER,
            [key] if is_short_integer(key.native) => CHAIN_HEADER,
            _ => HASH_HEADER,
        };
        // An integer key lies behind the payload, so that the payload is in one piece (`key_array.rs`).
        let last = (header == CHAIN_HEADER && !keys.is_empty()).then_some(0);
        JoinSpec {
            layout: RowLayout::with_last(header, &fields, marked, last),
            keys: keys.len(),
            order: vec![],
            reads_keys: true,
        }
    }

    /// True if rows hold the hash of their keys. That of a single integer is computed anew where it is needed.
    pub fn stores_hash(&self) -> bool {
        self.keys > 0 && self.order.is_empty() && !self.has_integer_key()
    }

    /// Whether the table may be addressed by the key itself: a single integer of up to 64 bits. The
    /// build then tracks [`JoinBuild::min_key`] and [`JoinBuild::max_key`].
    pub fn has_integer_key(&self) -> bool {
        self.keys == 1 && self.order.is_empty() && is_short_integer(self.layout.fields[0].native)
    }
}

/// True for integers of up to 64 bits.
fn is_short_integer(native: NativeType) -> bool {
    matches!(native, NativeType::I16 | NativeType::I32 | NativeType::I64)
}

/// A worker's private build rows. Generated code takes rows from `pages` and writes the hash (if
/// [`JoinSpec::stores_hash`]), keys and payload; it raises `max_key` and lowers `min_key` where
/// [`JoinSpec::has_integer_key`]. A row with a NULL key matches nothing: it is counted in `null_keys`, and
/// kept in `unlinked` only if the join gives out build rows without a match.
#[repr(C)]
#[derive(Debug)]
pub struct JoinBuild {
    /// Rows to be linked.
    pub pages: RowPages,
    /// Rows that no probe finds.
    pub unlinked: RowPages,
    /// Smallest key so far, sign-extended.
    pub min_key: i64,
    /// Largest key so far.
    pub max_key: i64,
    /// Rows with a NULL key so far.
    pub null_keys: u64,
    /// Bytes of the strings that the rows keep.
    pub heap: StringHeap,
}

impl JoinBuild {
    /// No rows yet.
    pub fn new(spec: &JoinSpec, budget: &MemoryBudget) -> JoinBuild {
        // A mark starts as 0; all else in a row is written.
        let pages = match spec.layout.mark {
            Some(_) => RowPages::zeroed,
            None => RowPages::new,
        };
        JoinBuild {
            pages: pages(spec.layout.size, budget),
            unlinked: pages(spec.layout.size, budget),
            min_key: i64::MAX,
            max_key: i64::MIN,
            null_keys: 0,
            heap: StringHeap::new(budget),
        }
    }
}

/// A join's table. Generated code sees its header at offset 0, and its flags behind that.
#[repr(C)]
#[derive(Debug)]
pub struct JoinTable {
    /// What generated code reads.
    pub header: JoinHeader,
    /// What generated code notes of the probe side of a NULL-aware join.
    pub flags: JoinFlags,
    spec: JoinSpec,
    builds: Vec<JoinBuild>,
    /// (build, page, whether of its unlinked rows)
    parts: Vec<(usize, usize, bool)>,
    directory: Memory,
    /// Array: the slots that have rows, until all rows are linked.
    claims: Option<Claims>,
    /// Ordered: the rows that probes find, with their keys if those are integers.
    entries: Option<Array<Entry>>,
    reservation: Reservation,
}

// SAFETY: rows and directory are owned by the table; linking is atomic, and afterwards only mark bytes
// are written, by generated code, each to the same value.
unsafe impl Send for JoinTable {}
// SAFETY: as above.
unsafe impl Sync for JoinTable {}

impl JoinTable {
    /// A table of all rows built, all of them linked by this thread.
    pub fn build(spec: JoinSpec, builds: Vec<JoinBuild>, budget: &MemoryBudget) -> Result<JoinTable> {
        let mut table = JoinTable::new(spec, builds, budget)?;
        loop {
            for part in 0..table.parts() {
                table.link_alone(part);
            }
            if table.settle()? {
                return Ok(table);
            }
        }
    }

    /// A table with its directory, no row linked yet: [`JoinTable::link`] is to be called once for each
    /// of [`JoinTable::parts`], by any thread, then [`JoinTable::settle`], before the first probe. Error 53200 over the
    /// budget.
    pub fn new(spec: JoinSpec, builds: Vec<JoinBuild>, budget: &MemoryBudget) -> Result<JoinTable> {
        let rows: usize = builds.iter().map(|b| b.pages.rows()).sum();
        let unlinked: usize = builds.iter().map(|b| b.unlinked.rows()).sum();
        let mut header = JoinHeader {
            directory: std::ptr::null(),
            kind: match spec.keys {
                0 => KIND_LIST,
                _ if !spec.order.is_empty() => KIND_ORDERED,
                _ => KIND_HASH,
            },
            shift: 63,
            min_key: 0,
            slots: 2,
            rows: (rows + unlinked) as u64,
            null_keys: builds.iter().map(|b| b.null_keys).sum(),
            first: std::ptr::null(),
        };
        if header.kind == KIND_HASH {
            match direct_range(&spec, &builds, rows) {
                Some((min, slots)) => {
                    header.kind = match spec.fits_array(rows as u64, slots) {
                        true => KIND_ARRAY,
                        false => KIND_DIRECT,
                    };
                    (header.min_key, header.slots) = (min, slots);
                }
                None => {
                    header.slots = (rows as u64 + rows as u64 / 4).next_power_of_two().max(16);
                    header.shift = 64 - u64::from(header.slots.trailing_zeros());
                }
            }
        }
        let parts = list_parts(&builds);
        let mut table = JoinTable {
            header,
            flags: JoinFlags::default(),
            spec,
            builds,
            parts,
            directory: Memory::zeroed(0)?,
            claims: None,
            entries: None,
            reservation: budget.reservation(),
        };
        if table.header.kind == KIND_ARRAY && table.open_array().is_err() {
            // Pointers take less of the budget.
            table.header.kind = KIND_DIRECT;
        }
        if !table.is_array() {
            table.open_directory()?;
        }
        if table.header.kind == KIND_LIST {
            table.link_list();
        }
        Ok(table)
    }

    /// Takes memory for a directory of pointers. Error 53200.
    fn open_directory(&mut self) -> Result<()> {
        self.take_directory(self.header.slots as usize * 8, Memory::zeroed)?;
        self.header.directory = self.directory.as_ptr().cast();
        Ok(())
    }

    /// Replaces the directory by other memory. Error 53200.
    fn take_directory(&mut self, bytes: usize, memory: fn(usize) -> Result<Memory>) -> Result<()> {
        self.directory = Memory::zeroed(0)?;
        let held = self.reservation.bytes();
        self.reservation.shrink(held);
        self.reservation.grow(bytes)?;
        self.directory = memory(bytes)?;
        Ok(())
    }

    /// How rows look.
    pub fn spec(&self) -> &JoinSpec {
        &self.spec
    }

    /// Number of parts the rows fall into, for linking and for giving them out.
    pub fn parts(&self) -> usize {
        self.parts.len()
    }

    /// Bytes of the directory and the rows: what probes go through.
    pub fn bytes(&self) -> usize {
        if self.is_array() {
            return self.directory.bytes();
        }
        self.header.slots as usize * 8 + self.builds.iter().map(|b| b.pages.bytes()).sum::<usize>()
    }

    fn link_list(&mut self) {
        let mut first = std::ptr::null_mut();
        for build in self.builds.iter().rev() {
            // SAFETY: rows are owned by the table, no other thread knows it yet.
            build
                .pages
                .iter()
                .for_each(|row| unsafe { first = set_next(row, first as u64) });
        }
        self.header.first = first;
    }

    /// Links the rows of a part, beside other threads that link other parts.
    pub fn link(&self, part: usize) {
        if let Some(claims) = &self.claims {
            self.place(part, claims, |word, bit| word.fetch_or(bit, Ordering::Relaxed));
            return;
        }
        self.for_each_slot(part, |slot, row, hash| {
            let mut old = slot.load(Ordering::Relaxed);
            loop {
                let new = self.entry_after(old, row, hash);
                match slot.compare_exchange_weak(old, new, Ordering::Release, Ordering::Relaxed) {
                    Ok(_) => break,
                    Err(now) => old = now,
                }
            }
        });
    }

    /// As [`JoinTable::link`], while no other thread links.
    pub fn link_alone(&self, part: usize) {
        if let Some(claims) = &self.claims {
            self.place(part, claims, |word, bit| {
                let old = word.load(Ordering::Relaxed);
                word.store(old | bit, Ordering::Relaxed);
                old
            });
            return;
        }
        self.for_each_slot(part, |slot, row, hash| {
            let new = self.entry_after(slot.load(Ordering::Relaxed), row, hash);
            slot.store(new, Ordering::Relaxed);
        });
    }

    /// Puts `row` before the chain of a slot; the slot's new content.
    #[inline(always)]
    fn entry_after(&self, old: u64, row: *mut u8, hash: u64) -> u64 {
        // SAFETY: the row is owned by the table, and only the thread that links its part touches it.
        unsafe { set_next(row, old & POINTER_MASK) };
        if self.header.kind == KIND_HASH {
            row as u64 | tags(hash) | (old & !POINTER_MASK)
        } else {
            row as u64
        }
    }

    #[inline(always)]
    fn for_each_slot(&self, part: usize, mut f: impl FnMut(&AtomicU64, *mut u8, u64)) {
        let (build, page, unlinked) = self.parts[part];
        if unlinked || matches!(self.header.kind, KIND_LIST | KIND_ORDERED) {
            return;
        }
        let (start, rows) = self.builds[build].pages.page(page);
        let size = self.spec.layout.size;
        let directory = self.header.directory.cast::<AtomicU64>();
        for r in 0..rows {
            let row = start.wrapping_add(r * size);
            if r + LINK_AHEAD < rows {
                let ahead = self.slot_of(row.wrapping_add(LINK_AHEAD * size));
                prefetch_read(directory.wrapping_add(ahead as usize));
            }
            // SAFETY: a live row; slot_of stays below the number of slots.
            unsafe {
                let slot = self.slot_of(row);
                f(&*directory.add(slot as usize), row, self.hash_of(row));
            }
        }
    }

    #[inline(always)]
    fn slot_of(&self, row: *const u8) -> u64 {
        // SAFETY: called for live rows of the table's layout only.
        unsafe {
            if self.header.kind == KIND_HASH {
                self.hash_of(row) >> self.header.shift
            } else {
                integer_key(&self.spec, row).wrapping_sub(self.header.min_key) as u64
            }
        }
    }

    /// The hash of the keys of a row.
    ///
    /// # Safety
    /// `row` must be a live row of the table, which has keys.
    #[inline(always)]
    unsafe fn hash_of(&self, row: *const u8) -> u64 {
        // SAFETY: by contract.
        unsafe {
            match self.spec.has_integer_key() {
                true => hash_u64(integer_key(&self.spec, row) as u64),
                false => row.offset(HASH_OFFSET as isize).cast::<u64>().read(),
            }
        }
    }

    /// Appends the rows of a part: those that carry a mark, those that do not, or all.
    pub(super) fn rows_of(&self, part: usize, which: Which, out: &mut Vec<*const u8>) {
        let (build, page, unlinked) = self.parts[part];
        let build = &self.builds[build];
        let (start, rows) = if unlinked { &build.unlinked } else { &build.pages }.page(page);
        let size = self.spec.layout.size;
        for r in 0..rows {
            let row = start.wrapping_add(r * size);
            // SAFETY: a live row of the table's layout.
            let marked = self
                .spec
                .layout
                .mark
                .is_some_and(|at| unsafe { *row.offset(at as isize) } != 0);
            let wanted = match which {
                Which::All => true,
                Which::Matched => marked,
                Which::Unmatched => !marked,
            };
            if wanted {
                out.push(row);
            }
        }
    }

    /// For each key of a single integer, sign-extended, or for each hash, what [`JoinTable::heads_by_key`] or
    /// [`JoinTable::heads_by_hash`] finds. `together`: keys whose slots and rows are asked for before the first of
    /// them is looked at (Relaxed Operator Fusion, figure 16); 0: nothing is asked for.
    pub fn heads_of(&self, keys: &[u64], out: &mut [*const u8], together: usize) {
        let (together, ask) = match together {
            0 => (keys.len().max(1), Ask::Never),
            together => (together, Ask::Ahead),
        };
        for (keys, out) in keys.chunks(together).zip(out.chunks_mut(together)) {
            match self.spec.has_integer_key() {
                // SAFETY: integers of 64 bits, whatever their sign.
                true => self.heads_by_key(
                    unsafe { std::slice::from_raw_parts(keys.as_ptr().cast(), keys.len()) },
                    out,
                    ask,
                ),
                false => self.heads_by_hash(keys, out, ask),
            }
        }
    }

    /// For each hash the first row of its chain, or null where the tags rule a match out: slots and rows
    /// are prefetched in groups (Relaxed Operator Fusion, section 4.3).
    pub fn heads_by_hash(&self, hashes: &[u64], out: &mut [*const u8], ask: Ask) {
        debug_assert_eq!(self.header.kind, KIND_HASH);
        self.heads(
            hashes.len(),
            out,
            |i| hashes[i] >> self.header.shift,
            |i| tags(hashes[i]),
            ask,
        );
        if ask == Ask::Never {
            return;
        }
        // SAFETY: heads are rows of this table, or null.
        unsafe { prefetch_strings(&self.spec.layout.fields[..self.spec.keys], &out[..hashes.len()]) };
    }

    /// As [`JoinTable::heads_by_hash`] for integer keys, sign-extended, however they are addressed. In an array the
    /// head is the row of the slot, which may have another key.
    pub fn heads_by_key(&self, keys: &[i64], out: &mut [*const u8], ask: Ask) {
        let hash = |i: usize| hash_u64(keys[i] as u64);
        match self.header.kind {
            KIND_HASH => self.heads(
                keys.len(),
                out,
                |i| hash(i) >> self.header.shift,
                |i| tags(hash(i)),
                ask,
            ),
            KIND_ARRAY | KIND_FULL_ARRAY => self.slots_of(keys, out, ask),
            _ => self.heads(
                keys.len(),
                out,
                |i| keys[i].wrapping_sub(self.header.min_key) as u64,
                |_| 0,
                ask,
            ),
        }
    }

    #[inline(always)]
    fn heads(
        &self,
        rows: usize,
        out: &mut [*const u8],
        slot: impl Fn(usize) -> u64,
        tags: impl Fn(usize) -> u64,
        ask: Ask,
    ) {
        let out = &mut out[..rows];
        let directory = self.header.directory;
        if ask == Ask::Ahead {
            (0..rows).for_each(|i| prefetch_read(directory.wrapping_add(slot(i) as usize)));
        }
        for (i, head) in out.iter_mut().enumerate() {
            let slot = slot(i);
            *head = std::ptr::null();
            if slot < self.header.slots {
                // SAFETY: below the number of slots.
                let entry = unsafe { *directory.add(slot as usize) };
                if entry & tags(i) == tags(i) {
                    *head = (entry & POINTER_MASK) as *const u8;
                    if ask == Ask::Ahead {
                        prefetch_read(*head);
                    }
                }
            }
        }
    }
}

fn list_parts(builds: &[JoinBuild]) -> Vec<(usize, usize, bool)> {
    let mut parts = Vec::new();
    for (i, build) in builds.iter().enumerate() {
        parts.extend((0..build.pages.pages()).map(|p| (i, p, false)));
        parts.extend((0..build.unlinked.pages()).map(|p| (i, p, true)));
    }
    parts
}

/// Smallest key and number of slots, where direct addressing pays.
fn direct_range(spec: &JoinSpec, builds: &[JoinBuild], rows: usize) -> Option<(i64, u64)> {
    let (min, max) = key_range(spec, builds, rows)?;
    let slots = u64::try_from(i128::from(max) - i128::from(min) + 1).ok()?;
    let most = (rows as u64 * DIRECT_SLOTS_PER_ROW).max(DIRECT_SLOTS_ALWAYS);
    (slots <= most).then_some((min, slots))
}

/// Smallest and largest key, if keys are integers and there are some.
fn key_range(spec: &JoinSpec, builds: &[JoinBuild], rows: usize) -> Option<(i64, i64)> {
    if !spec.has_integer_key() || rows == 0 {
        return None;
    }
    let mut min = i64::MAX;
    let mut max = i64::MIN;
    for build in builds {
        if build.min_key <= build.max_key {
            (min, max) = (min.min(build.min_key), max.max(build.max_key));
            continue;
        }
        for row in build.pages.iter() {
            // SAFETY: live rows of the spec's layout.
            let key = unsafe { integer_key(spec, row) };
            (min, max) = (min.min(key), max.max(key));
        }
    }
    Some((min, max))
}

/// # Safety
/// `row` must be a live row of a join's layout that nobody else reads.
#[inline(always)]
unsafe fn set_next(row: *mut u8, next: u64) -> *mut u8 {
    // SAFETY: by contract.
    unsafe { row.offset(NEXT_OFFSET as isize).cast::<u64>().write(next) };
    row
}

/// # Safety
/// `row` must be a live row of the spec's layout, which has an integer key.
#[inline(always)]
unsafe fn integer_key(spec: &JoinSpec, row: *const u8) -> i64 {
    // SAFETY: by contract.
    unsafe { integer(&spec.layout.fields[0], row) }
}

/// # Safety
/// `row` must be a live row of the layout that `place` is of, an integer of up to 64 bits.
#[inline(always)]
unsafe fn integer(place: &FieldPlace, row: *const u8) -> i64 {
    // SAFETY: by contract.
    unsafe {
        match place.native {
            NativeType::I16 => place.get::<i16>(row).into(),
            NativeType::I32 => place.get::<i32>(row).into(),
            _ => place.get::<i64>(row),
        }
    }
}

mod in_order;
mod key_array;
mod key_filter;
mod keys;

pub use key_filter::EarlyFilter;

#[cfg(test)]
mod tests;
