//! Memory for the machine code of one plan. The functions of a plan call each other by relative jumps, which reach 2 GiB
//! on x86-64. Left to itself, Cranelift asks the system for memory function by function, and in a process that has more
//! than that mapped, two mappings may lie further apart. So all functions of a plan share one mapping: they are compiled
//! first, and [`Reservation`] says what they need together. One mapping also costs one call to make its code executable.
//! Pages are never writable and executable at once: the module writes into them until it finalizes, which takes the right to
//! write away.

use cranelift_jit::{BranchProtection, JITMemoryKind, JITMemoryProvider, SystemMemoryProvider};
use cranelift_module::ModuleResult;
use std::io;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

/// Bytes of machine code that a plan needs. Whoever compiles it sets them before the first function is placed.
#[derive(Clone, Default)]
pub(crate) struct Reservation(Arc<AtomicUsize>);

impl Reservation {
    /// Sets what all functions of the plan need, in bytes.
    pub fn set(&self, bytes: usize) {
        self.0.store(bytes, Ordering::Relaxed);
    }
}

/// Gives each function its place in one mapping.
pub(crate) struct CodeMemory {
    system: SystemMemoryProvider,
    reservation: Reservation,
    /// What is left of the mapping: its first address, and bytes. Null and 0 before the first function.
    free: *mut u8,
    left: usize,
}

// SAFETY: `free` points into the mapping that `system` owns, and nobody else holds it.
unsafe impl Send for CodeMemory {}

impl CodeMemory {
    /// Memory for as many bytes as `reservation` says when the first function is placed.
    pub fn new(reservation: Reservation) -> CodeMemory {
        CodeMemory {
            system: SystemMemoryProvider::new(),
            reservation,
            free: std::ptr::null_mut(),
            left: 0,
        }
    }

    /// `size` bytes of the mapping, aligned to `align`. An error if more is asked for than was reserved.
    fn place(&mut self, size: usize, align: u64) -> io::Result<*mut u8> {
        if self.free.is_null() {
            let bytes = self.reservation.0.load(Ordering::Relaxed);
            self.free = (self.system).allocate(bytes, align, JITMemoryKind::Executable)?;
            self.left = bytes;
        }
        let gap = (self.free.addr() as u64).wrapping_neg() % align;
        let taken = usize::try_from(gap).ok().and_then(|gap| gap.checked_add(size));
        let Some(taken) = taken.filter(|&taken| taken <= self.left) else {
            return Err(io::Error::other(
                "a plan has more machine code than was reserved for it",
            ));
        };
        let end = self.free.wrapping_add(taken);
        (self.free, self.left) = (end, self.left - taken);
        Ok(end.wrapping_sub(size))
    }
}

impl JITMemoryProvider for CodeMemory {
    fn allocate(&mut self, size: usize, align: u64, kind: JITMemoryKind) -> io::Result<*mut u8> {
        match kind {
            JITMemoryKind::Executable => self.place(size, align),
            JITMemoryKind::Writable | JITMemoryKind::ReadOnly => self.system.allocate(size, align, kind),
        }
    }

    unsafe fn free_memory(&mut self) {
        (self.free, self.left) = (std::ptr::null_mut(), 0);
        // SAFETY: the caller says that nothing of this memory is used any more.
        unsafe { self.system.free_memory() };
    }

    fn finalize(&mut self, branch_protection: BranchProtection) -> ModuleResult<()> {
        // What is finalized is no longer writable: another function would begin another mapping.
        (self.free, self.left) = (std::ptr::null_mut(), 0);
        self.system.finalize(branch_protection)
    }
}
