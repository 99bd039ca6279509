//! ByteSlice on 512-bit vectors: 64 rows are one vector, and a mask register is their word.

use super::gather::{self, Interleave};
use super::scalar;
use super::scan::{self, Lanes};
use super::slices::{MOST, Slices};
use super::widen::{Widen, by_vectors, interleave};
use crate::packed::CodeRange;
use crate::vbp::planes::Planes;
use crate::{CodeWord, Combine, Isa, RangeOp, Selection};
use std::arch::x86_64::*;
use std::ops::Range;

impl Lanes for __m512i {
    type Mask = u64;
    const BYTES: usize = 1;

    #[inline(always)]
    unsafe fn load(from: *const u8) -> __m512i {
        // SAFETY: by contract.
        unsafe { _mm512_loadu_si512(from.cast()) }
    }

    #[inline(always)]
    unsafe fn splat(bound: &[u8; MOST], j: usize) -> __m512i {
        // SAFETY: by contract.
        unsafe { _mm512_set1_epi8(bound[j] as i8) }
    }

    #[inline(always)]
    unsafe fn inside(self, low: __m512i, high: __m512i) -> u64 {
        // SAFETY: by contract.
        unsafe { _mm512_cmple_epu8_mask(_mm512_sub_epi8(self, low), _mm512_sub_epi8(high, low)) }
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

/// 64 pairs of bytes.
#[derive(Clone, Copy)]
struct Double(__m512i, __m512i);

impl Double {
    /// The masks of both vectors, from what is within theirs.
    #[inline(always)]
    fn both(self, other: Double, within: u64, mask: impl Fn(u32, __m512i, __m512i) -> u32) -> u64 {
        let lower = mask(within as u32, self.0, other.0);
        let upper = mask((within >> 32) as u32, self.1, other.1);
        u64::from(lower) | u64::from(upper) << 32
    }
}

impl Lanes for Double {
    type Mask = u64;
    const BYTES: usize = 2;

    #[inline(always)]
    unsafe fn load(from: *const u8) -> Double {
        // SAFETY: by contract.
        unsafe {
            Double(
                _mm512_loadu_si512(from.cast()),
                _mm512_loadu_si512(from.add(64).cast()),
            )
        }
    }

    #[inline(always)]
    unsafe fn splat(bound: &[u8; MOST], j: usize) -> Double {
        let pair = i16::from_be_bytes([bound[j * 2], bound[j * 2 + 1]]);
        // SAFETY: by contract.
        let pairs = unsafe { _mm512_set1_epi16(pair) };
        Double(pairs, pairs)
    }

    #[inline(always)]
    unsafe fn inside(self, low: Double, high: Double) -> u64 {
        // SAFETY: by contract.
        let above = |v: Double| unsafe { Double(_mm512_sub_epi16(v.0, low.0), _mm512_sub_epi16(v.1, low.1)) };
        // SAFETY: by contract.
        above(self).both(above(high), !0, |_, a, b| unsafe {
            _mm512_cmple_epu16_mask(a, b)
        })
    }

    #[inline(always)]
    unsafe fn equal(self, other: Double, within: u64) -> u64 {
        // SAFETY: by contract.
        self.both(other, within, |within, a, b| unsafe {
            _mm512_mask_cmpeq_epu16_mask(within, a, b)
        })
    }

    #[inline(always)]
    unsafe fn less(self, other: Double, within: u64) -> u64 {
        // SAFETY: by contract.
        self.both(other, within, |within, a, b| unsafe {
            _mm512_mask_cmplt_epu16_mask(within, a, b)
        })
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
    unsafe { scan::scan::<__m512i, true>(codes, rows, range, op, combine, out) }
}

/// See [`super::early_stop::between_reading_all`].
#[target_feature(enable = "avx512vbmi,avx512vbmi2,avx512dq,avx512vl,bmi1,bmi2,lzcnt,popcnt")]
pub(super) fn between_reading_all(
    codes: Slices<'_>,
    rows: Range<usize>,
    range: CodeRange,
    op: RangeOp,
    combine: Combine,
    out: &mut [u64],
) {
    // SAFETY: this function has the features; the rows were checked.
    unsafe { scan::scan::<__m512i, false>(codes, rows, range, op, combine, out) }
}

/// See [`super::slicing`]: slices of pairs of bytes.
#[target_feature(enable = "avx512vbmi,avx512vbmi2,avx512dq,avx512vl,bmi1,bmi2,lzcnt,popcnt")]
pub(super) fn between_pairs(
    codes: Slices<'_>,
    rows: Range<usize>,
    range: CodeRange,
    op: RangeOp,
    combine: Combine,
    out: &mut [u64],
) {
    // SAFETY: this function has the features; the rows were checked.
    unsafe { scan::scan::<Double, true>(codes, rows, range, op, combine, out) }
}

/// See [`super::slicing`]: a tail in planes.
#[target_feature(enable = "avx512vbmi,avx512vbmi2,avx512dq,avx512vl,bmi1,bmi2,lzcnt,popcnt")]
pub(super) fn between_with_tail(
    codes: Slices<'_>,
    tail: Planes<'_>,
    rows: Range<usize>,
    bounds: (u64, u64),
    op: RangeOp,
    combine: Combine,
    out: &mut [u64],
) {
    // SAFETY: this function has the features; the rows were checked.
    unsafe { scan::scan_with_tail::<__m512i>(codes, tail, rows, bounds, op, combine, out) }
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
