//! A piece of the sorted rows that is computed as a whole: partitions that a worker does alone, or one that all share.

use super::{BLOCK, BoundSpec, CallSpec, WindowSpec};
use crate::breakers::Workers;
use crate::breakers::array::Array;
use crate::breakers::order::{Boundary, Entry, Order, Shared};
use crate::breakers::run_borrowed::run_borrowed;
use crate::row_layout::FieldPlace;
use frazil_plan::{FrameExclusion, FrameUnit, WindowFunction};
use frazil_types::{Error, MemoryBudget, Native, Reservation, Result, SqlState};
use std::ops::Range;
use std::sync::Mutex;

/// Whole partitions. Positions of rows are counted from the segment's first row.
pub struct Segment<'a> {
    /// What is computed.
    pub window: &'a WindowSpec,
    /// The order of the rows.
    pub order: &'a Order<'a>,
    /// The rows.
    pub entries: &'a [Entry],
    /// What columns and states are taken from.
    pub budget: &'a MemoryBudget,
    /// Where bytes are kept that results refer to.
    pub texts: &'a Mutex<Vec<Array<u8>>>,
    /// First row of each partition, and the number of rows behind them.
    partitions: Vec<u32>,
    peers: Peers,
    /// The workers that share it; `None`: the one that has it.
    workers: Option<&'a SharedWorkers<'a>>,
    held: Reservation,
}

/// The workers of a segment. Only the thread that has the segment asks them for anything: what runs in tasks has no blocks
/// to hand out.
pub struct SharedWorkers<'a>(pub &'a dyn Workers);

// SAFETY: see above; what tasks are given of it is its address.
unsafe impl Sync for SharedWorkers<'_> {}

/// Groups of rows that are equal in the order.
#[derive(Debug)]
enum Peers {
    /// Nobody asks for them, or partitions are groups.
    Partitions,
    Groups {
        /// Number of the group of each row.
        of: Array<u32>,
        /// First row of each group, and the number of rows behind them.
        starts: Array<u32>,
    },
}

/// Rows of a partition that are computed in one go.
#[derive(Clone, Debug)]
pub struct Piece {
    /// All rows of the partition.
    pub partition: Range<usize>,
    /// Those that are computed.
    pub rows: Range<usize>,
}

impl<'a> Segment<'a> {
    /// Rows of which the partitions are not known yet.
    pub fn new(
        window: &'a WindowSpec,
        order: &'a Order<'a>,
        entries: &'a [Entry],
        budget: &'a MemoryBudget,
        texts: &'a Mutex<Vec<Array<u8>>>,
    ) -> Segment<'a> {
        Segment {
            window,
            order,
            entries,
            budget,
            texts,
            partitions: Vec::new(),
            peers: Peers::Partitions,
            workers: None,
            held: budget.reservation(),
        }
    }

    /// Says where partitions begin. Errors: 53200, 54000 for more rows than are counted.
    pub fn set_partitions(&mut self, starts: impl ExactSizeIterator<Item = usize>) -> Result<()> {
        let rows = u32::try_from(self.entries.len()).map_err(|_| {
            let message = "a partition of a window has too many rows";
            Error::new(SqlState::PROGRAM_LIMIT_EXCEEDED, message)
        })?;
        self.held.grow((starts.len() + 1) * size_of::<u32>())?;
        self.partitions = starts.map(|start| start as u32).chain([rows]).collect();
        Ok(())
    }

    /// The same rows, whose blocks the workers share.
    pub fn shared_by<'b>(self, workers: &'b SharedWorkers<'_>) -> Segment<'b>
    where
        'a: 'b,
    {
        Segment {
            workers: Some(workers),
            ..self
        }
    }

    /// Calls `task` for blocks of the rows: all workers of a segment that is shared.
    pub fn for_blocks(&self, task: &(dyn Fn(Range<usize>) -> Result<()> + Send + Sync)) -> Result<()> {
        let rows = self.entries.len();
        match self.workers {
            None => task(0..rows),
            Some(workers) => run_borrowed(workers.0, rows.div_ceil(BLOCK), &|block| {
                task(block * BLOCK..rows.min((block + 1) * BLOCK))
            }),
        }
    }

    /// Whether its blocks are computed by themselves.
    pub fn is_shared(&self) -> bool {
        self.workers.is_some()
    }

    /// The pieces of a block.
    pub fn pieces(&self, block: Range<usize>) -> impl Iterator<Item = Piece> + '_ {
        let first = self
            .partitions
            .partition_point(|start| *start as usize <= block.start);
        let starts = self.partitions[first - 1..].windows(2);
        starts
            .map(|ends| ends[0] as usize..ends[1] as usize)
            .take_while({
                let end = block.end;
                move |partition| partition.start < end
            })
            .map(move |partition| Piece {
                rows: partition.start.max(block.start)..partition.end.min(block.end),
                partition,
            })
    }

    /// The field of a call's result.
    pub fn result(&self, call: &CallSpec) -> &FieldPlace {
        &self.order.layout.fields[call.result]
    }

    /// Writes a result.
    #[inline]
    pub fn put<T: Native>(&self, place: &FieldPlace, row: usize, value: Option<T>) {
        let row = self.entries[row].row;
        // SAFETY: a live row of the layout, written by the one task that has its block.
        unsafe {
            place.set_valid(row, value.is_some());
            place.set(row, value.unwrap_or_default());
        }
    }

    // --- Peers ---------------------------------------------------------------------------------

    /// Finds groups of peers, if a call asks for them. Error 53200.
    pub fn find_peers(&mut self) -> Result<()> {
        if self.window.order == 0 || !self.window.calls.iter().any(asks_for_peers) {
            return Ok(());
        }
        let rows = self.entries.len();
        let begins = self.group_begins()?;
        let mut of = Array::numbers(rows, self.budget)?;
        let blocks = rows.div_ceil(BLOCK);
        let mut before = vec![0_u32; blocks + 1];
        for block in 0..blocks {
            let ones = begins[block * BLOCK..rows.min((block + 1) * BLOCK)].iter();
            before[block + 1] = before[block] + ones.map(|b| u32::from(*b)).sum::<u32>();
        }
        let mut starts = Array::numbers(before[blocks] as usize + 1, self.budget)?;
        let last = starts.len() - 1;
        starts[last] = rows as u32;
        let (groups, first) = (Shared::new(&mut of), Shared::new(&mut starts));
        self.for_blocks(&|block| {
            for rows in block
                .clone()
                .step_by(BLOCK)
                .map(|from| from..block.end.min(from + BLOCK))
            {
                let mut group = before[rows.start / BLOCK];
                for row in rows {
                    if begins[row] != 0 {
                        // SAFETY: each group begins in one block.
                        unsafe { first.part(group as usize, 1)[0] = row as u32 };
                        group += 1;
                    }
                    // SAFETY: each block has its own rows.
                    unsafe { groups.part(row, 1)[0] = group - 1 };
                }
            }
            Ok(())
        })?;
        self.peers = Peers::Groups { of, starts };
        Ok(())
    }

    /// For each row whether a group begins there.
    fn group_begins(&self) -> Result<Array<u8>> {
        let rows = self.entries.len();
        let boundary = self.order.boundary(self.window.partition + self.window.order);
        let mut begins = Array::filled(0, rows, self.budget)?;
        let shared = Shared::new(&mut begins);
        self.for_blocks(&|block| {
            // SAFETY: each block has its own places.
            let out = unsafe { shared.part(block.start, block.len()) };
            for (begins, row) in out.iter_mut().zip(block) {
                let begins_here = row == 0
                    || !matches!(boundary, Boundary::None)
                        && (self.order).differ(&boundary, &self.entries[row - 1], &self.entries[row]);
                *begins = u8::from(begins_here);
            }
            Ok(())
        })?;
        // Where all rows are alike in the whole order, partitions are still apart.
        for start in &self.partitions[..self.partitions.len() - 1] {
            begins[*start as usize] = 1;
        }
        Ok(begins)
    }

    /// The peers of a row, itself among them.
    #[inline]
    pub fn peers(&self, partition: &Range<usize>, row: usize) -> Range<usize> {
        match &self.peers {
            Peers::Partitions => partition.clone(),
            Peers::Groups { of, starts } => {
                let group = of[row] as usize;
                starts[group] as usize..starts[group + 1] as usize
            }
        }
    }

    /// Number of a row's group within its partition.
    #[inline]
    pub fn group(&self, partition: &Range<usize>, row: usize) -> usize {
        match &self.peers {
            Peers::Partitions => 0,
            Peers::Groups { of, .. } => (of[row] - of[partition.start]) as usize,
        }
    }

    /// First row of the group that lies `by` groups before or behind that of a row; the end of the partition on that side
    /// where there is none.
    #[inline]
    pub fn group_start(&self, partition: &Range<usize>, row: usize, by: i64) -> usize {
        match &self.peers {
            Peers::Partitions => match by {
                ..=0 => partition.start,
                _ => partition.end,
            },
            Peers::Groups { of, starts } => {
                let group = i64::from(of[row]).saturating_add(by);
                match usize::try_from(group) {
                    Ok(group) if group < starts.len() => {
                        (starts[group] as usize).clamp(partition.start, partition.end)
                    }
                    Ok(_) => partition.end,
                    Err(_) => partition.start,
                }
            }
        }
    }
}

/// Whether a call depends on which rows are equal in the order.
fn asks_for_peers(call: &CallSpec) -> bool {
    let by_rank = matches!(
        call.function,
        WindowFunction::Rank
            | WindowFunction::DenseRank
            | WindowFunction::PercentRank
            | WindowFunction::CumeDist
    );
    let frame = &call.frame;
    let is_whole = matches!(
        (&frame.start, &frame.end),
        (BoundSpec::UnboundedPreceding, BoundSpec::UnboundedFollowing)
    );
    let by_frame = frame.unit != FrameUnit::Rows && !is_whole
        || matches!(frame.exclusion, FrameExclusion::Group | FrameExclusion::Ties);
    by_rank || call.function.sees_frame() && by_frame
}
