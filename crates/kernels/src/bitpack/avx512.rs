//! Bit-packed codes on 512-bit vectors, a vector of the format in one register; codes in two words are
//! joined by the funnel shifts of VBMI2.

use super::FRAME;
use super::groups::{
    self, GROUP_WORDS, Group, Kernels, Lanes, LongLanes, Shuffle, Test, UnpackFrames, unroll,
};
use super::instantiate::{frame_kernels, instantiate, kernels};
use super::place::{FRAMES, GROUP, eight_rows_a_lane, group_bytes};
use super::rows::{self, by_lane};
use super::tables::{self, Tables};
use super::wide;
use crate::compare::avx512::Lanes as _;
use crate::compare::words::{INSIDE, write_word};
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
    u64::inside::<INSIDE>
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

/// Match words by 64 rows, in vectors of `$lanes`.
macro_rules! between_by_words {
    ($lanes:literal, $minus:ident, $compare:ident, $($i:literal)*) => {
        #[inline(always)]
        unsafe fn between<const BITS: u32>(
            group: Group<BITS>,
            low: Self,
            span: Self,
            flip: u64,
            words: &mut [u64; GROUP_WORDS],
        ) {
            // SAFETY: by contract.
            unsafe {
                unroll!(w < GROUP_WORDS => {
                    let first = w * 64 / $lanes;
                    let inside = 0 $(| u64::from(
                        $compare($minus(Self::tops(group, first + $i).0, low.0), span.0)
                    ) << ($i * $lanes))*;
                    write_word(&mut words[w], inside ^ flip)
                });
            }
        }
    };
}

/// What lanes do alike that go on in the next vector of the format.
macro_rules! long_lanes {
    () => {
        #[inline(always)]
        unsafe fn tops<const BITS: u32>(group: Group<BITS>, v: usize) -> Self {
            // SAFETY: by contract.
            unsafe { group.tops(v) }
        }
        #[inline(always)]
        unsafe fn pack<const BITS: u32>(from: *const u8, to: *mut u8) {
            // SAFETY: by contract.
            unsafe { groups::pack_long::<Self, BITS>(from, to) }
        }
    };
}

impl Bytes {
    /// The codes of the group's rows: 16 bytes of rows in each quarter, those of row 16 `i` on in the first, those
    /// of rows 128, 256 and 384 + 16 `i` on in the others.
    #[inline(always)]
    unsafe fn by_rows<const BITS: u32>(group: Group<BITS>) -> [__m512i; 8] {
        // SAFETY: by contract of `Lanes::unpack`.
        unsafe {
            let mut codes = [_mm512_setzero_si512(); 8];
            unroll!(v < 8 => codes[v] = group.codes::<Self>(v).0);
            let [a, b, c, d, e, f, g, h] = codes;
            let twos = [
                (_mm512_unpacklo_epi8(a, b), _mm512_unpacklo_epi8(c, d)),
                (_mm512_unpacklo_epi8(e, f), _mm512_unpacklo_epi8(g, h)),
                (_mm512_unpackhi_epi8(a, b), _mm512_unpackhi_epi8(c, d)),
                (_mm512_unpackhi_epi8(e, f), _mm512_unpackhi_epi8(g, h)),
            ];
            let mut rows = [_mm512_setzero_si512(); 8];
            for i in 0..2 {
                let ((a, b), (c, d)) = (twos[2 * i], twos[2 * i + 1]);
                let (low, high) = (_mm512_unpacklo_epi16(a, b), _mm512_unpacklo_epi16(c, d));
                rows[4 * i] = _mm512_unpacklo_epi32(low, high);
                rows[4 * i + 1] = _mm512_unpackhi_epi32(low, high);
                let (low, high) = (_mm512_unpackhi_epi16(a, b), _mm512_unpackhi_epi16(c, d));
                rows[4 * i + 2] = _mm512_unpacklo_epi32(low, high);
                rows[4 * i + 3] = _mm512_unpackhi_epi32(low, high);
            }
            rows
        }
    }
}

/// The quarters of a register.
///
/// # Safety
/// The machine has AVX-512.
#[inline(always)]
unsafe fn quarters(register: __m512i) -> [__m128i; 4] {
    // SAFETY: by contract.
    unsafe {
        [
            _mm512_castsi512_si128(register),
            _mm512_extracti32x4_epi32::<1>(register),
            _mm512_extracti32x4_epi32::<2>(register),
            _mm512_extracti32x4_epi32::<3>(register),
        ]
    }
}

/// What is added to the codes of a group as words of 32 bits.
///
/// # Safety
/// The machine has AVX-512.
trait Base: Copy {
    /// Words of rows of a frame of the group.
    unsafe fn plus(self, words: __m512i, frame: usize) -> __m512i;
}

/// Nothing.
#[derive(Clone, Copy)]
struct Zero;

impl Base for Zero {
    #[inline(always)]
    unsafe fn plus(self, words: __m512i, _: usize) -> __m512i {
        words
    }
}

/// The reference of each frame, in all lanes.
#[derive(Clone, Copy)]
struct References([__m512i; FRAMES]);

impl References {
    #[inline(always)]
    unsafe fn of(references: &[u32; FRAMES]) -> References {
        let [a, b, c, d] = *references;
        // SAFETY: by contract.
        References(unsafe {
            [
                Quads::splat(a.into()).0,
                Quads::splat(b.into()).0,
                Quads::splat(c.into()).0,
                Quads::splat(d.into()).0,
            ]
        })
    }
}

impl Base for References {
    #[inline(always)]
    unsafe fn plus(self, words: __m512i, frame: usize) -> __m512i {
        // SAFETY: by contract.
        unsafe { _mm512_add_epi32(words, self.0[frame]) }
    }
}

impl Bytes {
    /// Writes the codes of a group, row by row, as words of 32 bits.
    ///
    /// # Safety
    /// As [`Lanes::unpack_to_32`].
    #[inline(always)]
    unsafe fn write_32<const BITS: u32>(group: Group<BITS>, to: *mut u8, base: impl Base) {
        // SAFETY: by contract.
        unsafe {
            if !eight_rows_a_lane(BITS) {
                unroll!(v < 8 => {
                    for (quarter, codes) in quarters(group.codes::<Self>(v).0).into_iter().enumerate() {
                        let to = to.wrapping_add((v * 4 + quarter) * 64);
                        _mm512_storeu_si512(to.cast(), base.plus(_mm512_cvtepu8_epi32(codes), v / 2));
                    }
                });
                return;
            }
            for (i, rows) in Self::by_rows(group).into_iter().enumerate() {
                for (quarter, rows) in quarters(rows).into_iter().enumerate() {
                    let to = to.wrapping_add((quarter * FRAME + i * 16) * 4);
                    _mm512_storeu_si512(to.cast(), base.plus(_mm512_cvtepu8_epi32(rows), quarter));
                }
            }
        }
    }
}

impl Pairs {
    /// Writes the codes of a group, row by row, as words of 32 bits.
    ///
    /// # Safety
    /// As [`Lanes::unpack_to_32`].
    #[inline(always)]
    unsafe fn write_32<const BITS: u32>(group: Group<BITS>, to: *mut u8, base: impl Base) {
        // SAFETY: by contract.
        unsafe {
            unroll!(v < 16 => {
                let codes = group.codes::<Self>(v).0;
                let lower = _mm512_cvtepu16_epi32(_mm512_castsi512_si256(codes));
                let upper = _mm512_cvtepu16_epi32(_mm512_extracti64x4_epi64::<1>(codes));
                _mm512_storeu_si512(to.wrapping_add(v * 128).cast(), base.plus(lower, v / 4));
                _mm512_storeu_si512(to.wrapping_add(v * 128 + 64).cast(), base.plus(upper, v / 4));
            });
        }
    }
}

/// Bytes a vector is loaded from.
#[repr(align(64))]
struct Aligned([u8; 64]);

impl Quads {
    /// Sixteen codes in the 64 bytes from the first on, or before the end of the last.
    const fn shuffle<const BITS: u32>(is_last: bool) -> Shuffle<16, 64> {
        Shuffle::new(BITS, [if is_last { 2 * BITS as i32 - 64 } else { 0 }])
    }

    /// Bytes before those of a shuffle, to be funnelled in. (There is no zero among the bytes of this machine's shuffle; what
    /// comes in for [`Shuffle::NONE`] lies below the code.)
    const fn before(high: [u8; 64]) -> [u8; 64] {
        let mut before = high;
        let mut i = 0;
        while i < 64 {
            before[i] = high[i].wrapping_sub(4) % 64;
            i += 1;
        }
        before
    }
}

impl Lanes for Bytes {
    whole_registers!(u8, i8, _mm512_set1_epi8);
    shifts!(_mm512_sll_epi16, _mm512_srl_epi16);
    long_lanes!();
    between_by_words!(64, _mm512_sub_epi8, _mm512_cmple_epu8_mask, 0);

    #[inline(always)]
    unsafe fn unpack<const BITS: u32>(group: Group<BITS>, to: *mut u8) {
        // SAFETY: by contract.
        unsafe {
            if !eight_rows_a_lane(BITS) {
                return groups::unpack_long::<Self, BITS>(group, to);
            }
            for (i, rows) in Self::by_rows(group).into_iter().enumerate() {
                for (quarter, rows) in quarters(rows).into_iter().enumerate() {
                    _mm_storeu_si128(to.wrapping_add(quarter * 128 + i * 16).cast(), rows);
                }
            }
        }
    }

    #[inline(always)]
    unsafe fn unpack_to_32<const BITS: u32>(group: Group<BITS>, to: *mut u8) {
        // SAFETY: by contract.
        unsafe { Self::write_32(group, to, Zero) }
    }
}

impl LongLanes for Bytes {
    #[inline(always)]
    unsafe fn unpack_frames<const BITS: u32>(group: Group<BITS>, to: *mut u8, references: &[u32; FRAMES]) {
        // SAFETY: by contract.
        unsafe { Self::write_32(group, to, References::of(references)) }
    }

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
}

impl Tables for Bytes {
    #[inline(always)]
    unsafe fn table(bytes: &[u8; 16]) -> Self {
        // SAFETY: by contract.
        Self(unsafe { _mm512_broadcast_i32x4(_mm_loadu_si128(bytes.as_ptr().cast())) })
    }

    #[inline(always)]
    unsafe fn look_up(self, table: Self) -> Self {
        // SAFETY: by contract.
        Self(unsafe { _mm512_shuffle_epi8(table.0, self.0) })
    }
}

impl Lanes for Pairs {
    whole_registers!(u16, i16, _mm512_set1_epi16);
    shifts!(_mm512_sll_epi16, _mm512_srl_epi16);
    long_lanes!();
    between_by_words!(32, _mm512_sub_epi16, _mm512_cmple_epu16_mask, 0 1);

    #[inline(always)]
    unsafe fn unpack<const BITS: u32>(group: Group<BITS>, to: *mut u8) {
        // SAFETY: by contract.
        unsafe { groups::unpack_long::<Self, BITS>(group, to) }
    }

    #[inline(always)]
    unsafe fn unpack_to_32<const BITS: u32>(group: Group<BITS>, to: *mut u8) {
        // SAFETY: by contract.
        unsafe { Self::write_32(group, to, Zero) }
    }
}

impl LongLanes for Pairs {
    #[inline(always)]
    unsafe fn unpack_frames<const BITS: u32>(group: Group<BITS>, to: *mut u8, references: &[u32; FRAMES]) {
        // SAFETY: by contract.
        unsafe { Self::write_32(group, to, References::of(references)) }
    }

    #[inline(always)]
    unsafe fn join(low: Self, high: Self, count: u32) -> Self {
        // SAFETY: by contract.
        Self(unsafe { _mm512_shrdv_epi16(low.0, high.0, _mm512_set1_epi16(count as i16)) })
    }
}

impl Lanes for Quads {
    whole_registers!(u32, i32, _mm512_set1_epi32);
    shifts!(_mm512_sll_epi32, _mm512_srl_epi32);
    between_by_words!(16, _mm512_sub_epi32, _mm512_cmple_epu32_mask, 0 1 2 3);

    #[inline(always)]
    unsafe fn tops<const BITS: u32>(group: Group<BITS>, v: usize) -> Self {
        let is_last = v == GROUP / 16 - 1;
        let shuffle = match is_last {
            true => const { &Self::shuffle::<BITS>(true) },
            false => const { &Self::shuffle::<BITS>(false) },
        };
        let from = group.0.wrapping_add(v * 2 * BITS as usize);
        // SAFETY: by contract: sixteen codes take twice `BITS` bytes, at least 34, and 64 before the end of the last ones or
        // behind the beginning of others are the group's.
        unsafe {
            if BITS == 32 {
                return Self::load(from);
            }
            let from = if is_last {
                from.wrapping_add(2 * BITS as usize).wrapping_sub(64)
            } else {
                from
            };
            let bytes = _mm512_loadu_si512(from.cast());
            let left = _mm512_load_si512(shuffle.left.as_ptr().cast());
            let order = _mm512_load_si512(shuffle.high.as_ptr().cast());
            let high = _mm512_permutexvar_epi8(order, bytes);
            if !shuffle.crosses {
                return Self(_mm512_sllv_epi32(high, left));
            }
            let before = match is_last {
                true => const { &Aligned(Self::before(Self::shuffle::<BITS>(true).high)) },
                false => const { &Aligned(Self::before(Self::shuffle::<BITS>(false).high)) },
            };
            let low = _mm512_permutexvar_epi8(_mm512_load_si512(before.0.as_ptr().cast()), bytes);
            Self(_mm512_shldv_epi32(high, low, left))
        }
    }

    #[inline(always)]
    unsafe fn unpack<const BITS: u32>(group: Group<BITS>, to: *mut u8) {
        // SAFETY: by contract.
        unsafe {
            unroll!(v < 32 => Self::tops(group, v).right(32 - BITS).store(to.wrapping_add(v * 64)));
        }
    }

    #[inline(always)]
    unsafe fn unpack_to_32<const BITS: u32>(group: Group<BITS>, to: *mut u8) {
        // SAFETY: by contract.
        unsafe { Self::unpack(group, to) }
    }

    #[inline(always)]
    unsafe fn pack<const BITS: u32>(from: *const u8, to: *mut u8) {
        // SAFETY: by contract.
        unsafe { groups::pack_in_a_row::<BITS>(from, to) }
    }
}
