//! Tests of a window of one block on codes: by SIMD over all its rows, or at the positions that are left
//! (Data Blocks, section 4.2: find and reduce matches).

use crate::block::Block;
use crate::code_match::{any_of, match_range, match_values, negate, shifted_word};
use crate::code_range::CodeRange;
use crate::encodings::Encoding;
use crate::format::ColumnEntry;
use crate::layouts::codes::{CodeScratch, Codes, MatchScratch, dispatch_words};
use crate::resolve::dispatch_integer;
use crate::scan_predicate::{Predicate, PredicateKind};
use crate::sma::f64_of_ordinal;
use crate::strategy;
use crate::text_predicate::TextPredicate;
use crate::unpack::for_each_row;
use frazil_kernels::{CodeWord, Combine, Isa, RangeOp, Selection, compare, positions, unpack};
use frazil_types::{NativeType, Result};
use std::ops::Range;

/// A block whose windows are tested.
#[derive(Debug)]
pub(crate) struct WindowMatch {
    pub block: Block,
    pub isa: Isa,
    /// Rows that a disjunction has found so far, and those it is looking at; kept from window to window.
    pub found: Vec<u64>,
    pub open: Vec<u64>,
    scratch: Scratch,
}

#[derive(Debug, Default)]
struct Scratch {
    bits: Vec<u64>,
    apart: Vec<u64>,
    text: Vec<u8>,
    offsets: Vec<u32>,
    matching: MatchScratch,
    codes: CodeScratch,
    positions: Vec<u16>,
}

impl WindowMatch {
    /// Of a block.
    pub fn new(block: &Block, isa: Isa) -> WindowMatch {
        WindowMatch {
            block: block.clone(),
            isa,
            found: Vec::new(),
            open: Vec::new(),
            scratch: Scratch::default(),
        }
    }

    /// ANDs a test's match bits to those in `bits`, of which at most `left` are set: column-first, or apart
    /// where that is quicker.
    pub fn match_joined(
        &mut self,
        test: &Predicate,
        range: Range<u32>,
        left: usize,
        bits: &mut [u64],
    ) -> Result<()> {
        let entry = self.block.entry(test.column);
        if !test.is_on_codes(&self.block) || strategy::pipelines(entry, left, range.len()) {
            return self.match_bits(test, range, Combine::And, bits);
        }
        let mut apart = std::mem::take(&mut self.scratch.apart);
        apart.clear();
        apart.resize(bits.len(), 0);
        let result = self.match_bits(test, range, Combine::Replace, &mut apart);
        bits.iter_mut()
            .zip(&apart)
            .for_each(|(word, fresh)| *word &= fresh);
        self.scratch.apart = apart;
        result
    }

    /// Tests a window by SIMD.
    pub fn match_bits(
        &mut self,
        test: &Predicate,
        range: Range<u32>,
        combine: Combine,
        bits: &mut [u64],
    ) -> Result<()> {
        let entry = self.block.entry(test.column);
        let rows = range.start as usize..range.end as usize;
        let coded = entry.encoding != Encoding::Raw;
        let isa = self.isa;
        match &test.kind {
            PredicateKind::Null | PredicateKind::NotNull if coded => {
                let wanted = null_codes(&test.kind);
                let codes = self.block.codes(entry);
                codes.match_range(isa, rows, wanted, combine, bits, &mut self.scratch.matching);
            }
            PredicateKind::Null => self.combine_validity(entry, range, true, combine, bits),
            PredicateKind::NotNull => self.combine_validity(entry, range, false, combine, bits),
            PredicateKind::Codes(codes_wanted) => {
                if coded {
                    let scratch = &mut self.scratch.matching;
                    let codes = self.block.codes(entry);
                    codes.match_range(isa, rows, codes_wanted, combine, bits, scratch);
                } else {
                    self.match_raw(entry, rows, codes_wanted, combine, bits);
                    self.drop_nulls(entry, range, bits);
                }
            }
            PredicateKind::Patched(wanted) => {
                let scratch = &mut self.scratch.matching;
                self.block
                    .match_patched(isa, entry, rows, wanted, combine, bits, scratch);
            }
            PredicateKind::Frames(wanted) => {
                let scratch = &mut self.scratch.matching;
                self.block
                    .match_frames(isa, entry, rows, wanted, combine, bits, scratch);
            }
            PredicateKind::Wide(ranges) => {
                let values = &self.block.slice::<i128>(entry.sections.codes)[rows];
                any_of(
                    ranges,
                    combine,
                    bits,
                    &mut self.scratch.bits,
                    |&(low, high), combine, bits| {
                        compare::between(isa, values, RangeOp::Inside, low, high, combine, bits);
                    },
                );
                self.drop_nulls(entry, range, bits);
            }
            PredicateKind::Text(_) => {
                self.match_text(test, range.clone(), combine, bits)?;
                self.drop_nulls(self.block.entry(test.column), range, bits);
            }
        }
        Ok(())
    }

    /// Tests raw numbers: ordinals become values again.
    fn match_raw(
        &self,
        entry: &ColumnEntry,
        rows: Range<usize>,
        wanted: &CodeRange,
        combine: Combine,
        bits: &mut [u64],
    ) {
        let isa = self.isa;
        let codes = entry.sections.codes;
        let scratch = &mut Vec::new();
        match entry.native {
            NativeType::Bool => {
                let of = |o: u64| (entry.min as u64 + o) as u8;
                let values = &self.block.slice::<u8>(codes)[rows];
                match_values(isa, values, wanted, of, combine, bits, scratch);
            }
            NativeType::F64 => {
                let values = &self.block.slice::<f64>(codes)[rows];
                match_values(isa, values, wanted, f64_of_ordinal, combine, bits, scratch);
            }
            native => dispatch_integer!(native, T => {
                let of = |o: u64| (entry.min + i128::from(o)) as T;
                let values = &self.block.slice::<T>(codes)[rows];
                match_values(isa, values, wanted, of, combine, bits, scratch);
            }, _ => ()),
        }
    }

    /// Clears the bits of NULL rows of a raw column.
    fn drop_nulls(&self, entry: &ColumnEntry, range: Range<u32>, bits: &mut [u64]) {
        if entry.nullable() {
            self.combine_validity(entry, range, false, Combine::And, bits);
        }
    }

    /// Combines the validity bits of a raw column, or their opposite.
    fn combine_validity(
        &self,
        entry: &ColumnEntry,
        range: Range<u32>,
        negated: bool,
        combine: Combine,
        bits: &mut [u64],
    ) {
        let words = self.block.slice::<u64>(entry.sections.bitmap);
        let flip = if negated { !0 } else { 0 };
        let tail = range.len() % 64;
        let last = bits.len() - 1;
        for (i, out) in bits.iter_mut().enumerate() {
            let mut fresh = shifted_word(words, range.start as usize + i * 64) ^ flip;
            if i == last && tail != 0 {
                fresh &= (1 << tail) - 1;
            }
            *out = combine.apply(*out, fresh);
        }
    }

    /// Tests raw strings: those of the whole window where no test went before, else each row that is left.
    fn match_text(
        &mut self,
        test: &Predicate,
        range: Range<u32>,
        combine: Combine,
        bits: &mut [u64],
    ) -> Result<()> {
        let PredicateKind::Text(stored) = &test.kind else {
            return Ok(());
        };
        let text = &stored.predicate;
        if combine == Combine::Replace {
            if self
                .block
                .match_stored(test.column, stored, range.clone(), bits)?
            {
                return Ok(());
            }
            self.collect_strings(test.column, Selection::all(range.clone()))?;
            let Scratch {
                text: heap, offsets, ..
            } = &self.scratch;
            if let TextPredicate::Like { pattern, negated } = text {
                pattern.match_heap(self.isa, heap, offsets, Combine::Replace, bits);
                if *negated {
                    negate(bits, range.len());
                }
            } else {
                text.match_heap(heap, offsets, bits);
            }
            return Ok(());
        }
        let (start, len) = (range.start, range.len() as u32);
        let mut words = std::mem::take(&mut self.scratch.bits);
        words.clear();
        words.extend_from_slice(bits);
        let left = Selection::Bits {
            words: &words,
            start,
            len,
        };
        self.for_each_string(test.column, left, |row, string| {
            if !text.matches(string) {
                let bit = row - start as usize;
                bits[bit / 64] &= !(1 << (bit % 64));
            }
        })?;
        self.scratch.bits = words;
        Ok(())
    }

    /// Puts the selected strings of a raw column one after the other into the scratch heap.
    fn collect_strings(&mut self, column: usize, selection: Selection) -> Result<()> {
        let mut text = std::mem::take(&mut self.scratch.text);
        let mut offsets = std::mem::take(&mut self.scratch.offsets);
        let result = self.block.gather_text(column, selection, &mut text, &mut offsets);
        self.scratch.text = text;
        self.scratch.offsets = offsets;
        result
    }

    /// Calls `f` with row and bytes of each selected string of a raw column.
    fn for_each_string(
        &mut self,
        column: usize,
        selection: Selection,
        mut f: impl FnMut(usize, &[u8]),
    ) -> Result<()> {
        self.collect_strings(column, selection)?;
        let Scratch { text, offsets, .. } = &self.scratch;
        for_each_row(selection, |i, row| {
            f(row, &text[offsets[i] as usize..offsets[i + 1] as usize]);
        });
        Ok(())
    }

    /// Keeps the positions that pass a test.
    pub fn reduce(&mut self, test: &Predicate, out: &mut Vec<u16>) -> Result<()> {
        let entry = self.block.entry(test.column);
        let isa = self.isa;
        let by_codes = match &test.kind {
            PredicateKind::Codes(wanted) => Some(wanted),
            PredicateKind::Null | PredicateKind::NotNull => Some(null_codes(&test.kind)),
            _ => None,
        };
        if let (Some(wanted), true) = (by_codes, entry.encoding != Encoding::Raw) {
            match (self.block.codes(entry), wanted) {
                (Codes::Words(words), CodeRange::Range(low, high)) => {
                    dispatch_words!(words, codes => {
                        let (low, high) = (word(*low), word(*high));
                        positions::reduce_between(isa, codes, RangeOp::Inside, low, high, out);
                    });
                    return Ok(());
                }
                (codes @ Codes::Packed(..), wanted) => {
                    reduce_dense(isa, codes, wanted, &mut self.scratch, out);
                    return Ok(());
                }
                _ => {}
            }
        }
        // Everything else goes by the bits of the window the positions span.
        let (Some(&first), Some(&last)) = (out.first(), out.last()) else {
            return Ok(());
        };
        let first = first & !63;
        let range = u32::from(first)..u32::from(last) + 1;
        let mut bits = vec![0u64; range.len().div_ceil(64)];
        for p in out.iter().map(|&p| usize::from(p - first)) {
            bits[p / 64] |= 1 << (p % 64);
        }
        self.match_bits(test, range, Combine::And, &mut bits)?;
        out.clear();
        positions::positions(isa, &bits, first, out);
        Ok(())
    }
}

/// Keeps the positions whose codes, fetched first, are in a code range.
fn reduce_dense(isa: Isa, codes: Codes, wanted: &CodeRange, scratch: &mut Scratch, out: &mut Vec<u16>) {
    let Scratch {
        bits,
        matching,
        codes: scratch,
        positions: kept,
        ..
    } = scratch;
    let rows = out.len();
    bits.clear();
    bits.resize(rows.div_ceil(64), 0);
    let (dense, _) = codes.dense(isa, Selection::Positions(out), scratch);
    dispatch_words!(dense, codes => {
        match_range(isa, codes, wanted, Combine::Replace, bits, &mut matching.union);
    });
    kept.clear();
    kept.resize(rows, 0);
    let chosen = Selection::Bits {
        words: bits,
        start: 0,
        len: rows as u32,
    };
    let left = unpack::copy_values(isa, out, chosen, kept);
    kept.truncate(left);
    std::mem::swap(kept, out);
}

/// The codes of NULL, or all others, in a nullable coded column.
fn null_codes(kind: &PredicateKind) -> &'static CodeRange {
    match kind {
        PredicateKind::Null => &CodeRange::Range(0, 0),
        _ => &CodeRange::Except(0, 0),
    }
}

fn word<C: CodeWord>(code: u64) -> C {
    C::from_u64(code)
}
