//! Footers of Parquet files, kept between statements: to decode one takes longer than many a statement that reads its
//! file.
//!
//! A footer serves as long as its file is the same one, as the file system numbers files, and has the same length and
//! the same times of its last changes. They are those of the opened file: what is compared is what is read. Times tell
//! changes apart only as finely as the clock of the file system ticks. So a footer is kept only if the file had settled
//! before it was read: its last change was further back than a tick, and whatever changes it from then on gives it
//! another time. The time of a change of the file's state counts beside that of its contents, because programs set the
//! latter. An object of a store has a version, which its store changes with every write: its footer serves for that
//! version.

use crate::open_file::OpenFile;
use crate::parquet_footer::Footer;
use frazil_types::Result;
use std::collections::{BTreeMap, HashMap};
use std::fs::Metadata;
use std::os::unix::fs::MetadataExt;
use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, SystemTime, UNIX_EPOCH};

/// How far back a file's last change must lie: no file system in use counts by more than two seconds (FAT).
const SETTLED: Duration = Duration::from_secs(2);
/// Bytes of footers that are kept at most: some dozens of files of 50 row groups and 16 columns.
const CAPACITY: usize = 32 << 20;
/// Part of `memory_limit` that they take at most: one of so many. They count towards nobody's budget.
const SHARE: usize = 64;
/// What a footer takes beside its own bytes, at least.
const ENTRY_BYTES: usize = 4 << 10;
const NANOSECONDS: i128 = 1_000_000_000;

/// The footers that a database keeps.
#[derive(Debug)]
pub struct FooterCache {
    /// How far back a file's last change must lie.
    settled: Duration,
    /// Bytes that it may keep.
    capacity: AtomicUsize,
    kept: Mutex<Kept>,
    hits: AtomicU64,
}

impl Default for FooterCache {
    fn default() -> FooterCache {
        FooterCache::settling(SETTLED)
    }
}

/// The facts that tell files apart.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
enum FileId {
    /// Number of a file system, and of a file in it.
    Local(u64, u64),
    /// The URL of an object.
    Object(String),
}

/// What tells the states of a file apart.
#[derive(Clone, Debug, PartialEq, Eq)]
enum Stamp {
    /// A file of this machine.
    Local(Times),
    /// The version of an object, which its store changes with every write.
    Object(String),
}

/// Length and times of a file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Times {
    bytes: u64,
    /// When its contents were changed, by nanoseconds since 1970. Programs set that at will.
    modified: i128,
    /// When anything of it was changed; the system alone sets that.
    changed: i128,
}

/// Footers by their files, and in the order of their last uses.
#[derive(Debug, Default)]
struct Kept {
    files: HashMap<FileId, Entry>,
    /// By the numbers of their last uses.
    used: BTreeMap<u64, FileId>,
    uses: u64,
    bytes: usize,
}

#[derive(Debug)]
struct Entry {
    stamp: Stamp,
    footer: Arc<Footer>,
    bytes: usize,
    /// The number of its last use.
    used: u64,
}

impl Stamp {
    /// True if each later state of the file has another stamp.
    fn is_settled(&self, now: SystemTime, settled: Duration) -> bool {
        match self {
            Stamp::Local(times) => times.is_settled(now, settled),
            Stamp::Object(_) => true,
        }
    }
}

impl Times {
    fn of(metadata: &Metadata) -> Times {
        let time =
            |seconds: i64, nanoseconds: i64| i128::from(seconds) * NANOSECONDS + i128::from(nanoseconds);
        Times {
            bytes: metadata.len(),
            modified: time(metadata.mtime(), metadata.mtime_nsec()),
            changed: time(metadata.ctime(), metadata.ctime_nsec()),
        }
    }

    /// True if its last change is so far back that a later one has another time. A change that is ahead is not: after a
    /// clock was set back, no footers are kept until it has caught up.
    fn is_settled(&self, now: SystemTime, settled: Duration) -> bool {
        let nanoseconds = |duration: Duration| i128::try_from(duration.as_nanos()).unwrap_or(i128::MAX);
        let now = now.duration_since(UNIX_EPOCH).map_or(0, nanoseconds);
        now - self.modified.max(self.changed) >= nanoseconds(settled)
    }
}

impl FooterCache {
    /// An empty cache, which keeps footers of files whose last change lies so far back.
    pub fn settling(settled: Duration) -> FooterCache {
        FooterCache {
            settled,
            capacity: AtomicUsize::new(CAPACITY),
            kept: Mutex::default(),
            hits: AtomicU64::new(0),
        }
    }

    /// Keeps no more than a part of a memory limit.
    pub fn limit(&self, memory_limit: usize) {
        let capacity = (memory_limit / SHARE).min(CAPACITY);
        self.capacity.store(capacity, Ordering::Relaxed);
        let gone = self.lock().shrink(capacity);
        drop(gone);
    }

    /// How often a footer was there.
    pub fn hits(&self) -> u64 {
        self.hits.load(Ordering::Relaxed)
    }

    /// How many footers are there.
    pub fn len(&self) -> usize {
        self.lock().files.len()
    }

    /// Whether none is there.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// The footer of an opened file; `decode` reads it, unless it was kept. That of an object without a version is not
    /// kept.
    pub(crate) fn footer(
        &self,
        file: &OpenFile,
        decode: impl FnOnce() -> Result<Footer>,
    ) -> Result<Arc<Footer>> {
        let (id, stamp) = match file {
            OpenFile::Local(_, metadata) => {
                let id = FileId::Local(metadata.dev(), metadata.ino());
                (id, Stamp::Local(Times::of(metadata)))
            }
            OpenFile::Object(object, _) => match object.version() {
                Some(version) => (FileId::Object(object.name()), Stamp::Object(version.to_owned())),
                None => return Ok(Arc::new(decode()?)),
            },
        };
        if let Some(footer) = self.lock().find(&id, &stamp) {
            self.hits.fetch_add(1, Ordering::Relaxed);
            return Ok(footer);
        }
        // By the clock before it is read: what changes the file afterwards does so later.
        let is_settled = stamp.is_settled(SystemTime::now(), self.settled);
        let footer = Arc::new(decode()?);
        if is_settled {
            self.put(id, stamp, &footer);
        }
        Ok(footer)
    }

    fn put(&self, id: FileId, stamp: Stamp, footer: &Arc<Footer>) {
        let bytes = ENTRY_BYTES + footer.bytes();
        let capacity = self.capacity.load(Ordering::Relaxed);
        if bytes > capacity {
            return;
        }
        let mut kept = self.lock();
        let before = kept.remove(&id);
        let gone = kept.shrink(capacity - bytes);
        kept.uses += 1;
        let used = kept.uses;
        kept.bytes += bytes;
        kept.used.insert(used, id.clone());
        let footer = footer.clone();
        kept.files.insert(
            id,
            Entry {
                stamp,
                footer,
                bytes,
                used,
            },
        );
        // What goes is freed after the lock.
        drop(kept);
        drop((before, gone));
    }

    fn lock(&self) -> MutexGuard<'_, Kept> {
        self.kept.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Kept {
    /// The footer of a file in this state.
    fn find(&mut self, id: &FileId, stamp: &Stamp) -> Option<Arc<Footer>> {
        let entry = self.files.get_mut(id).filter(|entry| entry.stamp == *stamp)?;
        self.uses += 1;
        self.used.remove(&entry.used);
        entry.used = self.uses;
        self.used.insert(entry.used, id.clone());
        Some(entry.footer.clone())
    }

    fn remove(&mut self, id: &FileId) -> Option<Entry> {
        let entry = self.files.remove(id)?;
        self.used.remove(&entry.used);
        self.bytes -= entry.bytes;
        Some(entry)
    }

    /// Takes out those that were not used for longest, until no more than `bytes` are left.
    fn shrink(&mut self, bytes: usize) -> Vec<Entry> {
        let mut gone = Vec::new();
        while self.bytes > bytes
            && let Some((_, id)) = self.used.pop_first()
        {
            gone.extend(self.remove(&id));
        }
        gone
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_file_has_settled_when_both_its_times_lie_back() {
        let at = |seconds: u64| UNIX_EPOCH + Duration::from_secs(seconds);
        let stamp = |modified: i128, changed: i128| Times {
            bytes: 1,
            modified: modified * NANOSECONDS,
            changed: changed * NANOSECONDS,
        };
        for (modified, changed, now, expected) in [
            (10, 10, 12, true),
            (10, 10, 11, false),
            (3, 10, 11, false),
            (10, 3, 11, false),
            (3, 3, 11, true),
            // The file's times lie ahead: another machine's clock, or a clock that was set back.
            (20, 3, 11, false),
            (3, 20, 11, false),
            (-5, -5, 0, true),
        ] {
            let settled = stamp(modified, changed).is_settled(at(now), SETTLED);
            assert_eq!(settled, expected, "{modified} {changed} {now}");
        }
    }
}
