//! The operating system's locks of directories.

use crate::process::Process;
use crate::vfs::{Locking, VfsLock};
use std::ffi::CString;
use std::fs::File;
use std::io::{self, Read, Seek, Write};
use std::os::fd::AsRawFd;
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::MetadataExt;
use std::path::Path;

/// Held as long as this process has the directory open; the system releases it when the process ends,
/// however it ends.
///
/// The directory itself is locked, and a file `lock` in it, which says by whom. A file can be removed, and made
/// anew by somebody who then locks another file; the directory cannot, unless all that is in it goes with it.
#[derive(Debug)]
pub(crate) struct SystemLock {
    directory: File,
    file: File,
    process: Process,
}

/// What became of a wish for a lock on one open file.
#[derive(PartialEq, Eq)]
enum Taken {
    Ours,
    Theirs,
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

impl SystemLock {
    /// Locks `directory`, and writes this process's number into its file `lock`.
    pub(crate) fn take(directory: &Path) -> io::Result<Locking> {
        let path = directory.join("lock");
        let held = File::open(directory)?;
        if take(&held)? == Taken::Theirs {
            return Ok(Locking::Theirs(holder(&path)));
        }
        let mut file = loop {
            let mut options = File::options();
            options.read(true).write(true).create(true).truncate(false);
            let file = options.open(&path)?;
            match take(&file)? {
                Taken::Ours if is_still(&file, &path) => break file,
                // Removed between the two calls: the next one is another file.
                Taken::Ours => continue,
                Taken::Theirs => return Ok(Locking::Theirs(holder(&path))),
                Taken::Unsupported => return Ok(Locking::Unsupported),
            }
        };
        file.set_len(0)?;
        file.rewind()?;
        write!(file, "{}", std::process::id())?;
        Ok(Locking::Ours(Box::new(SystemLock {
            directory: held,
            file,
            process: Process::current(),
        })))
    }
}

impl VfsLock for SystemLock {
    fn remove(&self, name: &Path) -> io::Result<()> {
        let name = CString::new(name.as_os_str().as_bytes())?;
        // SAFETY: a system call with a descriptor that is open and a string that ends in a zero byte.
        match unsafe { libc::unlinkat(self.directory.as_raw_fd(), name.as_ptr(), 0) } {
            0 => Ok(()),
            _ => Err(io::Error::last_os_error()),
        }
    }
}

impl Drop for SystemLock {
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

/// The number of the process that wrote the lock file; nothing if it cannot be read.
fn holder(path: &Path) -> String {
    let mut holder = String::new();
    match File::open(path).and_then(|mut file| file.read_to_string(&mut holder)) {
        Ok(_) => holder.trim().to_string(),
        Err(_) => String::new(),
    }
}
