//! A restriction as a test of one block: on codes where the column has codes, with the share of rows it
//! is expected to leave and the rows that its PSMA leaves (Data Blocks, sections 3.2 and 3.4).

use crate::block::Block;
use crate::code_range::{CodeRange, Translated};
use crate::encodings::Encoding;
use crate::encodings::patched::PatchedRange;
use crate::psma;
use crate::row_ranges::RowRanges;
use crate::selectivity;
use crate::stored_text::TextTest;
use frazil_types::{RestrictionKind, Result};

/// One restriction, ready to run.
#[derive(Debug)]
pub(crate) struct Predicate {
    pub column: usize,
    pub kind: PredicateKind,
    /// Estimated share of rows that pass, in thousandths; strings are put behind all else.
    pub rank: u32,
}

/// What is tested.
#[derive(Debug)]
pub(crate) enum PredicateKind {
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

/// Ranges of ordinals for each of which a PSMA is asked. A dictionary of strings may have thousands that match a
/// pattern; few rows are left out between that many.
const MOST_PROBES: usize = 1024;

/// The rank of wide integers, which have no vector unit.
const WIDE_RANK: u32 = 1001;

/// The rank of strings, each of which has to be looked at.
const TEXT_RANK: u32 = 1002;

/// What a restriction comes to in a block.
#[derive(Debug)]
pub(crate) enum Planned {
    /// No row satisfies it.
    Never,
    /// All rows do.
    Always,
    /// Some may, all of them among these rows.
    Predicate(Predicate, RowRanges),
}

impl Block {
    /// The test of a restriction.
    pub(crate) fn plan_test(&self, column: usize, kind: &RestrictionKind, use_psma: bool) -> Result<Planned> {
        self.plan_translated(column, self.translate(column, kind)?, use_psma)
    }

    /// The one test of several restrictions on a column of which one is to be satisfied; `None` where they
    /// have to be tested one by one.
    pub(crate) fn plan_union(
        &self,
        column: usize,
        kinds: &[&RestrictionKind],
        use_psma: bool,
    ) -> Result<Option<Planned>> {
        (self.translate_union(column, kinds)?)
            .map(|translated| self.plan_translated(column, translated, use_psma))
            .transpose()
    }

    fn plan_translated(&self, column: usize, translated: Translated, use_psma: bool) -> Result<Planned> {
        let entry = self.entry(column);
        let mut rows = RowRanges::one(0..self.rows());
        let mut narrow = |ordinals: &[(u64, u64)]| -> Result<()> {
            if use_psma {
                rows = self.rows_by_psma(column, ordinals)?;
            }
            Ok(())
        };
        let (kind, rank) = match translated {
            Translated::Codes(CodeRange::None, _) => return Ok(Planned::Never),
            Translated::Codes(CodeRange::All, _)
                if entry.null_count == 0 || entry.null_count == self.rows() =>
            {
                return Ok(Planned::Always);
            }
            Translated::Codes(CodeRange::All, _) => (PredicateKind::NotNull, 990),
            Translated::Null => (PredicateKind::Null, 50),
            Translated::Codes(range, ordinals) => {
                narrow(&ordinals)?;
                let rank = selectivity::of_codes(entry, &range);
                (PredicateKind::Codes(range), rank)
            }
            Translated::Patched(range, ordinals) => {
                narrow(&ordinals)?;
                (
                    PredicateKind::Patched(range),
                    selectivity::of_ranges(entry, &ordinals),
                )
            }
            Translated::Frames(ordinals) => {
                narrow(&ordinals)?;
                let rank = selectivity::of_ranges(entry, &ordinals);
                (PredicateKind::Frames(ordinals), rank)
            }
            Translated::Wide(ranges) => (PredicateKind::Wide(ranges), WIDE_RANK),
            Translated::Text(test) => (PredicateKind::Text(TextTest::new(test)), TEXT_RANK),
        };
        self.touch(column)?;
        if rows.is_empty() {
            return Ok(Planned::Never);
        }
        Ok(Planned::Predicate(Predicate { column, kind, rank }, rows))
    }

    /// The rows whose ordinals may be in any of some ascending ranges, by the column's PSMA. All rows for no range.
    fn rows_by_psma(&self, column: usize, ordinals: &[(u64, u64)]) -> Result<RowRanges> {
        self.touch(column)?;
        let section = self.section(self.entry(column).sections.psma);
        let (Some(first), Some(last), false) = (ordinals.first(), ordinals.last(), section.is_empty()) else {
            return Ok(RowRanges::one(0..self.rows()));
        };
        let probe = |&(low, high): &(u64, u64)| psma::probe(section, low, high);
        Ok(match ordinals.len() <= MOST_PROBES {
            true => RowRanges::of(ordinals.iter().map(probe).collect()),
            false => RowRanges::one(probe(&(first.0, last.1))),
        })
    }
}

impl Predicate {
    /// Whether a string has to be looked at for each row.
    pub fn is_text(&self) -> bool {
        matches!(self.kind, PredicateKind::Text(_))
    }

    /// Whether its match bits can be ORed to others as they come: a test on codes, where NULL is one of them.
    pub fn is_on_codes(&self, block: &Block) -> bool {
        match self.kind {
            PredicateKind::Codes(_) | PredicateKind::Null | PredicateKind::NotNull => {
                block.entry(self.column).encoding != Encoding::Raw
            }
            _ => false,
        }
    }
}
