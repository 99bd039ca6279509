//! Bytes of a hot chunk's strings: written once, never moved, freed with the chunk.

use frazil_types::{StringRef, string_ref::INLINE_BYTES};
use std::sync::{Mutex, MutexGuard};

const FIRST_BLOCK: usize = 4 << 10;
const LARGEST_BLOCK: usize = 1 << 20;

/// A growing list of blocks of bytes.
#[derive(Debug, Default)]
pub struct StringArena {
    blocks: Mutex<Blocks>,
}

#[derive(Debug, Default)]
struct Blocks {
    // Vectors are filled up to their capacity and never beyond it, so their bytes never move.
    list: Vec<Vec<u8>>,
    bytes: usize,
}

/// Writes strings into an arena. The arena is locked from the first string that it keeps until the writer is dropped.
pub struct StringWriter<'a> {
    arena: &'a StringArena,
    blocks: Option<MutexGuard<'a, Blocks>>,
}

impl StringArena {
    /// A writer of the strings of some rows, which locks the arena once for all of their columns.
    pub fn writer(&self) -> StringWriter<'_> {
        StringWriter {
            arena: self,
            blocks: None,
        }
    }

    /// Bytes in use.
    pub fn bytes(&self) -> usize {
        self.lock().bytes
    }

    fn lock(&self) -> MutexGuard<'_, Blocks> {
        self.blocks.lock().unwrap_or_else(|e| e.into_inner())
    }
}

impl StringWriter<'_> {
    /// Copies each string that does not fit its reference and hands the reference to the copy to `put`.
    ///
    /// # Safety
    /// The strings must be alive.
    pub unsafe fn copy_all(&mut self, strings: &[StringRef], mut put: impl FnMut(usize, StringRef)) {
        for (i, string) in strings.iter().enumerate() {
            if string.len() <= INLINE_BYTES {
                put(i, *string);
                continue;
            }
            let blocks = self.blocks.get_or_insert_with(|| self.arena.lock());
            // SAFETY: alive by contract.
            let bytes = unsafe { string.bytes() };
            let kept = blocks.push(bytes);
            // SAFETY: `kept` lies in a block that never moves and lives as long as the arena, which
            // lives as long as the chunk that hands the reference out.
            put(i, unsafe { StringRef::new(&*kept) });
        }
    }
}

impl Blocks {
    fn push(&mut self, bytes: &[u8]) -> *const [u8] {
        let room = self
            .list
            .last()
            .is_some_and(|b| b.capacity() - b.len() >= bytes.len());
        if !room {
            let doubled = self.list.last().map_or(FIRST_BLOCK, |b| b.capacity() * 2);
            let capacity = doubled.min(LARGEST_BLOCK).max(bytes.len());
            self.list.push(Vec::with_capacity(capacity));
        }
        self.bytes += bytes.len();
        // The list has a block by now, and it has room.
        let block = self.list.last_mut().expect("a block was just made");
        let start = block.len();
        block.extend_from_slice(bytes);
        &raw const block[start..]
    }
}
