//! Large pieces of memory: zeroed, aligned, on huge pages where that pays, accounted by their owner.

use frazil_types::{Error, Result, SqlState};
use std::alloc::Layout;

/// From this size on memory is mapped on its own and asks for huge pages: fewer faults and TLB misses.
const HUGE_PAGE: usize = 2 << 20;
const ALIGNMENT: usize = 64;

/// A piece of zeroed memory, freed when dropped.
#[derive(Debug)]
pub struct Memory {
    start: *mut u8,
    bytes: usize,
}

// SAFETY: Memory owns its bytes and hands out only raw pointers.
unsafe impl Send for Memory {}
// SAFETY: as above.
unsafe impl Sync for Memory {}

impl Memory {
    /// `bytes` zeroed bytes, 64-byte aligned. Error 53200 if the system has none left.
    pub fn zeroed(bytes: usize) -> Result<Memory> {
        let start = if bytes >= HUGE_PAGE {
            map(bytes)
        } else {
            // SAFETY: the layout has a size above zero.
            unsafe { std::alloc::alloc_zeroed(layout(bytes)) }
        };
        if start.is_null() {
            return Err(Error::new(
                SqlState::OUT_OF_MEMORY,
                format!("out of memory: the system refused {bytes} bytes"),
            ));
        }
        Ok(Memory { start, bytes })
    }

    /// The first byte.
    pub fn as_ptr(&self) -> *mut u8 {
        self.start
    }

    /// Number of bytes.
    pub fn bytes(&self) -> usize {
        self.bytes
    }
}

impl Drop for Memory {
    fn drop(&mut self) {
        // SAFETY: made by `zeroed` in the same way and not freed since.
        unsafe {
            if self.bytes >= HUGE_PAGE {
                libc::munmap(self.start.cast(), self.bytes.next_multiple_of(HUGE_PAGE));
            } else {
                std::alloc::dealloc(self.start, layout(self.bytes));
            }
        }
    }
}

fn layout(bytes: usize) -> Layout {
    Layout::from_size_align(bytes.max(ALIGNMENT), ALIGNMENT).expect("sizes are far below isize::MAX")
}

/// Maps a huge-page-aligned range and gives back what surrounds it.
fn map(bytes: usize) -> *mut u8 {
    let wanted = bytes.next_multiple_of(HUGE_PAGE);
    // SAFETY: an anonymous private mapping touches nothing that exists; only parts of that mapping
    // are unmapped or advised.
    unsafe {
        let whole = libc::mmap(
            std::ptr::null_mut(),
            wanted + HUGE_PAGE,
            libc::PROT_READ | libc::PROT_WRITE,
            libc::MAP_PRIVATE | libc::MAP_ANONYMOUS,
            -1,
            0,
        );
        if whole == libc::MAP_FAILED {
            return std::ptr::null_mut();
        }
        let before = (whole as usize).next_multiple_of(HUGE_PAGE) - whole as usize;
        let start = whole.cast::<u8>().add(before);
        if before > 0 {
            libc::munmap(whole, before);
        }
        if before < HUGE_PAGE {
            libc::munmap(start.add(wanted).cast(), HUGE_PAGE - before);
        }
        #[cfg(target_os = "linux")]
        libc::madvise(start.cast(), wanted, libc::MADV_HUGEPAGE);
        start
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn memory_is_zeroed_and_aligned() {
        for bytes in [
            1,
            100,
            4096,
            HUGE_PAGE - 1,
            HUGE_PAGE,
            HUGE_PAGE + 1,
            5 * HUGE_PAGE + 77,
        ] {
            let memory = Memory::zeroed(bytes).unwrap();
            assert_eq!(memory.as_ptr() as usize % ALIGNMENT, 0);
            // SAFETY: the memory has that many bytes.
            let all = unsafe { std::slice::from_raw_parts_mut(memory.as_ptr(), bytes) };
            assert!(all.iter().all(|&b| b == 0));
            all.fill(1);
        }
    }
}
