//! Large pieces of memory: aligned, on huge pages where that pays, accounted by their owner.
//!
//! Fresh pages cost a fault and the kernel's zeroing, as much as building a hash table on them. So
//! large mappings are not given back at once: they wait in a pool, up to [`POOLED_BYTES`], for the next
//! query that asks for the same size, as the next run of the same statement does. Meanwhile the system may take
//! their pages if it is short of memory (`MADV_FREE`): no other process goes without for them.

use frazil_types::{Error, Result, SqlState};
use std::alloc::Layout;
use std::collections::VecDeque;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Mutex, PoisonError};

/// From this size on memory is mapped on its own and asks for huge pages: fewer faults and TLB misses.
const HUGE_PAGE: usize = 2 << 20;
/// Smallest page that a system has.
const PAGE: usize = 4096;
/// Bytes between two questions of [`Memory::touch`]: some milliseconds of the system's work.
const TOUCHED_AT_ONCE: usize = 4 << 20;
const ALIGNMENT: usize = 64;
/// Most bytes of unused mappings that are kept, unless [`limit_pool`] says less.
pub const POOLED_BYTES: usize = 1 << 30;
/// A memory limit over what is pooled at most.
const LIMIT_OVER_POOL: usize = 16;

/// A piece of memory, freed when dropped.
#[derive(Debug)]
pub struct Memory {
    start: *mut u8,
    bytes: usize,
}

// SAFETY: Memory owns its bytes and hands out only raw pointers.
unsafe impl Send for Memory {}
// SAFETY: as above.
unsafe impl Sync for Memory {}

/// A mapping that waits to be used again.
struct Mapping {
    start: *mut u8,
    bytes: usize,
}

// SAFETY: nobody else refers to an unused mapping.
unsafe impl Send for Mapping {}

/// What [`limit_pool`] said last.
static POOL_LIMIT: AtomicUsize = AtomicUsize::new(POOLED_BYTES);

static POOL: Mutex<VecDeque<Mapping>> = Mutex::new(VecDeque::new());

impl Memory {
    /// `bytes` zeroed bytes, 64-byte aligned. Error 53200 if the system has none left.
    pub fn zeroed(bytes: usize) -> Result<Memory> {
        if bytes < HUGE_PAGE {
            // SAFETY: the layout has a size above zero.
            return Memory::owned(unsafe { std::alloc::alloc_zeroed(layout(bytes)) }, bytes);
        }
        match take_pooled(rounded(bytes)) {
            Some(start) => {
                // SAFETY: a mapping of at least that size which nobody else uses.
                unsafe { start.write_bytes(0, bytes) };
                Memory::owned(start, bytes)
            }
            None => Memory::owned(map(rounded(bytes)), bytes),
        }
    }

    /// `bytes` bytes of whatever content (initialised, but stale), 64-byte aligned. Error as for `zeroed`.
    pub fn stale(bytes: usize) -> Result<Memory> {
        if bytes < HUGE_PAGE {
            return Memory::zeroed(bytes);
        }
        let start = take_pooled(rounded(bytes)).unwrap_or_else(|| map(rounded(bytes)));
        Memory::owned(start, bytes)
    }

    /// Has the system provide all pages now, which may take it seconds; `go_on` is asked for each piece of them. What
    /// the bytes hold is arbitrary then.
    pub fn touch(&mut self, go_on: impl Fn() -> Result<()>) -> Result<()> {
        for piece in (0..self.bytes).step_by(TOUCHED_AT_ONCE) {
            go_on()?;
            let end = self.bytes.min(piece + TOUCHED_AT_ONCE);
            for page in (piece..end).step_by(PAGE) {
                // SAFETY: the byte is one of ours, which nobody else has while we are borrowed.
                unsafe { self.start.add(page).write_volatile(0) };
            }
        }
        Ok(())
    }

    fn owned(start: *mut u8, bytes: usize) -> Result<Memory> {
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
        if self.bytes >= HUGE_PAGE {
            pool(Mapping {
                start: self.start,
                bytes: rounded(self.bytes),
            });
        } else {
            // SAFETY: made by `zeroed` with the same layout and not freed since.
            unsafe { std::alloc::dealloc(self.start, layout(self.bytes)) };
        }
    }
}

fn layout(bytes: usize) -> Layout {
    Layout::from_size_align(bytes.max(ALIGNMENT), ALIGNMENT).expect("sizes are far below isize::MAX")
}

fn rounded(bytes: usize) -> usize {
    bytes.next_multiple_of(HUGE_PAGE)
}

/// A pooled mapping of exactly that size, the one used last. Where there is none and memory is short, others make room for
/// the one to be mapped.
fn take_pooled(bytes: usize) -> Option<*mut u8> {
    let mut surplus = Vec::new();
    {
        let mut pool = POOL.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(at) = pool.iter().rposition(|m| m.bytes == bytes) {
            return pool.remove(at).map(|m| m.start);
        }
        let mut wanted = match POOL_LIMIT.load(Ordering::Relaxed) < POOLED_BYTES {
            true => bytes,
            false => 0,
        };
        while wanted > 0
            && let Some(oldest) = pool.pop_front()
        {
            wanted = wanted.saturating_sub(oldest.bytes);
            surplus.push(oldest);
        }
    }
    unmap(surplus);
    None
}

/// Keeps a mapping; what has waited longest is unmapped where the pool grows too large.
fn pool(mapping: Mapping) {
    // SAFETY: a mapping of that size whose content nobody will ask for.
    #[cfg(target_os = "linux")]
    unsafe {
        libc::madvise(mapping.start.cast(), mapping.bytes, libc::MADV_FREE)
    };
    let mut surplus = Vec::new();
    {
        let mut pool = POOL.lock().unwrap_or_else(PoisonError::into_inner);
        pool.push_back(mapping);
        let mut total: usize = pool.iter().map(|m| m.bytes).sum();
        let limit = POOL_LIMIT.load(Ordering::Relaxed);
        while total > limit {
            let Some(oldest) = pool.pop_front() else { break };
            total -= oldest.bytes;
            surplus.push(oldest);
        }
    }
    unmap(surplus);
}

fn unmap(mappings: impl IntoIterator<Item = Mapping>) {
    for m in mappings {
        // SAFETY: made by `map` with this size, and nobody refers to it.
        unsafe { libc::munmap(m.start.cast(), m.bytes) };
    }
}

/// Keeps at most one of 16 parts of a memory limit in unused mappings, and never more than [`POOLED_BYTES`]: what waits for the next
/// query counts towards nobody's budget. The pool is the process's; the limit set last holds.
pub fn limit_pool(memory_limit: usize) {
    POOL_LIMIT.store(
        (memory_limit / LIMIT_OVER_POOL).min(POOLED_BYTES),
        Ordering::Relaxed,
    );
    let all = std::mem::take(&mut *POOL.lock().unwrap_or_else(PoisonError::into_inner));
    unmap(all);
}

/// Maps a huge-page-aligned range and gives back what surrounds it. `bytes`: a multiple of [`HUGE_PAGE`].
fn map(bytes: usize) -> *mut u8 {
    // SAFETY: an anonymous private mapping touches nothing that exists; only parts of that mapping
    // are unmapped or advised.
    unsafe {
        let whole = libc::mmap(
            std::ptr::null_mut(),
            bytes + HUGE_PAGE,
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
            libc::munmap(start.add(bytes).cast(), HUGE_PAGE - before);
        }
        #[cfg(target_os = "linux")]
        libc::madvise(start.cast(), bytes, libc::MADV_HUGEPAGE);
        start
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn touching_stops_where_it_is_told_to() {
        let mut memory = Memory::stale(3 * TOUCHED_AT_ONCE).unwrap();
        let asked = std::cell::Cell::new(0);
        let go_on = || {
            asked.set(asked.get() + 1);
            Ok(())
        };
        memory.touch(go_on).unwrap();
        assert_eq!(asked.get(), 3);
        let stop = || Err(Error::new(SqlState::QUERY_CANCELED, "stop"));
        assert_eq!(memory.touch(stop).unwrap_err().message(), "stop");
    }

    #[test]
    fn memory_is_zeroed_and_aligned() {
        // Twice: the second time large ones come from the pool.
        for bytes in [
            1,
            100,
            4096,
            HUGE_PAGE - 1,
            HUGE_PAGE,
            HUGE_PAGE + 1,
            5 * HUGE_PAGE + 77,
        ]
        .repeat(2)
        {
            let memory = Memory::zeroed(bytes).unwrap();
            assert_eq!(memory.as_ptr() as usize % ALIGNMENT, 0);
            // SAFETY: the memory has that many bytes.
            let all = unsafe { std::slice::from_raw_parts_mut(memory.as_ptr(), bytes) };
            assert!(all.iter().all(|&b| b == 0));
            all.fill(1);
        }
    }

    #[test]
    fn the_pool_is_bounded() {
        for _ in 0..3 {
            let many: Vec<Memory> = (0..20).map(|_| Memory::stale(20 << 20).unwrap()).collect();
            assert_eq!(many.len(), 20);
        }
        let pool = POOL.lock().unwrap();
        assert!(pool.iter().map(|m| m.bytes).sum::<usize>() <= POOLED_BYTES);
    }
}
