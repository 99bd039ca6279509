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
    if rest.is_empty() {
        return hash;
    }
    let last = match bytes.last_chunk::<8>() {
        // A load that overlaps the word before it is cheaper than a copy of a length that is not known.
        Some(last) => u64::from_le_bytes(*last) >> (64 - 8 * rest.len()),
        None => rest
            .iter()
            .rev()
            .fold(0, |word, &byte| word << 8 | u64::from(byte)),
    };
    combine(hash, last)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_last_word_of_bytes_is_padded_by_zeros() {
        let bytes: Vec<u8> = (0..40).map(|i| i * 37 + 11).collect();
        for len in 0..bytes.len() {
            let expected = bytes[..len].chunks(8).fold(5, |hash, word| {
                let mut padded = [0; 8];
                padded[..word.len()].copy_from_slice(word);
                combine(hash, u64::from_le_bytes(padded))
            });
            assert_eq!(fold_bytes(5, &bytes[..len]), expected, "{len} bytes");
        }
    }
}
