//! Bit-packed codes on 256-bit vectors, each a half of a vector of the format.

use super::FRAME;
use super::groups::{
    self, GROUP_WORDS, Group, Kernels, Lanes, LongLanes, Shuffle, Test, UnpackFrames, Windows, unroll,
};
use super::instantiate::{frame_kernels, instantiate, kernels};
use super::place::{FRAMES, GROUP, VECTOR, eight_rows_a_lane, fits_4_bytes};
use super::rows::{self, by_lane};
use super::tables::{self, Tables};
use super::wide;
use crate::compare::avx2::Lanes as _;
use crate::compare::words::{INSIDE, write_word};
use crate::packed::top;
use crate::prefetch::prefetch_read;
use crate::{CodeWord, Combine, Isa, Packed, RangeOp, Selection};
use std::arch::x86_64::*;
use std::ops::Range;

/// Vectors of codes above 16 bits that are unpacked at a time.
const PART: usize = 16;

/// Bytes from codes that are unpacked to those that are asked for.
const UNPACKED_AHEAD: usize = 512;

/// Asks for the bytes that are [`UNPACKED_AHEAD`] of a part.
#[inline(always)]
fn ask_for_part<const BITS: u32>(from: *const u8) {
    for line in (0..PART * BITS as usize).step_by(VECTOR) {
        prefetch_read(from.wrapping_add(UNPACKED_AHEAD + line));
    }
}

/// AVX2 with BMI.
pub struct Avx2;

instantiate!(
    Avx2,
    Isa::Avx2,
    "avx2,bmi1,bmi2,lzcnt,popcnt",
    Bytes,
    Pairs,
    Quads,
    u64::inside::<INSIDE>
);

/// The [`Shuffle`] or [`Windows`] of eight codes whose bytes are loaded from [`Quads::starts`] on.
macro_rules! for_starts {
    ($shuffle:ident, $width:ident, $starts:expr) => {{
        const fn of<const BITS: u32>(lower: i32, upper: i32) -> $shuffle<8, 32> {
            $shuffle::new(BITS, [lower, upper])
        }
        let bits = const { $width as i32 };
        let [lower, upper] = $starts;
        if upper - lower == 16 {
            const { &of::<$width>($width as i32 / 2 - 16, $width as i32 / 2) }
        } else {
            match (lower == 0, upper == bits - 16) {
                (true, true) => const { &of::<$width>(0, $width as i32 - 16) },
                (true, false) => const { &of::<$width>(0, $width as i32 / 2) },
                (false, true) => const { &of::<$width>($width as i32 / 2 - 15, $width as i32 - 16) },
                (false, false) => const { &of::<$width>($width as i32 / 2 - 15, $width as i32 / 2) },
            }
        }
    }};
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
            // SAFETY: by contract of `Lanes::between`.
            unsafe {
                let turn = Self::splat(1 << (<Self as Lanes>::BITS - 1)).0;
                let v = $minus(Self::tops(group, v).0, _mm256_xor_si256(low.0, turn));
                $greater(v, _mm256_xor_si256(span.0, turn))
            }
        }
    };
}

/// Match words by 64 rows, which are `$vectors` vectors.
macro_rules! between_by_words {
    ($vectors:literal) => {
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
                    write_word(&mut words[w], !Self::outside_64(group, w * $vectors, low, span) ^ flip)
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

        #[inline(always)]
        unsafe fn unpack_groups_to_32<const BITS: u32>(from: *const u8, to: *mut u8, groups: usize) {
            for i in 0..groups {
                let (group, to) = (Group::<BITS>::nth(from, i), to.wrapping_add(i * GROUP * 4));
                // SAFETY: by contract.
                unsafe { Self::write_32(group, to, Zero) }
            }
        }
    };
}

/// The same of frames.
macro_rules! frames_by_group {
    () => {
        #[inline(always)]
        unsafe fn unpack_groups_of_frames<const BITS: u32>(
            from: *const u8,
            to: *mut u8,
            references: &[[u32; FRAMES]],
        ) {
            for (i, references) in references.iter().enumerate() {
                let (group, to) = (Group::<BITS>::nth(from, i), to.wrapping_add(i * GROUP * 4));
                // SAFETY: by contract.
                unsafe { Self::write_32(group, to, References::of(references)) }
            }
        }
    };
}

impl Bytes {
    outside!(_mm256_sub_epi8, _mm256_cmpgt_epi8);

    /// Bit `i`: lane `i` of two vectors is outside.
    #[inline(always)]
    unsafe fn outside_64<const BITS: u32>(group: Group<BITS>, first: usize, low: Self, span: Self) -> u64 {
        // SAFETY: by contract of `Lanes::between`.
        unsafe {
            let lower = _mm256_movemask_epi8(Self::outside(group, first, low, span)) as u32;
            let upper = _mm256_movemask_epi8(Self::outside(group, first + 1, low, span)) as u32;
            u64::from(lower) | u64::from(upper) << 32
        }
    }

    /// The codes of 256 rows, of which each lane holds eight: 32 bytes of rows in each pair of halves, those of
    /// row 16 `i` on in the first halves, those of row 128 + 16 `i` on in the second.
    #[inline(always)]
    unsafe fn by_rows<const BITS: u32>(group: Group<BITS>, half: usize) -> [__m256i; 8] {
        // SAFETY: by contract of `Lanes::unpack`.
        unsafe {
            let mut codes = [_mm256_setzero_si256(); 8];
            let group = Group::<BITS>(group.0.wrapping_add(half * 32));
            unroll!(v < 8 => codes[v] = group.codes::<Self>(v * 2).0);
            let [a, b, c, d, e, f, g, h] = codes;
            let twos = [
                (_mm256_unpacklo_epi8(a, b), _mm256_unpacklo_epi8(c, d)),
                (_mm256_unpacklo_epi8(e, f), _mm256_unpacklo_epi8(g, h)),
                (_mm256_unpackhi_epi8(a, b), _mm256_unpackhi_epi8(c, d)),
                (_mm256_unpackhi_epi8(e, f), _mm256_unpackhi_epi8(g, h)),
            ];
            let mut rows = [_mm256_setzero_si256(); 8];
            for i in 0..2 {
                let ((a, b), (c, d)) = (twos[2 * i], twos[2 * i + 1]);
                let (low, high) = (_mm256_unpacklo_epi16(a, b), _mm256_unpacklo_epi16(c, d));
                rows[4 * i] = _mm256_unpacklo_epi32(low, high);
                rows[4 * i + 1] = _mm256_unpackhi_epi32(low, high);
                let (low, high) = (_mm256_unpackhi_epi16(a, b), _mm256_unpackhi_epi16(c, d));
                rows[4 * i + 2] = _mm256_unpacklo_epi32(low, high);
                rows[4 * i + 3] = _mm256_unpackhi_epi32(low, high);
            }
            rows
        }
    }
}

impl Bytes {
    /// Writes the codes of a group, row by row, as words of 32 bits.
    ///
    /// # Safety
    /// As [`Lanes::unpack_groups_to_32`], of one group.
    #[inline(always)]
    unsafe fn write_32<const BITS: u32>(group: Group<BITS>, to: *mut u8, base: impl Base) {
        // SAFETY: by contract.
        unsafe {
            if BITS == 4 {
                // Two codes in a byte: widening it once does for both.
                unroll!(frame < FRAMES => {
                    for lane in (0..VECTOR).step_by(8) {
                        let from = group.0.wrapping_add(frame * VECTOR + lane);
                        let both = _mm256_cvtepu8_epi32(_mm_loadl_epi64(from.cast()));
                        let first = base.plus(_mm256_and_si256(both, _mm256_set1_epi32(0xf)), frame);
                        let second = base.plus(_mm256_srli_epi32::<4>(both), frame);
                        let to = to.wrapping_add((frame * FRAME + lane) * 4);
                        _mm256_storeu_si256(to.cast(), first);
                        _mm256_storeu_si256(to.wrapping_add(VECTOR * 4).cast(), second);
                    }
                });
                return;
            }
            if !eight_rows_a_lane(BITS) {
                unroll!(v < 16 => {
                    let codes = group.codes::<Self>(v).0;
                    let (lower, upper) = (_mm256_castsi256_si128(codes), _mm256_extracti128_si256::<1>(codes));
                    store_16_as_32(lower, to.wrapping_add(v * 128), base, v / 4);
                    store_16_as_32(upper, to.wrapping_add(v * 128 + 64), base, v / 4);
                });
                return;
            }
            for half in 0..2 {
                let rows = Self::by_rows(group, half);
                for (i, rows) in rows.into_iter().enumerate() {
                    let to = to.wrapping_add((half * 256 + i * 16) * 4);
                    let (lower, upper) = (_mm256_castsi256_si128(rows), _mm256_extracti128_si256::<1>(rows));
                    store_16_as_32(lower, to, base, half * 2);
                    store_16_as_32(upper, to.wrapping_add(FRAME * 4), base, half * 2 + 1);
                }
            }
        }
    }
}

impl Pairs {
    /// Writes the codes of a group, row by row, as words of 32 bits. A lane's neighbours are put between zeros within
    /// 128 bits: crossing over takes a shuffle more, and two stores of 16 bytes no longer than one of 32.
    ///
    /// # Safety
    /// As [`Lanes::unpack_groups_to_32`], of one group.
    #[inline(always)]
    unsafe fn write_32<const BITS: u32>(group: Group<BITS>, to: *mut u8, base: impl Base) {
        // SAFETY: by contract.
        unsafe {
            unroll!(v < 32 => {
                let (codes, zero) = (group.codes::<Self>(v).0, _mm256_setzero_si256());
                let fours = [
                    base.plus(_mm256_unpacklo_epi16(codes, zero), v / 8),
                    base.plus(_mm256_unpackhi_epi16(codes, zero), v / 8),
                ];
                let to = to.wrapping_add(v * 64);
                for (i, fours) in fours.into_iter().enumerate() {
                    let to = to.wrapping_add(i * 16);
                    _mm_storeu_si128(to.cast(), _mm256_castsi256_si128(fours));
                    _mm_storeu_si128(to.wrapping_add(32).cast(), _mm256_extracti128_si256::<1>(fours));
                }
            });
        }
    }

    outside!(_mm256_sub_epi16, _mm256_cmpgt_epi16);

    /// Bit `i`: lane `i` of four vectors is outside.
    #[inline(always)]
    unsafe fn outside_64<const BITS: u32>(group: Group<BITS>, first: usize, low: Self, span: Self) -> u64 {
        macro_rules! half {
            ($i:literal) => {{
                let lower = Self::outside(group, first + $i, low, span);
                let upper = Self::outside(group, first + $i + 1, low, span);
                // Packing works within 128-bit halves; the permutation puts the quarters in order.
                let bytes = _mm256_permute4x64_epi64::<0b11_01_10_00>(_mm256_packs_epi16(lower, upper));
                u64::from(_mm256_movemask_epi8(bytes) as u32)
            }};
        }
        // SAFETY: by contract of `Lanes::between`.
        unsafe { half!(0) | half!(2) << 32 }
    }
}

impl Quads {
    outside!(_mm256_sub_epi32, _mm256_cmpgt_epi32);

    /// Bit `i`: lane `i` of eight vectors is outside.
    #[inline(always)]
    unsafe fn outside_64<const BITS: u32>(group: Group<BITS>, first: usize, low: Self, span: Self) -> u64 {
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
        // SAFETY: by contract of `Lanes::between`.
        unsafe { half!(0) | half!(4) << 32 }
    }

    /// Bytes, counted from those of eight codes, at which the 16 begin that are loaded for the first four, and those
    /// for the others.
    ///
    /// Where four codes end with a byte, the one load of 32 bytes around there is enough. Else it takes two, of which
    /// those are moved that lie in two lines of the cache and need not.
    #[inline(always)]
    const fn starts<const BITS: u32>(v: usize) -> [i32; 2] {
        let bits = BITS as i32;
        let at = v as i32 * bits;
        let (first, last) = (v == 0, v == GROUP / 8 - 1);
        if bits % 2 == 0 && !first && !last {
            return [bits / 2 - 16, bits / 2];
        }
        const fn in_two_lines(at: i32) -> bool {
            at.rem_euclid(64) > 48
        }
        let (lower, moved_lower) = (0, bits / 2 - 15);
        let (upper, moved_upper) = (bits - 16, bits / 2);
        [
            if !first && in_two_lines(at + lower) && !in_two_lines(at + moved_lower) {
                moved_lower
            } else {
                lower
            },
            if !last && in_two_lines(at + upper) && !in_two_lines(at + moved_upper) {
                moved_upper
            } else {
                upper
            },
        ]
    }

    /// As [`Quads::starts`], for codes that are unpacked. Where vectors of all parts begin alike in their lines, two
    /// loads of 16 bytes take the place of one that lies in two lines of the cache, if neither of them does.
    #[inline(always)]
    const fn starts_to_unpack<const BITS: u32>(v: usize) -> [i32; 2] {
        let bits = BITS as i32;
        let at = v as i32 * bits;
        let around = Self::starts::<BITS>(v);
        if around[1] - around[0] != 16 || !(PART * BITS as usize).is_multiple_of(VECTOR) {
            return around;
        }
        const fn in_two_lines(at: i32, size: i32) -> bool {
            at.rem_euclid(64) > 64 - size
        }
        let lower = if in_two_lines(at, 16) { bits / 2 - 15 } else { 0 };
        let upper = if in_two_lines(at + bits - 16, 16) {
            bits / 2
        } else {
            bits - 16
        };
        match in_two_lines(at + around[0], 32) {
            true if !in_two_lines(at + lower, 16) && !in_two_lines(at + upper, 16) => [lower, upper],
            _ => around,
        }
    }

    /// The bytes from which a shuffle takes eight codes.
    ///
    /// # Safety
    /// As [`Lanes::unpack`].
    #[inline(always)]
    unsafe fn bytes_of<const BITS: u32>(group: Group<BITS>, v: usize, starts: [i32; 2]) -> __m256i {
        let from = group.0.wrapping_add(v * BITS as usize);
        let [lower, upper] = starts.map(|start| from.wrapping_offset(start as isize));
        // SAFETY: by contract: eight codes take `BITS` bytes, at least 17, and others' are before and behind them.
        unsafe {
            match starts[1] - starts[0] == 16 {
                true => _mm256_loadu_si256(lower.cast()),
                false => {
                    let lower = _mm256_castsi128_si256(_mm_loadu_si128(lower.cast()));
                    _mm256_inserti128_si256::<1>(lower, _mm_loadu_si128(upper.cast()))
                }
            }
        }
    }

    /// Writes the codes of vector `v` of a group that is written from `to` on. Codes of which four bytes hold any are
    /// shifted once and masked: shuffles and shifts are what this machine has two units for, masks have four.
    ///
    /// # Safety
    /// As [`Lanes::unpack`].
    #[inline(always)]
    unsafe fn unpack_vector<const BITS: u32>(group: Group<BITS>, v: usize, to: *mut u8) {
        // SAFETY: by contract.
        unsafe {
            let codes = if fits_4_bytes(BITS) {
                let starts = Self::starts_to_unpack::<BITS>(v);
                let windows = for_starts!(Windows, BITS, starts);
                let bytes = Self::bytes_of(group, v, starts);
                let codes = _mm256_shuffle_epi8(bytes, _mm256_load_si256(windows.bytes.as_ptr().cast()));
                match BITS.is_multiple_of(8) {
                    true => Self(codes),
                    false => {
                        let right = _mm256_load_si256(windows.right.as_ptr().cast());
                        Self(_mm256_srlv_epi32(codes, right)).and(Self::splat(top(BITS)))
                    }
                }
            } else {
                Self::tops(group, v).right(32 - BITS)
            };
            codes.store(to.wrapping_add(v * 32))
        }
    }
}

/// What is added to the codes of a group as words of 32 bits.
///
/// # Safety
/// The machine has AVX2.
trait Base: Copy {
    /// Words of rows of a frame of the group.
    unsafe fn plus(self, words: __m256i, frame: usize) -> __m256i;
}

/// Nothing.
#[derive(Clone, Copy)]
struct Zero;

impl Base for Zero {
    #[inline(always)]
    unsafe fn plus(self, words: __m256i, _: usize) -> __m256i {
        words
    }
}

/// The reference of each frame, in all lanes.
#[derive(Clone, Copy)]
struct References([__m256i; FRAMES]);

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
    unsafe fn plus(self, words: __m256i, frame: usize) -> __m256i {
        // SAFETY: by contract.
        unsafe { _mm256_add_epi32(words, self.0[frame]) }
    }
}

/// The 16 codes of a half as words of 32 bits.
///
/// # Safety
/// 64 bytes can be written, the machine has AVX2.
#[inline(always)]
unsafe fn store_16_as_32(codes: __m128i, to: *mut u8, base: impl Base, frame: usize) {
    // SAFETY: by contract.
    unsafe {
        let lower = base.plus(_mm256_cvtepu8_epi32(codes), frame);
        let upper = base.plus(_mm256_cvtepu8_epi32(_mm_srli_si128::<8>(codes)), frame);
        _mm256_storeu_si256(to.cast(), lower);
        _mm256_storeu_si256(to.wrapping_add(32).cast(), upper);
    }
}

impl Lanes for Bytes {
    whole_registers!(u8, i8, _mm256_set1_epi8, _mm256_sll_epi16, _mm256_srl_epi16);
    long_lanes!();
    between_by_words!(2);

    #[inline(always)]
    unsafe fn unpack_groups<const BITS: u32>(from: *const u8, to: *mut u8, groups: usize) {
        for i in 0..groups {
            let (group, to) = (Group::<BITS>::nth(from, i), to.wrapping_add(i * GROUP));
            // SAFETY: by contract.
            unsafe {
                if !eight_rows_a_lane(BITS) {
                    groups::unpack_long::<Self, BITS>(group, to);
                    continue;
                }
                for half in 0..2 {
                    let rows = Self::by_rows(group, half);
                    for (i, rows) in rows.into_iter().enumerate() {
                        let to = to.wrapping_add(half * 256 + i * 16);
                        _mm_storeu_si128(to.cast(), _mm256_castsi256_si128(rows));
                        _mm_storeu_si128(to.wrapping_add(128).cast(), _mm256_extracti128_si256::<1>(rows));
                    }
                }
            }
        }
    }
}

impl LongLanes for Bytes {
    frames_by_group!();

    #[inline(always)]
    unsafe fn join(low: Self, high: Self, count: u32) -> Self {
        // SAFETY: by contract.
        unsafe {
            let low = low.right(count).and(Self::splat(0xff >> count));
            low.or(high.left(8 - count).and(Self::splat(0xff << (8 - count))))
        }
    }
}

impl Tables for Bytes {
    #[inline(always)]
    unsafe fn table(bytes: &[u8; 16]) -> Self {
        // SAFETY: by contract.
        Self(unsafe { _mm256_broadcastsi128_si256(_mm_loadu_si128(bytes.as_ptr().cast())) })
    }

    #[inline(always)]
    unsafe fn look_up(self, table: Self) -> Self {
        // SAFETY: by contract.
        Self(unsafe { _mm256_shuffle_epi8(table.0, self.0) })
    }
}

impl Lanes for Pairs {
    whole_registers!(u16, i16, _mm256_set1_epi16, _mm256_sll_epi16, _mm256_srl_epi16);
    long_lanes!();
    between_by_words!(4);

    #[inline(always)]
    unsafe fn unpack_groups<const BITS: u32>(from: *const u8, to: *mut u8, groups: usize) {
        for i in 0..groups {
            // SAFETY: by contract.
            unsafe { groups::unpack_long::<Self, BITS>(Group::nth(from, i), to.wrapping_add(i * GROUP * 2)) }
        }
    }
}

impl LongLanes for Pairs {
    frames_by_group!();

    #[inline(always)]
    unsafe fn join(low: Self, high: Self, count: u32) -> Self {
        // SAFETY: by contract.
        unsafe { low.right(count).or(high.left(16 - count)) }
    }
}

impl Lanes for Quads {
    whole_registers!(u32, i32, _mm256_set1_epi32, _mm256_sll_epi32, _mm256_srl_epi32);
    between_by_words!(8);

    #[inline(always)]
    unsafe fn tops<const BITS: u32>(group: Group<BITS>, v: usize) -> Self {
        let starts = Self::starts::<BITS>(v);
        let shuffle = for_starts!(Shuffle, BITS, starts);
        // SAFETY: by contract.
        unsafe {
            if BITS == 32 {
                return Self::load(group.0.wrapping_add(v * 32));
            }
            let bytes = Self::bytes_of(group, v, starts);
            let high = _mm256_shuffle_epi8(bytes, _mm256_load_si256(shuffle.high.as_ptr().cast()));
            let high = _mm256_sllv_epi32(high, _mm256_load_si256(shuffle.left.as_ptr().cast()));
            if !shuffle.crosses {
                return Self(high);
            }
            let low = _mm256_shuffle_epi8(bytes, _mm256_load_si256(shuffle.low.as_ptr().cast()));
            let low = _mm256_srlv_epi32(low, _mm256_load_si256(shuffle.right.as_ptr().cast()));
            Self(_mm256_or_si256(high, low))
        }
    }

    /// Codes of an even width in one loop over the vectors of all groups, of which all but the very first and the
    /// last are loaded alike. Short code and asking for bytes ahead ([`UNPACKED_AHEAD`]) save 5 to 10 % where codes
    /// and words are in the second-level cache.
    #[inline(always)]
    unsafe fn unpack_groups<const BITS: u32>(from: *const u8, to: *mut u8, groups: usize) {
        // SAFETY: by contract; every vector of a part is one of the groups.
        unsafe {
            if BITS % 2 == 1 {
                for i in 0..groups {
                    let (group, to) = (Group::<BITS>::nth(from, i), to.wrapping_add(i * GROUP * 4));
                    unroll!(half < 2 => {
                        unroll!(v < 32 => Self::unpack_vector(group, half * 32 + v, to));
                    });
                }
                return;
            }
            if groups == 0 {
                return;
            }
            let parts = groups * (GROUP / 8 / PART);
            ask_for_part::<BITS>(from);
            unroll!(v < PART => Self::unpack_vector(Group::<BITS>(from), v, to));
            for part in 1..parts - 1 {
                let before = Group::<BITS>(from.wrapping_add((part - 1) * PART * BITS as usize));
                let to = to.wrapping_add((part - 1) * PART * 32);
                ask_for_part::<BITS>(before.0.wrapping_add(PART * BITS as usize));
                unroll!(v < PART => Self::unpack_vector(before, PART + v, to));
            }
            let last = Group::<BITS>::nth(from, groups - 1);
            let to = to.wrapping_add((groups - 1) * GROUP * 4);
            unroll!(v < PART => Self::unpack_vector(last, GROUP / 8 - PART + v, to));
        }
    }

    #[inline(always)]
    unsafe fn unpack_groups_to_32<const BITS: u32>(from: *const u8, to: *mut u8, groups: usize) {
        // SAFETY: by contract.
        unsafe { Self::unpack_groups::<BITS>(from, to, groups) }
    }

    #[inline(always)]
    unsafe fn pack<const BITS: u32>(from: *const u8, to: *mut u8) {
        // SAFETY: by contract.
        unsafe { groups::pack_in_a_row::<BITS>(from, to) }
    }
}
