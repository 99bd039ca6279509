//! A backup: a directory of its own that holds what was committed when the backup began, made while others write.
//!
//! A checkpoint is copied ([`crate::block_copier`]). The manifest comes last: a directory without one is refused, so a
//! backup that was not finished is not taken for one. The copy is a database with an id of its own, so that its log and
//! that of the original are told apart.

use crate::block_copier::{BlockCopier, CheckpointSource, CopyWatch};
use crate::directory::Directory;
use crate::manifest::{LogPlace, Manifest};
use crate::progress::CheckpointCause;
use crate::wal::DatabaseId;
use frazil_types::{Cancel, Error, Result, SqlState};
use frazil_vfs::{
    HeldDirectory, Vfs, create_directory, hold_directory, io_error, replace_file, sync_directory_and_above,
};
use std::collections::HashMap;
use std::io;
use std::path::Path;

impl Directory {
    /// Copies what is committed to the directory `to`, which is not there or empty; others read and write meanwhile. Returns the bytes
    /// that were copied. XX001 if a table is damaged, 22023 if `to` holds something, 57014 if it is stopped,
    /// 25006 if the directory is only read. After an error there is no backup, and what was copied is removed.
    pub fn backup(&self, to: &Path, cancel: &Cancel) -> Result<u64> {
        let source = CheckpointSource::of(self, CheckpointCause::Backup, "back up")?;
        refuse_full(&*self.files.vfs, to)?;
        create_directory(&*self.files.vfs, to)?;
        let HeldDirectory { vfs, path: to } = hold_directory(&*self.files.vfs, to)?;
        let (vfs, to) = (&vfs, to.as_path());
        create_directory(&**vfs, &to.join("segments"))?;
        let mut copier = BlockCopier::new(vfs, to, 0, HashMap::new(), CopyWatch::stopped_by(cancel));
        let manifest = Manifest {
            database: DatabaseId::random(),
            log: LogPlace::default(),
            sequences_at: LogPlace::default().position,
            ..copier.copy(&source)?
        };
        sync_directory_and_above(&**vfs, to)?;
        let path = to.join("manifest");
        let replaced = replace_file(&**vfs, &path, &manifest.to_checked_bytes(&path)?);
        if let Err(error) = replaced {
            // Segments that cannot be removed have no manifest, unless the manifest cannot be removed either.
            [to.join("manifest.new"), path]
                .iter()
                .for_each(|path| drop(vfs.remove(path)));
            return Err(error);
        }
        let bytes = copier.copied().bytes;
        copier.keep();
        Ok(bytes)
    }
}

/// A directory that holds something is not overwritten.
fn refuse_full(vfs: &dyn Vfs, to: &Path) -> Result<()> {
    let names = match vfs.list(to) {
        Err(e) if e.kind() == io::ErrorKind::NotFound => return Ok(()),
        names => names.map_err(|e| io_error("open directory", to, &e))?,
    };
    match names.first() {
        None => Ok(()),
        Some(name) => Err(Error::new(
            SqlState::INVALID_PARAMETER,
            format!(
                "directory \"{}\" is not empty: it holds \"{}\"",
                to.display(),
                name.to_string_lossy()
            ),
        )
        .with_hint("name an empty or new directory")),
    }
}
