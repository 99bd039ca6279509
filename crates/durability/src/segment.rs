//! Segments: files of blocks, written once, synced, and never changed. A checkpoint writes one, and a transaction whose record is to name
//! blocks.
//!
//! A segment that the log names is not given up before a checkpoint has the commit that names it: until then it is not among
//! those that checkpoints decide about ([`NamedSegment`]).

use crate::manifest::ChunkRecord;
use frazil_block::Block;
use frazil_storage::{ChunkEntry, ChunkIdentity, Lsn, NamedBlocks, RedoPlace, SegmentPlace};
use frazil_types::{CHUNK_ROWS, Cancel, Error, Result, SqlState};
use frazil_vfs::{DirectoryLock, DurableFile, MappedFile, NewFile, Vfs, io_error, sync_directory};
use std::collections::HashMap;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, Weak};

/// What begins every segment file: a name and a version, padded to the alignment of blocks.
pub const SEGMENT_MAGIC: &[u8; 64] = b"frazil segment 1: Data Blocks, each at a multiple of 64 bytes.\n\0";
const ALIGNMENT: u64 = 64;
/// Bytes that may wait for a sync: commits that sync the log meanwhile wait for the disk, too.
const UNSYNCED: u64 = 8 << 20;

/// Path of a segment.
pub(crate) fn segment_path(directory: &Path, number: u64) -> PathBuf {
    directory.join("segments").join(segment_name(number))
}

fn segment_name(number: u64) -> String {
    format!("{number:08}.seg")
}

/// The number of the segment whose file has this name, if it is one of ours.
pub(crate) fn segment_number(name: &str) -> Option<u64> {
    let number = name.strip_suffix(".seg")?.parse().ok()?;
    (segment_name(number) == name).then_some(number)
}

/// A segment being written; the file is made when the first byte is.
#[derive(Debug)]
pub(crate) struct NewSegment {
    vfs: Arc<dyn Vfs>,
    directory: PathBuf,
    pub number: u64,
    file: Option<NewFile>,
    /// Bytes of it that were brought to the disk.
    synced: u64,
}

/// A segment that is durable, and whose file is removed unless it is kept.
#[derive(Debug)]
pub(crate) struct DurableSegment {
    file: DurableFile,
    pub number: u64,
    pub mapped: Arc<MappedFile>,
}

impl DurableSegment {
    /// Leaves the file where it is.
    pub fn keep(self) -> Arc<MappedFile> {
        self.file.keep();
        self.mapped
    }
}

impl NewSegment {
    /// Bytes written so far.
    pub fn bytes(&self) -> u64 {
        self.file.as_ref().map_or(0, NewFile::len)
    }

    /// Writes bytes; where they lie.
    pub fn write(&mut self, bytes: &[u8]) -> Result<SegmentPlace> {
        let file = match &mut self.file {
            Some(file) => file,
            none => {
                let mut file = NewFile::create(&self.vfs, &segment_path(&self.directory, self.number))?;
                file.write(SEGMENT_MAGIC)?;
                none.insert(file)
            }
        };
        file.align(ALIGNMENT)?;
        let offset = file.len();
        file.write(bytes)?;
        if file.len() - self.synced >= UNSYNCED {
            file.sync_so_far()?;
            self.synced = file.len();
        }
        Ok(SegmentPlace {
            segment: self.number,
            offset,
            bytes: bytes.len() as u64,
        })
    }

    /// Leaves the file as it is, not durable, to be removed by the next open.
    fn leave(self) {
        if let Some(file) = self.file {
            file.leave();
        }
    }

    /// Makes the segment and its name durable, and maps it; `None` if nothing was written. Nothing of it is left if that fails.
    pub fn finish(self) -> Result<Option<DurableSegment>> {
        let Some(file) = self.file else {
            return Ok(None);
        };
        let file = file.finish()?;
        sync_directory(&*self.vfs, &self.directory.join("segments"))?;
        let mapped = MappedFile::open(&*self.vfs, &segment_path(&self.directory, self.number))?;
        Ok(Some(DurableSegment {
            file,
            number: self.number,
            mapped,
        }))
    }
}

/// Maps a segment that is there. XX001 if the file does not begin as one.
pub(crate) fn open_segment(vfs: &dyn Vfs, directory: &Path, number: u64) -> Result<Arc<MappedFile>> {
    let path = segment_path(directory, number);
    let file = MappedFile::open(vfs, &path)?;
    // Nothing is fetched of a segment elsewhere before a block is read, and a block begins with a name of its own.
    match file.is_filled_when_read() || file.bytes().starts_with(SEGMENT_MAGIC) {
        true => Ok(file),
        false => Err(Error::new(
            SqlState::DATA_CORRUPTED,
            format!(
                "\"{}\": it does not begin as a segment of this version does (offset 0)",
                path.display()
            ),
        )),
    }
}

/// Objects of one answer of a listing: the limit of S3, Google Cloud Storage and most others.
const LISTED_AT_ONCE: usize = 1000;

/// The file system to open `wanted` segments of a directory with, which has some `all` segments. If they are elsewhere,
/// one listing saves a question for each of them.
pub(crate) fn looked_over(
    vfs: &dyn Vfs,
    directory: &Path,
    (wanted, all): (usize, usize),
) -> Result<Option<Arc<dyn Vfs>>> {
    // Answers of a listing come one after the other, and those to questions come many at a time.
    if !vfs.is_elsewhere() || wanted.div_ceil(FETCHERS) <= all.div_ceil(LISTED_AT_ONCE) {
        return Ok(None);
    }
    let segments = directory.join("segments");
    vfs.looked_over(&segments)
        .map_err(|e| io_error("open directory", &segments, &e))
}

/// Opens segments as [`open_segment`] does, many at a time if they are elsewhere. An error that says nothing of the
/// segment, such as a cancelled statement's, ends the work: segments behind it are left out.
pub(crate) fn open_segments(
    vfs: &dyn Vfs,
    directory: &Path,
    numbers: &[u64],
) -> Vec<(u64, Result<Arc<MappedFile>>)> {
    let (next, opened) = (AtomicUsize::new(0), Mutex::new(Vec::with_capacity(numbers.len())));
    let requests = match vfs.is_elsewhere() {
        true => numbers.len(),
        false => 1,
    };
    at_once(requests, || {
        while let Some(number) = numbers.get(next.fetch_add(1, Ordering::Relaxed)) {
            let file = open_segment(vfs, directory, *number);
            if file.as_ref().is_err_and(|error| !error.state().is_of_data()) {
                next.store(numbers.len(), Ordering::Relaxed);
            }
            opened
                .lock()
                .unwrap_or_else(|e| e.into_inner())
                .push((*number, file));
        }
    });
    opened.into_inner().unwrap_or_else(|e| e.into_inner())
}

/// Threads that send requests, each of which waits for one answer at a time.
const FETCHERS: usize = 16;
/// Bytes that are fetched at most for a header, or for the marks of a chunk's deleted rows, which have 8 KiB. Headers
/// of more columns than 32 or so are longer: opening their blocks fetches the rest.
const HEADER_GUESS: u64 = (CHUNK_ROWS / 8) as u64;

/// Fetches the first bytes at places in segments that are filled as they are read, many at a time: opening the blocks
/// one after the other would wait for each. An error is met again when the block is opened.
pub(crate) fn fetch_headers(
    segments: &HashMap<u64, Arc<MappedFile>>,
    places: impl Iterator<Item = SegmentPlace>,
) {
    let elsewhere = |place: SegmentPlace| {
        let file = segments
            .get(&place.segment)
            .filter(|file| file.is_filled_when_read())?;
        Some((file, place.offset..place.offset + place.bytes.min(HEADER_GUESS)))
    };
    let wanted: Vec<_> = places.filter_map(elsewhere).collect();
    if wanted.len() < 2 {
        return;
    }
    let next = AtomicUsize::new(0);
    at_once(wanted.len(), || {
        while let Some((file, range)) = wanted.get(next.fetch_add(1, Ordering::Relaxed)) {
            if file.fetch(range.clone()).is_err() {
                return;
            }
        }
    });
}

/// Runs `work` on as many threads as there are requests, [`FETCHERS`] at most. This thread is one of them, and all of
/// them work for the statement of this thread.
fn at_once(requests: usize, work: impl Fn() + Sync) {
    let cancel = Cancel::of_thread();
    std::thread::scope(|scope| {
        for _ in 1..FETCHERS.min(requests) {
            // If the system gives no further thread, those that there are do the work.
            let _ = std::thread::Builder::new().spawn_scoped(scope, || cancel.during(&work));
        }
        work();
    });
}

/// The redo that a record of the log names in a segment. XX001 if the segment does not have it.
pub(crate) fn redo_in<'a>(segment: &'a MappedFile, redo: &RedoPlace) -> Result<&'a [u8]> {
    let SegmentPlace { offset, bytes, .. } = redo.place;
    let end = offset.saturating_add(bytes) as usize;
    let found = (segment.bytes().get(offset as usize..end)).filter(|b| crc32c::crc32c(b) == redo.checksum);
    let used = found.and_then(|bytes| bytes.get(..redo.used as usize));
    used.ok_or_else(|| {
        let path = segment.path().display();
        let message = format!("\"{path}\": it lacks the redo at offset {offset} that the log names");
        Error::new(SqlState::DATA_CORRUPTED, message)
    })
}

/// A segment that a record of the log names.
#[derive(Debug)]
pub(crate) struct NamedSegment {
    /// The end of the record.
    lsn: Lsn,
    number: u64,
    file: Arc<MappedFile>,
    chunks: Vec<(ChunkIdentity, ChunkRecord)>,
    /// Bytes of redo in it.
    redo: u64,
}

impl NamedSegment {
    /// A segment in which recovery read `redo` bytes that records before `lsn` name.
    pub fn of_redo(number: u64, file: &Arc<MappedFile>, (lsn, redo): (Lsn, u64)) -> NamedSegment {
        NamedSegment {
            lsn,
            number,
            file: file.clone(),
            chunks: Vec::new(),
            redo,
        }
    }

    /// Its number, it, and where chunks lie in it.
    pub fn into_parts(self) -> (u64, Arc<MappedFile>, Vec<(ChunkIdentity, ChunkRecord)>) {
        (self.number, self.file, self.chunks)
    }
}

/// What new segments of a directory are made by.
#[derive(Debug)]
pub(crate) struct Segments {
    vfs: Arc<dyn Vfs>,
    directory: PathBuf,
    lock: Arc<DirectoryLock>,
    /// The greatest number that a segment was ever given, or that a file in the directory has: no other file is given it,
    /// not even after a checkpoint that failed.
    last: AtomicU64,
    /// Those that records of the log name, and no checkpoint has.
    named: Mutex<Vec<NamedSegment>>,
}

impl Segments {
    /// Those of a directory in which no segment has a greater number than `last`.
    pub fn new(vfs: Arc<dyn Vfs>, directory: &Path, lock: Arc<DirectoryLock>, last: u64) -> Segments {
        Segments {
            vfs,
            directory: directory.to_path_buf(),
            lock,
            last: AtomicU64::new(last),
            named: Mutex::default(),
        }
    }

    /// A segment of the next number.
    pub fn begin(&self) -> NewSegment {
        NewSegment {
            vfs: self.vfs.clone(),
            directory: self.directory.clone(),
            number: self.last.fetch_add(1, Ordering::Relaxed) + 1,
            file: None,
            synced: 0,
        }
    }

    /// The greatest number given.
    pub fn last(&self) -> u64 {
        self.last.load(Ordering::Relaxed)
    }

    fn named(&self) -> MutexGuard<'_, Vec<NamedSegment>> {
        self.named.lock().unwrap_or_else(|e| e.into_inner())
    }

    /// Adds segments that records of the log name.
    pub fn name(&self, named: impl IntoIterator<Item = NamedSegment>) {
        self.named().extend(named);
    }

    /// Bytes of redo in segments that no checkpoint has.
    pub fn redo_bytes(&self) -> u64 {
        self.named().iter().map(|segment| segment.redo).sum()
    }

    /// Hands the segments over whose records end at `lsn` or before: a checkpoint with these commits decides about them.
    pub fn take_named(&self, lsn: Lsn) -> Vec<NamedSegment> {
        let mut named = self.named();
        named.extract_if(.., |segment| segment.lsn <= lsn).collect()
    }
}

/// Blocks of a transaction in a segment. Nothing is left of it unless it is kept.
#[derive(Debug)]
pub(crate) struct BlocksToName {
    /// Gone once the database is closed: from then on the file is what the next open finds without a name.
    segments: Weak<Segments>,
    state: State,
    /// Bytes of redo that were written.
    redo: u64,
}

#[derive(Debug)]
enum State {
    Written(NewSegment),
    Durable(DurableSegment),
    /// Kept, or gone because it could not be made durable.
    Over,
}

impl BlocksToName {
    pub fn new(segments: &Arc<Segments>) -> BlocksToName {
        BlocksToName {
            segments: Arc::downgrade(segments),
            state: State::Written(segments.begin()),
            redo: 0,
        }
    }
}

impl NamedBlocks for BlocksToName {
    fn write(&mut self, block: &Block) -> Result<SegmentPlace> {
        match &mut self.state {
            State::Written(segment) => segment.write(block.bytes()),
            State::Durable(_) | State::Over => {
                Err(Error::internal("a block comes behind the end of its segment"))
            }
        }
    }

    fn write_redo(&mut self, redo: &[u8]) -> Result<RedoPlace> {
        match &mut self.state {
            State::Written(segment) => {
                let place = segment.write(redo)?;
                self.redo += place.bytes;
                Ok(RedoPlace {
                    place,
                    checksum: crc32c::crc32c(redo),
                    used: place.bytes,
                })
            }
            State::Durable(_) | State::Over => {
                Err(Error::internal("redo comes behind the end of its segment"))
            }
        }
    }

    fn sync(&mut self) -> Result<()> {
        match std::mem::replace(&mut self.state, State::Over) {
            State::Written(segment) => {
                if let Some(durable) = segment.finish()? {
                    self.state = State::Durable(durable);
                }
            }
            synced => self.state = synced,
        }
        Ok(())
    }

    fn keep(mut self: Box<Self>, lsn: Lsn, chunks: &[(Arc<ChunkEntry>, SegmentPlace)]) {
        let State::Durable(segment) = std::mem::replace(&mut self.state, State::Over) else {
            return;
        };
        let record = |(entry, place): &(Arc<ChunkEntry>, SegmentPlace)| {
            (entry.identity(), ChunkRecord::of_block(entry, *place))
        };
        let (number, file) = (segment.number, segment.keep());
        let Some(segments) = self.segments.upgrade() else {
            return;
        };
        let named = NamedSegment {
            lsn,
            number,
            file,
            chunks: chunks.iter().map(record).collect(),
            redo: self.redo,
        };
        segments.name([named]);
    }
}

impl Drop for BlocksToName {
    fn drop(&mut self) {
        // The directory is ours while the file is removed: neither another process's nor that of the parent of this one.
        let segments = self.segments.upgrade();
        let is_ours = (segments.as_ref()).is_some_and(|segments| segments.lock.check_owner().is_ok());
        match std::mem::replace(&mut self.state, State::Over) {
            State::Written(segment) if !is_ours => segment.leave(),
            State::Durable(segment) if !is_ours => drop(segment.keep()),
            removed => drop(removed),
        }
    }
}
