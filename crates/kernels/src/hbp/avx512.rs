//! Horizontally packed codes on 512-bit vectors.

use super::fields::VECTOR;
use super::matches::{self, Test, Unit, Words};
use super::rows;
use crate::compare::avx512::Lanes;
use crate::{CodeWord, Combine, Isa, Packed, RangeOp, Selection};
use std::arch::x86_64::*;
use std::ops::Range;

super::instantiate!(
    Avx512,
    Isa::Avx512,
    "avx512vbmi,avx512vbmi2,avx512dq,avx512vl,bmi1,bmi2,lzcnt,popcnt",
    // With scatters at hand the compiler makes five times as slow a loop.
    "avx2,bmi1,bmi2,lzcnt,popcnt"
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
}
