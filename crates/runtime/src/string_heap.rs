//! Arenas for the bytes of strings that a worker makes or keeps.
//!
//! A **kept** string lives as long as the heap, which goes along with the table or result whose rows
//! refer to it. A **scratch** string, made by a function for the current vector, is marked transient,
//! and [`StringHeap::reset`] takes its bytes back before the next vector.

use crate::memory::Memory;
use frazil_types::string_builder::check_text_bytes;
use frazil_types::string_ref::INLINE_BYTES;
use frazil_types::{MemoryBudget, Reservation, Result, StringRef};

const FIRST_PAGE: usize = 4 << 10;
const LARGEST_PAGE: usize = 1 << 20;
/// A heap that takes so many bytes grows by larger pages, which wait for the next statement when it is dropped ([`crate::memory`]).
const LARGE_HEAP: usize = 32 << 20;
/// A page of a large heap: huge pages of the system.
const LARGE_HEAP_PAGE: usize = 4 << 20;
/// Bytes of a cache line.
const LINE: usize = 64;

/// Bytes of strings, allocated by bumping a pointer.
#[derive(Debug)]
pub struct StringHeap {
    pages: Vec<Memory>,
    /// Pages in use; those behind wait to be used again.
    used: usize,
    next: *mut u8,
    free: usize,
    reservation: Reservation,
}

// SAFETY: `next` points into a page this object owns.
unsafe impl Send for StringHeap {}
// SAFETY: nothing is written through a shared reference.
unsafe impl Sync for StringHeap {}

impl StringHeap {
    /// An empty heap; takes no memory.
    pub fn new(budget: &MemoryBudget) -> StringHeap {
        StringHeap {
            pages: Vec::new(),
            used: 0,
            next: std::ptr::null_mut(),
            free: 0,
            reservation: budget.reservation(),
        }
    }

    /// Bytes it takes.
    pub fn bytes(&self) -> usize {
        self.reservation.bytes()
    }

    /// Room for `bytes` bytes. Errors: 53200 over the budget, 54000 for a string above 1 GiB.
    pub fn allocate(&mut self, bytes: usize) -> Result<&mut [u8]> {
        if bytes > self.free {
            self.grow(bytes)?;
        }
        let start = self.next;
        self.next = start.wrapping_add(bytes);
        self.free -= bytes;
        // SAFETY: `bytes` bytes of a live page that were handed to nobody else.
        Ok(unsafe { std::slice::from_raw_parts_mut(start, bytes) })
    }

    #[cold]
    fn grow(&mut self, bytes: usize) -> Result<()> {
        check_text_bytes(bytes)?;
        while let Some(page) = self.pages.get(self.used) {
            self.used += 1;
            if page.bytes() >= bytes {
                (self.next, self.free) = (page.as_ptr(), page.bytes());
                return Ok(());
            }
        }
        let last = self.pages.last().map_or(FIRST_PAGE / 2, Memory::bytes);
        let page = match self.bytes() < LARGE_HEAP {
            true => (last * 2).min(LARGEST_PAGE),
            false => LARGE_HEAP_PAGE,
        };
        let size = page.max(bytes);
        self.reservation.grow(size)?;
        let page = Memory::stale(size)?;
        (self.next, self.free) = (page.as_ptr(), size);
        self.pages.push(page);
        self.used = self.pages.len();
        Ok(())
    }

    /// A string that lives as long as the heap: a copy if it is transient, else itself. A short copy is in one cache
    /// line, because tables of many strings wait for each line that they read.
    ///
    /// # Safety
    /// The string must be alive, and outlive the heap's users if it is not transient.
    #[inline]
    pub unsafe fn keep(&mut self, string: StringRef) -> Result<StringRef> {
        if !string.is_transient() {
            return Ok(string);
        }
        self.skip_to_line(string.len());
        // SAFETY: by contract.
        self.copy(unsafe { string.bytes() })
    }

    /// Leaves out bytes if the next ones to be handed out are in two cache lines, but are few enough for half of one.
    #[inline]
    fn skip_to_line(&mut self, bytes: usize) {
        let left = LINE - self.next as usize % LINE;
        if (left + 1..=LINE / 2).contains(&bytes) && left <= self.free {
            self.next = self.next.wrapping_add(left);
            self.free -= left;
        }
    }

    /// A string of these bytes that lives as long as the heap.
    pub fn copy(&mut self, bytes: &[u8]) -> Result<StringRef> {
        if bytes.len() <= INLINE_BYTES {
            return Ok(StringRef::inline(bytes));
        }
        let room = self.allocate(bytes.len())?;
        room.copy_from_slice(bytes);
        // SAFETY: the pages live as long as the heap, by its contract longer than the reference.
        Ok(unsafe { StringRef::new(room) })
    }

    /// A string of these bytes that lives until [`StringHeap::reset`].
    pub fn scratch(&mut self, bytes: &[u8]) -> Result<StringRef> {
        Ok(self.copy(bytes)?.as_transient())
    }

    /// Forgets all strings; keeps the pages to use them again.
    pub fn reset(&mut self) {
        self.used = 0;
        self.free = 0;
        self.next = std::ptr::null_mut();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn kept_strings_outlive_their_source() {
        let budget = MemoryBudget::new(usize::MAX);
        let mut heap = StringHeap::new(&budget);
        let mut kept = Vec::new();
        for i in 0..10_000 {
            let text = format!("{i}{}", "x".repeat(i % 40));
            // SAFETY: `text` is alive while it is copied.
            kept.push(unsafe { heap.keep(StringRef::new(text.as_bytes()).as_transient()) }.unwrap());
        }
        for (i, s) in kept.iter().enumerate() {
            // SAFETY: the heap is alive.
            assert_eq!(unsafe { s.text() }, format!("{i}{}", "x".repeat(i % 40)));
            assert!(!s.is_transient());
        }
    }

    #[test]
    fn short_kept_strings_lie_in_one_line() {
        let mut heap = StringHeap::new(&MemoryBudget::unlimited());
        for i in 0..10_000 {
            let text = "x".repeat(13 + i * 7 % 40);
            // SAFETY: `text` is alive while it is copied.
            let kept = unsafe { heap.keep(StringRef::new(text.as_bytes()).as_transient()) }.unwrap();
            let (first, last) = (kept.tail as usize, kept.tail as usize + text.len() - 1);
            assert!(
                text.len() > LINE / 2 || first / LINE == last / LINE,
                "{} bytes at {first}",
                text.len()
            );
            // SAFETY: the heap is alive.
            assert_eq!(unsafe { kept.text() }, text);
        }
    }

    #[test]
    fn a_heap_that_is_reset_does_not_grow() {
        let budget = MemoryBudget::new(1 << 20);
        let mut heap = StringHeap::new(&budget);
        for _ in 0..10_000 {
            heap.reset();
            assert!(heap.scratch(&[b'a'; 1000]).unwrap().is_transient());
        }
        assert!(heap.allocate(2 << 20).is_err());
    }
}
