//! Aggregates of ranges whose ends only move forward.
//!
//! A range that begins with the partition grows: each row adds what has come. One that ends with the partition grows
//! backwards, from the last row on. One that slides adds what has come and takes away what has gone, if the aggregate can:
//! exact sums and counts. Others (doubles, least values) are computed in **stretches** of rows whose frames have a row in
//! common: for the part before that row all suffixes are known, the part from it on grows, and a frame is one of
//! either. A stretch is as long as a frame, so each row is touched three times, however long frames are.
//!
//! Blocks of a large partition begin where others end: what lies before them is put together of **steps**, ranges of fixed
//! length that are aggregated once.

use super::CallSpec;
use super::frame::{Frames, Parts};
use super::segment::{Piece, Segment};
use crate::breakers::order::Shared;
use crate::row_layout::FieldPlace;
use frazil_types::{Reservation, Result};
use std::ops::Range;

/// Rows of a step.
const STEP: usize = 1 << 10;
/// Rows of a stretch at most.
const STRETCH: usize = 32 << 10;

/// An aggregate.
pub trait Aggregator: Sync {
    /// What is kept of a range of rows.
    type State: Copy + Send + Sync;

    /// Whether [`Aggregator::remove`] takes a row away, exactly.
    const REMOVES: bool;

    /// The state of no row.
    fn empty(&self) -> Self::State;

    /// Adds a row behind a range.
    fn add(&self, state: &mut Self::State, row: usize);

    /// Takes the first row of a range away.
    fn remove(&self, state: &mut Self::State, row: usize);

    /// Two ranges, one behind the other.
    fn merge(&self, before: Self::State, behind: Self::State) -> Self::State;

    /// Writes the result of a row.
    fn finish(&self, state: Self::State, row: usize) -> Result<()>;
}

/// Computes a call for all rows. Errors: 53200, 22003, those of offsets.
pub fn compute<A: Aggregator>(segment: &Segment<'_>, call: &CallSpec, aggregator: &A) -> Result<()> {
    let frames = Frames::new(segment, call)?;
    let ranges = Ranges {
        aggregator,
        steps: steps(segment, aggregator)?,
    };
    let (first, last) = (frames.begin_at_first(), frames.end_at_last());
    segment.for_blocks(&|block| {
        let parts = frames.parts(block.clone())?;
        if first && last && !parts.have_holes() {
            for Piece { partition, rows } in segment.pieces(block) {
                let state = ranges.fold(partition.start, partition.end);
                for row in rows {
                    aggregator.finish(state, row)?;
                }
            }
            return Ok(());
        }
        let _held = segment.budget.reserve(block.len() * size_of::<A::State>())?;
        let mut states = vec![aggregator.empty(); block.len()];
        for piece in segment.pieces(block.clone()) {
            let out = &mut states[piece.rows.start - block.start..piece.rows.end - block.start];
            ranges.of_piece(&piece, &parts, (first, last), out);
        }
        for (state, row) in states.into_iter().zip(block) {
            aggregator.finish(state, row)?;
        }
        Ok(())
    })
}

/// Counts the rows of each frame.
pub fn count_rows(segment: &Segment<'_>, call: &CallSpec, place: &FieldPlace) -> Result<()> {
    let frames = Frames::new(segment, call)?;
    segment.for_blocks(&|block| {
        let parts = frames.parts(block.clone())?;
        for row in block {
            let rows: usize = parts.of(row).iter().map(|range| range.len()).sum();
            segment.put(place, row, Some(rows as i64));
        }
        Ok(())
    })
}

/// States of steps; none for a segment that a worker has alone.
struct Steps<S> {
    states: Vec<S>,
    _held: Option<Reservation>,
}

fn steps<A: Aggregator>(segment: &Segment<'_>, aggregator: &A) -> Result<Steps<A::State>> {
    if !segment.is_shared() {
        return Ok(Steps {
            states: Vec::new(),
            _held: None,
        });
    }
    let rows = segment.entries.len();
    let count = rows / STEP;
    let held = segment.budget.reserve(count * size_of::<A::State>())?;
    let mut states = vec![aggregator.empty(); count];
    let shared = Shared::new(&mut states);
    segment.for_blocks(&|block| {
        for step in block.start / STEP..(block.end / STEP).min(count) {
            let mut state = aggregator.empty();
            (step * STEP..(step + 1) * STEP).for_each(|row| aggregator.add(&mut state, row));
            // SAFETY: blocks begin with a step, so that each step is one block's.
            unsafe { shared.part(step, 1)[0] = state };
        }
        Ok(())
    })?;
    Ok(Steps {
        states,
        _held: Some(held),
    })
}

struct Ranges<'a, A: Aggregator> {
    aggregator: &'a A,
    steps: Steps<A::State>,
}

impl<A: Aggregator> Ranges<'_, A> {
    /// The state of a range.
    fn fold(&self, from: usize, to: usize) -> A::State {
        let (mut state, mut at) = (self.aggregator.empty(), from);
        while at < to {
            let step = at / STEP;
            if at % STEP == 0 && at + STEP <= to && step < self.steps.states.len() {
                state = self.aggregator.merge(state, self.steps.states[step]);
                at += STEP;
            } else {
                self.aggregator.add(&mut state, at);
                at += 1;
            }
        }
        state
    }

    /// The states of a piece's rows. `first` and `last`: see [`Frames`].
    fn of_piece(&self, piece: &Piece, parts: &Parts, (first, last): (bool, bool), out: &mut [A::State]) {
        if !parts.have_holes() {
            let range = |row: usize| parts.whole(row);
            return match (first, last) {
                (true, _) => self.forward(piece, &range, out),
                (false, true) => self.backward(piece, &range, out),
                (false, false) => self.slide(piece, &range, out),
            };
        }
        let before = |row: usize| parts.of(row)[0].clone();
        match first {
            true => self.forward(piece, &before, out),
            false => self.slide(piece, &before, out),
        }
        for (state, row) in out.iter_mut().zip(piece.rows.clone()) {
            for own in parts.of(row)[1].clone() {
                self.aggregator.add(state, own);
            }
        }
        let mut behind = vec![self.aggregator.empty(); out.len()];
        let range = |row: usize| parts.of(row)[2].clone();
        match last {
            true => self.backward(piece, &range, &mut behind),
            false => self.slide(piece, &range, &mut behind),
        }
        for (state, behind) in out.iter_mut().zip(behind) {
            *state = self.aggregator.merge(*state, behind);
        }
    }

    /// Ranges that begin with the partition.
    fn forward(&self, piece: &Piece, range: &impl Fn(usize) -> Range<usize>, out: &mut [A::State]) {
        let mut end = range(piece.rows.start).end;
        let mut state = self.fold(piece.partition.start, end);
        for (out, row) in out.iter_mut().zip(piece.rows.clone()) {
            let to = range(row).end;
            while end < to {
                self.aggregator.add(&mut state, end);
                end += 1;
            }
            *out = state;
        }
    }

    /// Ranges that end with the partition.
    fn backward(&self, piece: &Piece, range: &impl Fn(usize) -> Range<usize>, out: &mut [A::State]) {
        let mut start = range(piece.rows.end - 1).start;
        let mut state = self.fold(start, piece.partition.end);
        for (out, row) in out.iter_mut().zip(piece.rows.clone()).rev() {
            let from = range(row).start;
            while start > from {
                start -= 1;
                state = self.aggregator.merge(self.fold(start, start + 1), state);
            }
            *out = state;
        }
    }

    /// Ranges of which both ends move.
    fn slide(&self, piece: &Piece, range: &impl Fn(usize) -> Range<usize>, out: &mut [A::State]) {
        if !A::REMOVES {
            return self.slide_in_stretches(piece, range, out);
        }
        let Range { mut start, mut end } = range(piece.rows.start);
        let mut state = self.fold(start, end);
        for (out, row) in out.iter_mut().zip(piece.rows.clone()) {
            let here = range(row);
            while end < here.end {
                self.aggregator.add(&mut state, end);
                end += 1;
            }
            while start < here.start {
                self.aggregator.remove(&mut state, start);
                start += 1;
            }
            *out = state;
        }
    }

    fn slide_in_stretches(
        &self,
        piece: &Piece,
        range: &impl Fn(usize) -> Range<usize>,
        out: &mut [A::State],
    ) {
        let mut suffixes: Vec<A::State> = Vec::new();
        let mut row = piece.rows.start;
        while row < piece.rows.end {
            let first = range(row);
            // Rows up to `to` have frames that hold, or begin at, the last one's first row.
            let (mut to, mut middle) = (row + 1, first.start);
            while to < piece.rows.end && to - row < STRETCH {
                let start = range(to).start;
                if start > first.end {
                    break;
                }
                (to, middle) = (to + 1, start);
            }
            suffixes.clear();
            let mut state = self.aggregator.empty();
            for at in (first.start..middle).rev() {
                state = self.aggregator.merge(self.fold(at, at + 1), state);
                suffixes.push(state);
            }
            let mut end = first.end;
            let mut grown = self.fold(middle, end);
            for row in row..to {
                let here = range(row);
                while end < here.end {
                    self.aggregator.add(&mut grown, end);
                    end += 1;
                }
                let before = match middle - here.start {
                    0 => self.aggregator.empty(),
                    length => suffixes[length - 1],
                };
                out[row - piece.rows.start] = self.aggregator.merge(before, grown);
            }
            row = to;
        }
    }
}
