//! The operating system's locks of directories.

use crate::process::Process;
use crate::vfs::{Access, Holder, Locking, VfsLock};
use frazil_types::{LogicalType, Value};
use rustix::fs::{AtFlags, Mode, OFlags};
use rustix::io::Errno;
use std::fs::{File, Permissions};
use std::io::{self, Read, Seek, Write};
use std::os::fd::AsRawFd;
use std::os::unix::fs::{MetadataExt, PermissionsExt};
use std::path::Path;
use std::time::{SystemTime, UNIX_EPOCH};

/// Held as long as this process has the directory open; the system releases it when the process ends,
/// however it ends.
///
/// The directory itself is locked, and a file `lock` in it, in which who writes says who it is. A file can be removed, and made
/// anew by somebody who then locks another file; the directory cannot, unless all that is in it goes with it. File systems of the
/// network lock no directories; there the file is what counts.
///
/// Who reads shares both locks with others who do, and writes nothing. Where the file is missing it does with the
/// directory's lock: whoever writes takes that one first.
#[derive(Debug)]
pub(crate) struct SystemLock {
    directory: File,
    file: Option<File>,
    process: Process,
}

/// What became of a wish for a lock on one open file.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Taken {
    Ours,
    Theirs,
    Unsupported,
}

fn take(file: &File, access: Access) -> io::Result<Taken> {
    let kind = match access {
        Access::Write => libc::LOCK_EX,
        Access::Read => libc::LOCK_SH,
    };
    // SAFETY: a plain system call on a descriptor that is open.
    if unsafe { libc::flock(file.as_raw_fd(), kind | libc::LOCK_NB) } == 0 {
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

/// Name of the lock file in its directory.
const LOCK_FILE: &str = "lock";

impl SystemLock {
    /// Locks an open directory; who writes says so in its file `lock`.
    pub(crate) fn take(held: File, access: Access) -> io::Result<Locking> {
        let taken = take(&held, access)?;
        if taken == Taken::Theirs {
            return theirs(&held, access, &held);
        }
        let file = loop {
            let Some(file) = open_lock_file(&held, access, taken)? else {
                match taken {
                    Taken::Ours => break None,
                    _ => return Ok(Locking::Unsupported),
                }
            };
            match take(&file, access)? {
                Taken::Ours if is_still(&file, &held) => break Some(file),
                // Removed between the two calls: the next one is another file.
                Taken::Ours => continue,
                Taken::Theirs => return theirs(&file, access, &held),
                Taken::Unsupported => return Ok(Locking::Unsupported),
            }
        };
        if let (Some(mut file), Access::Write) = (file.as_ref(), access) {
            file.set_len(0)?;
            file.rewind()?;
            file.write_all(own_name().as_bytes())?;
        }
        Ok(Locking::Ours(Box::new(SystemLock {
            directory: held,
            file,
            process: Process::current(),
        })))
    }
}

/// Opens the file `lock` of a directory. `None` for somebody who reads and has none: it is not made, unless the directory
/// cannot be locked.
fn open_lock_file(directory: &File, access: Access, taken: Taken) -> io::Result<Option<File>> {
    let open = |flags| open_in(directory, flags);
    let making = OFlags::RDWR | OFlags::CREATE;
    if access == Access::Write {
        let file = open(making)?;
        let mode = directory.metadata()?.mode() & 0o666 | 0o600;
        if file.metadata()?.len() == 0 {
            // A new one; a file system without permissions refuses it, and needs none.
            let _ = file.set_permissions(Permissions::from_mode(mode));
        }
        return Ok(Some(file));
    }
    match open(OFlags::RDONLY) {
        Ok(file) => Ok(Some(file)),
        Err(_) if taken == Taken::Ours => Ok(None),
        Err(_) => Ok(open(making).ok()),
    }
}

/// Opens the file `lock` of a directory. An error that says so for a symbolic link: what it leads to is not ours to write.
fn open_in(directory: &File, flags: OFlags) -> io::Result<File> {
    let mode = Mode::from_raw_mode(0o666);
    let flags = flags | OFlags::CLOEXEC | OFlags::NOFOLLOW;
    let open = || rustix::fs::openat(directory, LOCK_FILE, flags, mode);
    match rustix::io::retry_on_intr(open) {
        Ok(file) => Ok(File::from(file)),
        Err(Errno::LOOP) => Err(io::Error::other(
            "its file \"lock\" is a symbolic link; remove the link",
        )),
        Err(e) => Err(e.into()),
    }
}

impl VfsLock for SystemLock {
    fn remove(&self, name: &Path) -> io::Result<()> {
        rustix::fs::unlinkat(&self.directory, name, AtFlags::empty()).map_err(io::Error::from)
    }
}

impl Drop for SystemLock {
    fn drop(&mut self) {
        if !self.process.is_current() {
            return;
        }
        // Children that were forked meanwhile have these descriptors too: closing them here would leave the lock to them.
        self.file.iter().chain([&self.directory]).for_each(unlock);
    }
}

fn unlock(file: &File) {
    // SAFETY: a plain system call on a descriptor that is open.
    unsafe { libc::flock(file.as_raw_fd(), libc::LOCK_UN) };
}

/// True if an open file is still the file `lock` of a directory. The file is not opened for that: file systems of the network
/// drop a process's locks on a file with any of its descriptors.
fn is_still(file: &File, directory: &File) -> bool {
    let there = rustix::fs::statat(directory, LOCK_FILE, AtFlags::SYMLINK_NOFOLLOW);
    match (rustix::fs::fstat(file), there) {
        (Ok(open), Ok(there)) => (open.st_dev, open.st_ino) == (there.st_dev, there.st_ino),
        _ => false,
    }
}

/// What who writes says of itself: its number, and since when.
fn own_name() -> String {
    let since = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
    let since = Value::Int(i128::from(since.as_secs()) * 1_000_000);
    let pid = std::process::id();
    format!("{pid}, since {} UTC", since.display(LogicalType::TIMESTAMP))
}

/// Who holds the lock of an open file that we did not get.
fn theirs(file: &File, access: Access, directory: &File) -> io::Result<Locking> {
    // Where a lock can be shared, those who have it share it.
    let is_shared = access == Access::Write && take(file, Access::Read)? == Taken::Ours;
    let holder = match is_shared {
        true => Holder::Readers(holders(file, "READ")),
        false => Holder::Writer(writer(file, directory)),
    };
    if is_shared {
        unlock(file);
    }
    Ok(Locking::Theirs(holder))
}

/// What the writer wrote into the lock file, or its number while that is another one's text; nothing if neither is known.
fn writer(file: &File, directory: &File) -> String {
    let mut text = String::new();
    let read = open_in(directory, OFlags::RDONLY).and_then(|file| file.take(100).read_to_string(&mut text));
    let text = read.map_or("", |_| text.trim());
    let is_of = |pid: &u32| text.split(',').next() == Some(&pid.to_string());
    match holders(file, "WRITE")[..] {
        [pid] if !is_of(&pid) => pid.to_string(),
        _ => text.to_string(),
    }
}

/// The processes that have locked a file in a way, as far as the system lists them: `7: FLOCK ADVISORY READ 123 08:01:4711 0 EOF`.
fn holders(file: &File, way: &str) -> Vec<u32> {
    let (Ok(metadata), Ok(locks)) = (file.metadata(), std::fs::read_to_string("/proc/locks")) else {
        return Vec::new();
    };
    let device = metadata.dev();
    let place = format!(
        "{:02x}:{:02x}:{}",
        libc::major(device),
        libc::minor(device),
        metadata.ino()
    );
    let own = std::process::id();
    let pid = |line: &str| {
        let words: Vec<&str> = line.split_whitespace().collect();
        match words[..] {
            [_, "FLOCK", _, locked, pid, at, ..] if locked == way && at == place => pid.parse().ok(),
            _ => None,
        }
    };
    let mut pids: Vec<u32> = locks.lines().filter_map(pid).collect();
    // This process has just shared the lock, to see whether that can be.
    if way == "READ"
        && let Some(at) = pids.iter().position(|&pid| pid == own)
    {
        pids.swap_remove(at);
    }
    pids.sort_unstable();
    pids.dedup();
    pids
}
