//! Prefetching: hints to the memory system that generated code cannot give
//! (Relaxed Operator Fusion, section 4.3).

use crate::{Isa, Kernel, counters};

/// Asks for the cache line at `address`. Any address is allowed: a hint never faults.
#[inline(always)]
pub fn prefetch_read<T>(address: *const T) {
    #[cfg(target_arch = "x86_64")]
    // SAFETY: prefetch of any address is without effect on the program's state.
    unsafe {
        std::arch::x86_64::_mm_prefetch::<{ std::arch::x86_64::_MM_HINT_T0 }>(address.cast());
    }
    #[cfg(not(target_arch = "x86_64"))]
    let _ = address;
}

/// Codes of a vector of positions whose lines are asked for. A machine keeps some dozens of lines under way and drops
/// what is asked for beyond, but not the time it takes to ask; and the loops that fetch codes have as many loads
/// under way themselves. With the first codes there when they begin, they are 5 to 25 per cent faster than with all
/// of 1,024 asked for.
pub(crate) const ASKED: usize = 64;

/// The first [`ASKED`].
#[inline(always)]
pub(crate) fn first_asked(positions: &[u16]) -> &[u16] {
    &positions[..positions.len().min(ASKED)]
}

/// Asks for slot `hash >> shift` of a directory of 8-byte slots, for each hash. `shift` below 64.
pub fn prefetch_slots(isa: Isa, directory: *const u64, hashes: &[u64], shift: u32) {
    counters::enter(Kernel::Prefetch, isa);
    for &hash in hashes {
        prefetch_read(directory.wrapping_add((hash >> shift) as usize));
    }
}

/// Asks for the lines of the first values at positions (byte-packed codes; the other layouts have a function of their
/// own). Positions beyond the values are harmless.
pub fn prefetch_values<T>(values: &[T], positions: &[u16]) {
    for &position in first_asked(positions) {
        prefetch_read(values.as_ptr().wrapping_add(position as usize));
    }
}
