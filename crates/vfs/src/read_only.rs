//! The half of a file system that changes nothing.

use crate::vfs::{Access, Entry, HeldDirectory, IoCounters, Locking, Mapping, Vfs, VfsFile};
use frazil_types::Cancel;
use std::ffi::OsString;
use std::io;
use std::path::Path;
use std::sync::Arc;

/// A file system whose files are read alone: whoever has it cannot change a byte or a name, whatever the files'
/// permissions say. Files are opened for [`Access::Read`]. A lock is not taken either, because who locks keeps others
/// away.
#[derive(Clone, Debug)]
pub struct ReadOnlyVfs(Arc<dyn Vfs>);

impl ReadOnlyVfs {
    /// The reading half of a file system.
    pub fn of(vfs: Arc<dyn Vfs>) -> ReadOnlyVfs {
        ReadOnlyVfs(vfs)
    }
}

fn refused<T>() -> io::Result<T> {
    Err(io::ErrorKind::ReadOnlyFilesystem.into())
}

impl Vfs for ReadOnlyVfs {
    fn hold(&self, directory: &Path) -> io::Result<HeldDirectory> {
        let held = self.0.hold(directory)?;
        Ok(HeldDirectory {
            vfs: Arc::new(ReadOnlyVfs(held.vfs)),
            path: held.path,
        })
    }

    fn open(&self, path: &Path, access: Access) -> io::Result<Box<dyn VfsFile>> {
        match access {
            Access::Read => self.0.open(path, Access::Read),
            Access::Write => refused(),
        }
    }

    fn create(&self, _path: &Path) -> io::Result<Box<dyn VfsFile>> {
        refused()
    }

    fn create_directory(&self, _path: &Path) -> io::Result<()> {
        refused()
    }

    fn sync_directory(&self, path: &Path) -> io::Result<()> {
        self.0.sync_directory(path)
    }

    fn rename(&self, _from: &Path, _to: &Path) -> io::Result<()> {
        refused()
    }

    fn remove(&self, _path: &Path) -> io::Result<()> {
        refused()
    }

    fn list(&self, directory: &Path) -> io::Result<Vec<OsString>> {
        self.0.list(directory)
    }

    fn entry(&self, path: &Path) -> io::Result<Option<Entry>> {
        self.0.entry(path)
    }

    fn is_within(&self, directory: &Path, above: &Path) -> io::Result<bool> {
        self.0.is_within(directory, above)
    }

    fn map(&self, path: &Path) -> io::Result<Mapping> {
        self.0.map(path)
    }

    fn lock(&self, _directory: &Path, _access: Access) -> io::Result<Locking> {
        refused()
    }

    fn space(&self, directory: &Path) -> io::Result<u64> {
        self.0.space(directory)
    }

    fn counters(&self) -> &IoCounters {
        self.0.counters()
    }

    fn stopped_by(&self, cancel: &Cancel) -> Option<Arc<dyn Vfs>> {
        let stopped = self.0.stopped_by(cancel)?;
        Some(Arc::new(ReadOnlyVfs(stopped)))
    }

    fn looked_over(&self, directory: &Path) -> io::Result<Option<Arc<dyn Vfs>>> {
        let looked = self.0.looked_over(directory)?;
        Ok(looked.map(|vfs| Arc::new(ReadOnlyVfs(vfs)) as Arc<dyn Vfs>))
    }

    fn is_elsewhere(&self) -> bool {
        self.0.is_elsewhere()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::SystemVfs;

    #[test]
    fn nothing_is_changed_and_everything_is_read() {
        let directory = std::env::temp_dir().join(format!("frazil-read-only-vfs-{}", std::process::id()));
        let _ = std::fs::remove_dir_all(&directory);
        std::fs::create_dir_all(&directory).unwrap();
        let file = directory.join("file");
        std::fs::write(&file, b"bytes").unwrap();
        let held = ReadOnlyVfs::of(Arc::new(SystemVfs::default()))
            .hold(&directory)
            .unwrap();
        let vfs = held.vfs;
        let other = directory.join("other");
        assert!(vfs.open(&file, Access::Write).is_err());
        assert!(vfs.create(&other).is_err() && vfs.create_directory(&other).is_err());
        assert!(vfs.rename(&file, &other).is_err() && vfs.remove(&file).is_err());
        assert!(vfs.lock(&directory, Access::Read).is_err());
        let open = vfs.open(&file, Access::Read).unwrap();
        assert!(open.write_at(0, b"x").is_err());
        open.sync().unwrap();
        assert_eq!(vfs.map(&file).unwrap().bytes(), b"bytes");
        assert_eq!(vfs.list(&directory).unwrap(), ["file"]);
        assert_eq!(vfs.entry(&other).unwrap(), None);
        std::fs::remove_dir_all(&directory).unwrap();
    }
}
