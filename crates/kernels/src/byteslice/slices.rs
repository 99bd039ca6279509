//! Where the bytes of ByteSlice codes lie, and one code by its bytes.

use crate::Packed;

/// Most slices a code has.
pub(super) const MOST: usize = 8;

/// Number of slices of codes of `bits` bits.
#[inline(always)]
pub(super) fn slices(bits: u32) -> usize {
    bits.div_ceil(8) as usize
}

/// Zero bits behind a code in its last slice. Codes of a single slice stand as they are, padded in
/// front, so that their slice is a byte-packed column.
#[inline(always)]
pub(super) fn padding(bits: u32) -> u32 {
    if bits <= 8 {
        0
    } else {
        bits.next_multiple_of(8) - bits
    }
}

/// Bytes from one slice to the next: a byte a row, in whole vectors.
#[inline(always)]
pub(super) fn stride(rows: usize) -> usize {
    rows.next_multiple_of(64)
}

/// The slices of a column, checked: every row up to the stride is readable in each.
#[derive(Clone, Copy)]
pub(super) struct Slices<'a> {
    /// Slice after slice.
    bytes: &'a [u8],
    /// Number of codes.
    pub rows: usize,
    /// From one slice to the next.
    pub stride: usize,
    /// Number of slices.
    pub count: usize,
    /// Bits of a row in a slice: 8, but for slices of pairs of bytes.
    pub unit: u32,
    /// Zero bits behind a code in its last slice.
    pub padding: u32,
}

impl<'a> Slices<'a> {
    /// Panics unless the bytes hold all codes.
    #[inline(always)]
    pub fn of(codes: Packed<'a>) -> Slices<'a> {
        assert!((1..=64).contains(&codes.bits), "codes of 1 to 64 bits");
        let (stride, count) = (stride(codes.rows), slices(codes.bits));
        assert!(codes.bytes.len() >= stride * count, "bytes of ByteSlice codes");
        Slices {
            bytes: codes.bytes,
            rows: codes.rows,
            stride,
            count,
            unit: 8,
            padding: padding(codes.bits),
        }
    }

    /// The slices of a column whose slices are pairs of bytes, checked likewise.
    pub fn of_pairs(codes: Packed<'a>) -> Slices<'a> {
        assert!((1..=64).contains(&codes.bits), "codes of 1 to 64 bits");
        let (stride, count) = (2 * stride(codes.rows), codes.bits.div_ceil(16) as usize);
        assert!(
            codes.bytes.len() >= stride * count,
            "bytes of codes in pairs of bytes"
        );
        Slices {
            bytes: codes.bytes,
            rows: codes.rows,
            stride,
            count,
            unit: 16,
            padding: codes.bits.next_multiple_of(16) - codes.bits,
        }
    }

    /// Code `row` of a column whose slices are pairs of bytes.
    pub fn code_of_pairs(&self, row: usize) -> u64 {
        let pair = |j: usize| {
            let bytes = self.bytes[j * self.stride + row * 2..].first_chunk();
            u64::from(u16::from_le_bytes(*bytes.expect("two bytes a row")))
        };
        (0..self.count).fold(0, |code, j| code << 16 | pair(j)) >> self.padding
    }

    /// Slice `j`, the most significant first, to the end of its padding.
    #[inline(always)]
    pub fn slice(&self, j: usize) -> &'a [u8] {
        &self.bytes[j * self.stride..][..self.stride]
    }

    /// Byte `at` of the first slice; those of the others lie a stride apart.
    #[inline(always)]
    pub fn at(&self, at: usize) -> *const u8 {
        self.bytes.as_ptr().wrapping_add(at)
    }

    /// The largest code.
    #[inline(always)]
    pub fn top(&self) -> u64 {
        !0 >> (64 - self.unit * self.count as u32 + self.padding)
    }

    /// `code` as it stands in the slices, from the top bit on.
    #[inline(always)]
    pub fn left(&self, code: u64) -> u64 {
        code << (64 - self.unit * self.count as u32 + self.padding)
    }

    /// Ones behind the last bit of a code that stands at the top.
    #[inline(always)]
    pub fn behind(&self) -> u64 {
        self.left(1) - 1
    }

    /// Code `row`: one load a slice (ByteSlice, section 3.2).
    ///
    /// # Safety
    /// `row` lies within the stride.
    #[inline(always)]
    pub unsafe fn code(&self, row: usize) -> u64 {
        // A loop: predicting its end is cheaper than an indirect jump to code without one.
        let mut code = 0;
        let mut at = row;
        for _ in 0..self.count {
            // SAFETY: by contract, and the slices were checked.
            code = code << 8 | u64::from(unsafe { *self.bytes.get_unchecked(at) });
            at += self.stride;
        }
        code >> self.padding
    }

    /// Code `row` of `SLICES` slices, which is their number.
    ///
    /// # Safety
    /// As [`Slices::code`].
    #[inline(always)]
    pub unsafe fn code_of<const SLICES: usize>(&self, row: usize) -> u64 {
        debug_assert_eq!(self.count, SLICES);
        let mut code = 0;
        for j in 0..SLICES {
            // SAFETY: by contract, and the slices were checked.
            code = code << 8 | u64::from(unsafe { *self.bytes.get_unchecked(j * self.stride + row) });
        }
        code >> self.padding
    }
}
