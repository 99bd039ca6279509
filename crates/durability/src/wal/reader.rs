//! Reading a log from a position on, up to the first record that does not fit.
//!
//! **Where the log breaks off, what stands behind says why.** A crash leaves the last group torn, because each group is written when all before
//! it is durable: nothing behind the break was written by a later group. A whole record of a later group there, or the sector that
//! recovery left behind what it had read, proves that what is missing was durable ([`durable_behind`]): that is damage, XX001. Damage
//! within the last group of a process that was killed looks as what a crash leaves.

use super::log_file::{Continuation, Header, LogFile, SECTOR, generation_of, path_of};
use super::record::{Chain, DatabaseId, Found, Record, Version};
use frazil_storage::Lsn;
use frazil_types::{Error, Result, SqlState};
use frazil_vfs::{Access, Vfs, VfsFile, io_error};
use std::cell::RefCell;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// What can be done about a log that is damaged.
pub(crate) const WAY_OUT: &str = "restore the directory from a copy that BACKUP TO made, or write what was committed before the damage as SQL, \
     by frazil dump --salvage";

/// Why a log ends where it ends.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum End {
    /// Nothing was ever written behind its last record, or there is no file.
    Clean,
    /// Something else than the next record stands there: a group that was not written whole, or what a file held before it was
    /// used again.
    At {
        /// The file.
        path: PathBuf,
        /// Byte in the file.
        offset: u64,
        /// What is wrong with what stands there.
        why: &'static str,
    },
}

/// What was read of a log.
#[derive(Debug)]
pub struct Replayed {
    /// Where the next record comes.
    pub position: Lsn,
    /// Timestamp of the last record, or the one that was given if there is none.
    pub timestamp: u64,
    /// Number of records that were visited.
    pub records: u64,
    /// Why there are no more.
    pub end: End,
    /// The damage that the log was ended at, instead of being refused.
    pub damage: Option<Error>,
    /// Checksum of the last record.
    pub(super) previous: u32,
    /// The greatest generation that a file ever had.
    pub(super) last_generation: u64,
    /// The files that were read, each with the position where it ends.
    pub(super) files: Vec<(Arc<LogFile>, u64)>,
    /// The byte of the last one at which the sector behind its last record begins.
    pub(super) behind: u64,
    /// The last one of which records were read.
    pub(super) last: Option<LastRead>,
}

/// The part of the last file that was read.
#[derive(Clone, Copy, Debug)]
pub(super) struct LastRead {
    pub header: Header,
    /// Position behind its last record, or that of its first one.
    pub end: u64,
}

impl LastRead {
    /// The part of the file of a header before an offset.
    fn before(header: &Header, offset: usize) -> LastRead {
        LastRead {
            header: *header,
            end: header.start + offset as u64 - SECTOR,
        }
    }
}

impl Replayed {
    /// Number of files that were read.
    pub fn file_count(&self) -> usize {
        self.files.len()
    }

    /// The generation of the last file that was read; 0 if there is none.
    pub fn generation(&self) -> u64 {
        self.files.last().map_or(0, |(file, _)| file.generation)
    }
}

/// Hears what is read of a log.
pub trait Visitor {
    /// Records up to this position are going to be visited, at most.
    fn begins(&mut self, most: Lsn);

    /// The next record.
    fn visit(&mut self, record: &Record<'_>) -> Result<()>;
}

/// What is read, and what is done with it.
pub(super) struct Reader<'a> {
    pub vfs: &'a dyn Vfs,
    pub directory: &'a Path,
    pub database: DatabaseId,
    /// Records that begin before this position are not visited.
    pub from: Lsn,
    /// With [`Access::Read`] no file is changed or removed.
    pub access: Access,
    /// Where it is damaged the log ends, instead of being refused: what is read is what was committed before. With [`Access::Read`] alone.
    pub ends_at_damage: bool,
    /// The damage that the log ends at.
    pub damage: RefCell<Option<Error>>,
    pub visitor: &'a mut dyn Visitor,
}

/// The files of a log.
struct Files {
    /// Those in use from the one on that holds the first record to be visited.
    used: Vec<Used>,
    /// The others.
    unneeded: Vec<PathBuf>,
    /// Of all of them, ascending.
    generations: Vec<u64>,
}

/// What a file holds.
struct Contents {
    /// Its bytes up to the end of the last record's sector, with zeros behind that record.
    bytes: Vec<u8>,
    /// What is to stand behind them.
    end: Continuation,
    /// The generation of the file that follows, if the file says that one does.
    next: Option<u64>,
    /// What was durable cannot be read.
    damage: Option<Error>,
}

/// A file in use.
struct Used {
    path: PathBuf,
    file: Box<dyn VfsFile>,
    header: Header,
}

impl Used {
    fn into_file(self) -> LogFile {
        LogFile {
            path: self.path,
            file: self.file,
            generation: self.header.generation,
            bytes: self.header.bytes,
        }
    }
}

impl Reader<'_> {
    /// Reads the log and makes what was read durable. Removes the files that it does not need, if it may.
    pub fn read(&mut self, timestamp: u64) -> Result<Replayed> {
        let replayed = self.read_files(timestamp)?;
        Ok(Replayed {
            damage: self.damage.take(),
            ..replayed
        })
    }

    fn read_files(&mut self, timestamp: u64) -> Result<Replayed> {
        let mut replayed = Replayed {
            position: self.from,
            timestamp,
            records: 0,
            end: End::Clean,
            damage: None,
            previous: 0,
            last_generation: 0,
            files: Vec::new(),
            behind: 0,
            last: None,
        };
        let Files {
            used: files,
            unneeded,
            generations,
        } = self.files()?;
        replayed.last_generation = generations.last().copied().unwrap_or(0);
        let Some(first) = files.first() else {
            for generation in generations {
                let checked = self.check_unused(generation, self.from.0);
                checked.map(drop).or_else(|damage| self.damage(damage))?;
            }
            self.remove(&unneeded);
            return Ok(replayed);
        };
        if first.header.start > self.from.0 {
            let missing = missing(self.directory, self.from.0, &first.path);
            return self.damage(missing).map(|()| replayed);
        }
        let most = files
            .last()
            .map_or(0, |last| last.header.start + last.header.bytes - SECTOR);
        self.visitor.begins(Lsn(most));
        replayed.position = Lsn(first.header.start);
        replayed.previous = first.header.previous;
        let mut before = &first.path;
        for (place, used) in files.iter().enumerate() {
            let header = &used.header;
            if (header.start, header.previous) != (replayed.position.0, replayed.previous) {
                self.damage(broken(&replayed, before, &used.path))?;
                break;
            }
            let mut contents = self.read_file(used, &mut replayed)?;
            replayed.behind = contents.bytes.len() as u64;
            before = &used.path;
            if let Some(damage) = contents.damage.take() {
                self.damage(damage)?;
                break;
            }
            if place + 1 == files.len() {
                self.check_end(used, &contents, &generations, &replayed)?;
                self.keep(used, contents)?;
            }
        }
        let synced = self.vfs.sync_directory(self.directory);
        self.synced(synced, self.directory)?;
        // Of a log that is damaged before the checkpoint nothing is needed that can be read.
        replayed.position = replayed.position.max(self.from);
        self.remove(&unneeded);
        let ends: Vec<u64> = (files.iter().skip(1).map(|f| f.header.start))
            .chain([replayed.position.0])
            .collect();
        let read = files.into_iter().map(|used| used.into_file());
        replayed.files = read.map(Arc::new).zip(ends).collect();
        Ok(replayed)
    }

    /// The files that there are.
    fn files(&self) -> Result<Files> {
        let names = match self.vfs.list(self.directory) {
            // Who reads makes no directory.
            Err(e) if e.kind() == io::ErrorKind::NotFound && self.access == Access::Read => Vec::new(),
            names => names.map_err(|e| io_error("open directory", self.directory, &e))?,
        };
        let mut generations: Vec<u64> = (names.iter())
            .filter_map(|name| name.to_str().and_then(generation_of))
            .collect();
        generations.sort_unstable();
        let (mut files, mut unneeded): (Vec<Used>, Vec<PathBuf>) = (Vec::new(), Vec::new());
        for &generation in &generations {
            let path = path_of(self.directory, generation);
            let file = self
                .vfs
                .open(&path, self.access)
                .map_err(|e| io_error("open", &path, &e))?;
            match self.header(&path, &*file, generation) {
                Ok(Some(header)) => files.push(Used { path, file, header }),
                Ok(None) => unneeded.push(path),
                Err(damage) => {
                    self.damage(damage)?;
                    break;
                }
            }
        }
        let needed = files
            .iter()
            .rposition(|f| f.header.start <= self.from.0)
            .unwrap_or(0);
        unneeded.extend(files.drain(..needed).map(|old| old.path));
        Ok(Files {
            used: files,
            unneeded,
            generations,
        })
    }

    /// Refuses a log that is damaged, unless it is to end there.
    fn damage(&self, damage: Error) -> Result<()> {
        match self.ends_at_damage && damage.state() == SqlState::DATA_CORRUPTED {
            true => {
                self.damage.borrow_mut().get_or_insert(damage);
                Ok(())
            }
            false => Err(damage),
        }
    }

    /// Checks that the last file, which was read, ends the log.
    fn check_end(
        &self,
        last: &Used,
        contents: &Contents,
        generations: &[u64],
        replayed: &Replayed,
    ) -> Result<()> {
        if let Some(next) = contents.next {
            match generations.contains(&next) {
                true => self.check_next(&last.path, next, replayed.position.0),
                false => Err(missing_next(self.directory, &last.path, next)),
            }
            .or_else(|damage| self.damage(damage))?;
        }
        match replayed.position < self.from {
            true => self.damage(ends_before(replayed, &last.path, self.from.0)),
            false => Ok(()),
        }
    }

    /// Removes files that nobody needs. One that cannot be removed is tried again by the next open.
    fn remove(&self, unneeded: &[PathBuf]) {
        if self.access == Access::Write {
            unneeded.iter().for_each(|path| drop(self.vfs.remove(path)));
        }
    }

    /// Makes the records of the last file durable, which may never have been on the disk: by writing them once more, or, where nothing is
    /// written, as far as a sync does that. Takes back that another file follows, which was never used and is to be removed. Then says in
    /// the file that it was read up to here.
    fn keep(&self, used: &Used, contents: Contents) -> Result<()> {
        let Contents {
            mut bytes, end, next, ..
        } = contents;
        let behind = bytes.len();
        let failed = |e| io_error("write", &used.path, &e);
        if self.access == Access::Write {
            bytes.resize(behind + if next.is_some() { SECTOR as usize } else { 0 }, 0);
            used.file.write_at(0, &bytes).map_err(failed)?;
        }
        self.synced(used.file.sync(), &used.path)?;
        let has_room = behind as u64 + SECTOR <= used.header.bytes;
        if self.access == Access::Write && used.header.version.proves() && has_room {
            // It need not be durable: without it less can be proven.
            used.file
                .write_at(behind as u64, &end.to_bytes(None))
                .map_err(failed)?;
        }
        Ok(())
    }

    /// Checks the file that the one at `last` says follows it at `start`, whose header says that it was never used.
    fn check_next(&self, last: &Path, next: u64, start: u64) -> Result<()> {
        let path = path_of(self.directory, next);
        // Its length was durable before the other file named it.
        if self.check_unused(next, start)? <= SECTOR {
            let what = format!(
                "at offset 0: it was truncated, but \"{}\" says that it follows",
                last.display()
            );
            return Err(damaged(&path, &what));
        }
        Ok(())
    }

    /// Checks that a file whose header says that it was never used holds no record that says otherwise. Its first one would be that at
    /// position `start`. Returns its length in bytes.
    fn check_unused(&self, generation: u64, start: u64) -> Result<u64> {
        let path = path_of(self.directory, generation);
        let failed = |e| io_error("read", &path, &e);
        let file = (self.vfs.open(&path, Access::Read)).map_err(|e| io_error("open", &path, &e))?;
        let mut bytes = vec![0; file.len().map_err(failed)? as usize];
        let read = file.read_at(0, &mut bytes).map_err(failed)?;
        bytes.truncate(read);
        let chain = Chain {
            version: Version::Three,
            database: self.database,
            generation,
            previous: 0,
        };
        // Its header is written with its first group.
        let first = SECTOR as usize;
        match durable_behind(&chain, start, &bytes, (first, first)) {
            Some(durable) => {
                let what =
                    format!("at offset 0: its header is gone, but it was durable up to offset {durable}");
                Err(damaged(&path, &what))
            }
            None => Ok(bytes.len() as u64),
        }
    }

    /// What came of a sync. Who reads a medium that takes no changes has what is on it.
    fn synced(&self, synced: io::Result<()>, path: &Path) -> Result<()> {
        use io::ErrorKind::{InvalidInput, PermissionDenied, ReadOnlyFilesystem, Unsupported};
        match synced {
            Err(e)
                if self.access == Access::Read
                    && matches!(
                        e.kind(),
                        InvalidInput | PermissionDenied | ReadOnlyFilesystem | Unsupported
                    ) =>
            {
                Ok(())
            }
            synced => synced.map_err(|e| io_error("sync", path, &e)),
        }
    }

    /// The header of a file; `None` if the file was never used.
    fn header(&self, path: &Path, file: &dyn VfsFile, generation: u64) -> Result<Option<Header>> {
        let failed = |e| io_error("read", path, &e);
        let mut sector = vec![0; SECTOR as usize];
        let read = file.read_at(0, &mut sector).map_err(failed)?;
        let Some(header) = Header::from_bytes(path, &sector[..read])? else {
            return Ok(None);
        };
        let len = file.len().map_err(failed)?;
        let wrong = if header.database != self.database {
            "it belongs to another database".to_string()
        } else if header.generation != generation {
            format!("it is the file of generation {}, renamed", header.generation)
        } else if len < header.bytes {
            format!("it has {len} of its {} bytes: it was truncated", header.bytes)
        } else {
            return Ok(Some(header));
        };
        let message = format!("log file \"{}\": {wrong}", path.display());
        Err(Error::new(SqlState::DATA_CORRUPTED, message).with_hint(WAY_OUT))
    }

    /// The end of the log, if it is where reading came to in the file of a header.
    fn end_of(&self, header: &Header, replayed: &Replayed) -> Continuation {
        Continuation {
            database: self.database,
            generation: header.generation,
            position: replayed.position.0,
            previous: replayed.previous,
        }
    }

    /// Visits the records of a file, up to the first one that cannot be read.
    fn read_file(&mut self, used: &Used, replayed: &mut Replayed) -> Result<Contents> {
        let header = &used.header;
        let mut bytes = vec![0; header.bytes as usize];
        let read = used.file.read_at(0, &mut bytes);
        bytes.truncate(read.map_err(|e| io_error("read", &used.path, &e))?);
        let mut chain = Chain {
            version: header.version,
            database: self.database,
            generation: header.generation,
            previous: header.previous,
        };
        let (mut at, mut last) = (SECTOR as usize, SECTOR as usize);
        replayed.end = loop {
            let position = header.start + at as u64 - SECTOR;
            let border = at.next_multiple_of(SECTOR as usize);
            match chain.read(bytes.get(at..).unwrap_or_default(), position) {
                Found::Record(record, size) => {
                    if record.position >= self.from.0 {
                        self.visitor.visit(&record)?;
                        replayed.records += 1;
                        // A commit without a record may come behind those before.
                        // A record beside the commits has the timestamp 0.
                        replayed.timestamp = replayed.timestamp.max(record.timestamp);
                    }
                    at += size;
                    last = at;
                }
                Found::Nothing if at < border => at = border,
                Found::Nothing => break End::Clean,
                Found::Other(why) => {
                    break End::At {
                        path: used.path.clone(),
                        offset: at as u64,
                        why,
                    };
                }
            }
        };
        replayed.last = Some(LastRead::before(header, last));
        let behind = at.next_multiple_of(SECTOR as usize);
        replayed.position = Lsn(header.start + behind as u64 - SECTOR);
        replayed.previous = chain.previous;
        let end = self.end_of(header, replayed);
        let said = bytes.get(behind..).and_then(Continuation::from_bytes);
        let said = said.filter(|(there, _)| *there == end);
        let mut damage = None;
        if said.is_some() {
            replayed.end = End::Clean;
        } else if let Some(durable) = durable_behind(&chain, header.start, &bytes, (last, at)) {
            let why = match &replayed.end {
                End::At { offset, why, .. } => format!("at offset {offset} {why}"),
                End::Clean => "zeros stand where records were".to_string(),
            };
            let what = format!("between offsets {last} and {durable}, up to which it was durable: {why}");
            damage = Some(damaged(&used.path, &what));
        }
        bytes.truncate(at);
        bytes.resize(behind, 0);
        let next = said.and_then(|(_, next)| next);
        Ok(Contents {
            bytes,
            end,
            next,
            damage,
        })
    }
}

/// The log breaks off in a file whose first record is that at position `start`: behind offset `last`, where the last record ends, and zeros
/// stand up to offset `at`. Returns an offset behind the break up to which the file was durable, if something that stands behind proves
/// that. `chain` is what checksums of the file's records cover.
fn durable_behind(chain: &Chain, start: u64, bytes: &[u8], (last, at): (usize, usize)) -> Option<u64> {
    let sector = SECTOR as usize;
    // A group begins on a border.
    let mut borders = (at.next_multiple_of(sector)..bytes.len()).step_by(sector);
    borders.find_map(|border| {
        let (rest, position) = (&bytes[border..], start + border as u64 - SECTOR);
        let of_end = || {
            let (end, next) = Continuation::from_bytes(rest)?;
            let is_here =
                (end.database, end.generation, end.position) == (chain.database, chain.generation, position);
            // That another file follows is written with the last group.
            (is_here && next.is_none()).then_some(position)
        };
        let durable = chain.durable_before(rest, position).or_else(of_end)?;
        let durable = durable.saturating_sub(start) + SECTOR;
        // What begins where the log breaks off does not follow what was read: something between is gone, if there is room for it.
        let breaks = if border == at { last } else { at };
        (durable > breaks as u64).then_some(durable)
    })
}

/// What stands where a file could not be read any further.
fn why(replayed: &Replayed) -> String {
    match &replayed.end {
        End::Clean => format!("zeros stand from offset {} on", replayed.behind),
        End::At { offset, why, .. } => format!("at offset {offset} {why}"),
    }
}

/// The log ends before the place at which the last checkpoint knew it.
fn ends_before(replayed: &Replayed, last: &Path, from: u64) -> Error {
    Error::new(
        SqlState::DATA_CORRUPTED,
        format!(
            "log file \"{}\" ends at position {} of the log, before the last checkpoint's {from}: {}",
            last.display(),
            replayed.position.0,
            why(replayed)
        ),
    )
    .with_hint(WAY_OUT)
}

fn damaged(path: &Path, what: &str) -> Error {
    Error::new(
        SqlState::DATA_CORRUPTED,
        format!("log file \"{}\" is damaged {what}", path.display()),
    )
    .with_hint(WAY_OUT)
}

/// The log goes on in another file than behind the last record of the one that was read.
fn broken(replayed: &Replayed, last: &Path, next: &Path) -> Error {
    Error::new(
        SqlState::DATA_CORRUPTED,
        format!(
            "log file \"{}\" ends at position {} of the log, but \"{}\" goes on elsewhere: {}",
            last.display(),
            replayed.position.0,
            next.display(),
            why(replayed)
        ),
    )
    .with_hint(WAY_OUT)
}

fn missing_next(directory: &Path, last: &Path, next: u64) -> Error {
    Error::new(
        SqlState::DATA_CORRUPTED,
        format!(
            "the log in \"{}\" ends with \"{}\", which \"{}\" followed: that file is missing",
            directory.display(),
            last.display(),
            path_of(directory, next).display()
        ),
    )
    .with_hint(WAY_OUT)
}

fn missing(directory: &Path, from: u64, first: &Path) -> Error {
    Error::new(
        SqlState::DATA_CORRUPTED,
        format!(
            "the log in \"{}\" begins with \"{}\", behind the last checkpoint's position {from}: a file is missing",
            directory.display(),
            first.display()
        ),
    )
    .with_hint(WAY_OUT)
}
