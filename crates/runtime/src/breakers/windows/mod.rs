//! Window functions over materialized rows.
//!
//! Workers write rows into sorters, as for any sort; the rows have room for the results. When all rows are there, each step
//! puts **entries** (a packed key and the row's address, [`super::order`]) in its order, finds partitions and peers in them, and
//! computes its calls: arguments are gathered into columns in the order of the entries ([`input`]), results are
//! scattered into the rows. The next step sorts the same rows anew.
//!
//! Work is cut by rows, not by partitions: many small partitions make one **segment**, which a worker does alone; a large
//! partition is a segment of many **blocks**, which all workers share. A frame is a range of rows whose ends only move
//! forward from row to row ([`frame`]), EXCLUDE makes it two ranges or three. So an aggregate needs no tree
//! ([`range_aggregate`]): a range that begins at the partition's first row grows, one that ends at its last row grows
//! backwards, and one that slides is what is left of an old part, of which all suffixes are known, and a new part that
//! grows.

mod aggregate;
mod best_keys;
mod frame;
mod input;
mod range_aggregate;
mod ranking;
mod segment;
mod spread;
mod texts;
pub mod top;
mod value;

use crate::breakers::array::Array;
use crate::breakers::order::{self, Entry, Order};
use crate::breakers::run_borrowed::run_borrowed;
use crate::breakers::sorter::sorted_rows::{GroupCounts, SortField, SortSpec, SortedRows, Sorter};
use crate::breakers::{Breaker, Finished, Partial, Run, Workers, parts_of};
use crate::row_layout::RowLayout;
use frazil_plan::{FrameExclusion, FrameUnit, WindowFunction};
use frazil_types::{LogicalType, Reservation, Result, Value};
use segment::{Segment, SharedWorkers};
use std::ops::Range;
use std::sync::{Arc, Mutex, PoisonError};
use top::{TopRows, TopSpec};

/// Rows of partitions that make a segment together, and of a block of a large partition.
const BLOCK: usize = 32 << 10;
/// A partition with more rows is a segment that all workers share.
const LARGE: usize = 4 * BLOCK;

/// An order of the rows, and the windows that are computed in it.
#[derive(Clone, Debug)]
pub struct WindowStep {
    /// Keys, most significant first.
    pub keys: Vec<SortField>,
    /// The windows.
    pub windows: Vec<WindowSpec>,
}

/// A window over rows in an order.
#[derive(Clone, Debug)]
pub struct WindowSpec {
    /// Number of leading keys that make a partition.
    pub partition: usize,
    /// Number of keys behind them that order its rows.
    pub order: usize,
    /// Type of the first of these.
    pub key_type: Option<LogicalType>,
    /// The calls.
    pub calls: Vec<CallSpec>,
}

/// A call of a window function.
#[derive(Clone, Debug)]
pub struct CallSpec {
    /// The function.
    pub function: WindowFunction,
    /// Its arguments.
    pub arguments: Vec<WindowInput>,
    /// The rows that an aggregate takes.
    pub filter: Option<WindowInput>,
    /// Whether rows count whose first argument is NULL.
    pub ignore_nulls: bool,
    /// The rows that it sees.
    pub frame: FrameSpec,
    /// Field of the result.
    pub result: usize,
    /// Type of the result.
    pub ty: LogicalType,
    /// Type of the first argument, if there is one.
    pub argument_type: Option<LogicalType>,
}

/// A value that a call reads.
#[derive(Clone, Debug)]
pub enum WindowInput {
    /// A field of the rows.
    Field(usize),
    /// A constant; no string.
    Constant(Value),
}

/// A frame.
#[derive(Clone, Debug)]
pub struct FrameSpec {
    /// What offsets count.
    pub unit: FrameUnit,
    /// Where it begins.
    pub start: BoundSpec,
    /// Where it ends.
    pub end: BoundSpec,
    /// Rows that are left out.
    pub exclusion: FrameExclusion,
}

/// One end of a frame.
#[derive(Clone, Debug)]
pub enum BoundSpec {
    /// The first row of the partition.
    UnboundedPreceding,
    /// So much before the current row.
    Preceding(WindowInput),
    /// The current row or its peers.
    CurrentRow,
    /// So much behind the current row.
    Following(WindowInput),
    /// The last row of the partition.
    UnboundedFollowing,
}

impl BoundSpec {
    fn offset(&self) -> Option<&WindowInput> {
        match self {
            BoundSpec::Preceding(offset) | BoundSpec::Following(offset) => Some(offset),
            BoundSpec::UnboundedPreceding | BoundSpec::CurrentRow | BoundSpec::UnboundedFollowing => None,
        }
    }
}

/// Windows whose rows are gathered.
#[derive(Debug)]
pub struct WindowsBreaker {
    /// The rows, with fields for results behind those that generated code writes.
    pub layout: RowLayout,
    /// What is computed.
    pub steps: Vec<WindowStep>,
    /// The ranks that are asked for, if others are not: then there is one window, which computes ranks alone.
    pub top: Option<TopSpec>,
}

impl Breaker for WindowsBreaker {
    fn partial(&self, run: Run<'_>) -> Result<Box<dyn Partial>> {
        // Rows are only gathered by it: each step has keys of its own.
        let spec = SortSpec {
            layout: self.layout.clone(),
            keys: Vec::new(),
            groups: 0,
            limit: None,
            offset: 0,
            counts: GroupCounts::default(),
        };
        let sorter = Sorter::new(spec, run.budget).stopped_by(run.cancel);
        let window = self
            .steps
            .first()
            .and_then(|step| Some((step, step.windows.first()?)));
        Ok(Box::new(match (&self.top, window) {
            (Some(top), Some((step, window))) => {
                let taken = (run.budget, run.cancel);
                let rows = TopRows::new(top, &self.layout, &step.keys, window.partition, taken)?;
                sorter.pruned_by(Box::new(rows))
            }
            _ => sorter,
        }))
    }

    fn finish(&self, parts: Vec<Box<dyn Partial>>, workers: &dyn Workers) -> Result<Arc<dyn Finished>> {
        Ok(Arc::new(run(
            &self.layout,
            &self.steps,
            self.top.as_ref(),
            parts_of(parts)?,
            workers,
        )?))
    }
}

/// Computes all windows over the rows of some sorters; the rows come in the order of the last step. Errors: 53200, 57014,
/// those of the functions (22003, 22014, 22016) and of offsets (22004, 22013).
fn run(
    layout: &RowLayout,
    steps: &[WindowStep],
    top: Option<&TopSpec>,
    mut sorters: Vec<Sorter>,
    workers: &dyn Workers,
) -> Result<SortedRows> {
    for window in steps.iter().flat_map(|s| &s.windows) {
        for call in &window.calls {
            frame::check_constant_offsets(call, window.key_type)?;
        }
    }
    let mut entries = order::entries(&sorters, workers)?;
    let texts = Mutex::default();
    let (mut rows, budget, mut moved) = (entries.len(), workers.budget(), None);
    for step in steps {
        let order = Order::of(layout, &step.keys, &entries[..rows], workers)?;
        let first = top.zip(step.windows.first());
        let keep = |bucket: &mut [Entry]| match first {
            Some((top, window)) => top::first_entries(top, &order, window.partition, bucket, budget),
            None => Ok(bucket.len()),
        };
        rows = order.sort_some(&mut entries, rows, &keep, Some(&mut moved), workers)?;
        if moved.is_some() {
            sorters.iter_mut().for_each(Sorter::free_rows);
        }
        for window in &step.windows {
            compute(window, &order, &entries[..rows], &texts, workers)?;
        }
    }
    let _rows = workers.budget().reserve(rows * size_of::<*const u8>())?;
    let rows = entries[..rows].iter().map(|e| e.row.cast_const()).collect();
    let mut bytes = texts.into_inner().unwrap_or_else(PoisonError::into_inner);
    bytes.extend(moved);
    Ok(SortedRows::of(sorters, rows, bytes))
}

/// Computes the calls of a window over sorted entries.
fn compute(
    window: &WindowSpec,
    order: &Order<'_>,
    entries: &[Entry],
    texts: &Mutex<Vec<Array<u8>>>,
    workers: &dyn Workers,
) -> Result<()> {
    let (starts, _held) = partition_starts(window, order, entries, workers)?;
    let (small, large) = segments(&starts, entries.len());
    let budget = workers.budget();
    run_borrowed(workers, small.len(), &|i| {
        let partitions = &starts[small[i].clone()];
        let end = starts.get(small[i].end).copied().unwrap_or(entries.len());
        let rows = partitions[0]..end;
        let mut segment = Segment::new(window, order, &entries[rows.clone()], budget, texts);
        segment.set_partitions(partitions.iter().map(|start| start - rows.start))?;
        segment.find_peers()?;
        calls(&segment)
    })?;
    let shared = SharedWorkers(workers);
    for rows in large {
        let mut segment = Segment::new(window, order, &entries[rows], budget, texts).shared_by(&shared);
        segment.set_partitions([0].into_iter())?;
        segment.find_peers()?;
        calls(&segment)?;
    }
    Ok(())
}

/// Computes all calls over a segment.
fn calls(segment: &Segment<'_>) -> Result<()> {
    (segment.window.calls.iter()).try_for_each(|call| match call.function {
        WindowFunction::RowNumber
        | WindowFunction::Rank
        | WindowFunction::DenseRank
        | WindowFunction::PercentRank
        | WindowFunction::CumeDist
        | WindowFunction::Ntile => ranking::compute(segment, call),
        WindowFunction::Lag
        | WindowFunction::Lead
        | WindowFunction::FirstValue
        | WindowFunction::LastValue
        | WindowFunction::NthValue => value::compute(segment, call),
        WindowFunction::Aggregate(function) => aggregate::compute(segment, call, function),
    })
}

/// The first entry of each partition.
fn partition_starts(
    window: &WindowSpec,
    order: &Order<'_>,
    entries: &[Entry],
    workers: &dyn Workers,
) -> Result<(Vec<usize>, Reservation)> {
    let mut held = workers.budget().reservation();
    if entries.is_empty() || window.partition == 0 {
        let starts = if entries.is_empty() { Vec::new() } else { vec![0] };
        return Ok((starts, held));
    }
    let boundary = order.boundary(window.partition);
    let parts = entries.len().div_ceil(LARGE);
    let found: Vec<std::sync::Mutex<Vec<usize>>> = (0..parts).map(|_| Default::default()).collect();
    run_borrowed(workers, parts, &|part| {
        let rows = part * LARGE..entries.len().min((part + 1) * LARGE);
        let starts: Vec<usize> = (rows)
            .filter(|&i| i == 0 || order.differ(&boundary, &entries[i - 1], &entries[i]))
            .collect();
        *found[part].lock().unwrap_or_else(|e| e.into_inner()) = starts;
        Ok(())
    })?;
    let mut starts = Vec::new();
    for part in found {
        let part = part.into_inner().unwrap_or_else(|e| e.into_inner());
        held.grow(part.len() * size_of::<usize>())?;
        starts.extend(part);
    }
    Ok((starts, held))
}

/// Partitions that a worker does alone, as ranges of `starts`, and the rows of large ones.
fn segments(starts: &[usize], rows: usize) -> (Vec<Range<usize>>, Vec<Range<usize>>) {
    let (mut small, mut large) = (Vec::new(), Vec::new());
    let mut first = 0;
    let close = |small: &mut Vec<Range<usize>>, range: Range<usize>| {
        if !range.is_empty() {
            small.push(range);
        }
    };
    for (i, &start) in starts.iter().enumerate() {
        let end = starts.get(i + 1).copied().unwrap_or(rows);
        if end - start > LARGE {
            close(&mut small, first..i);
            large.push(start..end);
            first = i + 1;
        } else if end - starts[first] >= BLOCK {
            close(&mut small, first..i + 1);
            first = i + 1;
        }
    }
    close(&mut small, first..starts.len());
    (small, large)
}
