//! Writing a file from its start to its end.

use crate::file::io_error;
use crate::vfs::{Vfs, VfsFile};
use frazil_types::Result;
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// Bytes that are gathered before they are written.
const BUFFER: usize = 1 << 18;

/// A file being written. Removed when dropped before [`NewFile::finish`].
#[derive(Debug)]
pub struct NewFile {
    name: Name,
    file: Box<dyn VfsFile>,
    /// Bytes that the file does not hold yet.
    buffer: Vec<u8>,
    /// Bytes that it holds.
    written: u64,
}

/// A name that is removed when this is dropped, unless it is to be kept.
#[derive(Debug)]
struct Name {
    vfs: Arc<dyn Vfs>,
    path: PathBuf,
    kept: bool,
}

impl Drop for Name {
    fn drop(&mut self) {
        if !self.kept {
            // What stays is found unreferenced and removed by the next open.
            let _ = self.vfs.remove(&self.path);
        }
    }
}

impl NewFile {
    /// Creates a file that must not exist.
    pub fn create(vfs: &Arc<dyn Vfs>, path: &Path) -> Result<NewFile> {
        let file = vfs.create(path).map_err(|e| io_error("create", path, &e))?;
        Ok(NewFile {
            name: Name {
                vfs: vfs.clone(),
                path: path.to_path_buf(),
                kept: false,
            },
            file,
            buffer: Vec::new(),
            written: 0,
        })
    }

    /// Appends bytes. After an error the file cannot be finished as it was meant: it is to be dropped.
    pub fn write(&mut self, bytes: &[u8]) -> Result<()> {
        if self.buffer.len() + bytes.len() > BUFFER {
            self.flush()?;
        }
        match bytes.len() > BUFFER {
            true => self.put(bytes),
            false => {
                self.buffer.extend_from_slice(bytes);
                Ok(())
            }
        }
    }

    fn flush(&mut self) -> Result<()> {
        let buffer = std::mem::take(&mut self.buffer);
        if !buffer.is_empty() {
            self.put(&buffer)?;
        }
        self.buffer = buffer;
        self.buffer.clear();
        Ok(())
    }

    fn put(&mut self, bytes: &[u8]) -> Result<()> {
        let written = self.file.write_at(self.written, bytes);
        written.map_err(|e| io_error("write", &self.name.path, &e))?;
        self.written += bytes.len() as u64;
        Ok(())
    }

    /// Appends zero bytes up to a multiple of `alignment`.
    pub fn align(&mut self, alignment: u64) -> Result<()> {
        let missing = self.len().next_multiple_of(alignment) - self.len();
        self.write(&vec![0; missing as usize])
    }

    /// Bytes appended so far.
    pub fn len(&self) -> u64 {
        self.written + self.buffer.len() as u64
    }

    /// Whether nothing was written.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Brings what was appended so far to the disk, so that less is left for the end. Nothing counts on it.
    pub fn sync_so_far(&mut self) -> Result<()> {
        self.flush()?;
        let synced = self.file.sync_so_far();
        synced.map_err(|e| io_error("sync", &self.name.path, &e))
    }

    /// Leaves the file where it is, with what it holds by now.
    pub fn leave(mut self) {
        self.name.kept = true;
    }

    /// Makes the bytes durable; the name becomes so with the directory's sync.
    pub fn finish(mut self) -> Result<DurableFile> {
        self.flush()?;
        self.file
            .sync()
            .map_err(|e| io_error("sync", &self.name.path, &e))?;
        Ok(DurableFile(self.name))
    }
}

/// A file whose bytes are durable. Removed when dropped before [`DurableFile::keep`].
#[derive(Debug)]
pub struct DurableFile(Name);

impl DurableFile {
    /// Leaves the file where it is.
    pub fn keep(mut self) {
        self.0.kept = true;
    }
}
