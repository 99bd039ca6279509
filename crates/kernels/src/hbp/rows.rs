//! Packing and unpacking horizontally packed words, in loops the compiler makes vectors of.
//!
//! The words of a segment lie apart, as those of eight segments are interleaved, so they are brought
//! together first; then each field of eight words at a time is shifted down, masked and narrowed, which
//! gives codes of consecutive rows.

use super::fields::{Fields, SEGMENTS, VECTOR};
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
///
/// # Safety
/// The bytes are those of the codes.
#[inline(always)]
pub(super) unsafe fn unpack<C: CodeWord>(
    isa: Isa,
    codes: Packed<'_>,
    selection: Selection<'_>,
    out: &mut [C],
) -> usize {
    let count = selection.check(codes.rows, out.len());
    let out = &mut out[..count];
    // SAFETY: by contract, and the selection was checked.
    unsafe {
        match selection {
            Selection::All { start, .. } => all(codes, start as usize, out),
            Selection::Bits { words, start, len } => by_bits(isa, codes, words, start as usize, len, out),
            Selection::Positions(positions) => at_positions(codes, 0, positions, out),
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
    let mut segments = [[0; MOST_WORDS]; SEGMENTS];
    word_by_word(bytes.as_chunks().0, &mut segments);
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

/// The words of each segment of a group, as many as there are.
type Segments = [[u64; MOST_WORDS]; SEGMENTS];
/// Words of a segment of codes of up to 31 bits, at most.
const MOST_WORDS: usize = 32;

/// Brings the words of each segment together. Not inlined: it is to be compiled without the vector units
/// of its callers, lest the loads become gathers.
#[inline(never)]
fn word_by_word(vectors: &[[u8; VECTOR]], segments: &mut Segments) {
    for (w, vector) in vectors.iter().enumerate().take(MOST_WORDS) {
        for (segment, word) in segments.iter_mut().zip(vector.as_chunks::<8>().0) {
            segment[w] = u64::from_le_bytes(*word);
        }
    }
}

/// The codes of rows with a set bit: all unpacked and compressed where they are many.
///
/// # Safety
/// The bytes are those of the codes and the rows are some of them.
#[inline(always)]
unsafe fn by_bits<C: CodeWord>(
    isa: Isa,
    codes: Packed<'_>,
    words: &[u64],
    start: usize,
    len: u32,
    mut out: &mut [C],
) {
    let mut buffer = [C::default(); BATCH];
    let mut positions = [0; BATCH];
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
        let mut next = positions.iter_mut();
        for i in 0..words.len() {
            let mut word = bits(i);
            for position in next.by_ref().take(word.count_ones() as usize) {
                *position = (i * 64) as u16 + word.trailing_zeros() as u16;
                word &= word - 1;
            }
        }
        // SAFETY: by contract.
        unsafe { at_positions(codes, first, &positions[..count], now) };
    }
}

/// The codes of rows `first + position`. Not inlined: it is to be compiled without the vector units of its
/// callers, lest the loads become gathers.
///
/// # Safety
/// The bytes are those of the codes, and the rows are some of them.
#[inline(never)]
unsafe fn at_positions<C: CodeWord>(codes: Packed<'_>, first: usize, positions: &[u16], out: &mut [C]) {
    let fields = *Fields::of(codes.bits);
    let mask = top(codes.bits);
    for (out, &position) in out.iter_mut().zip(positions) {
        let (byte, shift) = fields.place(first + position as usize);
        // SAFETY: by contract.
        let word = unsafe { codes.bytes.as_ptr().add(byte).cast::<u64>().read_unaligned() };
        *out = C::from_u64(u64::from_le(word) >> shift & mask);
    }
}

/// See [`super::pack`].
#[inline(always)]
pub(super) fn pack(codes: &[u64], bits: u32, out: &mut [u8]) {
    let fields = *Fields::of(bits);
    let mask = top(bits);
    if fields.width == 1 {
        let (words, beyond) = out.as_chunks_mut::<8>().0.split_at_mut(codes.len());
        for (word, code) in words.iter_mut().zip(codes) {
            *word = (code & mask).to_le_bytes();
        }
        beyond.fill([0; 8]);
        return;
    }
    let mut room = [0; ROOM];
    for (group, out) in codes
        .chunks(fields.group())
        .zip(out.chunks_exact_mut(fields.group_bytes()))
    {
        room[..group.len()].copy_from_slice(group);
        room[group.len()..].fill(0);
        let (out, _) = out.as_chunks_mut::<VECTOR>();
        for s in 0..SEGMENTS {
            let mut segment = [0; MOST_WORDS];
            for field in 0..fields.per_word {
                let shift = field * fields.width;
                let first = s * fields.segment() + shift;
                // Beyond the last word there is what belongs to the next field; nobody reads it.
                for w in (0..fields.width).step_by(AT_ONCE) {
                    let from = &room[first + w..][..AT_ONCE];
                    for (word, code) in segment[w..][..AT_ONCE].iter_mut().zip(from) {
                        *word |= (code & mask) << shift;
                    }
                }
            }
            for (vector, word) in out.iter_mut().zip(segment) {
                vector[s * 8..][..8].copy_from_slice(&word.to_le_bytes());
            }
        }
    }
}
