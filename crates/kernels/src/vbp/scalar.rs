//! VBP on plain words: 64 rows are a register, and a matrix of 8 by 8 bits fits in one.

use super::planes::Planes;
use super::scan::{self, Register};
use super::transpose::{self, Transpose};
use crate::byteslice::gather::Interleave;
use crate::packed::CodeRange;
use crate::{CodeWord, Combine, Isa, RangeOp, Selection};
use std::ops::Range;

impl Register for u64 {
    const WORDS: usize = 1;

    #[inline(always)]
    unsafe fn load(from: *const u8) -> u64 {
        // SAFETY: by contract.
        unsafe { from.cast::<u64>().read_unaligned() }
    }

    #[inline(always)]
    unsafe fn store(self, to: *mut u64) {
        // SAFETY: by contract.
        unsafe { *to = self }
    }

    #[inline(always)]
    unsafe fn splat(word: u64) -> u64 {
        word
    }

    #[inline(always)]
    unsafe fn and(self, other: u64) -> u64 {
        self & other
    }

    #[inline(always)]
    unsafe fn or(self, other: u64) -> u64 {
        self | other
    }

    #[inline(always)]
    unsafe fn without(self, other: u64) -> u64 {
        self & !other
    }

    #[inline(always)]
    unsafe fn and_without(self, a: u64, b: u64) -> u64 {
        self & a & !b
    }

    #[inline(always)]
    unsafe fn where_same(self, a: u64, b: u64) -> u64 {
        self & !(a ^ b)
    }

    #[inline(always)]
    unsafe fn is_zero(self) -> bool {
        self == 0
    }
}

/// Plain words.
struct Scalar;

impl Interleave for Scalar {
    const ISA: Isa = Isa::Scalar;

    #[inline(always)]
    unsafe fn run<C: CodeWord, const SLICES: usize>(
        from: *const u8,
        stride: usize,
        padding: u32,
        to: *mut C,
        len: usize,
    ) {
        for i in 0..len {
            let mut code = 0;
            for j in 0..SLICES {
                // SAFETY: by contract.
                code = code << 8 | u64::from(unsafe { *from.add(j * stride + i) });
            }
            // SAFETY: by contract.
            unsafe { *to.add(i) = C::from_u64(code >> padding) };
        }
    }
}

impl Transpose for Scalar {
    #[inline(always)]
    unsafe fn bytes(from: *const u8, planes: usize, to: &mut [u8; 64]) {
        // SAFETY: by contract.
        *to = bytes_of_planes(std::array::from_fn(|p| unsafe {
            transpose::word(from, planes, p)
        }));
    }

    #[inline(always)]
    unsafe fn planes(bytes: &[u8; 64]) -> [u64; 8] {
        planes_of_bytes(bytes)
    }
}

/// [`Transpose::bytes`] of eight planes in eight matrices of 8 by 8 bits.
#[inline(always)]
fn bytes_of_planes(planes: [u64; 8]) -> [u8; 64] {
    // Byte `p` of matrix `m` has rows `8 m ..` of the plane whose bit is to be bit `p` of each byte.
    let matrices: [[u8; 8]; 8] =
        std::array::from_fn(|m| std::array::from_fn(|p| (planes[7 - p] >> (m * 8)) as u8));
    let matrices = matrices.map(|matrix| transpose_8x8(u64::from_le_bytes(matrix)).to_le_bytes());
    let mut bytes = [0; 64];
    bytes.copy_from_slice(matrices.as_flattened());
    bytes
}

/// [`Transpose::planes`], likewise.
#[inline(always)]
fn planes_of_bytes(bytes: &[u8; 64]) -> [u64; 8] {
    let (matrices, _) = bytes.as_chunks::<8>();
    let matrices: [[u8; 8]; 8] =
        std::array::from_fn(|m| transpose_8x8(u64::from_le_bytes(matrices[m])).to_le_bytes());
    std::array::from_fn(|p| u64::from_le_bytes(std::array::from_fn(|m| matrices[m][7 - p])))
}

/// Swaps rows and columns of a matrix whose rows are bytes: blocks of one, two and four bits in turn
/// (Warren, Hacker's Delight, section 7-3).
#[inline(always)]
fn transpose_8x8(mut matrix: u64) -> u64 {
    let mut swap = |distance: u32, mask: u64| {
        let changed = (matrix ^ matrix >> distance) & mask;
        matrix ^= changed ^ changed << distance;
    };
    swap(7, 0x00AA_00AA_00AA_00AA);
    swap(14, 0x0000_CCCC_0000_CCCC);
    swap(28, 0x0000_0000_F0F0_F0F0);
    matrix
}

/// See [`super::between`].
pub fn between(
    codes: Planes<'_>,
    rows: Range<usize>,
    range: CodeRange,
    op: RangeOp,
    combine: Combine,
    out: &mut [u64],
) {
    // SAFETY: every machine has words; the rows were checked.
    unsafe { scan::scan::<u64>(codes, rows, range, op, combine, out) }
}

/// See [`super::unpack`].
pub fn unpack<C: CodeWord>(codes: Planes<'_>, selection: Selection<'_>, out: &mut [C]) -> usize {
    let count = selection.check(codes.rows, out.len());
    // SAFETY: every machine has words; the selection was checked.
    unsafe { transpose::unpack::<Scalar, C>(codes, selection, &mut out[..count]) }
    count
}

/// See [`super::pack`].
pub fn pack(codes: &[u64], bits: u32, out: &mut [u8]) {
    // SAFETY: every machine has words.
    unsafe { transpose::pack::<Scalar>(codes, bits, out) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn matrices_are_transposed_bit_by_bit() {
        for row in 0..8 {
            for column in 0..8 {
                assert_eq!(transpose_8x8(1 << (row * 8 + column)), 1 << (column * 8 + row));
            }
        }
    }

    #[test]
    fn planes_become_bytes_and_back() {
        for plane in 0..8 {
            for row in 0..64 {
                let mut planes = [0; 8];
                planes[plane] = 1 << row;
                let bytes = bytes_of_planes(planes);
                let expected = std::array::from_fn(|i| if i == row { 0x80 >> plane } else { 0 });
                assert_eq!(bytes, expected);
                assert_eq!(planes_of_bytes(&bytes), planes);
            }
        }
    }
}
