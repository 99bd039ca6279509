//! Where the words of a slab lie: on the heap, or, in a large one, in a mapping of its own that asks for huge pages.
//!
//! A lookup in a tree that is larger than the caches touches a page at random in each of the lower levels. With pages of 4 KiB
//! each touch is a miss of the TLB as well, whose walk costs as much as the miss of the cache itself. The crate's unit tests are
//! models whose words are more than a word: there all slabs are on the heap.

use crate::sync::Word;
#[cfg(not(test))]
use frazil_vfs::AnonymousMapping;

/// Zeroed words that neither move nor go while the slab lives.
#[derive(Debug)]
pub(crate) enum Slab {
    Heap(Box<[Word]>),
    #[cfg(not(test))]
    Mapped(Mapped),
}

impl Slab {
    /// A slab of `words` words.
    pub fn new(words: usize) -> Slab {
        #[cfg(not(test))]
        if let Some(mapped) = Mapped::new(words) {
            return Slab::Mapped(mapped);
        }
        Slab::Heap((0..words).map(|_| Word::new()).collect())
    }

    /// All words.
    pub fn words(&self) -> &[Word] {
        match self {
            Slab::Heap(words) => words,
            #[cfg(not(test))]
            Slab::Mapped(mapped) => mapped.words(),
        }
    }
}

/// Bytes of a huge page, on which the words of a mapped slab begin.
#[cfg(not(test))]
const HUGE_PAGE: usize = 2 << 20;

/// Words in memory of the system.
#[cfg(not(test))]
#[derive(Debug)]
pub(crate) struct Mapped {
    mapping: AnonymousMapping,
    /// Bytes in front of the first word.
    before: usize,
    words: usize,
}

#[cfg(not(test))]
impl Mapped {
    /// `None` for less than a huge page, and where the system has no room.
    fn new(words: usize) -> Option<Mapped> {
        let bytes = words * size_of::<Word>();
        if bytes < HUGE_PAGE {
            return None;
        }
        let mapping = AnonymousMapping::reserve(bytes + HUGE_PAGE).ok()?;
        mapping.expect_to_fill();
        let before = mapping.as_ptr().align_offset(HUGE_PAGE);
        Some(Mapped {
            mapping,
            before,
            words,
        })
    }

    fn words(&self) -> &[Word] {
        // SAFETY: the mapping has room for the words behind `before`, which is less than a huge page; its bytes are zeros or what
        // was stored as words, it neither moves nor goes while `self` lives, and only atomics write to it.
        unsafe {
            let start = self.mapping.as_ptr().add(self.before).cast::<Word>();
            std::slice::from_raw_parts(start, self.words)
        }
    }
}
