//! The codes of a column in whatever layout: where a layout is resolved, once a call.
//!
//! Restrictions are tested on the layout itself. Values are fetched in two steps: the codes of the
//! selected rows go dense into a scratch of machine words, and from there on they are byte-packed codes
//! like any other, which the kernels of frame of reference, dictionaries and validity know.

use super::Layout;
use crate::bytes::AlignedBytes;
use crate::code_match::{match_range, match_ranges, shifted_word};
use crate::code_range::CodeRange;
use frazil_kernels::plain::Codes as Words;
use frazil_kernels::prefetch::prefetch_values;
use frazil_kernels::{CodeWord, Combine, Isa, Packed, Plain, Selection, unpack};
use std::ops::Range;

/// Codes of a column.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Codes<'a> {
    /// Byte-packed.
    Words(Words<'a>),
    /// In a layout of codes of any width.
    Packed(Layout, Packed<'a>),
}

/// Runs `$body` with `$codes` bound to byte-packed codes as a slice of their width.
macro_rules! dispatch_words {
    ($words:expr, $codes:ident => $body:expr) => {
        match $words {
            frazil_kernels::plain::Codes::W8($codes) => $body,
            frazil_kernels::plain::Codes::W16($codes) => $body,
            frazil_kernels::plain::Codes::W32($codes) => $body,
            frazil_kernels::plain::Codes::W64($codes) => $body,
        }
    };
}
pub(crate) use dispatch_words;

/// Runs `$body` with `$kernels` naming the kernels of a layout of codes of any width.
macro_rules! with_kernels {
    ($layout:expr, $kernels:ident => $body:expr) => {
        match $layout {
            Layout::ByteSlice => {
                use frazil_kernels::byteslice as $kernels;
                $body
            }
            Layout::Vbp => {
                use frazil_kernels::vbp as $kernels;
                $body
            }
            Layout::Hbp => {
                use frazil_kernels::hbp as $kernels;
                $body
            }
            // A layout without codes has no rows to ask for.
            Layout::None | Layout::BytePacked | Layout::BitPacked => {
                use frazil_kernels::bitpack as $kernels;
                $body
            }
        }
    };
}

/// Reused memory for fetched codes.
#[derive(Debug, Default)]
pub(crate) struct CodeScratch {
    codes: AlignedBytes,
}

impl CodeScratch {
    /// Room for codes.
    fn room<C: Plain>(&mut self, rows: usize) -> &mut [C] {
        let wanted = rows * size_of::<C>();
        let have = self.codes.len();
        if have < wanted {
            self.codes.extend_zeroed(wanted - have);
        }
        // SAFETY: 64-byte aligned, initialised for `wanted` bytes, and any bytes are a Plain value.
        unsafe { std::slice::from_raw_parts_mut(self.codes.as_mut_slice().as_mut_ptr().cast(), rows) }
    }
}

impl<'a> Codes<'a> {
    /// Tests each code of some rows against a code range; bit `i` of `out` speaks of row
    /// `rows.start + i`, and bits beyond the rows become zero.
    pub fn match_range(
        &self,
        isa: Isa,
        rows: Range<usize>,
        wanted: &CodeRange,
        combine: Combine,
        out: &mut [u64],
        scratch: &mut MatchScratch,
    ) {
        let (layout, packed) = match *self {
            Codes::Words(words) => {
                return dispatch_words!(words, codes => {
                    match_range(isa, &codes[rows], wanted, combine, out, &mut scratch.union);
                });
            }
            Codes::Packed(layout, packed) => (layout, packed),
        };
        let MatchScratch { union, shifted, .. } = scratch;
        aligned(rows, combine, out, shifted, |rows, combine, out| {
            if let CodeRange::Set(set) = wanted {
                with_kernels!(layout, k => k::in_set(isa, packed, rows, set, combine, out));
                return;
            }
            let count = rows.len();
            match_ranges(
                wanted,
                count,
                combine,
                out,
                union,
                |op, low, high, combine, out| {
                    let rows = rows.clone();
                    with_kernels!(layout, k => k::between(isa, packed, rows, op, low, high, combine, out));
                },
            );
        });
    }

    /// The codes of the selected rows as machine words, and where among these words they are: the
    /// column's own words and the selection, or dense in the scratch.
    pub fn fetch<'s>(
        self,
        isa: Isa,
        selection: Selection<'s>,
        scratch: &'s mut CodeScratch,
    ) -> (Words<'s>, Selection<'s>)
    where
        'a: 's,
    {
        match self {
            Codes::Words(words) => (words, selection),
            Codes::Packed(..) => self.dense(isa, selection, scratch),
        }
    }

    /// The codes of the selected rows as machine words, dense in the scratch, and all of them selected.
    pub fn dense<'s>(
        self,
        isa: Isa,
        selection: Selection<'_>,
        scratch: &'s mut CodeScratch,
    ) -> (Words<'s>, Selection<'s>) {
        let rows = selection.count();
        let words = match self {
            Codes::Words(Words::W8(_)) => Words::W8(self.dense_words(isa, selection, scratch.room(rows))),
            Codes::Words(Words::W16(_)) => Words::W16(self.dense_words(isa, selection, scratch.room(rows))),
            Codes::Words(Words::W32(_)) => Words::W32(self.dense_words(isa, selection, scratch.room(rows))),
            Codes::Words(Words::W64(_)) => Words::W64(self.dense_words(isa, selection, scratch.room(rows))),
            Codes::Packed(_, packed) => match packed.bits {
                0..=8 => Words::W8(self.dense_words(isa, selection, scratch.room(rows))),
                9..=16 => Words::W16(self.dense_words(isa, selection, scratch.room(rows))),
                17..=32 => Words::W32(self.dense_words(isa, selection, scratch.room(rows))),
                _ => Words::W64(self.dense_words(isa, selection, scratch.room(rows))),
            },
        };
        (words, Selection::all(0..rows as u32))
    }

    /// Writes the codes of the selected rows densely; `C` is wide enough.
    fn dense_words<'s, C: CodeWord>(&self, isa: Isa, selection: Selection<'_>, out: &'s mut [C]) -> &'s [C] {
        match (*self, selection) {
            (_, Selection::Positions(&[row])) => out[0] = word(self.get(usize::from(row))),
            (Codes::Words(words), _) => dispatch_words!(words, codes => {
                if let Some(codes) = same_type::<_, C>(codes) {
                    unpack::copy_values(isa, codes, selection, out);
                }
            }),
            (Codes::Packed(layout, packed), _) => {
                with_kernels!(layout, k => k::unpack(isa, packed, selection, out));
            }
        }
        out
    }

    /// Asks for the cache lines of the code of a row, for [`Codes::get`] to find them in cache a while later.
    pub fn expect(&self, row: u16) {
        match *self {
            Codes::Words(words) => dispatch_words!(words, codes => prefetch_values(codes, &[row])),
            Codes::Packed(layout, packed) => with_kernels!(layout, k => k::prefetch(packed, &[row])),
        }
    }

    /// The code of one row.
    #[inline]
    pub fn get(&self, row: usize) -> u64 {
        match *self {
            Codes::Words(words) => dispatch_words!(words, codes => codes[row].to_u64()),
            Codes::Packed(layout, packed) => {
                assert!(row < packed.rows, "row beyond the column");
                with_kernels!(layout, k => k::get(packed, row))
            }
        }
    }
}

/// Reused match bits of a test that takes more than one pass.
#[derive(Debug, Default)]
pub(crate) struct MatchScratch {
    /// The union of several ranges.
    pub union: Vec<u64>,
    /// A window moved to a multiple of 64 rows.
    pub shifted: Vec<u64>,
    /// Codes of a window, where each part of it has a test of its own.
    pub codes: CodeScratch,
}

/// Runs a test whose windows must begin at a multiple of 64 rows on one that may not.
pub(crate) fn aligned(
    rows: Range<usize>,
    combine: Combine,
    out: &mut [u64],
    scratch: &mut Vec<u64>,
    test: impl FnOnce(Range<usize>, Combine, &mut [u64]),
) {
    if rows.start.is_multiple_of(64) {
        return test(rows, combine, out);
    }
    let start = rows.start / 64 * 64;
    scratch.clear();
    scratch.resize((rows.end - start).div_ceil(64), 0);
    test(start..rows.end, Combine::Replace, scratch);
    for (i, word) in out.iter_mut().enumerate() {
        *word = combine.apply(*word, shifted_word(scratch, rows.start - start + i * 64));
    }
}

fn word<C: CodeWord>(code: u64) -> C {
    C::from_u64(code)
}

/// A slice as one of a type that is known to be the same by the caller's match.
fn same_type<A: Plain, B: Plain>(values: &[A]) -> Option<&[B]> {
    if std::any::TypeId::of::<A>() != std::any::TypeId::of::<B>() {
        return None;
    }
    // SAFETY: the types are the same.
    Some(unsafe { std::slice::from_raw_parts(values.as_ptr().cast(), values.len()) })
}
