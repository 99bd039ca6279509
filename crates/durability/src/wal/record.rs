//! The bytes of a record: little-endian checksum (u32), length of the payload in bytes (u32, never 0), position (u64),
//! timestamp (u64), payload, zeros up to a multiple of 8.

use std::fmt;
use std::hash::{BuildHasher, Hasher, RandomState};
use std::str::FromStr;

/// Bytes in front of a payload.
pub const HEADER: usize = 24;
/// The greatest payload in bytes.
pub const MAX_PAYLOAD: usize = 1 << 30;

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

/// What a record's checksum covers beside the record.
#[derive(Clone, Copy, Debug)]
pub struct Chain {
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
    /// When it was committed.
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

/// Bytes of a record with a payload of that many bytes.
pub fn size(payload: usize) -> usize {
    (HEADER + payload).next_multiple_of(8)
}

impl Chain {
    /// Appends a record to `out`; the next one comes behind it.
    pub fn write(&mut self, out: &mut Vec<u8>, record: &Record<'_>) {
        let start = out.len();
        out.extend_from_slice(&[0; 4]);
        out.extend_from_slice(&(record.payload.len() as u32).to_le_bytes());
        out.extend_from_slice(&record.position.to_le_bytes());
        out.extend_from_slice(&record.timestamp.to_le_bytes());
        out.extend_from_slice(record.payload);
        self.previous = self.checksum(&out[start + 4..]);
        out[start..start + 4].copy_from_slice(&self.previous.to_le_bytes());
        out.resize(start + size(record.payload.len()), 0);
    }

    /// Reads what stands at the beginning of `bytes`, where the record at `position` could. It becomes the one before the next.
    pub fn read<'a>(&mut self, bytes: &'a [u8], position: u64) -> Found<'a> {
        let Some(header) = bytes.get(..HEADER) else {
            return match bytes.iter().all(|b| *b == 0) {
                true => Found::Nothing,
                false => Found::Other("the file ends inside a record's header"),
            };
        };
        let length = u32::from_le_bytes([header[4], header[5], header[6], header[7]]) as usize;
        let checksum = u32::from_le_bytes([header[0], header[1], header[2], header[3]]);
        if (length, checksum) == (0, 0) {
            return Found::Nothing;
        }
        if length == 0 || length > MAX_PAYLOAD {
            return Found::Other("a record has a length that none has");
        }
        let Some(whole) = bytes.get(..size(length)) else {
            return Found::Other("a record reaches beyond the end of the file");
        };
        let number = |at: usize| (whole[at..at + 8].iter().rev()).fold(0, |n, b| n << 8 | u64::from(*b));
        if number(8) != position {
            return Found::Other("a record is of another place in the log");
        }
        if self.checksum(&whole[4..HEADER + length]) != checksum {
            return Found::Other(
                "a record's checksum does not match: it was not written whole, or changed since",
            );
        }
        self.previous = checksum;
        let record = Record {
            position,
            timestamp: number(16),
            payload: &whole[HEADER..HEADER + length],
        };
        Found::Record(record, whole.len())
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
