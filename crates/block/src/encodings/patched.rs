//! Patched frame of reference: codes as wide as most values need, and the others apart (Integer
//! Compression, section 3.2: PFOR; here every exception is reached by its position alone).
//!
//! The codes cover a window of values anywhere between the smallest and the largest. A value outside is
//! an exception: its code is the largest of the width, which no other value has, and its row and value
//! stand in two ascending lists. So an access by position knows by the code whether it has to search,
//! and a scan tests the codes like any others and then sets the match bits of the few exceptions.

use super::EncodedColumn;
use super::numbers::Numbers;
use crate::block::Block;
use crate::code_range::CodeRange;
use crate::column_buffer::ColumnBuffer;
use crate::cost_model::Column;
use crate::format::ColumnEntry;
use crate::input::is_valid;
use crate::layouts::codes::MatchScratch;
use crate::resolve::{dispatch_integer, widen};
use crate::unpack::unpack_reference;
use frazil_kernels::plain::Codes as Words;
use frazil_kernels::{Combine, Isa, Selection, packed};
use frazil_types::{Error, Result};
use std::ops::Range;

/// Values looked at to find the window.
const SAMPLE: usize = 512;
/// Values among which exceptions are looked for together.
const LOT: usize = 32;
/// Bytes of an exception's row.
const ROW_BYTES: usize = 2;

/// A window of ordinals that codes of some width cover.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Window {
    /// The first ordinal.
    start: u64,
    /// Width of a code.
    pub bits: u32,
    /// Rows whose ordinals lie outside.
    pub exceptions: usize,
}

impl Window {
    /// Bytes beside the codes.
    pub fn beside(&self, native_bytes: usize) -> usize {
        native_bytes + self.exceptions * (ROW_BYTES + native_bytes)
    }

    /// The first and the last ordinal that codes of a width cover. They may be wider than was planned: a window that would
    /// reach beyond `top` then begins earlier, so that no ordinal is below its start by a distance that wraps into it.
    fn covering(&self, bits: u32, nullable: u64, top: u64) -> Option<(u64, u64)> {
        let span = covered(bits, nullable)?;
        let start = self.start.min(top.saturating_sub(span));
        Some((start, start.saturating_add(span)))
    }
}

/// Ordinals that codes of a width cover; `None` if it has none to spare.
fn covered(bits: u32, nullable: u64) -> Option<u64> {
    packed::top(bits).checked_sub(nullable + 1)
}

/// The window that makes the column smallest; `None` if that is the whole column, as far as a sample
/// tells, and nobody insists.
pub(crate) fn plan(numbers: &Numbers, top: u64, column: &Column, insist: bool) -> Option<Window> {
    let (rows, native) = (numbers.rows, numbers.entry.native.size());
    let nullable = u64::from(numbers.valid.is_some());
    let layout = column.densest_layout();
    let mut sample: Vec<u64> = (0..rows)
        .step_by((rows / SAMPLE).max(1))
        .filter(|&row| is_valid(numbers.valid, row))
        .map(|row| numbers.ordinals[row])
        .collect();
    sample.sort_unstable();
    let enough = packed::bits_of(top.saturating_add(nullable + 1));
    let widths = (1..=64).filter(|&bits| layout.writes_width(bits));
    let last = widths.clone().find(|&bits| bits >= enough)?;
    let windows = widths.filter(|&bits| bits <= last).filter_map(|bits| {
        let span = covered(bits, nullable)?;
        let (start, inside) = fullest(&sample, span, top);
        let exceptions = rows * (sample.len() - inside) / sample.len().max(1);
        let bytes = layout.bytes(rows, bits) + exceptions * (ROW_BYTES + native);
        Some((bytes, start, bits))
    });
    let (bytes, start, bits) = windows.min()?;
    let whole = layout.code_bits(top.saturating_add(nullable));
    if !insist && bytes >= layout.bytes(rows, whole) {
        return None;
    }
    let last = start.saturating_add(covered(bits, nullable)?);
    let outside =
        |row: &usize| is_valid(numbers.valid, *row) && !(start..=last).contains(&numbers.ordinals[*row]);
    Some(Window {
        start,
        bits,
        exceptions: (0..rows).filter(outside).count(),
    })
}

/// Where a window of `span` begins that most of the ascending sample lies in, and how much of it. A
/// window that reaches beyond `top` is moved down.
fn fullest(sample: &[u64], span: u64, top: u64) -> (u64, usize) {
    let (mut best, mut end) = ((0, sample.partition_point(|&o| o <= span)), 0);
    for (i, &start) in sample.iter().enumerate() {
        while end < sample.len() && sample[end] - start <= span {
            end += 1;
        }
        if end - i > best.1 {
            best = (start, end - i);
        }
    }
    (best.0.min(top.saturating_sub(span)), best.1)
}

/// The column with the window's values as codes; the entry says how they lie. XX000 if no code is left for a value beside
/// those of NULL and of exceptions.
pub(crate) fn encode(
    numbers: &Numbers,
    mut entry: ColumnEntry,
    window: &Window,
    codes: &mut Vec<u64>,
) -> Result<EncodedColumn> {
    let (layout, bits) = (entry.layout, u32::from(entry.code_bits));
    let nullable = u64::from(entry.nullable());
    let marker = packed::top(bits);
    let top = numbers.top.unwrap_or(0);
    let Some((first, last)) = window.covering(bits, nullable, top) else {
        return Err(Error::internal(format!(
            "{bits} bits are too few for a patched column"
        )));
    };
    let mut values = Vec::new();
    let mut rows: Vec<u8> = Vec::new();
    (numbers.write_value)(first, &mut values);
    codes.clear();
    for (row, &ordinal) in numbers.ordinals.iter().enumerate() {
        codes.push(if !is_valid(numbers.valid, row) {
            0
        } else if (first..=last).contains(&ordinal) {
            ordinal - first + nullable
        } else {
            (numbers.write_value)(ordinal, &mut values);
            rows.extend((row as u16).to_le_bytes());
            marker
        });
    }
    entry.dictionary_entries = (rows.len() / ROW_BYTES) as u32;
    let mut out = EncodedColumn::new(entry);
    out.dictionary = values;
    out.heap = rows;
    out.codes = layout.pack(codes, bits);
    Ok(out)
}

/// A restriction on a patched column.
#[derive(Debug)]
pub(crate) struct PatchedRange {
    /// The codes that match, exceptions apart.
    pub codes: CodeRange,
    /// Of each exception whether it matches.
    pub exceptions: Vec<bool>,
}

impl Block {
    /// Rows of a patched column's exceptions, ascending. The column has been touched.
    pub(crate) fn exception_rows(&self, entry: &ColumnEntry) -> &[u16] {
        self.slice(entry.sections.heap)
    }

    /// The number of the exception of a row with a code, if it is one. The column has been touched.
    #[inline]
    pub(crate) fn exception_of(&self, entry: &ColumnEntry, row: u16, code: u64) -> Option<usize> {
        let is_marker = code == packed::top(entry.code_bits.into());
        let search = || self.exception_rows(entry).binary_search(&row).ok();
        is_marker.then(search).flatten()
    }

    /// Translates ascending, disjoint ranges of ordinals. The column has been touched.
    pub(crate) fn patched_range(&self, entry: &ColumnEntry, wanted: &[(u64, u64)]) -> PatchedRange {
        let nullable = u64::from(entry.nullable());
        let last = packed::top(entry.code_bits.into()) - 1;
        let (reference, ordinals): (u64, Vec<u64>) = dispatch_integer!(entry.native, T => {
            let values = self.slice::<T>(entry.sections.dictionary);
            let ordinal = |v: &T| widen(v).wrapping_sub(entry.min) as u64;
            (ordinal(&values[0]), values[1..].iter().map(ordinal).collect())
        }, _ => (0, Vec::new()));
        let end = reference.saturating_add(last - nullable);
        let ranges: Vec<(u64, u64)> = wanted
            .iter()
            .filter(|r| r.1 >= reference && r.0 <= end)
            .map(|r| (r.0.max(reference) - reference, r.1.min(end) - reference))
            .map(|(low, high)| (low + nullable, high + nullable))
            .collect();
        let matches = |o: u64| {
            let at = wanted.partition_point(|r| r.1 < o);
            wanted.get(at).is_some_and(|r| r.0 <= o)
        };
        PatchedRange {
            codes: match ranges[..] {
                [] => CodeRange::None,
                [(low, high)] => CodeRange::Range(low, high),
                _ => CodeRange::Ranges(ranges),
            },
            exceptions: ordinals.into_iter().map(matches).collect(),
        }
    }

    /// Tests rows of a patched column; bit `i` of `out` speaks of row `rows.start + i`.
    #[expect(
        clippy::too_many_arguments,
        reason = "a window, a test and where its matches go"
    )]
    pub(crate) fn match_patched(
        &self,
        isa: Isa,
        entry: &ColumnEntry,
        rows: Range<usize>,
        wanted: &PatchedRange,
        combine: Combine,
        out: &mut [u64],
        scratch: &mut MatchScratch,
    ) {
        let exceptions = self.exception_rows(entry);
        let within = rows_within(exceptions, &rows);
        let place = |i: usize| {
            let bit = usize::from(exceptions[i]) - rows.start;
            (bit / 64, 1u64 << (bit % 64))
        };
        let before: Vec<bool> = match combine {
            Combine::Replace => Vec::new(),
            _ => (within.clone().map(place))
                .map(|(word, bit)| out[word] & bit != 0)
                .collect(),
        };
        let codes = self.codes(entry);
        codes.match_range(isa, rows.clone(), &wanted.codes, combine, out, scratch);
        for (nth, i) in within.enumerate() {
            let (word, bit) = place(i);
            let fresh = wanted.exceptions[i];
            let matches = match combine {
                Combine::Replace => fresh,
                Combine::And => fresh && before[nth],
                Combine::Or => fresh || before[nth],
            };
            out[word] = if matches {
                out[word] | bit
            } else {
                out[word] & !bit
            };
        }
    }

    /// The values of the selected rows, whose codes are `words` at `chosen`.
    pub(crate) fn unpack_patched(
        &self,
        isa: Isa,
        entry: &ColumnEntry,
        words: Words,
        chosen: Selection,
        selection: Selection,
        out: &mut ColumnBuffer,
    ) {
        dispatch_integer!(entry.native, T => {
            let values = self.slice::<T>(entry.sections.dictionary);
            let reference = values[0].wrapping_sub(T::from(entry.nullable()));
            unpack_reference(isa, entry.native, widen(&reference), words, chosen, out);
            let out = out.values_mut::<T>();
            match selection {
                Selection::Positions(positions) => {
                    // What the marker is unpacked to, which no other code is. Most lots of values do not have it.
                    let marker = reference.wrapping_add(packed::top(entry.code_bits.into()) as T);
                    let mut exceptions = Exceptions::new(self.exception_rows(entry));
                    for (out, positions) in out.chunks_mut(LOT).zip(positions.chunks(LOT)) {
                        if !out.iter().fold(false, |has, value| has | (*value == marker)) {
                            continue;
                        }
                        for (value, &position) in out.iter_mut().zip(positions) {
                            if *value == marker
                                && let Some(exception) = exceptions.find(position)
                            {
                                *value = values[1 + exception];
                            }
                        }
                    }
                }
                _ => self.for_each_exception(entry, selection, |i, exception| out[i] = values[1 + exception]),
            }
        }, _ => ());
    }

    /// Calls `f` with the index in the output and the number of each exception in a selection by range.
    fn for_each_exception(&self, entry: &ColumnEntry, selection: Selection, mut f: impl FnMut(usize, usize)) {
        let exceptions = self.exception_rows(entry);
        match selection {
            Selection::All { start, len } => {
                let rows = start as usize..(start + len) as usize;
                for i in rows_within(exceptions, &rows) {
                    f(usize::from(exceptions[i]) - rows.start, i);
                }
            }
            Selection::Bits { words, start, len } => {
                let rows = start as usize..(start + len) as usize;
                let (mut word, mut before) = (0, 0);
                for i in rows_within(exceptions, &rows) {
                    let bit = usize::from(exceptions[i]) - rows.start;
                    while word < bit / 64 {
                        before += words[word].count_ones() as usize;
                        word += 1;
                    }
                    if words[word] >> (bit % 64) & 1 == 1 {
                        let below = words[word] & ((1 << (bit % 64)) - 1);
                        f(before + below.count_ones() as usize, i);
                    }
                }
            }
            Selection::Positions(_) => {}
        }
    }
}

/// Rows of exceptions that are looked for one after the other, most of them in ascending order.
struct Exceptions<'a> {
    rows: &'a [u16],
    /// Where the last search ended: no row before is behind the one that it was for.
    from: usize,
}

impl Exceptions<'_> {
    fn new(rows: &[u16]) -> Exceptions<'_> {
        Exceptions { rows, from: 0 }
    }

    /// The number of the exception of a row: steps that double, from the last one's on, until they are beyond it, then
    /// bisection. Of rows that ascend it is never far.
    fn find(&mut self, row: u16) -> Option<usize> {
        if self.rows.get(self.from).is_none_or(|&at| at > row) {
            self.from = 0;
        }
        let rest = &self.rows[self.from..];
        let mut end = 1;
        while rest.get(end).is_some_and(|&at| at <= row) {
            end *= 2;
        }
        let end = end.min(rest.len());
        let start = end / 2;
        let found = rest[start..end].binary_search(&row);
        let (Ok(at) | Err(at)) = found;
        self.from += start + at;
        found.is_ok().then_some(self.from)
    }
}

/// The numbers of the exceptions among some rows.
fn rows_within(exceptions: &[u16], rows: &Range<usize>) -> Range<usize> {
    let until = |row: usize| exceptions.partition_point(|&e| usize::from(e) < row);
    until(rows.start)..until(rows.end)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn exceptions_are_found_wherever_the_last_one_was() {
        for step in [1, 2, 7, 900] {
            let rows: Vec<u16> = (3..2_000).step_by(step).collect();
            let mut exceptions = Exceptions::new(&rows);
            // Ascending, with gaps of all sizes, and then jumping about.
            let ascending = (0..2_100).step_by(5).chain([0, 2_099, 3, 1_000, 1_003, 2_000, 3]);
            for row in ascending {
                assert_eq!(
                    exceptions.find(row),
                    rows.binary_search(&row).ok(),
                    "{row} by {step}"
                );
            }
        }
        assert_eq!(Exceptions::new(&[]).find(3), None);
    }
}
