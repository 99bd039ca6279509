//! The oracle's loop, compiled for 512-bit vectors (which have a 64-bit multiplication).

use super::{HashKey, scalar};

/// See [`super::combine_column`].
#[target_feature(enable = "avx512vbmi,avx512vbmi2,avx512dq,avx512vl,bmi1,bmi2,lzcnt,popcnt")]
pub fn combine_column<T: HashKey>(values: &[T], validity: Option<&[u8]>, hashes: &mut [u64]) {
    scalar::combine_column(values, validity, hashes);
}
