//! The loops the vector units share: selected rows are brought together narrow, then mapped wide.
//!
//! Bits are taken by compressing the codes as they lie, 1,024 rows at a time into a buffer in the
//! first-level cache, and decoding the dense codes; so the decoding loops have no condition and the
//! compiler vectorizes them for the instruction set of their caller. Positions are fetched one by one
//! by loops compiled without vector units lest they become gathers: at densities where positions are
//! used, that beats gathers and anything that reads every row.

use super::Reference;
use crate::selection::masked_word;
use crate::{CodeWord, Plain, Selection};

/// Words of match bits compressed into the buffer at a time.
const BATCH_WORDS: usize = 16;
const BATCH_ROWS: usize = BATCH_WORDS * 64;
/// What a whole-vector store may write beyond the last code.
const SLACK: usize = 64;

/// What an instruction set brings: rows with a set bit, packed to the front.
///
/// # Safety
/// All methods: the machine has the instruction set; `from` holds every row whose bit is set.
pub(super) trait Compress {
    /// Copies `from[row + i]` for each set bit `i` of `word` to `out[at..]`, which has room for them,
    /// and may write anything behind them within `out`.
    unsafe fn word<P: Plain>(from: &[P], row: usize, word: u64, out: &mut [P], at: usize);

    /// Writes bits `0..count` of `mask` as bytes 0 or 1 to `out[at..]`, which has room for them, and
    /// may write anything behind them within `out`.
    unsafe fn spread(mask: u64, count: usize, out: &mut [u8], at: usize);

    /// The bits of `from` where `mask` has one, packed to the low end.
    unsafe fn extract(from: u64, mask: u64) -> u64;
}

/// Copies the rows with a set bit; `words`, `start`, `len` as in [`Selection::Bits`]. Returns their
/// number.
///
/// # Safety
/// As [`Compress`]; `out` has room for all of them.
#[inline(always)]
unsafe fn compress<U: Compress, P: Plain>(
    from: &[P],
    words: &[u64],
    start: usize,
    len: u32,
    out: &mut [P],
) -> usize {
    let mut at = 0;
    for i in 0..words.len() {
        let word = masked_word(words, len, i);
        if word != 0 {
            // SAFETY: by contract.
            unsafe { U::word(from, start + i * 64, word, out, at) };
            at += word.count_ones() as usize;
        }
    }
    at
}

/// Decodes the selected rows: dense codes by `dense`, those at positions by `one`.
///
/// # Safety
/// The machine has the instruction set; the selection was checked against `codes` and `out`.
#[inline(always)]
unsafe fn map<U: Compress, C: CodeWord, T: Plain>(
    codes: &[C],
    selection: Selection<'_>,
    out: &mut [T],
    dense: impl Fn(&[C], &mut [T]),
    one: impl Fn(C) -> T,
) {
    match selection {
        Selection::All { start, len } => dense(&codes[start as usize..][..len as usize], out),
        Selection::Bits { words, start, len } => {
            let mut buffer = [C::default(); BATCH_ROWS + SLACK];
            let mut done = 0;
            for (i, batch) in words.chunks(BATCH_WORDS).enumerate() {
                let first = i * BATCH_ROWS;
                let rows = (len as usize - first).min(BATCH_ROWS) as u32;
                // SAFETY: the selection was checked; the buffer holds a batch and the slack.
                let count =
                    unsafe { compress::<U, C>(codes, batch, start as usize + first, rows, &mut buffer) };
                dense(&buffer[..count], &mut out[done..]);
                done += count;
            }
        }
        // SAFETY: the selection was checked.
        Selection::Positions(positions) => unsafe { at_positions(codes, positions, out, one) },
    }
}

/// Writes `value` of each dense code.
#[inline(always)]
fn map_dense<C: CodeWord, T: Plain>(codes: &[C], out: &mut [T], value: impl Fn(C) -> T) {
    for (out, &code) in out.iter_mut().zip(codes) {
        *out = value(code);
    }
}

/// Writes `value` of what stands at each position. Not inlined: it is to be compiled without the
/// vector units of its callers.
///
/// # Safety
/// The positions lie within `from`.
#[inline(never)]
unsafe fn at_positions<P: Plain, T: Plain>(
    from: &[P],
    positions: &[u16],
    out: &mut [T],
    value: impl Fn(P) -> T,
) {
    for (out, &position) in out.iter_mut().zip(positions) {
        // SAFETY: by contract.
        *out = value(unsafe { *from.get_unchecked(position as usize) });
    }
}

/// Writes the dictionary's entry of each dense code. Not inlined, as [`at_positions`].
#[inline(never)]
fn look_up<C: CodeWord, T: Plain>(codes: &[C], dictionary: &[T], out: &mut [T]) {
    let greatest = codes.iter().copied().max().unwrap_or_default().to_u64();
    assert!(
        codes.is_empty() || greatest < dictionary.len() as u64,
        "code beyond the dictionary"
    );
    for (out, &code) in out.iter_mut().zip(codes) {
        // SAFETY: no code is greater than the greatest, which lies within.
        *out = unsafe { *dictionary.get_unchecked(code.to_u64() as usize) };
    }
}

/// See [`super::unpack`].
///
/// # Safety
/// The machine has the instruction set; the selection was checked against `codes` and `out`.
#[inline(always)]
pub(super) unsafe fn unpack<U: Compress, C: CodeWord, T: Reference>(
    codes: &[C],
    reference: T,
    selection: Selection<'_>,
    out: &mut [T],
) {
    let value = |code: C| reference.plus(code.to_u64());
    // SAFETY: by contract.
    unsafe {
        map::<U, C, T>(
            codes,
            selection,
            out,
            |codes, out| map_dense(codes, out, value),
            value,
        )
    }
}

/// See [`super::gather_dictionary`].
///
/// # Safety
/// The machine has the instruction set; the selection was checked against `codes` and `out`.
#[inline(always)]
pub(super) unsafe fn gather_dictionary<U: Compress, C: CodeWord, T: Plain>(
    codes: &[C],
    dictionary: &[T],
    selection: Selection<'_>,
    out: &mut [T],
) {
    let value = |code: C| {
        assert!(
            code.to_u64() < dictionary.len() as u64,
            "code beyond the dictionary"
        );
        dictionary[code.to_u64() as usize]
    };
    // SAFETY: by contract.
    unsafe {
        map::<U, C, T>(
            codes,
            selection,
            out,
            |codes, out| look_up(codes, dictionary, out),
            value,
        )
    }
}

/// See [`super::nonzero_codes`].
///
/// # Safety
/// The machine has the instruction set; the selection was checked against `codes` and `out`.
#[inline(always)]
pub(super) unsafe fn nonzero_codes<U: Compress, C: CodeWord>(
    codes: &[C],
    selection: Selection<'_>,
    out: &mut [u8],
) {
    let value = |code: C| u8::from(code != C::default());
    // SAFETY: by contract.
    unsafe {
        map::<U, C, u8>(
            codes,
            selection,
            out,
            |codes, out| map_dense(codes, out, value),
            value,
        )
    }
}

/// See [`super::copy_values`].
///
/// # Safety
/// The machine has the instruction set; the selection was checked against `values` and `out`.
#[inline(always)]
pub(super) unsafe fn copy_values<U: Compress, T: Plain>(
    values: &[T],
    selection: Selection<'_>,
    out: &mut [T],
) {
    match selection {
        Selection::All { start, len } => {
            out[..len as usize].copy_from_slice(&values[start as usize..][..len as usize]);
        }
        Selection::Bits { words, start, len } => {
            // SAFETY: by contract.
            unsafe { compress::<U, T>(values, words, start as usize, len, out) };
        }
        // SAFETY: the selection was checked.
        Selection::Positions(positions) => unsafe { at_positions(values, positions, out, |value| value) },
    }
}

/// See [`super::expand_bits`].
///
/// # Safety
/// The machine has the instruction set; the selection was checked against `bits` and `out`.
#[inline(always)]
pub(super) unsafe fn expand_bits<U: Compress>(bits: &[u64], selection: Selection<'_>, out: &mut [u8]) {
    match selection {
        Selection::All { start, len } => {
            for at in (0..len as usize).step_by(64) {
                let count = (len as usize - at).min(64);
                // SAFETY: `out` has `len` bytes.
                unsafe { U::spread(word_at(bits, start as usize + at), count, out, at) };
            }
        }
        Selection::Bits { words, start, len } => {
            let mut at = 0;
            for i in 0..words.len() {
                let word = masked_word(words, len, i);
                let count = word.count_ones() as usize;
                // SAFETY: `out` has a byte for each set bit.
                unsafe {
                    let valid = U::extract(word_at(bits, start as usize + i * 64), word);
                    U::spread(valid, count, out, at);
                }
                at += count;
            }
        }
        Selection::Positions(positions) => {
            for (out, &position) in out.iter_mut().zip(positions) {
                *out = (bits[position as usize / 64] >> (position % 64) & 1) as u8;
            }
        }
    }
}

/// The 64 bits from bit `row` on; zeros behind the last word.
#[inline(always)]
fn word_at(bits: &[u64], row: usize) -> u64 {
    let word = |i: usize| bits.get(i).copied().unwrap_or(0);
    match row % 64 {
        0 => word(row / 64),
        shift => word(row / 64) >> shift | word(row / 64 + 1) << (64 - shift),
    }
}

/// Instantiates the loops for one instruction set: `$unit` implements [`Compress`].
macro_rules! instantiate {
    ($unit:ty, $features:literal) => {
        /// See [`super::unpack`].
        #[target_feature(enable = $features)]
        pub fn unpack<C: crate::CodeWord, T: super::Reference>(
            codes: &[C],
            reference: T,
            selection: crate::Selection<'_>,
            out: &mut [T],
        ) -> usize {
            let count = selection.check(codes.len(), out.len());
            // SAFETY: this function has the features, and the selection was checked.
            unsafe { super::selected::unpack::<$unit, C, T>(codes, reference, selection, out) }
            count
        }

        /// See [`super::gather_dictionary`].
        #[target_feature(enable = $features)]
        pub fn gather_dictionary<C: crate::CodeWord, T: crate::Plain>(
            codes: &[C],
            dictionary: &[T],
            selection: crate::Selection<'_>,
            out: &mut [T],
        ) -> usize {
            let count = selection.check(codes.len(), out.len());
            // SAFETY: this function has the features, and the selection was checked.
            unsafe { super::selected::gather_dictionary::<$unit, C, T>(codes, dictionary, selection, out) }
            count
        }

        /// See [`super::nonzero_codes`].
        #[target_feature(enable = $features)]
        pub fn nonzero_codes<C: crate::CodeWord>(
            codes: &[C],
            selection: crate::Selection<'_>,
            out: &mut [u8],
        ) -> usize {
            let count = selection.check(codes.len(), out.len());
            // SAFETY: this function has the features, and the selection was checked.
            unsafe { super::selected::nonzero_codes::<$unit, C>(codes, selection, out) }
            count
        }

        /// See [`super::copy_values`].
        #[target_feature(enable = $features)]
        pub fn copy_values<T: crate::Plain>(
            values: &[T],
            selection: crate::Selection<'_>,
            out: &mut [T],
        ) -> usize {
            let count = selection.check(values.len(), out.len());
            // SAFETY: this function has the features, and the selection was checked.
            unsafe { super::selected::copy_values::<$unit, T>(values, selection, out) }
            count
        }

        /// See [`super::expand_bits`].
        #[target_feature(enable = $features)]
        pub fn expand_bits(bits: &[u64], selection: crate::Selection<'_>, out: &mut [u8]) -> usize {
            let count = selection.check(bits.len() * 64, out.len());
            // SAFETY: this function has the features, and the selection was checked.
            unsafe { super::selected::expand_bits::<$unit>(bits, selection, out) }
            count
        }
    };
}
pub(super) use instantiate;
