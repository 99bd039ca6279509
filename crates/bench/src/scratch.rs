//! Directories for what an experiment writes.

use frazil_types::Result;
use std::fs;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicUsize, Ordering};

/// A directory of its own under the system's temporary one, removed at the end.
#[derive(Debug)]
pub struct Scratch(PathBuf);

impl Scratch {
    /// Makes one.
    pub fn new() -> Result<Scratch> {
        static NEXT: AtomicUsize = AtomicUsize::new(0);
        let number = NEXT.fetch_add(1, Ordering::Relaxed);
        let name = format!("frazil-bench-{}-{number}", std::process::id());
        let path = std::env::temp_dir().join(name);
        fs::create_dir(&path)
            .map_err(|e| crate::io_errors::io_error(format!("cannot make {}", path.display()), &e))?;
        Ok(Scratch(path))
    }

    /// Where it lies.
    pub fn path(&self) -> &Path {
        &self.0
    }

    /// Bytes of all files in it.
    pub fn bytes(&self) -> Result<u64> {
        bytes_under(&self.0)
            .map_err(|e| crate::io_errors::io_error(format!("cannot read {}", self.0.display()), &e))
    }
}

impl Drop for Scratch {
    fn drop(&mut self) {
        // What cannot be removed stays in the temporary directory, whose owner clears it.
        let _ = fs::remove_dir_all(&self.0);
    }
}

fn bytes_under(path: &Path) -> std::io::Result<u64> {
    let mut bytes = 0;
    for entry in fs::read_dir(path)? {
        let entry = entry?;
        let metadata = entry.metadata()?;
        bytes += if metadata.is_dir() {
            bytes_under(&entry.path())?
        } else {
            metadata.len()
        };
    }
    Ok(bytes)
}
