//! Bit-packed codes on 256-bit vectors, each a half of a vector of the format.

use super::groups::{self, GROUP_WORDS, Group, Kernels, Lanes, Test};
use super::place::lane_bits;
use super::rows::{self, by_lane, instantiate, kernels};
use super::sparse;
use super::wide;
use crate::compare::avx2::Lanes as _;
use crate::compare::words::INSIDE;
use crate::{CodeWord, Combine, Isa, Packed, RangeOp, Selection};
use std::arch::x86_64::*;
use std::ops::Range;

/// AVX2 with BMI.
pub struct Avx2;

instantiate!(
    Avx2,
    Isa::Avx2,
    "avx2,bmi1,bmi2,lzcnt,popcnt",
    Bytes,
    Pairs,
    Quads,
    u64::inside::<INSIDE>,
    deal_back
);

/// The bits of a vector of the format, bit `v` of each byte in word `v`.
///
/// Taking one bit of each byte takes two cycles. So each word is turned as a matrix of 8 × 8 bits, and then the words' bytes
/// are brought together: those of two words in a lane's pairs, then those of four lanes.
///
/// # Safety
/// 64 bytes are there, the machine has AVX2.
#[inline(always)]
unsafe fn deal_back(group: *const u8) -> [u64; GROUP_WORDS] {
    let mut words = [0; GROUP_WORDS];
    // SAFETY: by contract; `words` are 64 bytes.
    unsafe {
        let (first, second) = turned(group);
        let (third, fourth) = turned(group.add(32));
        let to = words.as_mut_ptr().cast::<__m128i>();
        let low = (
            _mm_unpacklo_epi16(first, second),
            _mm_unpacklo_epi16(third, fourth),
        );
        let high = (
            _mm_unpackhi_epi16(first, second),
            _mm_unpackhi_epi16(third, fourth),
        );
        _mm_storeu_si128(to, _mm_unpacklo_epi32(low.0, low.1));
        _mm_storeu_si128(to.add(1), _mm_unpackhi_epi32(low.0, low.1));
        _mm_storeu_si128(to.add(2), _mm_unpacklo_epi32(high.0, high.1));
        _mm_storeu_si128(to.add(3), _mm_unpackhi_epi32(high.0, high.1));
    }
    words
}

/// Four words, each turned as a matrix of 8 × 8 bits by swapping across its diagonal bits, then pairs of them, then fours;
/// bytes of the first two words in pairs, and of the other two. (A function and no closure: not every build inlines
/// closures, and vector instructions that are not inlined are calls.)
///
/// # Safety
/// 32 bytes are there, the machine has AVX2.
#[inline(always)]
unsafe fn turned(from: *const u8) -> (__m128i, __m128i) {
    // SAFETY: by contract.
    unsafe {
        let mut turned = _mm256_loadu_si256(from.cast());
        macro_rules! swap {
            ($distance:literal, $mask:literal) => {
                let differ = _mm256_xor_si256(turned, _mm256_srli_epi64::<$distance>(turned));
                let differ = _mm256_and_si256(differ, _mm256_set1_epi64x($mask));
                let both = _mm256_xor_si256(differ, _mm256_slli_epi64::<$distance>(differ));
                turned = _mm256_xor_si256(turned, both);
            };
        }
        swap!(7, 0x00AA_00AA_00AA_00AA);
        swap!(14, 0x0000_CCCC_0000_CCCC);
        swap!(28, 0x0000_0000_F0F0_F0F0);
        let pairs = _mm_setr_epi8(0, 8, 1, 9, 2, 10, 3, 11, 4, 12, 5, 13, 6, 14, 7, 15);
        let pairs = _mm256_shuffle_epi8(turned, _mm256_broadcastsi128_si256(pairs));
        (
            _mm256_castsi256_si128(pairs),
            _mm256_extracti128_si256::<1>(pairs),
        )
    }
}

/// 32 lanes of 8 bits.
#[derive(Clone, Copy)]
struct Bytes(__m256i);
/// 16 lanes of 16 bits.
#[derive(Clone, Copy)]
struct Pairs(__m256i);
/// 8 lanes of 32 bits.
#[derive(Clone, Copy)]
struct Quads(__m256i);

/// What lanes of all widths do alike. Shifts are by a count that is a constant once inlined.
macro_rules! whole_registers {
    ($word:ty, $signed:ty, $splat:ident, $left:ident, $right:ident) => {
        type Word = $word;
        const BITS: u32 = <$word>::BITS;
        const BYTES: usize = 32;

        #[inline(always)]
        unsafe fn load(from: *const u8) -> Self {
            // SAFETY: by contract.
            Self(unsafe { _mm256_loadu_si256(from.cast()) })
        }
        #[inline(always)]
        unsafe fn store(self, to: *mut u8) {
            // SAFETY: by contract.
            unsafe { _mm256_storeu_si256(to.cast(), self.0) }
        }
        #[inline(always)]
        unsafe fn splat(word: u64) -> Self {
            // SAFETY: by contract.
            Self(unsafe { $splat(word as $signed) })
        }
        #[inline(always)]
        unsafe fn and(self, other: Self) -> Self {
            // SAFETY: by contract.
            Self(unsafe { _mm256_and_si256(self.0, other.0) })
        }
        #[inline(always)]
        unsafe fn or(self, other: Self) -> Self {
            // SAFETY: by contract.
            Self(unsafe { _mm256_or_si256(self.0, other.0) })
        }
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

/// Lanes of ones where the codes are outside: `v - low > span`. The machine compares signed lanes, so
/// both sides have their top bit turned, one of them along with `low`.
macro_rules! outside {
    ($minus:ident, $greater:ident) => {
        #[inline(always)]
        unsafe fn outside<const BITS: u32>(group: Group<BITS>, v: usize, low: Self, span: Self) -> __m256i {
            // SAFETY: by contract of `Lanes::inside`.
            unsafe {
                let turn = Self::splat(1 << (<Self as Lanes>::BITS - 1)).0;
                let v = $minus(group.tops::<Self>(v).0, _mm256_xor_si256(low.0, turn));
                $greater(v, _mm256_xor_si256(span.0, turn))
            }
        }
    };
}

impl Bytes {
    outside!(_mm256_sub_epi8, _mm256_cmpgt_epi8);
}

impl Pairs {
    outside!(_mm256_sub_epi16, _mm256_cmpgt_epi16);
}

impl Quads {
    outside!(_mm256_sub_epi32, _mm256_cmpgt_epi32);
}

impl Lanes for Bytes {
    whole_registers!(u8, i8, _mm256_set1_epi8, _mm256_sll_epi16, _mm256_srl_epi16);

    #[inline(always)]
    unsafe fn store_as_32(self, to: *mut u8) {
        // SAFETY: by contract.
        unsafe {
            let half = |half: __m128i, i: usize| {
                let lower = _mm256_cvtepu8_epi32(half);
                let upper = _mm256_cvtepu8_epi32(_mm_srli_si128::<8>(half));
                _mm256_storeu_si256(to.wrapping_add(i * 64).cast(), lower);
                _mm256_storeu_si256(to.wrapping_add(i * 64 + 32).cast(), upper);
            };
            half(_mm256_castsi256_si128(self.0), 0);
            half(_mm256_extracti128_si256::<1>(self.0), 1);
        }
    }

    #[inline(always)]
    unsafe fn join(low: Self, high: Self, count: u32) -> Self {
        // SAFETY: by contract.
        unsafe {
            let low = low.right(count).and(Self::splat(0xff >> count));
            low.or(high.left(8 - count).and(Self::splat(0xff << (8 - count))))
        }
    }

    #[inline(always)]
    unsafe fn inside<const BITS: u32>(group: Group<BITS>, first: usize, low: Self, span: Self) -> u64 {
        // SAFETY: by contract.
        unsafe {
            let lower = _mm256_movemask_epi8(Self::outside(group, first, low, span)) as u32;
            let upper = _mm256_movemask_epi8(Self::outside(group, first + 1, low, span)) as u32;
            !(u64::from(lower) | u64::from(upper) << 32)
        }
    }
}

impl Lanes for Pairs {
    whole_registers!(u16, i16, _mm256_set1_epi16, _mm256_sll_epi16, _mm256_srl_epi16);

    #[inline(always)]
    unsafe fn store_as_32(self, to: *mut u8) {
        // SAFETY: by contract.
        unsafe {
            let lower = _mm256_cvtepu16_epi32(_mm256_castsi256_si128(self.0));
            let upper = _mm256_cvtepu16_epi32(_mm256_extracti128_si256::<1>(self.0));
            _mm256_storeu_si256(to.cast(), lower);
            _mm256_storeu_si256(to.wrapping_add(32).cast(), upper);
        }
    }

    #[inline(always)]
    unsafe fn join(low: Self, high: Self, count: u32) -> Self {
        // SAFETY: by contract.
        unsafe { low.right(count).or(high.left(16 - count)) }
    }

    #[inline(always)]
    unsafe fn inside<const BITS: u32>(group: Group<BITS>, first: usize, low: Self, span: Self) -> u64 {
        macro_rules! half {
            ($i:literal) => {{
                let lower = Self::outside(group, first + $i, low, span);
                let upper = Self::outside(group, first + $i + 1, low, span);
                // Packing works within 128-bit halves; the permutation puts the quarters in order.
                let bytes = _mm256_permute4x64_epi64::<0b11_01_10_00>(_mm256_packs_epi16(lower, upper));
                u64::from(_mm256_movemask_epi8(bytes) as u32)
            }};
        }
        // SAFETY: by contract.
        unsafe { !(half!(0) | half!(2) << 32) }
    }
}

impl Lanes for Quads {
    whole_registers!(u32, i32, _mm256_set1_epi32, _mm256_sll_epi32, _mm256_srl_epi32);

    #[inline(always)]
    unsafe fn store_as_32(self, to: *mut u8) {
        // SAFETY: by contract.
        unsafe { self.store(to) }
    }

    #[inline(always)]
    unsafe fn join(low: Self, high: Self, count: u32) -> Self {
        // SAFETY: by contract.
        unsafe { low.right(count).or(high.left(32 - count)) }
    }

    #[inline(always)]
    unsafe fn inside<const BITS: u32>(group: Group<BITS>, first: usize, low: Self, span: Self) -> u64 {
        macro_rules! pair {
            ($i:expr) => {
                _mm256_packs_epi32(
                    Self::outside(group, first + $i, low, span),
                    Self::outside(group, first + $i + 1, low, span),
                )
            };
        }
        macro_rules! half {
            ($i:literal) => {{
                // Both packings work within 128-bit halves; the permutation puts the eighths in order.
                let bytes = _mm256_packs_epi16(pair!($i), pair!($i + 2));
                let bytes = _mm256_permutevar8x32_epi32(bytes, _mm256_setr_epi32(0, 4, 1, 5, 2, 6, 3, 7));
                u64::from(_mm256_movemask_epi8(bytes) as u32)
            }};
        }
        // SAFETY: by contract.
        unsafe { !(half!(0) | half!(4) << 32) }
    }
}
