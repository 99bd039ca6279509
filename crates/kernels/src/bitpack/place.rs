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
    /// Byte of the group, of the word that holds the code's low bits.
    pub low: u32,
    /// Byte of the group, of the word that holds its high bits, often the same.
    pub high: u32,
    /// Bits of the low word below the code.
    pub shift: u32,
}

/// Where the code of a row lies in its group; `lane` are the [`lane_bits`] of `bits`. (In 32 bits, of which
/// vectors hold many.)
#[inline(always)]
pub(super) const fn place(lane: u32, bits: u32, row: u32) -> Place {
    let lanes = VECTOR as u32 * 8 / lane;
    let row = row % GROUP as u32;
    let first_bit = row / lanes * bits;
    let last_bit = first_bit + bits - 1;
    let first = row % lanes * (lane / 8);
    Place {
        low: first + first_bit / lane * VECTOR as u32,
        high: first + last_bit / lane * VECTOR as u32,
        shift: first_bit % lane,
    }
}
