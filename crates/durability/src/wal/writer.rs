//! Writing the log: records are appended in memory and written in groups.

use super::group::{GroupCommit, Waited};
use super::log_file::{Continuation, Header, LogFile, SECTOR};
use super::reader::{Reader, Replayed, Visitor};
use super::record::{BESIDE_COMMITS, Chain, DatabaseId, MAX_PAYLOAD, Record, Version};
use frazil_storage::{Log, Lsn, Reserved};
use frazil_types::{Error, Result, SqlState};
use frazil_vfs::{Access, Vfs, create_directory, io_error, sync_directory};
use std::cell::RefCell;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, OnceLock};

/// Files that are kept to be used again.
const SPARE_FILES: usize = 2;

/// How a log is written.
#[derive(Clone, Copy, Debug)]
pub struct WalOptions {
    /// Bytes of the first file, a multiple of the sector. Each file has twice the bytes of the one before. One that a greater record
    /// needs is as large as that.
    pub first_file_bytes: u64,
    /// The most bytes of a file whose records are smaller.
    pub most_file_bytes: u64,
}

impl Default for WalOptions {
    fn default() -> WalOptions {
        WalOptions {
            // A database of a few rows has a small log.
            first_file_bytes: 64 << 10,
            // Zeros for some ten milliseconds, thousands of groups.
            most_file_bytes: 16 << 20,
        }
    }
}

/// What a log is opened for.
#[derive(Clone, Copy, Debug)]
pub struct LogOpening {
    /// The database.
    pub database: DatabaseId,
    /// Records that begin before are not visited.
    pub from: Lsn,
    /// That of the last commit before `from`.
    pub timestamp: u64,
    /// With [`Access::Read`] nothing is made, changed or removed, and nothing may be appended.
    pub access: Access,
    /// Where it is damaged it ends, with [`Access::Read`], instead of being refused.
    pub ends_at_damage: bool,
    /// How it is written.
    pub options: WalOptions,
}

/// A visitor that is a function.
struct Each<'a>(&'a mut dyn FnMut(&Record<'_>) -> Result<()>);

impl Visitor for Each<'_> {
    fn begins(&mut self, _most: Lsn) {}

    fn visit(&mut self, record: &Record<'_>) -> Result<()> {
        (self.0)(record)
    }
}

/// What a log did so far.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct WalCounters {
    /// Records appended.
    pub records: u64,
    /// Groups written. Each took a sync, those that filled a file two.
    pub groups: u64,
    /// Syncs of log files, those that prepared files included.
    pub syncs: u64,
    /// Bytes written, without the zeros that prepared files.
    pub bytes: u64,
}

/// Where a log is.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct WalPosition {
    /// Where the next record comes.
    pub end: Lsn,
    /// Everything before it is durable.
    pub durable: Lsn,
    /// The last generation of a file that holds records; 0 if none was written since the log was opened.
    pub generation: u64,
}

/// The log of a directory, open for writing.
#[derive(Debug)]
pub struct Wal {
    vfs: Arc<dyn Vfs>,
    directory: PathBuf,
    commits: GroupCommit<Tail>,
    /// What ended it.
    failure: OnceLock<Error>,
    /// The generation of the last file that durably holds records.
    generation: AtomicU64,
    records: AtomicU64,
    groups: AtomicU64,
    syncs: AtomicU64,
    bytes: AtomicU64,
}

/// What the next record is appended to.
#[derive(Debug)]
struct Tail {
    /// Bytes of the next file, and the most that one may have.
    next_file_bytes: u64,
    most_file_bytes: u64,
    chain: Chain,
    /// Where the next record comes.
    position: u64,
    /// Where the group that is pending begins, within its last file: when it is written, everything before is durable.
    begun: u64,
    /// Timestamp of the last record.
    timestamp: u64,
    /// The file that records go to, and the position of its first one.
    current: Option<(Arc<LogFile>, u64)>,
    /// Until there is one: the byte behind the last record's sector in the last file that was read.
    behind: Option<u64>,
    /// The one that comes then.
    next: Option<LogFile>,
    /// Somebody makes that one.
    prepares: bool,
    /// Greatest generation that a file was ever given.
    generation: u64,
    /// Files before the current one, each with the position where it ends.
    full: Vec<(Arc<LogFile>, u64)>,
    /// Files that nobody needs.
    spare: Vec<LogFile>,
    /// What no leader has taken yet.
    pending: Vec<Piece>,
}

/// Bytes that are to be written to a file.
#[derive(Debug)]
struct Piece {
    file: Arc<LogFile>,
    offset: u64,
    bytes: Vec<u8>,
}

impl Wal {
    /// Opens the log in a directory, which is made if it is not there, for the database `database`. Visits each record that
    /// begins at `from` or later, in order. `timestamp`: that of the last commit before `from`. XX001 for files that are
    /// damaged, missing or of another database, and for a log that ends before `from`.
    pub fn open(
        vfs: Arc<dyn Vfs>,
        directory: &Path,
        database: DatabaseId,
        (from, timestamp): (Lsn, u64),
        options: WalOptions,
        visit: &mut dyn FnMut(&Record<'_>) -> Result<()>,
    ) -> Result<(Wal, Replayed)> {
        let opening = LogOpening {
            database,
            from,
            timestamp,
            access: Access::Write,
            ends_at_damage: false,
            options,
        };
        Wal::open_for(vfs, directory, opening, &mut Each(visit))
    }

    /// As [`Wal::open`], for somebody who says more of it.
    pub fn open_for(
        vfs: Arc<dyn Vfs>,
        directory: &Path,
        opening: LogOpening,
        visitor: &mut dyn Visitor,
    ) -> Result<(Wal, Replayed)> {
        let LogOpening {
            database,
            from,
            timestamp,
            access,
            ends_at_damage,
            options,
        } = opening;
        if access == Access::Write {
            create_directory(&*vfs, directory)?;
            // By whomever it was made, its name must be durable before anything in it counts.
            if let Some(above) = directory.parent() {
                sync_directory(&*vfs, above)?;
            }
        }
        let mut reader = Reader {
            vfs: &*vfs,
            directory,
            database,
            from,
            access,
            ends_at_damage: ends_at_damage && access == Access::Read,
            damage: RefCell::default(),
            visitor,
        };
        let replayed = reader.read(timestamp)?;
        let tail = Tail {
            next_file_bytes: options.first_file_bytes.min(options.most_file_bytes),
            most_file_bytes: options.most_file_bytes,
            chain: Chain {
                version: Version::Three,
                database,
                generation: 0,
                previous: replayed.previous,
            },
            position: replayed.position.0,
            begun: replayed.position.0,
            timestamp: replayed.timestamp,
            current: None,
            behind: Some(replayed.behind),
            next: None,
            prepares: false,
            generation: replayed.last_generation,
            full: replayed.files.clone(),
            spare: Vec::new(),
            pending: Vec::new(),
        };
        let wal = Wal {
            vfs,
            directory: directory.to_path_buf(),
            commits: GroupCommit::new(tail, replayed.position.0),
            failure: OnceLock::new(),
            generation: AtomicU64::new(0),
            records: AtomicU64::new(0),
            groups: AtomicU64::new(0),
            syncs: AtomicU64::new(0),
            bytes: AtomicU64::new(0),
        };
        Ok((wal, replayed))
    }

    /// Closes the files that were read, where nothing is appended.
    pub(crate) fn let_go(&self) {
        self.commits.with(|tail| tail.full.clear());
    }

    /// Makes everything that was appended durable.
    pub fn flush(&self) -> Result<()> {
        self.wait(self.end())
    }

    /// Where the next record comes.
    pub fn end(&self) -> Lsn {
        Lsn(self.commits.with(|tail| tail.position))
    }

    /// Where it is.
    pub fn position(&self) -> WalPosition {
        let durable = Lsn(self.commits.durable());
        WalPosition {
            end: self.end(),
            durable,
            generation: self.generation.load(Ordering::Relaxed),
        }
    }

    /// Bytes that were appended and that nobody has begun to write.
    pub fn pending(&self) -> usize {
        self.commits
            .with(|tail| tail.pending.iter().map(|piece| piece.bytes.len()).sum())
    }

    /// Gives the next timestamp to a commit that has no record. The caller lets nobody append meanwhile.
    pub fn pass(&self) -> u64 {
        self.commits.with(|tail| {
            tail.timestamp += 1;
            tail.timestamp
        })
    }

    /// Ends the log: nothing is appended or written any more.
    pub fn fail(&self, why: Error) {
        let _ = self.failure.set(why);
        self.commits.fail();
    }

    /// Says that no record before `lsn` will be read any more. Files that hold nothing else are used again, or removed.
    pub fn release(&self, lsn: Lsn) {
        let durable = self.generation.load(Ordering::Relaxed);
        let unneeded = self.commits.with(|tail| tail.release(lsn, durable));
        for file in unneeded {
            // What stays is removed by the next open.
            let _ = self.vfs.remove(&file.path);
        }
    }

    /// What was done so far.
    pub fn counters(&self) -> WalCounters {
        let load = |counter: &AtomicU64| counter.load(Ordering::Relaxed);
        WalCounters {
            records: load(&self.records),
            groups: load(&self.groups),
            syncs: load(&self.syncs),
            bytes: load(&self.bytes),
        }
    }

    /// Writes a group and syncs it, file by file: what a file begins with must not be there before what the one before ends
    /// with.
    fn write(&self, group: Vec<Piece>) -> Result<()> {
        for piece in &group {
            let path = &piece.file.path;
            let written = piece.file.file.write_at(piece.offset, &piece.bytes);
            written.map_err(|e| io_error("write", path, &e))?;
            self.syncs.fetch_add(1, Ordering::Relaxed);
            piece.file.file.sync().map_err(|e| io_error("sync", path, &e))?;
            (self.generation).store(piece.file.generation, Ordering::Relaxed);
            self.bytes.fetch_add(piece.bytes.len() as u64, Ordering::Relaxed);
        }
        self.groups.fetch_add(1, Ordering::Relaxed);
        Ok(())
    }

    /// Makes the next file while the current one is still being filled, if it is time.
    fn prepare(&self) {
        self.make_next(Tail::begin_to_prepare);
    }

    /// Makes the next file if the current one has no room for a record of `redo` bytes, so that no file is made when
    /// the record is appended.
    pub fn make_room(&self, redo: usize) {
        if !self.commits.has_failed() {
            self.make_next(|tail| tail.begin_to_make_room(redo));
        }
    }

    fn make_next(&self, begin: impl FnOnce(&mut Tail) -> Option<Preparation>) {
        let Some(mut preparation) = self.commits.with(begin) else {
            return;
        };
        // Whoever needs the file and has none hears of what fails.
        let made = preparation.make(self).ok();
        self.commits.with(|tail| tail.end_to_prepare(made));
    }
}

impl Wal {
    /// Appends a record.
    fn reserve_record(&self, redo: &[u8], of: RecordOf) -> Result<Reserved> {
        if redo.is_empty() || redo.len() > MAX_PAYLOAD {
            return Err(Error::new(
                SqlState::PROGRAM_LIMIT_EXCEEDED,
                format!(
                    "a log record of {} bytes: records have 1 to {} bytes",
                    redo.len(),
                    MAX_PAYLOAD
                ),
            ));
        }
        let reserved = self.commits.append(|tail| tail.append(self, redo, of));
        let reserved =
            reserved.map_err(|_| self.ended(SqlState::IO_ERROR, "nothing can be written any more"))??;
        self.records.fetch_add(1, Ordering::Relaxed);
        Ok(reserved)
    }
}

/// The kind of a record.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum RecordOf {
    /// A commit, which takes the next timestamp.
    Commit,
    /// Something beside the commits, whose timestamp is [`BESIDE_COMMITS`].
    Beside,
}

impl Log for Wal {
    fn reserve(&self, redo: &[u8]) -> Result<Reserved> {
        self.reserve_record(redo, RecordOf::Commit)
    }

    fn append_beside(&self, redo: &[u8]) -> Result<Lsn> {
        self.reserve_record(redo, RecordOf::Beside)
            .map(|reserved| reserved.lsn)
    }

    fn wait(&self, lsn: Lsn) -> Result<()> {
        let write = |group| match self.write(group) {
            Ok(()) => true,
            Err(e) => {
                let _ = self.failure.set(e);
                false
            }
        };
        match self.commits.wait(lsn.0, Tail::take, write) {
            Ok(Waited::Followed) => Ok(()),
            Ok(Waited::Led) => {
                self.prepare();
                Ok(())
            }
            Err(_) => Err(self.ended(
                SqlState::TRANSACTION_RESOLUTION_UNKNOWN,
                "it is unknown whether the transaction is committed",
            )),
        }
    }

    fn check(&self) -> Result<()> {
        match self.commits.has_failed() {
            true => Err(self.ended(SqlState::IO_ERROR, "nothing can be written any more")),
            false => Ok(()),
        }
    }
}

impl Wal {
    fn ended(&self, state: SqlState, what: &str) -> Error {
        let why = self.failure.get().map_or("its writer panicked", |e| e.message());
        Error::new(state, format!("{what}: the log failed: {why}"))
            .with_hint("close and reopen the database; it then has everything that is durable")
    }
}

/// What a file is made of, and which.
struct Preparation {
    generation: u64,
    bytes: u64,
    of: Option<LogFile>,
}

impl Preparation {
    fn make(&mut self, wal: &Wal) -> Result<LogFile> {
        wal.syncs.fetch_add(1, Ordering::Relaxed);
        match self.of.take() {
            Some(old) => old.recycle(&*wal.vfs, &wal.directory, self.generation),
            None => LogFile::create(&*wal.vfs, &wal.directory, self.generation, self.bytes),
        }
    }
}

impl Tail {
    /// Bytes of the smallest file that takes a record of that many, a header and a continuation.
    fn file_bytes(&self, record: u64) -> u64 {
        (record.next_multiple_of(SECTOR) + 2 * SECTOR).max(self.next_file_bytes)
    }

    fn prepared_of(&mut self, bytes: u64) -> Preparation {
        self.generation += 1;
        let fits = self.spare.iter().position(|file| file.bytes >= bytes);
        Preparation {
            generation: self.generation,
            bytes,
            of: fits.map(|at| self.spare.swap_remove(at)),
        }
    }

    fn begin_to_prepare(&mut self) -> Option<Preparation> {
        let (file, start) = self.current.as_ref()?;
        let is_half_full = (self.position - start) * 2 > file.bytes;
        if !is_half_full || self.next.is_some() || self.prepares {
            return None;
        }
        self.prepares = true;
        let bytes = self.file_bytes(0);
        Some(self.prepared_of(bytes))
    }

    /// Begins to make a file that takes a record of `redo` bytes; `None` if no file is to be made.
    fn begin_to_make_room(&mut self, redo: usize) -> Option<Preparation> {
        let size = self.chain.version.size(redo) as u64;
        let bytes = self.file_bytes(size);
        let has_next = self.next.as_ref().is_some_and(|next| next.bytes >= bytes);
        if has_next || self.prepares || self.fits(size) {
            return None;
        }
        self.prepares = true;
        Some(self.prepared_of(bytes))
    }

    /// True if the current file has room for a record, header and all, of `size` bytes.
    fn fits(&self, size: u64) -> bool {
        (self.current.as_ref()).is_some_and(|(file, start)| {
            (self.position - start + size).next_multiple_of(SECTOR) + 2 * SECTOR <= file.bytes
        })
    }

    fn end_to_prepare(&mut self, made: Option<LogFile>) {
        self.prepares = false;
        let Some(file) = made else { return };
        // Somebody could not wait and made one of a later generation, or files are no longer wanted.
        match self
            .current
            .as_ref()
            .is_none_or(|(c, _)| c.generation < file.generation)
        {
            true => self.spare.extend(self.next.replace(file)),
            false => self.spare.push(file),
        }
    }

    /// The files that nobody needs when no record before `lsn` is read any more, but for those that are kept to be used again.
    /// The last generation that durably holds records is `durable`.
    ///
    /// The file in which the log ends stays until a later one durably holds records. Without it the next open would take an older
    /// file, kept to be used again, for the log's last one: a log that ends before the checkpoint.
    fn release(&mut self, lsn: Lsn, durable: u64) -> Vec<LogFile> {
        let goes_on = (self.current.as_ref()).is_some_and(|(file, _)| file.generation <= durable);
        let last = (self.full.iter().map(|(file, _)| file.generation).max()).filter(|_| !goes_on);
        let (old, full): (Vec<_>, Vec<_>) =
            (self.full.drain(..)).partition(|(file, end)| *end <= lsn.0 && Some(file.generation) != last);
        self.full = full;
        for (file, end) in old {
            match Arc::try_unwrap(file) {
                Ok(file) => self.spare.push(file),
                // Its last bytes are being written.
                Err(file) => self.full.push((file, end)),
            }
        }
        // The smaller ones are of no use any more.
        self.spare.sort_by_key(|file| std::cmp::Reverse(file.bytes));
        let needed = self.file_bytes(0);
        let kept = self.spare.iter().take(SPARE_FILES);
        let kept = kept.take_while(|file| file.bytes >= needed).count();
        self.spare.split_off(kept)
    }

    /// Appends a record. After an error nothing is appended.
    fn append(&mut self, wal: &Wal, payload: &[u8], of: RecordOf) -> Result<Reserved> {
        let size = self.chain.version.size(payload.len()) as u64;
        if !self.fits(size) {
            self.change_file(wal, size)?;
        }
        if self.pending.is_empty() {
            self.begun = self.position;
        }
        let timestamp = match of {
            RecordOf::Commit => {
                self.timestamp += 1;
                self.timestamp
            }
            RecordOf::Beside => BESIDE_COMMITS,
        };
        let record = Record {
            position: self.position,
            durable: self.begun,
            timestamp,
            payload,
        };
        let (file, start) = self.current.as_ref().expect("a file was just made sure of");
        if self
            .pending
            .last()
            .is_none_or(|piece| !Arc::ptr_eq(&piece.file, file))
        {
            self.pending.push(Piece {
                file: file.clone(),
                offset: SECTOR + self.position - start,
                bytes: Vec::new(),
            });
        }
        if let Some(piece) = self.pending.last_mut() {
            self.chain.write(&mut piece.bytes, &record);
        }
        self.position += size;
        Ok(Reserved {
            lsn: Lsn(self.position),
            timestamp,
        })
    }

    /// Goes on in a file that takes a record of `size` bytes.
    fn change_file(&mut self, wal: &Wal, size: u64) -> Result<()> {
        let bytes = self.file_bytes(size);
        let next = match self.next.take() {
            Some(file) if file.bytes >= bytes => file,
            small => {
                self.spare.extend(small);
                self.prepared_of(bytes).make(wal)?
            }
        };
        self.pad();
        self.next_file_bytes = (self.next_file_bytes * 2).min(self.most_file_bytes);
        let file = Arc::new(next);
        self.continue_in(file.generation);
        self.chain.generation = file.generation;
        let header = Header {
            version: self.chain.version,
            database: self.chain.database,
            generation: file.generation,
            start: self.position,
            bytes: file.bytes,
            previous: self.chain.previous,
        };
        self.pending.push(Piece {
            file: file.clone(),
            offset: 0,
            bytes: header.to_bytes(),
        });
        // What is pending for the files before is durable before this one is written to.
        self.begun = self.position;
        if let Some((old, _)) = self.current.replace((file, self.position)) {
            self.full.push((old, self.position));
        }
        Ok(())
    }

    /// Says in the file that ends here which one follows.
    fn continue_in(&mut self, next: u64) {
        let last = match (&self.current, self.behind.take()) {
            (Some((file, start)), _) => Some((file, SECTOR + self.position - start)),
            (None, Some(behind)) => {
                let last_read = self.full.iter().max_by_key(|(file, _)| file.generation);
                last_read.map(|(file, _)| (file, behind))
            }
            (None, None) => None,
        };
        let Some((file, offset)) = last.map(|(file, offset)| (file.clone(), offset)) else {
            return;
        };
        // A file that was filled to its end by an earlier version has no room for it.
        if offset + SECTOR > file.bytes {
            return;
        }
        let continuation = Continuation {
            database: self.chain.database,
            generation: file.generation,
            position: self.position,
            previous: self.chain.previous,
        };
        let bytes = continuation.to_bytes(Some(next));
        match self.pending.last_mut() {
            // It goes to the disk with the last records of the file.
            Some(piece) if Arc::ptr_eq(&piece.file, &file) => piece.bytes.extend_from_slice(&bytes),
            _ => self.pending.push(Piece { file, offset, bytes }),
        }
    }

    /// Ends the group on a sector's border.
    fn pad(&mut self) {
        let border = self.position.next_multiple_of(SECTOR);
        if let Some(piece) = self.pending.last_mut() {
            let end = piece.bytes.len() + (border - self.position) as usize;
            piece.bytes.resize(end, 0);
        }
        self.position = border;
    }

    /// What is pending, and where it ends.
    fn take(&mut self) -> (Vec<Piece>, u64) {
        self.pad();
        (std::mem::take(&mut self.pending), self.position)
    }
}
