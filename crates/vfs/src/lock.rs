//! Processes that have a directory open: one that writes it, or several that keep others from writing it while they
//! read. A process that reads beside a writer has no lock.

use crate::file::io_error;
use crate::process::Process;
use crate::vfs::{Access, Holder, Locking, Vfs, VfsLock};
use frazil_types::{Error, Result, SqlState};
use std::io::ErrorKind;
use std::path::{Path, PathBuf};

/// Held as long as this process has the directory open; the system releases it when the process ends,
/// however it ends.
#[derive(Debug)]
pub struct DirectoryLock {
    /// `None`: nobody is kept away.
    held: Option<Box<dyn VfsLock>>,
    directory: PathBuf,
    process: Process,
}

impl DirectoryLock {
    /// Locks `directory`, for this process alone or together with others that read; 55006 naming the other processes if it is taken.
    pub fn acquire(vfs: &dyn Vfs, directory: &Path, access: Access) -> Result<DirectoryLock> {
        let locked = vfs.lock(directory, access).map_err(|e| {
            let error = io_error("lock", directory, &e);
            match (access, e.kind()) {
                (Access::Write, ErrorKind::PermissionDenied | ErrorKind::ReadOnlyFilesystem) => {
                    error.with_hint("open it read-only, or where it can be written")
                }
                _ => error,
            }
        });
        match locked? {
            Locking::Ours(held) => Ok(DirectoryLock {
                held: Some(held),
                directory: directory.to_path_buf(),
                process: Process::current(),
            }),
            Locking::Theirs(holder) => Err(in_use(directory, &holder)),
            Locking::Unsupported => Err(cannot_lock(directory)),
        }
    }

    /// The absence of a lock: the process reads the directory and keeps nobody away.
    pub fn none(directory: &Path) -> DirectoryLock {
        DirectoryLock {
            held: None,
            directory: directory.to_path_buf(),
            process: Process::current(),
        }
    }

    /// 08003 in a child that was forked from the process that holds the lock: it must not write to the directory.
    pub fn check_owner(&self) -> Result<()> {
        self.process.check()
    }

    /// Removes a file of the locked directory, whatever lies at the directory's path by now; a forked child removes nothing.
    /// A file that stays harms nobody: whoever opens the directory next finds it unnamed.
    pub(crate) fn remove(&self, file: &Path) {
        if let Ok(name) = file.strip_prefix(&self.directory)
            && self.process.is_current()
            && let Some(held) = &self.held
        {
            let _ = held.remove(name);
        }
    }
}

fn in_use(directory: &Path, holder: &Holder) -> Error {
    let holder = match holder {
        Holder::Writer(who) if who.is_empty() => "in use by another process".to_string(),
        Holder::Writer(who) => format!("in use by process {who}"),
        Holder::Readers(pids) if pids.is_empty() => "being read by other processes".to_string(),
        Holder::Readers(pids) => {
            let pids: Vec<String> = pids.iter().map(|pid| format!("process {pid}")).collect();
            format!("being read by {}", pids.join(", "))
        }
    };
    Error::new(
        SqlState::OBJECT_IN_USE,
        format!("database directory \"{}\" is {holder}", directory.display()),
    )
    .with_hint(
        "close it there first: one process writes a directory; open it read-only to read beside that process",
    )
}

fn cannot_lock(directory: &Path) -> Error {
    Error::new(
        SqlState::IO_ERROR,
        format!(
            "the file system of database directory \"{}\" cannot lock files",
            directory.display()
        ),
    )
    .with_hint("put it on a file system with locks; without them two processes could overwrite each other")
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::SystemVfs;

    fn directory(name: &str) -> PathBuf {
        let directory = std::env::temp_dir().join(format!("frazil-lock-{name}-{}", std::process::id()));
        let _ = std::fs::remove_dir_all(&directory);
        std::fs::create_dir_all(&directory).unwrap();
        directory
    }

    #[test]
    fn a_second_holder_is_told_who_holds_it() {
        let directory = directory("second");
        let first = DirectoryLock::acquire(&SystemVfs::default(), &directory, Access::Write).unwrap();
        let error = DirectoryLock::acquire(&SystemVfs::default(), &directory, Access::Write).unwrap_err();
        assert_eq!(error.state(), SqlState::OBJECT_IN_USE);
        assert!(error.message().contains(&std::process::id().to_string()));
        drop(first);
        DirectoryLock::acquire(&SystemVfs::default(), &directory, Access::Write).unwrap();
        std::fs::remove_dir_all(&directory).unwrap();
    }

    #[test]
    fn several_read_and_nobody_writes_beside_them() {
        let directory = directory("shared");
        let acquire = |access| DirectoryLock::acquire(&SystemVfs::default(), &directory, access);
        for has_file in [false, true] {
            let readers = [Access::Read, Access::Read].map(|access| acquire(access).unwrap());
            assert_eq!(directory.join("lock").exists(), has_file, "who reads makes none");
            let error = acquire(Access::Write).unwrap_err();
            assert_eq!(error.state(), SqlState::OBJECT_IN_USE);
            let pid = format!("being read by process {}", std::process::id());
            let tells = !cfg!(target_os = "linux") || error.message().contains(&pid);
            assert!(tells || error.message().contains("by other processes"), "{error}");
            drop(readers);
            let writer = acquire(Access::Write).unwrap();
            let error = acquire(Access::Read).unwrap_err();
            assert!(error.message().contains("in use by process"), "{error}");
            assert!(error.message().contains(", since 20"), "{error}");
            drop(writer);
        }
        std::fs::remove_dir_all(&directory).unwrap();
    }

    #[test]
    fn a_removed_lock_file_lets_nobody_in() {
        let directory = directory("removed");
        let first = DirectoryLock::acquire(&SystemVfs::default(), &directory, Access::Write).unwrap();
        std::fs::remove_file(directory.join("lock")).unwrap();
        let error = DirectoryLock::acquire(&SystemVfs::default(), &directory, Access::Write).unwrap_err();
        assert_eq!(error.state(), SqlState::OBJECT_IN_USE);
        drop(first);
        DirectoryLock::acquire(&SystemVfs::default(), &directory, Access::Write).unwrap();
        std::fs::remove_dir_all(&directory).unwrap();
    }

    #[test]
    fn a_forked_child_neither_keeps_the_lock_nor_gives_it_up() {
        let directory = directory("forked");
        let first = DirectoryLock::acquire(&SystemVfs::default(), &directory, Access::Write).unwrap();
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
        DirectoryLock::acquire(&SystemVfs::default(), &directory, Access::Write)
            .expect_err("the parent still holds it");
        drop(first);
        DirectoryLock::acquire(&SystemVfs::default(), &directory, Access::Write).unwrap();
        std::fs::remove_dir_all(&directory).unwrap();
    }
}
