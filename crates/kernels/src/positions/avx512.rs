//! Positions on 512-bit vectors: compress in a register, store whole. (Compressing straight to memory
//! is up to twice as slow.)

use super::reserve;
use crate::compare::RangeOp;
use crate::plain::CodeWord;
use std::arch::x86_64::*;

/// Words of match bits whose greatest count decides how wide their positions are written.
const SOME: usize = 8;

/// See [`super::positions`].
#[target_feature(enable = "avx512vbmi,avx512vbmi2,avx512dq,avx512vl,bmi1,bmi2,lzcnt,popcnt")]
pub fn positions(bits: &[u64], base: u16, out: &mut Vec<u16>) {
    // A word writes up to 64 positions wherever it stands.
    reserve(bits, 64, out);
    let mut end = out.len();
    let bytes: [u8; 64] = std::array::from_fn(|i| i as u8);
    // SAFETY: 64 bytes.
    let bytes = unsafe { _mm512_loadu_si512(bytes.as_ptr().cast()) };
    for (i, words) in bits.chunks(SOME).enumerate() {
        // Where all words have few, a narrow store is enough: one that crosses a cache line costs twice.
        // The decision is per some words, lest it depends on each word's count.
        let greatest = words.iter().fold(0, |most, word| most.max(word.count_ones()));
        if greatest == 0 {
            continue;
        }
        for (j, &word) in words.iter().enumerate() {
            let offsets = _mm512_maskz_compress_epi8(word, bytes);
            let first = base.wrapping_add(((i * SOME + j) * 64) as u16) as i16;
            // SAFETY: `end` is at most the positions so far, and 64 more are reserved.
            unsafe {
                let to = out.as_mut_ptr().add(end);
                if greatest <= 16 {
                    let few = _mm256_cvtepu8_epi16(_mm512_castsi512_si128(offsets));
                    _mm256_storeu_si256(to.cast(), _mm256_add_epi16(few, _mm256_set1_epi16(first)));
                } else {
                    let first = _mm512_set1_epi16(first);
                    let lower = _mm512_cvtepu8_epi16(_mm512_castsi512_si256(offsets));
                    _mm512_storeu_si512(to.cast(), _mm512_add_epi16(lower, first));
                    if word.count_ones() > 32 {
                        let upper = _mm512_cvtepu8_epi16(_mm512_extracti64x4_epi64::<1>(offsets));
                        _mm512_storeu_si512(to.add(32).cast(), _mm512_add_epi16(upper, first));
                    }
                }
            }
            end += word.count_ones() as usize;
        }
    }
    // SAFETY: all positions up to `end` were written above.
    unsafe { out.set_len(end) }
}

/// Words that can be gathered and compared as unsigned lanes.
pub trait Gather: CodeWord {
    /// Bit `i`: `values[index[i]] - low <= span`.
    ///
    /// # Safety
    /// At each index, the larger of four bytes and one word is readable; the machine has AVX-512 F.
    unsafe fn inside(values: *const Self, index: __m512i, low: Self, span: Self) -> u16;
}

/// Words of up to four bytes: four bytes are gathered, and the excess shifted out. Comparing in the
/// upper bits is as good as in the lower ones.
macro_rules! gather_narrow {
    ($($word:ty),*) => {
        $(
            impl Gather for $word {
                #[inline(always)]
                unsafe fn inside(values: *const $word, index: __m512i, low: $word, span: $word) -> u16 {
                    const BYTES: i32 = size_of::<$word>() as i32;
                    const EXCESS: u32 = 32 - 8 * BYTES as u32;
                    // SAFETY: by contract.
                    unsafe {
                        let low = _mm512_set1_epi32(((low as u32) << EXCESS) as i32);
                        let span = _mm512_set1_epi32(((span as u32) << EXCESS) as i32);
                        let v = _mm512_i32gather_epi32::<BYTES>(index, values.cast());
                        let v = _mm512_slli_epi32::<EXCESS>(v);
                        _mm512_cmple_epu32_mask(_mm512_sub_epi32(v, low), span)
                    }
                }
            }
        )*
    };
}

gather_narrow!(u8, u16, u32);

impl Gather for u64 {
    #[inline(always)]
    unsafe fn inside(values: *const u64, index: __m512i, low: u64, span: u64) -> u16 {
        // SAFETY: by contract.
        unsafe {
            let low = _mm512_set1_epi64(low as i64);
            let span = _mm512_set1_epi64(span as i64);
            let half = |index: __m256i| {
                let v = _mm512_i32gather_epi64::<8>(index, values.cast());
                u16::from(_mm512_cmple_epu64_mask(_mm512_sub_epi64(v, low), span))
            };
            half(_mm512_castsi512_si256(index)) | half(_mm512_extracti64x4_epi64::<1>(index)) << 8
        }
    }
}

/// See [`super::reduce_between`]: reduces whole groups of 16 while their values lie far enough from
/// the end of the column; returns the positions kept and those read.
#[target_feature(enable = "avx512vbmi,avx512vbmi2,avx512dq,avx512vl,bmi1,bmi2,lzcnt,popcnt")]
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
    let readable = _mm512_set1_epi32(readable.min(1 << 16) as i32);
    let (mut kept, mut done) = (0, 0);
    while done + 16 <= positions.len() {
        // SAFETY: 16 positions are left; those at `kept <= done` were read before.
        unsafe {
            let group = _mm256_loadu_si256(positions.as_ptr().add(done).cast());
            let index = _mm512_cvtepu16_epi32(group);
            if _mm512_cmpge_epu32_mask(index, readable) != 0 {
                break;
            }
            let hits = W::inside(values.as_ptr(), index, low, span) ^ flip;
            let hits_first = _mm256_maskz_compress_epi16(hits, group);
            _mm256_storeu_si256(positions.as_mut_ptr().add(kept).cast(), hits_first);
            kept += hits.count_ones() as usize;
        }
        done += 16;
    }
    (kept, done)
}
