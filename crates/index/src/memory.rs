//! Memory of a tree: pieces of some sizes in words, cut from slabs that live as long as the tree. A piece that is given back
//! is handed out again as a piece of the same size, never as anything else.
//!
//! So an address that was once read from the tree names readable words for as long as the tree lives. A reader may follow an
//! address that has become stale meanwhile: it reads words that say something else by now, atomically, finds that a version
//! has changed, and starts again. That is all that the tree needs of reclamation: no epochs, no pins, nothing that a reader
//! writes. The price: memory goes back to the system only with the whole tree.

use crate::slab::Slab;
use crate::sync::{Counter, Mutex, Word};
use std::sync::atomic::Ordering::Relaxed;

/// Words of the largest slab: 8 MiB, four huge pages.
const MOST_SLAB_WORDS: usize = 1 << 20;

/// Pieces of one size.
#[derive(Debug)]
pub(crate) struct Pieces {
    words: usize,
    inner: Mutex<Slabs>,
    /// Words of all slabs.
    total: Counter,
}

#[derive(Debug, Default)]
struct Slabs {
    slabs: Vec<Slab>,
    /// Words of the last slab that were handed out.
    used: usize,
    /// Addresses of pieces that were given back.
    free: Vec<u64>,
}

impl Pieces {
    /// Pieces of `words` words each, of which there are none yet.
    pub fn new(words: usize) -> Pieces {
        Pieces {
            words,
            inner: Mutex::new(Slabs::default()),
            total: Counter::new(0),
        }
    }

    /// The address of a piece. Its words are zero or what they were when the piece was given back.
    pub fn take(&self) -> u64 {
        let mut inner = self.inner.lock().unwrap_or_else(|e| e.into_inner());
        if let Some(address) = inner.free.pop() {
            return address;
        }
        let room = inner.slabs.last().map_or(0, |slab| slab.words().len());
        if room < inner.used + self.words {
            // The first slab is one piece, so that a small index is small; each later one doubles the whole.
            let words =
                (self.total.load(Relaxed) as usize).clamp(self.words, MOST_SLAB_WORDS.max(self.words));
            let words = words / self.words * self.words;
            inner.slabs.push(Slab::new(words));
            inner.used = 0;
            self.total.fetch_add(words as u64, Relaxed);
        }
        let at = inner.used;
        inner.used += self.words;
        let slab = inner.slabs.last().expect("a slab was made");
        slab.words()[at..].as_ptr().expose_provenance() as u64
    }

    /// Takes a piece back. Nothing in the tree leads to it any more, but readers may still be in it.
    pub fn give_back(&self, address: u64) {
        self.inner
            .lock()
            .unwrap_or_else(|e| e.into_inner())
            .free
            .push(address);
    }

    /// The words of a piece.
    ///
    /// # Safety
    /// The address came from [`Pieces::take`] of this very object.
    pub unsafe fn words(&self, address: u64) -> &[Word] {
        // SAFETY: by contract the address is that of `self.words` words, and slabs stay while `self` is borrowed.
        unsafe { words_at(address, self.words) }
    }

    /// Bytes of all slabs.
    pub fn bytes(&self) -> usize {
        self.total.load(Relaxed) as usize * size_of::<u64>()
    }
}

/// Words at an address.
///
/// # Safety
/// The address is that of a piece of at least `words` words, whose [`Pieces`] live for `'a`.
pub(crate) unsafe fn words_at<'a>(address: u64, words: usize) -> &'a [Word] {
    let start = std::ptr::with_exposed_provenance::<Word>(address as usize);
    // SAFETY: by contract; `take` exposed the provenance of the slab. Slabs neither move nor go, and nobody writes to them but
    // through atomics.
    unsafe { std::slice::from_raw_parts(start, words) }
}
