//! Bit-packed codes on 512-bit vectors, a vector of the format in one register; codes in two words are
//! joined by the funnel shifts of VBMI2.

use super::FRAME;
use super::groups::{
    self, GROUP_WORDS, Group, Kernels, Lanes, LongLanes, Shuffle, Test, UnpackFrames, ask_ahead, unroll,
};
use super::instantiate::{frame_kernels, instantiate, kernels};
use super::place::{FRAMES, GROUP, VECTOR, eight_rows_a_lane};
use super::rows::{self, by_lane};
use super::tables::{self, Tables};
use super::wide;
use crate::compare::avx512::Lanes as _;
use crate::compare::words::{INSIDE, write_word};
use crate::packed::top;
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

/// What is added to codes as words of 32 bits.
///
/// # Safety
/// The machine has AVX-512, and the frame is one of the codes.
trait Base: Copy {
    /// Words of rows of a frame, by its number.
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

/// The reference of each frame.
#[derive(Clone, Copy)]
struct References<'a>(&'a [[u32; FRAMES]]);

impl Base for References<'_> {
    #[inline(always)]
    unsafe fn plus(self, words: __m512i, frame: usize) -> __m512i {
        // SAFETY: by contract.
        unsafe {
            let reference = *self.0.as_flattened().get_unchecked(frame);
            _mm512_add_epi32(words, Quads::splat(reference.into()).0)
        }
    }
}

/// Lanes whose vectors, rows of which follow each other, are unpacked by a loop, over those of all groups. Straight
/// code for a group has shifts by constants and no second load where a code ends in its word, but steps by a group in
/// each of its loads and stores, which hides from the machine's prefetchers that lines follow each other: words in
/// the second-level cache take 1.3 to 1.7 times as long to be written (Zen 5).
///
/// # Safety
/// All methods: the machine has AVX-512, and the bytes that are written are there.
trait Rolled: LongLanes {
    /// The codes whose first is at bit `bit` of the string of codes that a lane is, in words `low` and `high`; the
    /// latter is any where they end in the former.
    unsafe fn codes<const BITS: u32>(low: Self, high: Self, bit: usize) -> Self;
    /// Writes codes, those of vector `v`, as words of 32 bits.
    unsafe fn write_32(self, v: usize, to: *mut u8, base: impl Base);
}

/// How codes are written.
///
/// # Safety
/// As [`Rolled`].
trait Form: Copy {
    /// Bytes for the codes of a vector of lanes of so many bits.
    fn bytes(lane_bits: u32) -> usize;
    /// Writes the codes of vector `v`.
    unsafe fn write<V: Rolled>(self, codes: V, v: usize, to: *mut u8);
}

/// Lane words.
#[derive(Clone, Copy)]
struct LaneWords;

impl Form for LaneWords {
    #[inline(always)]
    fn bytes(_: u32) -> usize {
        VECTOR
    }

    #[inline(always)]
    unsafe fn write<V: Rolled>(self, codes: V, _: usize, to: *mut u8) {
        // SAFETY: by contract.
        unsafe { codes.store(to) }
    }
}

/// Words of 32 bits, to which something is added.
#[derive(Clone, Copy)]
struct Words32<B>(B);

impl<B: Base> Form for Words32<B> {
    #[inline(always)]
    fn bytes(lane_bits: u32) -> usize {
        VECTOR * 32 / lane_bits as usize
    }

    #[inline(always)]
    unsafe fn write<V: Rolled>(self, codes: V, v: usize, to: *mut u8) {
        // SAFETY: by contract.
        unsafe { codes.write_32(v, to, self.0) }
    }
}

/// Writes the codes of groups.
///
/// # Safety
/// As [`Lanes::unpack_groups`].
#[inline(always)]
unsafe fn write<V: Rolled, const BITS: u32>(
    from: *const u8,
    mut to: *mut u8,
    groups: usize,
    form: impl Form,
) {
    /// [`Form::bytes`] of a form that has no name.
    #[inline(always)]
    fn bytes_of<F: Form>(_: F, lane_bits: u32) -> usize {
        F::bytes(lane_bits)
    }
    if groups == 0 {
        return;
    }
    let last = groups * V::BITS as usize - 1;
    let mut bit = 0;
    // SAFETY: by contract: of all vectors but the last, the word behind the one in which codes begin is theirs, too,
    // where codes lie in two words: those are wider than half a lane, so that two vectors of them take more than a
    // word.
    unsafe {
        for v in 0..last {
            let at = from.wrapping_add(bit / V::BITS as usize * VECTOR);
            let low = V::load(at);
            let high = match V::BITS.is_multiple_of(BITS) {
                true => low,
                false => V::load(at.wrapping_add(VECTOR)),
            };
            form.write(V::codes::<BITS>(low, high, bit), v, to);
            to = to.wrapping_add(bytes_of(form, V::BITS));
            bit += BITS as usize;
        }
        let word = V::load(from.wrapping_add(bit / V::BITS as usize * VECTOR));
        form.write(V::codes::<BITS>(word, word, bit), last, to);
    }
}

impl Rolled for Bytes {
    #[inline(always)]
    unsafe fn codes<const BITS: u32>(low: Self, high: Self, bit: usize) -> Self {
        let shift = (bit % 8) as u32;
        // SAFETY: by contract.
        unsafe {
            let codes = match 8 % BITS {
                0 => low.right(shift),
                _ => Self::join(low, high, shift),
            };
            codes.and(Self::splat(top(BITS)))
        }
    }

    #[inline(always)]
    unsafe fn write_32(self, v: usize, to: *mut u8, base: impl Base) {
        // SAFETY: by contract.
        unsafe {
            for (quarter, codes) in quarters(self.0).into_iter().enumerate() {
                let words = base.plus(_mm512_cvtepu8_epi32(codes), v / 2);
                _mm512_storeu_si512(to.wrapping_add(quarter * 64).cast(), words);
            }
        }
    }
}

impl Rolled for Pairs {
    #[inline(always)]
    unsafe fn codes<const BITS: u32>(low: Self, high: Self, bit: usize) -> Self {
        // SAFETY: by contract.
        unsafe {
            match BITS {
                16 => low,
                _ => Self::join(low, high, (bit % 16) as u32).and(Self::splat(top(BITS))),
            }
        }
    }

    #[inline(always)]
    unsafe fn write_32(self, v: usize, to: *mut u8, base: impl Base) {
        // SAFETY: by contract.
        unsafe {
            let lower = _mm512_cvtepu16_epi32(_mm512_castsi512_si256(self.0));
            let upper = _mm512_cvtepu16_epi32(_mm512_extracti64x4_epi64::<1>(self.0));
            _mm512_storeu_si512(to.cast(), base.plus(lower, v / 4));
            _mm512_storeu_si512(to.wrapping_add(64).cast(), base.plus(upper, v / 4));
        }
    }
}

impl Bytes {
    /// Writes the codes of groups whose lanes hold eight rows, or of others, as words of 32 bits.
    ///
    /// # Safety
    /// As [`Lanes::unpack_groups_to_32`].
    #[inline(always)]
    unsafe fn write_32<const BITS: u32>(from: *const u8, to: *mut u8, groups: usize, base: impl Base) {
        // SAFETY: by contract.
        unsafe {
            if !eight_rows_a_lane(BITS) {
                return write::<Self, BITS>(from, to, groups, Words32(base));
            }
            for group in 0..groups {
                let codes = Self::by_rows(Group::<BITS>::nth(from, group));
                for (i, rows) in codes.into_iter().enumerate() {
                    for (quarter, rows) in quarters(rows).into_iter().enumerate() {
                        let frame = group * FRAMES + quarter;
                        let words = base.plus(_mm512_cvtepu8_epi32(rows), frame);
                        _mm512_storeu_si512(to.wrapping_add((frame * FRAME + i * 16) * 4).cast(), words);
                    }
                }
            }
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

    /// Bytes before those of a shuffle, to be funnelled in. (There is no zero among the bytes of this machine's
    /// shuffle; what comes in for [`Shuffle::NONE`] lies below the code.)
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
    unsafe fn unpack_groups<const BITS: u32>(from: *const u8, to: *mut u8, groups: usize) {
        // SAFETY: by contract.
        unsafe {
            if !eight_rows_a_lane(BITS) {
                return write::<Self, BITS>(from, to, groups, LaneWords);
            }
            for group in 0..groups {
                let to = to.wrapping_add(group * GROUP);
                let codes = Self::by_rows(Group::<BITS>::nth(from, group));
                for (i, rows) in codes.into_iter().enumerate() {
                    for (quarter, rows) in quarters(rows).into_iter().enumerate() {
                        _mm_storeu_si128(to.wrapping_add(quarter * 128 + i * 16).cast(), rows);
                    }
                }
            }
        }
    }

    #[inline(always)]
    unsafe fn unpack_groups_to_32<const BITS: u32>(from: *const u8, to: *mut u8, groups: usize) {
        // SAFETY: by contract.
        unsafe { Self::write_32::<BITS>(from, to, groups, Zero) }
    }
}

impl LongLanes for Bytes {
    #[inline(always)]
    unsafe fn unpack_groups_of_frames<const BITS: u32>(
        from: *const u8,
        to: *mut u8,
        references: &[[u32; FRAMES]],
    ) {
        // SAFETY: by contract.
        unsafe { Self::write_32::<BITS>(from, to, references.len(), References(references)) }
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
    unsafe fn unpack_groups<const BITS: u32>(from: *const u8, to: *mut u8, groups: usize) {
        // SAFETY: by contract.
        unsafe { write::<Self, BITS>(from, to, groups, LaneWords) }
    }

    #[inline(always)]
    unsafe fn unpack_groups_to_32<const BITS: u32>(from: *const u8, to: *mut u8, groups: usize) {
        // SAFETY: by contract.
        unsafe { write::<Self, BITS>(from, to, groups, Words32(Zero)) }
    }
}

impl LongLanes for Pairs {
    #[inline(always)]
    unsafe fn unpack_groups_of_frames<const BITS: u32>(
        from: *const u8,
        to: *mut u8,
        references: &[[u32; FRAMES]],
    ) {
        // SAFETY: by contract.
        unsafe { write::<Self, BITS>(from, to, references.len(), Words32(References(references))) }
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

    /// A loop over the words of all groups but the last, for the reason that [`Rolled`] gives.
    #[inline(always)]
    unsafe fn between_groups<const BITS: u32>(
        from: *const u8,
        low: Self,
        span: Self,
        test: Test,
        out: &mut [[u64; GROUP_WORDS]],
    ) {
        let Some((last, others)) = out.split_last_mut() else {
            return;
        };
        let count = others.len();
        // SAFETY: by contract; other codes follow those of a word.
        unsafe {
            for (i, word) in others.as_flattened_mut().iter_mut().enumerate() {
                let from = from.wrapping_add(i * 8 * BITS as usize);
                if i < test.foreseen * GROUP_WORDS {
                    ask_ahead(from, 8 * BITS as usize);
                }
                let mut bits = 0;
                for v in 0..4 {
                    let tops = Self::tops::<BITS>(Group(from.wrapping_add(v * 2 * BITS as usize)), 0);
                    let inside = _mm512_cmple_epu32_mask(_mm512_sub_epi32(tops.0, low.0), span.0);
                    bits |= u64::from(inside) << (v * 16);
                }
                write_word(word, bits ^ test.flip);
            }
            Self::between::<BITS>(Group::nth(from, count), low, span, test.flip, last);
        }
    }

    #[inline(always)]
    unsafe fn tops<const BITS: u32>(group: Group<BITS>, v: usize) -> Self {
        let is_last = v == GROUP / 16 - 1;
        let shuffle = match is_last {
            true => const { &Self::shuffle::<BITS>(true) },
            false => const { &Self::shuffle::<BITS>(false) },
        };
        let from = group.0.wrapping_add(v * 2 * BITS as usize);
        // SAFETY: by contract: sixteen codes take twice `BITS` bytes, at least 34, and 64 before the end of the last
        // ones or behind the beginning of others are the group's.
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

    /// A loop, for the reason that [`Rolled`] gives, over all vectors but the last, which nothing may be read behind.
    #[inline(always)]
    unsafe fn unpack_groups<const BITS: u32>(from: *const u8, to: *mut u8, groups: usize) {
        if groups == 0 {
            return;
        }
        let last = groups * GROUP / 16 - 1;
        // SAFETY: by contract; other codes follow those of all vectors but the last.
        unsafe {
            for v in 0..last {
                let group = Group::<BITS>(from.wrapping_add(v * 2 * BITS as usize));
                let codes = Self::tops(group, 0).right(32 - BITS);
                codes.store(to.wrapping_add(v * VECTOR));
            }
            let group = Group::<BITS>::nth(from, groups - 1);
            let codes = Self::tops(group, GROUP / 16 - 1).right(32 - BITS);
            codes.store(to.wrapping_add(last * VECTOR));
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
