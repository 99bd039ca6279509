//! The loops over a column; also compiled for the wider instruction sets.

use super::{HashKey, NULL_WORD, combine, fold_string};
use frazil_types::StringRef;

/// See [`super::combine_column`].
#[inline(always)]
pub fn combine_column<T: HashKey>(values: &[T], validity: Option<&[u8]>, hashes: &mut [u64]) {
    let hashes = &mut hashes[..values.len()];
    match validity {
        None => {
            for (hash, &value) in hashes.iter_mut().zip(values) {
                *hash = value.fold(*hash);
            }
        }
        Some(validity) => {
            for ((hash, &value), &valid) in hashes.iter_mut().zip(values).zip(&validity[..values.len()]) {
                *hash = if valid != 0 {
                    value.fold(*hash)
                } else {
                    combine(*hash, NULL_WORD)
                };
            }
        }
    }
}

/// See [`super::combine_strings`].
///
/// # Safety
/// The bytes of every string that is not NULL must be alive.
#[inline(always)]
pub unsafe fn combine_strings(strings: &[StringRef], validity: Option<&[u8]>, hashes: &mut [u64]) {
    let hashes = &mut hashes[..strings.len()];
    for (i, (hash, &string)) in hashes.iter_mut().zip(strings).enumerate() {
        let valid = validity.is_none_or(|v| v[i] != 0);
        *hash = if valid {
            // SAFETY: by contract; NULLs are not looked at.
            unsafe { fold_string(*hash, string) }
        } else {
            combine(*hash, NULL_WORD)
        };
    }
}

/// Folds bytes in by eight, the last word padded by zeros.
#[inline(always)]
pub fn fold_bytes(mut hash: u64, bytes: &[u8]) -> u64 {
    let (words, rest) = bytes.as_chunks::<8>();
    for word in words {
        hash = combine(hash, u64::from_le_bytes(*word));
    }
    if !rest.is_empty() {
        let mut last = [0; 8];
        last[..rest.len()].copy_from_slice(rest);
        hash = combine(hash, u64::from_le_bytes(last));
    }
    hash
}
