//! One process a directory.

use crate::file::io_error;
use frazil_types::{Error, Result, SqlState};
use std::fs::File;
use std::io::{Read, Seek, Write};
use std::os::fd::AsRawFd;
use std::path::{Path, PathBuf};

/// Held as long as this process has the directory open; the system releases it when the process ends,
/// however it ends.
#[derive(Debug)]
pub struct DirectoryLock {
    _file: File,
    path: PathBuf,
}

impl DirectoryLock {
    /// Locks `directory` by a file `lock` in it; 55006 naming the other process if it is taken.
    pub fn acquire(directory: &Path) -> Result<DirectoryLock> {
        let path = directory.join("lock");
        let mut file = File::options()
            .read(true)
            .write(true)
            .create(true)
            .truncate(false)
            .open(&path)
            .map_err(|e| io_error("open", &path, &e))?;
        // SAFETY: a plain system call on a descriptor that is open.
        let taken = unsafe { libc::flock(file.as_raw_fd(), libc::LOCK_EX | libc::LOCK_NB) };
        if taken != 0 {
            let mut holder = String::new();
            let _ = file.read_to_string(&mut holder);
            let holder = match holder.trim() {
                "" => "another process".to_string(),
                pid => format!("process {pid}"),
            };
            return Err(Error::new(
                SqlState::OBJECT_IN_USE,
                format!(
                    "database directory \"{}\" is in use by {holder}",
                    directory.display()
                ),
            )
            .with_hint("close it there first; a directory is opened by one process at a time"));
        }
        file.set_len(0)
            .and_then(|()| file.rewind())
            .and_then(|()| write!(file, "{}", std::process::id()))
            .map_err(|e| io_error("write", &path, &e))?;
        Ok(DirectoryLock { _file: file, path })
    }

    /// The lock file.
    pub fn path(&self) -> &Path {
        &self.path
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_second_holder_is_told_who_holds_it() {
        let directory = std::env::temp_dir().join(format!("frazil-lock-{}", std::process::id()));
        std::fs::create_dir_all(&directory).unwrap();
        let first = DirectoryLock::acquire(&directory).unwrap();
        let error = DirectoryLock::acquire(&directory).unwrap_err();
        assert_eq!(error.state(), SqlState::OBJECT_IN_USE);
        assert!(error.message().contains(&std::process::id().to_string()));
        drop(first);
        DirectoryLock::acquire(&directory).unwrap();
        std::fs::remove_dir_all(&directory).unwrap();
    }
}
