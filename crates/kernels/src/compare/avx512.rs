//! Range and set tests on 512-bit vectors: a compare yields the match bits directly.

use super::words::{AT_MOST, EQUAL, Form, INSIDE, form, match_words};
use super::{Combine, DoubleRange, RangeOp};
use crate::CodeWord;
use std::arch::x86_64::*;

/// Words that are compared as unsigned lanes.
pub trait Lanes: CodeWord {
    /// Bit `i`: `values[i] - low <= span`; or what else `FORM` says (see [`super::words`]).
    ///
    /// # Safety
    /// The machine has AVX-512 F and BW.
    unsafe fn inside<const FORM: u8>(values: &[Self; 64], low: Self, span: Self) -> u64;
}

macro_rules! lanes {
    ($($word:ty, $signed:ty, $lanes:literal, $splat:ident, $minus:ident, $at_most:ident, $equal:ident;)*) => {
        $(
            impl Lanes for $word {
                #[inline(always)]
                unsafe fn inside<const FORM: u8>(values: &[$word; 64], low: $word, span: $word) -> u64 {
                    // SAFETY: the loads stay within the 64 values; the features are there by contract.
                    unsafe {
                        let low = $splat(low as $signed);
                        let span = $splat(span as $signed);
                        let mut bits = 0;
                        for i in 0..64 / $lanes {
                            let v = _mm512_loadu_si512(values.as_ptr().add(i * $lanes).cast());
                            let mask = match FORM {
                                EQUAL => $equal(v, span),
                                AT_MOST => $at_most(v, span),
                                _ => $at_most($minus(v, low), span),
                            };
                            bits |= u64::from(mask) << (i * $lanes % 64);
                        }
                        bits
                    }
                }
            }
        )*
    };
}

lanes! {
    u8, i8, 64, _mm512_set1_epi8, _mm512_sub_epi8, _mm512_cmple_epu8_mask, _mm512_cmpeq_epu8_mask;
    u16, i16, 32, _mm512_set1_epi16, _mm512_sub_epi16, _mm512_cmple_epu16_mask, _mm512_cmpeq_epu16_mask;
    u32, i32, 16, _mm512_set1_epi32, _mm512_sub_epi32, _mm512_cmple_epu32_mask, _mm512_cmpeq_epu32_mask;
    u64, i64, 8, _mm512_set1_epi64, _mm512_sub_epi64, _mm512_cmple_epu64_mask, _mm512_cmpeq_epu64_mask;
}

/// See [`super::between`] and [`super::RangeTest`].
#[target_feature(enable = "avx512vbmi,avx512vbmi2,avx512dq,avx512vl,bmi1,bmi2,lzcnt,popcnt")]
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
#[target_feature(enable = "avx512vbmi,avx512vbmi2,avx512dq,avx512vl,bmi1,bmi2,lzcnt,popcnt")]
pub fn inside_double(values: &[f64], range: DoubleRange, op: RangeOp, combine: Combine, out: &mut [u64]) {
    let (low, high) = (_mm512_set1_pd(range.low), _mm512_set1_pd(range.high));
    let nan = if range.nan { !0 } else { 0 };
    let test = |group: &[f64; 64]| {
        let mut bits = 0;
        for i in 0..8 {
            // SAFETY: within the 64 values.
            let v = unsafe { _mm512_loadu_pd(group.as_ptr().add(i * 8)) };
            let from = _mm512_cmp_pd_mask::<_CMP_GE_OQ>(v, low);
            let inside = _mm512_mask_cmp_pd_mask::<_CMP_LE_OQ>(from, v, high);
            bits |= u64::from(inside | (_mm512_cmp_pd_mask::<_CMP_UNORD_Q>(v, v) & nan)) << (i * 8);
        }
        bits
    };
    match_words(values, test, op.flip(), combine, out);
}

/// Set tests of byte codes: the whole bitmap lies in one register.
#[target_feature(enable = "avx512vbmi,avx512vbmi2,avx512dq,avx512vl,bmi1,bmi2,lzcnt,popcnt")]
pub fn in_set_of_bytes(codes: &[u8], set: &[u64], combine: Combine, out: &mut [u64]) {
    let mut bitmap = [0u64; 8];
    let words = set.len().min(4);
    bitmap[..words].copy_from_slice(&set[..words]);
    // SAFETY: eight words are 64 bytes.
    let bitmap = unsafe { _mm512_loadu_si512(bitmap.as_ptr().cast()) };
    let bit_of = _mm512_set1_epi64(0x8040_2010_0804_0201u64 as i64);
    let test = |group: &[u8; 64]| {
        // SAFETY: 64 bytes.
        let code = unsafe { _mm512_loadu_si512(group.as_ptr().cast()) };
        let index = _mm512_and_si512(_mm512_srli_epi16::<3>(code), _mm512_set1_epi8(31));
        let byte = _mm512_permutexvar_epi8(index, bitmap);
        let bit = _mm512_shuffle_epi8(bit_of, _mm512_and_si512(code, _mm512_set1_epi8(7)));
        _mm512_test_epi8_mask(byte, bit)
    };
    match_words(codes, test, 0, combine, out);
}

/// Codes whose bitmap is gathered from by 32-bit words.
pub trait SetCode: CodeWord {
    /// Sixteen codes from `from`, widened.
    ///
    /// # Safety
    /// Sixteen codes are readable; the machine has AVX-512 F.
    unsafe fn load(from: *const Self) -> __m512i;
}

impl SetCode for u16 {
    #[inline(always)]
    unsafe fn load(from: *const u16) -> __m512i {
        // SAFETY: by contract.
        unsafe { _mm512_cvtepu16_epi32(_mm256_loadu_si256(from.cast())) }
    }
}

impl SetCode for u32 {
    #[inline(always)]
    unsafe fn load(from: *const u32) -> __m512i {
        // SAFETY: by contract.
        unsafe { _mm512_loadu_si512(from.cast()) }
    }
}

/// See [`super::in_set`].
#[target_feature(enable = "avx512vbmi,avx512vbmi2,avx512dq,avx512vl,bmi1,bmi2,lzcnt,popcnt")]
pub fn in_set<C: SetCode>(codes: &[C], set: &[u64], combine: Combine, out: &mut [u64]) {
    // 2^27 words of 32 bits hold every 32-bit code.
    let words = _mm512_set1_epi32((set.len() * 2).min(1 << 27) as i32);
    let test = |group: &[C; 64]| {
        let mut bits = 0;
        for i in 0..4 {
            // SAFETY: within the 64 codes.
            let code = unsafe { C::load(group.as_ptr().add(i * 16)) };
            let index = _mm512_srli_epi32::<5>(code);
            let known = _mm512_cmplt_epu32_mask(index, words);
            // SAFETY: only lanes whose index lies within the bitmap are read.
            let word = unsafe {
                _mm512_mask_i32gather_epi32::<4>(_mm512_setzero_si512(), known, index, set.as_ptr().cast())
            };
            let bit = _mm512_sllv_epi32(
                _mm512_set1_epi32(1),
                _mm512_and_si512(code, _mm512_set1_epi32(31)),
            );
            bits |= u64::from(_mm512_test_epi32_mask(word, bit)) << (i * 16);
        }
        bits
    };
    match_words(codes, test, 0, combine, out);
}
