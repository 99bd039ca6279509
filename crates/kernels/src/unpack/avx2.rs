//! Compress on 256-bit vectors: shuffles from a table by eight bits of the mask.

use super::selected::{Compress, instantiate};
use crate::Plain;
use crate::positions::avx2::{POSITIONS_OF_BYTE, pair_shuffle};
use std::arch::x86_64::*;

instantiate!(Avx2, "avx2,bmi1,bmi2,lzcnt,popcnt");

/// AVX2 with BMI2.
pub struct Avx2;

impl Compress for Avx2 {
    #[inline(always)]
    unsafe fn word<P: Plain>(from: &[P], row: usize, mut word: u64, out: &mut [P], mut at: usize) {
        if size_of::<P>() == 16 {
            return by_bit(from, row, word, out, at);
        }
        for group in 0..8 {
            let (mask, row) = (word as u8, row + group * 8);
            if row + 8 > from.len() || at + 8 > out.len() {
                return by_bit(from, row, word, out, at);
            }
            // SAFETY: eight rows can be read and eight values written; the features by contract.
            unsafe {
                let (from, to) = (from.as_ptr().add(row), out.as_mut_ptr().add(at));
                match size_of::<P>() {
                    1 => bytes(from.cast(), mask, to.cast()),
                    2 => pairs(from.cast(), mask, to.cast()),
                    4 => quads(from.cast(), mask, to.cast()),
                    _ => octets(from.cast(), mask, to.cast()),
                }
            }
            at += mask.count_ones() as usize;
            word >>= 8;
        }
    }

    #[inline(always)]
    unsafe fn spread(mask: u64, count: usize, out: &mut [u8], at: usize) {
        if at + 64 > out.len() {
            for i in 0..count {
                out[at + i] = (mask >> i & 1) as u8;
            }
            return;
        }
        let (groups, _) = out[at..at + 64].as_chunks_mut::<8>();
        for (i, group) in groups.iter_mut().enumerate() {
            // SAFETY: BMI2 is there by contract.
            *group = unsafe { _pdep_u64(mask >> (i * 8), 0x0101_0101_0101_0101) }.to_le_bytes();
        }
    }

    #[inline(always)]
    unsafe fn extract(from: u64, mask: u64) -> u64 {
        // SAFETY: BMI2 is there by contract.
        unsafe { _pext_u64(from, mask) }
    }
}

#[inline(always)]
fn by_bit<P: Plain>(from: &[P], row: usize, mut word: u64, out: &mut [P], mut at: usize) {
    while word != 0 {
        out[at] = from[row + word.trailing_zeros() as usize];
        at += 1;
        word &= word - 1;
    }
}

/// Packs eight bytes.
///
/// # Safety
/// Eight values can be read and written; the machine has AVX2.
#[inline(always)]
unsafe fn bytes(from: *const u8, mask: u8, to: *mut u8) {
    // SAFETY: by contract.
    unsafe {
        let shuffle = _mm_loadl_epi64(POSITIONS_OF_BYTE[mask as usize].as_ptr().cast());
        _mm_storel_epi64(to.cast(), _mm_shuffle_epi8(_mm_loadl_epi64(from.cast()), shuffle));
    }
}

/// Packs eight 16-bit values.
///
/// # Safety
/// As [`bytes`].
#[inline(always)]
unsafe fn pairs(from: *const u16, mask: u8, to: *mut u16) {
    // SAFETY: by contract.
    unsafe {
        let v = _mm_shuffle_epi8(_mm_loadu_si128(from.cast()), pair_shuffle(mask));
        _mm_storeu_si128(to.cast(), v);
    }
}

/// Packs eight 32-bit values.
///
/// # Safety
/// As [`bytes`].
#[inline(always)]
unsafe fn quads(from: *const u32, mask: u8, to: *mut u32) {
    // SAFETY: by contract.
    unsafe {
        let lanes = _mm256_cvtepu8_epi32(_mm_loadl_epi64(POSITIONS_OF_BYTE[mask as usize].as_ptr().cast()));
        let v = _mm256_permutevar8x32_epi32(_mm256_loadu_si256(from.cast()), lanes);
        _mm256_storeu_si256(to.cast(), v);
    }
}

/// Packs eight 64-bit values, four at a time.
///
/// # Safety
/// As [`bytes`].
#[inline(always)]
unsafe fn octets(from: *const u64, mask: u8, to: *mut u64) {
    let low = mask & 15;
    // SAFETY: by contract, for the first four values and for those behind them.
    unsafe {
        half_of_octets(from, low, to);
        half_of_octets(
            from.wrapping_add(4),
            mask >> 4,
            to.wrapping_add(low.count_ones() as usize),
        );
    }
}

/// Packs four 64-bit values.
///
/// # Safety
/// Four values can be read and written; the machine has AVX2.
#[inline(always)]
unsafe fn half_of_octets(from: *const u64, mask: u8, to: *mut u64) {
    // SAFETY: by contract; a value is two lanes of 32 bits.
    unsafe {
        let value = _mm_cvtepu8_epi16(_mm_loadl_epi64(POSITIONS_OF_BYTE[mask as usize].as_ptr().cast()));
        // Value v is lanes 2v and 2v + 1.
        let lanes = _mm256_add_epi32(
            _mm256_cvtepu16_epi32(_mm_unpacklo_epi16(value, value)),
            _mm256_cvtepu16_epi32(_mm_unpacklo_epi16(value, value)),
        );
        let lanes = _mm256_add_epi32(lanes, _mm256_setr_epi32(0, 1, 0, 1, 0, 1, 0, 1));
        let v = _mm256_permutevar8x32_epi32(_mm256_loadu_si256(from.cast()), lanes);
        _mm256_storeu_si256(to.cast(), v);
    }
}
