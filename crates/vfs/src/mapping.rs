//! Memory reserved at once and committed by growth: the room of a hot chunk.

use frazil_types::{Error, Result, SqlState};

/// Zeroed memory whose pages exist from their first touch on. It never moves.
#[derive(Debug)]
pub struct AnonymousMapping {
    start: *mut u8,
    bytes: usize,
}

// SAFETY: the mapping is plain memory owned by this value; whoever writes through its pointer answers
// for exclusive access.
unsafe impl Send for AnonymousMapping {}
// SAFETY: as above: shared access hands out a pointer only.
unsafe impl Sync for AnonymousMapping {}

impl AnonymousMapping {
    /// Reserves `bytes` of address space; 53200 if the system refuses.
    pub fn reserve(bytes: usize) -> Result<AnonymousMapping> {
        let bytes = bytes.max(1);
        // SAFETY: a fresh private anonymous mapping at an address of the system's choice.
        let start = unsafe {
            libc::mmap(
                std::ptr::null_mut(),
                bytes,
                libc::PROT_READ | libc::PROT_WRITE,
                libc::MAP_PRIVATE | libc::MAP_ANONYMOUS | libc::MAP_NORESERVE,
                -1,
                0,
            )
        };
        if start == libc::MAP_FAILED {
            return Err(Error::new(
                SqlState::OUT_OF_MEMORY,
                format!(
                    "out of memory: the system refused {bytes} bytes for a chunk ({})",
                    std::io::Error::last_os_error()
                ),
            ));
        }
        Ok(AnonymousMapping {
            start: start.cast(),
            bytes,
        })
    }

    /// Says that all of it will be used, from front to back: the system may take huge pages, which cost fewer misses of the
    /// TLB where accesses are scattered. A hint: nothing depends on it.
    pub fn expect_to_fill(&self) {
        #[cfg(target_os = "linux")]
        // SAFETY: advice on the mapping made in `reserve`, whose bytes it does not change.
        unsafe {
            libc::madvise(self.start.cast(), self.bytes, libc::MADV_HUGEPAGE);
        }
    }

    /// Its first byte, aligned to a page.
    #[inline]
    pub fn as_ptr(&self) -> *mut u8 {
        self.start
    }

    /// Its length in bytes.
    pub fn len(&self) -> usize {
        self.bytes
    }

    /// Never true: a reservation holds at least one byte.
    pub fn is_empty(&self) -> bool {
        self.bytes == 0
    }
}

impl Drop for AnonymousMapping {
    fn drop(&mut self) {
        // SAFETY: exactly the mapping made in `reserve`, unmapped once.
        unsafe { libc::munmap(self.start.cast(), self.bytes) };
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn advice_leaves_the_memory_as_it_is() {
        let mapping = AnonymousMapping::reserve(5 << 20).unwrap();
        // SAFETY: the first and the last byte of the mapping, which nobody else knows.
        unsafe {
            mapping.as_ptr().write(7);
            mapping.expect_to_fill();
            let last = mapping.as_ptr().add(mapping.len() - 1);
            last.write(9);
            assert_eq!((mapping.as_ptr().read(), last.read()), (7, 9));
        }
    }
}
