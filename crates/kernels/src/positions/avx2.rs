//! Positions on 256-bit vectors: eight bits at a time through a table of their positions, or four of the set
//! bits at a time where a word has few.

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

/// Up to so many set bits of a word are taken one by one, which is quicker than going through its eight bytes.
const FEW: usize = 8;

/// See [`super::positions`].
#[target_feature(enable = "avx2,bmi1,bmi2,lzcnt,popcnt")]
pub fn positions(bits: &[u64], base: u16, out: &mut Vec<u16>) {
    let count: usize = bits.iter().map(|word| word.count_ones() as usize).sum();
    // A byte writes eight positions wherever it stands.
    out.reserve(count + 8);
    let mut end = out.len();
    for (i, &word) in bits.iter().enumerate() {
        if word == 0 {
            continue;
        }
        let ones = word.count_ones() as usize;
        if ones <= FEW {
            let first = base.wrapping_add((i * 64) as u16);
            // SAFETY: as below.
            let to = unsafe { out.as_mut_ptr().add(end) };
            let mut rest = word;
            // Four at least, so that no branch hangs on how many there are; those beyond are overwritten.
            for half in 0..if ones > FEW / 2 { 2 } else { 1 } {
                for k in 0..FEW / 2 {
                    // SAFETY: eight more than the positions so far are reserved.
                    unsafe {
                        to.add(half * (FEW / 2) + k)
                            .write(first.wrapping_add(rest.trailing_zeros() as u16))
                    };
                    rest &= rest.wrapping_sub(1);
                }
            }
            end += ones;
            continue;
        }
        for (j, byte) in word.to_le_bytes().into_iter().enumerate() {
            let first = _mm_set1_epi16(base.wrapping_add((i * 64 + j * 8) as u16) as i16);
            // SAFETY: `end` is at most the positions so far, and eight more are reserved.
            unsafe {
                let to = out.as_mut_ptr().add(end);
                _mm_storeu_si128(to.cast(), _mm_add_epi16(lanes_of_byte(byte), first));
            }
            end += byte.count_ones() as usize;
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
