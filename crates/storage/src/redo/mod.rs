//! Redo: what a transaction did, as bytes for the log, and back.
//!
//! A transaction appends to a [`RedoBuffer`] while it writes; a savepoint is a length to return
//! to, and at commit the bytes are one record of the log ([`crate::Log::reserve`]). [`changes`] reads them: each [`Change`] names rows by
//! their ids.
//!
//! Blocks that a transaction adds, by a bulk load or because rows move to other chunks, lie in a segment before it commits
//! ([`crate::log::NamedBlocks`]); its record names them. Redo of more than a megabyte goes to such a segment, too, before the
//! transaction has its place in the log, and the record says where it is: nobody waits while large redo is written. What no
//! redo says is committed whole ([`crate::Durability::commit_whole`]).
//!
//! ```text
//! entry    kind u8, bytes of the body u32, body                        (all numbers little-endian)
//! insert   table u32, chunk u32, offset u16, rows u32, columns u16, then for each column:
//!          native type u8, has NULLs u8, if so a bit a row, then the values: as they lie in memory,
//!          of strings first a length u32 each, then all bytes
//! delete   table u32, rows u32, row ids u64
//! catalog  what is another in the catalog, as durability writes it
//! removed  table u32, chunks u32, their numbers u32
//! load     table u32, chunk u32, rows u32, checksum of the block u32, segment u64, offset u64, bytes u64
//! sequence sequence u32, value i64, is_called u8: in the record of a commit, or in a record of its own beside commits
//! held     table u32: the same rows in other blocks; nothing is to be done
//! truncate table u32
//! elsewhere segment u64, offset u64, bytes u64, checksum u32, bytes that count u64: entries in a segment; none of them is
//!          `elsewhere` itself
//! filled   table u32, chunk u32, number of the column u32, then a block of the column: for all rows of the chunk
//! ```

mod columns;
mod read;
mod transaction;
mod write;

pub use columns::RedoColumns;
pub use read::{Change, RawChange, changes, changes_at, raw_changes};
pub(crate) use transaction::{TransactionRedo, WrittenBlock};
pub use write::{LoadedBlock, RedoBuffer};

/// Kinds of entries; the numbers stand in files.
mod kind {
    pub const INSERT: u8 = 1;
    pub const DELETE: u8 = 2;
    pub const CATALOG: u8 = 3;
    // 4 was never written.
    pub const LOAD: u8 = 5;
    pub const SEQUENCE: u8 = 6;
    pub const HELD: u8 = 7;
    pub const TRUNCATE: u8 = 8;
    pub const REMOVED: u8 = 9;
    pub const FILLED: u8 = 10;
    pub const ELSEWHERE: u8 = 11;
}
