//! A local copy of a file that lives elsewhere, which is filled as it is read.
//!
//! ```text
//! bytes 0 .. len            the copy: a page of it that was not fetched yet is a hole
//! bytes len .. len + pages  one byte for each page: 1 once the page was fetched
//! ```
//!
//! The file is mapped as long as it is open. Whoever wants bytes calls [`FilledFile::fetch`] first, which brings those
//! pages that are missing, and then reads the mapping. Pages that follow one another are fetched by one request.
//!
//! Several threads may want one page. One of them fetches the page, and the others wait for that thread. Each thread
//! gives the flag of its own statement, which ends its request or its wait. When the flag of the fetching thread is
//! set, the page is missing again, and one of the waiting threads fetches it.
//!
//! Several processes share a copy. Two of them may fetch one page at the same time, which writes the same bytes twice,
//! because the file elsewhere never changes. A mark is written after its page, so a process that sees the mark sees the
//! page.
//!
//! Nothing is synced. After a power cut a page may be missing behind its mark; readers compare what they read with
//! checksums, as always, and call [`FilledFile::fetch_anew`] if they differ.

use crate::open_files;
use frazil_types::Cancel;
use rustix::fs::FlockOperation;
use std::fmt;
use std::fs::{File, OpenOptions};
use std::io;
use std::ops::Range;
use std::os::unix::fs::{FileExt, MetadataExt, OpenOptionsExt};
use std::path::Path;
use std::sync::{Arc, Condvar, Mutex, MutexGuard};
use std::task::{Wake, Waker};

/// Bytes of a page. A block's header takes one page or two, so opening a block fetches little.
const PAGE: u64 = 16 << 10;
/// Most bytes of a request. A longer run of pages takes several requests.
const MOST_AT_ONCE: u64 = 8 << 20;
/// Most times that a copy is opened anew because another process removed it meanwhile.
const MOST_TRIES: usize = 16;

/// The file elsewhere.
pub trait FillSource: fmt::Debug + Send + Sync {
    /// Fills `into` from byte `offset` on; the file has these bytes. 57014 once `cancel` is set.
    fn read_at(&self, offset: u64, into: &mut [u8], cancel: &Cancel) -> io::Result<()>;
}

/// The state of a page in this process.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Page {
    Missing,
    /// A thread of this process fetches it.
    Coming,
    Present,
}

/// The states of all pages.
#[derive(Debug)]
struct Pages {
    states: Mutex<Vec<Page>>,
    /// Signalled when pages have come or have failed to, and when the flag of a waiting thread is set.
    changed: Condvar,
}

impl Pages {
    fn lock(&self) -> MutexGuard<'_, Vec<Page>> {
        self.states.lock().unwrap_or_else(|e| e.into_inner())
    }

    /// Waits for the next signal. A set flag is 57014.
    fn wait<'p>(
        &self,
        states: MutexGuard<'p, Vec<Page>>,
        cancel: &Cancel,
    ) -> io::Result<MutexGuard<'p, Vec<Page>>> {
        cancel.check().map_err(io::Error::other)?;
        Ok(self.changed.wait(states).unwrap_or_else(|e| e.into_inner()))
    }
}

/// Wakes the threads that wait when the flag of one of them is set.
impl Wake for Pages {
    fn wake(self: Arc<Self>) {
        // A thread that has found its flag unset holds the lock until it sleeps.
        drop(self.lock());
        self.changed.notify_all();
    }
}

/// A copy that is open. Other processes do not remove it until it is dropped.
#[derive(Debug)]
pub struct FilledFile {
    file: File,
    map: memmap2::Mmap,
    len: u64,
    pages: Arc<Pages>,
    source: Box<dyn FillSource>,
}

impl FilledFile {
    /// Opens the copy at `path` of a file of `len` bytes, and makes an empty one if there is none. `len` is at least 1.
    pub fn open(path: &Path, len: u64, source: Box<dyn FillSource>) -> io::Result<FilledFile> {
        let pages = len.div_ceil(PAGE);
        let file = open_locked(path, len + pages)?;
        // SAFETY: no process shortens the file: the only length that is ever set is this one, on a file that was just
        // made. Bytes of the copy change once, from a hole to the fetched bytes, and nobody reads a page before
        // `fetch` has seen it come.
        let map = unsafe { memmap2::MmapOptions::new().len(len as usize).map(&file) }?;
        Ok(FilledFile {
            file,
            map,
            len,
            pages: Arc::new(Pages {
                states: Mutex::new(vec![Page::Missing; pages as usize]),
                changed: Condvar::new(),
            }),
            source,
        })
    }

    /// The bytes, of which those are the file's that were fetched.
    pub fn bytes(&self) -> &[u8] {
        &self.map
    }

    /// Brings the bytes of a range that are missing. The part of the range behind the end of the file is left out.
    /// Returns the number of bytes that were fetched. 57014 once `cancel` is set, if it has to wait.
    pub fn fetch(&self, range: Range<u64>, cancel: &Cancel) -> io::Result<u64> {
        let end = range.end.min(self.len);
        if range.start >= end {
            return Ok(0);
        }
        let wanted = (range.start / PAGE) as usize..end.div_ceil(PAGE) as usize;
        let mut fetched = 0;
        let mut alarm = None;
        let mut pages = self.pages.lock();
        loop {
            if let Some(run) = next_missing(&pages, &wanted) {
                pages[run.clone()].fill(Page::Coming);
                drop(pages);
                let came = self.bring(run.clone(), cancel);
                pages = self.pages.lock();
                let state = if came.is_ok() {
                    Page::Present
                } else {
                    Page::Missing
                };
                pages[run].fill(state);
                self.pages.changed.notify_all();
                fetched += came?;
            } else if pages[wanted.clone()].contains(&Page::Coming) {
                alarm.get_or_insert_with(|| cancel.alarm(Waker::from(self.pages.clone())));
                pages = self.pages.wait(pages, cancel)?;
            } else {
                return Ok(fetched);
            }
        }
    }

    /// Fetches a range of which some bytes were found damaged, in place of what the copy has. 57014 as
    /// [`FilledFile::fetch`].
    pub fn fetch_anew(&self, range: Range<u64>, cancel: &Cancel) -> io::Result<u64> {
        let end = range.end.min(self.len);
        let wanted = (range.start / PAGE) as usize..end.div_ceil(PAGE).max(range.start / PAGE) as usize;
        let mut pages = self.pages.lock();
        for page in wanted {
            if pages[page] == Page::Present {
                self.file.write_all_at(&[0], self.len + page as u64)?;
                pages[page] = Page::Missing;
            }
        }
        drop(pages);
        self.fetch(range, cancel)
    }

    /// Brings pages, except those that another process has brought meanwhile. Returns the number of fetched bytes.
    fn bring(&self, run: Range<usize>, cancel: &Cancel) -> io::Result<u64> {
        let mut marks = vec![0; run.len()];
        self.file.read_exact_at(&mut marks, self.len + run.start as u64)?;
        let mut fetched = 0;
        let mut at = 0;
        while at < marks.len() {
            if marks[at] == 1 {
                at += 1;
                continue;
            }
            let most = (MOST_AT_ONCE / PAGE) as usize;
            let missing = marks[at..]
                .iter()
                .take(most)
                .take_while(|mark| **mark != 1)
                .count();
            let (first, last) = (run.start + at, run.start + at + missing);
            let from = first as u64 * PAGE;
            let mut bytes = vec![0; ((last as u64 * PAGE).min(self.len) - from) as usize];
            self.source.read_at(from, &mut bytes, cancel)?;
            self.file.write_all_at(&bytes, from)?;
            self.file
                .write_all_at(&vec![1; missing], self.len + first as u64)?;
            fetched += bytes.len() as u64;
            at += missing;
        }
        Ok(fetched)
    }
}

/// The first run of missing pages among `wanted`.
fn next_missing(pages: &[Page], wanted: &Range<usize>) -> Option<Range<usize>> {
    let first = wanted.clone().find(|page| pages[*page] == Page::Missing)?;
    let end = (first..wanted.end).find(|page| pages[*page] != Page::Missing);
    Some(first..end.unwrap_or(wanted.end))
}

/// Opens or makes a file of a length, and locks it against being removed by [`remove_unused`].
fn open_locked(path: &Path, len: u64) -> io::Result<File> {
    let mut options = OpenOptions::new();
    options
        .read(true)
        .write(true)
        .create(true)
        .truncate(false)
        .mode(0o600);
    for _ in 0..MOST_TRIES {
        let file = open_files::with_room(|| options.open(path))?;
        rustix::io::retry_on_intr(|| rustix::fs::flock(&file, FlockOperation::LockShared))?;
        let found = file.metadata()?;
        // The name may have gone between opening and locking.
        if found.nlink() == 0 {
            continue;
        }
        if found.len() == 0 {
            file.set_len(len)?;
            return Ok(file);
        }
        if found.len() == len {
            return Ok(file);
        }
        // Whoever has mapped the file of another length keeps it.
        std::fs::remove_file(path)?;
    }
    Err(io::Error::other("the file is removed as often as it is made"))
}

/// Removes a copy, unless a process has it open. Returns true if it is gone.
pub fn remove_unused(path: &Path) -> io::Result<bool> {
    let file = match File::open(path) {
        Err(e) if e.kind() == io::ErrorKind::NotFound => return Ok(true),
        file => file?,
    };
    match rustix::fs::flock(&file, FlockOperation::NonBlockingLockExclusive) {
        Err(rustix::io::Errno::WOULDBLOCK) => Ok(false),
        locked => {
            locked?;
            std::fs::remove_file(path)?;
            Ok(true)
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use frazil_types::{Error, SqlState};
    use std::path::PathBuf;
    use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
    use std::time::Duration;

    /// A file elsewhere that counts what is read of it.
    #[derive(Clone, Debug)]
    struct Elsewhere {
        bytes: Arc<Vec<u8>>,
        requests: Arc<AtomicU64>,
        read: Arc<AtomicU64>,
    }

    impl Elsewhere {
        fn of(len: usize) -> Elsewhere {
            Elsewhere {
                bytes: Arc::new((0..len).map(|i| (i / 7 % 251) as u8 + 1).collect()),
                requests: Arc::default(),
                read: Arc::default(),
            }
        }

        fn counts(&self) -> (u64, u64) {
            let of = |n: &AtomicU64| n.load(Ordering::Relaxed);
            (of(&self.requests), of(&self.read))
        }
    }

    impl FillSource for Elsewhere {
        fn read_at(&self, offset: u64, into: &mut [u8], _cancel: &Cancel) -> io::Result<()> {
            self.requests.fetch_add(1, Ordering::Relaxed);
            self.read.fetch_add(into.len() as u64, Ordering::Relaxed);
            let from = self.bytes.get(offset as usize..offset as usize + into.len());
            into.copy_from_slice(from.ok_or(io::ErrorKind::UnexpectedEof)?);
            Ok(())
        }
    }

    fn path(name: &str) -> PathBuf {
        let path = std::env::temp_dir().join(format!("frazil-filled-{name}-{}", std::process::id()));
        let _ = std::fs::remove_file(&path);
        path
    }

    #[test]
    fn pages_come_once_by_few_requests_and_another_opening_finds_them() {
        let (path, len) = (path("pages"), 10 * PAGE as usize + 5);
        let elsewhere = Elsewhere::of(len);
        let open = || FilledFile::open(&path, len as u64, Box::new(elsewhere.clone())).unwrap();
        let file = open();
        assert_eq!(file.fetch(PAGE + 3..PAGE + 4, &Cancel::new()).unwrap(), PAGE);
        assert_eq!(
            file.bytes()[PAGE as usize..2 * PAGE as usize],
            elsewhere.bytes[PAGE as usize..2 * PAGE as usize]
        );
        file.fetch(0..3 * PAGE, &Cancel::new()).unwrap();
        assert_eq!(elsewhere.counts(), (3, 3 * PAGE));
        let other = open();
        other.fetch(0..u64::MAX, &Cancel::new()).unwrap();
        assert_eq!(elsewhere.counts(), (4, len as u64));
        assert_eq!(other.bytes(), &elsewhere.bytes[..]);
        assert_eq!(file.fetch(0..len as u64, &Cancel::new()).unwrap(), 0);
        assert_eq!(file.bytes(), &elsewhere.bytes[..]);
        assert_eq!(file.fetch(len as u64..len as u64 + 9, &Cancel::new()).unwrap(), 0);
        assert!(!remove_unused(&path).unwrap());
        drop((file, other));
        assert!(remove_unused(&path).unwrap() && remove_unused(&path).unwrap());
    }

    #[test]
    fn damaged_pages_come_anew_and_a_copy_of_another_length_is_made_empty() {
        let (path, len) = (path("anew"), 4 * PAGE);
        let elsewhere = Elsewhere::of(len as usize);
        let open = || FilledFile::open(&path, len, Box::new(elsewhere.clone())).unwrap();
        let file = open();
        file.fetch(0..len, &Cancel::new()).unwrap();
        file.file.write_all_at(&[0; 99], PAGE + 5).unwrap();
        assert_ne!(file.bytes(), &elsewhere.bytes[..]);
        assert_eq!(file.fetch_anew(PAGE..PAGE + 1, &Cancel::new()).unwrap(), PAGE);
        assert_eq!(file.bytes(), &elsewhere.bytes[..]);
        drop(file);
        std::fs::write(&path, b"cut off").unwrap();
        let file = open();
        assert_eq!(file.fetch(0..len, &Cancel::new()).unwrap(), len);
        assert_eq!(file.bytes(), &elsewhere.bytes[..]);
        std::fs::remove_file(&path).unwrap();
    }

    #[test]
    fn threads_that_want_the_same_pages_fetch_them_once() {
        let (path, len) = (path("threads"), 50 * PAGE);
        let elsewhere = Elsewhere::of(len as usize);
        let file = FilledFile::open(&path, len, Box::new(elsewhere.clone())).unwrap();
        std::thread::scope(|scope| {
            for thread in 0..4u64 {
                let (file, bytes) = (&file, &elsewhere.bytes);
                scope.spawn(move || {
                    for step in 0..50 {
                        let at = ((step * 7 + thread * 13) % 50 * PAGE) as usize;
                        file.fetch(at as u64..at as u64 + 2 * PAGE, &Cancel::new())
                            .unwrap();
                        let end = (at + 2 * PAGE as usize).min(bytes.len());
                        assert_eq!(file.bytes()[at..end], bytes[at..end]);
                    }
                });
            }
        });
        assert_eq!(elsewhere.counts().1, len);
        std::fs::remove_file(&path).unwrap();
    }

    #[test]
    fn a_source_that_fails_is_asked_again() {
        let path = path("fails");
        let elsewhere = Elsewhere::of(PAGE as usize);
        let file = FilledFile::open(&path, 2 * PAGE, Box::new(elsewhere)).unwrap();
        for _ in 0..2 {
            assert_eq!(
                file.fetch(PAGE..PAGE + 1, &Cancel::new()).unwrap_err().kind(),
                io::ErrorKind::UnexpectedEof
            );
        }
        assert_eq!(file.fetch(0..1, &Cancel::new()).unwrap(), PAGE);
        std::fs::remove_file(&path).unwrap();
    }

    /// A file elsewhere whose first request waits for its flag, or for the test.
    #[derive(Clone, Debug)]
    struct Silent {
        elsewhere: Elsewhere,
        is_silent: Arc<AtomicBool>,
        asked: Arc<AtomicU64>,
    }

    impl FillSource for Silent {
        fn read_at(&self, offset: u64, into: &mut [u8], cancel: &Cancel) -> io::Result<()> {
            self.asked.fetch_add(1, Ordering::Relaxed);
            while self.is_silent.load(Ordering::Relaxed) {
                cancel.check().map_err(io::Error::other)?;
                std::thread::sleep(Duration::from_millis(1));
            }
            self.elsewhere.read_at(offset, into, cancel)
        }
    }

    #[test]
    fn a_flag_ends_the_fetch_or_the_wait_of_its_own_thread() {
        let (path, len) = (path("silent"), 3 * PAGE);
        let source = Silent {
            elsewhere: Elsewhere::of(len as usize),
            is_silent: Arc::new(AtomicBool::new(true)),
            asked: Arc::default(),
        };
        let file = FilledFile::open(&path, len, Box::new(source.clone())).unwrap();
        let [fetches, stopped, waits] = [(); 3].map(|()| Cancel::new());
        let is_cancelled = |error: io::Error| {
            let error = error.get_ref().and_then(|inner| inner.downcast_ref::<Error>());
            error.is_some_and(|error| error.state() == SqlState::QUERY_CANCELED)
        };
        let asked_times = |times: u64| {
            while source.asked.load(Ordering::Relaxed) < times {
                std::thread::sleep(Duration::from_millis(1));
            }
        };
        std::thread::scope(|scope| {
            let fetcher = scope.spawn(|| file.fetch(0..len, &fetches));
            asked_times(1);
            let others = [&stopped, &waits].map(|cancel| scope.spawn(|| file.fetch(PAGE..len, cancel)));
            // Nothing tells that a thread sleeps. One that is late finds its flag set.
            std::thread::sleep(Duration::from_millis(50));
            stopped.cancel();
            let [other, waiting] = others;
            assert!(is_cancelled(other.join().unwrap().unwrap_err()));
            assert!(!fetcher.is_finished() && !waiting.is_finished());
            // The pages of the fetching thread are missing again, and the waiting one fetches those that it wants.
            fetches.cancel();
            assert!(is_cancelled(fetcher.join().unwrap().unwrap_err()));
            asked_times(2);
            assert!(!waiting.is_finished());
            source.is_silent.store(false, Ordering::Relaxed);
            assert_eq!(waiting.join().unwrap().unwrap(), 2 * PAGE);
        });
        // Bytes that are there need no wait, whatever the flag.
        assert_eq!(file.fetch(PAGE..len, &fetches).unwrap(), 0);
        assert_eq!(
            file.bytes()[PAGE as usize..],
            source.elsewhere.bytes[PAGE as usize..]
        );
        std::fs::remove_file(&path).unwrap();
    }
}
