//! Horizontally packed codes on 256-bit vectors, two to a vector of the format.

use super::fields::VECTOR;
use super::matches::{self, Test, Unit, Words};
use super::rows;
use crate::compare::avx2::Lanes;
use crate::{CodeWord, Combine, Isa, Packed, RangeOp, Selection};
use std::arch::x86_64::*;
use std::ops::Range;

super::instantiate!(
    Avx2,
    Isa::Avx2,
    "avx2,bmi1,bmi2,lzcnt,popcnt",
    "avx2,bmi1,bmi2,lzcnt,popcnt"
);

/// Half a vector of the format in a register.
struct Avx2;

impl Unit for Avx2 {
    #[inline(always)]
    unsafe fn group(vectors: &[[u8; VECTOR]], test: Test) -> Words {
        let mut matches = Words::default();
        // SAFETY: by contract; the loads and the stores are of halves of 64 bytes that are there.
        unsafe {
            let from_low = _mm256_set1_epi64x(test.from_low as i64);
            let to_high = _mm256_set1_epi64x(test.to_high as i64);
            let delimiters = _mm256_set1_epi64x(test.delimiters as i64);
            let mut halves = [_mm256_setzero_si256(); 2];
            for vector in vectors {
                for (i, bits) in halves.iter_mut().enumerate() {
                    let word = _mm256_loadu_si256(vector.as_ptr().cast::<__m256i>().add(i));
                    let inside =
                        _mm256_and_si256(_mm256_add_epi64(word, from_low), _mm256_sub_epi64(to_high, word));
                    *bits = _mm256_or_si256(
                        _mm256_srli_epi64::<1>(*bits),
                        _mm256_and_si256(inside, delimiters),
                    );
                }
            }
            for (i, &bits) in halves.iter().enumerate() {
                _mm256_storeu_si256(matches.as_mut_ptr().cast::<__m256i>().add(i), bits);
            }
        }
        matches
    }
}
