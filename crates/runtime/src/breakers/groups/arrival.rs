//! The rows of a list in the order in which they came, found without sorting rows.
//!
//! One worker reads a morsel from its beginning to its end, so the rows that a chunk holds of a morsel stand in their order already: a
//! **stretch**. What is sorted is stretches, and only where several workers filled the list.

use super::arrays::Run;
use super::lists::{Chunk, ListSpec, MORSEL_SHIFT, MadeOfRows};
use frazil_types::{Error, MemoryBudget, Reservation, Result};
use std::ops::Range;

/// Rows that came one after the other and lie so.
#[derive(Clone, Copy, Debug)]
struct Stretch {
    /// Ordinal of the first row.
    ordinal: u64,
    /// Rows of the list that came before.
    before: usize,
    run: Run,
}

// SAFETY: the rows are owned by the merge of the groups that is finished, and nobody writes them while arrays are made of them.
unsafe impl Send for Stretch {}
// SAFETY: as above.
unsafe impl Sync for Stretch {}

/// All rows of a list; the memory is used again for the next one.
#[derive(Debug)]
pub(super) struct Stretches {
    /// In the order in which rows came.
    all: Vec<Stretch>,
    /// The memory of `all`.
    held: Reservation,
}

/// Whether nothing but arrays is made of a list's rows, as they came.
pub(super) fn is_all_that_counts(list: &ListSpec) -> bool {
    let is_array = |what: &MadeOfRows| matches!(what, MadeOfRows::Array { .. });
    list.ordinal.is_some() && !list.distinct && list.outputs.iter().all(|output| is_array(&output.what))
}

impl Stretches {
    /// None yet.
    pub(super) fn new(budget: &MemoryBudget) -> Stretches {
        Stretches {
            all: Vec::new(),
            held: budget.reservation(),
        }
    }

    /// Takes the rows of a ring in place of those before. Error 53200.
    ///
    /// # Safety
    /// A ring of chunks with rows of the list, which has ordinals.
    pub(super) unsafe fn fill(&mut self, list: &ListSpec, last: *mut Chunk) -> Result<()> {
        self.all.clear();
        let place = list.ordinal.map(|field| &list.layout.fields[field]);
        let place = place.ok_or_else(|| Error::internal("a list without ordinals"))?;
        let size = list.layout.size;
        // SAFETY: by contract.
        for chunk in unsafe { Chunk::ring(last) } {
            // SAFETY: by contract.
            let used = unsafe { (*chunk).used as usize };
            let start = Chunk::start(chunk).cast_const();
            let row = |at: usize| start.wrapping_add(at * size);
            // SAFETY: rows of the chunk; an ordinal is a word.
            let ordinal = |at: usize| unsafe { place.get::<i64>(row(at)) as u64 };
            let mut at = 0;
            while at < used {
                let first = ordinal(at);
                let morsel = first >> MORSEL_SHIFT;
                let end = match ordinal(used - 1) >> MORSEL_SHIFT == morsel {
                    true => used,
                    false => (at + 1..used)
                        .find(|i| ordinal(*i) >> MORSEL_SHIFT != morsel)
                        .unwrap_or(used),
                };
                if self.all.len() == self.all.capacity() {
                    let more = self.all.capacity().max(16);
                    self.held.grow(more * size_of::<Stretch>())?;
                    self.all.reserve_exact(more);
                }
                self.all.push(Stretch {
                    ordinal: first,
                    before: 0,
                    run: Run {
                        first: row(at),
                        rows: end - at,
                    },
                });
                at = end;
            }
        }
        if !self.all.is_sorted_by_key(|stretch| stretch.ordinal) {
            self.all.sort_unstable_by_key(|stretch| stretch.ordinal);
        }
        let mut rows = 0;
        for stretch in &mut self.all {
            stretch.before = rows;
            rows += stretch.run.rows;
        }
        Ok(())
    }

    /// The rows of a range, each of so many bytes, in the order in which they came.
    pub(super) fn runs(&self, size: usize, range: Range<usize>) -> impl Iterator<Item = Run> {
        let Range { start, end } = range;
        let from = (self.all).partition_point(|stretch| stretch.before + stretch.run.rows <= start);
        let within = self.all[from..]
            .iter()
            .take_while(move |stretch| stretch.before < end);
        within.map(move |stretch| {
            let skipped = start.saturating_sub(stretch.before);
            Run {
                first: stretch.run.first.wrapping_add(skipped * size),
                rows: (end - stretch.before).min(stretch.run.rows) - skipped,
            }
        })
    }
}
