//! Writing a file from its start to its end.

use crate::faults::attempt;
use frazil_types::Result;
use std::fs::File;
use std::io::{BufWriter, Write};
use std::path::{Path, PathBuf};

/// A file being written. Removed when dropped before [`NewFile::finish`].
#[derive(Debug)]
pub struct NewFile {
    path: PathBuf,
    file: Option<BufWriter<File>>,
    len: u64,
}

impl NewFile {
    /// Creates a file that must not exist.
    pub fn create(path: &Path) -> Result<NewFile> {
        let file = attempt("create", path, || {
            File::options().write(true).create_new(true).open(path)
        })?;
        Ok(NewFile {
            path: path.to_path_buf(),
            file: Some(BufWriter::with_capacity(1 << 18, file)),
            len: 0,
        })
    }

    /// Appends bytes.
    pub fn write(&mut self, bytes: &[u8]) -> Result<()> {
        if let Some(file) = &mut self.file {
            attempt("write", &self.path, || file.write_all(bytes))?;
            self.len += bytes.len() as u64;
        }
        Ok(())
    }

    /// Appends zero bytes up to a multiple of `alignment`.
    pub fn align(&mut self, alignment: u64) -> Result<()> {
        let missing = self.len.next_multiple_of(alignment) - self.len;
        self.write(&vec![0; missing as usize])
    }

    /// Bytes written so far.
    pub fn len(&self) -> u64 {
        self.len
    }

    /// Whether nothing was written.
    pub fn is_empty(&self) -> bool {
        self.len == 0
    }

    /// Makes the bytes durable; the name becomes so with the directory's sync.
    pub fn finish(mut self) -> Result<DurableFile> {
        if let Some(file) = &mut self.file {
            attempt("write", &self.path, || file.flush())?;
            attempt("sync", &self.path, || file.get_ref().sync_all())?;
        }
        self.file = None;
        Ok(DurableFile(Some(std::mem::take(&mut self.path))))
    }
}

impl Drop for NewFile {
    fn drop(&mut self) {
        if self.file.take().is_some() {
            // What stays is found unreferenced and removed by the next open.
            let _ = std::fs::remove_file(&self.path);
        }
    }
}

/// A file whose bytes are durable. Removed when dropped before [`DurableFile::keep`].
#[derive(Debug)]
pub struct DurableFile(Option<PathBuf>);

impl DurableFile {
    /// Leaves the file where it is.
    pub fn keep(mut self) {
        self.0 = None;
    }
}

impl Drop for DurableFile {
    fn drop(&mut self) {
        if let Some(path) = &self.0 {
            // What stays is found unreferenced and removed by the next open.
            let _ = std::fs::remove_file(path);
        }
    }
}
