//! The identity of a row while its chunk keeps its number.

/// Chunk number and offset, as one integer: `number << 16 | offset`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct RowId(pub i64);

impl RowId {
    /// The row at `offset` of a chunk.
    #[inline]
    pub fn new(chunk: u32, offset: u16) -> RowId {
        RowId(i64::from(chunk) << 16 | i64::from(offset))
    }

    /// Number of its chunk.
    #[inline]
    pub fn chunk(self) -> u32 {
        (self.0 >> 16) as u32
    }

    /// Offset in its chunk.
    #[inline]
    pub fn offset(self) -> u16 {
        self.0 as u16
    }
}
