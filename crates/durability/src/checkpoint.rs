//! The checkpoint: writes the chunks that no segment holds yet, then replaces the manifest, then says which part of the log is
//! not needed any more.
//!
//! It works on one immutable snapshot, so nobody waits for it. The manifest names the place in the log where the snapshot ends, and is
//! replaced once the log is durable up to there. A hot chunk is written as a block,
//! with the same code that freezes, if a commit has changed it since; the last one of a table becomes hot again when
//! the directory is opened. Rows keep their ids: all are written, and beside them which are deleted. Segments of which little is still in use are written anew, and a segment
//! without use is removed once its last reader is gone.

use crate::damaged::DamagedTable;
use crate::directory::Files;
use crate::manifest::{ChunkRecord, LogPlace, Manifest, TableRecord};
use crate::manifest_schemas::schemas_of;
use crate::progress::{CheckpointCause, Pace, Steps};
use crate::restored_chunk::{check_nulls, fit};
use crate::segment::NewSegment;
use crate::sequences::sequences_of;
use crate::state::{State, named_segments};
use frazil_block::Block;
use frazil_storage::segment_block::open_block;
use frazil_storage::{
    BuiltFor, ChunkEntry, DeletedRows, Freezer, FrozenChunk, Log, Lsn, SegmentPlace, Snapshot, Table,
    TableSnapshot,
};
use frazil_types::{Error, Result, SqlState};
use frazil_vfs::{take_replacement, write_replacement};
use std::collections::{HashMap, HashSet, VecDeque};
use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::time::{Duration, SystemTime};

/// What a checkpoint did.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct CheckpointReport {
    /// Blocks written.
    pub blocks: u64,
    /// Bytes written to a new segment.
    pub bytes: u64,
}

/// A checkpoint that was made since the directory was opened.
#[derive(Clone, Copy, Debug)]
pub struct MadeCheckpoint {
    /// The first one has number 1.
    pub number: u64,
    /// Why it was made.
    pub cause: CheckpointCause,
    /// When it began.
    pub started: SystemTime,
    /// How long it took.
    pub took: Duration,
    /// Where the log goes on behind it.
    pub lsn: Lsn,
    /// What it wrote.
    pub report: CheckpointReport,
}

/// Checkpoints that are kept in mind.
const KEPT: usize = 64;

/// The last checkpoints.
#[derive(Debug, Default)]
pub(crate) struct History {
    made: VecDeque<MadeCheckpoint>,
}

impl History {
    /// The last ones, in order.
    pub fn all(&self) -> Vec<MadeCheckpoint> {
        self.made.iter().copied().collect()
    }

    /// Number of the last one; 0 if there is none.
    pub fn last_number(&self) -> u64 {
        self.made.back().map_or(0, |made| made.number)
    }

    /// One was made; its number is given here.
    fn add(&mut self, made: MadeCheckpoint) {
        let number = self.last_number() + 1;
        if self.made.len() == KEPT {
            self.made.pop_front();
        }
        self.made.push_back(MadeCheckpoint { number, ..made });
    }
}

/// Why there is no checkpoint.
#[derive(Debug)]
pub(crate) struct CheckpointFailure {
    pub error: Error,
    /// The manifest may be the new one all the same.
    pub is_unknown: bool,
}

impl From<Error> for CheckpointFailure {
    fn from(error: Error) -> CheckpointFailure {
        CheckpointFailure {
            error,
            is_unknown: false,
        }
    }
}

/// True if sequences gave values, or were set, since a manifest was written that has all commits of a snapshot. Their
/// states stand beside the commits, so no timestamp says so.
fn sequences_moved(manifest: &Manifest, snapshot: &Snapshot) -> bool {
    let now = snapshot.catalog().sequences().map(|entry| entry.state.shown().0);
    let written = manifest.sequences.iter().map(|record| record.position);
    now.ne(written)
}

/// True if a table that can be read has changes beside its chunks: it was damaged when the manifest was written. Those
/// who copy blocks need the changes in chunks.
fn has_changes_beside_chunks(manifest: &Manifest) -> bool {
    manifest.tables.iter().any(|table| table.behind.is_some())
}

impl Files {
    /// Makes a snapshot durable, which has the commits before `lsn` and no others. Does nothing if the manifest has them
    /// in its chunks and says where the sequences stand.
    pub(crate) fn checkpoint(
        &self,
        state: &mut State,
        snapshot: &Snapshot,
        lsn: Lsn,
        (cause, pace): (CheckpointCause, Pace<'_>),
    ) -> Result<CheckpointReport, CheckpointFailure> {
        let lasting = snapshot.lasting();
        let snapshot = lasting.as_ref().unwrap_or(snapshot);
        let is_whole = !has_changes_beside_chunks(&state.manifest);
        let is_newest = snapshot.timestamp() <= state.manifest.timestamp;
        if is_newest && is_whole && !sequences_moved(&state.manifest, snapshot) {
            return Ok(CheckpointReport::default());
        }
        // The log must not end before the place that the manifest names.
        self.wal.wait(lsn)?;
        let mut report = CheckpointReport::default();
        for segment in self.segments.take_named(lsn) {
            let (number, file, chunks) = segment.into_parts();
            state.segments.insert(number, file);
            (chunks.into_iter()).for_each(|(chunk, record)| state.places.add_block(chunk, record));
        }
        // What was written is remembered only once the segment is durable.
        let mut fresh = Vec::new();
        let sparse = sparse_segments(state, snapshot);
        state.places.forget(&sparse);
        let is_new =
            |entry: &&Arc<ChunkEntry>| entry.view().live_rows() > 0 && state.places.find(entry).is_none();
        let chunks = snapshot.tables().flat_map(|t| t.chunks()).filter(is_new).count();
        let mut steps = self.running.begin(cause, chunks as u64, pace);
        let mut manifest = self.write_tables(state, snapshot, &mut fresh, (&mut report, &mut steps))?;
        manifest.log = LogPlace {
            position: lsn,
            generation: self.wal.position().generation,
        };
        let path = self.path.join("manifest");
        write_replacement(&*self.vfs, &path, &manifest.to_checked_bytes(&path)?)?;
        take_replacement(&*self.vfs, &path).map_err(|error| CheckpointFailure {
            error,
            is_unknown: true,
        })?;
        for (entry, record) in fresh {
            state.places.add(&entry, record);
        }
        for unread in &manifest.unread {
            if let Some(damaged) = state.damaged.get_mut(&unread.id) {
                damaged.was_written(unread.clone());
            }
        }
        state.manifest = manifest;
        self.drop_unused(state);
        self.wal.release(lsn);
        self.checkpointed.store(lsn.0, Ordering::Relaxed);
        self.history().add(MadeCheckpoint {
            number: 0,
            cause,
            started: steps.progress.started,
            took: steps.progress.began.elapsed(),
            lsn,
            report,
        });
        Ok(report)
    }

    /// Writes what no segment holds yet of a snapshot to a new one, which is durable then. Returns the manifest that names it.
    fn write_tables(
        &self,
        state: &mut State,
        snapshot: &Snapshot,
        fresh: &mut Fresh,
        (report, steps): (&mut CheckpointReport, &mut Steps<'_>),
    ) -> Result<Manifest> {
        let mut segment = self.segments.begin();
        let mut manifest = Manifest {
            database: state.manifest.database,
            timestamp: snapshot.timestamp(),
            log: LogPlace::default(),
            catalog_version: snapshot.catalog().version(),
            last_table: snapshot.catalog().last_id(),
            last_segment: self.segments.last(),
            tables: Vec::new(),
            unread: Vec::new(),
            views: snapshot.catalog().views().cloned().collect(),
            types: snapshot.catalog().types().cloned().collect(),
            schemas: schemas_of(snapshot.catalog()),
            sequences: Vec::new(),
            comments: snapshot.catalog().comments(),
            access: snapshot.catalog().current_access(),
            sequences_at: Lsn::default(),
            published: None,
        };
        for table in snapshot.tables() {
            let record = write_table(state, &mut segment, table, fresh, steps)?;
            manifest.tables.push(record);
        }
        for (id, damaged) in &state.damaged {
            // One that was dropped is not kept any longer.
            if let Some(entry) = snapshot.catalog().tables().find(|entry| entry.id == *id) {
                manifest.unread.push(damaged.write(entry, &mut segment)?);
            }
        }
        if snapshot.catalog().sequences().next().is_some() {
            // In this order: what the log has up to here, the sequences have given. It is waited for, so that no later
            // record comes before the position.
            manifest.sequences_at = self.wal.end();
            manifest.sequences = sequences_of(snapshot.catalog());
            self.wal.wait(manifest.sequences_at)?;
        }
        (report.blocks, report.bytes) = (steps.progress.done, segment.bytes());
        if let Some(durable) = segment.finish()? {
            // From here on the segment stays: if replacing the manifest fails, the new one may be there all the same.
            state.segments.insert(durable.number, durable.keep());
        }
        Ok(manifest)
    }

    /// Gives up the segments that the manifest does not name.
    fn drop_unused(&self, state: &mut State) {
        let named = named_segments(&state.manifest);
        state.segments.retain(|number, file| {
            let keep = named.contains(number);
            if !keep {
                file.remove_after_last_use(&self.lock);
            }
            keep
        });
    }
}

type Fresh = Vec<(Arc<ChunkEntry>, ChunkRecord)>;

fn write_table(
    state: &State,
    segment: &mut NewSegment,
    table: &TableSnapshot,
    fresh: &mut Fresh,
    steps: &mut Steps<'_>,
) -> Result<TableRecord> {
    let mut freezer = Freezer::of_table(table);
    let asked = table.table().asked_options();
    let places = &state.places;
    let is_altered = state.is_altered(table.table());
    let mut chunks = Vec::new();
    for entry in table.chunks().filter(|e| e.view().live_rows() > 0) {
        let mut record = match places.find(entry) {
            // Of a hot chunk that was written before, it is not known by which options.
            Some(known) => {
                if is_altered && entry.whole_block().is_none() {
                    check_written(state, table.table(), entry, &known)?;
                }
                ChunkRecord { stale: true, ..known }
            }
            None => {
                let written = write_chunk(segment, table, entry, &mut freezer)?;
                steps.wrote(segment.bytes());
                written
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
        behind: None,
        // An estimate is not worth a failed checkpoint.
        distinct: table.distinct().ok(),
        chunks,
    })
}

/// Writes all rows of a chunk at their offsets, deleted ones among them: row ids survive.
fn write_chunk(
    segment: &mut NewSegment,
    table: &TableSnapshot,
    entry: &ChunkEntry,
    freezer: &mut Freezer,
) -> Result<ChunkRecord> {
    let nowhere = SegmentPlace {
        segment: 0,
        offset: 0,
        bytes: 0,
    };
    let record = ChunkRecord::of_block(entry, nowhere);
    if let Some(block) = entry.whole_block() {
        entry.verify(table.table().entry())?;
        let block = segment.write(block.bytes())?;
        return Ok(ChunkRecord { block, ..record });
    }
    let (built, stale) = match freezer.freeze_in_place(table.table(), entry) {
        // Rows that FREEZE TABLE refuses, or that an encoder fails on, must be kept all the same.
        Err(e) if matches!(e.state(), SqlState::INVALID_PARAMETER | SqlState::INTERNAL_ERROR) => {
            (Freezer::default().freeze_in_place(table.table(), entry)?, true)
        }
        built => (built?, false),
    };
    let record = ChunkRecord {
        stale,
        columns: table.table().numbers().clone(),
        ..record
    };
    check_block(table.table(), entry, &record, built.clone())?;
    let block = segment.write(built.bytes())?;
    Ok(ChunkRecord { block, ..record })
}

/// Checks that opening will take the block that was written of a hot chunk before the table had its columns of now.
fn check_written(state: &State, table: &Table, entry: &ChunkEntry, record: &ChunkRecord) -> Result<()> {
    let place = record.block;
    let Some(file) = state.segments.get(&place.segment) else {
        return Err(Error::internal("a chunk lies in a segment that is not there"));
    };
    check_block(table, entry, record, open_block(file, place.offset, place.bytes)?)
}

/// Checks that opening will take a block as the rows of a hot chunk. An internal error, which names what opening
/// would refuse.
fn check_block(table: &Table, entry: &ChunkEntry, record: &ChunkRecord, block: Block) -> Result<()> {
    let deleted = entry.view().rows() - entry.view().live_rows();
    let frozen = FrozenChunk {
        block,
        origin: None,
        visits: Arc::default(),
        built_for: BuiltFor::new(None),
    };
    fit(table, record, frozen)
        .and_then(|fitted| check_nulls(table, &fitted, deleted))
        .map_err(|what| {
            let place = format!("table \"{}\", chunk {}", table.name(), entry.number());
            Error::internal(format!("the directory would not open again: {place}: {what}"))
        })
}

fn write_deleted(segment: &mut NewSegment, deleted: &DeletedRows) -> Result<(SegmentPlace, u32)> {
    let bytes: Vec<u8> = deleted.words().flat_map(u64::to_le_bytes).collect();
    Ok((segment.write(&bytes)?, crc32c::crc32c(&bytes)))
}

/// Segments of which less than half is still in use.
fn sparse_segments(state: &State, snapshot: &Snapshot) -> HashSet<u64> {
    let mut used: HashMap<u64, u64> = HashMap::new();
    // Bytes that a damaged table needs stay where they are.
    for place in state.damaged.values().flat_map(DamagedTable::places) {
        *used.entry(place.segment).or_default() += place.bytes;
    }
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
