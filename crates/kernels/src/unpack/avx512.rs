//! Compress on 512-bit vectors: masked load, compress in a register, store whole.

use super::selected::{Compress, instantiate};
use crate::Plain;
use std::arch::x86_64::*;

instantiate!(
    Avx512,
    "avx512vbmi,avx512vbmi2,avx512dq,avx512vl,bmi1,bmi2,lzcnt,popcnt"
);

/// AVX-512 with VBMI2.
pub struct Avx512;

impl Compress for Avx512 {
    #[inline(always)]
    unsafe fn word<P: Plain>(from: &[P], row: usize, word: u64, out: &mut [P], at: usize) {
        let room = out.len() - at;
        let (from, to) = (from.as_ptr().wrapping_add(row), out.as_mut_ptr().wrapping_add(at));
        // SAFETY: by contract: only rows with a set bit are read, `room` guards the stores.
        unsafe {
            match size_of::<P>() {
                1 => bytes(from.cast(), word, to.cast(), room),
                2 => pairs(from.cast(), word, to.cast(), room),
                4 => quads(from.cast(), word, to.cast(), room),
                8 => octets(from.cast(), word, to.cast(), room),
                _ => sixteens(from.cast(), word, to.cast(), room),
            }
        }
    }

    #[inline(always)]
    unsafe fn spread(mask: u64, count: usize, out: &mut [u8], at: usize) {
        let to = out.as_mut_ptr().wrapping_add(at);
        // SAFETY: the features are there by contract; a whole store is within `out`, a partial one
        // within the `count` bytes there is room for.
        unsafe {
            let bytes = _mm512_maskz_set1_epi8(mask, 1);
            if at + 64 <= out.len() {
                _mm512_storeu_si512(to.cast(), bytes);
            } else {
                _mm512_mask_storeu_epi8(to.cast(), low_bits(count), bytes);
            }
        }
    }

    #[inline(always)]
    unsafe fn extract(from: u64, mask: u64) -> u64 {
        // SAFETY: BMI2 is there by contract.
        unsafe { _pext_u64(from, mask) }
    }
}

/// `count` ones, `count` up to 64.
#[inline(always)]
fn low_bits(count: usize) -> u64 {
    if count >= 64 { !0 } else { !(!0 << count) }
}

macro_rules! compress {
    ($($name:ident: $lane:ty, $mask:ty, $lanes:literal, $load:ident, $compress:ident, $store:ident;)*) => {
        $(
            /// Packs the lanes of a word to the front, a vector at a time.
            ///
            /// # Safety
            /// As [`Compress::word`]; `room` lanes can be written at `to`.
            #[inline(always)]
            unsafe fn $name(from: *const $lane, word: u64, to: *mut $lane, room: usize) {
                let mut at = 0;
                for i in 0..64 / $lanes {
                    let mask = (word >> (i * $lanes % 64)) as $mask;
                    let count = mask.count_ones() as usize;
                    let to = to.wrapping_add(at);
                    // SAFETY: by contract; lanes outside the mask are neither read nor, near the end
                    // of the room, written.
                    unsafe {
                        let v = $load(mask, from.wrapping_add(i * $lanes).cast());
                        let v = $compress(mask, v);
                        if at + $lanes <= room {
                            _mm512_storeu_si512(to.cast(), v);
                        } else {
                            $store(to.cast(), low_bits(count) as $mask, v);
                        }
                    }
                    at += count;
                }
            }
        )*
    };
}

compress! {
    bytes: u8, u64, 64, _mm512_maskz_loadu_epi8, _mm512_maskz_compress_epi8, _mm512_mask_storeu_epi8;
    pairs: u16, u32, 32, _mm512_maskz_loadu_epi16, _mm512_maskz_compress_epi16, _mm512_mask_storeu_epi16;
    quads: u32, u16, 16, _mm512_maskz_loadu_epi32, _mm512_maskz_compress_epi32, _mm512_mask_storeu_epi32;
    octets: u64, u8, 8, _mm512_maskz_loadu_epi64, _mm512_maskz_compress_epi64, _mm512_mask_storeu_epi64;
}

/// Packs values of 16 bytes: four rows are eight lanes.
///
/// # Safety
/// As [`Compress::word`]; `room` values can be written at `to`.
#[inline(always)]
unsafe fn sixteens(from: *const u128, mut word: u64, to: *mut u128, room: usize) {
    let (mut at, mut row) = (0, 0);
    while word != 0 {
        let rows = (word & 15) as usize;
        let mask = DOUBLED[rows];
        let to = to.wrapping_add(at);
        // SAFETY: as in the other widths.
        unsafe {
            let v = _mm512_maskz_loadu_epi64(mask, from.wrapping_add(row).cast());
            let v = _mm512_maskz_compress_epi64(mask, v);
            if at + 4 <= room {
                _mm512_storeu_si512(to.cast(), v);
            } else {
                _mm512_mask_storeu_epi64(to.cast(), low_bits(mask.count_ones() as usize) as u8, v);
            }
        }
        at += rows.count_ones() as usize;
        row += 4;
        word >>= 4;
    }
}

/// Every bit of four twice.
const DOUBLED: [u8; 16] = {
    let mut table = [0; 16];
    let mut i = 0;
    while i < 16 {
        let mut bit = 0;
        while bit < 4 {
            table[i] |= (((i >> bit) & 1) as u8 * 3) << (bit * 2);
            bit += 1;
        }
        i += 1;
    }
    table
};
