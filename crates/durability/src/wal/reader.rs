//! Reading a log from a position on, up to the first record that does not fit.

use super::log_file::{Continuation, Header, LogFile, SECTOR, generation_of};
use super::record::{Chain, DatabaseId, Found, Record};
use frazil_storage::Lsn;
use frazil_types::{Error, Result, SqlState};
use frazil_vfs::{Access, Vfs, VfsFile, io_error};
use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;

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
    /// Checksum of the last record.
    pub(super) previous: u32,
    /// The greatest generation that a file ever had.
    pub(super) last_generation: u64,
    /// The files that were read, each with the position where it ends.
    pub(super) files: Vec<(Arc<LogFile>, u64)>,
    /// The byte of the last one at which the sector behind its last record begins.
    pub(super) behind: u64,
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
        let mut replayed = Replayed {
            position: self.from,
            timestamp,
            records: 0,
            end: End::Clean,
            previous: 0,
            last_generation: 0,
            files: Vec::new(),
            behind: 0,
        };
        let Files {
            used: files,
            unneeded,
            generations,
        } = self.files()?;
        replayed.last_generation = generations.last().copied().unwrap_or(0);
        let Some(first) = files.first() else {
            self.remove(&unneeded);
            return Ok(replayed);
        };
        if first.header.start > self.from.0 {
            return Err(missing(self.directory, self.from.0, &first.path));
        }
        let most = files
            .last()
            .map_or(0, |last| last.header.start + last.header.bytes - SECTOR);
        self.visitor.begins(Lsn(most));
        replayed.position = Lsn(first.header.start);
        replayed.previous = first.header.previous;
        for (place, used) in files.iter().enumerate() {
            let header = &used.header;
            if (header.start, header.previous) != (replayed.position.0, replayed.previous) {
                return Err(broken(&replayed, self.directory, &used.path));
            }
            let (bytes, next) = self.read_file(used, &mut replayed)?;
            if place + 1 == files.len() {
                if let Some(next) = next.filter(|next| !generations.contains(next)) {
                    return Err(missing_next(self.directory, &used.path, next));
                }
                replayed.behind = bytes.len() as u64;
                self.keep(used, bytes, next.is_some())?;
            }
        }
        let synced = self.vfs.sync_directory(self.directory);
        self.synced(synced, self.directory)?;
        if replayed.position < self.from {
            let end = files.last().map_or(self.directory, |f| &f.path);
            let message = format!(
                "log file \"{}\" ends at position {}, before the last checkpoint's {}: {}",
                end.display(),
                replayed.position.0,
                self.from.0,
                why(&replayed.end)
            );
            return Err(Error::new(SqlState::DATA_CORRUPTED, message));
        }
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
            let path = super::log_file::path_of(self.directory, generation);
            let file = self
                .vfs
                .open(&path, self.access)
                .map_err(|e| io_error("open", &path, &e))?;
            match self.header(&path, &*file, generation)? {
                Some(header) => files.push(Used { path, file, header }),
                None => unneeded.push(path),
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

    /// Removes files that nobody needs. One that cannot be removed is tried again by the next open.
    fn remove(&self, unneeded: &[PathBuf]) {
        if self.access == Access::Write {
            unneeded.iter().for_each(|path| drop(self.vfs.remove(path)));
        }
    }

    /// Makes the records of the last file durable, which may never have been on the disk: by writing them once more, or, where nothing is
    /// written, as far as a sync does that. `is_continued`: the file says that another one follows, which was never used and is to be removed.
    fn keep(&self, used: &Used, mut bytes: Vec<u8>, is_continued: bool) -> Result<()> {
        if self.access == Access::Write {
            bytes.resize(bytes.len() + if is_continued { SECTOR as usize } else { 0 }, 0);
            (used.file.write_at(0, &bytes)).map_err(|e| io_error("write", &used.path, &e))?;
        }
        self.synced(used.file.sync(), &used.path)
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
        Err(Error::new(SqlState::DATA_CORRUPTED, message)
            .with_hint("restore the file from a copy of the directory"))
    }

    /// Visits the records of a file. Returns the file's bytes up to the end of the last one's sector, and the generation of the file that
    /// follows, if there is one.
    fn read_file(&mut self, used: &Used, replayed: &mut Replayed) -> Result<(Vec<u8>, Option<u64>)> {
        let header = &used.header;
        let mut bytes = vec![0; header.bytes as usize];
        let read = used.file.read_at(0, &mut bytes);
        bytes.truncate(read.map_err(|e| io_error("read", &used.path, &e))?);
        let mut chain = Chain {
            database: self.database,
            generation: header.generation,
            previous: header.previous,
        };
        let mut at = SECTOR as usize;
        replayed.end = loop {
            let position = header.start + at as u64 - SECTOR;
            let border = at.next_multiple_of(SECTOR as usize);
            match chain.read(bytes.get(at..).unwrap_or_default(), position) {
                Found::Record(record, size) => {
                    if record.position >= self.from.0 {
                        self.visitor.visit(&record)?;
                        replayed.records += 1;
                        // A commit without a record may come behind those before.
                        replayed.timestamp = record.timestamp;
                    }
                    at += size;
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
        let end = at.next_multiple_of(SECTOR as usize);
        replayed.position = Lsn(header.start + end as u64 - SECTOR);
        replayed.previous = chain.previous;
        let continuation = Continuation {
            database: self.database,
            generation: header.generation,
            position: replayed.position.0,
            previous: replayed.previous,
        };
        let next = bytes.get(end..).and_then(|behind| continuation.next(behind));
        if next.is_some() {
            replayed.end = End::Clean;
        }
        // Behind the last record zeros are to stand, whatever stands there.
        bytes.truncate(at);
        bytes.resize(end, 0);
        Ok((bytes, next))
    }
}

fn why(end: &End) -> String {
    match end {
        End::Clean => "nothing was written there".to_string(),
        End::At { path, offset, why } => format!("at offset {offset} of \"{}\" {why}", path.display()),
    }
}

/// The log goes on behind a place where it must not end.
fn broken(replayed: &Replayed, directory: &Path, next: &Path) -> Error {
    Error::new(
        SqlState::DATA_CORRUPTED,
        format!(
            "the log in \"{}\" ends at position {}, but \"{}\" goes on elsewhere: {}",
            directory.display(),
            replayed.position.0,
            next.display(),
            why(&replayed.end)
        ),
    )
    .with_hint("a file was changed, or one is missing: restore it from a copy of the directory")
}

fn missing_next(directory: &Path, last: &Path, next: u64) -> Error {
    Error::new(
        SqlState::DATA_CORRUPTED,
        format!(
            "the log in \"{}\" ends with \"{}\", which \"{}\" followed: that file is missing",
            directory.display(),
            last.display(),
            super::log_file::path_of(directory, next).display()
        ),
    )
    .with_hint("restore it from a copy of the directory")
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
    .with_hint("restore it from a copy of the directory")
}
