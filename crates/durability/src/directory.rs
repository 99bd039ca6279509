//! A directory that this process has open.

use crate::checkpoint::{CheckpointReport, Places};
use crate::manifest::Manifest;
use crate::restore;
use frazil_storage::Store;
use frazil_types::{Error, Result, SqlState};
use frazil_vfs::{
    DirectoryLock, MappedFile, SystemVfs, Vfs, create_directory, io_error, read_file, sync_directory,
    sync_directory_and_above,
};
use std::collections::HashMap;
use std::ffi::OsString;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex};

/// A database on a directory. Its tables are used through [`Directory::store`]; what was committed
/// since the last checkpoint is lost if the process dies.
#[derive(Debug)]
pub struct Directory {
    pub(crate) vfs: Arc<dyn Vfs>,
    pub(crate) path: PathBuf,
    store: Arc<Store>,
    pub(crate) state: Mutex<State>,
    pub(crate) lock: Arc<DirectoryLock>,
}

/// What the last checkpoint wrote.
#[derive(Debug, Default)]
pub(crate) struct State {
    pub manifest: Manifest,
    pub places: Places,
    pub segments: HashMap<u64, Arc<MappedFile>>,
    /// The greatest number that a segment was ever given, or that a file in the directory has: no other file is given it,
    /// not even after a checkpoint that failed.
    pub last_segment: u64,
}

impl Directory {
    /// Opens a directory, making it if it is not there or empty. One process at a time: 55006 for a
    /// second.
    pub fn open(path: &Path) -> Result<Directory> {
        Directory::open_over(Arc::new(SystemVfs::default()), path)
    }

    /// Opens a directory of another file system than the operating system's, as [`Directory::open`] does.
    pub fn open_over(vfs: Arc<dyn Vfs>, path: &Path) -> Result<Directory> {
        let files = &*vfs;
        refuse_foreign(files, path)?;
        create_directory(files, &path.join("segments"))?;
        let lock = Arc::new(DirectoryLock::acquire(files, path)?);
        let manifest_path = path.join("manifest");
        let manifest = read_file(files, &manifest_path)?;
        let is_new = manifest.is_none();
        let (store, mut state) = match manifest {
            Some(bytes) => restore::restore(files, path, Manifest::from_bytes(&manifest_path, &bytes)?)?,
            None => {
                refuse_without_manifest(files, path)?;
                (Store::new(), State::default())
            }
        };
        // Who wrote this manifest may have died before its name was durable. Until it is, the one before may come back, and
        // with it the need for the segments that it names.
        sync_directory(files, path)?;
        state.last_segment = remove_leftovers(files, path, &state)?.max(state.last_segment);
        let directory = Directory {
            vfs,
            path: path.to_path_buf(),
            store,
            state: Mutex::new(state),
            lock,
        };
        if is_new {
            // Likewise the names of the directory and of those above it, by whomever they were made.
            sync_directory_and_above(&*directory.vfs, path)?;
            // An empty database is one, too.
            directory.write_manifest(&Manifest::default())?;
        }
        Ok(directory)
    }

    /// Where it lies.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Its tables.
    pub fn store(&self) -> &Arc<Store> {
        &self.store
    }

    /// Makes the committed state durable; readers and the writer go on meanwhile. After an error the directory holds
    /// what it held, or already the new state, and the next checkpoint tries again. 08003 in a forked child.
    pub fn checkpoint(&self) -> Result<CheckpointReport> {
        self.lock.check_owner()?;
        let mut state = self.state.lock().unwrap_or_else(|e| e.into_inner());
        self.checkpoint_state(&mut state)
    }

    /// Makes the committed state durable and gives the directory up.
    pub fn close(self) -> Result<()> {
        self.checkpoint().map(drop)
    }
}

/// The names in a directory.
fn names_in(vfs: &dyn Vfs, directory: &Path) -> Result<Vec<OsString>> {
    vfs.list(directory)
        .map_err(|e| io_error("open directory", directory, &e))
}

/// An existing directory of something else is not to be filled with our files.
fn refuse_foreign(vfs: &dyn Vfs, path: &Path) -> Result<()> {
    let names = match vfs.list(path) {
        Err(e) if e.kind() == io::ErrorKind::NotFound => return Ok(()),
        names => names.map_err(|e| io_error("open directory", path, &e))?,
    };
    let ours = ["manifest", "manifest.new", "segments", "lock"];
    let foreign = names.iter().find(|name| !ours.iter().any(|o| name == o));
    match foreign {
        Some(name) if !names.iter().any(|n| n == "manifest") => Err(Error::new(
            SqlState::INVALID_PARAMETER,
            format!(
                "directory \"{}\" is not a Frazil database: it holds \"{}\" and no manifest",
                path.display(),
                name.to_string_lossy()
            ),
        )
        .with_hint("name an empty or new directory")),
        _ => Ok(()),
    }
}

/// Segments without a manifest: the data is there, what it means is not.
fn refuse_without_manifest(vfs: &dyn Vfs, path: &Path) -> Result<()> {
    match names_in(vfs, &path.join("segments"))?.is_empty() {
        true => Ok(()),
        // The very first checkpoint may have died between its segment and its manifest; but then the
        // manifest of the empty database was written before.
        false => Err(Error::new(
            SqlState::UNDEFINED_FILE,
            format!(
                "the manifest of database directory \"{}\" is missing",
                path.display()
            ),
        )
        .with_hint("restore the file \"manifest\" from a copy of the directory")),
    }
}

/// Removes segments that the manifest does not name: a crash left them behind. Files of other names stay. Returns the
/// greatest number of a segment that is there or could not be removed.
fn remove_leftovers(vfs: &dyn Vfs, path: &Path, state: &State) -> Result<u64> {
    let _ = vfs.remove(&path.join("manifest.new"));
    let mut greatest = 0;
    let segments = path.join("segments");
    for name in names_in(vfs, &segments)? {
        let Some(number) = name.to_str().and_then(segment_number) else {
            continue;
        };
        // One that cannot be removed harms nobody and is tried again by the next open.
        let is_gone = !state.segments.contains_key(&number) && vfs.remove(&segments.join(&name)).is_ok();
        if !is_gone {
            greatest = greatest.max(number);
        }
    }
    Ok(greatest)
}

/// Path of a segment.
pub(crate) fn segment_path(directory: &Path, number: u64) -> PathBuf {
    directory.join("segments").join(segment_name(number))
}

fn segment_name(number: u64) -> String {
    format!("{number:08}.seg")
}

/// The number of the segment whose file has this name, if it is one of ours.
fn segment_number(name: &str) -> Option<u64> {
    let number = name.strip_suffix(".seg")?.parse().ok()?;
    (segment_name(number) == name).then_some(number)
}
