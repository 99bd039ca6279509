//! ByteSlice on 256-bit vectors: 64 rows are two vectors, whose lanes of ones are condensed by
//! movemask.

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

/// 64 bytes, or 64 bytes of ones or zeros.
#[derive(Clone, Copy)]
struct Pair(__m256i, __m256i);

impl Pair {
    /// # Safety
    /// The CPU has AVX2 and BMI: `dispatch!` checked it.
    #[inline(always)]
    fn with(self, other: Pair, lanes: impl Fn(__m256i, __m256i) -> __m256i) -> Pair {
        Pair(lanes(self.0, other.0), lanes(self.1, other.1))
    }
}

impl Lanes for Pair {
    type Mask = Pair;
    const BYTES: usize = 1;

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
    unsafe fn splat(bound: &[u8; MOST], j: usize) -> Pair {
        // SAFETY: by contract.
        let bytes = unsafe { _mm256_set1_epi8(bound[j] as i8) };
        Pair(bytes, bytes)
    }

    #[inline(always)]
    unsafe fn inside(self, low: Pair, high: Pair) -> Pair {
        // SAFETY: by contract.
        let above = self.with(low, |v, low| unsafe { _mm256_sub_epi8(v, low) });
        // SAFETY: by contract.
        let span = high.with(low, |high, low| unsafe { _mm256_sub_epi8(high, low) });
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

    #[inline(always)]
    unsafe fn any(mask: Pair, of: u64) -> bool {
        if of != !0 {
            // SAFETY: by contract.
            return unsafe { Pair::bits(mask) } & of != 0;
        }
        // SAFETY: by contract.
        unsafe {
            let either = _mm256_or_si256(mask.0, mask.1);
            _mm256_testz_si256(either, either) == 0
        }
    }
}

/// 64 pairs of bytes, or as many of ones or zeros: 32 rows in each.
#[derive(Clone, Copy)]
struct Quad(Pair, Pair);

impl Quad {
    /// # Safety
    /// The CPU has AVX2 and BMI: `dispatch!` checked it.
    #[inline(always)]
    fn with(self, other: Quad, lanes: impl Fn(__m256i, __m256i) -> __m256i) -> Quad {
        Quad(self.0.with(other.0, &lanes), self.1.with(other.1, &lanes))
    }
}

impl Lanes for Quad {
    type Mask = Quad;
    const BYTES: usize = 2;

    #[inline(always)]
    unsafe fn load(from: *const u8) -> Quad {
        // SAFETY: by contract.
        unsafe { Quad(Pair::load(from), Pair::load(from.add(64))) }
    }

    #[inline(always)]
    unsafe fn splat(bound: &[u8; MOST], j: usize) -> Quad {
        let pair = i16::from_be_bytes([bound[j * 2], bound[j * 2 + 1]]);
        // SAFETY: by contract.
        let pairs = unsafe { _mm256_set1_epi16(pair) };
        Quad(Pair(pairs, pairs), Pair(pairs, pairs))
    }

    #[inline(always)]
    unsafe fn inside(self, low: Quad, high: Quad) -> Quad {
        // SAFETY: by contract.
        let above = self.with(low, |v, low| unsafe { _mm256_sub_epi16(v, low) });
        // SAFETY: by contract.
        let span = high.with(low, |high, low| unsafe { _mm256_sub_epi16(high, low) });
        // SAFETY: by contract.
        above.with(span, |v, span| unsafe {
            _mm256_cmpeq_epi16(_mm256_min_epu16(v, span), v)
        })
    }

    #[inline(always)]
    unsafe fn equal(self, other: Quad, within: Quad) -> Quad {
        // SAFETY: by contract.
        let equal = self.with(other, |a, b| unsafe { _mm256_cmpeq_epi16(a, b) });
        // SAFETY: by contract.
        unsafe { Quad::and(equal, within) }
    }

    #[inline(always)]
    unsafe fn less(self, other: Quad, within: Quad) -> Quad {
        // SAFETY: by contract.
        let not_less = self.with(other, |a, b| unsafe {
            _mm256_cmpeq_epi16(_mm256_max_epu16(a, b), a)
        });
        // SAFETY: by contract.
        unsafe { Quad::without(within, not_less) }
    }

    #[inline(always)]
    unsafe fn and(a: Quad, b: Quad) -> Quad {
        // SAFETY: by contract.
        a.with(b, |a, b| unsafe { _mm256_and_si256(a, b) })
    }

    #[inline(always)]
    unsafe fn or(a: Quad, b: Quad) -> Quad {
        // SAFETY: by contract.
        a.with(b, |a, b| unsafe { _mm256_or_si256(a, b) })
    }

    #[inline(always)]
    unsafe fn without(a: Quad, b: Quad) -> Quad {
        // SAFETY: by contract.
        a.with(b, |a, b| unsafe { _mm256_andnot_si256(b, a) })
    }

    #[inline(always)]
    unsafe fn bits(mask: Quad) -> u64 {
        // Packing works within 128-bit halves; the permutation puts the quarters in order.
        // SAFETY: by contract.
        let narrow = |rows: Pair| unsafe {
            _mm256_permute4x64_epi64::<0b11_01_10_00>(_mm256_packs_epi16(rows.0, rows.1))
        };
        // SAFETY: by contract.
        unsafe { Pair::bits(Pair(narrow(mask.0), narrow(mask.1))) }
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
    unsafe { scan::scan::<Pair, true>(codes, rows, range, op, combine, out) }
}

/// See [`super::early_stop::between_reading_all`].
#[target_feature(enable = "avx2,bmi1,bmi2,lzcnt,popcnt")]
pub(super) fn between_reading_all(
    codes: Slices<'_>,
    rows: Range<usize>,
    range: CodeRange,
    op: RangeOp,
    combine: Combine,
    out: &mut [u64],
) {
    // SAFETY: this function has the features; the rows were checked.
    unsafe { scan::scan::<Pair, false>(codes, rows, range, op, combine, out) }
}

/// See [`super::slicing`]: slices of pairs of bytes.
#[target_feature(enable = "avx2,bmi1,bmi2,lzcnt,popcnt")]
pub(super) fn between_pairs(
    codes: Slices<'_>,
    rows: Range<usize>,
    range: CodeRange,
    op: RangeOp,
    combine: Combine,
    out: &mut [u64],
) {
    // SAFETY: this function has the features; the rows were checked.
    unsafe { scan::scan::<Quad, true>(codes, rows, range, op, combine, out) }
}

/// See [`super::slicing`]: a tail in planes.
#[target_feature(enable = "avx2,bmi1,bmi2,lzcnt,popcnt")]
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
    unsafe { scan::scan_with_tail::<Pair>(codes, tail, rows, bounds, op, combine, out) }
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
