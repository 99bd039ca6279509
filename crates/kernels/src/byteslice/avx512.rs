//! ByteSlice on 512-bit vectors: 64 rows are one vector, and a mask register is their word.

use super::gather::{self, Interleave, Widen, by_vectors, interleave};
use super::scalar;
use super::scan::{self, Lanes};
use super::slices::Slices;
use crate::packed::CodeRange;
use crate::{CodeWord, Combine, Isa, RangeOp, Selection};
use std::arch::x86_64::*;
use std::ops::Range;

impl Lanes for __m512i {
    type Mask = u64;

    #[inline(always)]
    unsafe fn load(from: *const u8) -> __m512i {
        // SAFETY: by contract.
        unsafe { _mm512_loadu_si512(from.cast()) }
    }

    #[inline(always)]
    unsafe fn splat(byte: u8) -> __m512i {
        // SAFETY: by contract.
        unsafe { _mm512_set1_epi8(byte as i8) }
    }

    #[inline(always)]
    unsafe fn inside(self, low: __m512i, span: __m512i) -> u64 {
        // SAFETY: by contract.
        unsafe { _mm512_cmple_epu8_mask(_mm512_sub_epi8(self, low), span) }
    }

    #[inline(always)]
    unsafe fn equal(self, other: __m512i, within: u64) -> u64 {
        // SAFETY: by contract.
        unsafe { _mm512_mask_cmpeq_epu8_mask(within, self, other) }
    }

    #[inline(always)]
    unsafe fn less(self, other: __m512i, within: u64) -> u64 {
        // SAFETY: by contract.
        unsafe { _mm512_mask_cmplt_epu8_mask(within, self, other) }
    }

    #[inline(always)]
    unsafe fn and(a: u64, b: u64) -> u64 {
        a & b
    }

    #[inline(always)]
    unsafe fn or(a: u64, b: u64) -> u64 {
        a | b
    }

    #[inline(always)]
    unsafe fn without(a: u64, b: u64) -> u64 {
        a & !b
    }

    #[inline(always)]
    unsafe fn bits(mask: u64) -> u64 {
        mask
    }
}

/// AVX-512.
pub(crate) struct Avx512;

interleave! {
    Avx512, Isa::Avx512, __m512i, _mm512_or_si512, _mm512_storeu_si512;
    Pairs: u16, 32, _mm256_loadu_si256, __m256i, _mm512_cvtepu8_epi16, _mm512_slli_epi16, _mm512_srl_epi16;
    Quads: u32, 16, _mm_loadu_si128, __m128i, _mm512_cvtepu8_epi32, _mm512_slli_epi32, _mm512_srl_epi32;
    Octets: u64, 8, _mm_loadl_epi64, __m128i, _mm512_cvtepu8_epi64, _mm512_slli_epi64, _mm512_srl_epi64;
}

/// See [`super::between`].
#[target_feature(enable = "avx512vbmi,avx512vbmi2,avx512dq,avx512vl,bmi1,bmi2,lzcnt,popcnt")]
pub(super) fn between(
    codes: Slices<'_>,
    rows: Range<usize>,
    range: CodeRange,
    op: RangeOp,
    combine: Combine,
    out: &mut [u64],
) {
    // SAFETY: this function has the features; the rows were checked.
    unsafe { scan::scan::<__m512i>(codes, rows, range, op, combine, out) }
}

/// See [`super::unpack`].
#[target_feature(enable = "avx512vbmi,avx512vbmi2,avx512dq,avx512vl,bmi1,bmi2,lzcnt,popcnt")]
pub(super) fn unpack<C: CodeWord>(codes: Slices<'_>, selection: Selection<'_>, out: &mut [C]) -> usize {
    let count = selection.check(codes.rows, out.len());
    // SAFETY: this function has the features, and the selection was checked.
    unsafe { gather::unpack::<Avx512, C>(codes, selection, &mut out[..count]) }
    count
}

/// See [`super::pack`].
#[target_feature(enable = "avx512vbmi,avx512vbmi2,avx512dq,avx512vl,bmi1,bmi2,lzcnt,popcnt")]
pub(super) fn pack(codes: &[u64], bits: u32, out: &mut [u8]) {
    scalar::pack(codes, bits, out);
}
