//! Where the bits of VBP codes lie, and one code by its bits.

use crate::Packed;

/// Rows of a segment: bits of a plane.
pub(crate) const SEGMENT_ROWS: usize = 512;
/// Bytes of a plane.
pub(crate) const PLANE_BYTES: usize = SEGMENT_ROWS / 8;

/// The planes of a column, checked.
#[derive(Clone, Copy)]
pub(crate) struct Planes<'a> {
    bytes: &'a [u8],
    /// Number of codes.
    pub rows: usize,
    /// Planes of a segment.
    pub bits: usize,
}

impl<'a> Planes<'a> {
    /// Panics unless the bytes hold all codes.
    #[inline(always)]
    pub fn of(codes: Packed<'a>) -> Planes<'a> {
        assert!((1..=64).contains(&codes.bits), "codes of 1 to 64 bits");
        let bytes = super::bytes(codes.rows, codes.bits);
        assert!(codes.bytes.len() >= bytes, "bytes of VBP codes");
        Planes {
            bytes: &codes.bytes[..bytes],
            rows: codes.rows,
            bits: codes.bits as usize,
        }
    }

    /// The planes of a segment, most significant first.
    #[inline(always)]
    fn segment(&self, segment: usize) -> &'a [[u8; PLANE_BYTES]] {
        let size = self.bits * PLANE_BYTES;
        self.bytes[segment * size..][..size].as_chunks().0
    }

    /// Where the planes of a register begin whose first row is that of match word `word`; the planes lie
    /// [`PLANE_BYTES`] apart.
    #[inline(always)]
    pub fn register(&self, word: usize) -> *const u8 {
        const WORDS: usize = SEGMENT_ROWS / 64;
        let planes = self.segment(word / WORDS);
        planes.as_ptr().cast::<u8>().wrapping_add(word % WORDS * 8)
    }

    /// Code `row`: a load a plane.
    #[inline(always)]
    pub fn code(&self, row: usize) -> u64 {
        let (byte, bit) = (row % SEGMENT_ROWS / 8, row % 8);
        self.segment(row / SEGMENT_ROWS)
            .iter()
            .fold(0, |code, plane| code << 1 | u64::from(plane[byte] >> bit & 1))
    }
}
