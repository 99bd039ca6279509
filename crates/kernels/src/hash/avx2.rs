//! The oracle's loop, compiled for 256-bit vectors.

use super::{HashKey, scalar};

/// See [`super::combine_column`].
#[target_feature(enable = "avx2,bmi1,bmi2,lzcnt,popcnt")]
pub fn combine_column<T: HashKey>(values: &[T], validity: Option<&[u8]>, hashes: &mut [u64]) {
    scalar::combine_column(values, validity, hashes);
}
