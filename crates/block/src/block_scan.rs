//! The scan of one block: skip by SMA, narrow by PSMA, match windows of rows on codes (Data Blocks,
//! sections 3.2, 3.4 and 4.2).
//!
//! Each restriction is translated once into a test of codes. A window is matched by the tests in order
//! of their estimated selectivity: the first replaces the match bits, the others are ANDed to them,
//! for a fresh SIMD test costs a twentieth of a gathered one. Once so few rows are left that gathering
//! is cheaper, the rows become positions and the remaining tests reduce them.
//!
//! Codes of the next window are not prefetched: they are read in order, which the machine foresees, and asking
//! for every line cost Q6 a third of its time.

use crate::block::Block;
use crate::code_match::{any_of, clear_tail, match_range, match_values, negate, shifted_word};
use crate::code_range::{CodeRange, Translated};
use crate::encodings::Encoding;
use crate::encodings::patched::PatchedRange;
use crate::format::ColumnEntry;
use crate::layouts::codes::{CodeScratch, Codes, MatchScratch, dispatch_words};
use crate::psma;
use crate::resolve::dispatch_integer;
use crate::selectivity;
use crate::sma::f64_of_ordinal;
use crate::text_test::TextTest;
use crate::unpack::for_each_row;
use frazil_kernels::{CodeWord, Combine, Isa, RangeOp, Selection, compare, positions, unpack};
use frazil_types::{MatchBits, NativeType, Restriction, RestrictionKind, Result};
use std::ops::Range;

/// Rows in a thousand, for each byte of a code, below which positions are reduced rather than bits ANDed: a
/// reduced position costs about 1.5 cycles, a compared byte of codes 0.015.
const REDUCE_BELOW_PERMILLE_A_BYTE: usize = 8;

/// How a scan is to run.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ScanOptions {
    /// Instruction set of the kernels.
    pub isa: Isa,
    /// Whether min and max are asked before restrictions are translated (and touch a dictionary). A
    /// restriction whose translation is empty rules the block out in any case.
    pub use_sma: bool,
    /// Whether the range of rows is narrowed by PSMAs.
    pub use_psma: bool,
}

impl Default for ScanOptions {
    fn default() -> ScanOptions {
        ScanOptions {
            isa: Isa::detect(),
            use_sma: true,
            use_psma: true,
        }
    }
}

/// What a window's match came to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Matched {
    /// No row.
    None,
    /// Every row; bits and positions were not written.
    All,
    /// The rows whose bit is set.
    Bits,
    /// The rows at the positions (offsets in the block).
    Positions,
}

/// One restriction, ready to run.
#[derive(Debug)]
struct Test {
    column: usize,
    kind: TestKind,
    /// Estimated share of rows that pass, in thousandths; strings are put behind all else.
    rank: u32,
}

#[derive(Debug)]
enum TestKind {
    /// Is NULL.
    Null,
    /// Is not NULL.
    NotNull,
    /// By code or ordinal.
    Codes(CodeRange),
    /// By code, exceptions apart.
    Patched(PatchedRange),
    /// By ordinal, frame by frame.
    Frames(Vec<(u64, u64)>),
    /// Wide integers in any of the ranges.
    Wide(Vec<(i128, i128)>),
    /// Raw strings.
    Text(TextTest),
}

/// A scan of one block with restrictions, all of which a row must satisfy.
#[derive(Debug)]
pub struct BlockScan {
    block: Block,
    isa: Isa,
    tests: Vec<Test>,
    range: Range<u32>,
    skipped_by_sma: bool,
    scratch: Scratch,
}

#[derive(Debug, Default)]
struct Scratch {
    bits: Vec<u64>,
    text: Vec<u8>,
    offsets: Vec<u32>,
    matching: MatchScratch,
    codes: CodeScratch,
    positions: Vec<u16>,
}

impl BlockScan {
    /// Translates the restrictions for a block. `Restriction::column` is the column's place in the block.
    pub fn new(block: &Block, restrictions: &[Restriction], options: ScanOptions) -> Result<BlockScan> {
        let mut scan = BlockScan {
            block: block.clone(),
            isa: options.isa,
            tests: Vec::with_capacity(restrictions.len()),
            range: 0..block.rows(),
            skipped_by_sma: false,
            scratch: Scratch::default(),
        };
        if options.use_sma {
            for r in restrictions {
                if block.sma_rules_out(r.column, &r.kind)? {
                    scan.range = 0..0;
                    scan.skipped_by_sma = true;
                    return Ok(scan);
                }
            }
        }
        for r in restrictions {
            scan.add(r.column, &r.kind, options)?;
            if scan.range.is_empty() {
                return Ok(scan);
            }
        }
        scan.tests.sort_by_key(|t| t.rank);
        if (scan.tests.iter()).any(|t| block.entry(t.column).layout.is_packed()) {
            // Codes of any width are tested from multiples of 64 rows on; rows before the narrowed
            // range are tested and do not match.
            scan.range.start &= !63;
        }
        Ok(scan)
    }

    fn add(&mut self, column: usize, kind: &RestrictionKind, options: ScanOptions) -> Result<()> {
        let translated = self.block.translate(column, kind)?;
        let entry = self.block.entry(column);
        let (kind, rank) = match translated {
            Translated::Codes(CodeRange::None, _) => {
                self.range = 0..0;
                return Ok(());
            }
            Translated::Codes(CodeRange::All, _)
                if entry.null_count == 0 || entry.null_count == self.block.rows() =>
            {
                return Ok(());
            }
            Translated::Codes(CodeRange::All, _) => (TestKind::NotNull, 990),
            Translated::Null => (TestKind::Null, 50),
            Translated::Codes(range, hull) => {
                if let (true, Some((low, high))) = (options.use_psma, hull) {
                    self.narrow(column, low, high)?;
                }
                let entry = self.block.entry(column);
                let rank = selectivity::of_codes(entry, &range);
                (TestKind::Codes(range), rank)
            }
            Translated::Patched(range, ordinals) => {
                let rank = self.narrow_to(column, ordinals, options)?.0;
                (TestKind::Patched(range), rank)
            }
            Translated::Frames(ordinals) => {
                let (rank, ordinals) = self.narrow_to(column, ordinals, options)?;
                (TestKind::Frames(ordinals), rank)
            }
            Translated::Wide(ranges) => (TestKind::Wide(ranges), 1001),
            Translated::Text(test) => (TestKind::Text(test), 1002),
        };
        self.block.touch(column)?;
        self.tests.push(Test { column, kind, rank });
        Ok(())
    }

    /// Narrows the range by ascending ranges of ordinals, which are given back with their rank.
    fn narrow_to(
        &mut self,
        column: usize,
        ordinals: Vec<(u64, u64)>,
        options: ScanOptions,
    ) -> Result<(u32, Vec<(u64, u64)>)> {
        if let (true, Some(first), Some(last)) = (options.use_psma, ordinals.first(), ordinals.last()) {
            self.narrow(column, first.0, last.1)?;
        }
        let rank = selectivity::of_ranges(self.block.entry(column), &ordinals);
        Ok((rank, ordinals))
    }

    /// Intersects the range with what the PSMA of a column says of ordinals.
    fn narrow(&mut self, column: usize, low: u64, high: u64) -> Result<()> {
        self.block.touch(column)?;
        let section = self.block.section(self.block.entry(column).sections.psma);
        if section.is_empty() {
            return Ok(());
        }
        let hits = psma::probe(section, low, high);
        let start = self.range.start.max(hits.start);
        let end = self.range.end.min(hits.end);
        self.range = start..end.max(start);
        Ok(())
    }

    /// The block.
    pub fn block(&self) -> &Block {
        &self.block
    }

    /// The rows among which all matches lie: empty when the block is ruled out.
    pub fn range(&self) -> Range<u32> {
        self.range.clone()
    }

    /// Whether min and max alone ruled the block out.
    pub fn skipped_by_sma(&self) -> bool {
        self.skipped_by_sma
    }

    /// Whether every row of [`BlockScan::range`] matches without a test.
    pub fn matches_all(&self) -> bool {
        self.tests.is_empty() && !self.range.is_empty()
    }

    /// Columns whose codes are read to find matches, for the count of bytes touched.
    pub fn tested_columns(&self) -> impl Iterator<Item = usize> + '_ {
        self.tests.iter().map(|t| t.column)
    }

    /// Matches the rows of a window; bit `i` speaks of row `range.start + i`. On [`Matched::Bits`] the
    /// bits are set, on [`Matched::Positions`] the positions; the other of the two is then undefined.
    pub fn match_window(
        &mut self,
        range: Range<u32>,
        bits: &mut MatchBits,
        out: &mut Vec<u16>,
    ) -> Result<Matched> {
        let rows = range.len();
        if rows == 0 || self.range.is_empty() {
            return Ok(Matched::None);
        }
        let tests = std::mem::take(&mut self.tests);
        let matched = self.run_tests(&tests, range, bits, out);
        self.tests = tests;
        matched
    }

    fn run_tests(
        &mut self,
        tests: &[Test],
        range: Range<u32>,
        bits: &mut MatchBits,
        out: &mut Vec<u16>,
    ) -> Result<Matched> {
        let rows = range.len();
        if tests.is_empty() {
            return Ok(Matched::All);
        }
        bits.reset(rows);
        for (i, test) in tests.iter().enumerate() {
            let combine = if i == 0 { Combine::Replace } else { Combine::And };
            self.match_bits(test, range.clone(), combine, bits.words_mut())?;
            let rest = &tests[i + 1..];
            let Some(next) = rest.first() else {
                break;
            };
            let left = bits.count();
            if left == 0 {
                return Ok(Matched::None);
            }
            if left * 1000 < rows * self.reduce_below(next) {
                out.clear();
                positions::positions(self.isa, bits.words(), range.start as u16, out);
                for test in rest {
                    self.reduce(test, out)?;
                }
                return Ok(if out.is_empty() {
                    Matched::None
                } else {
                    Matched::Positions
                });
            }
        }
        Ok(Matched::Bits)
    }

    /// Rows in a thousand below which the next test is better done at positions.
    fn reduce_below(&self, next: &Test) -> usize {
        match next.kind {
            // A string costs hundreds of cycles, wherever it is.
            TestKind::Text(_) => 1000,
            _ => {
                usize::from(self.block.entry(next.column).code_bits).div_ceil(8)
                    * REDUCE_BELOW_PERMILLE_A_BYTE
            }
        }
    }

    /// Tests a window by SIMD.
    fn match_bits(
        &mut self,
        test: &Test,
        range: Range<u32>,
        combine: Combine,
        bits: &mut [u64],
    ) -> Result<()> {
        let entry = self.block.entry(test.column);
        let rows = range.start as usize..range.end as usize;
        let coded = entry.encoding != Encoding::Raw;
        let isa = self.isa;
        match &test.kind {
            TestKind::Null | TestKind::NotNull if coded => {
                let wanted = null_codes(&test.kind);
                let codes = self.block.codes(entry);
                codes.match_range(isa, rows, wanted, combine, bits, &mut self.scratch.matching);
            }
            TestKind::Null => self.combine_validity(entry, range, true, combine, bits),
            TestKind::NotNull => self.combine_validity(entry, range, false, combine, bits),
            TestKind::Codes(codes_wanted) => {
                if coded {
                    let scratch = &mut self.scratch.matching;
                    let codes = self.block.codes(entry);
                    codes.match_range(isa, rows, codes_wanted, combine, bits, scratch);
                } else {
                    self.match_raw(entry, rows, codes_wanted, combine, bits);
                    self.drop_nulls(entry, range, bits);
                }
            }
            TestKind::Patched(wanted) => {
                let scratch = &mut self.scratch.matching;
                self.block
                    .match_patched(isa, entry, rows, wanted, combine, bits, scratch);
            }
            TestKind::Frames(wanted) => {
                let scratch = &mut self.scratch.matching;
                self.block
                    .match_frames(isa, entry, rows, wanted, combine, bits, scratch);
            }
            TestKind::Wide(ranges) => {
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
            TestKind::Text(_) => {
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

    /// Tests raw strings: LIKE over the whole window's heap where no test went before, else each row
    /// that is left.
    fn match_text(
        &mut self,
        test: &Test,
        range: Range<u32>,
        combine: Combine,
        bits: &mut [u64],
    ) -> Result<()> {
        let TestKind::Text(text) = &test.kind else {
            return Ok(());
        };
        if combine == Combine::Replace {
            let all = Selection::all(range.clone());
            if let TextTest::Like { pattern, negated } = text {
                self.collect_strings(test.column, all)?;
                let Scratch { text, offsets, .. } = &self.scratch;
                pattern.match_heap(self.isa, text, offsets, Combine::Replace, bits);
                if *negated {
                    negate(bits, range.len());
                }
                return Ok(());
            }
            bits.fill(!0);
            clear_tail(bits, range.len());
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
    fn reduce(&mut self, test: &Test, out: &mut Vec<u16>) -> Result<()> {
        let entry = self.block.entry(test.column);
        let isa = self.isa;
        let by_codes = match &test.kind {
            TestKind::Codes(wanted) => Some(wanted),
            TestKind::Null | TestKind::NotNull => Some(null_codes(&test.kind)),
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
fn null_codes(kind: &TestKind) -> &'static CodeRange {
    match kind {
        TestKind::Null => &CodeRange::Range(0, 0),
        _ => &CodeRange::Except(0, 0),
    }
}

fn word<C: CodeWord>(code: u64) -> C {
    C::from_u64(code)
}
