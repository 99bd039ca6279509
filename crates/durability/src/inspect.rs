//! Reads every file of a directory and compares each byte that has a checksum with it: the manifest, each block of each segment,
//! column by column, the marks of deleted rows, and each record of the log. It goes on behind a fault, as far as what comes then can be found.
//!
//! The directory is locked meanwhile as by somebody who reads it, and nothing about it changes. What the bytes mean, whether
//! blocks fit their tables and indexes their rows, is for those who open it to say.

use crate::directory::{refuse_absent, refuse_foreign};
use crate::manifest::{ChunkRecord, Manifest};
use crate::reading::read_manifest;
use crate::recovery::log_path;
use crate::segment::{open_segment, redo_in};
use crate::wal::record::Record;
use crate::wal::{BESIDE_COMMITS, End, LogOpening, Visitor, Wal, WalOptions};
use frazil_storage::redo::{Change, changes};
use frazil_storage::segment_block::open_block;
use frazil_storage::{Lsn, RedoPlace, SegmentPlace};
use frazil_types::{CHUNK_ROWS, Cancel, Error, ObjectId, Result, SqlState};
use frazil_vfs::{Access, DirectoryLock, HeldDirectory, MappedFile, Vfs, hold_directory, io_error};
use std::collections::{BTreeMap, HashMap};
use std::path::Path;
use std::sync::Arc;

/// What was found in the files of a directory.
#[derive(Debug)]
pub struct Inspection {
    /// Its tables when the last checkpoint was made, by name.
    pub tables: Vec<InspectedTable>,
    /// Segments that were read.
    pub segments: u64,
    /// Blocks of them that the log names.
    pub logged_blocks: u64,
    /// Files of the log that were read, and records in them behind the last checkpoint.
    pub log_files: u64,
    /// See `log_files`.
    pub log_records: u64,
    /// Why the log ends where it ends, if not because nothing was ever written behind: what a crash leaves of the last group is no fault.
    pub log_end: Option<String>,
    /// What is wrong, each a sentence that names the file, and the offset in it where there is one.
    pub findings: Vec<String>,
    /// Nobody writes as long as what was found is looked at.
    _lock: DirectoryLock,
}

/// What was read of a table.
#[derive(Clone, Debug)]
pub struct InspectedTable {
    /// Its name.
    pub name: String,
    /// Its blocks.
    pub blocks: u64,
    /// Their bytes.
    pub bytes: u64,
}

/// Inspects a directory. `watch` hears of the bytes that were read, and how many there are. 55006 if somebody writes it, 58P01 if it is
/// not there, 22023 if it is not a database's, 57014, 53000 and 53200 if the system has no descriptors or memory.
pub fn inspect(
    vfs: &Arc<dyn Vfs>,
    path: &Path,
    cancel: &Cancel,
    watch: &dyn Fn(u64, u64),
) -> Result<Inspection> {
    refuse_foreign(&**vfs, path)?;
    refuse_absent(&**vfs, path)?;
    let HeldDirectory { vfs, path } = hold_directory(&**vfs, path)?;
    let (vfs, path) = (&vfs, path.as_path());
    let lock = DirectoryLock::acquire(&**vfs, path, Access::Read)?;
    let mut inspector = Inspector {
        vfs: &**vfs,
        path,
        cancel,
        watch,
        segments: HashMap::new(),
        names: BTreeMap::new(),
        found: Inspection {
            tables: Vec::new(),
            segments: 0,
            logged_blocks: 0,
            log_files: 0,
            log_records: 0,
            log_end: None,
            findings: Vec::new(),
            _lock: lock,
        },
        done: 0,
        total: 0,
        timestamp: 0,
    };
    match read_manifest(&**vfs, path) {
        Ok(manifest) => {
            inspector.total = inspector.bytes_of(&manifest)?;
            inspector.manifest(&manifest)?;
            inspector.log(vfs, &manifest)?;
        }
        // Without it nobody knows what the other files hold.
        Err(fault) => inspector.note(Err(fault))?,
    }
    inspector.found.segments = inspector.segments.values().flatten().count() as u64;
    Ok(inspector.found)
}

struct Inspector<'a> {
    vfs: &'a dyn Vfs,
    path: &'a Path,
    cancel: &'a Cancel,
    watch: &'a dyn Fn(u64, u64),
    /// By number; `None`: it cannot be read, which is told.
    segments: HashMap<u64, Option<Arc<MappedFile>>>,
    names: BTreeMap<ObjectId, String>,
    found: Inspection,
    /// Bytes that were read, of all.
    done: u64,
    total: u64,
    /// Of the last record of the log.
    timestamp: u64,
}

impl Inspector<'_> {
    /// Makes a finding of an error, unless it is not of the data and stops the inspection: 57014, 53000, 53200.
    fn note(&mut self, checked: Result<()>) -> Result<()> {
        match checked {
            Err(e) if !e.state().is_of_data() => Err(e),
            Err(e) => {
                self.found.findings.push(e.message().to_string());
                Ok(())
            }
            Ok(()) => Ok(()),
        }
    }

    /// Bytes that are going to be read, the log's files as a whole.
    fn bytes_of(&self, manifest: &Manifest) -> Result<u64> {
        let blocks = manifest
            .tables
            .iter()
            .flat_map(|t| &t.chunks)
            .map(|c| c.block.bytes);
        let directory = log_path(self.path);
        let mut total = blocks.sum();
        if self.vfs.entry(&directory).is_ok_and(|entry| entry.is_some()) {
            let failed = |e| io_error("read", &directory, &e);
            for name in self.vfs.list(&directory).map_err(failed)? {
                let file = self.vfs.open(&directory.join(name), Access::Read);
                total += file.and_then(|file| file.len()).map_err(failed)?;
            }
        }
        Ok(total)
    }

    fn read(&mut self, bytes: u64) -> Result<()> {
        self.done += bytes;
        (self.watch)(self.done, self.total);
        self.cancel.check()
    }

    fn manifest(&mut self, manifest: &Manifest) -> Result<()> {
        for table in &manifest.tables {
            let name = &table.entry.name;
            self.names.insert(table.entry.id, name.clone());
            for chunk in &table.chunks {
                self.chunk(name, chunk)?;
            }
            self.found.tables.push(InspectedTable {
                name: name.clone(),
                blocks: table.chunks.len() as u64,
                bytes: table.chunks.iter().map(|c| c.block.bytes).sum(),
            });
        }
        for unread in &manifest.unread {
            let manifest = self.path.join("manifest");
            self.found.findings.push(format!(
                "\"{}\", table \"{}\": {}",
                manifest.display(),
                unread.name,
                unread.why
            ));
        }
        self.found.tables.sort_by(|a, b| a.name.cmp(&b.name));
        Ok(())
    }

    fn chunk(&mut self, table: &str, chunk: &ChunkRecord) -> Result<()> {
        let place = format!("table \"{table}\", chunk {}", chunk.number);
        self.block(&place, chunk.block, None)?;
        if let Some((marks, crc)) = chunk.deleted
            && let Some(file) = self.segment(&place, marks.segment)?
        {
            let end = marks.offset.saturating_add(marks.bytes) as usize;
            let bytes = file.bytes().get(marks.offset as usize..end).unwrap_or_default();
            if bytes.len() != CHUNK_ROWS / 8 || crc32c::crc32c(bytes) != crc {
                let file = file.path().display();
                let offset = marks.offset;
                self.found.findings.push(format!(
                    "\"{file}\", {place}: the marks of its deleted rows at offset {offset} are damaged"
                ));
            }
        }
        Ok(())
    }

    /// A segment that something in `place` needs, if it can be read.
    fn segment(&mut self, place: &str, number: u64) -> Result<Option<Arc<MappedFile>>> {
        if let Some(known) = self.segments.get(&number) {
            return Ok(known.clone());
        }
        let opened = open_segment(self.vfs, self.path, number);
        let file = opened.map_err(|e| e.in_context(place));
        let known = file.as_ref().ok().cloned();
        self.segments.insert(number, known.clone());
        self.note(file.map(drop))?;
        Ok(known)
    }

    /// Reads a block that something in `place` needs, each of its columns. `checksum`: the one that the log knows it by.
    fn block(&mut self, place: &str, at: SegmentPlace, checksum: Option<u32>) -> Result<()> {
        let Some(file) = self.segment(place, at.segment)? else {
            return self.read(at.bytes);
        };
        let blame = |e: Error| {
            let file = file.path().display();
            e.in_context(format!("\"{file}\", block at offset {}, {place}", at.offset))
        };
        // A block that does not open says itself where it lies.
        let block = match open_block(&file, at.offset, at.bytes) {
            Ok(block) => block,
            Err(e) => {
                self.note(Err(e.in_context(place)))?;
                return self.read(at.bytes);
            }
        };
        if checksum.is_some_and(|known| known != block.checksum()) {
            let other = Error::new(SqlState::DATA_CORRUPTED, "it is not the block that the log names");
            self.note(Err(blame(other)))?;
        }
        for column in 0..block.columns() {
            self.note(block.touch(column).map_err(blame))?;
        }
        self.read(at.bytes)
    }

    fn log(&mut self, vfs: &Arc<dyn Vfs>, manifest: &Manifest) -> Result<()> {
        self.timestamp = manifest.timestamp;
        let opening = LogOpening {
            database: manifest.database,
            from: manifest.log.position,
            timestamp: manifest.timestamp,
            access: Access::Read,
            ends_at_damage: false,
            options: WalOptions::default(),
        };
        let path = log_path(self.path);
        let replayed = match Wal::open_for(vfs.clone(), &path, opening, self) {
            Ok((_, replayed)) => replayed,
            Err(fault) => return self.note(Err(fault)),
        };
        self.found.log_files = replayed.file_count() as u64;
        if replayed.generation() < manifest.log.generation {
            self.found.findings.push(format!(
                "the log in \"{}\" ends with generation {}, but the last checkpoint knew generation {}: a file is missing",
                path.display(),
                replayed.generation(),
                manifest.log.generation
            ));
        }
        if let End::At { path, offset, why } = &replayed.end {
            let text = format!("the log ends at offset {offset} of \"{}\": {why}", path.display());
            self.found.log_end = Some(text);
        }
        Ok(())
    }

    fn record(&mut self, record: &Record<'_>) -> Result<()> {
        let place = format!(
            "log \"{}\": position {}",
            log_path(self.path).display(),
            record.position
        );
        if record.timestamp == BESIDE_COMMITS {
            return self.beside(&place, record);
        }
        if record.timestamp != self.timestamp + 1 {
            self.found.findings.push(format!(
                "{place}: commit {} comes behind commit {}: one is missing",
                record.timestamp, self.timestamp
            ));
        }
        self.timestamp = record.timestamp;
        self.changes(&place, record.payload)
    }

    /// Checks the changes of a commit, and the blocks and the redo in segments that they name.
    fn changes(&mut self, place: &str, redo: &[u8]) -> Result<()> {
        for change in changes(redo) {
            match change {
                Ok(Change::Load { table, block }) => {
                    let name = self.names.get(&table);
                    let name =
                        name.map_or_else(|| format!("table {}", table.0), |n| format!("table \"{n}\""));
                    let place = format!("{place}, {name}, chunk {}", block.chunk);
                    self.found.logged_blocks += 1;
                    self.block(&place, block.place, Some(block.checksum))?;
                }
                Ok(Change::Elsewhere(redo)) => self.elsewhere(place, &redo)?,
                Ok(_) => {}
                Err(e) => self.note(Err(e.in_context(place)))?,
            }
        }
        Ok(())
    }

    /// Checks redo in a segment that a record in `place` names.
    fn elsewhere(&mut self, place: &str, redo: &RedoPlace) -> Result<()> {
        if let Some(segment) = self.segment(place, redo.place.segment)? {
            match redo_in(&segment, redo) {
                Ok(bytes) if changes(bytes).any(|change| matches!(change, Ok(Change::Elsewhere(_)))) => {
                    let finding = format!("{place}: redo in a segment names redo in another place");
                    self.found.findings.push(finding);
                }
                Ok(bytes) => self.changes(place, bytes)?,
                Err(e) => self.note(Err(e.in_context(place)))?,
            }
        }
        self.read(redo.place.bytes)
    }

    /// A record that is not of a commit says where sequences stand, and nothing else.
    fn beside(&mut self, place: &str, record: &Record<'_>) -> Result<()> {
        for change in changes(record.payload) {
            match change {
                Ok(Change::Sequence { .. }) => {}
                Ok(_) => {
                    let finding =
                        format!("{place}: a record that is not of a commit says what only a commit can do");
                    self.found.findings.push(finding);
                }
                Err(e) => self.note(Err(e.in_context(place)))?,
            }
        }
        Ok(())
    }
}

impl Visitor for Inspector<'_> {
    fn begins(&mut self, _most: Lsn) {}

    fn visit(&mut self, record: &Record<'_>) -> Result<()> {
        self.found.log_records += 1;
        self.record(record)?;
        self.read(record.payload.len() as u64)
    }
}
