//! One process a directory.

use crate::faults::attempt;
use crate::process::Process;
use frazil_types::{Error, Result, SqlState};
use std::ffi::CString;
use std::fs::File;
use std::io::{self, Read, Seek, Write};
use std::os::fd::AsRawFd;
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};

/// Held as long as this process has the directory open; the system releases it when the process ends,
/// however it ends.
///
/// The directory itself is locked, and a file `lock` in it, which says by whom. A file can be removed, and made
/// anew by somebody who then locks another file; the directory cannot, unless all that is in it goes with it.
#[derive(Debug)]
pub struct DirectoryLock {
    directory: File,
    file: File,
    path: PathBuf,
    process: Process,
}

/// What became of a wish for a lock.
#[derive(PartialEq, Eq)]
enum Taken {
    /// It is held now.
    Ours,
    /// Somebody else holds it.
    Theirs,
    /// The file system cannot lock this.
    Unsupported,
}

fn take(file: &File) -> io::Result<Taken> {
    // SAFETY: a plain system call on a descriptor that is open.
    if unsafe { libc::flock(file.as_raw_fd(), libc::LOCK_EX | libc::LOCK_NB) } == 0 {
        return Ok(Taken::Ours);
    }
    let error = io::Error::last_os_error();
    match error.raw_os_error() {
        Some(libc::EWOULDBLOCK) => Ok(Taken::Theirs),
        // Network file systems lock files that are open for writing, which a directory never is.
        Some(libc::EBADF | libc::EINVAL | libc::EOPNOTSUPP | libc::ENOLCK | libc::EISDIR) => {
            Ok(Taken::Unsupported)
        }
        _ => Err(error),
    }
}

impl DirectoryLock {
    /// Locks `directory`; 55006 naming the other process if it is taken.
    pub fn acquire(directory: &Path) -> Result<DirectoryLock> {
        let path = directory.join("lock");
        let held = attempt("open directory", directory, || File::open(directory))?;
        if attempt("lock", directory, || take(&held))? == Taken::Theirs {
            return Err(in_use(directory, &path));
        }
        let mut file = loop {
            let file = attempt("open", &path, || {
                let mut options = File::options();
                options.read(true).write(true).create(true).truncate(false);
                options.open(&path)
            })?;
            match attempt("lock", &path, || take(&file))? {
                Taken::Ours if is_still(&file, &path) => break file,
                // Removed between the two calls: the next one is another file.
                Taken::Ours => continue,
                Taken::Theirs => return Err(in_use(directory, &path)),
                Taken::Unsupported => return Err(cannot_lock(directory)),
            }
        };
        attempt("write", &path, || {
            file.set_len(0)?;
            file.rewind()?;
            write!(file, "{}", std::process::id())
        })?;
        Ok(DirectoryLock {
            directory: held,
            file,
            path,
            process: Process::current(),
        })
    }

    /// The lock file.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// 08003 in a child that was forked from the process that holds the lock: it must not write to the directory.
    pub fn check_owner(&self) -> Result<()> {
        self.process.check()
    }

    /// Removes a file of the locked directory, whatever lies at the directory's path by now; a forked child removes nothing.
    /// A file that stays harms nobody: whoever opens the directory next finds it unnamed.
    pub(crate) fn remove(&self, file: &Path) {
        let relative = (self.path.parent()).and_then(|directory| file.strip_prefix(directory).ok());
        let Some(name) = relative.and_then(|r| CString::new(r.as_os_str().as_bytes()).ok()) else {
            return;
        };
        if self.process.is_current() {
            // SAFETY: a system call with a descriptor that is open and a string that ends in a zero byte.
            unsafe { libc::unlinkat(self.directory.as_raw_fd(), name.as_ptr(), 0) };
        }
    }
}

impl Drop for DirectoryLock {
    fn drop(&mut self) {
        if !self.process.is_current() {
            return;
        }
        // Children that were forked meanwhile have these descriptors too: closing them here would leave the lock to them.
        for file in [&self.file, &self.directory] {
            // SAFETY: a plain system call on a descriptor that is open.
            unsafe { libc::flock(file.as_raw_fd(), libc::LOCK_UN) };
        }
    }
}

/// Whether a path still leads to an open file.
fn is_still(file: &File, path: &Path) -> bool {
    let identity = |m: std::fs::Metadata| (m.dev(), m.ino());
    match (file.metadata(), std::fs::metadata(path)) {
        (Ok(open), Ok(there)) => identity(open) == identity(there),
        _ => false,
    }
}

fn in_use(directory: &Path, path: &Path) -> Error {
    let mut holder = String::new();
    let read = File::open(path).and_then(|mut file| file.read_to_string(&mut holder));
    let holder = match (read, holder.trim()) {
        (Err(_), _) | (_, "") => "another process".to_string(),
        (_, pid) => format!("process {pid}"),
    };
    Error::new(
        SqlState::OBJECT_IN_USE,
        format!(
            "database directory \"{}\" is in use by {holder}",
            directory.display()
        ),
    )
    .with_hint("close it there first; a directory is opened by one process at a time")
}

fn cannot_lock(directory: &Path) -> Error {
    Error::new(
        SqlState::IO_ERROR,
        format!(
            "the file system of database directory \"{}\" cannot lock files",
            directory.display()
        ),
    )
    .with_hint(
        "without locks two processes would overwrite each other; put it on a file system that has them",
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    fn directory(name: &str) -> PathBuf {
        let directory = std::env::temp_dir().join(format!("frazil-lock-{name}-{}", std::process::id()));
        let _ = std::fs::remove_dir_all(&directory);
        std::fs::create_dir_all(&directory).unwrap();
        directory
    }

    #[test]
    fn a_second_holder_is_told_who_holds_it() {
        let directory = directory("second");
        let first = DirectoryLock::acquire(&directory).unwrap();
        let error = DirectoryLock::acquire(&directory).unwrap_err();
        assert_eq!(error.state(), SqlState::OBJECT_IN_USE);
        assert!(error.message().contains(&std::process::id().to_string()));
        drop(first);
        DirectoryLock::acquire(&directory).unwrap();
        std::fs::remove_dir_all(&directory).unwrap();
    }

    #[test]
    fn a_removed_lock_file_lets_nobody_in() {
        let directory = directory("removed");
        let first = DirectoryLock::acquire(&directory).unwrap();
        std::fs::remove_file(first.path()).unwrap();
        let error = DirectoryLock::acquire(&directory).unwrap_err();
        assert_eq!(error.state(), SqlState::OBJECT_IN_USE);
        drop(first);
        DirectoryLock::acquire(&directory).unwrap();
        std::fs::remove_dir_all(&directory).unwrap();
    }

    #[test]
    fn a_forked_child_neither_keeps_the_lock_nor_gives_it_up() {
        let directory = directory("forked");
        let first = DirectoryLock::acquire(&directory).unwrap();
        let file = directory.join("file");
        std::fs::write(&file, "of the parent").unwrap();
        // SAFETY: the child calls what this test calls, on its own copy, and ends without running anything of the parent's.
        let child = unsafe { libc::fork() };
        if child == 0 {
            let refused = first.check_owner().is_err();
            first.remove(&file);
            drop(first);
            // SAFETY: ends the child at once.
            unsafe { libc::_exit(if refused { 0 } else { 1 }) };
        }
        let mut status = 0;
        // SAFETY: waits for the child that was just made.
        assert_eq!(unsafe { libc::waitpid(child, &mut status, 0) }, child);
        assert_eq!(status, 0, "the child owns nothing");
        assert!(file.exists() && first.check_owner().is_ok());
        DirectoryLock::acquire(&directory).expect_err("the parent still holds it");
        drop(first);
        DirectoryLock::acquire(&directory).unwrap();
        std::fs::remove_dir_all(&directory).unwrap();
    }
}
