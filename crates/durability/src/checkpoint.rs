//! The checkpoint: writes the chunks that no segment holds yet, then replaces the manifest.
//!
//! It works on one immutable snapshot, so nobody waits for it. A hot chunk is written as a block,
//! with the same code that freezes, if a commit has changed it since; the last one of a table becomes hot again when
//! the directory is opened. Rows keep their ids: all are written, and beside them which are deleted. Segments of which little is still in use are written anew, and a segment
//! without use is removed once its last reader is gone.

use crate::directory::{Directory, State, segment_path};
use crate::manifest::{ChunkRecord, Manifest, Place, TableRecord};
use frazil_storage::{ChunkEntry, ChunkIdentity, DeletedRows, Freezer, Snapshot, TableSnapshot};
use frazil_types::{Result, SqlState};
use frazil_vfs::{MappedFile, NewFile, replace_file, sync_directory};
use std::collections::{HashMap, HashSet};
use std::sync::{Arc, Weak};

/// What begins every segment file: a name and a version, padded to the alignment of blocks.
pub const SEGMENT_MAGIC: &[u8; 64] = b"frazil segment 1: Data Blocks, each at a multiple of 64 bytes.\n\0";
const ALIGNMENT: u64 = 64;

/// What a checkpoint did.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct CheckpointReport {
    /// Blocks written.
    pub blocks: u64,
    /// Bytes written to a new segment.
    pub bytes: u64,
}

/// Where chunks and the marks of deleted rows lie, by the identity of the immutable things that were written.
#[derive(Debug, Default)]
pub(crate) struct Places {
    chunks: HashMap<ChunkIdentity, WrittenChunk>,
    deleted: HashMap<usize, (Weak<DeletedRows>, Place, u32)>,
}

#[derive(Debug)]
struct WrittenChunk {
    /// Of a hot chunk: when the rows that were written were last changed.
    modified: u64,
    record: ChunkRecord,
}

impl Places {
    /// Remembers that a chunk lies in a segment.
    pub fn add(&mut self, entry: &ChunkEntry, record: ChunkRecord) {
        if let (Some(deleted), Some((place, crc))) = (entry.view().deleted(), record.deleted) {
            let key = Arc::as_ptr(deleted).addr();
            self.deleted.insert(key, (Arc::downgrade(deleted), place, crc));
        }
        let modified = entry.modified();
        self.chunks
            .insert(entry.identity(), WrittenChunk { modified, record });
    }

    /// The record of a chunk whose rows were written as they are now. The marks of its deleted rows may be others.
    fn find(&self, entry: &ChunkEntry) -> Option<ChunkRecord> {
        let written = self.chunks.get(&entry.identity())?;
        let same = !entry.is_hot() || written.modified == entry.modified();
        same.then(|| written.record.clone())
    }

    fn find_deleted(&self, deleted: &Arc<DeletedRows>) -> Option<(Place, u32)> {
        let (_, place, crc) = self.deleted.get(&Arc::as_ptr(deleted).addr())?;
        Some((*place, *crc))
    }

    /// Forgets what is no longer in memory, and what lies in these segments.
    fn forget(&mut self, segments: &HashSet<u64>) {
        let gone = |place: &Place| segments.contains(&place.segment);
        self.chunks
            .retain(|chunk, written| chunk.is_alive() && !gone(&written.record.block));
        self.deleted
            .retain(|_, (weak, place, _)| weak.strong_count() > 0 && !gone(place));
    }
}

/// A segment being written; the file is made when the first byte is.
struct Segment<'a> {
    directory: &'a Directory,
    number: u64,
    file: Option<NewFile>,
}

impl Segment<'_> {
    fn write(&mut self, bytes: &[u8]) -> Result<Place> {
        let file = match &mut self.file {
            Some(file) => file,
            none => {
                let mut file = NewFile::create(
                    &self.directory.vfs,
                    &segment_path(&self.directory.path, self.number),
                )?;
                file.write(SEGMENT_MAGIC)?;
                none.insert(file)
            }
        };
        file.align(ALIGNMENT)?;
        let offset = file.len();
        file.write(bytes)?;
        Ok(Place {
            segment: self.number,
            offset,
            bytes: bytes.len() as u64,
        })
    }
}

impl Directory {
    pub(crate) fn checkpoint_state(&self, state: &mut State) -> Result<CheckpointReport> {
        let snapshot = self.store().snapshot();
        if snapshot.timestamp() == state.manifest.timestamp {
            return Ok(CheckpointReport::default());
        }
        let sparse = sparse_segments(state, &snapshot);
        state.places.forget(&sparse);
        state.last_segment += 1;
        let mut segment = Segment {
            directory: self,
            number: state.last_segment,
            file: None,
        };
        let mut report = CheckpointReport::default();
        // What was written is remembered only once the segment is durable.
        let mut fresh = Vec::new();
        let mut manifest = Manifest {
            timestamp: snapshot.timestamp(),
            catalog_version: snapshot.catalog().version(),
            last_table: snapshot.catalog().last_id(),
            last_segment: state.manifest.last_segment,
            tables: Vec::new(),
            views: snapshot.catalog().views().cloned().collect(),
        };
        for table in snapshot.tables() {
            let record = write_table(&state.places, &mut segment, table, &mut fresh, &mut report)?;
            manifest.tables.push(record);
        }
        if let Some(file) = segment.file.take() {
            report.bytes = file.len();
            manifest.last_segment = segment.number;
            // From here on the segment stays: if replacing the manifest fails, the new one may be there all the same.
            let written = self.publish(file, segment.number)?;
            state.segments.insert(segment.number, written);
        }
        self.write_manifest(&manifest)?;
        for (entry, record) in fresh {
            state.places.add(&entry, record);
        }
        state.manifest = manifest;
        self.drop_unused(state);
        Ok(report)
    }

    /// Makes a segment and its name durable, and maps it. Nothing of it is left if that fails.
    fn publish(&self, file: NewFile, number: u64) -> Result<Arc<MappedFile>> {
        let durable = file.finish()?;
        sync_directory(&*self.vfs, &self.path.join("segments"))?;
        let mapped = MappedFile::open(&*self.vfs, &segment_path(&self.path, number))?;
        durable.keep();
        Ok(mapped)
    }

    /// Gives up the segments that the manifest does not name.
    fn drop_unused(&self, state: &mut State) {
        let mut named = HashSet::new();
        for chunk in state.manifest.tables.iter().flat_map(|t| &t.chunks) {
            named.insert(chunk.block.segment);
            named.extend(chunk.deleted.map(|(place, _)| place.segment));
        }
        state.segments.retain(|number, file| {
            let keep = named.contains(number);
            if !keep {
                file.remove_after_last_use(&self.lock);
            }
            keep
        });
    }

    pub(crate) fn write_manifest(&self, manifest: &Manifest) -> Result<()> {
        replace_file(&*self.vfs, &self.path.join("manifest"), &manifest.to_bytes())
    }
}

type Fresh = Vec<(Arc<ChunkEntry>, ChunkRecord)>;

fn write_table(
    places: &Places,
    segment: &mut Segment<'_>,
    table: &TableSnapshot,
    fresh: &mut Fresh,
    report: &mut CheckpointReport,
) -> Result<TableRecord> {
    let mut freezer = Freezer::of_table(table);
    let asked = table.table().asked_options();
    let mut chunks = Vec::new();
    for entry in table.chunks().filter(|e| e.view().live_rows() > 0) {
        let mut record = match places.find(entry) {
            // Of a hot chunk that was written before, it is not known by which options.
            Some(known) => ChunkRecord { stale: true, ..known },
            None => {
                report.blocks += 1;
                write_chunk(segment, table, entry, &mut freezer)?
            }
        };
        if let Some(frozen) = entry.frozen_chunk() {
            record.stale = !frozen.built_for.matches(&asked);
        }
        record.hot = table.tail().is_some_and(|tail| Arc::ptr_eq(tail, entry));
        record.deleted = match entry.view().deleted() {
            Some(deleted) => Some(match places.find_deleted(deleted) {
                Some(known) => known,
                None => write_deleted(segment, deleted)?,
            }),
            None => None,
        };
        fresh.push((entry.clone(), record.clone()));
        chunks.push(record);
    }
    Ok(TableRecord {
        entry: (**table.table().entry()).clone(),
        next_chunk: table.table().next_chunk_number(),
        // An estimate is not worth a failed checkpoint.
        distinct: table.distinct().ok(),
        chunks,
    })
}

/// Writes all rows of a chunk at their offsets, deleted ones among them: row ids survive.
fn write_chunk(
    segment: &mut Segment<'_>,
    table: &TableSnapshot,
    entry: &ChunkEntry,
    freezer: &mut Freezer,
) -> Result<ChunkRecord> {
    let mut stale = false;
    let mut columns = table.table().numbers();
    let block = match entry.block() {
        Some(block) => {
            entry.verify(table.table().entry())?;
            columns = entry.stored();
            segment.write(block.bytes())?
        }
        None => {
            let built = match freezer.freeze_in_place(table.table(), entry) {
                // What FREEZE TABLE refuses, or what a defect of an encoder makes of it, must be kept all the same.
                Err(e) if matches!(e.state(), SqlState::INVALID_PARAMETER | SqlState::INTERNAL_ERROR) => {
                    stale = true;
                    Freezer::default().freeze_in_place(table.table(), entry)?
                }
                built => built?,
            };
            segment.write(built.bytes())?
        }
    };
    Ok(ChunkRecord {
        number: entry.number(),
        hot: false,
        rows: entry.view().rows(),
        stale,
        columns: columns.clone(),
        block,
        deleted: None,
    })
}

fn write_deleted(segment: &mut Segment<'_>, deleted: &DeletedRows) -> Result<(Place, u32)> {
    let bytes: Vec<u8> = deleted.words().flat_map(u64::to_le_bytes).collect();
    Ok((segment.write(&bytes)?, crc32c::crc32c(&bytes)))
}

/// Segments of which less than half is still in use.
fn sparse_segments(state: &State, snapshot: &Snapshot) -> HashSet<u64> {
    let mut used: HashMap<u64, u64> = HashMap::new();
    for entry in snapshot.tables().flat_map(|t| t.chunks()) {
        if let Some(record) = state.places.find(entry) {
            *used.entry(record.block.segment).or_default() += record.block.bytes;
        }
        let deleted = entry.view().deleted();
        if let Some((place, _)) = deleted.and_then(|d| state.places.find_deleted(d)) {
            *used.entry(place.segment).or_default() += place.bytes;
        }
    }
    (state.segments.iter())
        .filter(|(number, file)| used.get(number).copied().unwrap_or(0) * 2 < file.bytes().len() as u64)
        .map(|(number, _)| *number)
        .collect()
}
