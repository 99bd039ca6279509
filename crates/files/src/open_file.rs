//! A file that is open for reading at any place: one of this machine, or an object of a store.

use crate::object_files::ObjectFile;
use crate::{ReadLimits, io_error};
use frazil_types::{Cancel, Result};
use std::fs::{File, Metadata};
use std::os::unix::fs::FileExt;
use std::path::Path;
use std::sync::Arc;

/// A regular file, or an object.
#[derive(Debug)]
pub(crate) enum OpenFile {
    /// A file of this machine, and what the system says of it.
    Local(File, Metadata),
    /// An object, with the flag of the statement that reads it.
    Object(Arc<ObjectFile>, Cancel),
}

impl OpenFile {
    /// Opens a file. 58P01, 58030 and the like for what is not there or no regular file, and the errors of stores.
    pub(crate) fn open(path: &Path, limits: &ReadLimits) -> Result<OpenFile> {
        if let Some(object) = limits.objects.find(path, &limits.cancel)? {
            return Ok(OpenFile::Object(object, limits.cancel.clone()));
        }
        let file = File::open(path).map_err(|e| io_error(path, &e))?;
        let metadata = file.metadata().map_err(|e| io_error(path, &e))?;
        if metadata.is_dir() {
            return Err(io_error(path, &std::io::ErrorKind::IsADirectory.into()));
        }
        if !metadata.is_file() {
            let error = std::io::Error::other("it is not a regular file, as Parquet must be");
            return Err(io_error(path, &error));
        }
        Ok(OpenFile::Local(file, metadata))
    }

    /// The length in bytes.
    pub(crate) fn bytes(&self) -> u64 {
        match self {
            OpenFile::Local(_, metadata) => metadata.len(),
            OpenFile::Object(object, _) => object.bytes(),
        }
    }

    /// Fills `into` from byte `offset` on; `path` is what errors call the file.
    pub(crate) fn read_at(&self, path: &Path, offset: u64, into: &mut [u8]) -> Result<()> {
        match self {
            OpenFile::Local(file, _) => file.read_exact_at(into, offset).map_err(|e| io_error(path, &e)),
            OpenFile::Object(object, cancel) => object.read_at(offset, into, cancel),
        }
    }
}
