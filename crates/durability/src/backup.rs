//! A backup: a directory of its own that holds what was committed when the backup began, made while others write.
//!
//! A checkpoint is made first. Its segments never change and stay as long as somebody has them mapped, so that they are copied without
//! a lock. The manifest comes last: a directory without one is refused, so a backup that was not finished is not taken for one.
//! The copy is a database with an id of its own, so that its log and that of the original are told apart.

use crate::directory::Directory;
use crate::manifest::{LogPlace, Manifest};
use crate::progress::CheckpointCause;
use crate::segment::segment_path;
use crate::state::named_segments;
use crate::wal::DatabaseId;
use frazil_types::{Cancel, Error, Result, SqlState};
use frazil_vfs::{
    HeldDirectory, MappedFile, NewFile, Vfs, create_directory, hold_directory, io_error, replace_file,
    sync_directory, sync_directory_and_above,
};
use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// Bytes that are copied between two looks at whether the backup is to stop.
const PORTION: usize = 1 << 20;

/// Segments by number.
type NumberedSegments = Vec<(u64, Arc<MappedFile>)>;

impl Directory {
    /// Copies what is committed to the directory `to`, which is not there or empty; others read and write meanwhile. Returns the bytes
    /// of the copied segments. XX001 if a table is damaged, 22023 if `to` holds something, 57014 if it is stopped,
    /// 25006 if the directory is only read. After an error there is no backup, and what was copied is removed.
    pub fn backup(&self, to: &Path, cancel: &Cancel) -> Result<u64> {
        let (manifest, segments) = self.checkpointed()?;
        if let Some(unread) = manifest.unread.first() {
            let message = format!(
                "cannot back up a database with damaged tables: table \"{}\" cannot be read: {}",
                unread.name, unread.why
            );
            return Err(Error::new(SqlState::DATA_CORRUPTED, message)
                .with_hint("drop the table first, or copy the directory while no process has it open"));
        }
        refuse_full(&*self.files.vfs, to)?;
        create_directory(&*self.files.vfs, to)?;
        let HeldDirectory { vfs, path: to } = hold_directory(&*self.files.vfs, to)?;
        let (vfs, to) = (&vfs, to.as_path());
        create_directory(&**vfs, &to.join("segments"))?;
        let manifest = Manifest {
            database: DatabaseId::random(),
            log: LogPlace::default(),
            sequences_at: LogPlace::default().position,
            ..manifest
        };
        // What this backup made, and nobody else.
        let mut made = Vec::new();
        let copied = copy(vfs, to, &segments, cancel, &mut made).and_then(|bytes| {
            let path = to.join("manifest");
            made.extend([to.join("manifest.new"), path.clone()]);
            let written = manifest.to_checked_bytes(&path)?;
            replace_file(&**vfs, &path, &written).map(|()| bytes)
        });
        // What cannot be removed has no manifest, unless that cannot be removed either.
        copied.inspect_err(|_| made.iter().rev().for_each(|path| drop(vfs.remove(path))))
    }

    /// Makes a checkpoint. Returns its manifest and the segments that this names, which stay as long as they are mapped.
    fn checkpointed(&self) -> Result<(Manifest, NumberedSegments)> {
        self.check_writable()?;
        let mut state = self.files.state_at_once();
        self.checkpoint_in(&mut state, CheckpointCause::Backup, &|_| ())?;
        let named = named_segments(&state.manifest);
        let segments = state.segments.iter().filter(|(number, _)| named.contains(number));
        let segments = segments.map(|(number, file)| (*number, file.clone())).collect();
        Ok((state.manifest.clone(), segments))
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

/// Copies segments, durably, and notes what was made. Returns their bytes.
fn copy(
    vfs: &Arc<dyn Vfs>,
    to: &Path,
    segments: &[(u64, Arc<MappedFile>)],
    cancel: &Cancel,
    made: &mut Vec<PathBuf>,
) -> Result<u64> {
    let mut bytes = 0;
    for (number, from) in segments {
        let path = segment_path(to, *number);
        let mut file = NewFile::create(vfs, &path)?;
        for portion in from.bytes().chunks(PORTION) {
            cancel.check()?;
            file.write(portion)?;
        }
        bytes += file.len();
        file.finish()?.keep();
        made.push(path);
    }
    sync_directory(&**vfs, &to.join("segments"))?;
    sync_directory_and_above(&**vfs, to)?;
    Ok(bytes)
}
