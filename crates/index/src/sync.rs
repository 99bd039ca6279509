//! The atomics and locks of this crate: std's, or loom's in the crate's unit tests, which are models that loom runs through
//! all schedules. Every other test lies in `tests/` and sees std's.

#[cfg(test)]
pub(crate) use loom::sync::{
    Mutex,
    atomic::{AtomicU64, Ordering, fence},
};
#[cfg(not(test))]
pub(crate) use std::sync::{
    Mutex,
    atomic::{AtomicU64, Ordering, fence},
};

/// Statistics, and words of data: loom need not try what else they could be, except where a model says so.
pub(crate) type Counter = std::sync::atomic::AtomicU64;

/// A word of a node or tail: a version, or data that versions guard.
#[cfg(not(test))]
#[derive(Debug)]
pub(crate) struct Word(AtomicU64);

#[cfg(not(test))]
impl Word {
    /// Zero.
    pub fn new() -> Word {
        Word(AtomicU64::new(0))
    }

    /// The word as data. What was read is true only if the version was the same before and after.
    #[inline(always)]
    pub fn read(&self) -> u64 {
        self.0.load(Ordering::Relaxed)
    }

    /// Changes data.
    #[inline(always)]
    pub fn write(&self, word: u64) {
        self.0.store(word, Ordering::Relaxed);
    }

    /// Reads the word as a version.
    #[inline(always)]
    pub fn load(&self, ordering: Ordering) -> u64 {
        self.0.load(ordering)
    }

    /// Changes a version.
    #[inline(always)]
    pub fn store(&self, version: u64, ordering: Ordering) {
        self.0.store(version, ordering);
    }

    /// Changes a version from one to another (acquire); false if it is not that one.
    #[inline(always)]
    pub fn exchange(&self, from: u64, to: u64) -> bool {
        (self
            .0
            .compare_exchange(from, to, Ordering::Acquire, Ordering::Relaxed))
        .is_ok()
    }
}

/// Rounds of a loop that waits for a latch before the thread gives up its turn: a latch is held for less than a microsecond,
/// unless its holder does not run.
#[cfg(not(test))]
const SPINS: u32 = 100;

/// Waits a moment for a latch, in the `round`th round of a loop.
#[cfg(not(test))]
pub(crate) fn wait(round: &mut u32) {
    *round += 1;
    if *round < SPINS {
        std::hint::spin_loop();
    } else {
        std::thread::yield_now();
    }
}

#[cfg(test)]
pub(crate) use modelled::{TRACK_DATA, Word, wait};

/// What loom sees.
#[cfg(test)]
mod modelled {
    use super::{AtomicU64, Counter, Ordering};
    use std::cell::Cell;

    thread_local! {
        /// True while a model checks data, too: what every read may see by the rules of memory. Loom runs all threads of a
        /// model on one.
        pub(crate) static TRACK_DATA: Cell<bool> = const { Cell::new(false) };
    }

    #[derive(Debug)]
    pub(crate) struct Word {
        plain: Counter,
        tracked: AtomicU64,
    }

    impl Word {
        pub fn new() -> Word {
            Word {
                plain: Counter::new(0),
                tracked: AtomicU64::new(0),
            }
        }

        pub fn read(&self) -> u64 {
            match TRACK_DATA.get() {
                true => self.tracked.load(Ordering::Relaxed),
                false => self.plain.load(Ordering::Relaxed),
            }
        }

        pub fn write(&self, word: u64) {
            match TRACK_DATA.get() {
                true => self.tracked.store(word, Ordering::Relaxed),
                false => self.plain.store(word, Ordering::Relaxed),
            }
        }

        /// Where data is not tracked, loom does not know that having read new data forbids to read an old version: so the newest
        /// one is read, and schedules alone differ.
        fn ordering(ordering: Ordering) -> Ordering {
            if TRACK_DATA.get() {
                ordering
            } else {
                Ordering::SeqCst
            }
        }

        pub fn load(&self, ordering: Ordering) -> u64 {
            self.tracked.load(Word::ordering(ordering))
        }

        pub fn store(&self, version: u64, ordering: Ordering) {
            self.tracked.store(version, Word::ordering(ordering));
        }

        pub fn exchange(&self, from: u64, to: u64) -> bool {
            let (success, failure) = (
                Word::ordering(Ordering::Acquire),
                Word::ordering(Ordering::Relaxed),
            );
            self.tracked.compare_exchange(from, to, success, failure).is_ok()
        }
    }

    pub(crate) fn wait(_round: &mut u32) {
        loom::thread::yield_now();
    }
}
