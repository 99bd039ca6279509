//! Bit-packed codes on 512-bit vectors, a vector of the format in one register; codes in two words are
//! joined by the funnel shifts of VBMI2.

use super::groups::{self, GROUP_WORDS, Group, Kernels, Lanes, Test};
use super::place::lane_bits;
use super::rows::{self, by_lane, instantiate, kernels};
use super::sparse;
use super::wide;
use crate::compare::avx512::Lanes as _;
use crate::compare::words::INSIDE;
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
    u64::inside::<INSIDE>,
    deal_back
);

/// The bits of a vector of the format, bit `v` of each byte in word `v`: a matrix of 64 × 8 bits turned.
///
/// # Safety
/// 64 bytes are there, the machine has the unit.
#[inline(always)]
unsafe fn deal_back(group: *const u8) -> [u64; GROUP_WORDS] {
    /// Byte `j` of word `i` is byte `i` of word `j`.
    const TURNED: [u8; 64] = {
        let mut order = [0; 64];
        let mut i = 0;
        while i < 64 {
            order[i] = (i % 8 * 8 + i / 8) as u8;
            i += 1;
        }
        order
    };
    let mut words = [0; GROUP_WORDS];
    // SAFETY: by contract; all loads and the store are of 64 bytes.
    unsafe {
        let mut turned = _mm512_loadu_si512(group.cast());
        // Each word is a matrix of 8 × 8 bits, turned by swapping across its diagonal bits, then pairs of
        // them, then fours.
        macro_rules! swap {
            ($distance:literal, $mask:literal) => {
                let mask = _mm512_set1_epi64($mask);
                let other = _mm512_srli_epi64::<$distance>(turned);
                let differ = _mm512_ternarylogic_epi64::<0x28>(turned, other, mask);
                let back = _mm512_slli_epi64::<$distance>(differ);
                turned = _mm512_ternarylogic_epi64::<0x96>(turned, differ, back);
            };
        }
        swap!(7, 0x00AA_00AA_00AA_00AA);
        swap!(14, 0x0000_CCCC_0000_CCCC);
        swap!(28, 0x0000_0000_F0F0_F0F0);
        let turned = _mm512_permutexvar_epi8(_mm512_loadu_si512(TURNED.as_ptr().cast()), turned);
        _mm512_storeu_si512(words.as_mut_ptr().cast(), turned);
    }
    words
}

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
