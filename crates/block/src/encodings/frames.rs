//! Frame of reference per frame of 128 values: each frame has its own smallest value, and all codes one
//! width (Integer Compression, section 3.2: frame of reference with small blocks). Values that drift, such as
//! keys in the order of insertion, have narrow codes though the block's span is wide.
//!
//! Codes of different frames have no common order. A restriction is translated once into ordinals of the
//! block and compared with each frame's hull: a frame is skipped, taken whole, or its codes are tested
//! against the range moved by the frame's smallest value. 128 rows are whole words of match bits.

use super::EncodedColumn;
use super::numbers::{Numbers, shift_codes};
use crate::block::Block;
use crate::code_match::{match_range, match_ranges};
use crate::code_range::CodeRange;
use crate::column_buffer::ColumnBuffer;
use crate::format::ColumnEntry;
use crate::layouts::Layout;
use crate::layouts::codes::{Codes, MatchScratch, aligned, dispatch_words};
use crate::resolve::{dispatch_integer, widen};
use crate::unpack::for_each_row;
use frazil_kernels::plain::Codes as Words;
use frazil_kernels::{
    CodeWord, Combine, Isa, Plain, Reference, Selection, bitpack, packed, unpack as kernels,
};
use frazil_types::NativeType;
use std::ops::Range;

/// Rows of a frame.
pub const FRAME: usize = bitpack::FRAME;

/// The frames of a column.
pub(crate) struct Frames {
    /// The smallest ordinal of each; 0 where all rows are NULL.
    minima: Vec<u64>,
    /// The largest distance within a frame.
    pub span: u64,
}

impl Frames {
    /// Bytes beside the codes.
    pub fn beside(&self, native_bytes: usize) -> usize {
        self.minima.len() * native_bytes
    }
}

/// Frames looked at before all are.
const SAMPLE: usize = 16;

/// The smallest ordinal of a frame and the distance of the largest to it; `None` where all are NULL.
fn bounds(numbers: &Numbers, frame: usize) -> Option<(u64, u64)> {
    let rows = frame * FRAME..((frame + 1) * FRAME).min(numbers.rows);
    let ordinals = &numbers.ordinals[rows.clone()];
    let (min, max) = match numbers.valid {
        None => (ordinals.iter().min().copied()?, ordinals.iter().max().copied()?),
        Some(valid) => {
            let of_valid = || {
                rows.clone()
                    .filter(|&row| valid.get(row))
                    .map(|row| numbers.ordinals[row])
            };
            (of_valid().min()?, of_valid().max()?)
        }
    };
    Some((min, max - min))
}

/// The frames of a column of distances up to `top`; `None` if a sample says that they are no narrower
/// than the column and nobody insists.
pub(crate) fn plan(numbers: &Numbers, top: u64, insist: bool) -> Option<Frames> {
    let count = numbers.rows.div_ceil(FRAME);
    let sample = (0..count).step_by(count.div_ceil(SAMPLE));
    let seen = sample
        .filter_map(|frame| bounds(numbers, frame))
        .map(|b| b.1)
        .max();
    if !insist && seen.is_some_and(|span| packed::bits_of(span) >= packed::bits_of(top)) {
        return None;
    }
    let all: Vec<(u64, u64)> = (0..count)
        .map(|frame| bounds(numbers, frame).unwrap_or_default())
        .collect();
    Some(Frames {
        span: all.iter().map(|b| b.1).max().unwrap_or(0),
        minima: all.into_iter().map(|b| b.0).collect(),
    })
}

/// The column by frames; the entry says how its codes lie.
pub(crate) fn encode(
    numbers: &Numbers,
    entry: ColumnEntry,
    frames: &Frames,
    codes: &mut Vec<u64>,
) -> EncodedColumn {
    let (layout, bits) = (entry.layout, u32::from(entry.code_bits));
    let mut out = EncodedColumn::new(entry);
    for &minimum in &frames.minima {
        (numbers.write_value)(minimum, &mut out.dictionary);
    }
    let minima = frames.minima.iter().flat_map(|&m| std::iter::repeat_n(m, FRAME));
    let deltas = (numbers.ordinals.iter().zip(minima)).map(|(&o, m)| o.wrapping_sub(m));
    match numbers.valid {
        None => {
            codes.clear();
            codes.extend(deltas);
        }
        Some(valid) => shift_codes(deltas, valid, codes),
    }
    out.codes = layout.pack(codes, bits);
    out
}

impl Block {
    /// Tests rows of a column of frames against ascending, disjoint ranges of ordinals; bit `i` of
    /// `out` speaks of row `rows.start + i`.
    #[expect(
        clippy::too_many_arguments,
        reason = "a window, a test and where its matches go"
    )]
    pub(crate) fn match_frames(
        &self,
        isa: Isa,
        entry: &ColumnEntry,
        rows: Range<usize>,
        wanted: &[(u64, u64)],
        combine: Combine,
        out: &mut [u64],
        scratch: &mut MatchScratch,
    ) {
        let codes = self.codes(entry);
        let MatchScratch {
            union,
            shifted,
            codes: room,
        } = scratch;
        aligned(rows, combine, out, shifted, |rows, combine, out| {
            // The codes of the window as words, unpacked when the first frame has to be looked into.
            let mut window: Option<(Words, usize)> = match codes {
                Codes::Words(words) => Some((words, 0)),
                Codes::Packed(..) => None,
            };
            let mut room = Some(room);
            dispatch_integer!(entry.native, T => {
                let minima = self.slice::<T>(entry.sections.dictionary);
                let mut at = rows.start;
                while at < rows.end {
                    let end = rows.end.min((at / FRAME + 1) * FRAME);
                    let minimum = widen(&minima[at / FRAME]).wrapping_sub(entry.min) as u64;
                    let out = &mut out[(at - rows.start) / 64..(end - rows.start).div_ceil(64)];
                    let range = codes_of_frame(entry, minimum, wanted);
                    let decided = matches!(range, CodeRange::None | CodeRange::All);
                    if window.is_none() && !decided && let Some(room) = room.take() {
                        let all = Selection::all(rows.start as u32..rows.end as u32);
                        window = Some((codes.dense(isa, all, room).0, rows.start));
                    }
                    match window {
                        Some((words, first)) => dispatch_words!(words, codes => {
                            match_range(isa, &codes[at - first..end - first], &range, combine, out, union);
                        }),
                        // None or all of them match: no code is looked at.
                        None => match_ranges(&range, end - at, combine, out, union, |_, _, _, _, _| {}),
                    }
                    at = end;
                }
            }, _ => ());
        });
    }

    /// The smallest value of a row's frame. The column has been touched.
    #[inline]
    pub(crate) fn frame_reference<T: Plain>(&self, entry: &ColumnEntry, row: usize) -> T {
        self.slice::<T>(entry.sections.dictionary)[row / FRAME]
    }

    /// The values of all rows of a range, right from their codes, where a kernel makes one of the other; `false` where none does.
    pub(crate) fn unpack_packed_frames(
        &self,
        isa: Isa,
        entry: &ColumnEntry,
        selection: Selection,
        out: &mut ColumnBuffer,
    ) -> bool {
        let (Codes::Packed(Layout::BitPacked, codes), Selection::All { start, len }) =
            (self.codes(entry), selection)
        else {
            return false;
        };
        if entry.nullable() || codes.bits > 16 || entry.native != NativeType::I32 {
            return false;
        }
        let minima = self.slice::<i32>(entry.sections.dictionary);
        let rows = start as usize..(start + len) as usize;
        bitpack::unpack_frames(isa, codes, rows, minima, out.values_mut::<i32>());
        true
    }

    /// The values of the selected rows, whose codes are `words` at `chosen`.
    pub(crate) fn unpack_frames(
        &self,
        isa: Isa,
        entry: &ColumnEntry,
        words: Words,
        chosen: Selection,
        selection: Selection,
        out: &mut ColumnBuffer,
    ) {
        dispatch_integer!(entry.native, T => {
            let minima = self.slice::<T>(entry.sections.dictionary);
            let nullable = T::from(entry.nullable());
            let reference = |row: usize| minima[row / FRAME].wrapping_sub(nullable);
            let out = out.values_mut::<T>();
            dispatch_words!(words, codes => match (selection, chosen) {
                (Selection::All { start, len }, Selection::All { start: first, .. }) => {
                    let codes = &codes[first as usize..(first + len) as usize];
                    let (start, end) = (start as usize, (start + len) as usize);
                    let mut at = start;
                    while at < end {
                        let next = end.min((at / FRAME + 1) * FRAME);
                        let piece = at - start..next - start;
                        let all = Selection::all(0..piece.len() as u32);
                        kernels::unpack(isa, &codes[piece.clone()], reference(at), all, &mut out[piece]);
                        at = next;
                    }
                }
                (_, Selection::All { .. }) => {
                    for_each_row(selection, |i, row| out[i] = reference(row).plus(codes[i].to_u64()));
                }
                _ => for_each_row(selection, |i, row| out[i] = reference(row).plus(codes[row].to_u64())),
            });
        }, _ => ());
    }
}

/// The codes of a frame that lie in ranges of ordinals; `minimum` is the frame's smallest ordinal.
fn codes_of_frame(entry: &ColumnEntry, minimum: u64, wanted: &[(u64, u64)]) -> CodeRange {
    let nullable = u64::from(entry.nullable());
    let span = packed::top(entry.code_bits.into()) - nullable;
    let end = minimum.saturating_add(span);
    let first = wanted.partition_point(|r| r.1 < minimum);
    let inside = wanted[first..].iter().take_while(|r| r.0 <= end);
    let mut ranges = inside.map(|&(low, high)| {
        let low = low.max(minimum) - minimum + nullable;
        (low, high.min(end) - minimum + nullable)
    });
    match (ranges.next(), ranges.next()) {
        (None, _) => CodeRange::None,
        (Some((0, high)), None) if high == span => CodeRange::All,
        (Some((low, high)), None) => CodeRange::Range(low, high),
        (Some(a), Some(b)) => CodeRange::Ranges([a, b].into_iter().chain(ranges).collect()),
    }
}
