//! The bytes of a record: little-endian checksum (u32), length of the payload in bytes (u32, never 0), position (u64),
//! timestamp (u64); from version 2 on the checksum of the record before (u32) and how many bytes before it its group begins (u32); payload,
//! zeros up to a multiple of 8.
//!
//! **A record of version 2 proves what was durable.** A group is written when all before it is durable. So wherever a whole record stands, the
//! log was durable up to the beginning of that record's group, also where what stands before it can no longer be read
//! ([`Chain::durable_before`]).

use std::fmt;
use std::hash::{BuildHasher, Hasher, RandomState};
use std::str::FromStr;

/// The greatest payload in bytes.
pub const MAX_PAYLOAD: usize = 1 << 30;

/// The timestamp of a record that is not of a commit. Commits count from 1.
pub const BESIDE_COMMITS: u64 = 0;

/// Tells a database from all others.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct DatabaseId(pub [u8; 16]);

impl DatabaseId {
    /// An id that no other database has, by chance.
    pub fn random() -> DatabaseId {
        let half = || RandomState::new().build_hasher().finish().to_le_bytes();
        let mut id = [0; 16];
        id[..8].copy_from_slice(&half());
        id[8..].copy_from_slice(&half());
        DatabaseId(id)
    }
}

/// Thirty-two hexadecimal digits.
impl fmt::Display for DatabaseId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:032x}", u128::from_be_bytes(self.0))
    }
}

impl FromStr for DatabaseId {
    type Err = std::num::ParseIntError;

    fn from_str(text: &str) -> Result<DatabaseId, Self::Err> {
        u128::from_str_radix(text, 16).map(|id| DatabaseId(id.to_be_bytes()))
    }
}

/// The version of a file, which says how its records are written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Version {
    /// A record does not say how far the log was durable. Such files are read, and no longer written.
    One,
    /// A record says how far the log was durable, and rows come to their chunks in the order of their slots. Such files
    /// are read, and no longer written.
    Two,
    /// Today's: several transactions write side by side, so rows come to their chunks in any order, which programs that
    /// know version 2 alone take for damage.
    Three,
}

impl Version {
    /// Bytes in front of a payload.
    const fn header(self) -> usize {
        match self {
            Version::One => 24,
            Version::Two | Version::Three => 32,
        }
    }

    /// True if a record says how far the log was durable.
    pub const fn proves(self) -> bool {
        match self {
            Version::One => false,
            Version::Two | Version::Three => true,
        }
    }

    /// Bytes of a record with a payload of that many bytes.
    pub const fn size(self, payload: usize) -> usize {
        (self.header() + payload).next_multiple_of(8)
    }
}

/// What a record's checksum covers beside the record.
#[derive(Clone, Copy, Debug)]
pub struct Chain {
    /// The version of the file.
    pub version: Version,
    /// The database.
    pub database: DatabaseId,
    /// Generation of the file.
    pub generation: u64,
    /// Checksum of the record before; 0 before the first one of all.
    pub previous: u32,
}

/// A record that fits behind the one before it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Record<'a> {
    /// Where it begins in the log.
    pub position: u64,
    /// Everything before this position was durable when the record was written: where its group begins, within the file. 0 in a file of
    /// version 1, which does not say.
    pub durable: u64,
    /// When it was committed; [`BESIDE_COMMITS`] for a record that is not of a commit.
    pub timestamp: u64,
    /// What it says.
    pub payload: &'a [u8],
}

/// What stands where a record could.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Found<'a> {
    /// The next record, of that many bytes.
    Record(Record<'a>, usize),
    /// Zeros: a group ended here, or the log.
    Nothing,
    /// Bytes that are not the next record; why not.
    Other(&'static str),
}

/// The little-endian number of `len` bytes at `at`.
pub(super) fn number(bytes: &[u8], at: usize, len: usize) -> u64 {
    (bytes[at..at + len].iter().rev()).fold(0, |n, b| n << 8 | u64::from(*b))
}

impl Chain {
    /// Appends a record to `out`; the next one comes behind it.
    pub fn write(&mut self, out: &mut Vec<u8>, record: &Record<'_>) {
        let start = out.len();
        out.extend_from_slice(&[0; 4]);
        out.extend_from_slice(&(record.payload.len() as u32).to_le_bytes());
        out.extend_from_slice(&record.position.to_le_bytes());
        out.extend_from_slice(&record.timestamp.to_le_bytes());
        if self.version.proves() {
            // A group within a file has less than 4 GB, because a record has at most a quarter of that.
            let begun = (record.position - record.durable) as u32;
            out.extend_from_slice(&self.previous.to_le_bytes());
            out.extend_from_slice(&begun.to_le_bytes());
        }
        out.extend_from_slice(record.payload);
        self.previous = self.checksum(&out[start + 4..]);
        out[start..start + 4].copy_from_slice(&self.previous.to_le_bytes());
        out.resize(start + self.version.size(record.payload.len()), 0);
    }

    /// Bytes of the record whose header stands at the beginning of `bytes`, where the one at `position` could; `None`
    /// if no such header stands there.
    pub fn size_of(&self, bytes: &[u8], position: u64) -> Option<usize> {
        let header = bytes.get(..self.version.header())?;
        let length = number(header, 4, 4) as usize;
        let is_one = (1..=MAX_PAYLOAD).contains(&length) && number(header, 8, 8) == position;
        is_one.then(|| self.version.size(length))
    }

    /// Reads what stands at the beginning of `bytes`, where the record at `position` could. It becomes the one before the next.
    pub fn read<'a>(&mut self, bytes: &'a [u8], position: u64) -> Found<'a> {
        let start = self.version.header();
        let Some(header) = bytes.get(..start) else {
            return match bytes.iter().all(|b| *b == 0) {
                true => Found::Nothing,
                false => Found::Other("the file ends inside a record's header"),
            };
        };
        let (checksum, length) = (number(header, 0, 4) as u32, number(header, 4, 4) as usize);
        if (length, checksum) == (0, 0) {
            return Found::Nothing;
        }
        if length == 0 || length > MAX_PAYLOAD {
            return Found::Other("a record has a length that none has");
        }
        let Some(whole) = bytes.get(..self.version.size(length)) else {
            return Found::Other("a record reaches beyond the end of the file");
        };
        if number(header, 8, 8) != position {
            return Found::Other("a record is of another place in the log");
        }
        if self.checksum(&whole[4..start + length]) != checksum {
            return Found::Other(
                "a record's checksum does not match: it was not written whole, or changed since",
            );
        }
        self.previous = checksum;
        let record = Record {
            position,
            durable: match self.version.proves() {
                false => 0,
                true => position.saturating_sub(number(header, 28, 4)),
            },
            timestamp: number(header, 16, 8),
            payload: &whole[start..start + length],
        };
        Found::Record(record, whole.len())
    }

    /// What the record at the beginning of `bytes`, where the one at `position` could stand, says of how far the log was durable, whatever
    /// stands before it. `None` if there is no whole record of this file, or it does not say.
    pub fn durable_before(&self, bytes: &[u8], position: u64) -> Option<u64> {
        if !self.version.proves() || bytes.len() < self.version.header() {
            return None;
        }
        let mut alone = Chain {
            previous: number(bytes, 24, 4) as u32,
            ..*self
        };
        match alone.read(bytes, position) {
            Found::Record(record, _) => Some(record.durable),
            Found::Nothing | Found::Other(_) => None,
        }
    }

    /// The checksum of a record without its first four bytes.
    fn checksum(&self, rest: &[u8]) -> u32 {
        let mut before = [0; 28];
        before[..16].copy_from_slice(&self.database.0);
        before[16..24].copy_from_slice(&self.generation.to_le_bytes());
        before[24..].copy_from_slice(&self.previous.to_le_bytes());
        crc32c::crc32c_append(crc32c::crc32c(&before), rest)
    }
}
