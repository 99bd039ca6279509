//! The operating system's files.

use crate::system_lock::SystemLock;
use crate::vfs::{Access, Entry, HeldDirectory, IoCounters, Locking, Mapping, Vfs, VfsFile};
use rustix::fs::{AtFlags, CWD, Dir, FileType, Mode, OFlags};
use rustix::io::Errno;
use std::ffi::{OsStr, OsString};
use std::fs::File;
use std::io;
use std::os::fd::{AsFd, BorrowedFd};
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::{FileExt, MetadataExt, PermissionsExt};
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// What the owner of a file may do with it, whatever the umask says: the next one to open a database is the same user.
const OWNER_OF_FILE: u32 = 0o600;
const OWNER_OF_DIRECTORY: u32 = 0o700;
/// Reading and writing, by everybody.
const ALL_OF_FILE: u32 = 0o666;

/// The operating system's files. Clones share their counters.
#[derive(Clone, Debug, Default)]
pub struct SystemVfs {
    counters: Arc<IoCounters>,
    held: Option<Arc<Held>>,
}

/// A directory that is reached by its descriptor.
#[derive(Debug)]
struct Held {
    path: PathBuf,
    directory: File,
    /// Permissions of new files below it.
    file_mode: u32,
    /// Permissions of new directories below it.
    directory_mode: u32,
}

/// A path as the system takes it: from a directory on.
struct Place<'a> {
    from: BorrowedFd<'a>,
    path: &'a Path,
    held: Option<&'a Held>,
}

impl Place<'_> {
    fn open(&self, flags: OFlags) -> io::Result<File> {
        let mode = Mode::from_raw_mode(ALL_OF_FILE as _);
        let open = || rustix::fs::openat(self.from, self.path, flags | OFlags::CLOEXEC, mode);
        rustix::io::retry_on_intr(open)
            .map(File::from)
            .map_err(io::Error::from)
    }

    fn open_directory(&self) -> io::Result<File> {
        self.open(OFlags::RDONLY | OFlags::DIRECTORY)
    }

    /// Gives a new file or directory the permissions that those of its place have, and its owner at least `owner`.
    fn permit(&self, made: &File, mode: Option<u32>, owner: u32) {
        let Ok(metadata) = made.metadata() else { return };
        let own = metadata.mode() & 0o777;
        let wanted = mode.unwrap_or(own) | owner;
        if own != wanted {
            // A file system without permissions refuses it, and needs none.
            let _ = made.set_permissions(std::fs::Permissions::from_mode(wanted));
        }
    }
}

/// A path without a name is the directory that it starts from.
fn or_itself(path: &Path) -> &Path {
    match path.as_os_str().is_empty() {
        true => Path::new("."),
        false => path,
    }
}

impl SystemVfs {
    fn place<'a>(&'a self, path: &'a Path) -> Place<'a> {
        let held = self.held.as_deref();
        let below = held.and_then(|held| Some((held, path.strip_prefix(&held.path).ok()?)));
        match below {
            Some((held, below)) => Place {
                from: held.directory.as_fd(),
                path: or_itself(below),
                held: Some(held),
            },
            None => Place {
                from: CWD,
                path: or_itself(path),
                held: None,
            },
        }
    }

    fn file(&self, file: File) -> Box<dyn VfsFile> {
        Box::new(SystemFile {
            file,
            counters: self.counters.clone(),
        })
    }
}

impl Vfs for SystemVfs {
    fn hold(&self, directory: &Path) -> io::Result<HeldDirectory> {
        let path = std::path::absolute(or_itself(directory))?;
        let directory = self.place(directory).open_directory()?;
        let mode = directory.metadata()?.mode();
        // Everybody may make files in a directory with the sticky bit, but not change those of others.
        let shared = if mode & 0o1000 != 0 { 0o755 } else { 0o777 };
        let directory_mode = mode & shared | OWNER_OF_DIRECTORY;
        let held = Held {
            path: path.clone(),
            directory,
            file_mode: directory_mode & ALL_OF_FILE,
            directory_mode,
        };
        let vfs = SystemVfs {
            counters: self.counters.clone(),
            held: Some(Arc::new(held)),
        };
        Ok(HeldDirectory {
            vfs: Arc::new(vfs),
            path,
        })
    }

    fn open(&self, path: &Path, access: Access) -> io::Result<Box<dyn VfsFile>> {
        let flags = match access {
            Access::Write => OFlags::RDWR,
            Access::Read => OFlags::RDONLY,
        };
        self.place(path).open(flags).map(|f| self.file(f))
    }

    fn create(&self, path: &Path) -> io::Result<Box<dyn VfsFile>> {
        let place = self.place(path);
        let file = place.open(OFlags::RDWR | OFlags::CREATE | OFlags::EXCL)?;
        place.permit(&file, place.held.map(|held| held.file_mode), OWNER_OF_FILE);
        Ok(self.file(file))
    }

    fn create_directory(&self, path: &Path) -> io::Result<()> {
        let place = self.place(path);
        let all = Mode::from_raw_mode(0o777);
        rustix::fs::mkdirat(place.from, place.path, all)?;
        let mode = place.held.map(|held| held.directory_mode);
        match place.open_directory() {
            Ok(made) => {
                place.permit(&made, mode, OWNER_OF_DIRECTORY);
                Ok(())
            }
            // The umask has taken the owner's own right to open it.
            Err(_) => {
                let mode = Mode::from_raw_mode(mode.unwrap_or(OWNER_OF_DIRECTORY) as _);
                rustix::fs::chmodat(place.from, place.path, mode, AtFlags::empty()).map_err(io::Error::from)
            }
        }
    }

    fn sync_directory(&self, path: &Path) -> io::Result<()> {
        let directory = self.place(path).open_directory()?;
        // What cannot be opened is not synced, whoever counts.
        self.counters.count_directory_sync();
        directory.sync_all()
    }

    fn rename(&self, from: &Path, to: &Path) -> io::Result<()> {
        let (from, to) = (self.place(from), self.place(to));
        rustix::fs::renameat(from.from, from.path, to.from, to.path).map_err(io::Error::from)
    }

    fn remove(&self, path: &Path) -> io::Result<()> {
        let place = self.place(path);
        rustix::fs::unlinkat(place.from, place.path, AtFlags::empty()).map_err(io::Error::from)
    }

    fn list(&self, directory: &Path) -> io::Result<Vec<OsString>> {
        let mut names = Vec::new();
        for entry in Dir::new(self.place(directory).open_directory()?)? {
            let entry = entry?;
            let name = OsStr::from_bytes(entry.file_name().to_bytes());
            if name != "." && name != ".." {
                names.push(name.to_os_string());
            }
        }
        Ok(names)
    }

    fn entry(&self, path: &Path) -> io::Result<Option<Entry>> {
        let place = self.place(path);
        match rustix::fs::statat(place.from, place.path, AtFlags::empty()) {
            Ok(found) if FileType::from_raw_mode(found.st_mode).is_dir() => Ok(Some(Entry::Directory)),
            Ok(_) => Ok(Some(Entry::File)),
            Err(Errno::NOENT | Errno::NOTDIR) => Ok(None),
            Err(e) => Err(e.into()),
        }
    }

    fn is_within(&self, directory: &Path, above: &Path) -> io::Result<bool> {
        let above = self.place(above);
        let above = rustix::fs::statat(above.from, above.path, AtFlags::empty())?;
        let above = (above.st_dev, above.st_ino);
        let start = self.place(directory).open_directory()?;
        let mut up = PathBuf::from(".");
        let mut below = None;
        loop {
            // A directory above need not be readable to be looked at.
            let here = rustix::fs::statat(&start, &up, AtFlags::empty())?;
            let here = (here.st_dev, here.st_ino);
            if here == above {
                return Ok(true);
            }
            // The root is above itself.
            if below.replace(here) == Some(here) {
                return Ok(false);
            }
            up.push("..");
        }
    }

    fn map(&self, path: &Path) -> io::Result<Mapping> {
        let file = self.place(path).open(OFlags::RDONLY)?;
        // SAFETY: `Vfs::map` has its caller see to it that nobody changes the file meanwhile: segment files are written
        // once, and no process changes one that a manifest or the log has named: it may lose its name, and then stays
        // as it is until it is unmapped. A foreign program that truncates one breaks the contract of the directory.
        unsafe { memmap2::Mmap::map(&file) }.map(Mapping::mapped)
    }

    fn lock(&self, directory: &Path, access: Access) -> io::Result<Locking> {
        SystemLock::take(self.place(directory).open_directory()?, access)
    }

    fn space(&self, directory: &Path) -> io::Result<u64> {
        let found = rustix::fs::fstatvfs(self.place(directory).open_directory()?)?;
        Ok(found.f_bavail.saturating_mul(found.f_frsize))
    }

    fn counters(&self) -> &IoCounters {
        &self.counters
    }
}

#[derive(Debug)]
struct SystemFile {
    file: File,
    counters: Arc<IoCounters>,
}

impl VfsFile for SystemFile {
    fn read_at(&self, offset: u64, into: &mut [u8]) -> io::Result<usize> {
        let mut done = 0;
        while done < into.len() {
            match self.file.read_at(&mut into[done..], offset + done as u64) {
                Ok(0) => break,
                Ok(read) => done += read,
                Err(e) if e.kind() == io::ErrorKind::Interrupted => {}
                Err(e) => return Err(e),
            }
        }
        Ok(done)
    }

    fn write_at(&self, offset: u64, bytes: &[u8]) -> io::Result<()> {
        self.counters.count_write(bytes.len());
        self.file.write_all_at(bytes, offset)
    }

    fn sync(&self) -> io::Result<()> {
        self.counters.count_file_sync();
        // The length with the bytes, where it changed; times of access and change are nothing to us.
        self.file.sync_data()
    }

    fn len(&self) -> io::Result<u64> {
        self.file.metadata().map(|m| m.len())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn files_are_written_read_renamed_mapped_and_removed() {
        let vfs = SystemVfs::default();
        let directory = std::env::temp_dir().join(format!("frazil-system-vfs-{}", std::process::id()));
        let _ = std::fs::remove_dir_all(&directory);
        vfs.create_directory(&directory).unwrap();
        let (a, b) = (directory.join("a"), directory.join("b"));
        let file = vfs.create(&a).unwrap();
        assert_eq!(vfs.create(&a).unwrap_err().kind(), io::ErrorKind::AlreadyExists);
        file.write_at(3, b"later").unwrap();
        file.sync().unwrap();
        assert_eq!(file.len().unwrap(), 8);
        let mut bytes = [7; 10];
        assert_eq!(file.read_at(0, &mut bytes).unwrap(), 8);
        assert_eq!(&bytes, b"\0\0\0later\x07\x07");
        vfs.rename(&a, &b).unwrap();
        vfs.sync_directory(&directory).unwrap();
        assert_eq!(vfs.entry(&a).unwrap(), None);
        assert_eq!(vfs.entry(&b.join("c")).unwrap(), None);
        assert_eq!(vfs.entry(&b).unwrap(), Some(Entry::File));
        assert_eq!(vfs.entry(&directory).unwrap(), Some(Entry::Directory));
        assert_eq!(vfs.list(&directory).unwrap(), ["b"]);
        let file = vfs.open(&b, Access::Read).unwrap();
        assert!(file.write_at(0, b"x").is_err());
        assert_eq!(file.len().unwrap(), 8);
        assert_eq!(&vfs.map(&b).unwrap().bytes()[3..], b"later");
        assert!(vfs.space(&directory).unwrap() > 0);
        let counters = vfs.counters();
        assert_eq!((counters.file_syncs(), counters.directory_syncs()), (1, 1));
        assert_eq!((counters.writes(), counters.bytes_written()), (2, 6));
        vfs.remove(&b).unwrap();
        assert_eq!(
            vfs.open(&b, Access::Read).unwrap_err().kind(),
            io::ErrorKind::NotFound
        );
        std::fs::remove_dir_all(&directory).unwrap();
    }

    #[test]
    fn a_directory_is_within_those_above_it_by_whatever_path() {
        let vfs = SystemVfs::default();
        let above = std::env::temp_dir().join(format!("frazil-within-{}", std::process::id()));
        let _ = std::fs::remove_dir_all(&above);
        std::fs::create_dir_all(above.join("a/b")).unwrap();
        std::fs::create_dir_all(above.join("ab")).unwrap();
        std::os::unix::fs::symlink(above.join("a/b"), above.join("link")).unwrap();
        let is_within = |below: &str, of: &str| vfs.is_within(&above.join(below), &above.join(of)).unwrap();
        assert!(is_within("a", "a") && is_within("a/b", "a") && is_within("link", "a"));
        assert!(!is_within("ab", "a") && !is_within("a", "a/b") && !is_within("a", "link"));
        assert!(vfs.is_within(&above, Path::new("/")).unwrap());
        assert!(vfs.is_within(&above.join("none"), &above).is_err());
        std::fs::remove_dir_all(&above).unwrap();
    }

    #[test]
    fn a_held_directory_stays_itself_when_it_is_moved() {
        let vfs = SystemVfs::default();
        let above = std::env::temp_dir().join(format!("frazil-held-{}", std::process::id()));
        let _ = std::fs::remove_dir_all(&above);
        std::fs::create_dir_all(above.join("d/in")).unwrap();
        std::fs::set_permissions(above.join("d"), std::fs::Permissions::from_mode(0o750)).unwrap();
        let held = vfs.hold(&above.join("d")).unwrap();
        assert_eq!(held.path, above.join("d"));
        std::fs::rename(above.join("d"), above.join("moved")).unwrap();
        std::fs::create_dir_all(above.join("d/in")).unwrap();
        let at = |name: &str| held.path.join(name);
        held.vfs.create(&at("a")).unwrap().write_at(0, b"held").unwrap();
        held.vfs.rename(&at("a"), &at("in/b")).unwrap();
        held.vfs.create_directory(&at("new")).unwrap();
        held.vfs.sync_directory(&held.path).unwrap();
        assert_eq!(held.vfs.map(&at("in/b")).unwrap().bytes(), b"held");
        assert_eq!(held.vfs.entry(&at("new")).unwrap(), Some(Entry::Directory));
        let mut names = held.vfs.list(&held.path).unwrap();
        names.sort();
        assert_eq!(names, ["in", "new"]);
        let lock = held.vfs.lock(&held.path, Access::Write).unwrap();
        assert!(matches!(lock, Locking::Ours(_)));
        let mode = |path: &str| std::fs::metadata(above.join("moved").join(path)).unwrap().mode() & 0o777;
        assert_eq!((mode("in/b"), mode("new"), mode("lock")), (0o640, 0o750, 0o640));
        assert_eq!(vfs.list(&above.join("d")).unwrap(), ["in"]);
        assert_eq!(vfs.list(&above.join("d/in")).unwrap().len(), 0);
        std::fs::remove_dir_all(&above).unwrap();
    }

    #[test]
    fn copied_bytes_are_aligned_as_mapped_ones_are() {
        for len in [0, 1, 63, 64, 65, 5_000] {
            let bytes: Vec<u8> = (0..len).map(|i| i as u8).collect();
            let mapping = Mapping::copied(&bytes);
            assert_eq!(mapping.bytes(), bytes);
            assert_eq!(mapping.bytes().as_ptr().addr() % 64, 0);
        }
    }
}
