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

    /// Its first byte, aligned to a page.
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
