//! Reading, mapping and replacing files.

use crate::faults::attempt;
use crate::lock::DirectoryLock;
use frazil_types::{Error, Result, SqlState};
use std::fs::File;
use std::io::{self, Write};
use std::path::{Path, PathBuf};
use std::sync::{Arc, OnceLock, Weak};

/// An operating-system error on a file as ours: which file, what was tried, what the system said.
pub fn io_error(doing: &str, path: &Path, error: &io::Error) -> Error {
    let state = match error.kind() {
        io::ErrorKind::NotFound => SqlState::UNDEFINED_FILE,
        io::ErrorKind::StorageFull | io::ErrorKind::QuotaExceeded => SqlState::DISK_FULL,
        _ => SqlState::IO_ERROR,
    };
    Error::new(
        state,
        format!("could not {doing} \"{}\": {error}", path.display()),
    )
}

/// A file mapped for reading, shared by all that read it. Removed when the last of them is gone, if
/// that was asked for.
#[derive(Debug)]
pub struct MappedFile {
    path: PathBuf,
    map: memmap2::Mmap,
    remove_by: OnceLock<Weak<DirectoryLock>>,
}

impl MappedFile {
    /// Maps a whole file.
    pub fn open(path: &Path) -> Result<Arc<MappedFile>> {
        let file = attempt("open", path, || File::open(path))?;
        // SAFETY: segment files are written once, synced, and never changed while the directory is
        // locked by this process; a foreign process that truncates one breaks the lock's contract.
        let map = attempt("map", path, || unsafe { memmap2::Mmap::map(&file) })?;
        Ok(Arc::new(MappedFile {
            path: path.to_path_buf(),
            map,
            remove_by: OnceLock::new(),
        }))
    }

    /// The bytes.
    pub fn bytes(&self) -> &[u8] {
        &self.map
    }

    /// Where it lies.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Removes the file when its last reader is gone, if its directory is still locked by this lock then. A reader that
    /// outlives the lock removes nothing: the path may lead to somebody else's file.
    pub fn remove_after_last_use(&self, lock: &Arc<DirectoryLock>) {
        self.remove_by.get_or_init(|| Arc::downgrade(lock));
    }
}

impl Drop for MappedFile {
    fn drop(&mut self) {
        // The lock is held until the file is removed.
        if let Some(lock) = self.remove_by.get().and_then(Weak::upgrade) {
            lock.remove(&self.path);
        }
    }
}

/// Writes `bytes` as `path` so that a crash leaves the old file or the new one: a temporary file
/// beside it, sync, rename, sync of the directory. After an error `path` is the old file or the new one.
pub fn replace_file(path: &Path, bytes: &[u8]) -> Result<()> {
    let temporary = path.with_extension("new");
    let written = attempt("create", &temporary, || File::create(&temporary)).and_then(|mut file| {
        attempt("write", &temporary, || file.write_all(bytes))?;
        attempt("sync", &temporary, || file.sync_all())
    });
    if let Err(e) = written {
        let _ = std::fs::remove_file(&temporary);
        return Err(e);
    }
    attempt("rename to", path, || std::fs::rename(&temporary, path))?;
    match path.parent() {
        Some(directory) => sync_directory(directory),
        None => Ok(()),
    }
}

/// The bytes of a file; `None` if there is none.
pub fn read_file(path: &Path) -> Result<Option<Vec<u8>>> {
    attempt("read", path, || match std::fs::read(path) {
        Ok(bytes) => Ok(Some(bytes)),
        Err(e) if e.kind() == io::ErrorKind::NotFound => Ok(None),
        Err(e) => Err(e),
    })
}

/// Makes a directory, and those above it that are missing, durably.
pub fn create_directory(path: &Path) -> Result<()> {
    if path.is_dir() {
        return Ok(());
    }
    // The directory above a relative path of one name is the current one.
    let parent = match path.parent() {
        Some(parent) if parent.as_os_str().is_empty() => Path::new("."),
        Some(parent) => parent,
        None => path,
    };
    if parent != path {
        create_directory(parent)?;
    }
    attempt("create directory", path, || match std::fs::create_dir(path) {
        // Somebody was faster, or the path ends in "..".
        Err(_) if path.is_dir() => Ok(()),
        made => made,
    })?;
    sync_directory(parent)
}

/// Makes the names in a directory durable.
pub fn sync_directory(path: &Path) -> Result<()> {
    attempt("sync", path, || File::open(path)?.sync_all())
}
