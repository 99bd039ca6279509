//! Hands the rows of a pipeline over while it runs, piece by piece, and rests between any two pieces.
//!
//! A window is some morsels on all workers; then the rows that they gave are handed over in the order of the morsels. A
//! worker whose rows have as many bytes as a piece leaves its morsel where it is, and goes on when all rows before it
//! are gone. So no more is held than that, whatever a join makes of a morsel. Between two pieces no thread is held: the
//! workers that left their morsels are values, which whichever thread asks next takes up again.
//!
//! The bytes of a piece follow the number of rows that are asked for: a cursor from which a hundred rows are fetched
//! at a time rests with some kilobytes, and a query that is read to its end runs in windows of megabytes.

use crate::pipeline_run::PipelineRun;
use crate::run_plan::Environment;
use frazil_codegen::{Flow, Worker};
use frazil_runtime::breakers::parts_of;
use frazil_runtime::{BufferBuild, Left, Part};
use frazil_types::{MemoryBudget, Reservation, Result, RowBatch};
use std::collections::VecDeque;

/// Fewest and most bytes of rows at which a worker pauses. A vector of rows has about as many as the fewest.
const PIECE_BYTES: std::ops::RangeInclusive<usize> = 64 << 10..=8 << 20;
/// Bytes of a piece for each row that is asked for.
const BYTES_PER_ROW: usize = 16;
/// A window that gives fewer rows, and fewer than are asked for, is followed by one of twice as many morsels: workers
/// begin and end with each. Who asks for as many rows has all workers at once.
const FEW_ROWS: u64 = 64 << 10;

/// A pipeline whose rows are handed over.
pub struct Delivery {
    run: PipelineRun,
    buffer: BufferBuild,
    /// The first morsel behind the windows so far.
    begin: usize,
    /// Morsels of the next window.
    width: usize,
    /// Rows of the window in hand that are still to be handed over.
    part: Part,
    /// Number of rows that were handed over since the window began.
    rows: u64,
    /// True before the first window.
    is_new: bool,
    /// Workers that left a morsel of the window, in the order of the morsels.
    paused: VecDeque<(usize, Paused)>,
    /// Counts the memory of paused workers.
    held: Reservation,
}

/// A worker that left its morsel.
enum Paused {
    /// The morsel has more rows, after `Part`'s, which were written since the worker was taken up.
    Within(Box<Worker>, Part),
    /// The morsel is over; its last rows.
    Over(Part),
}

impl Delivery {
    /// Rows of a pipeline that fills `buffer`.
    pub fn new(run: PipelineRun, buffer: BufferBuild, budget: &MemoryBudget) -> Delivery {
        Delivery {
            run,
            buffer,
            begin: 0,
            width: 1,
            part: Part::default(),
            rows: 0,
            is_new: true,
            paused: VecDeque::new(),
            held: budget.reservation(),
        }
    }

    /// The limit and the offset before the first rows.
    pub fn left(&self) -> Left {
        self.buffer.left()
    }

    /// The next rows of those that `left` keeps, `None` behind the last ones. `wanted`: number of rows that are asked
    /// for. The errors of the pipeline.
    pub fn next(
        &mut self,
        environment: &Environment<'_>,
        wanted: u64,
        left: &mut Left,
    ) -> Result<Option<RowBatch>> {
        loop {
            let ready = self.ready(left);
            if let Some(batch) = ready {
                self.rows += batch.rows as u64;
                return Ok(Some(batch));
            }
            if self.paused.is_empty() {
                if self.begin >= self.run.morsels() || self.run.has_enough() {
                    return Ok(None);
                }
                self.window(environment, wanted)?;
            } else {
                self.go_on(environment, wanted)?;
            }
        }
    }

    /// Rows that need no further work.
    fn ready(&mut self, left: &mut Left) -> Option<RowBatch> {
        let Some((morsel, paused)) = self.paused.front_mut() else {
            return self.part.next(u64::MAX, left);
        };
        let before = self.part.next(self.run.place(*morsel), left);
        before.or_else(|| match paused {
            Paused::Within(_, written) | Paused::Over(written) => written.next(u64::MAX, left),
        })
    }

    /// Takes up the first of the paused workers, whose rows are gone.
    fn go_on(&mut self, environment: &Environment<'_>, wanted: u64) -> Result<()> {
        let Some((morsel, paused)) = self.paused.pop_front() else {
            return Ok(());
        };
        let Paused::Within(mut worker, _) = paused else {
            return Ok(());
        };
        let flow = self.run.go_on(&mut worker, piece(environment, wanted))?;
        let written = self.buffer.part(vec![worker.take_written()?]);
        let paused = match flow {
            Flow::Paused => Paused::Within(worker, written),
            Flow::Done | Flow::Enough => {
                self.held.shrink(worker.bytes());
                Paused::Over(written)
            }
        };
        self.paused.push_front((morsel, paused));
        Ok(())
    }

    /// Runs the next window.
    fn window(&mut self, environment: &Environment<'_>, wanted: u64) -> Result<()> {
        if !self.is_new && self.rows < FEW_ROWS.min(wanted) {
            self.width = self.width.saturating_mul(2);
        }
        if wanted >= FEW_ROWS {
            self.width = self.width.max(environment.threads);
        }
        (self.is_new, self.rows) = (false, 0);
        self.run.pause_at(piece(environment, wanted));
        let end = self.run.morsels().min(self.begin.saturating_add(self.width));
        self.buffer.settle();
        let mut done = self.run.window(self.begin..end, environment)?;
        self.part = self.buffer.part(parts_of(done.partials)?);
        done.paused.sort_by_key(|(morsel, _)| *morsel);
        for (morsel, worker) in done.paused {
            self.held.grow(worker.bytes())?;
            let paused = Paused::Within(Box::new(worker), Part::default());
            self.paused.push_back((morsel, paused));
        }
        self.begin = self.run.next_morsel(end);
        Ok(())
    }
}

/// Bytes of rows at which a worker pauses.
fn piece(environment: &Environment<'_>, wanted: u64) -> usize {
    let fair = environment.budget.limit() / (4 * environment.threads).max(1);
    let asked = usize::try_from(wanted).unwrap_or(usize::MAX);
    let (least, most) = PIECE_BYTES.into_inner();
    asked.saturating_mul(BYTES_PER_ROW).clamp(least, most).min(fair)
}
