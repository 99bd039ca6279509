//! Reading, mapping and replacing files.

use frazil_types::{Error, Result, SqlState};
use std::fs::File;
use std::io::{self, Write};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

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

/// A file mapped for reading, shared by all that read it. Unlinked when the last of them is gone, if
/// that was asked for.
#[derive(Debug)]
pub struct MappedFile {
    path: PathBuf,
    map: memmap2::Mmap,
    unlink: AtomicBool,
}

impl MappedFile {
    /// Maps a whole file.
    pub fn open(path: &Path) -> Result<Arc<MappedFile>> {
        let file = File::open(path).map_err(|e| io_error("open", path, &e))?;
        // SAFETY: segment files are written once, synced, and never changed while the directory is
        // locked by this process; a foreign process that truncates one breaks the lock's contract.
        let map = unsafe { memmap2::Mmap::map(&file) }.map_err(|e| io_error("map", path, &e))?;
        Ok(Arc::new(MappedFile {
            path: path.to_path_buf(),
            map,
            unlink: AtomicBool::new(false),
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

    /// Removes the file when its last reader is gone.
    pub fn unlink_after_last_use(&self) {
        self.unlink.store(true, Ordering::Release);
    }
}

impl Drop for MappedFile {
    fn drop(&mut self) {
        if self.unlink.load(Ordering::Acquire) {
            // A file that stays is found unreferenced and removed by the next open.
            let _ = std::fs::remove_file(&self.path);
        }
    }
}

/// Writes `bytes` as `path` so that a crash leaves the old file or the new one: a temporary file
/// beside it, sync, rename, sync of the directory.
pub fn replace_file(path: &Path, bytes: &[u8]) -> Result<()> {
    let temporary = path.with_extension("new");
    let written = (|| {
        let mut file = File::create(&temporary)?;
        file.write_all(bytes)?;
        file.sync_all()
    })();
    if let Err(e) = written {
        let _ = std::fs::remove_file(&temporary);
        return Err(io_error("write", &temporary, &e));
    }
    std::fs::rename(&temporary, path).map_err(|e| io_error("rename to", path, &e))?;
    match path.parent() {
        Some(directory) => sync_directory(directory),
        None => Ok(()),
    }
}

/// Makes the names in a directory durable.
pub fn sync_directory(path: &Path) -> Result<()> {
    File::open(path)
        .and_then(|d| d.sync_all())
        .map_err(|e| io_error("sync", path, &e))
}
