//! What a file system has to do for a database: the one door to its files.
//!
//! Errors are the system's; who calls turns them into ours with [`io_error`](crate::io_error), which names the file.
//! What is durable follows from three promises: after a successful [`VfsFile::sync`] the file's bytes and length are;
//! after a successful [`Vfs::sync_directory`] the names in the directory are; and a sync that failed made nothing durable
//! that can be counted on, not even after a later one that succeeds, unless it is written again.

use crate::filled_file::FilledFile;
use frazil_types::Cancel;
use std::ffi::OsString;
use std::fmt;
use std::io;
use std::ops::Range;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

/// A file system. Paths are the caller's; a directory's entries are named relative to it.
pub trait Vfs: fmt::Debug + Send + Sync {
    /// Takes hold of the directory that `directory` leads to now. See [`HeldDirectory`].
    fn hold(&self, directory: &Path) -> io::Result<HeldDirectory>;

    /// Opens a file that is there.
    fn open(&self, path: &Path, access: Access) -> io::Result<Box<dyn VfsFile>>;

    /// Creates an empty file and opens it for reading and writing. `AlreadyExists` if the name is taken.
    fn create(&self, path: &Path) -> io::Result<Box<dyn VfsFile>>;

    /// Makes a directory in one that is there. `AlreadyExists` if the name is taken.
    fn create_directory(&self, path: &Path) -> io::Result<()>;

    /// Makes the names in a directory durable.
    fn sync_directory(&self, path: &Path) -> io::Result<()>;

    /// Gives a file another name, in the place of a file that had it.
    fn rename(&self, from: &Path, to: &Path) -> io::Result<()>;

    /// Removes a file's name. Whoever has the file open or mapped keeps it.
    fn remove(&self, path: &Path) -> io::Result<()>;

    /// The names in a directory, in no order.
    fn list(&self, directory: &Path) -> io::Result<Vec<OsString>>;

    /// What lies at a path; `None` if nothing does.
    fn entry(&self, path: &Path) -> io::Result<Option<Entry>>;

    /// True if a directory is another one, or lies below it, at any depth and by whatever links a path leads there.
    fn is_within(&self, directory: &Path, above: &Path) -> io::Result<bool>;

    /// Maps a whole file for reading. Nobody may change or shorten the file as long as the mapping lives.
    fn map(&self, path: &Path) -> io::Result<Mapping>;

    /// Locks a directory: for [`Access::Write`] this process has it alone, for [`Access::Read`] it shares the lock with others who
    /// read, and nothing is written.
    fn lock(&self, directory: &Path, access: Access) -> io::Result<Locking>;

    /// Bytes that may still be written to the file system of a directory.
    fn space(&self, directory: &Path) -> io::Result<u64>;

    /// What was done so far.
    fn counters(&self) -> &IoCounters;

    /// These files by calls that end with 57014 once `cancel` is set; `None` if no call waits for long.
    fn stopped_by(&self, cancel: &Cancel) -> Option<Arc<dyn Vfs>> {
        let _ = cancel;
        None
    }

    /// These files, with what one look at `directory` tells of all files in it, so that mapping one costs no request of
    /// its own. `None` if mapping costs none anyway, or if the look is not allowed.
    fn looked_over(&self, directory: &Path) -> io::Result<Option<Arc<dyn Vfs>>> {
        let _ = directory;
        Ok(None)
    }

    /// True if the files are on a server elsewhere. Then each call costs a request, a lock holds in this process alone,
    /// and a rename replaces a file only as long as it is the one that was last read or written: `ResourceBusy`.
    fn is_elsewhere(&self) -> bool {
        false
    }
}

/// A directory that stays the same one, whatever happens to its path or to the process.
///
/// Every path below [`HeldDirectory::path`] that is given to [`HeldDirectory::vfs`] leads into the directory that was there when it was
/// taken hold of. A rename of the directory, another directory in its place, a link on the way that is turned elsewhere and
/// another working directory change nothing of that. New files get the permissions that the directory had then, whatever
/// the process's umask is by now. All other paths mean what they mean to the file system itself.
#[derive(Clone, Debug)]
pub struct HeldDirectory {
    /// The file system, with the directory held. It lets go of the directory when its last clone is dropped.
    pub vfs: Arc<dyn Vfs>,
    /// The directory's absolute path when it was taken hold of.
    pub path: PathBuf,
}

/// An open file. Reads and writes name their place, so that threads share it.
pub trait VfsFile: fmt::Debug + Send + Sync {
    /// Fills `into` from byte `offset` on. Returns the number of bytes read, which is less than `into.len()` only where the
    /// file ends.
    fn read_at(&self, offset: u64, into: &mut [u8]) -> io::Result<usize>;

    /// Writes all of `bytes` at byte `offset`; the file grows if they reach beyond its end. After an error any part of them
    /// may have been written.
    fn write_at(&self, offset: u64, bytes: &[u8]) -> io::Result<()>;

    /// Makes bytes and length durable.
    fn sync(&self) -> io::Result<()>;

    /// Brings bytes on their way, so that less is left for [`VfsFile::sync`]. Nothing is durable for certain.
    fn sync_so_far(&self) -> io::Result<()> {
        self.sync()
    }

    /// The file's length in bytes.
    fn len(&self) -> io::Result<u64>;

    /// Whether the file holds no byte.
    fn is_empty(&self) -> io::Result<bool> {
        self.len().map(|len| len == 0)
    }
}

/// A lock that is held until this is dropped, or the process ends.
pub trait VfsLock: fmt::Debug + Send + Sync {
    /// Removes a file of the locked directory, whatever lies at the directory's path by now. `name` is relative to it.
    fn remove(&self, name: &Path) -> io::Result<()>;
}

/// What became of a wish for a lock.
#[derive(Debug)]
pub enum Locking {
    /// It is held now.
    Ours(Box<dyn VfsLock>),
    /// Others hold it.
    Theirs(Holder),
    /// The file system cannot lock files.
    Unsupported,
}

/// Who holds a lock.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Holder {
    /// One that writes; what it wrote about itself (its number, and since when), or nothing.
    Writer(String),
    /// Some that read: the numbers of their processes, as far as the system tells them.
    Readers(Vec<u32>),
}

/// What is done with a directory or a file.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Access {
    /// It is read and written.
    #[default]
    Write,
    /// It is only read: nothing about it changes.
    Read,
}

/// What lies at a path.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Entry {
    /// A file.
    File,
    /// A directory.
    Directory,
}

/// How often a file system was asked to do what costs time. Each sync that is counted is one call of the operating system.
#[derive(Debug, Default)]
pub struct IoCounters {
    file_syncs: AtomicU64,
    directory_syncs: AtomicU64,
    writes: AtomicU64,
    bytes_written: AtomicU64,
}

impl IoCounters {
    /// Counts a sync of a file, whether it succeeds or not.
    pub fn count_file_sync(&self) {
        self.file_syncs.fetch_add(1, Ordering::Relaxed);
    }

    /// Counts a sync of a directory, whether it succeeds or not.
    pub fn count_directory_sync(&self) {
        self.directory_syncs.fetch_add(1, Ordering::Relaxed);
    }

    /// Counts a write of that many bytes.
    pub fn count_write(&self, bytes: usize) {
        self.writes.fetch_add(1, Ordering::Relaxed);
        self.bytes_written.fetch_add(bytes as u64, Ordering::Relaxed);
    }

    /// Syncs of files.
    pub fn file_syncs(&self) -> u64 {
        self.file_syncs.load(Ordering::Relaxed)
    }

    /// Syncs of directories.
    pub fn directory_syncs(&self) -> u64 {
        self.directory_syncs.load(Ordering::Relaxed)
    }

    /// Writes to files.
    pub fn writes(&self) -> u64 {
        self.writes.load(Ordering::Relaxed)
    }

    /// Bytes of these writes.
    pub fn bytes_written(&self) -> u64 {
        self.bytes_written.load(Ordering::Relaxed)
    }
}

/// The alignment of a mapping's first byte, in bytes: that of Data Blocks.
const ALIGNMENT: usize = 64;

/// A file's bytes in memory, from its first on. They never move.
#[derive(Debug)]
pub struct Mapping(Bytes);

#[derive(Debug)]
enum Bytes {
    Mapped(memmap2::Mmap),
    Filled(Arc<FilledFile>),
    // `buffer[start..start + len]` are the file's bytes.
    Copied {
        buffer: Box<[u8]>,
        start: usize,
        len: usize,
    },
}

impl Mapping {
    /// A mapping of the system's.
    pub(crate) fn mapped(map: memmap2::Mmap) -> Mapping {
        Mapping(Bytes::Mapped(map))
    }

    /// A mapping of a local copy that is filled as it is read: bytes are there once [`Mapping::fetch`] has brought
    /// them.
    pub fn filled(file: Arc<FilledFile>) -> Mapping {
        Mapping(Bytes::Filled(file))
    }

    /// True if bytes must be fetched before they are read.
    pub fn is_filled_when_read(&self) -> bool {
        matches!(self.0, Bytes::Filled(_))
    }

    /// Brings the bytes of a range that are not there yet. 57014 once the statement of this thread is cancelled
    /// ([`Cancel::during`]).
    pub fn fetch(&self, range: Range<u64>) -> io::Result<()> {
        match &self.0 {
            Bytes::Filled(file) => file.fetch(range, &Cancel::of_thread()).map(drop),
            Bytes::Mapped(_) | Bytes::Copied { .. } => Ok(()),
        }
    }

    /// Brings the bytes of a range once more, because some of them are damaged. Returns false if the file has no other
    /// bytes elsewhere.
    pub fn fetch_anew(&self, range: Range<u64>) -> io::Result<bool> {
        match &self.0 {
            Bytes::Filled(file) => file.fetch_anew(range, &Cancel::of_thread()).map(|_| true),
            Bytes::Mapped(_) | Bytes::Copied { .. } => Ok(false),
        }
    }

    /// A copy of a file's bytes, aligned as a mapped file is: what a file system in memory has instead.
    pub fn copied(bytes: &[u8]) -> Mapping {
        let mut buffer = vec![0; bytes.len() + ALIGNMENT].into_boxed_slice();
        let start = buffer.as_ptr().align_offset(ALIGNMENT);
        buffer[start..start + bytes.len()].copy_from_slice(bytes);
        let len = bytes.len();
        Mapping(Bytes::Copied { buffer, start, len })
    }

    /// The bytes.
    pub fn bytes(&self) -> &[u8] {
        match &self.0 {
            Bytes::Mapped(map) => map,
            Bytes::Filled(file) => file.bytes(),
            Bytes::Copied { buffer, start, len } => &buffer[*start..*start + *len],
        }
    }
}
