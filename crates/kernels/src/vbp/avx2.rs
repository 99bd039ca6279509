//! VBP on 256-bit vectors: a plane is two registers of their own.

use super::planes::Planes;
use super::scan::{self, Register};
use super::transpose::{self, Transpose};
use crate::byteslice::avx2::Avx2;
use crate::packed::CodeRange;
use crate::{CodeWord, Combine, RangeOp, Selection};
use std::arch::x86_64::*;
use std::ops::Range;

impl Register for __m256i {
    const WORDS: usize = 4;

    #[inline(always)]
    unsafe fn load(from: *const u8) -> __m256i {
        // SAFETY: by contract.
        unsafe { _mm256_loadu_si256(from.cast()) }
    }

    #[inline(always)]
    unsafe fn store(self, to: *mut u64) {
        // SAFETY: by contract.
        unsafe { _mm256_storeu_si256(to.cast(), self) }
    }

    #[inline(always)]
    unsafe fn splat(word: u64) -> __m256i {
        // SAFETY: by contract.
        unsafe { _mm256_set1_epi64x(word as i64) }
    }

    #[inline(always)]
    unsafe fn and(self, other: __m256i) -> __m256i {
        // SAFETY: by contract.
        unsafe { _mm256_and_si256(self, other) }
    }

    #[inline(always)]
    unsafe fn or(self, other: __m256i) -> __m256i {
        // SAFETY: by contract.
        unsafe { _mm256_or_si256(self, other) }
    }

    #[inline(always)]
    unsafe fn without(self, other: __m256i) -> __m256i {
        // SAFETY: by contract.
        unsafe { _mm256_andnot_si256(other, self) }
    }

    #[inline(always)]
    unsafe fn and_without(self, a: __m256i, b: __m256i) -> __m256i {
        // SAFETY: by contract.
        unsafe { _mm256_and_si256(self, _mm256_andnot_si256(b, a)) }
    }

    #[inline(always)]
    unsafe fn where_same(self, a: __m256i, b: __m256i) -> __m256i {
        // SAFETY: by contract.
        unsafe { _mm256_andnot_si256(_mm256_xor_si256(a, b), self) }
    }

    #[inline(always)]
    unsafe fn is_zero(self) -> bool {
        // SAFETY: by contract.
        unsafe { _mm256_testz_si256(self, self) == 1 }
    }
}

impl Transpose for Avx2 {
    /// The bytes of the planes are dealt to matrices of 8 by 8 bits, four in a vector.
    #[inline(always)]
    unsafe fn bytes(from: *const u8, planes: usize, to: &mut [u8; 64]) {
        // SAFETY: 64 bytes; the rest by contract.
        unsafe {
            let plane = |p: usize| _mm_cvtsi64_si128(transpose::word(from, planes, 7 - p) as i64);
            let pairs = |p: usize| _mm_unpacklo_epi8(plane(p), plane(p + 1));
            let (a, b, c, d) = (pairs(0), pairs(2), pairs(4), pairs(6));
            let (low, high) = (_mm_unpacklo_epi16(a, b), _mm_unpacklo_epi16(c, d));
            let first = [_mm_unpacklo_epi32(low, high), _mm_unpackhi_epi32(low, high)];
            let (low, high) = (_mm_unpackhi_epi16(a, b), _mm_unpackhi_epi16(c, d));
            let second = [_mm_unpacklo_epi32(low, high), _mm_unpackhi_epi32(low, high)];
            let to = to.as_mut_ptr().cast::<__m256i>();
            _mm256_storeu_si256(to, transpose_8x8(_mm256_set_m128i(first[1], first[0])));
            _mm256_storeu_si256(to.add(1), transpose_8x8(_mm256_set_m128i(second[1], second[0])));
        }
    }

    #[inline(always)]
    unsafe fn planes(bytes: &[u8; 64]) -> [u64; 8] {
        // SAFETY: 64 bytes; the rest by contract.
        unsafe {
            let mut lower = _mm256_loadu_si256(bytes.as_ptr().cast());
            let mut upper = _mm256_loadu_si256(bytes[32..].as_ptr().cast());
            let mut planes = [0; 8];
            // No closure: one that is called and not inlined lacks the instruction set.
            for plane in &mut planes {
                let halves = (
                    _mm256_movemask_epi8(lower) as u32,
                    _mm256_movemask_epi8(upper) as u32,
                );
                *plane = u64::from(halves.0) | u64::from(halves.1) << 32;
                lower = _mm256_add_epi8(lower, lower);
                upper = _mm256_add_epi8(upper, upper);
            }
            planes
        }
    }
}

/// Swaps rows and columns of four matrices, as the function of this name for plain words.
///
/// # Safety
/// The machine has AVX2.
#[inline(always)]
unsafe fn transpose_8x8(matrices: __m256i) -> __m256i {
    // SAFETY: by contract.
    unsafe {
        let changed = |m: __m256i, moved: __m256i, mask: u64| {
            _mm256_and_si256(_mm256_xor_si256(m, moved), _mm256_set1_epi64x(mask as i64))
        };
        let swapped =
            |m: __m256i, c: __m256i, moved: __m256i| _mm256_xor_si256(m, _mm256_xor_si256(c, moved));
        let m = matrices;
        let c = changed(m, _mm256_srli_epi64::<7>(m), 0x00AA_00AA_00AA_00AA);
        let m = swapped(m, c, _mm256_slli_epi64::<7>(c));
        let c = changed(m, _mm256_srli_epi64::<14>(m), 0x0000_CCCC_0000_CCCC);
        let m = swapped(m, c, _mm256_slli_epi64::<14>(c));
        let c = changed(m, _mm256_srli_epi64::<28>(m), 0x0000_0000_F0F0_F0F0);
        swapped(m, c, _mm256_slli_epi64::<28>(c))
    }
}

/// See [`super::between`].
#[target_feature(enable = "avx2,bmi1,bmi2,lzcnt,popcnt")]
pub fn between(
    codes: Planes<'_>,
    rows: Range<usize>,
    range: CodeRange,
    op: RangeOp,
    combine: Combine,
    out: &mut [u64],
) {
    // SAFETY: this function has the features; the rows were checked.
    unsafe { scan::scan::<__m256i>(codes, rows, range, op, combine, out) }
}

/// See [`super::unpack`].
#[target_feature(enable = "avx2,bmi1,bmi2,lzcnt,popcnt")]
pub fn unpack<C: CodeWord>(codes: Planes<'_>, selection: Selection<'_>, out: &mut [C]) -> usize {
    let count = selection.check(codes.rows, out.len());
    // SAFETY: this function has the features, and the selection was checked.
    unsafe { transpose::unpack::<Avx2, C>(codes, selection, &mut out[..count]) }
    count
}

/// See [`super::pack`].
#[target_feature(enable = "avx2,bmi1,bmi2,lzcnt,popcnt")]
pub fn pack(codes: &[u64], bits: u32, out: &mut [u8]) {
    // SAFETY: this function has the features.
    unsafe { transpose::pack::<Avx2>(codes, bits, out) }
}
