//! The identity of a row while its chunk keeps its number.

/// Chunk number and offset, as one integer: `number << 16 | offset`. Freezing keeps it; an update of a frozen row and
/// FREEZE … ORDER BY give the row another one.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct RowId(pub u64);

/// Rows of a block of tids: half a chunk. The places of rows in a block begin with 1, as in PostgreSQL, whose clients
/// read blocks by ranges from one place 0 to the next; a whole chunk has a row more than there are such places.
const BLOCK_BITS: u32 = 15;
/// The bits of an id that say where in its block a row is.
const PLACE: u64 = (1 << BLOCK_BITS) - 1;
/// Bits of a place in a tid.
const PLACE_BITS: u32 = 16;

impl RowId {
    /// The row at `offset` of a chunk.
    #[inline]
    pub fn new(chunk: u32, offset: u16) -> RowId {
        RowId(u64::from(chunk) << 16 | u64::from(offset))
    }

    /// The row of a tid that [`RowId::to_tid`] made.
    #[inline]
    pub fn from_tid(tid: i64) -> RowId {
        let (block, place) = ((tid as u64) >> PLACE_BITS, tid as u64 & u64::from(u16::MAX));
        RowId(block << BLOCK_BITS | (place.wrapping_sub(1) & PLACE))
    }

    /// The row of any tid; `None` of a tid that no row has.
    pub fn of_tid(tid: i64) -> Option<RowId> {
        let row = RowId::from_tid(tid);
        (row.to_tid() == tid).then_some(row)
    }

    /// The first row whose tid is not below `tid`.
    pub fn at_or_behind(tid: i64) -> RowId {
        match tid as u64 & u64::from(u16::MAX) {
            0 => RowId((tid as u64 >> PLACE_BITS) << BLOCK_BITS),
            place if place > PLACE + 1 => RowId(((tid as u64 >> PLACE_BITS) + 1) << BLOCK_BITS),
            _ => RowId::from_tid(tid),
        }
    }

    /// The id as plans carry it, and as the system column `ctid` shows it: a block of 2^15 rows, and the place in the
    /// block from 1 on, as `block << 16 | place`. Tids are ordered as ids.
    #[inline]
    pub fn to_tid(self) -> i64 {
        ((self.0 >> BLOCK_BITS << PLACE_BITS) + (self.0 & PLACE) + 1) as i64
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tids_are_ordered_as_ids() {
        let ids = [0, 1, 0x7fff, 0x8000, 0xffff, 0x1_0000, 0x1_7fff, 0x7fff_ffff_ffff].map(RowId);
        let tids = ids.map(RowId::to_tid);
        assert!(tids.is_sorted());
        assert_eq!(tids.map(RowId::from_tid), ids);
        assert_eq!(tids[2..4], [0x8000, 0x1_0001]);
        assert_eq!(tids.map(RowId::of_tid), ids.map(Some));
        assert_eq!([0, 0x8001, 0x1_0000, 0x1_ffff].map(RowId::of_tid), [None; 4]);
    }

    #[test]
    fn a_tid_of_no_row_is_between_two_rows() {
        for tid in (0..0x4_0000)
            .step_by(0x1001)
            .chain(0x7ffe..0x8003)
            .chain(0xfffe..0x1_0003)
        {
            let row = RowId::at_or_behind(tid);
            assert!(row.to_tid() >= tid, "{tid:x}");
            assert!(row.0 == 0 || RowId(row.0 - 1).to_tid() < tid, "{tid:x}");
        }
    }
}
