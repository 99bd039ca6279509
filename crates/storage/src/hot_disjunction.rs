//! Disjunctions on hot chunks: each alternative narrows the rows that none before it has found.

use crate::hot_chunk::HotChunk;
use crate::hot_match::{HotPredicate, MatchScratch};
use frazil_kernels::Isa;
use frazil_kernels::compare::Combine;
use frazil_types::{Disjunction, Result, Schema};
use std::ops::Range;

/// A disjunction whose operands have the native types of their columns.
#[derive(Debug)]
pub struct HotDisjunction {
    alternatives: Vec<Vec<HotPredicate>>,
}

/// Buffers a cursor keeps from window to window.
#[derive(Debug, Default)]
pub struct DisjunctionScratch {
    open: Vec<u64>,
    candidates: Vec<u64>,
}

impl HotDisjunction {
    /// Prepares a disjunction on a table of `schema`.
    pub fn new(schema: &Schema, disjunction: &Disjunction) -> Result<HotDisjunction> {
        let mut alternatives = Vec::with_capacity(disjunction.alternatives.len());
        for alternative in &disjunction.alternatives {
            let mut tests = Vec::with_capacity(alternative.len());
            for restriction in alternative {
                tests.push(HotPredicate::new(schema, restriction)?);
            }
            tests.sort_by_key(HotPredicate::cost);
            alternatives.push(tests);
        }
        alternatives.sort_by_key(|tests| tests.iter().map(HotPredicate::cost).sum::<u32>());
        Ok(HotDisjunction { alternatives })
    }

    /// ANDs its match bits of `rows` to those in `bits`.
    pub fn match_rows(
        &self,
        isa: Isa,
        hot: &HotChunk,
        rows: Range<usize>,
        bits: &mut [u64],
        (scratch, tests_scratch): (&mut DisjunctionScratch, &mut MatchScratch),
    ) {
        let DisjunctionScratch { open, candidates } = scratch;
        open.clear();
        open.extend_from_slice(bits);
        for tests in &self.alternatives {
            if open.iter().all(|&word| word == 0) {
                break;
            }
            candidates.clear();
            candidates.extend_from_slice(open);
            for test in tests {
                test.match_rows(isa, hot, rows.clone(), Combine::And, candidates, tests_scratch);
            }
            open.iter_mut()
                .zip(&*candidates)
                .for_each(|(open, found)| *open &= !found);
        }
        // What is still open was not found.
        bits.iter_mut()
            .zip(&*open)
            .for_each(|(word, open)| *word &= !open);
    }
}
