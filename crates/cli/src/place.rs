//! The place of a shell's database: a directory, which may be a new one, or memory, perhaps with files as its tables,
//! or a server.

use crate::backend::Backend;
use crate::complaint::Complaint;
use crate::opening;
use crate::remote::Address;
use frazil::{Access, Database, Error, FileAccess, SqlState};
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// Files of a database that was never used. A directory that holds anything else is not removed.
const OWN_NAMES: [&str; 4] = ["lock", "log", "manifest", "segments"];

/// A database that a shell has open.
#[derive(Debug)]
pub struct Place {
    /// The absolute path of its directory, or the URL of a published folder in an object store; `None` in memory.
    pub directory: Option<PathBuf>,
    /// True if the directory was made for it.
    pub is_new: bool,
    /// True if it is written.
    pub access: Access,
    /// Files that statements may name.
    pub files: FileAccess,
    /// The server, if the database is not in this process.
    pub server: Option<Address>,
}

/// True if a path ends as files of rows do: whoever mistypes one wants no database of that name.
fn is_named_as_data(path: &Path) -> bool {
    let name = path.to_string_lossy().to_lowercase();
    let bare = (name.strip_suffix(".gz").or(name.strip_suffix(".zst"))).unwrap_or(&name);
    let ends = [".csv", ".tsv", ".json", ".jsonl", ".ndjson", ".parquet"];
    ends.iter().any(|end| bare.ends_with(end))
}

/// True if a path is that of a file of rows, or is meant to be. A published snapshot is a database.
pub fn is_data(path: &Path) -> bool {
    (path.is_file() && !Database::is_snapshot_path(path)) || (is_named_as_data(path) && !path.exists())
}

impl Place {
    /// An empty database in memory, in which statements may name files.
    pub fn memory() -> Place {
        Place {
            directory: None,
            is_new: false,
            access: Access::Write,
            files: FileAccess::On,
            server: None,
        }
    }

    /// A database on a server.
    pub fn server(address: Address) -> Place {
        Place {
            server: Some(address),
            ..Place::memory()
        }
    }

    /// Opens the database of a directory, or an empty one in memory.
    pub fn open(
        directory: Option<&Path>,
        access: Access,
        files: &FileAccess,
    ) -> Result<(Place, Database), Complaint> {
        let is_new = directory.is_some_and(|directory| !Database::is_url(directory) && !directory.exists());
        let database = opening::open(directory, access, files)?;
        // The working directory may change.
        let lasting = |path: &Path| match Database::is_url(path) {
            true => Ok(path.to_path_buf()),
            false => std::path::absolute(path),
        };
        let directory = directory.map(lasting).transpose()?;
        let place = Place {
            directory,
            is_new,
            access,
            files: files.clone(),
            server: None,
        };
        Ok((place, database))
    }

    /// What is said of it when it is opened: that its directory is a new one.
    pub fn told(&self) -> Option<String> {
        let directory = self.directory.as_ref().filter(|_| self.is_new)?;
        let name = directory.file_name().unwrap_or(directory.as_os_str());
        Some(format!(
            "{} is a new database; nothing is left of it unless something is made in it.",
            name.to_string_lossy()
        ))
    }

    /// Closes a database. Nothing is left of one that was made for this shell and in which nothing was made: its name was a slip.
    pub fn close(self, backend: Arc<dyn Backend>) -> Result<(), Complaint> {
        let Some(database) = backend.embedded().map(|own| own.database().clone()) else {
            return Ok(());
        };
        let is_unused = self.is_new && !database.has_commits();
        drop(backend);
        database.close()?;
        match self.directory {
            Some(directory) if is_unused => {
                // What cannot be removed is an empty database.
                let _ = remove_unused(&directory);
                Ok(())
            }
            _ => Ok(()),
        }
    }
}

/// Removes the files of a database that was never used.
fn remove_unused(directory: &Path) -> std::io::Result<()> {
    for entry in std::fs::read_dir(directory)? {
        if !OWN_NAMES
            .iter()
            .any(|own| entry.as_ref().is_ok_and(|e| e.file_name() == *own))
        {
            return Ok(());
        }
    }
    // Fails if it holds a segment: then it was used.
    std::fs::remove_dir(directory.join("segments"))?;
    let log = directory.join("log");
    for entry in std::fs::read_dir(&log)? {
        std::fs::remove_file(entry?.path())?;
    }
    std::fs::remove_dir(log)?;
    std::fs::remove_file(directory.join("manifest"))?;
    std::fs::remove_file(directory.join("lock"))?;
    std::fs::remove_dir(directory)
}

/// The directory and the files that some paths name. 22023 for several paths that are not all files.
pub fn parts(paths: &[PathBuf]) -> Result<(Option<&Path>, &[PathBuf]), Complaint> {
    match paths {
        [] => Ok((None, &[])),
        [path] if !is_data(path) => Ok((Some(path.as_path()), &[])),
        several => match several.iter().find(|path| !is_data(path)) {
            None => Ok((None, several)),
            Some(other) => {
                let message = format!("\"{}\" is not a file", other.display());
                let error = Error::new(SqlState::INVALID_PARAMETER, message);
                Err(Complaint::opening(error.with_hint(
                    "several paths are files, each of which becomes a table; a database is a single directory",
                )))
            }
        },
    }
}
