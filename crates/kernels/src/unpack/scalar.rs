//! The oracle of unpacking: row by row.

use super::Reference;
use crate::{CodeWord, Plain, Selection};

/// See [`super::unpack`].
pub fn unpack<C: CodeWord, T: Reference>(codes: &[C], reference: T, selection: Selection<'_>, out: &mut [T]) {
    write_rows(selection, out, |row| reference.plus(codes[row].to_u64()));
}

/// See [`super::gather_dictionary`].
pub fn gather_dictionary<C: CodeWord, T: Plain>(
    codes: &[C],
    dictionary: &[T],
    selection: Selection<'_>,
    out: &mut [T],
) {
    write_rows(selection, out, |row| dictionary[codes[row].to_u64() as usize]);
}

/// See [`super::copy_values`].
pub fn copy_values<T: Plain>(values: &[T], selection: Selection<'_>, out: &mut [T]) {
    write_rows(selection, out, |row| values[row]);
}

/// See [`super::expand_bits`].
pub fn expand_bits(bits: &[u64], selection: Selection<'_>, out: &mut [u8]) {
    write_rows(selection, out, |row| (bits[row / 64] >> (row % 64) & 1) as u8);
}

/// See [`super::nonzero_codes`].
pub fn nonzero_codes<C: CodeWord>(codes: &[C], selection: Selection<'_>, out: &mut [u8]) {
    write_rows(selection, out, |row| u8::from(codes[row].to_u64() != 0));
}

fn write_rows<T>(selection: Selection<'_>, out: &mut [T], value: impl Fn(usize) -> T) {
    for (row, out) in selection.rows().zip(out) {
        *out = value(row);
    }
}
