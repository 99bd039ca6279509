//! Positions on 256-bit vectors: eight bits at a time through a table of their positions, or four of the set
//! bits at a time where words have few.

use super::reserve;
use crate::compare::RangeOp;
use crate::plain::CodeWord;
use std::arch::x86_64::*;

/// For each byte, the positions of its set bits, packed to the front.
pub(crate) static POSITIONS_OF_BYTE: [[u8; 8]; 256] = positions_of_bytes();

const fn positions_of_bytes() -> [[u8; 8]; 256] {
    let mut table = [[0; 8]; 256];
    let mut byte = 0;
    while byte < 256 {
        let (mut bit, mut next) = (0, 0);
        while bit < 8 {
            if byte >> bit & 1 == 1 {
                table[byte][next] = bit;
                next += 1;
            }
            bit += 1;
        }
        byte += 1;
    }
    table
}

/// The positions of the set bits of a byte, as eight 16-bit lanes.
///
/// # Safety
/// The machine has AVX2.
#[inline(always)]
pub(crate) unsafe fn lanes_of_byte(byte: u8) -> __m128i {
    // SAFETY: the entry has eight bytes; the features by contract.
    unsafe { _mm_cvtepu8_epi16(_mm_loadl_epi64(POSITIONS_OF_BYTE[byte as usize].as_ptr().cast())) }
}

/// The shuffle that brings the 16-bit lanes with a set bit to the front.
///
/// # Safety
/// The machine has AVX2.
#[inline(always)]
pub(crate) unsafe fn pair_shuffle(byte: u8) -> __m128i {
    // SAFETY: by contract.
    unsafe {
        // Lane l is bytes 2l and 2l + 1.
        let doubled = _mm_mullo_epi16(lanes_of_byte(byte), _mm_set1_epi16(0x0202));
        _mm_add_epi16(doubled, _mm_set1_epi16(0x0100))
    }
}

/// Words of match bits whose greatest count decides how they are taken apart.
const SOME: usize = 16;
/// Words with more set bits go by bytes, those with fewer bit by bit.
const FEW: u32 = 12;
/// Bits taken at once, whether there are so many or not.
const AT_ONCE: usize = 4;

/// See [`super::positions`].
#[target_feature(enable = "avx2,bmi1,bmi2,lzcnt,popcnt")]
pub fn positions(bits: &[u64], base: u16, out: &mut Vec<u16>) {
    // Eight positions, or as many as are taken at once up to the greatest count, are written wherever a
    // word's or byte's own end.
    reserve(bits, FEW as usize + AT_ONCE, out);
    let mut end = out.len();
    for (i, words) in bits.chunks(SOME).enumerate() {
        // The decision is per some words, lest it depends on each word's count.
        let greatest = words.iter().fold(0, |most, word| most.max(word.count_ones()));
        if greatest == 0 {
            continue;
        }
        for (j, &word) in words.iter().enumerate() {
            let first = base.wrapping_add(((i * SOME + j) * 64) as u16);
            // SAFETY: `end` is at most the positions so far, and there is room behind them.
            unsafe {
                let to = out.as_mut_ptr().add(end);
                match greatest {
                    0..=FEW => bit_by_bit(word, greatest as usize, first, to),
                    _ if word == 0 => {}
                    _ => by_bytes(word, first, to),
                }
            }
            end += word.count_ones() as usize;
        }
    }
    // SAFETY: all positions up to `end` were written above.
    unsafe { out.set_len(end) }
}

/// Writes `first` plus the numbers of the set bits, of which there are at most `most`; behind them anything.
///
/// # Safety
/// `most` and [`AT_ONCE`] positions can be written; the machine has BMI.
#[inline(always)]
unsafe fn bit_by_bit(mut word: u64, most: usize, first: u16, to: *mut u16) {
    for at in (0..most).step_by(AT_ONCE) {
        for at in at..at + AT_ONCE {
            // SAFETY: by contract.
            unsafe { *to.add(at) = first.wrapping_add(word.trailing_zeros() as u16) };
            word &= word.wrapping_sub(1);
        }
    }
}

/// Writes `first` plus the numbers of the set bits, and up to eight of anything.
///
/// # Safety
/// They can be written; the machine has AVX2.
#[inline(always)]
unsafe fn by_bytes(word: u64, first: u16, to: *mut u16) {
    let mut end = 0;
    for (j, byte) in word.to_le_bytes().into_iter().enumerate() {
        // SAFETY: by contract.
        unsafe {
            let first = _mm_set1_epi16(first.wrapping_add(j as u16 * 8) as i16);
            _mm_storeu_si128(to.add(end).cast(), _mm_add_epi16(lanes_of_byte(byte), first));
        }
        end += byte.count_ones() as usize;
    }
}

/// Words that can be gathered and compared as unsigned lanes.
pub trait Gather: CodeWord {
    /// Bit `i`: `values[index[i]] - low <= span`.
    ///
    /// # Safety
    /// At each index, the larger of four bytes and one word is readable; the machine has AVX2.
    unsafe fn inside(values: *const Self, index: __m256i, low: Self, span: Self) -> u8;
}

/// Words of up to four bytes: four bytes are gathered, and the excess shifted out. Comparing in the
/// upper bits is as good as in the lower ones.
macro_rules! gather_narrow {
    ($($word:ty),*) => {
        $(
            impl Gather for $word {
                #[inline(always)]
                unsafe fn inside(values: *const $word, index: __m256i, low: $word, span: $word) -> u8 {
                    const BYTES: i32 = size_of::<$word>() as i32;
                    const EXCESS: i32 = 32 - 8 * BYTES;
                    // SAFETY: by contract.
                    unsafe {
                        let low = _mm256_set1_epi32(((low as u32) << EXCESS) as i32);
                        let span = _mm256_set1_epi32(((span as u32) << EXCESS) as i32);
                        let v = _mm256_i32gather_epi32::<BYTES>(values.cast(), index);
                        let v = _mm256_sub_epi32(_mm256_slli_epi32::<EXCESS>(v), low);
                        let inside = _mm256_cmpeq_epi32(_mm256_min_epu32(v, span), v);
                        _mm256_movemask_ps(_mm256_castsi256_ps(inside)) as u8
                    }
                }
            }
        )*
    };
}

gather_narrow!(u8, u16, u32);

impl Gather for u64 {
    #[inline(always)]
    unsafe fn inside(values: *const u64, index: __m256i, low: u64, span: u64) -> u8 {
        // SAFETY: by contract.
        unsafe {
            // The top bits are flipped: there is only a signed compare.
            let low = _mm256_set1_epi64x((low ^ 1 << 63) as i64);
            let span = _mm256_set1_epi64x((span ^ 1 << 63) as i64);
            let half = |index: __m128i| {
                let v = _mm256_i32gather_epi64::<8>(values.cast(), index);
                let beyond = _mm256_cmpgt_epi64(_mm256_sub_epi64(v, low), span);
                !_mm256_movemask_pd(_mm256_castsi256_pd(beyond)) as u8 & 15
            };
            half(_mm256_castsi256_si128(index)) | half(_mm256_extracti128_si256::<1>(index)) << 4
        }
    }
}

/// See [`super::reduce_between`]: reduces whole groups of eight while their values lie far enough from
/// the end of the column; returns the positions kept and those read.
#[target_feature(enable = "avx2,bmi1,bmi2,lzcnt,popcnt")]
pub fn reduce<W: Gather>(
    values: &[W],
    low: W,
    span: W,
    op: RangeOp,
    positions: &mut [u16],
) -> (usize, usize) {
    let flip = if op == RangeOp::Inside { 0 } else { !0 };
    // Gathers read four bytes at least.
    let readable = (values.len() + 1).saturating_sub(4usize.div_ceil(size_of::<W>()));
    let readable = _mm256_set1_epi32(readable.min(1 << 16) as i32);
    let (mut kept, mut done) = (0, 0);
    while done + 8 <= positions.len() {
        // SAFETY: eight positions are left; those at `kept <= done` were read before.
        unsafe {
            let group = _mm_loadu_si128(positions.as_ptr().add(done).cast());
            let index = _mm256_cvtepu16_epi32(group);
            let far_enough = _mm256_cmpgt_epi32(readable, index);
            if _mm256_movemask_epi8(far_enough) != -1 {
                break;
            }
            let hits = W::inside(values.as_ptr(), index, low, span) ^ flip;
            let hits_first = _mm_shuffle_epi8(group, pair_shuffle(hits));
            _mm_storeu_si128(positions.as_mut_ptr().add(kept).cast(), hits_first);
            kept += hits.count_ones() as usize;
        }
        done += 8;
    }
    (kept, done)
}
