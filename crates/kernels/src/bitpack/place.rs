//! Where a code lies in the bit-packed bytes: the arithmetic all of this folder agrees on.

/// Rows of a group, which begins on a whole byte whatever the width.
pub(super) const GROUP: usize = 512;
/// Frames of a group.
pub(super) const FRAMES: usize = GROUP / super::FRAME;
/// Bytes of a vector of the format, on every instruction set, and of a line of the cache.
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
    /// Byte of the codes, of the word that holds the code's low bits.
    pub low: u32,
    /// Byte of the codes, of the word that holds its high bits, often the same.
    pub high: u32,
    /// Bits of the low word below the code.
    pub shift: u32,
}

/// Where the code of a row lies whose codes are dealt to lanes; `lane` are the [`lane_bits`] of `bits`. (In 32 bits,
/// of which vectors hold many: 2^16 codes of 8 bytes are less than 2^20.)
#[inline(always)]
pub(super) const fn place(lane: u32, bits: u32, row: u32) -> Place {
    let vector = VECTOR as u32;
    // The lane's first byte, and the code's number in the lane's string.
    let (first, number) = match lane {
        8 if eight_rows_a_lane(bits) => (
            row / GROUP as u32 * group_bytes(bits) as u32 + row / 8 % vector,
            row % 8,
        ),
        // A group is a whole number of words of each lane: the lane's string goes on in the next.
        _ => (row % (vector * 8 / lane) * (lane / 8), row / (vector * 8 / lane)),
    };
    let first_bit = number * bits;
    let last_bit = first_bit + bits - 1;
    Place {
        low: first + first_bit / lane * vector,
        high: first + last_bit / lane * vector,
        shift: first_bit % lane,
    }
}

/// Whether a lane holds codes of eight consecutive rows.
#[inline(always)]
pub(super) const fn eight_rows_a_lane(bits: u32) -> bool {
    bits < 4
}

/// Whether codes of `bits` bits stand one behind the other, and are found by [`window`].
#[inline(always)]
pub(super) const fn in_a_row(bits: u32) -> bool {
    bits > 16 && bits < 32
}

/// Whether 4 bytes hold any code that stands behind others: up to 25 bits wherever it begins, 26 bits as they begin at
/// multiples of two, 28 as they do at multiples of four.
#[inline(always)]
pub(super) const fn fits_4_bytes(bits: u32) -> bool {
    bits <= 26 || bits == 28
}

/// Byte of a window of `size` bytes that holds the code of a row, and the bits of the window below the code; the
/// codes take `bytes` bytes, which no window leaves. 4 bytes hold the codes that [`fits_4_bytes`] says, 8 bytes all.
/// Those begin at multiples of 4, so that few of them lie in two lines of the cache.
#[inline(always)]
pub(super) const fn window(size: u32, bits: u32, row: u32, bytes: u32) -> (u32, u32) {
    let first_bit = row * bits;
    let byte = if size == 4 {
        first_bit / 8
    } else {
        first_bit / 32 * 4
    };
    let last = bytes - size;
    let byte = if byte < last { byte } else { last };
    (byte, first_bit - byte * 8)
}
