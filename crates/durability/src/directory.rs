//! A directory that this process has open.

use crate::checkpoint::{CheckpointReport, Places};
use crate::manifest::Manifest;
use crate::restore;
use frazil_storage::Store;
use frazil_types::{Error, Result, SqlState};
use frazil_vfs::{DirectoryLock, MappedFile, io_error};
use std::collections::HashMap;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex};

/// A database on a directory. Its tables are used through [`Directory::store`]; what was committed
/// since the last checkpoint is lost if the process dies.
#[derive(Debug)]
pub struct Directory {
    pub(crate) path: PathBuf,
    store: Arc<Store>,
    pub(crate) state: Mutex<State>,
    _lock: DirectoryLock,
}

/// What the last checkpoint wrote.
#[derive(Debug, Default)]
pub(crate) struct State {
    pub manifest: Manifest,
    pub places: Places,
    pub segments: HashMap<u64, Arc<MappedFile>>,
}

impl Directory {
    /// Opens a directory, making it if it is not there or empty. One process at a time: 55006 for a
    /// second.
    pub fn open(path: &Path) -> Result<Directory> {
        refuse_foreign(path)?;
        let segments = path.join("segments");
        std::fs::create_dir_all(&segments).map_err(|e| io_error("create directory", &segments, &e))?;
        let lock = DirectoryLock::acquire(path)?;
        let manifest_path = path.join("manifest");
        let (store, state) = match std::fs::read(&manifest_path) {
            Ok(bytes) => restore::restore(path, Manifest::from_bytes(&manifest_path, &bytes)?)?,
            Err(e) if e.kind() == std::io::ErrorKind::NotFound => {
                refuse_without_manifest(path)?;
                (Store::new(), State::default())
            }
            Err(e) => return Err(io_error("read", &manifest_path, &e)),
        };
        remove_leftovers(path, &state);
        let directory = Directory {
            path: path.to_path_buf(),
            store,
            state: Mutex::new(state),
            _lock: lock,
        };
        if !manifest_path.exists() {
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

    /// Makes the committed state durable; readers and the writer go on meanwhile.
    pub fn checkpoint(&self) -> Result<CheckpointReport> {
        let mut state = self.state.lock().unwrap_or_else(|e| e.into_inner());
        self.checkpoint_state(&mut state)
    }

    /// Makes the committed state durable and gives the directory up.
    pub fn close(self) -> Result<()> {
        self.checkpoint().map(drop)
    }
}

/// An existing directory of something else is not to be filled with our files.
fn refuse_foreign(path: &Path) -> Result<()> {
    let entries = match std::fs::read_dir(path) {
        Ok(entries) => entries,
        Err(e) if e.kind() == std::io::ErrorKind::NotFound => return Ok(()),
        Err(e) => return Err(io_error("open directory", path, &e)),
    };
    let ours = ["manifest", "manifest.new", "segments", "lock"];
    let foreign = entries
        .flatten()
        .map(|e| e.file_name())
        .find(|name| !ours.iter().any(|o| name == o));
    match foreign {
        Some(name) if !path.join("manifest").exists() => Err(Error::new(
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
fn refuse_without_manifest(path: &Path) -> Result<()> {
    let segments = path.join("segments");
    let any = std::fs::read_dir(&segments).map_err(|e| io_error("open directory", &segments, &e))?;
    match any.flatten().next() {
        // The very first checkpoint may have died between its segment and its manifest; but then the
        // manifest of the empty database was written before.
        Some(_) => Err(Error::new(
            SqlState::UNDEFINED_FILE,
            format!(
                "the manifest of database directory \"{}\" is missing",
                path.display()
            ),
        )
        .with_hint("restore the file \"manifest\" from a copy of the directory")),
        None => Ok(()),
    }
}

/// Removes segments that the manifest does not name: a crash left them behind.
fn remove_leftovers(path: &Path, state: &State) {
    let _ = std::fs::remove_file(path.join("manifest.new"));
    let Ok(entries) = std::fs::read_dir(path.join("segments")) else {
        return;
    };
    for entry in entries.flatten() {
        let number = (entry.path().file_stem().and_then(|s| s.to_str())).and_then(|s| s.parse().ok());
        if number.is_some_and(|n: u64| !state.segments.contains_key(&n)) {
            // One that cannot be removed harms nobody and is tried again by the next open.
            let _ = std::fs::remove_file(entry.path());
        }
    }
}

/// Path of a segment.
pub(crate) fn segment_path(directory: &Path, number: u64) -> PathBuf {
    directory.join("segments").join(format!("{number:08}.seg"))
}
