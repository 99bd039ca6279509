//! The unpacking all vector units share: slices → codes.
//!
//! A run of rows is interleaved as it lies. Bits are taken slice by slice, by the kernel that
//! compresses byte-packed columns, 1,024 rows at a time into buffers in the first-level cache, and
//! what is left is interleaved; so rows are brought together while they are narrow. Few rows are
//! fetched one by one.

use super::slices::Slices;
use crate::selection::masked_word;
use crate::{CodeWord, Isa, Selection, unpack};

/// Words of match bits compressed into the buffers at a time.
const BATCH_WORDS: usize = 16;
const BATCH_ROWS: usize = BATCH_WORDS * 64;
/// What a whole-vector store may write beyond the last byte.
const SLACK: usize = 64;
/// Below this many rows of a batch for each slice, every row is fetched for itself.
const FEW: usize = 40;

/// What an instruction set brings: bytes of slices, put together.
pub(crate) trait Interleave {
    /// The instruction set.
    const ISA: Isa;

    /// Writes code `i` to `to[i]` for `i < len`; its bytes are `from[i]`, `from[stride + i]` and so on,
    /// `SLICES` of them, of which the last has `padding` zero bits.
    ///
    /// # Safety
    /// The machine has the instruction set; `len` codes can be read and written.
    unsafe fn run<C: CodeWord, const SLICES: usize>(
        from: *const u8,
        stride: usize,
        padding: u32,
        to: *mut C,
        len: usize,
    );
}

/// Calls a function whose last generic argument is the number of slices.
macro_rules! by_slices {
    ($count:expr, $word:ty, $function:ident::<$($generic:ty),*>($($argument:expr),*)) => {
        match $count {
            // Words have a byte for each slice: the other functions are never made.
            1 => $function::<$($generic,)* 1>($($argument),*),
            2 if size_of::<$word>() >= 2 => $function::<$($generic,)* 2>($($argument),*),
            3 if size_of::<$word>() >= 4 => $function::<$($generic,)* 3>($($argument),*),
            4 if size_of::<$word>() >= 4 => $function::<$($generic,)* 4>($($argument),*),
            5 if size_of::<$word>() >= 8 => $function::<$($generic,)* 5>($($argument),*),
            6 if size_of::<$word>() >= 8 => $function::<$($generic,)* 6>($($argument),*),
            7 if size_of::<$word>() >= 8 => $function::<$($generic,)* 7>($($argument),*),
            8 if size_of::<$word>() >= 8 => $function::<$($generic,)* 8>($($argument),*),
            slices => unreachable!("{slices} slices in words of {} bytes", size_of::<$word>()),
        }
    };
}
pub(crate) use by_slices;

/// See [`super::unpack`].
///
/// # Safety
/// The machine has the instruction set; the selection was checked against `codes` and `out`.
#[inline(always)]
pub(super) unsafe fn unpack<U: Interleave, C: CodeWord>(
    codes: Slices<'_>,
    selection: Selection<'_>,
    out: &mut [C],
) {
    // SAFETY: by contract.
    unsafe { by_slices!(codes.count, C, selected::<U, C>(codes, selection, out)) }
}

/// # Safety
/// As [`unpack`]; the codes have `SLICES` slices.
#[inline(always)]
unsafe fn selected<U: Interleave, C: CodeWord, const SLICES: usize>(
    codes: Slices<'_>,
    selection: Selection<'_>,
    out: &mut [C],
) {
    let (stride, padding) = (codes.stride, codes.padding);
    match selection {
        // SAFETY: the selection was checked.
        Selection::All { start, len } => unsafe {
            let from = codes.at(start as usize);
            U::run::<C, SLICES>(from, stride, padding, out.as_mut_ptr(), len as usize);
        },
        // SAFETY: as before.
        Selection::Bits { words, start, len } => unsafe {
            by_bits::<U, C, SLICES>(codes, words, start as usize, len, out)
        },
        Selection::Positions(positions) => {
            for (out, &position) in out.iter_mut().zip(positions) {
                // SAFETY: as before.
                *out = C::from_u64(unsafe { codes.code_of::<SLICES>(position as usize) });
            }
        }
    }
}

/// # Safety
/// As [`selected`].
#[inline(always)]
unsafe fn by_bits<U: Interleave, C: CodeWord, const SLICES: usize>(
    codes: Slices<'_>,
    words: &[u64],
    start: usize,
    len: u32,
    out: &mut [C],
) {
    let mut buffer = [[0u8; BATCH_ROWS + SLACK]; SLICES];
    let mut done = 0;
    for (i, batch) in words.chunks(BATCH_WORDS).enumerate() {
        let first = start + i * BATCH_ROWS;
        let rows = (len as usize - i * BATCH_ROWS).min(BATCH_ROWS) as u32;
        let selection = Selection::Bits {
            words: batch,
            start: first as u32,
            len: rows,
        };
        let count = (0..batch.len())
            .map(|i| masked_word(batch, rows, i).count_ones() as usize)
            .sum();
        if count < FEW * SLICES {
            for i in 0..batch.len() {
                let mut word = masked_word(batch, rows, i);
                while word != 0 {
                    let row = first + i * 64 + word.trailing_zeros() as usize;
                    // SAFETY: the selection was checked.
                    out[done] = C::from_u64(unsafe { codes.code_of::<SLICES>(row) });
                    done += 1;
                    word &= word - 1;
                }
            }
            continue;
        }
        for (j, buffer) in buffer.iter_mut().enumerate() {
            unpack::copy_values(U::ISA, codes.slice(j), selection, buffer);
        }
        // SAFETY: the buffers hold the batch, and the selection was checked.
        unsafe {
            let to = out[done..][..count].as_mut_ptr();
            U::run::<C, SLICES>(buffer[0].as_ptr(), buffer[0].len(), codes.padding, to, count);
        }
        done += count;
    }
}
