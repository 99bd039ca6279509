//! Where a code lies in the bit-packed bytes: the arithmetic all of this folder agrees on.

/// Rows of a group, which begins on a whole byte whatever the width.
pub(super) const GROUP: usize = 512;
/// Bytes of a vector of the format, on every instruction set.
pub(super) const VECTOR: usize = 64;

/// Bits of the lanes that hold codes of `bits` bits: the narrowest of 8, 16, 32, 64.
#[inline(always)]
pub(super) const fn lane_bits(bits: u32) -> u32 {
    match bits {
        ..=8 => 8,
        9..=16 => 16,
        17..=32 => 32,
        _ => 64,
    }
}

/// Bytes of a group: as many vectors as a code has bits.
#[inline(always)]
pub(super) const fn group_bytes(bits: u32) -> usize {
    bits as usize * VECTOR
}

/// The lane word (or two) a code lies in.
#[derive(Clone, Copy, Debug)]
pub(super) struct Place {
    /// Byte of the word that holds the code's low bits.
    pub low: usize,
    /// Byte of the word that holds its high bits, often the same.
    pub high: usize,
    /// Bits of the low word below the code.
    pub shift: u32,
}

/// Where the code of `row` lies; `lane` are the [`lane_bits`] of `bits`.
#[inline(always)]
pub(super) const fn place(lane: u32, bits: u32, row: usize) -> Place {
    let lanes = VECTOR * 8 / lane as usize;
    let bit = (row % GROUP / lanes) as u32 * bits;
    let first = row / GROUP * group_bytes(bits) + row % lanes * (lane as usize / 8);
    let low = first + (bit / lane) as usize * VECTOR;
    let shift = bit % lane;
    let spans = shift + bits > lane;
    Place {
        low,
        high: low + spans as usize * VECTOR,
        shift,
    }
}
