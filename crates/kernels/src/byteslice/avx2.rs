//! ByteSlice on 256-bit vectors: 64 rows are two vectors, whose lanes of ones are condensed by
//! movemask.

use super::gather::{self, Interleave, Widen, by_vectors, interleave};
use super::scalar;
use super::scan::{self, Lanes};
use super::slices::Slices;
use crate::packed::CodeRange;
use crate::{CodeWord, Combine, Isa, RangeOp, Selection};
use std::arch::x86_64::*;
use std::ops::Range;

/// 64 bytes, or 64 bytes of ones or zeros.
#[derive(Clone, Copy)]
struct Pair(__m256i, __m256i);

impl Pair {
    /// # Safety
    /// The machine has what `lanes` takes.
    #[inline(always)]
    fn with(self, other: Pair, lanes: impl Fn(__m256i, __m256i) -> __m256i) -> Pair {
        Pair(lanes(self.0, other.0), lanes(self.1, other.1))
    }
}

impl Lanes for Pair {
    type Mask = Pair;

    #[inline(always)]
    unsafe fn load(from: *const u8) -> Pair {
        // SAFETY: by contract.
        unsafe {
            Pair(
                _mm256_loadu_si256(from.cast()),
                _mm256_loadu_si256(from.add(32).cast()),
            )
        }
    }

    #[inline(always)]
    unsafe fn splat(byte: u8) -> Pair {
        // SAFETY: by contract.
        let bytes = unsafe { _mm256_set1_epi8(byte as i8) };
        Pair(bytes, bytes)
    }

    #[inline(always)]
    unsafe fn inside(self, low: Pair, span: Pair) -> Pair {
        // SAFETY: by contract.
        let above = self.with(low, |v, low| unsafe { _mm256_sub_epi8(v, low) });
        // SAFETY: by contract.
        above.with(span, |v, span| unsafe {
            _mm256_cmpeq_epi8(_mm256_min_epu8(v, span), v)
        })
    }

    #[inline(always)]
    unsafe fn equal(self, other: Pair, within: Pair) -> Pair {
        // SAFETY: by contract.
        let equal = self.with(other, |a, b| unsafe { _mm256_cmpeq_epi8(a, b) });
        // SAFETY: by contract.
        equal.with(within, |equal, within| unsafe { _mm256_and_si256(equal, within) })
    }

    #[inline(always)]
    unsafe fn less(self, other: Pair, within: Pair) -> Pair {
        // There is no unsigned comparison: `a >= b` is `max(a, b) == a`.
        // SAFETY: by contract.
        let not_less = self.with(other, |a, b| unsafe {
            _mm256_cmpeq_epi8(_mm256_max_epu8(a, b), a)
        });
        // SAFETY: by contract.
        unsafe { Pair::without(within, not_less) }
    }

    #[inline(always)]
    unsafe fn and(a: Pair, b: Pair) -> Pair {
        // SAFETY: by contract.
        a.with(b, |a, b| unsafe { _mm256_and_si256(a, b) })
    }

    #[inline(always)]
    unsafe fn or(a: Pair, b: Pair) -> Pair {
        // SAFETY: by contract.
        a.with(b, |a, b| unsafe { _mm256_or_si256(a, b) })
    }

    #[inline(always)]
    unsafe fn without(a: Pair, b: Pair) -> Pair {
        // SAFETY: by contract.
        a.with(b, |a, b| unsafe { _mm256_andnot_si256(b, a) })
    }

    #[inline(always)]
    unsafe fn bits(mask: Pair) -> u64 {
        // SAFETY: by contract.
        unsafe {
            let lower = _mm256_movemask_epi8(mask.0) as u32;
            let upper = _mm256_movemask_epi8(mask.1) as u32;
            u64::from(lower) | u64::from(upper) << 32
        }
    }
}

/// AVX2.
pub(crate) struct Avx2;

interleave! {
    Avx2, Isa::Avx2, __m256i, _mm256_or_si256, _mm256_storeu_si256;
    Pairs: u16, 16, _mm_loadu_si128, __m128i, _mm256_cvtepu8_epi16, _mm256_slli_epi16, _mm256_srl_epi16;
    Quads: u32, 8, _mm_loadl_epi64, __m128i, _mm256_cvtepu8_epi32, _mm256_slli_epi32, _mm256_srl_epi32;
    Octets: u64, 4, _mm_loadu_si32, u8, _mm256_cvtepu8_epi64, _mm256_slli_epi64, _mm256_srl_epi64;
}

/// See [`super::between`].
#[target_feature(enable = "avx2,bmi1,bmi2,lzcnt,popcnt")]
pub(super) fn between(
    codes: Slices<'_>,
    rows: Range<usize>,
    range: CodeRange,
    op: RangeOp,
    combine: Combine,
    out: &mut [u64],
) {
    // SAFETY: this function has the features; the rows were checked.
    unsafe { scan::scan::<Pair>(codes, rows, range, op, combine, out) }
}

/// See [`super::unpack`].
#[target_feature(enable = "avx2,bmi1,bmi2,lzcnt,popcnt")]
pub(super) fn unpack<C: CodeWord>(codes: Slices<'_>, selection: Selection<'_>, out: &mut [C]) -> usize {
    let count = selection.check(codes.rows, out.len());
    // SAFETY: this function has the features, and the selection was checked.
    unsafe { gather::unpack::<Avx2, C>(codes, selection, &mut out[..count]) }
    count
}

/// See [`super::pack`].
#[target_feature(enable = "avx2,bmi1,bmi2,lzcnt,popcnt")]
pub(super) fn pack(codes: &[u64], bits: u32, out: &mut [u8]) {
    scalar::pack(codes, bits, out);
}
