//! string_agg over frames.
//!
//! All texts of a segment are put together once, each behind what is to come before it. The result of a frame is a part of
//! that: results share their bytes, however long frames are. Only frames with holes are copied.

use super::frame::{Frames, Parts};
use super::input::{self, Column};
use super::segment::Segment;
use super::{CallSpec, WindowInput};
use crate::breakers::array::Array;
use crate::breakers::order::Shared;
use frazil_types::string_builder::check_text_bytes;
use frazil_types::{Error, Result, StringRef};
use std::ops::Range;
use std::sync::PoisonError;

/// Computes a call. Errors: 53200, 54000 for a text that is too long.
pub fn compute(segment: &Segment<'_>, call: &CallSpec) -> Result<()> {
    let [value, delimiter] = &call.arguments[..] else {
        return Err(Error::internal("string_agg without its arguments"));
    };
    let texts = Texts::of(segment, call, value, delimiter)?;
    let whole = texts.whole()?;
    let place = *segment.result(call);
    let frames = Frames::new(segment, call)?;
    segment.for_blocks(&|block| {
        let parts = frames.parts(block.clone())?;
        if parts.have_holes() {
            return texts.put_copies(&whole, call, &parts, block);
        }
        for row in block {
            let bytes = texts.part(&parts.whole(row)).map(|part| &whole[part]);
            bytes.map_or(Ok(()), |bytes| check_text_bytes(bytes.len()))?;
            // SAFETY: the bytes are kept as long as the rows.
            segment.put(&place, row, bytes.map(|bytes| unsafe { StringRef::new(bytes) }));
        }
        Ok(())
    })?;
    keep(segment, whole);
    Ok(())
}

fn keep(segment: &Segment<'_>, bytes: Array<u8>) {
    let mut kept = segment.texts.lock().unwrap_or_else(PoisonError::into_inner);
    kept.push(bytes);
}

/// Strings of all rows.
enum Strings {
    Each(Column<StringRef>),
    All(Option<Box<[u8]>>),
}

impl Strings {
    fn of(segment: &Segment<'_>, input: &WindowInput, filter: Option<&WindowInput>) -> Result<Strings> {
        Ok(match (input, filter) {
            (WindowInput::Constant(value), None) => Strings::All(value.as_bytes().map(Into::into)),
            _ => Strings::Each(input::column(segment, input, filter)?),
        })
    }

    fn get(&self, row: usize) -> Option<StringRef> {
        match self {
            Strings::Each(column) => column.get(row),
            // SAFETY: the text is used as long as this is there.
            Strings::All(text) => text.as_ref().map(|text| unsafe { StringRef::new(text) }),
        }
    }
}

struct Texts<'a> {
    segment: &'a Segment<'a>,
    values: Strings,
    /// Whether a row counts whose value is a constant.
    taken: Column<u8>,
    delimiters: Strings,
    /// Where the part of each row begins, and where the last one ends.
    starts: Array<u64>,
    /// The first row with a value from each row on; behind them the number of rows.
    next: Array<u32>,
}

impl<'a> Texts<'a> {
    fn of(
        segment: &'a Segment<'a>,
        call: &CallSpec,
        value: &WindowInput,
        delimiter: &WindowInput,
    ) -> Result<Texts<'a>> {
        let rows = segment.entries.len();
        let values = match value {
            WindowInput::Constant(_) => Strings::of(segment, value, None)?,
            WindowInput::Field(_) => Strings::of(segment, value, call.filter.as_ref())?,
        };
        let mut texts = Texts {
            segment,
            values,
            taken: input::presence(segment, None, call.filter.as_ref())?,
            delimiters: Strings::of(segment, delimiter, None)?,
            // SAFETY: all bytes are numbers.
            starts: unsafe { Array::stale(rows + 1, segment.budget)? },
            next: Array::numbers(rows + 1, segment.budget)?,
        };
        let mut end = 0;
        for row in 0..rows {
            texts.starts[row] = end;
            let parts = texts.parts(row).into_iter().flatten();
            end += parts.map(|part| part.len() as u64).sum::<u64>();
        }
        texts.starts[rows] = end;
        texts.next[rows] = rows as u32;
        for row in (0..rows).rev() {
            texts.next[row] = match texts.parts(row) {
                Some(_) => row as u32,
                None => texts.next[row + 1],
            };
        }
        Ok(texts)
    }

    /// What comes before a row's value, and the value; `None` for a row without one.
    fn parts(&self, row: usize) -> Option<[StringRef; 2]> {
        let value = self.values.get(row).filter(|_| self.taken.is_valid(row))?;
        Some([self.delimiters.get(row).unwrap_or_default(), value])
    }

    /// The parts of all rows.
    fn whole(&self) -> Result<Array<u8>> {
        let rows = self.segment.entries.len();
        // SAFETY: all bytes are values; all are written below.
        let mut whole = unsafe { Array::stale(self.starts[rows] as usize, self.segment.budget)? };
        let shared = Shared::new(&mut whole);
        self.segment.for_blocks(&|block| {
            let (from, to) = (self.starts[block.start] as usize, self.starts[block.end] as usize);
            // SAFETY: each block has its own bytes.
            let mut free = unsafe { shared.part(from, to - from) };
            for part in block.filter_map(|row| self.parts(row)).flatten() {
                let (here, rest) = free.split_at_mut(part.len());
                // SAFETY: strings of the sorters' rows, which are alive.
                here.copy_from_slice(unsafe { part.bytes() });
                free = rest;
            }
            Ok(())
        })?;
        Ok(whole)
    }

    /// The bytes of a range of rows, without what comes before its first value; `None` for a range without one.
    fn part(&self, rows: &Range<usize>) -> Option<Range<usize>> {
        let all = self.part_behind(rows)?;
        let first = self.next[rows.start] as usize;
        let before = self.delimiters.get(first).map_or(0, |delimiter| delimiter.len());
        Some(all.start + before..all.end)
    }

    /// The bytes of a range of rows that comes behind others.
    fn part_behind(&self, rows: &Range<usize>) -> Option<Range<usize>> {
        let first = self.next[rows.start] as usize;
        (first < rows.end).then(|| self.starts[first] as usize..self.starts[rows.end] as usize)
    }

    /// The results of frames that are up to three ranges of rows.
    fn put_copies(&self, whole: &[u8], call: &CallSpec, parts: &Parts, block: Range<usize>) -> Result<()> {
        let ranges = |row: usize| {
            let mut is_first = true;
            parts.of(row).map(|range| {
                let part = match is_first {
                    true => self.part(&range),
                    false => self.part_behind(&range),
                }?;
                is_first = false;
                Some(part)
            })
        };
        let mut bytes = 0_usize;
        for row in block.clone() {
            let own: usize = ranges(row).iter().flatten().map(|part| part.len()).sum();
            check_text_bytes(own)?;
            bytes = bytes.saturating_add(own);
        }
        // SAFETY: all bytes are values.
        let mut copies = unsafe { Array::<u8>::stale(bytes, self.segment.budget)? };
        let place = *self.segment.result(call);
        let mut free = &mut copies[..];
        for row in block {
            let ranges = ranges(row);
            let own: usize = ranges.iter().flatten().map(|part| part.len()).sum();
            let (here, rest) = free.split_at_mut(own);
            free = rest;
            let mut at = 0;
            for part in ranges.iter().flatten() {
                here[at..at + part.len()].copy_from_slice(&whole[part.clone()]);
                at += part.len();
            }
            let is_null = ranges.iter().all(Option::is_none);
            // SAFETY: the bytes are kept as long as the rows.
            let text = (!is_null).then(|| unsafe { StringRef::new(here) });
            self.segment.put(&place, row, text);
        }
        keep(self.segment, copies);
        Ok(())
    }
}
