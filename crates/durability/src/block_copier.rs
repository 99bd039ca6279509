//! A checkpoint copied to another directory, block by block: what BACKUP and PUBLISH share.
//!
//! The segments of a checkpoint never change and stay as long as somebody has them mapped, so blocks are copied without
//! a lock, while others read and write. The copy has the blocks that the checkpoint's manifest names, and nothing else
//! of the segments. The caller writes the manifest that names the copies, when the copies are durable.

use crate::directory::Directory;
use crate::manifest::Manifest;
use crate::progress::CheckpointCause;
use crate::segment::{DurableSegment, NewSegment, Segments};
use crate::state::named_segments;
use frazil_storage::SegmentPlace;
use frazil_types::{Cancel, Error, ObjectId, Result, SqlState};
use frazil_vfs::{DirectoryLock, MappedFile, Vfs};
use std::collections::HashMap;
use std::fmt;
use std::path::Path;
use std::sync::Arc;

/// Bytes after which a copy goes on in a new segment, so that a segment of which little is still needed is not large.
const SEGMENT_BYTES: u64 = 256 << 20;
/// As [`SEGMENT_BYTES`], for segments elsewhere: readers keep copies of them on their disks, and remove whole copies.
const SEGMENT_BYTES_ELSEWHERE: u64 = 64 << 20;

/// A checkpoint that is copied. Its segments stay as long as they are mapped.
#[derive(Debug)]
pub(crate) struct CheckpointSource {
    pub manifest: Manifest,
    /// By number.
    pub segments: HashMap<u64, Arc<MappedFile>>,
}

impl CheckpointSource {
    /// Makes a checkpoint of a directory. `doing` says in an error what a damaged table keeps from being done: XX001.
    /// 25006 if the directory is only read.
    pub fn of(directory: &Directory, cause: CheckpointCause, doing: &str) -> Result<CheckpointSource> {
        directory.check_writable()?;
        let mut state = directory.files.state_at_once();
        directory.checkpoint_in(&mut state, cause, &|_| ())?;
        let manifest = &state.manifest;
        let unread = manifest.unread.first();
        let unread = unread.map(|table| (&table.name, table.why.as_str()));
        // A checkpoint that had nothing to write has left a damaged table among the others.
        let is_damaged = |id: &ObjectId| state.damaged.contains_key(id);
        let mut tables = manifest.tables.iter().map(|table| &table.entry);
        let kept = tables.find(|entry| is_damaged(&entry.id));
        if let Some((name, why)) = unread.or(kept.map(|entry| (&entry.name, "its files are damaged"))) {
            return Err(damaged(doing, name, why));
        }
        let named = named_segments(manifest);
        let segments = state.segments.iter().filter(|(number, _)| named.contains(number));
        Ok(CheckpointSource {
            segments: segments.map(|(number, file)| (*number, file.clone())).collect(),
            manifest: state.manifest.clone(),
        })
    }

    /// The bytes at a place that the manifest names. XX001 if the segment does not have them.
    pub fn bytes(&self, place: SegmentPlace) -> Result<&[u8]> {
        let file = (self.segments.get(&place.segment))
            .ok_or_else(|| Error::internal("a manifest names a segment that is not open"))?;
        bytes_at(file, place).ok_or_else(|| {
            let file = file.path().display();
            let SegmentPlace { offset, bytes, .. } = place;
            let message = format!("\"{file}\" is cut off: it lacks the {bytes} bytes at offset {offset}");
            Error::new(SqlState::DATA_CORRUPTED, message)
        })
    }
}

fn damaged(doing: &str, table: &str, why: &str) -> Error {
    let message =
        format!("cannot {doing} a database with damaged tables: table \"{table}\" cannot be read: {why}");
    Error::new(SqlState::DATA_CORRUPTED, message)
        .with_hint("drop the table first, or copy the directory while no process has it open")
}

/// The bytes at a place in a segment, which are fetched if the segment is elsewhere; `None` if it does not have them.
pub(crate) fn bytes_at(segment: &MappedFile, place: SegmentPlace) -> Option<&[u8]> {
    let end = place.offset.checked_add(place.bytes)?;
    segment.fetch(place.offset..end).ok()?;
    segment.bytes().get(place.offset as usize..end as usize)
}

/// Number of blocks and marks of deleted rows that were copied, and their bytes.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Copied {
    pub blocks: u64,
    pub bytes: u64,
}

/// Stops a copy and hears how far it is.
#[derive(Clone, Copy)]
pub struct CopyWatch<'a> {
    /// Stops the copy: 57014.
    pub cancel: &'a Cancel,
    /// Called with the bytes that are copied, and all that will be.
    pub watch: &'a dyn Fn(u64, u64),
}

impl<'a> CopyWatch<'a> {
    /// Stops a copy that nobody watches.
    pub fn stopped_by(cancel: &'a Cancel) -> CopyWatch<'a> {
        CopyWatch {
            cancel,
            watch: &|_, _| (),
        }
    }
}

impl fmt::Debug for CopyWatch<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("CopyWatch").finish_non_exhaustive()
    }
}

/// Writes copies into new segments of a directory. The segments are removed again unless they are kept.
#[derive(Debug)]
pub(crate) struct BlockCopier<'a> {
    segments: Segments,
    /// Bytes after which it goes on in a new segment.
    segment_bytes: u64,
    open: Option<NewSegment>,
    durable: Vec<DurableSegment>,
    watch: CopyWatch<'a>,
    /// The places in the directory, by those in the source.
    places: HashMap<SegmentPlace, SegmentPlace>,
    copied: Copied,
    /// Bytes that are going to be copied.
    expected: u64,
}

impl<'a> BlockCopier<'a> {
    /// Copies to a directory in which no segment has a greater number than `last`. `present`: the places of blocks that
    /// the directory has already, by their places in the source.
    pub fn new(
        vfs: &Arc<dyn Vfs>,
        to: &Path,
        last: u64,
        present: HashMap<SegmentPlace, SegmentPlace>,
        watch: CopyWatch<'a>,
    ) -> BlockCopier<'a> {
        BlockCopier {
            segments: Segments::new(vfs.clone(), to, Arc::new(DirectoryLock::none(to)), last),
            segment_bytes: match vfs.is_elsewhere() {
                true => SEGMENT_BYTES_ELSEWHERE,
                false => SEGMENT_BYTES,
            },
            open: None,
            durable: Vec::new(),
            watch,
            places: present,
            copied: Copied::default(),
            expected: 0,
        }
    }

    /// Copies what the directory lacks of a checkpoint, durably. Returns the checkpoint's manifest with the places of
    /// the copies. 57014 if it is stopped.
    pub fn copy(&mut self, source: &CheckpointSource) -> Result<Manifest> {
        let mut manifest = source.manifest.clone();
        let lacking = manifest.places().filter(|place| !self.places.contains_key(place));
        self.expected = lacking.map(|place| place.bytes).sum();
        for table in &mut manifest.tables {
            if table.behind.is_some() {
                return Err(Error::internal(
                    "a table that is copied has changes beside its chunks",
                ));
            }
            for chunk in &mut table.chunks {
                chunk.block = self.place(source, chunk.block)?;
                if let Some((marks, _)) = &mut chunk.deleted {
                    *marks = self.place(source, *marks)?;
                }
            }
        }
        self.finish_segment()?;
        manifest.last_segment = self.segments.last();
        Ok(manifest)
    }

    /// The place in the directory of what is at a place in the source.
    fn place(&mut self, source: &CheckpointSource, from: SegmentPlace) -> Result<SegmentPlace> {
        if let Some(there) = self.places.get(&from) {
            return Ok(*there);
        }
        self.watch.cancel.check()?;
        let bytes = source.bytes(from)?;
        if self
            .open
            .as_ref()
            .is_some_and(|open| open.bytes() >= self.segment_bytes)
        {
            self.finish_segment()?;
        }
        let open = self.open.get_or_insert_with(|| self.segments.begin());
        let to = open.write(bytes)?;
        self.places.insert(from, to);
        self.copied.blocks += 1;
        self.copied.bytes += bytes.len() as u64;
        (self.watch.watch)(self.copied.bytes, self.expected);
        Ok(to)
    }

    fn finish_segment(&mut self) -> Result<()> {
        if let Some(open) = self.open.take()
            && let Some(durable) = open.finish()?
        {
            self.durable.push(durable);
        }
        Ok(())
    }

    /// The blocks and marks that were copied so far.
    pub fn copied(&self) -> Copied {
        self.copied
    }

    /// Leaves the segments where they are.
    pub fn keep(self) {
        self.durable.into_iter().for_each(|segment| drop(segment.keep()));
    }
}
