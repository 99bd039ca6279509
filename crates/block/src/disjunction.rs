//! Disjunctions in the scan of a block (ByteSlice, section 3.1.2 and appendix E).
//!
//! What restrictions of one column leave becomes a single test, whose code ranges are united. Otherwise the
//! alternatives are tested column-first: each is given the rows that no alternative before it has found, and
//! vectors without such rows are skipped. An alternative of several tests narrows these rows test by test.
//!
//! A block is skipped when SMAs rule out every alternative; PSMAs narrow it to the rows that they leave of each.

use crate::block::Block;
use crate::code_match::{clear_tail, set_all};
use crate::row_ranges::RowRanges;
use crate::scan_predicate::{Planned, Predicate};
use crate::strategy;
use crate::window_match::WindowMatch;
use frazil_kernels::{Combine, count};
use frazil_types::{Disjunction, Restriction, RestrictionKind, Result};
use std::ops::Range;

/// A disjunction, ready to run: at least two alternatives, none without a test.
#[derive(Debug)]
pub(crate) struct AnyOf {
    alternatives: Vec<Vec<Predicate>>,
    /// Estimated share of rows that pass, as that of a [`Predicate`].
    pub rank: u32,
}

/// What a disjunction comes to in a block.
#[derive(Debug)]
pub(crate) enum PlannedAny {
    /// No row satisfies it.
    Never,
    /// All rows do.
    Always,
    /// A conjunction does the same, among these rows.
    All(Vec<Predicate>, RowRanges),
    /// Some may, all of them among these rows.
    Any(AnyOf, RowRanges),
}

impl Block {
    /// Whether min and max alone rule out every alternative.
    pub(crate) fn sma_rules_out_all(&self, disjunction: &Disjunction) -> Result<bool> {
        for alternative in &disjunction.alternatives {
            let mut out = false;
            for r in alternative {
                out = out || self.sma_rules_out(r.column, &r.kind)?;
            }
            if !out {
                return Ok(false);
            }
        }
        Ok(true)
    }

    /// The tests of a disjunction.
    pub(crate) fn plan_any(&self, disjunction: &Disjunction, use_psma: bool) -> Result<PlannedAny> {
        if let Some((column, kinds)) = one_column(&disjunction.alternatives)
            && let Some(planned) = self.plan_union(column, &kinds, use_psma)?
        {
            return Ok(match planned {
                Planned::Never => PlannedAny::Never,
                Planned::Always => PlannedAny::Always,
                Planned::Predicate(test, rows) => PlannedAny::All(vec![test], rows),
            });
        }
        let mut alternatives = Vec::new();
        let mut rows = RowRanges::one(0..0);
        for alternative in &disjunction.alternatives {
            let Some((tests, within)) = self.plan_alternative(alternative, use_psma)? else {
                continue;
            };
            if tests.is_empty() {
                return Ok(PlannedAny::Always);
            }
            rows = rows.with(within);
            alternatives.push(tests);
        }
        if alternatives.len() <= 1 {
            return Ok(match alternatives.pop() {
                None => PlannedAny::Never,
                Some(tests) => PlannedAny::All(tests, rows),
            });
        }
        // What finds most for the least goes first: the others then have fewer rows to look at.
        alternatives.sort_by_key(|tests| (tests.iter().any(Predicate::is_text), tests.len()));
        let rank = rank(&alternatives);
        Ok(PlannedAny::Any(AnyOf { alternatives, rank }, rows))
    }

    /// The tests of an alternative and the rows among which all its matches lie; `None` if there are none.
    fn plan_alternative(
        &self,
        alternative: &[Restriction],
        use_psma: bool,
    ) -> Result<Option<(Vec<Predicate>, RowRanges)>> {
        let mut tests = Vec::with_capacity(alternative.len());
        let mut rows = RowRanges::one(0..self.rows());
        for r in alternative {
            match self.plan_test(r.column, &r.kind, use_psma)? {
                Planned::Never => return Ok(None),
                Planned::Always => {}
                Planned::Predicate(test, within) => {
                    rows = rows.within(&within);
                    tests.push(test);
                }
            }
        }
        tests.sort_by_key(|t| t.rank);
        Ok((!rows.is_empty()).then_some((tests, rows)))
    }
}

/// The column all alternatives restrict, each by a single restriction.
fn one_column(alternatives: &[Vec<Restriction>]) -> Option<(usize, Vec<&RestrictionKind>)> {
    let column = alternatives.first()?.first()?.column;
    let kinds = alternatives.iter().map(|alternative| match &alternative[..] {
        [r] if r.column == column => Some(&r.kind),
        _ => None,
    });
    Some((column, kinds.collect::<Option<_>>()?))
}

/// The estimated share of rows, as if tests knew nothing of each other.
fn rank(alternatives: &[Vec<Predicate>]) -> u32 {
    let greatest = alternatives.iter().flatten().map(|t| t.rank).max().unwrap_or(0);
    if greatest > 1000 {
        return greatest;
    }
    let fails = |tests: &Vec<Predicate>| 1.0 - tests.iter().map(|t| f64::from(t.rank) / 1e3).product::<f64>();
    ((1.0 - alternatives.iter().map(fails).product::<f64>()) * 1e3) as u32
}

impl AnyOf {
    /// Its tests.
    pub fn tests(&self) -> impl Iterator<Item = &Predicate> {
        self.alternatives.iter().flatten()
    }

    /// Match bits of a window, combined with those in `bits`, by [`Combine::Replace`] or [`Combine::And`].
    pub fn match_bits(
        &self,
        window: &mut WindowMatch,
        range: Range<u32>,
        combine: Combine,
        bits: &mut [u64],
    ) -> Result<()> {
        let rows = range.len();
        let mut found = std::mem::take(&mut window.found);
        let mut open = std::mem::take(&mut window.open);
        // Rows that are lost already count as found: nobody has to look at them.
        found.clear();
        match combine {
            Combine::And => found.extend(bits.iter().map(|word| !word)),
            _ => found.resize(bits.len(), 0),
        }
        clear_tail(&mut found, rows);
        let result = self.find(window, range, (&mut found, &mut open));
        for (word, found) in bits.iter_mut().zip(&found) {
            *word = combine.apply(*word, *found);
        }
        (window.found, window.open) = (found, open);
        result
    }

    /// Adds the rows of each alternative to those found.
    fn find(
        &self,
        window: &mut WindowMatch,
        range: Range<u32>,
        (found, open): (&mut [u64], &mut Vec<u64>),
    ) -> Result<()> {
        let rows = range.len();
        for tests in &self.alternatives {
            let left = rows - count::ones(window.isa, found);
            if left == 0 {
                break;
            }
            if let [test] = &tests[..]
                && test.is_on_codes(&window.block)
                && strategy::pipelines(window.block.entry(test.column), left, rows)
            {
                window.match_bits(test, range.clone(), Combine::Or, found)?;
                continue;
            }
            open.clear();
            open.resize(found.len(), 0);
            set_all(open, rows);
            open.iter_mut().zip(&*found).for_each(|(o, f)| *o &= !f);
            for test in tests {
                window.match_joined(test, range.clone(), left, open)?;
                if open.iter().all(|&word| word == 0) {
                    break;
                }
            }
            found.iter_mut().zip(&*open).for_each(|(f, o)| *f |= o);
        }
        Ok(())
    }

    /// Keeps the positions that pass.
    pub fn reduce(&self, window: &mut WindowMatch, out: &mut Vec<u16>) -> Result<()> {
        let mut kept: Vec<u16> = Vec::new();
        for tests in &self.alternatives {
            let mut passing = out.clone();
            for test in tests {
                window.reduce(test, &mut passing)?;
            }
            // Both ascend.
            let mut next = passing.iter().peekable();
            out.retain(|row| next.next_if_eq(&row).is_none());
            kept.append(&mut passing);
        }
        kept.sort_unstable();
        *out = kept;
        Ok(())
    }
}
