//! Between planes and codes: both ways by way of bytes, 64 rows at a time.
//!
//! Eight planes of 64 rows are 64 bytes, one a row; the bytes of a code are slices as those of
//! ByteSlice, padded in front, and the kernels that put ByteSlice codes together do the rest.

use super::planes::{PLANE_BYTES, Planes, SEGMENT_ROWS};
use crate::byteslice::gather::{Interleave, by_slices};
use crate::selection::masked_word;
use crate::{CodeWord, Selection, unpack};

/// Groups of 64 rows that are turned into bytes at a time.
const BATCH: usize = 16;
/// Room for a batch of rows that begins within a group, and for what a whole-vector store may write
/// behind it.
const BATCH_BYTES: usize = (BATCH + 1) * 64 + 64;
/// Below this many rows of a batch, each is fetched for itself.
const FEW: usize = 8;

/// What an instruction set brings: a matrix of 8 planes by 64 rows, transposed.
///
/// # Safety
/// All methods: the machine has the instruction set.
pub(super) trait Transpose: Interleave {
    /// Bit `planes - 1 - p` of byte `i` is bit `i` of plane `p`; there are up to 8, each of 8 bytes at a
    /// distance of [`PLANE_BYTES`], which must be readable.
    unsafe fn bytes(from: *const u8, planes: usize, to: &mut [u8; 64]);

    /// The inverse, of eight planes.
    unsafe fn planes(bytes: &[u8; 64]) -> [u64; 8];
}

/// See [`super::pack`]; `out` is zero in the last segment.
///
/// # Safety
/// As [`Transpose`].
#[inline(always)]
pub(super) unsafe fn pack<U: Transpose>(codes: &[u64], bits: u32, out: &mut [u8]) {
    let segments = out.chunks_exact_mut(bits as usize * PLANE_BYTES);
    for (codes, segment) in codes.chunks(SEGMENT_ROWS).zip(segments) {
        for (group, codes) in codes.chunks(64).enumerate() {
            // SAFETY: by contract.
            unsafe {
                match codes.as_array::<64>() {
                    Some(codes) => pack_group::<U>(codes, segment, group),
                    None => {
                        let mut padded = [0; 64];
                        padded[..codes.len()].copy_from_slice(codes);
                        pack_group::<U>(&padded, segment, group);
                    }
                }
            }
        }
    }
}

/// Packs 64 codes, the group of this number in their segment.
///
/// # Safety
/// As [`Transpose`].
#[inline(always)]
unsafe fn pack_group<U: Transpose>(codes: &[u64; 64], segment: &mut [u8], group: usize) {
    let (planes, _) = segment.as_chunks_mut::<PLANE_BYTES>();
    for (low, planes) in planes.rchunks_mut(8).enumerate() {
        let bytes = std::array::from_fn(|i| (codes[i] >> (low * 8)) as u8);
        // SAFETY: by contract.
        let words = unsafe { U::planes(&bytes) };
        for (plane, word) in planes.iter_mut().rev().zip(words.into_iter().rev()) {
            plane[group * 8..][..8].copy_from_slice(&word.to_le_bytes());
        }
    }
}

/// See [`super::unpack`].
///
/// # Safety
/// The machine has the instruction set; the selection was checked against `codes` and `out`.
#[inline(always)]
pub(super) unsafe fn unpack<U: Transpose, C: CodeWord>(
    codes: Planes<'_>,
    selection: Selection<'_>,
    out: &mut [C],
) {
    // SAFETY: by contract.
    unsafe { by_slices!(codes.bits.div_ceil(8), C, selected::<U, C>(codes, selection, out)) }
}

/// # Safety
/// As [`unpack`]; the codes have `SLICES` slices.
#[inline(always)]
unsafe fn selected<U: Transpose, C: CodeWord, const SLICES: usize>(
    codes: Planes<'_>,
    selection: Selection<'_>,
    out: &mut [C],
) {
    // SAFETY: by contract.
    unsafe {
        match selection {
            Selection::All { start, len } => {
                all::<U, C, SLICES>(codes, start as usize, &mut out[..len as usize]);
            }
            Selection::Bits { words, start, len } => {
                by_bits::<U, C, SLICES>(codes, words, start as usize, len, out);
            }
            Selection::Positions(positions) => at_positions::<U, C, SLICES>(codes, positions, out),
        }
    }
}

/// # Safety
/// As [`selected`].
#[inline(always)]
unsafe fn all<U: Transpose, C: CodeWord, const SLICES: usize>(
    codes: Planes<'_>,
    start: usize,
    out: &mut [C],
) {
    let mut buffer = [[0u8; BATCH_BYTES]; SLICES];
    let within = start % 64;
    for (i, out) in out.chunks_mut(BATCH * 64).enumerate() {
        let first = start / 64 + i * BATCH;
        for group in 0..(within + out.len()).div_ceil(64) {
            // SAFETY: by contract.
            unsafe { bytes_of_group::<U, SLICES>(codes, first + group, &mut buffer, group * 64) };
        }
        // SAFETY: the buffers hold the rows.
        unsafe {
            let from = buffer[0].as_ptr().add(within);
            U::run::<C, SLICES>(from, BATCH_BYTES, 0, out.as_mut_ptr(), out.len());
        }
    }
}

/// # Safety
/// As [`selected`].
#[inline(always)]
unsafe fn by_bits<U: Transpose, C: CodeWord, const SLICES: usize>(
    codes: Planes<'_>,
    words: &[u64],
    start: usize,
    len: u32,
    out: &mut [C],
) {
    let mut buffer = [[0u8; BATCH_BYTES]; SLICES];
    let mut dense = [[0u8; BATCH_BYTES]; SLICES];
    let (within, mut done) = (start % 64, 0);
    for (i, batch) in words.chunks(BATCH).enumerate() {
        let first = start + i * BATCH * 64;
        let rows = (len as usize - i * BATCH * 64).min(BATCH * 64) as u32;
        let selected = |word: usize| {
            if word < batch.len() {
                masked_word(batch, rows, word)
            } else {
                0
            }
        };
        let count = (0..batch.len())
            .map(|word| selected(word).count_ones() as usize)
            .sum();
        let out = &mut out[done..][..count];
        done += count;
        if count < FEW {
            let selection = Selection::Bits {
                words: batch,
                start: 0,
                len: rows,
            };
            for (out, row) in out.iter_mut().zip(selection.rows()) {
                *out = C::from_u64(codes.code(first + row));
            }
            continue;
        }
        for group in 0..(within + rows as usize).div_ceil(64) {
            // A group whose rows begin within a word has the end of the word before.
            let before = match group.checked_sub(1) {
                Some(word) if within > 0 => selected(word) >> (64 - within),
                _ => 0,
            };
            if before | selected(group) << within != 0 {
                // SAFETY: by contract.
                unsafe { bytes_of_group::<U, SLICES>(codes, first / 64 + group, &mut buffer, group * 64) };
            }
        }
        let selection = Selection::Bits {
            words: batch,
            start: within as u32,
            len: rows,
        };
        for (buffer, dense) in buffer.iter().zip(&mut dense) {
            unpack::copy_values(U::ISA, &buffer[..], selection, dense);
        }
        // SAFETY: the buffers hold the rows.
        unsafe { U::run::<C, SLICES>(dense[0].as_ptr(), BATCH_BYTES, 0, out.as_mut_ptr(), count) };
    }
}

/// Positions of the same group share its bytes.
///
/// # Safety
/// As [`selected`].
#[inline(always)]
unsafe fn at_positions<U: Transpose, C: CodeWord, const SLICES: usize>(
    codes: Planes<'_>,
    positions: &[u16],
    out: &mut [C],
) {
    let mut buffer = [[0u8; BATCH_BYTES]; SLICES];
    let mut done = 0;
    for positions in positions.chunk_by(|a, b| a / 64 == b / 64) {
        let out = &mut out[done..][..positions.len()];
        done += positions.len();
        if let [position] = *positions {
            out[0] = C::from_u64(codes.code(position as usize));
            continue;
        }
        // SAFETY: by contract.
        unsafe { bytes_of_group::<U, SLICES>(codes, positions[0] as usize / 64, &mut buffer, 0) };
        for (out, position) in out.iter_mut().zip(positions) {
            let bytes = buffer.iter().map(|slice| slice[*position as usize % 64]);
            *out = C::from_u64(bytes.fold(0, |code, byte| code << 8 | u64::from(byte)));
        }
    }
}

/// Writes the bytes of the 64 rows of a group to `buffer[..][at..]`.
///
/// # Safety
/// As [`selected`].
#[inline(always)]
unsafe fn bytes_of_group<U: Transpose, const SLICES: usize>(
    codes: Planes<'_>,
    group: usize,
    buffer: &mut [[u8; BATCH_BYTES]; SLICES],
    at: usize,
) {
    let (mut from, mut left) = (codes.register(group), codes.bits);
    for (j, slice) in buffer.iter_mut().enumerate() {
        // The first slice has the planes that are left when the others have eight each.
        let planes = left - (SLICES - 1 - j) * 8;
        let to = slice[at..].first_chunk_mut().expect("room for a group");
        // SAFETY: the planes of a group are checked.
        unsafe {
            match planes {
                8 => U::bytes(from, 8, to),
                planes => U::bytes(from, planes, to),
            }
        }
        from = from.wrapping_add(planes * PLANE_BYTES);
        left -= planes;
    }
}

/// The word of plane `p` of those that end with bit 0: `planes` of them stand at `from`, those in front
/// are zero.
///
/// # Safety
/// The planes are readable.
#[inline(always)]
pub(super) unsafe fn word(from: *const u8, planes: usize, p: usize) -> u64 {
    match (p + planes).checked_sub(8) {
        // SAFETY: by contract.
        Some(i) => u64::from_le(unsafe { from.add(i * PLANE_BYTES).cast::<u64>().read_unaligned() }),
        None => 0,
    }
}
