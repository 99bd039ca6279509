//! The operating system's files.

use crate::system_lock::SystemLock;
use crate::vfs::{Access, Entry, IoCounters, Locking, Mapping, Vfs, VfsFile};
use std::ffi::{CString, OsString};
use std::fs::File;
use std::io;
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::FileExt;
use std::path::Path;
use std::sync::Arc;

/// The operating system's files. Clones share their counters.
#[derive(Clone, Debug, Default)]
pub struct SystemVfs {
    counters: Arc<IoCounters>,
}

/// The directory of a path without one is the current one.
fn directory_of(path: &Path) -> &Path {
    match path.as_os_str().is_empty() {
        true => Path::new("."),
        false => path,
    }
}

impl SystemVfs {
    fn file(&self, file: File) -> Box<dyn VfsFile> {
        Box::new(SystemFile {
            file,
            counters: self.counters.clone(),
        })
    }
}

impl Vfs for SystemVfs {
    fn open(&self, path: &Path, access: Access) -> io::Result<Box<dyn VfsFile>> {
        let mut options = File::options();
        options.read(true).write(access == Access::Write);
        options.open(path).map(|f| self.file(f))
    }

    fn create(&self, path: &Path) -> io::Result<Box<dyn VfsFile>> {
        let mut options = File::options();
        options.read(true).write(true).create_new(true);
        options.open(path).map(|f| self.file(f))
    }

    fn create_directory(&self, path: &Path) -> io::Result<()> {
        std::fs::create_dir(path)
    }

    fn sync_directory(&self, path: &Path) -> io::Result<()> {
        let directory = File::open(directory_of(path))?;
        // What cannot be opened is not synced, whoever counts.
        self.counters.count_directory_sync();
        directory.sync_all()
    }

    fn rename(&self, from: &Path, to: &Path) -> io::Result<()> {
        std::fs::rename(from, to)
    }

    fn remove(&self, path: &Path) -> io::Result<()> {
        std::fs::remove_file(path)
    }

    fn list(&self, directory: &Path) -> io::Result<Vec<OsString>> {
        let entries = std::fs::read_dir(directory_of(directory))?;
        entries.map(|e| e.map(|e| e.file_name())).collect()
    }

    fn entry(&self, path: &Path) -> io::Result<Option<Entry>> {
        match std::fs::metadata(directory_of(path)) {
            Ok(metadata) if metadata.is_dir() => Ok(Some(Entry::Directory)),
            Ok(_) => Ok(Some(Entry::File)),
            Err(e) if matches!(e.kind(), io::ErrorKind::NotFound | io::ErrorKind::NotADirectory) => Ok(None),
            Err(e) => Err(e),
        }
    }

    fn map(&self, path: &Path) -> io::Result<Mapping> {
        let file = File::open(path)?;
        // SAFETY: `Vfs::map` has its caller see to it that nobody changes the file meanwhile: segment files are written
        // once, and never changed while their directory is locked by this process. A foreign process that truncates
        // one breaks the lock's contract.
        unsafe { memmap2::Mmap::map(&file) }.map(Mapping::mapped)
    }

    fn lock(&self, directory: &Path, access: Access) -> io::Result<Locking> {
        SystemLock::take(directory_of(directory), access)
    }

    fn space(&self, directory: &Path) -> io::Result<u64> {
        let path = CString::new(directory_of(directory).as_os_str().as_bytes())?;
        // SAFETY: zeroes are a value of this plain C structure.
        let mut found: libc::statvfs = unsafe { std::mem::zeroed() };
        // SAFETY: a system call with a string that ends in a zero byte and a structure of ours that it fills.
        match unsafe { libc::statvfs(path.as_ptr(), &mut found) } {
            // The two fields' widths differ between systems.
            #[allow(clippy::unnecessary_cast)]
            0 => Ok((found.f_bavail as u64).saturating_mul(found.f_frsize as u64)),
            _ => Err(io::Error::last_os_error()),
        }
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
    fn copied_bytes_are_aligned_as_mapped_ones_are() {
        for len in [0, 1, 63, 64, 65, 5_000] {
            let bytes: Vec<u8> = (0..len).map(|i| i as u8).collect();
            let mapping = Mapping::copied(&bytes);
            assert_eq!(mapping.bytes(), bytes);
            assert_eq!(mapping.bytes().as_ptr().addr() % 64, 0);
        }
    }
}
