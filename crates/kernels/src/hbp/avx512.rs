//! Horizontally packed codes on 512-bit vectors.

use super::fields::VECTOR;
use super::matches::{self, Segments, Test, Unit, Words};
use super::rows;
use crate::compare::avx512::Lanes;
use crate::{CodeWord, Combine, Isa, Packed, RangeOp, Selection};
use std::arch::x86_64::*;
use std::ops::Range;

super::instantiate!(
    Avx512,
    Isa::Avx512,
    "avx512vbmi,avx512vbmi2,avx512dq,avx512vl,bmi1,bmi2,lzcnt,popcnt"
);

/// A vector of the format in one register.
struct Avx512;

impl Unit for Avx512 {
    #[inline(always)]
    unsafe fn group(vectors: &[[u8; VECTOR]], test: Test) -> Words {
        let mut matches = Words::default();
        // SAFETY: by contract; the loads and the store are of 64 bytes that are there.
        unsafe {
            let from_low = _mm512_set1_epi64(test.from_low as i64);
            let to_high = _mm512_set1_epi64(test.to_high as i64);
            let delimiters = _mm512_set1_epi64(test.delimiters as i64);
            let mut bits = _mm512_setzero_si512();
            for vector in vectors {
                let word = _mm512_loadu_si512(vector.as_ptr().cast());
                let inside =
                    _mm512_and_si512(_mm512_add_epi64(word, from_low), _mm512_sub_epi64(to_high, word));
                // The bits so far, or the delimiters of those inside.
                bits = _mm512_ternarylogic_epi64::<0xf8>(_mm512_srli_epi64::<1>(bits), inside, delimiters);
            }
            _mm512_storeu_si512(matches.as_mut_ptr().cast(), bits);
        }
        matches
    }

    #[inline(always)]
    unsafe fn segments(vectors: &[[u8; VECTOR]], segments: &mut Segments) {
        for (i, vectors) in vectors.chunks(8).enumerate() {
            let mut rows = [[0; VECTOR]; 8];
            rows[..vectors.len()].copy_from_slice(vectors);
            // SAFETY: by contract; a segment has room for whole blocks of eight words.
            unsafe {
                let columns = transpose(rows.map(|row| _mm512_loadu_si512(row.as_ptr().cast())));
                for (segment, column) in segments.iter_mut().zip(columns) {
                    _mm512_storeu_si512(segment[i * 8..][..8].as_mut_ptr().cast(), column);
                }
            }
        }
    }
}

/// Vector `i` gets lane `i` of every vector.
///
/// # Safety
/// The machine has AVX-512 F.
#[inline(always)]
unsafe fn transpose(v: [__m512i; 8]) -> [__m512i; 8] {
    // SAFETY: by contract.
    unsafe {
        // Pairs of rows: lanes 0 2 4 6 and 1 3 5 7.
        let even = |i: usize| _mm512_unpacklo_epi64(v[i], v[i + 1]);
        let odd = |i: usize| _mm512_unpackhi_epi64(v[i], v[i + 1]);
        let of = |a: __m512i, b: __m512i, c: __m512i, d: __m512i| {
            // Quarters 0 and 2, then 1 and 3, of two pairs of rows each; then of all.
            let (ab, cd) = (
                _mm512_shuffle_i64x2::<0x88>(a, b),
                _mm512_shuffle_i64x2::<0x88>(c, d),
            );
            let (ab2, cd2) = (
                _mm512_shuffle_i64x2::<0xdd>(a, b),
                _mm512_shuffle_i64x2::<0xdd>(c, d),
            );
            [
                _mm512_shuffle_i64x2::<0x88>(ab, cd),
                _mm512_shuffle_i64x2::<0x88>(ab2, cd2),
                _mm512_shuffle_i64x2::<0xdd>(ab, cd),
                _mm512_shuffle_i64x2::<0xdd>(ab2, cd2),
            ]
        };
        let [c0, c2, c4, c6] = of(even(0), even(2), even(4), even(6));
        let [c1, c3, c5, c7] = of(odd(0), odd(2), odd(4), odd(6));
        [c0, c1, c2, c3, c4, c5, c6, c7]
    }
}
