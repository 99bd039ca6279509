//! Reading, mapping and replacing whole files.

use crate::lock::DirectoryLock;
use crate::vfs::{Access, Entry, HeldDirectory, Mapping, Vfs};
use frazil_types::{Cancel, Error, Result, SqlState};
use std::io;
use std::ops::Range;
use std::path::{Path, PathBuf};
use std::sync::{Arc, OnceLock, Weak};

/// An operating-system error on a file as ours: which file, what was tried, what the system said.
/// An error of ours that a file system passes on is left as it is.
pub fn io_error(doing: &str, path: &Path, error: &io::Error) -> Error {
    if let Some(ours) = error.get_ref().and_then(|inner| inner.downcast_ref::<Error>()) {
        return ours.clone();
    }
    let state = SqlState::of_io(error);
    let error = Error::new(
        state,
        format!("could not {doing} \"{}\": {error}", path.display()),
    );
    match state {
        SqlState::INSUFFICIENT_RESOURCES => {
            error.with_hint("raise the limit of open files before the program starts: ulimit -n")
        }
        _ => error,
    }
}

/// A file system whose calls end with 57014 once `cancel` is set, if they wait for long.
pub fn stopped_by(vfs: &Arc<dyn Vfs>, cancel: &Cancel) -> Arc<dyn Vfs> {
    vfs.stopped_by(cancel).unwrap_or_else(|| vfs.clone())
}

/// A file mapped for reading, shared by all that read it. Removed when the last of them is gone, if
/// that was asked for.
#[derive(Debug)]
pub struct MappedFile {
    path: PathBuf,
    map: Mapping,
    remove_by: OnceLock<Weak<DirectoryLock>>,
}

impl MappedFile {
    /// Maps a whole file, which nobody may change or shorten from now on.
    pub fn open(vfs: &dyn Vfs, path: &Path) -> Result<Arc<MappedFile>> {
        let map = vfs.map(path).map_err(|e| io_error("map", path, &e))?;
        Ok(Arc::new(MappedFile {
            path: path.to_path_buf(),
            map,
            remove_by: OnceLock::new(),
        }))
    }

    /// The bytes. If the file is elsewhere, [`MappedFile::fetch`] brings them before they are read.
    pub fn bytes(&self) -> &[u8] {
        self.map.bytes()
    }

    /// True if bytes must be fetched before they are read.
    pub fn is_filled_when_read(&self) -> bool {
        self.map.is_filled_when_read()
    }

    /// Brings the bytes of a range that are not there yet, if the file is elsewhere. 57014 once the statement of this
    /// thread is cancelled ([`Cancel::during`]).
    pub fn fetch(&self, range: Range<u64>) -> Result<()> {
        (self.map.fetch(range)).map_err(|e| io_error("read", &self.path, &e))
    }

    /// Brings the bytes of a range once more, because some of them are damaged. Returns false if the file is not
    /// elsewhere.
    pub fn fetch_anew(&self, range: Range<u64>) -> Result<bool> {
        (self.map.fetch_anew(range)).map_err(|e| io_error("read", &self.path, &e))
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
pub fn replace_file(vfs: &dyn Vfs, path: &Path, bytes: &[u8]) -> Result<()> {
    write_replacement(vfs, path, bytes)?;
    take_replacement(vfs, path)
}

/// The first half of [`replace_file`]: after an error `path` is the old file.
pub fn write_replacement(vfs: &dyn Vfs, path: &Path, bytes: &[u8]) -> Result<()> {
    let temporary = path.with_extension("new");
    let written = create_anew(vfs, &temporary)
        .map_err(|e| io_error("create", &temporary, &e))
        .and_then(|file| {
            (file.write_at(0, bytes)).map_err(|e| io_error("write", &temporary, &e))?;
            file.sync().map_err(|e| io_error("sync", &temporary, &e))
        });
    written.inspect_err(|_| drop(vfs.remove(&temporary)))
}

/// The second half: after an error `path` is the old file or the new one.
pub fn take_replacement(vfs: &dyn Vfs, path: &Path) -> Result<()> {
    let renamed = vfs.rename(&path.with_extension("new"), path);
    renamed.map_err(|e| io_error("rename to", path, &e))?;
    match path.parent() {
        Some(directory) => sync_directory(vfs, directory),
        None => Ok(()),
    }
}

/// Creates an empty file, in place of one that a crash left behind.
fn create_anew(vfs: &dyn Vfs, path: &Path) -> io::Result<Box<dyn crate::vfs::VfsFile>> {
    match vfs.create(path) {
        Err(e) if e.kind() == io::ErrorKind::AlreadyExists => {
            vfs.remove(path)?;
            vfs.create(path)
        }
        created => created,
    }
}

/// The bytes of a file; `None` if there is none.
pub fn read_file(vfs: &dyn Vfs, path: &Path) -> Result<Option<Vec<u8>>> {
    let read = || {
        let file = match vfs.open(path, Access::Read) {
            Err(e) if e.kind() == io::ErrorKind::NotFound => return Ok(None),
            file => file?,
        };
        let mut bytes = vec![0; file.len()? as usize];
        let read = file.read_at(0, &mut bytes)?;
        bytes.truncate(read);
        Ok(Some(bytes))
    };
    read().map_err(|e| io_error("read", path, &e))
}

/// The directory that holds a path's last name. That above a relative path of one name is the current one.
fn parent_of(path: &Path) -> &Path {
    match path.parent() {
        Some(parent) if parent.as_os_str().is_empty() => Path::new("."),
        Some(parent) => parent,
        None => path,
    }
}

/// Makes a directory, and those above it that are missing. Their names are durable after [`sync_directory_and_above`].
pub fn create_directory(vfs: &dyn Vfs, path: &Path) -> Result<()> {
    let failed = |e| io_error("create directory", path, &e);
    if vfs.entry(path).map_err(failed)? == Some(Entry::Directory) {
        return Ok(());
    }
    let parent = parent_of(path);
    if parent != path {
        create_directory(vfs, parent)?;
    }
    match vfs.create_directory(path) {
        // Somebody was faster, or the path ends in "..".
        Err(_) if vfs.entry(path).is_ok_and(|e| e == Some(Entry::Directory)) => Ok(()),
        made => made.map_err(failed),
    }
}

/// Takes hold of the directory that a path leads to now.
pub fn hold_directory(vfs: &dyn Vfs, path: &Path) -> Result<HeldDirectory> {
    vfs.hold(path).map_err(|e| io_error("open directory", path, &e))
}

/// Makes the names in a directory durable.
pub fn sync_directory(vfs: &dyn Vfs, path: &Path) -> Result<()> {
    vfs.sync_directory(path).map_err(|e| io_error("sync", path, &e))
}

/// Makes the names in a directory durable, and its own, and those of the directories above it: whoever died while they
/// were being made may have synced none. A directory above that this process may not read is left out: one that we
/// make can be read.
pub fn sync_directory_and_above(vfs: &dyn Vfs, path: &Path) -> Result<()> {
    sync_directory(vfs, path)?;
    let mut below = path;
    loop {
        let above = parent_of(below);
        if above == below || below == Path::new(".") {
            return Ok(());
        }
        match vfs.sync_directory(above) {
            Err(e) if e.kind() == io::ErrorKind::PermissionDenied => {}
            synced => synced.map_err(|e| io_error("sync", above, &e))?,
        }
        below = above;
    }
}
