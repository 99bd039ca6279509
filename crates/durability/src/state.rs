//! The state of a directory on disk: the last manifest, the segments that it names, and what was written to them.

use crate::damaged::{DamagedTable, UnreadTable};
use crate::manifest::{ChunkRecord, Manifest, TableRecord};
use crate::segment::NamedSegment;
use frazil_storage::{ChunkEntry, ChunkIdentity, DeletedRows, Lsn, SegmentPlace, Table};
use frazil_types::ObjectId;
use frazil_vfs::MappedFile;
use std::collections::{BTreeMap, HashMap, HashSet};
use std::sync::{Arc, Weak};

/// The last checkpoint on disk.
#[derive(Debug, Default)]
pub(crate) struct State {
    pub manifest: Manifest,
    pub places: Places,
    pub segments: HashMap<u64, Arc<MappedFile>>,
    /// Tables that could not be read.
    pub damaged: BTreeMap<ObjectId, DamagedTable>,
    /// Bytes of redo that recovery read in segments, by their numbers.
    pub redo: BTreeMap<u64, u64>,
}

impl State {
    /// The segments in which recovery read redo, of a log that ends at `lsn`.
    pub fn segments_of_redo(&self, lsn: Lsn) -> Vec<NamedSegment> {
        let named = self.redo.iter().filter_map(|(number, bytes)| {
            let file = self.segments.get(number)?;
            Some(NamedSegment::of_redo(*number, file, (lsn, *bytes)))
        });
        named.collect()
    }

    /// True if a table has other columns than the last checkpoint wrote, or if the checkpoint did not have the table.
    pub fn is_altered(&self, table: &Table) -> bool {
        let tables = &self.manifest.tables;
        let known = tables.binary_search_by_key(&table.id(), |known| known.entry.id);
        // Older directories may have their tables in another order.
        known.is_ok_and(|at| tables[at].entry.stored_schema() != *table.schema()) || known.is_err()
    }

    /// The greatest number of a segment that is known.
    pub fn last_segment(&self) -> u64 {
        let numbers = self.segments.keys().copied();
        numbers.max().unwrap_or(0).max(self.manifest.last_segment)
    }
}

impl Manifest {
    /// The places of all blocks and marks of deleted rows of tables that are read.
    pub(crate) fn places(&self) -> impl Iterator<Item = SegmentPlace> {
        self.tables.iter().flat_map(TableRecord::places)
    }
}

/// Numbers of the segments that a manifest names.
pub(crate) fn named_segments(manifest: &Manifest) -> HashSet<u64> {
    let named = manifest.tables.iter().flat_map(TableRecord::segments);
    let unread = manifest.unread.iter().flat_map(UnreadTable::segments);
    named.chain(unread).collect()
}

/// The places of chunks and of the marks of deleted rows in segments, by the identity of the immutable things that were
/// written.
#[derive(Debug, Default)]
pub(crate) struct Places {
    chunks: HashMap<ChunkIdentity, WrittenChunk>,
    deleted: HashMap<usize, (Weak<DeletedRows>, SegmentPlace, u32)>,
}

#[derive(Debug)]
struct WrittenChunk {
    /// The time of the last change of the rows that were written, for a hot chunk.
    modified: u64,
    record: ChunkRecord,
}

impl Places {
    /// Remembers that a chunk is in a segment.
    pub fn add(&mut self, entry: &ChunkEntry, record: ChunkRecord) {
        if let (Some(deleted), Some((place, crc))) = (entry.view().deleted(), record.deleted) {
            let key = Arc::as_ptr(deleted).addr();
            self.deleted.insert(key, (Arc::downgrade(deleted), place, crc));
        }
        let modified = entry.modified();
        self.chunks
            .insert(entry.identity(), WrittenChunk { modified, record });
    }

    /// Remembers that a chunk that is a block is in a segment.
    pub fn add_block(&mut self, chunk: ChunkIdentity, record: ChunkRecord) {
        self.chunks.insert(chunk, WrittenChunk { modified: 0, record });
    }

    /// The record of a chunk whose rows were written as they are now. The marks of its deleted rows may be others.
    pub fn find(&self, entry: &ChunkEntry) -> Option<ChunkRecord> {
        let written = self.chunks.get(&entry.identity())?;
        let same = !entry.is_hot() || written.modified == entry.modified();
        same.then(|| written.record.clone())
    }

    /// The place of the block of a chunk, if it is known to be in a segment.
    pub fn block_of(&self, entry: &ChunkEntry) -> Option<SegmentPlace> {
        self.chunks
            .get(&entry.identity())
            .map(|written| written.record.block)
    }

    /// Forgets what is no longer in memory.
    pub fn forget_gone(&mut self) {
        self.forget(&HashSet::new());
    }

    pub fn find_deleted(&self, deleted: &Arc<DeletedRows>) -> Option<(SegmentPlace, u32)> {
        let (_, place, crc) = self.deleted.get(&Arc::as_ptr(deleted).addr())?;
        Some((*place, *crc))
    }

    /// Forgets what is no longer in memory, and what is in these segments.
    pub fn forget(&mut self, segments: &HashSet<u64>) {
        let gone = |place: &SegmentPlace| segments.contains(&place.segment);
        self.chunks
            .retain(|chunk, written| chunk.is_alive() && !gone(&written.record.block));
        self.deleted
            .retain(|_, (weak, place, _)| weak.strong_count() > 0 && !gone(place));
    }
}
