//! Range and set tests on 256-bit vectors: a compare yields lanes of ones, gathered by movemask.

use super::words::{AT_MOST, EQUAL, Form, INSIDE, form, match_words};
use super::{Combine, DoubleRange, RangeOp};
use crate::CodeWord;
use std::arch::x86_64::*;

/// Words that are compared as unsigned lanes.
pub trait Lanes: CodeWord {
    /// Bit `i`: `values[i] - low <= span`; or what else `FORM` says (see [`super::words`]).
    ///
    /// # Safety
    /// The machine has AVX2.
    unsafe fn inside<const FORM: u8>(values: &[Self; 64], low: Self, span: Self) -> u64;
}

/// Lanes of up to 32 bits, for which there is an unsigned minimum.
trait NarrowLanes: CodeWord {
    /// The word in every lane.
    ///
    /// # Safety
    /// The machine has AVX2.
    unsafe fn splat(self) -> __m256i;

    /// Lanes of ones where `v - low <= span`, unsigned, as `min(v - low, span) == v - low`, or what else `FORM` says,
    /// for vector `i` of the values.
    ///
    /// # Safety
    /// `i` lies within the values; the machine has AVX2.
    unsafe fn test<const FORM: u8>(values: &[Self; 64], i: usize, low: __m256i, span: __m256i) -> __m256i;
}

macro_rules! narrow_lanes {
    ($($word:ty, $signed:ty, $splat:ident, $minus:ident, $minimum:ident, $equal:ident, $bits:ident;)*) => {
        $(
            impl NarrowLanes for $word {
                #[inline(always)]
                unsafe fn splat(self) -> __m256i {
                    // SAFETY: by contract.
                    unsafe { $splat(self as $signed) }
                }

                #[inline(always)]
                unsafe fn test<const FORM: u8>(
                    values: &[$word; 64],
                    i: usize,
                    low: __m256i,
                    span: __m256i,
                ) -> __m256i {
                    // SAFETY: by contract.
                    unsafe {
                        let v = _mm256_loadu_si256(values.as_ptr().cast::<__m256i>().add(i));
                        match FORM {
                            EQUAL => $equal(v, span),
                            AT_MOST => $equal($minimum(v, span), v),
                            _ => {
                                let v = $minus(v, low);
                                $equal($minimum(v, span), v)
                            }
                        }
                    }
                }
            }

            impl Lanes for $word {
                #[inline(always)]
                unsafe fn inside<const FORM: u8>(values: &[$word; 64], low: $word, span: $word) -> u64 {
                    // SAFETY: by contract.
                    unsafe { $bits::<FORM>(values, low.splat(), span.splat()) }
                }
            }
        )*
    };
}

narrow_lanes! {
    u8, i8, _mm256_set1_epi8, _mm256_sub_epi8, _mm256_min_epu8, _mm256_cmpeq_epi8, bits_of_bytes;
    u16, i16, _mm256_set1_epi16, _mm256_sub_epi16, _mm256_min_epu16, _mm256_cmpeq_epi16, bits_of_pairs;
    u32, i32, _mm256_set1_epi32, _mm256_sub_epi32, _mm256_min_epu32, _mm256_cmpeq_epi32, bits_of_quads;
}

/// Bits of two vectors of byte lanes.
///
/// # Safety
/// The machine has AVX2.
#[inline(always)]
unsafe fn bits_of_bytes<const FORM: u8>(values: &[u8; 64], low: __m256i, span: __m256i) -> u64 {
    // SAFETY: by contract.
    unsafe {
        let lower = _mm256_movemask_epi8(u8::test::<FORM>(values, 0, low, span)) as u32;
        let upper = _mm256_movemask_epi8(u8::test::<FORM>(values, 1, low, span)) as u32;
        u64::from(lower) | u64::from(upper) << 32
    }
}

/// Bits of four vectors of 16-bit lanes: narrowed to bytes first.
///
/// # Safety
/// The machine has AVX2.
#[inline(always)]
unsafe fn bits_of_pairs<const FORM: u8>(values: &[u16; 64], low: __m256i, span: __m256i) -> u64 {
    let mut bits = 0;
    for i in 0..2 {
        // SAFETY: by contract.
        unsafe {
            let lower = u16::test::<FORM>(values, i * 2, low, span);
            let upper = u16::test::<FORM>(values, i * 2 + 1, low, span);
            // Packing works within 128-bit halves; the permutation puts the quarters in order.
            let bytes = _mm256_permute4x64_epi64::<0b11_01_10_00>(_mm256_packs_epi16(lower, upper));
            bits |= u64::from(_mm256_movemask_epi8(bytes) as u32) << (i * 32);
        }
    }
    bits
}

/// Bits of eight vectors of 32-bit lanes.
///
/// # Safety
/// The machine has AVX2.
#[inline(always)]
unsafe fn bits_of_quads<const FORM: u8>(values: &[u32; 64], low: __m256i, span: __m256i) -> u64 {
    let mut bits = 0;
    for i in 0..8 {
        // SAFETY: by contract.
        let lanes =
            unsafe { _mm256_movemask_ps(_mm256_castsi256_ps(u32::test::<FORM>(values, i, low, span))) };
        bits |= u64::from(lanes as u32) << (i * 8);
    }
    bits
}

impl Lanes for u64 {
    #[inline(always)]
    unsafe fn inside<const FORM: u8>(values: &[u64; 64], low: u64, span: u64) -> u64 {
        // SAFETY: the loads stay within the 64 values; AVX2 is there by contract.
        unsafe {
            if FORM == EQUAL {
                let wanted = _mm256_set1_epi64x(span as i64);
                let mut bits = 0;
                for i in 0..16 {
                    let v = _mm256_loadu_si256(values.as_ptr().add(i * 4).cast());
                    let equal = _mm256_castsi256_pd(_mm256_cmpeq_epi64(v, wanted));
                    bits |= (_mm256_movemask_pd(equal) as u64) << (i * 4);
                }
                return bits;
            }
            // There is only a signed compare: flipping the top bits makes it an unsigned one, and
            // subtracting `low` with its top bit flipped does so for free.
            let low = _mm256_set1_epi64x((low ^ 1 << 63) as i64);
            let span = _mm256_set1_epi64x((span ^ 1 << 63) as i64);
            let mut beyond = 0;
            for i in 0..16 {
                let v = _mm256_loadu_si256(values.as_ptr().add(i * 4).cast());
                let greater = _mm256_cmpgt_epi64(_mm256_sub_epi64(v, low), span);
                let bits = _mm256_movemask_pd(_mm256_castsi256_pd(greater)) as u64;
                beyond |= bits << (i * 4);
            }
            !beyond
        }
    }
}

/// See [`super::between`] and [`super::RangeTest`].
#[target_feature(enable = "avx2,bmi1,bmi2,lzcnt,popcnt")]
pub fn inside<W: Lanes>(values: &[W], low: W, span: W, op: RangeOp, combine: Combine, out: &mut [u64]) {
    // SAFETY: this function has the features.
    let test = |group: &[W; 64]| unsafe { W::inside::<INSIDE>(group, low, span) };
    // SAFETY: this function has the features.
    let at_most = |most| move |group: &[W; 64]| unsafe { W::inside::<AT_MOST>(group, W::default(), most) };
    // SAFETY: this function has the features.
    let equal = |wanted| move |group: &[W; 64]| unsafe { W::inside::<EQUAL>(group, W::default(), wanted) };
    match form(low, span) {
        Form::AtMost(most) => match_words(values, at_most(most), op.flip(), combine, out),
        Form::MoreThan(most) => match_words(values, at_most(most), !op.flip(), combine, out),
        Form::Equal(wanted) => match_words(values, equal(wanted), op.flip(), combine, out),
        Form::Inside => match_words(values, test, op.flip(), combine, out),
    }
}

/// See [`super::between`] and [`DoubleRange`].
#[target_feature(enable = "avx2,bmi1,bmi2,lzcnt,popcnt")]
pub fn inside_double(values: &[f64], range: DoubleRange, op: RangeOp, combine: Combine, out: &mut [u64]) {
    let (low, high) = (_mm256_set1_pd(range.low), _mm256_set1_pd(range.high));
    let nan = _mm256_castsi256_pd(_mm256_set1_epi64x(if range.nan { -1 } else { 0 }));
    let test = |group: &[f64; 64]| {
        let mut bits = 0;
        for i in 0..16 {
            // SAFETY: within the 64 values.
            let v = unsafe { _mm256_loadu_pd(group.as_ptr().add(i * 4)) };
            let from = _mm256_cmp_pd::<_CMP_GE_OQ>(v, low);
            let to = _mm256_cmp_pd::<_CMP_LE_OQ>(v, high);
            let is_nan = _mm256_and_pd(_mm256_cmp_pd::<_CMP_UNORD_Q>(v, v), nan);
            let inside = _mm256_or_pd(_mm256_and_pd(from, to), is_nan);
            bits |= (_mm256_movemask_pd(inside) as u64) << (i * 4);
        }
        bits
    };
    match_words(values, test, op.flip(), combine, out);
}

/// Set tests of byte codes: the whole bitmap lies in two registers.
#[target_feature(enable = "avx2,bmi1,bmi2,lzcnt,popcnt")]
pub fn in_set_of_bytes(codes: &[u8], set: &[u64], combine: Combine, out: &mut [u64]) {
    let word = |i: usize| set.get(i).copied().unwrap_or(0) as i64;
    let lower = _mm256_setr_epi64x(word(0), word(1), word(0), word(1));
    let upper = _mm256_setr_epi64x(word(2), word(3), word(2), word(3));
    let bit_of = _mm256_set1_epi64x(0x8040_2010_0804_0201u64 as i64);
    let half = |codes: *const u8| {
        // SAFETY: the caller gives 32 readable bytes.
        let code = unsafe { _mm256_loadu_si256(codes.cast()) };
        let index = _mm256_and_si256(_mm256_srli_epi16::<3>(code), _mm256_set1_epi8(15));
        // Bit 7 of a code tells which half of the bitmap it looks into.
        let byte = _mm256_blendv_epi8(
            _mm256_shuffle_epi8(lower, index),
            _mm256_shuffle_epi8(upper, index),
            code,
        );
        let bit = _mm256_shuffle_epi8(bit_of, _mm256_and_si256(code, _mm256_set1_epi8(7)));
        let found = _mm256_cmpeq_epi8(_mm256_and_si256(byte, bit), bit);
        u64::from(_mm256_movemask_epi8(found) as u32)
    };
    let test = |group: &[u8; 64]| half(group.as_ptr()) | half(group[32..].as_ptr()) << 32;
    match_words(codes, test, 0, combine, out);
}

/// Codes whose bitmap is gathered from by 32-bit words.
pub trait SetCode: CodeWord {
    /// Eight codes from `from`, widened.
    ///
    /// # Safety
    /// Eight codes are readable; the machine has AVX2.
    unsafe fn load(from: *const Self) -> __m256i;
}

impl SetCode for u16 {
    #[inline(always)]
    unsafe fn load(from: *const u16) -> __m256i {
        // SAFETY: by contract.
        unsafe { _mm256_cvtepu16_epi32(_mm_loadu_si128(from.cast())) }
    }
}

impl SetCode for u32 {
    #[inline(always)]
    unsafe fn load(from: *const u32) -> __m256i {
        // SAFETY: by contract.
        unsafe { _mm256_loadu_si256(from.cast()) }
    }
}

/// See [`super::in_set`].
#[target_feature(enable = "avx2,bmi1,bmi2,lzcnt,popcnt")]
pub fn in_set<C: SetCode>(codes: &[C], set: &[u64], combine: Combine, out: &mut [u64]) {
    // 2^27 words of 32 bits hold every 32-bit code; indexes below are no greater than that.
    let words = _mm256_set1_epi32((set.len() * 2).min(1 << 27) as i32);
    let test = |group: &[C; 64]| {
        let mut bits = 0;
        for i in 0..8 {
            // SAFETY: within the 64 codes.
            let code = unsafe { C::load(group.as_ptr().add(i * 8)) };
            let index = _mm256_srli_epi32::<5>(code);
            let known = _mm256_cmpgt_epi32(words, index);
            // SAFETY: only lanes whose index lies within the bitmap are read.
            let word = unsafe {
                _mm256_mask_i32gather_epi32::<4>(_mm256_setzero_si256(), set.as_ptr().cast(), index, known)
            };
            let bit = _mm256_sllv_epi32(
                _mm256_set1_epi32(1),
                _mm256_and_si256(code, _mm256_set1_epi32(31)),
            );
            let found = _mm256_cmpeq_epi32(_mm256_and_si256(word, bit), bit);
            bits |= u64::from(_mm256_movemask_ps(_mm256_castsi256_ps(found)) as u32) << (i * 8);
        }
        bits
    };
    match_words(codes, test, 0, combine, out);
}
