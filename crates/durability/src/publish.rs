//! PUBLISH: a snapshot in a folder, for readers elsewhere. The folder's layout is told in [`crate::published_folder`].
//!
//! A checkpoint is copied ([`crate::block_copier`]), so a snapshot has what was committed when PUBLISH began. An
//! incremental PUBLISH copies only what the newest snapshot lacks.
//!
//! # Blocks that the folder has
//!
//! A block is named by its table and the number of its chunk. The block of a chunk changes when rows come to the chunk,
//! or when the chunk is frozen again in another form; its place in the database's segments changes also when a
//! checkpoint gathers what is left of old segments. So blocks are compared by their headers, which have the lengths,
//! bounds and checksums of all columns. Marks of deleted rows are compared byte by byte. If less than half of a segment
//! in the folder is still needed, its blocks are copied once more, so that the segment can be removed.

use crate::block_copier::{BlockCopier, CheckpointSource, CopyWatch, bytes_at};
use crate::directory::Directory;
use crate::manifest::{ChunkRecord, LogPlace, Manifest};
use crate::progress::CheckpointCause;
use crate::published_folder::{NotInstalled, PublishedFolder};
use crate::published_snapshot::PublishedSnapshot;
use crate::segment::{fetch_headers, looked_over, open_segments};
use crate::state::named_segments;
use frazil_storage::segment_block::open_block;
use frazil_storage::{Lsn, SegmentPlace};
use frazil_types::{Error, ObjectId, Result, SqlState};
use frazil_vfs::{Entry, MappedFile, Vfs, io_error};
use std::collections::HashMap;
use std::path::Path;
use std::sync::Arc;

/// The way to publish a snapshot.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PublishOptions {
    /// Only what the newest snapshot of the folder lacks is copied.
    pub is_incremental: bool,
    /// Number of snapshots that stay in the folder, the new one among them; at least 1.
    pub keep: usize,
}

impl Default for PublishOptions {
    /// Copies everything and keeps the new snapshot alone.
    fn default() -> PublishOptions {
        PublishOptions {
            is_incremental: false,
            keep: 1,
        }
    }
}

/// A snapshot that was published.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Publication {
    /// Its number among the snapshots of the folder, from 1.
    pub snapshot: u64,
    /// The end of the log: the snapshot has the commits before this position.
    pub lsn: Lsn,
    /// Blocks and marks of deleted rows that were copied.
    pub blocks: u64,
    /// Their bytes.
    pub bytes: u64,
    /// Bytes of all blocks and marks of the snapshot.
    pub total_bytes: u64,
}

impl Directory {
    /// Publishes what is committed to a folder; others read and write meanwhile. 22023 for a folder that holds
    /// something else or is inside the directory, 55006 while somebody else publishes to it, XX001 if a table is
    /// damaged, 57014 if it is stopped, 25006 if the directory is only read. After an error the newest snapshot of the
    /// folder is the one before, or the new one if the last sync failed.
    pub fn publish(&self, to: &Path, options: &PublishOptions, watch: CopyWatch<'_>) -> Result<Publication> {
        self.check_writable()?;
        refuse_own(&*self.files.vfs, to, &self.files.path)?;
        self.publish_over(&*self.files.vfs, to, options, watch)
    }

    /// Publishes to a folder of another file system than that of the directory, as [`Directory::publish`] does.
    pub fn publish_over(
        &self,
        vfs: &dyn Vfs,
        to: &Path,
        options: &PublishOptions,
        watch: CopyWatch<'_>,
    ) -> Result<Publication> {
        self.check_writable()?;
        watch
            .cancel
            .during(|| self.publish_stopped(vfs, to, options, watch))
    }

    fn publish_stopped(
        &self,
        vfs: &dyn Vfs,
        to: &Path,
        options: &PublishOptions,
        watch: CopyWatch<'_>,
    ) -> Result<Publication> {
        let database = self.files.state_at_once().manifest.database;
        let mut folder = PublishedFolder::open(vfs, to, database)?;
        let source = CheckpointSource::of(self, CheckpointCause::Publish, "publish")?;
        let present = match options.is_incremental {
            true => present(&folder, &source)?,
            false => HashMap::new(),
        };
        let last_segment = folder.last_segment()?;
        let mut copier = BlockCopier::new(&folder.vfs, &folder.path, last_segment, present, watch);
        let snapshot = PublishedSnapshot {
            number: folder.next_number,
            lsn: source.manifest.log.position,
        };
        let manifest = Manifest {
            log: LogPlace::default(),
            sequences_at: LogPlace::default().position,
            published: Some(snapshot),
            ..copier.copy(&source)?
        };
        let publication = Publication {
            snapshot: snapshot.number,
            lsn: snapshot.lsn,
            blocks: copier.copied().blocks,
            bytes: copier.copied().bytes,
            total_bytes: manifest.places().map(|place| place.bytes).sum(),
        };
        watch.cancel.check()?;
        if let Err(NotInstalled { error, is_unknown }) = folder.install(snapshot, manifest) {
            if is_unknown {
                copier.keep();
            }
            return Err(error);
        }
        copier.keep();
        // The snapshot is there: what could not be removed is removed by the next PUBLISH.
        let _ = folder.keep(options.keep.max(1));
        Ok(publication)
    }
}

/// 22023 for the empty path, which would be the working directory, and if a folder, which need not be there, is the
/// directory of the database or is inside of it.
fn refuse_own(vfs: &dyn Vfs, folder: &Path, own: &Path) -> Result<()> {
    if folder.as_os_str().is_empty() {
        return Err(
            Error::new(SqlState::INVALID_PARAMETER, "the name of the folder is empty")
                .with_hint("name the folder: PUBLISH TO 'folder', or '.' for the working directory"),
        );
    }
    for above in folder.ancestors() {
        let failed = |e| io_error("look at", above, &e);
        if vfs.entry(above).map_err(failed)? != Some(Entry::Directory) {
            continue;
        }
        return match vfs.is_within(above, own).map_err(failed)? {
            false => Ok(()),
            true => {
                let (folder, own) = (folder.display(), own.display());
                let message = format!("folder \"{folder}\" is inside the database directory \"{own}\"");
                Err(Error::new(SqlState::INVALID_PARAMETER, message)
                    .with_hint("publish to a folder of its own"))
            }
        };
    }
    Ok(())
}

/// The places in a folder of what its newest snapshot has of a checkpoint, by the places in the checkpoint's segments.
fn present(
    folder: &PublishedFolder,
    source: &CheckpointSource,
) -> Result<HashMap<SegmentPlace, SegmentPlace>> {
    let Some(newest) = &folder.newest else {
        return Ok(HashMap::new());
    };
    let named: Vec<u64> = named_segments(newest).into_iter().collect();
    let looked = looked_over(&*folder.vfs, &folder.path, (named.len(), named.len()))?;
    let vfs = looked.as_deref().unwrap_or(&*folder.vfs);
    let mut segments = HashMap::new();
    for (number, file) in open_segments(vfs, &folder.path, &named) {
        match file {
            Ok(file) => drop(segments.insert(number, file)),
            // The blocks of a damaged segment are copied anew.
            Err(error) if error.state().is_of_data() => {}
            Err(error) => return Err(error),
        }
    }
    let chunks_of = |manifest: &'_ Manifest| -> HashMap<(ObjectId, u32), ChunkRecord> {
        let tables = manifest.tables.iter();
        let chunks = tables.flat_map(|t| t.chunks.iter().map(|c| ((t.entry.id, c.number), c.clone())));
        chunks.collect()
    };
    fetch_headers(&segments, newest.places());
    let known = chunks_of(newest);
    let mut present = HashMap::new();
    for (key, chunk) in chunks_of(&source.manifest) {
        let Some(known) = known.get(&key) else { continue };
        if is_same_block(source, chunk.block, &segments, known.block)? {
            present.insert(chunk.block, known.block);
        }
        if let (Some((marks, _)), Some((known, _))) = (chunk.deleted, known.deleted)
            && (segments.get(&known.segment)).and_then(|file| bytes_at(file, known))
                == Some(source.bytes(marks)?)
        {
            present.insert(marks, known);
        }
    }
    leave_sparse_segments(&mut present, &segments);
    Ok(present)
}

/// True if a block of a folder is the one of a checkpoint.
fn is_same_block(
    source: &CheckpointSource,
    wanted: SegmentPlace,
    segments: &HashMap<u64, Arc<MappedFile>>,
    known: SegmentPlace,
) -> Result<bool> {
    if wanted.bytes != known.bytes {
        return Ok(false);
    }
    let Some(file) = segments.get(&known.segment) else {
        return Ok(false);
    };
    let known = match open_block(file, known.offset, known.bytes) {
        // A block that is damaged in the folder is copied anew.
        Err(error) if error.state().is_of_data() => return Ok(false),
        opened => opened?,
    };
    let Some(file) = source.segments.get(&wanted.segment) else {
        return Err(Error::internal("a manifest names a segment that is not open"));
    };
    let wanted = open_block(file, wanted.offset, wanted.bytes)?;
    Ok(wanted.header() == known.header())
}

/// Leaves out what is in segments of which less than half would still be needed.
fn leave_sparse_segments(
    present: &mut HashMap<SegmentPlace, SegmentPlace>,
    segments: &HashMap<u64, Arc<MappedFile>>,
) {
    let mut used: HashMap<u64, u64> = HashMap::new();
    for place in present.values() {
        *used.entry(place.segment).or_default() += place.bytes;
    }
    present.retain(|_, place| {
        let all = segments
            .get(&place.segment)
            .map_or(0, |file| file.bytes().len() as u64);
        used.get(&place.segment).is_some_and(|used| used * 2 >= all)
    });
}
