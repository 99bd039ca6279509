//! VBP on 256-bit vectors: a plane is two registers of their own.

use super::planes::Planes;
use super::scalar::bytes_of_planes;
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
    /// The matrices of plain words, which the compiler lays side by side in vectors.
    #[inline(always)]
    unsafe fn bytes(planes: [u64; 8], to: &mut [u8; 64]) {
        *to = bytes_of_planes(planes);
    }

    #[inline(always)]
    unsafe fn planes(bytes: &[u8; 64]) -> [u64; 8] {
        // SAFETY: 64 bytes; the rest by contract.
        unsafe {
            let mut lower = _mm256_loadu_si256(bytes.as_ptr().cast());
            let mut upper = _mm256_loadu_si256(bytes[32..].as_ptr().cast());
            std::array::from_fn(|_| {
                let plane = (
                    _mm256_movemask_epi8(lower) as u32,
                    _mm256_movemask_epi8(upper) as u32,
                );
                lower = _mm256_add_epi8(lower, lower);
                upper = _mm256_add_epi8(upper, upper);
                u64::from(plane.0) | u64::from(plane.1) << 32
            })
        }
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
