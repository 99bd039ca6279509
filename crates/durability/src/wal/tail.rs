//! The end of a log that another process writes: what comes behind what was read, as soon as it stands there whole.
//!
//! The log is read as it is written, without a word to the writer. Whatever cannot be read yet (a record of which a
//! part is there, a file whose header is not) is not an error: it is read when somebody looks the next time. Where the
//! log goes on is told by the chain of checksums alone, as for recovery: a record counts behind the one that was read
//! before it.
//!
//! Files that no checkpoint needs are used again or removed while they are being read. A file that is used again loses
//! its header before anything else, so that its header, looked at *after* its records, says whether they were those of
//! the file. A file whose successor is gone, or is not its own, was cut off: [`Reached::Cut`]. Then the manifest has
//! what is missing.
//!
//! A writer goes on while it is read. Whoever does again what stands there looks ahead first ([`LogTail::look_ahead`]),
//! which is much faster than any writer is, and then goes no further: so nobody runs behind a writer for ever.
//!
//! Records may be in the system's cache alone, before the writer's sync has come to them. They are synced here
//! before anybody hears of it, as recovery does: so nothing is shown that a power cut could take back.

use super::log_file::{Continuation, Header, LogFile, SECTOR, generation_of, path_of};
use super::reader::{Replayed, Visitor};
use super::record::{Chain, DatabaseId, Found, Record};
use super::writer::WalPosition;
use frazil_storage::Lsn;
use frazil_types::{Result, SqlState};
use frazil_vfs::{Access, Vfs, io_error};
use std::io;
use std::path::Path;
use std::sync::Arc;

/// Bytes that are read to see if anything came.
const LOOK: usize = 4 << 10;
/// Bytes that are read at once where something came, unless a record is longer.
const STRIDE: usize = 256 << 10;

/// The reason for which reading ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Reached {
    /// Nothing whole stands behind what was read.
    End,
    /// The log was cut off before its end.
    Cut,
}

/// The place in a log up to which it was read.
#[derive(Debug)]
pub struct LogTail {
    vfs: Arc<dyn Vfs>,
    directory: Arc<Path>,
    database: DatabaseId,
    /// The place of the next record, or of a zero that says that it comes on the next border of a sector.
    position: u64,
    /// Checksum of the last record.
    previous: u32,
    /// Everything before this position was synced.
    synced: u64,
    /// The file in which the last record stands; `None`: no file was there.
    file: Option<TailFile>,
    buffer: Vec<u8>,
}

#[derive(Clone, Debug)]
struct TailFile {
    file: Arc<LogFile>,
    header: Header,
}

/// Hears of records and does nothing.
struct Nobody;

impl Visitor for Nobody {
    fn begins(&mut self, _most: Lsn) {}

    fn visit(&mut self, _record: &Record<'_>) -> Result<()> {
        Ok(())
    }
}

impl TailFile {
    fn offset_of(&self, position: u64) -> u64 {
        position - self.header.start + SECTOR
    }

    /// Reads at most `bytes` bytes from an offset on, none behind the end that the header tells.
    fn read_into(&self, at: u64, bytes: usize, buffer: &mut Vec<u8>) -> Result<()> {
        buffer.resize(bytes, 0);
        let read = self.file.file.read_at(at, buffer);
        let read = read.map_err(|e| io_error("read", &self.file.path, &e))?;
        buffer.truncate(read.min((self.header.bytes - at.min(self.header.bytes)) as usize));
        Ok(())
    }
}

/// The result of a look into a file.
enum Looked {
    /// Nothing more is in it, and no other file follows it.
    End,
    /// The file of this generation follows at a position.
    Next(u64, u64),
    /// No room was left to say which file follows at a position.
    Full(u64),
}

/// A file that is looked at because the log may go on in it.
enum Candidate {
    Next(TailFile),
    /// The file was not begun.
    NotYet,
    Gone,
    Other,
}

impl LogTail {
    /// The place behind what was read of a log.
    pub fn behind(
        vfs: &Arc<dyn Vfs>,
        directory: &Path,
        database: DatabaseId,
        replayed: &Replayed,
    ) -> LogTail {
        let file = replayed.files.last().zip(replayed.last).map(|((file, _), last)| {
            let file = TailFile {
                file: file.clone(),
                header: last.header,
            };
            (file, last.end)
        });
        let (file, position) = match file {
            Some((file, end)) => (Some(file), end),
            None => (None, replayed.position.0),
        };
        LogTail {
            vfs: vfs.clone(),
            directory: directory.into(),
            database,
            position,
            previous: replayed.previous,
            // The one who read it has synced it.
            synced: position,
            file,
            buffer: Vec::new(),
        }
    }

    /// The place of the next record, or the sector's border behind it.
    pub fn position(&self) -> Lsn {
        Lsn(self.position)
    }

    /// The end of what was read of the log: everything before is durable.
    pub fn reached(&self) -> WalPosition {
        WalPosition {
            end: self.position(),
            durable: self.position(),
            generation: self.file.as_ref().map_or(0, |file| file.header.generation),
        }
    }

    /// The position up to which whole records stand now. They are durable then.
    pub fn look_ahead(&mut self) -> Result<(Reached, Lsn)> {
        let mut ahead = LogTail {
            vfs: self.vfs.clone(),
            directory: self.directory.clone(),
            file: self.file.clone(),
            buffer: std::mem::take(&mut self.buffer),
            ..*self
        };
        let reached = ahead.read_on(Lsn(u64::MAX), &mut Nobody)?;
        self.buffer = ahead.buffer;
        self.synced = ahead.synced;
        Ok((reached, Lsn(ahead.position)))
    }

    /// Visits what came since the last call, up to a position. After an error it is unknown what was visited.
    pub fn read_on(&mut self, most: Lsn, visitor: &mut dyn Visitor) -> Result<Reached> {
        loop {
            let Some(file) = self.file.take() else {
                match self.find_next(0, self.position)? {
                    Candidate::Next(first) => self.file = Some(first),
                    Candidate::NotYet => return Ok(Reached::End),
                    Candidate::Gone | Candidate::Other => return Ok(Reached::Cut),
                }
                continue;
            };
            let looked = self.read_file(&file, most, visitor);
            let (generation, header) = (file.header.generation, file.header);
            let is_cut = !self.is_still(&file)?;
            if !is_cut {
                self.sync(&file)?;
            }
            self.file = Some(file);
            let looked = looked?;
            if is_cut {
                return Ok(Reached::Cut);
            }
            let (next, border) = match looked {
                Looked::End => return Ok(Reached::End),
                Looked::Next(next, border) => (self.candidate(next, border)?, border),
                Looked::Full(border) => (self.find_next(generation, border)?, border),
            };
            match next {
                Candidate::Next(next) => {
                    self.position = border;
                    self.file = Some(next);
                }
                Candidate::NotYet => return Ok(Reached::End),
                // A writer that opens the log anew takes back that a file follows which was never used.
                Candidate::Gone if !self.names_next(&header, border)? => return Ok(Reached::End),
                Candidate::Gone | Candidate::Other => return Ok(Reached::Cut),
            }
        }
    }

    /// Visits the records of a file from the position on.
    fn read_file(&mut self, file: &TailFile, most: Lsn, visitor: &mut dyn Visitor) -> Result<Looked> {
        let mut buffer = std::mem::take(&mut self.buffer);
        let looked = self.read_through((file, most), visitor, &mut buffer);
        if buffer.capacity() > STRIDE {
            buffer = Vec::new();
        }
        self.buffer = buffer;
        looked
    }

    fn read_through(
        &mut self,
        (file, most): (&TailFile, Lsn),
        visitor: &mut dyn Visitor,
        buffer: &mut Vec<u8>,
    ) -> Result<Looked> {
        let header = file.header;
        let mut chain = Chain {
            version: header.version,
            database: self.database,
            generation: header.generation,
            previous: self.previous,
        };
        // The bytes from offset `at` on are in the buffer from `done` on; `wanted` bytes of it are to be there.
        let (mut at, mut done, mut wanted) = (file.offset_of(self.position), 0, LOOK);
        buffer.clear();
        loop {
            if self.position >= most.0 {
                return Ok(Looked::End);
            }
            let is_short = buffer.len() - done < wanted.min((header.bytes - at.min(header.bytes)) as usize);
            if is_short {
                file.read_into(at, wanted.max(if done == 0 { LOOK } else { STRIDE }), buffer)?;
                done = 0;
            }
            let rest = &buffer[done..];
            let position = header.start + at - SECTOR;
            match chain.read(rest, position) {
                Found::Record(record, size) => {
                    visitor.visit(&record)?;
                    (at, done) = (at + size as u64, done + size);
                    self.position = header.start + at - SECTOR;
                    self.previous = chain.previous;
                    wanted = chain.version.size(0);
                    continue;
                }
                Found::Nothing | Found::Other(_) => {}
            }
            // A longer one than was read.
            if let Some(size) = chain.size_of(rest, position).filter(|size| *size > rest.len())
                && at + size as u64 <= header.bytes
                && wanted < size
            {
                wanted = size;
                continue;
            }
            let border = at.next_multiple_of(SECTOR);
            if border > at {
                let skipped = (border - at) as usize;
                if rest.iter().take(skipped).any(|byte| *byte != 0) {
                    return Ok(Looked::End);
                }
                (at, done) = (border, (done + skipped).min(buffer.len()));
                wanted = SECTOR as usize;
                continue;
            }
            if at + SECTOR > header.bytes {
                return Ok(Looked::Full(position));
            }
            return Ok(self.end_of(&header, position, rest));
        }
    }

    /// The end of what a file has up to a position, behind which it has `rest`.
    fn end_of(&self, header: &Header, position: u64, rest: &[u8]) -> Looked {
        let end = Continuation {
            database: self.database,
            generation: header.generation,
            position,
            previous: self.previous,
        };
        let said = Continuation::from_bytes(rest).filter(|(there, _)| *there == end);
        match said.and_then(|(_, next)| next) {
            Some(next) => Looked::Next(next, position),
            None => Looked::End,
        }
    }

    /// True if a file is still what it was when its records were written.
    fn is_still(&self, file: &TailFile) -> Result<bool> {
        Ok(self.header_of(file)? == Some(file.header))
    }

    fn header_of(&self, file: &TailFile) -> Result<Option<Header>> {
        let mut sector = [0; SECTOR as usize];
        let read = file.file.file.read_at(0, &mut sector[..128]);
        let read = read.map_err(|e| io_error("read", &file.file.path, &e))?;
        // One that is just being written is not the one that was there.
        Ok(Header::from_bytes(&file.file.path, &sector[..read]).unwrap_or_default())
    }

    fn sync(&mut self, file: &TailFile) -> Result<()> {
        if self.position > self.synced {
            use io::ErrorKind::{InvalidInput, PermissionDenied, ReadOnlyFilesystem, Unsupported};
            match file.file.file.sync() {
                Err(e)
                    if !matches!(
                        e.kind(),
                        InvalidInput | PermissionDenied | ReadOnlyFilesystem | Unsupported
                    ) =>
                {
                    return Err(io_error("sync", &file.file.path, &e));
                }
                _ => self.synced = self.position,
            }
        }
        Ok(())
    }

    /// True if the file of a header, in which the log was read up to a border, still says that another one follows.
    fn names_next(&self, header: &Header, border: u64) -> Result<bool> {
        let Some(file) = self.file.as_ref().filter(|file| file.header == *header) else {
            return Ok(true);
        };
        let mut sector = [0; SECTOR as usize];
        let read = file.file.file.read_at(file.offset_of(border), &mut sector);
        let read = read.map_err(|e| io_error("read", &file.file.path, &e))?;
        let said = Continuation::from_bytes(&sector[..read]);
        Ok(said.is_none_or(|(_, next)| next.is_some()))
    }

    /// The file of a generation, if the log goes on in it at a position.
    fn candidate(&self, generation: u64, position: u64) -> Result<Candidate> {
        let path = path_of(&self.directory, generation);
        let file = match self.vfs.open(&path, Access::Read) {
            Err(e) if e.kind() == io::ErrorKind::NotFound => return Ok(Candidate::Gone),
            file => file.map_err(|e| io_error("open", &path, &e))?,
        };
        let mut sector = [0; SECTOR as usize];
        let read = file
            .read_at(0, &mut sector)
            .map_err(|e| io_error("read", &path, &e))?;
        let header = match Header::from_bytes(&path, &sector[..read]) {
            Ok(Some(header)) => header,
            Ok(None) => return Ok(Candidate::NotYet),
            // A part of it may be written.
            Err(e) if e.state() == SqlState::DATA_CORRUPTED => return Ok(Candidate::NotYet),
            Err(e) => return Err(e),
        };
        let is_next = header.database == self.database
            && header.generation == generation
            && (header.start, header.previous) == (position, self.previous);
        if !is_next {
            return Ok(Candidate::Other);
        }
        let file = Arc::new(LogFile {
            path,
            file,
            generation,
            bytes: header.bytes,
        });
        Ok(Candidate::Next(TailFile { file, header }))
    }

    /// The file of a later generation in which the log goes on at a position, if no other file says which one that is.
    fn find_next(&self, after: u64, position: u64) -> Result<Candidate> {
        let names = match self.vfs.list(&self.directory) {
            Err(e) if e.kind() == io::ErrorKind::NotFound => return Ok(Candidate::NotYet),
            names => names.map_err(|e| io_error("open directory", &self.directory, &e))?,
        };
        let generations = (names.iter()).filter_map(|name| name.to_str().and_then(generation_of));
        let mut found = Candidate::NotYet;
        for generation in generations.filter(|generation| *generation > after) {
            match self.candidate(generation, position)? {
                Candidate::Next(next) => return Ok(Candidate::Next(next)),
                Candidate::Other => found = Candidate::Other,
                Candidate::NotYet | Candidate::Gone => {}
            }
        }
        Ok(found)
    }
}
