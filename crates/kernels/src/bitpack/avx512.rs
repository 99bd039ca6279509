//! Bit-packed codes on 512-bit vectors, a vector of the format in one register; codes in two words are
//! joined by the funnel shifts of VBMI2.

use super::groups::{self, GROUP_WORDS, Group, Kernels, Lanes, Test};
use super::rows::{self, by_lane, instantiate, kernels};
use super::wide;
use crate::compare::avx512::Lanes as _;
use crate::{CodeWord, Combine, Isa, Packed, RangeOp, Selection};
use std::arch::x86_64::*;
use std::ops::Range;

/// AVX-512 with VBMI2.
pub struct Avx512;

instantiate!(
    Avx512,
    Isa::Avx512,
    "avx512vbmi,avx512vbmi2,avx512dq,avx512vl,bmi1,bmi2,lzcnt,popcnt",
    Bytes,
    Pairs,
    Quads,
    u64::inside
);

/// 64 lanes of 8 bits.
#[derive(Clone, Copy)]
struct Bytes(__m512i);
/// 32 lanes of 16 bits.
#[derive(Clone, Copy)]
struct Pairs(__m512i);
/// 16 lanes of 32 bits.
#[derive(Clone, Copy)]
struct Quads(__m512i);

/// What lanes of all widths do alike.
macro_rules! whole_registers {
    ($word:ty, $signed:ty, $splat:ident) => {
        type Word = $word;
        const BITS: u32 = <$word>::BITS;
        const BYTES: usize = 64;

        #[inline(always)]
        unsafe fn load(from: *const u8) -> Self {
            // SAFETY: by contract.
            Self(unsafe { _mm512_loadu_si512(from.cast()) })
        }
        #[inline(always)]
        unsafe fn store(self, to: *mut u8) {
            // SAFETY: by contract.
            unsafe { _mm512_storeu_si512(to.cast(), self.0) }
        }
        #[inline(always)]
        unsafe fn splat(word: u64) -> Self {
            // SAFETY: by contract.
            Self(unsafe { $splat(word as $signed) })
        }
        #[inline(always)]
        unsafe fn and(self, other: Self) -> Self {
            // SAFETY: by contract.
            Self(unsafe { _mm512_and_si512(self.0, other.0) })
        }
        #[inline(always)]
        unsafe fn or(self, other: Self) -> Self {
            // SAFETY: by contract.
            Self(unsafe { _mm512_or_si512(self.0, other.0) })
        }
    };
}

/// Shifts by a count that is a constant once inlined.
macro_rules! shifts {
    ($left:ident, $right:ident) => {
        #[inline(always)]
        unsafe fn left(self, count: u32) -> Self {
            // SAFETY: by contract.
            Self(unsafe { $left(self.0, _mm_cvtsi32_si128(count as i32)) })
        }
        #[inline(always)]
        unsafe fn right(self, count: u32) -> Self {
            // SAFETY: by contract.
            Self(unsafe { $right(self.0, _mm_cvtsi32_si128(count as i32)) })
        }
    };
}

/// Match bits of 64 lanes in vectors of `$lanes`.
macro_rules! inside {
    ($lanes:literal, $minus:ident, $compare:ident, $($i:literal)*) => {
        #[inline(always)]
        unsafe fn inside<const BITS: u32>(group: Group<BITS>, first: usize, low: Self, span: Self) -> u64 {
            // SAFETY: by contract.
            unsafe {
                0 $(| u64::from($compare($minus(group.tops::<Self>(first + $i).0, low.0), span.0)) << ($i * $lanes))*
            }
        }
    };
}

impl Lanes for Bytes {
    whole_registers!(u8, i8, _mm512_set1_epi8);

    #[inline(always)]
    unsafe fn store_as_32(self, to: *mut u8) {
        // SAFETY: by contract.
        unsafe {
            let quarter = |quarter: __m128i, i: usize| {
                _mm512_storeu_si512(to.wrapping_add(i * 64).cast(), _mm512_cvtepu8_epi32(quarter));
            };
            quarter(_mm512_castsi512_si128(self.0), 0);
            quarter(_mm512_extracti32x4_epi32::<1>(self.0), 1);
            quarter(_mm512_extracti32x4_epi32::<2>(self.0), 2);
            quarter(_mm512_extracti32x4_epi32::<3>(self.0), 3);
        }
    }
    shifts!(_mm512_sll_epi16, _mm512_srl_epi16);

    #[inline(always)]
    unsafe fn join(low: Self, high: Self, count: u32) -> Self {
        // SAFETY: by contract.
        unsafe {
            let of_low = Self::splat(0xff >> count);
            // Where the mask has a bit, that of `low`, else that of `high`.
            let (low, high) = (low.right(count), high.left(8 - count));
            Self(_mm512_ternarylogic_epi32::<0xca>(of_low.0, low.0, high.0))
        }
    }
    inside!(64, _mm512_sub_epi8, _mm512_cmple_epu8_mask, 0);
}

impl Lanes for Pairs {
    whole_registers!(u16, i16, _mm512_set1_epi16);

    #[inline(always)]
    unsafe fn store_as_32(self, to: *mut u8) {
        // SAFETY: by contract.
        unsafe {
            let lower = _mm512_cvtepu16_epi32(_mm512_castsi512_si256(self.0));
            let upper = _mm512_cvtepu16_epi32(_mm512_extracti64x4_epi64::<1>(self.0));
            _mm512_storeu_si512(to.cast(), lower);
            _mm512_storeu_si512(to.wrapping_add(64).cast(), upper);
        }
    }
    shifts!(_mm512_sll_epi16, _mm512_srl_epi16);

    #[inline(always)]
    unsafe fn join(low: Self, high: Self, count: u32) -> Self {
        // SAFETY: by contract.
        Self(unsafe { _mm512_shrdv_epi16(low.0, high.0, _mm512_set1_epi16(count as i16)) })
    }
    inside!(32, _mm512_sub_epi16, _mm512_cmple_epu16_mask, 0 1);
}

impl Lanes for Quads {
    whole_registers!(u32, i32, _mm512_set1_epi32);

    #[inline(always)]
    unsafe fn store_as_32(self, to: *mut u8) {
        // SAFETY: by contract.
        unsafe { self.store(to) }
    }
    shifts!(_mm512_sll_epi32, _mm512_srl_epi32);

    #[inline(always)]
    unsafe fn join(low: Self, high: Self, count: u32) -> Self {
        // SAFETY: by contract.
        Self(unsafe { _mm512_shrdv_epi32(low.0, high.0, _mm512_set1_epi32(count as i32)) })
    }
    inside!(16, _mm512_sub_epi32, _mm512_cmple_epu32_mask, 0 1 2 3);
}
