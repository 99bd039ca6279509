//! Unpacking horizontally packed words, in loops the compiler makes vectors of.
//!
//! The words of a segment lie apart, as those of eight segments are interleaved, so they are brought
//! together first; then each field of eight words at a time is shifted down, masked and narrowed, which
//! gives codes of consecutive rows.

use super::fields::{Fields, SEGMENTS, VECTOR};
use super::matches::words;
use super::scalar;
use crate::packed::top;
use crate::selection::masked_word;
use crate::{CodeWord, Isa, Packed, Selection, unpack};

/// Words taken at a time.
const AT_ONCE: usize = 8;
/// Codes of a group, and what is written beyond the last.
const ROOM: usize = 512 + AT_ONCE;
/// Selected rows of 64 from which on they are unpacked all.
const DENSE: usize = 8;
/// Rows of match bits taken at a time.
const BATCH: usize = 1024;

/// See [`super::unpack`].
#[inline(always)]
pub(super) fn unpack<C: CodeWord>(
    isa: Isa,
    codes: Packed<'_>,
    selection: Selection<'_>,
    out: &mut [C],
) -> usize {
    let count = selection.check(codes.rows, out.len());
    let out = &mut out[..count];
    match selection {
        Selection::All { start, .. } => all(codes, start as usize, out),
        Selection::Bits { words, start, len } => by_bits(isa, codes, words, start as usize, len, out),
        Selection::Positions(positions) => {
            for (out, &position) in out.iter_mut().zip(positions) {
                *out = C::from_u64(scalar::get(codes, position as usize));
            }
        }
    }
    count
}

/// The codes of as many rows as `out` has words, from `row` on.
#[inline(always)]
fn all<C: CodeWord>(codes: Packed<'_>, mut row: usize, mut out: &mut [C]) {
    let fields = *Fields::of(codes.bits);
    if fields.width == 1 {
        let (words, _) = codes.bytes[row * 8..].as_chunks::<8>();
        for (out, word) in out.iter_mut().zip(words) {
            *out = C::from_u64(u64::from_le_bytes(*word));
        }
        return;
    }
    let mut buffer = [C::default(); ROOM];
    while !out.is_empty() {
        let (group, skip) = (row / fields.group(), row % fields.group());
        let bytes = &codes.bytes[group * fields.group_bytes()..][..fields.group_bytes()];
        unpack_group(&fields, top(codes.bits), bytes, &mut buffer);
        let (now, later) = out.split_at_mut((fields.group() - skip).min(out.len()));
        now.copy_from_slice(&buffer[skip..][..now.len()]);
        row += now.len();
        out = later;
    }
}

/// The codes of a group, in the order of its rows.
#[inline(always)]
fn unpack_group<C: CodeWord>(fields: &Fields, mask: u64, bytes: &[u8], out: &mut [C; ROOM]) {
    const WORDS: usize = 32;
    let mut segments = [[0; WORDS]; SEGMENTS];
    for (w, vector) in bytes.as_chunks::<VECTOR>().0.iter().enumerate().take(WORDS) {
        for (segment, word) in segments.iter_mut().zip(words(vector)) {
            segment[w] = word;
        }
    }
    for (s, segment) in segments.iter().enumerate() {
        for field in 0..fields.per_word {
            let shift = field * fields.width;
            let first = s * fields.segment() + shift;
            // Beyond the last word there are zeros, written over by the next field.
            for w in (0..fields.width).step_by(AT_ONCE) {
                let to = &mut out[first + w..][..AT_ONCE];
                for (out, word) in to.iter_mut().zip(&segment[w..][..AT_ONCE]) {
                    *out = C::from_u64(word >> shift & mask);
                }
            }
        }
    }
}

/// The codes of rows with a set bit: all unpacked and compressed where they are many.
#[inline(always)]
fn by_bits<C: CodeWord>(
    isa: Isa,
    codes: Packed<'_>,
    words: &[u64],
    start: usize,
    len: u32,
    mut out: &mut [C],
) {
    let mut buffer = [C::default(); BATCH];
    for (i, words) in words.chunks(BATCH / 64).enumerate() {
        let first = start + i * BATCH;
        let len = (len - (i * BATCH) as u32).min(BATCH as u32);
        let bits = |i: usize| masked_word(words, len, i);
        let count = (0..words.len()).map(|i| bits(i).count_ones() as usize).sum();
        let (now, later) = out.split_at_mut(count);
        out = later;
        if count >= words.len() * DENSE {
            let buffer = &mut buffer[..len as usize];
            all(codes, first, buffer);
            unpack::copy_values(isa, buffer, Selection::Bits { words, start: 0, len }, now);
            continue;
        }
        let mut now = now.iter_mut();
        for i in 0..words.len() {
            let mut word = bits(i);
            for out in now.by_ref().take(word.count_ones() as usize) {
                let row = first + i * 64 + word.trailing_zeros() as usize;
                *out = C::from_u64(scalar::get(codes, row));
                word &= word - 1;
            }
        }
    }
}
