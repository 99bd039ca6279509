//! The scan of one block: skip by SMA, narrow by PSMA, match windows of rows on codes (Data Blocks,
//! sections 3.2, 3.4 and 4.2).
//!
//! Each restriction is translated once into a test of codes, each disjunction into several. A window is
//! matched by the tests in order of their estimated selectivity: the first replaces the match bits, the
//! others are ANDed to them, for a fresh SIMD test costs a twentieth of a gathered one. Once so few rows are
//! left that gathering is cheaper, the rows become positions and the remaining tests reduce them. `strategy`
//! says when.
//!
//! Codes of the next window are not prefetched: they are read in order, which the machine foresees, and asking
//! for every line cost Q6 a third of its time.

use crate::block::Block;
use crate::disjunction::{AnyOf, PlannedAny};
use crate::row_ranges::RowRanges;
use crate::scan_predicate::{Planned, Predicate};
use crate::strategy;
use crate::window_match::WindowMatch;
use frazil_kernels::{Combine, Isa, count, positions};
use frazil_types::{Disjunction, MatchBits, Restriction, Result};
use std::ops::Range;

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
/// A test, or a disjunction of tests.
#[derive(Debug)]
enum Term {
    One(Predicate),
    Any(AnyOf),
}

/// A scan of one block with restrictions and disjunctions, all of which a row must satisfy.
#[derive(Debug)]
pub struct BlockScan {
    terms: Vec<Term>,
    rows: RowRanges,
    skipped_by_sma: bool,
    window: WindowMatch,
}

impl BlockScan {
    /// Translates restrictions and disjunctions for a block. `Restriction::column` is the column's place in
    /// the block.
    pub fn new(
        block: &Block,
        restrictions: &[Restriction],
        disjunctions: &[Disjunction],
        options: ScanOptions,
    ) -> Result<BlockScan> {
        let mut scan = BlockScan {
            terms: Vec::with_capacity(restrictions.len() + disjunctions.len()),
            rows: RowRanges::one(0..block.rows()),
            skipped_by_sma: false,
            window: WindowMatch::new(block, options.isa),
        };
        if options.use_sma && rules_out(block, restrictions, disjunctions)? {
            scan.rows = RowRanges::one(0..0);
            scan.skipped_by_sma = true;
            return Ok(scan);
        }
        for r in restrictions {
            match block.plan_test(r.column, &r.kind, options.use_psma)? {
                Planned::Never => scan.rows = RowRanges::one(0..0),
                Planned::Always => {}
                Planned::Predicate(test, rows) => scan.add(Term::One(test), &rows),
            }
            if scan.rows.is_empty() {
                return Ok(scan);
            }
        }
        for disjunction in disjunctions {
            match block.plan_any(disjunction, options.use_psma)? {
                PlannedAny::Never => scan.rows = RowRanges::one(0..0),
                PlannedAny::Always => {}
                PlannedAny::All(tests, rows) => {
                    (tests.into_iter()).for_each(|test| scan.add(Term::One(test), &rows));
                }
                PlannedAny::Any(any, rows) => scan.add(Term::Any(any), &rows),
            }
            if scan.rows.is_empty() {
                return Ok(scan);
            }
        }
        scan.terms.sort_by_key(Term::rank);
        if scan.tested_columns().any(|c| block.entry(c).layout.is_packed()) {
            // Codes of any width are tested from multiples of 64 rows on; rows before the narrowed
            // range are tested and do not match.
            scan.rows = RowRanges::of(scan.rows.iter().map(|r| r.start & !63..r.end).collect());
        }
        Ok(scan)
    }

    /// Adds a term whose matches all lie among `rows`.
    fn add(&mut self, term: Term, rows: &RowRanges) {
        self.terms.push(term);
        self.rows = self.rows.within(rows);
    }

    /// The block.
    pub fn block(&self) -> &Block {
        &self.window.block
    }

    /// The rows among which all matches lie: empty when the block is ruled out.
    pub fn rows(&self) -> &RowRanges {
        &self.rows
    }

    /// From the first to the last of [`BlockScan::rows`].
    pub fn range(&self) -> Range<u32> {
        self.rows.hull()
    }

    /// Whether min and max alone ruled the block out.
    pub fn skipped_by_sma(&self) -> bool {
        self.skipped_by_sma
    }

    /// True if [`BlockScan::rows`] is not empty and every row of it matches without a test.
    pub fn matches_all(&self) -> bool {
        self.terms.is_empty() && !self.rows.is_empty()
    }

    /// Columns whose codes are read to find matches, for the count of bytes touched.
    pub fn tested_columns(&self) -> impl Iterator<Item = usize> + '_ {
        self.terms.iter().flat_map(Term::tests).map(|t| t.column)
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
        if rows == 0 || self.rows.is_empty() {
            return Ok(Matched::None);
        }
        if self.terms.is_empty() {
            return Ok(Matched::All);
        }
        let BlockScan { terms, window, .. } = self;
        bits.reset(rows);
        let mut before = None;
        for (i, term) in terms.iter().enumerate() {
            term.match_bits(window, range.clone(), before, bits.words_mut())?;
            let rest = &terms[i + 1..];
            let Some(next) = rest.first() else {
                break;
            };
            let left = count::ones(window.isa, bits.words());
            before = Some(left);
            if left == 0 {
                return Ok(Matched::None);
            }
            if left * 1000 < rows * next.reduce_below(&window.block) {
                out.clear();
                positions::positions(window.isa, bits.words(), range.start as u16, out);
                for term in rest {
                    term.reduce(window, out)?;
                }
                return Ok(match out.is_empty() {
                    true => Matched::None,
                    false => Matched::Positions,
                });
            }
        }
        Ok(Matched::Bits)
    }
}

/// Whether min and max alone say that no row matches.
fn rules_out(block: &Block, restrictions: &[Restriction], disjunctions: &[Disjunction]) -> Result<bool> {
    for r in restrictions {
        if block.sma_rules_out(r.column, &r.kind)? {
            return Ok(true);
        }
    }
    for disjunction in disjunctions {
        if block.sma_rules_out_all(disjunction)? {
            return Ok(true);
        }
    }
    Ok(false)
}

impl Term {
    fn rank(&self) -> u32 {
        match self {
            Term::One(test) => test.rank,
            Term::Any(any) => any.rank,
        }
    }

    fn tests(&self) -> Box<dyn Iterator<Item = &Predicate> + '_> {
        match self {
            Term::One(test) => Box::new(std::iter::once(test)),
            Term::Any(any) => Box::new(any.tests()),
        }
    }

    /// Match bits of a window, ANDed to those of the terms before it, of which so many are set; `None`: it is the
    /// first.
    fn match_bits(
        &self,
        window: &mut WindowMatch,
        range: Range<u32>,
        before: Option<usize>,
        bits: &mut [u64],
    ) -> Result<()> {
        match (self, before) {
            (Term::One(test), None) => window.match_bits(test, range, Combine::Replace, bits),
            (Term::One(test), Some(left)) => window.match_joined(test, range, left, bits),
            (Term::Any(any), None) => any.match_bits(window, range, Combine::Replace, bits),
            (Term::Any(any), Some(_)) => any.match_bits(window, range, Combine::And, bits),
        }
    }

    /// Keeps the positions that pass.
    fn reduce(&self, window: &mut WindowMatch, out: &mut Vec<u16>) -> Result<()> {
        match self {
            Term::One(test) => window.reduce(test, out),
            Term::Any(any) => any.reduce(window, out),
        }
    }

    /// Rows in a thousand below which it is better done at positions.
    fn reduce_below(&self, block: &Block) -> usize {
        let below = |test: &Predicate| match test.is_text() {
            // A string costs hundreds of cycles, wherever it is.
            true => 1000,
            false => strategy::reduce_below(block.entry(test.column)),
        };
        self.tests().map(below).max().unwrap_or(0)
    }
}
