//! Files of the log: their names, headers, and how they come into being.

use super::record::{DatabaseId, Version, number};
use frazil_types::{Error, Result, SqlState};
use frazil_vfs::{Vfs, VfsFile, io_error, sync_directory};
use std::path::{Path, PathBuf};

/// The unit in which groups are written, in bytes: the sector of today's disks, so that no durable one is written again.
pub const SECTOR: u64 = 4096;
const MAGIC_ONE: &[u8; 16] = b"frazil log v1\n\0\0";
const MAGIC_TWO: &[u8; 16] = b"frazil log v2\n\0\0";
const MAGIC_THREE: &[u8; 16] = b"frazil log v3\n\0\0";
/// What begins the header of every version.
const ANY_VERSION: &[u8] = b"frazil log v";
const CONTINUED: &[u8; 16] = b"frazil log next\n";
/// Bytes of a header, and of a continuation; the rest of the sector is zero.
const HEADER: usize = 64;
/// Bytes of zeros that are written at once.
const ZEROS: usize = 1 << 20;

/// What the first sector of a file in use says.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Header {
    /// How the file's records are written.
    pub version: Version,
    /// The database.
    pub database: DatabaseId,
    /// Number of the file among all that the log ever had.
    pub generation: u64,
    /// Position in the log of the byte behind the header's sector.
    pub start: u64,
    /// The file's length in bytes.
    pub bytes: u64,
    /// Checksum of the record before its first one.
    pub previous: u32,
}

impl Header {
    /// The first sector.
    pub fn to_bytes(&self) -> Vec<u8> {
        let mut bytes = Vec::with_capacity(SECTOR as usize);
        bytes.extend_from_slice(match self.version {
            Version::One => MAGIC_ONE,
            Version::Two => MAGIC_TWO,
            Version::Three => MAGIC_THREE,
        });
        bytes.extend_from_slice(&self.database.0);
        for number in [self.generation, self.start, self.bytes] {
            bytes.extend_from_slice(&number.to_le_bytes());
        }
        bytes.extend_from_slice(&self.previous.to_le_bytes());
        let crc = crc32c::crc32c(&bytes);
        bytes.extend_from_slice(&crc.to_le_bytes());
        bytes.resize(SECTOR as usize, 0);
        bytes
    }

    /// Reads the first sector of the file at `path`; `None` if the file was never used.
    pub fn from_bytes(path: &Path, bytes: &[u8]) -> Result<Option<Header>> {
        let damaged = |what: &str| {
            let message = format!("log file \"{}\": {what} (offset 0)", path.display());
            Err(Error::new(SqlState::DATA_CORRUPTED, message))
        };
        let Some(bytes) = bytes.get(..HEADER) else {
            return match bytes.iter().all(|b| *b == 0) {
                true => Ok(None),
                false => damaged("it was truncated"),
            };
        };
        if bytes.iter().all(|b| *b == 0) {
            return Ok(None);
        }
        let version = match &bytes[..MAGIC_ONE.len()] {
            magic if magic == MAGIC_ONE => Version::One,
            magic if magic == MAGIC_TWO => Version::Two,
            magic if magic == MAGIC_THREE => Version::Three,
            other if other.starts_with(ANY_VERSION) => {
                return Err(Error::new(
                    SqlState::FEATURE_NOT_SUPPORTED,
                    format!("log file \"{}\" is of another version of Frazil", path.display()),
                )
                .with_hint("open the directory with the version of Frazil that wrote it"));
            }
            _ => return damaged("it does not begin as a log file does"),
        };
        if number(bytes, 60, 4) != u64::from(crc32c::crc32c(&bytes[..60])) {
            return damaged("its header's checksum does not match");
        }
        let mut database = DatabaseId::default();
        database.0.copy_from_slice(&bytes[16..32]);
        Ok(Some(Header {
            version,
            database,
            generation: number(bytes, 32, 8),
            start: number(bytes, 40, 8),
            bytes: number(bytes, 48, 8),
            previous: number(bytes, 56, 4) as u32,
        }))
    }
}

/// What stands in the sector behind the last record of a file that another one follows, or that was read up to there. It is durable before
/// anything in that other file counts: a file that is missing then was there. Where no file follows, it was written when all before it was
/// durable: what can no longer be read then is damaged.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Continuation {
    /// The database.
    pub database: DatabaseId,
    /// Generation of the file that ends here.
    pub generation: u64,
    /// Position in the log where it ends, and another one begins.
    pub position: u64,
    /// Checksum of the last record.
    pub previous: u32,
}

impl Continuation {
    /// The sector that says that the file of generation `next` follows, or that none did when the log was read.
    pub fn to_bytes(self, next: Option<u64>) -> Vec<u8> {
        let mut bytes = Vec::with_capacity(SECTOR as usize);
        bytes.extend_from_slice(CONTINUED);
        bytes.extend_from_slice(&self.database.0);
        // Generations are counted from 1 on.
        for number in [self.generation, self.position, next.unwrap_or(0)] {
            bytes.extend_from_slice(&number.to_le_bytes());
        }
        bytes.extend_from_slice(&self.previous.to_le_bytes());
        let crc = crc32c::crc32c(&bytes);
        bytes.extend_from_slice(&crc.to_le_bytes());
        bytes.resize(SECTOR as usize, 0);
        bytes
    }

    /// Reads the sector at the beginning of `bytes`, with the generation of the file that follows; `None` if something else stands there.
    pub fn from_bytes(bytes: &[u8]) -> Option<(Continuation, Option<u64>)> {
        let bytes = bytes.get(..HEADER).filter(|b| b.starts_with(CONTINUED))?;
        if number(bytes, HEADER - 4, 4) != u64::from(crc32c::crc32c(&bytes[..HEADER - 4])) {
            return None;
        }
        let mut database = DatabaseId::default();
        database.0.copy_from_slice(&bytes[16..32]);
        let continuation = Continuation {
            database,
            generation: number(bytes, 32, 8),
            position: number(bytes, 40, 8),
            previous: number(bytes, 56, 4) as u32,
        };
        Some((continuation, Some(number(bytes, 48, 8)).filter(|next| *next != 0)))
    }
}

/// A file that records can be written to.
#[derive(Debug)]
pub struct LogFile {
    /// Where it lies.
    pub path: PathBuf,
    /// It, open.
    pub file: Box<dyn VfsFile>,
    /// Number of the file among all that the log ever had.
    pub generation: u64,
    /// Its length in bytes.
    pub bytes: u64,
}

/// Path of the file of a generation.
pub fn path_of(directory: &Path, generation: u64) -> PathBuf {
    directory.join(format!("{generation:016}.log"))
}

/// The generation of the file that has this name, if it is one of ours.
pub fn generation_of(name: &str) -> Option<u64> {
    let generation = name.strip_suffix(".log")?.parse().ok()?;
    (format!("{generation:016}.log") == name).then_some(generation)
}

impl LogFile {
    /// Makes a file of zeros, durably. Nothing is left of it after an error, if that can be.
    pub fn create(vfs: &dyn Vfs, directory: &Path, generation: u64, bytes: u64) -> Result<LogFile> {
        let path = path_of(directory, generation);
        let file = vfs.create(&path).map_err(|e| io_error("create", &path, &e))?;
        let written = fill(&*file, &path, bytes).and_then(|()| sync_directory(vfs, directory));
        if let Err(e) = written {
            let _ = vfs.remove(&path);
            return Err(e);
        }
        Ok(LogFile {
            path,
            file,
            generation,
            bytes,
        })
    }

    /// Makes a file of another one that nobody needs. What it held stays behind a header that says nothing.
    pub fn recycle(self, vfs: &dyn Vfs, directory: &Path, generation: u64) -> Result<LogFile> {
        let erased = self.file.write_at(0, &[0; SECTOR as usize]);
        erased.map_err(|e| io_error("write", &self.path, &e))?;
        self.file.sync().map_err(|e| io_error("sync", &self.path, &e))?;
        let path = path_of(directory, generation);
        vfs.rename(&self.path, &path)
            .map_err(|e| io_error("rename to", &path, &e))?;
        sync_directory(vfs, directory)?;
        Ok(LogFile {
            path,
            generation,
            ..self
        })
    }
}

/// Writes zeros up to a length, and syncs them.
fn fill(file: &dyn VfsFile, path: &Path, bytes: u64) -> Result<()> {
    let zeros = vec![0; ZEROS.min(bytes as usize)];
    let mut written = 0;
    while written < bytes {
        let next = (bytes - written).min(zeros.len() as u64);
        let done = file.write_at(written, &zeros[..next as usize]);
        done.map_err(|e| io_error("write", path, &e))?;
        written += next;
    }
    file.sync().map_err(|e| io_error("sync", path, &e))
}
