//! The visible version of a store: the one that readers begin with.
//!
//! A version that is looked at again and again lies in a cell that any number of threads read without a lock. To change
//! the cell costs more than to read it: whoever does looks through the notes of every thread that ever read it, and a
//! server has a thread for each session. A commit of a row would spend more time there than on all else. So a commit
//! puts its version behind a latch, which it holds while it swaps a pointer. Readers take the version from there, and
//! the one who does so [`FEW_LOOKS`] times after a commit fills the cell. Beside many commits, a reader takes the
//! latch; without commits, nobody does.
//!
//! The timestamp of the visible version tells whether the cell has that version. An older version leaves the cell right
//! after the commit, outside of the section: a version keeps chunks and index entries alive.

use crate::log::Lsn;
use crate::persistent_map::PersistentMap;
use crate::snapshot::Snapshot;
use arc_swap::{ArcSwap, Guard};
use std::ops::Deref;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard};

/// Looks at a version behind the latch after which the cell has it. Filling and emptying the cell costs some 200 ns for
/// each thread, a look behind the latch 20 ns.
const FEW_LOOKS: u32 = 32;

/// The visible version.
#[derive(Debug)]
pub(crate) struct Visible {
    latch: Mutex<Latest>,
    /// Timestamp of the version.
    timestamp: AtomicU64,
    /// The version, an older one, or `nothing`. Changed under the latch.
    cell: ArcSwap<Snapshot>,
    /// True if the cell has something. Changed under the latch.
    is_filled: AtomicBool,
    nothing: Arc<Snapshot>,
}

#[derive(Debug)]
struct Latest {
    version: Arc<Snapshot>,
    /// Looks at the version since it became visible.
    looks: u32,
}

/// A version that is looked at.
#[derive(Debug)]
pub enum Look {
    /// In the cell.
    Shared(Guard<Arc<Snapshot>>),
    /// Taken from behind the latch.
    Taken(Arc<Snapshot>),
}

impl Deref for Look {
    type Target = Arc<Snapshot>;

    fn deref(&self) -> &Arc<Snapshot> {
        match self {
            Look::Shared(version) => version,
            Look::Taken(version) => version,
        }
    }
}

impl Snapshot {
    /// A version of nothing, which is later than all others.
    fn nothing() -> Snapshot {
        Snapshot {
            timestamp: u64::MAX,
            lsn: Lsn(0),
            visible_at: Lsn(0),
            catalog: Arc::default(),
            tables: PersistentMap::default(),
            damaged: Arc::default(),
        }
    }
}

impl Visible {
    /// A store whose visible version is this one.
    pub fn new(version: Arc<Snapshot>) -> Visible {
        let nothing = Arc::new(Snapshot::nothing());
        Visible {
            timestamp: AtomicU64::new(version.timestamp),
            latch: Mutex::new(Latest { version, looks: 0 }),
            cell: ArcSwap::new(nothing.clone()),
            is_filled: AtomicBool::new(false),
            nothing,
        }
    }

    fn latest(&self) -> MutexGuard<'_, Latest> {
        self.latch.lock().unwrap_or_else(|e| e.into_inner())
    }

    /// The version, to be looked at for a while: cheap as long as a thread has few of them.
    pub fn look(&self) -> Look {
        let seen = self.cell.load();
        match seen.timestamp == self.timestamp.load(Ordering::Acquire) {
            true => Look::Shared(seen),
            false => Look::Taken(self.take()),
        }
    }

    /// The version, to be kept.
    pub fn get(&self) -> Arc<Snapshot> {
        match self.look() {
            Look::Shared(version) => Guard::into_inner(version),
            Look::Taken(version) => version,
        }
    }

    fn take(&self) -> Arc<Snapshot> {
        let mut latest = self.latest();
        latest.looks = latest.looks.saturating_add(1);
        if latest.looks == FEW_LOOKS {
            self.cell.store(latest.version.clone());
            self.is_filled.store(true, Ordering::Relaxed);
        }
        latest.version.clone()
    }

    /// Makes `next` the visible version, unless a later one is. Returns the one that is not visible any more, which may
    /// be the last one of many versions of tables. [`Visible::tidy`] is to be called soon.
    pub fn show(&self, next: &Arc<Snapshot>) -> Arc<Snapshot> {
        if self.timestamp.load(Ordering::Acquire) >= next.timestamp {
            return next.clone();
        }
        let mut latest = self.latest();
        if latest.version.timestamp >= next.timestamp {
            return next.clone();
        }
        latest.looks = 0;
        self.timestamp.store(next.timestamp, Ordering::Release);
        std::mem::replace(&mut latest.version, next.clone())
    }

    /// Empties the cell if it has an older version than the visible one.
    pub fn tidy(&self) {
        // Whoever filled it with an older version did so before the version was replaced, under the latch.
        if !self.is_filled.load(Ordering::Relaxed) {
            return;
        }
        let latest = self.latest();
        let is_older = self.cell.load().timestamp != latest.version.timestamp;
        let older = is_older.then(|| self.cell.swap(self.nothing.clone()));
        if is_older {
            self.is_filled.store(false, Ordering::Relaxed);
        }
        drop(latest);
        drop(older);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::sync::Weak;

    fn version(timestamp: u64) -> Arc<Snapshot> {
        Arc::new(Snapshot {
            timestamp,
            ..Snapshot::nothing()
        })
    }

    #[test]
    fn the_latest_version_is_seen_and_no_other_one_is_kept() {
        let visible = Visible::new(version(1));
        for looks in [0, 1, FEW_LOOKS - 1, FEW_LOOKS, FEW_LOOKS + 1, 3 * FEW_LOOKS] {
            let before = Arc::downgrade(&visible.get());
            let next = version(visible.get().timestamp + 1);
            let replaced = visible.show(&next);
            assert!(std::ptr::eq(before.as_ptr(), Arc::as_ptr(&replaced)));
            drop(replaced);
            visible.tidy();
            assert_eq!(before.strong_count(), 0);
            for look in 1..=looks {
                let seen = visible.look();
                assert_eq!(seen.timestamp, next.timestamp);
                assert_eq!(matches!(seen, Look::Shared(_)), look > FEW_LOOKS);
            }
            assert!(Arc::ptr_eq(&visible.get(), &next));
        }
        // An earlier version that comes late changes nothing.
        let now = visible.get();
        assert_eq!(visible.show(&version(3)).timestamp, 3);
        assert!(Arc::ptr_eq(&visible.get(), &now));
    }

    /// A commit shows its version before it empties the cell. Readers between the two see the version.
    #[test]
    fn a_version_is_seen_as_soon_as_it_is_shown() {
        let visible = Visible::new(version(1));
        for _ in 0..=FEW_LOOKS {
            visible.look();
        }
        assert!(matches!(visible.look(), Look::Shared(_)));
        for timestamp in 2..5 {
            drop(visible.show(&version(timestamp)));
            assert_eq!(visible.look().timestamp, timestamp);
            assert_eq!(visible.get().timestamp, timestamp);
        }
    }

    #[test]
    fn readers_never_go_back_beside_commits() {
        const VERSIONS: u64 = 20_000;
        let visible = Visible::new(version(0));
        let last: Weak<Snapshot> = std::thread::scope(|scope| {
            for _ in 0..3 {
                scope.spawn(|| {
                    let mut seen = 0;
                    while seen < VERSIONS {
                        let now = visible.look().timestamp;
                        assert!(now >= seen);
                        seen = now;
                    }
                });
            }
            for timestamp in 1..=VERSIONS {
                let next = version(timestamp);
                drop(visible.show(&next));
                visible.tidy();
                assert!(visible.look().timestamp == timestamp);
            }
            Arc::downgrade(&visible.get())
        });
        drop(visible.show(&version(VERSIONS + 1)));
        visible.tidy();
        assert_eq!(last.strong_count(), 0);
    }
}
