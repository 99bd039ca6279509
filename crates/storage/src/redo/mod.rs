//! Redo: what a transaction did, as bytes for the log, and back.
//!
//! No transaction writes redo yet. One is going to append to a [`RedoBuffer`] while it writes; a savepoint is a length to return
//! to, and at commit the bytes are one record of the log ([`crate::Log::reserve`]). [`changes`] reads them: each [`Change`] names rows by
//! their ids, so that doing it twice is the same as doing it once.
//!
//! ```text
//! entry    kind u8, bytes of the body u32, body                        (all numbers little-endian)
//! insert   table u32, chunk u32, offset u16, rows u32, columns u16, then for each column:
//!          native type u8, has NULLs u8, if so a bit a row, then the values: as they lie in memory,
//!          of strings first a length u32 each, then all bytes
//! delete   table u32, rows u32, row ids u64
//! catalog  the catalog as the directory's manifest writes it
//! move     table u32, rows u32, old row ids u64, new row ids u64
//! load     table u32, chunk u32, rows u32, segment u64, offset u64, bytes u64
//! sequence sequence u32, value i64
//! ```

mod columns;
mod read;
mod write;

pub use columns::RedoColumns;
pub use read::{Change, changes};
pub use write::{LoadedBlock, RedoBuffer};

/// Kinds of entries; the numbers stand in files.
mod kind {
    pub const INSERT: u8 = 1;
    pub const DELETE: u8 = 2;
    pub const CATALOG: u8 = 3;
    pub const MOVE: u8 = 4;
    pub const LOAD: u8 = 5;
    pub const SEQUENCE: u8 = 6;
}
