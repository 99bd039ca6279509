//! VBP on 512-bit vectors: a plane is a register, three-operand logic combines it, and mask registers
//! turn words of bits into bytes.

use super::planes::Planes;
use super::scan::{self, Register};
use super::transpose::{self, Transpose};
use crate::byteslice::avx512::Avx512;
use crate::packed::CodeRange;
use crate::{CodeWord, Combine, RangeOp, Selection};
use std::arch::x86_64::*;
use std::ops::Range;

/// Truth tables of three-operand logic: what the operands are where the result is one.
const A: i32 = 0b1111_0000;
const B: i32 = 0b1100_1100;
const C: i32 = 0b1010_1010;

impl Register for __m512i {
    const WORDS: usize = 8;

    #[inline(always)]
    unsafe fn load(from: *const u8) -> __m512i {
        // SAFETY: by contract.
        unsafe { _mm512_loadu_si512(from.cast()) }
    }

    #[inline(always)]
    unsafe fn store(self, to: *mut u64) {
        // SAFETY: by contract.
        unsafe { _mm512_storeu_si512(to.cast(), self) }
    }

    #[inline(always)]
    unsafe fn splat(word: u64) -> __m512i {
        // SAFETY: by contract.
        unsafe { _mm512_set1_epi64(word as i64) }
    }

    #[inline(always)]
    unsafe fn and(self, other: __m512i) -> __m512i {
        // SAFETY: by contract.
        unsafe { _mm512_and_si512(self, other) }
    }

    #[inline(always)]
    unsafe fn or(self, other: __m512i) -> __m512i {
        // SAFETY: by contract.
        unsafe { _mm512_or_si512(self, other) }
    }

    #[inline(always)]
    unsafe fn without(self, other: __m512i) -> __m512i {
        // SAFETY: by contract.
        unsafe { _mm512_andnot_si512(other, self) }
    }

    #[inline(always)]
    unsafe fn and_without(self, a: __m512i, b: __m512i) -> __m512i {
        // SAFETY: by contract.
        unsafe { _mm512_ternarylogic_epi64::<{ A & B & !C }>(self, a, b) }
    }

    #[inline(always)]
    unsafe fn where_same(self, a: __m512i, b: __m512i) -> __m512i {
        // SAFETY: by contract.
        unsafe { _mm512_ternarylogic_epi64::<{ A & !(B ^ C) }>(self, a, b) }
    }

    #[inline(always)]
    unsafe fn is_zero(self) -> bool {
        // SAFETY: by contract.
        unsafe { _mm512_test_epi64_mask(self, self) == 0 }
    }
}

impl Transpose for Avx512 {
    #[inline(always)]
    unsafe fn bytes(from: *const u8, planes: usize, to: &mut [u8; 64]) {
        // SAFETY: 64 bytes; the rest by contract.
        unsafe {
            let mut bytes = _mm512_setzero_si512();
            for p in 8 - planes..8 {
                let bit = _mm512_set1_epi8((0x80u8 >> p) as i8);
                bytes = _mm512_mask_add_epi8(bytes, transpose::word(from, planes, p), bytes, bit);
            }
            _mm512_storeu_si512(to.as_mut_ptr().cast(), bytes);
        }
    }

    #[inline(always)]
    unsafe fn planes(bytes: &[u8; 64]) -> [u64; 8] {
        // SAFETY: 64 bytes; the rest by contract.
        unsafe {
            let mut bytes = _mm512_loadu_si512(bytes.as_ptr().cast());
            std::array::from_fn(|_| {
                let plane = _mm512_movepi8_mask(bytes);
                bytes = _mm512_add_epi8(bytes, bytes);
                plane
            })
        }
    }
}

/// See [`super::between`].
#[target_feature(enable = "avx512vbmi,avx512vbmi2,avx512dq,avx512vl,bmi1,bmi2,lzcnt,popcnt")]
pub fn between(
    codes: Planes<'_>,
    rows: Range<usize>,
    range: CodeRange,
    op: RangeOp,
    combine: Combine,
    out: &mut [u64],
) {
    // SAFETY: this function has the features; the rows were checked.
    unsafe { scan::scan::<__m512i>(codes, rows, range, op, combine, out) }
}

/// See [`super::unpack`].
#[target_feature(enable = "avx512vbmi,avx512vbmi2,avx512dq,avx512vl,bmi1,bmi2,lzcnt,popcnt")]
pub fn unpack<C: CodeWord>(codes: Planes<'_>, selection: Selection<'_>, out: &mut [C]) -> usize {
    let count = selection.check(codes.rows, out.len());
    // SAFETY: this function has the features, and the selection was checked.
    unsafe { transpose::unpack::<Avx512, C>(codes, selection, &mut out[..count]) }
    count
}

/// See [`super::pack`].
#[target_feature(enable = "avx512vbmi,avx512vbmi2,avx512dq,avx512vl,bmi1,bmi2,lzcnt,popcnt")]
pub fn pack(codes: &[u64], bits: u32, out: &mut [u8]) {
    // SAFETY: this function has the features.
    unsafe { transpose::pack::<Avx512>(codes, bits, out) }
}
