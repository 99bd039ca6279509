//! The oracle of unpacking: row by row.

use super::Reference;
use crate::selection::write_rows;
use crate::{CodeWord, Plain, Selection};

/// See [`super::unpack`].
pub fn unpack<C: CodeWord, T: Reference>(
    codes: &[C],
    reference: T,
    selection: Selection<'_>,
    out: &mut [T],
) -> usize {
    write_rows(codes.len(), selection, out, |row| {
        reference.plus(codes[row].to_u64())
    })
}

/// See [`super::gather_dictionary`].
pub fn gather_dictionary<C: CodeWord, T: Plain>(
    codes: &[C],
    dictionary: &[T],
    selection: Selection<'_>,
    out: &mut [T],
) -> usize {
    write_rows(codes.len(), selection, out, |row| {
        let code = codes[row].to_u64() as usize;
        assert!(code < dictionary.len(), "code beyond the dictionary");
        dictionary[code]
    })
}

/// See [`super::copy_values`].
pub fn copy_values<T: Plain>(values: &[T], selection: Selection<'_>, out: &mut [T]) -> usize {
    write_rows(values.len(), selection, out, |row| values[row])
}

/// See [`super::expand_bits`].
pub fn expand_bits(bits: &[u64], selection: Selection<'_>, out: &mut [u8]) -> usize {
    write_rows(bits.len() * 64, selection, out, |row| {
        (bits[row / 64] >> (row % 64) & 1) as u8
    })
}

/// See [`super::nonzero_codes`].
pub fn nonzero_codes<C: CodeWord>(codes: &[C], selection: Selection<'_>, out: &mut [u8]) -> usize {
    write_rows(codes.len(), selection, out, |row| {
        u8::from(codes[row].to_u64() != 0)
    })
}
