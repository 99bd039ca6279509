//! The identity of a row while its chunk keeps its number.

/// Chunk number and offset, as one integer: `number << 16 | offset`. Freezing keeps it; an update of a frozen row and
/// FREEZE … ORDER BY give the row another one.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct RowId(pub u64);

impl RowId {
    /// The row at `offset` of a chunk.
    #[inline]
    pub fn new(chunk: u32, offset: u16) -> RowId {
        RowId(u64::from(chunk) << 16 | u64::from(offset))
    }

    /// The id that plans carry as a bigint; see [`RowId::to_bigint`].
    #[inline]
    pub fn from_bigint(bigint: i64) -> RowId {
        RowId(bigint as u64)
    }

    /// The id as the bigint that plans carry; chunk numbers have 32 bits, so that it is never negative.
    #[inline]
    pub fn to_bigint(self) -> i64 {
        self.0 as i64
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
