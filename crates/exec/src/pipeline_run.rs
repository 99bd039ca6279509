//! One pipeline on all its workers: they take morsel after morsel from one counter until there are
//! none, one fails, or the sink has enough.
//!
//! A pipeline whose rows are handed over while it runs does so window by window: `delivery.rs`.

use crate::Progress;
use crate::metrics::PipelineMetrics;
use crate::run_plan::Environment;
use frazil_codegen::{CompiledPlan, FirstRows, Flow, OpenPipeline, Opening, PlanState, Worker};
use frazil_plan::pipeline::PipelinePlan;
use frazil_runtime::breakers::{Breaker, Partial};
use frazil_runtime::caught_panic::panicked;
use frazil_types::{Cancel, Error, Result};
use std::ops::Range;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, MutexGuard};

/// Runs of morsels that there are at least for each worker, so that all end at about the same time.
const RUNS_PER_WORKER: usize = 8;

/// A pipeline that is running.
pub struct PipelineRun {
    shared: Arc<Shared>,
}

struct Shared {
    open: Arc<OpenPipeline>,
    morsels: usize,
    /// Morsels of which one worker best takes all, where there are enough for all workers.
    runs: Option<Vec<Range<usize>>>,
    /// Whether workers take runs, and `next` and `end` count these.
    takes_runs: AtomicBool,
    next: AtomicUsize,
    /// The first morsel behind the window.
    end: AtomicUsize,
    /// Some morsel and those before it give all rows that are wanted: none behind it is begun.
    enough: AtomicBool,
    /// Bytes at which a worker pauses.
    pause_at: AtomicUsize,
    /// The pipeline's own flag, below the statement's: a worker that fails stops the others by it.
    stop: Cancel,
    progress: Arc<Progress>,
    done: Mutex<Done>,
}

/// What workers leave behind.
#[derive(Default)]
pub struct Done {
    /// Their parts of the sink.
    pub partials: Vec<Box<dyn Partial>>,
    /// Workers in the middle of a morsel.
    pub paused: Vec<(usize, Worker)>,
    rows: u64,
    /// Rows that went through stage vectors, and rows that these vectors have room for.
    handed: (u64, u64),
    /// Most stages of a worker's code whose boundaries are not the planned ones.
    moved_stages: Option<usize>,
    workers: usize,
    began: usize,
    error: Option<Error>,
}

impl PipelineRun {
    /// Opens pipeline `index`, which fills `breaker` or only marks, for the first rows of its scan if they may be enough.
    pub fn open(
        plan: &Arc<PipelinePlan>,
        code: &Arc<CompiledPlan>,
        index: usize,
        state: &Arc<PlanState>,
        breaker: Option<Arc<dyn Breaker>>,
        first_rows: Option<&FirstRows>,
        environment: &Environment<'_>,
    ) -> Result<PipelineRun> {
        let table = plan.pipelines[index].source.table();
        let table = table.map(|table| (environment.tables)(table)).transpose()?;
        let stop = environment.cancel.child();
        let opening = Opening {
            table,
            scan: environment.scan,
            first_rows,
            state,
            breaker,
            budget: environment.budget,
            cancel: &stop,
        };
        let open = Arc::new(OpenPipeline::new(plan, code, index, opening)?);
        let morsels = open.morsels();
        environment.progress.expect(morsels as u64);
        Ok(PipelineRun {
            shared: Arc::new(Shared {
                runs: runs(&open, environment.threads),
                open,
                morsels,
                takes_runs: AtomicBool::new(false),
                next: AtomicUsize::new(0),
                end: AtomicUsize::new(0),
                enough: AtomicBool::new(false),
                pause_at: AtomicUsize::new(usize::MAX),
                stop,
                progress: environment.progress.clone(),
                done: Mutex::default(),
            }),
        })
    }

    /// Whether its source gives all rows: it may be a scan that gives the first ones in some order.
    pub fn has_all_rows(&self) -> bool {
        self.shared.open.scan().is_none_or(|scan| scan.has_all_rows())
    }

    /// Runs all morsels; returns what the workers put into the sink, at least one part unless it only marks.
    pub fn execute(self, environment: &Environment<'_>) -> Result<(Vec<Box<dyn Partial>>, PipelineMetrics)> {
        let runs = self.shared.runs.as_ref().map(Vec::len);
        self.shared.takes_runs.store(runs.is_some(), Ordering::Relaxed);
        let mut done = self.window(0..runs.unwrap_or(self.shared.morsels), environment)?;
        let mut partials = std::mem::take(&mut done.partials);
        if partials.is_empty() {
            partials.extend(self.shared.open.partial()?);
        }
        Ok((partials, self.metrics(&done)))
    }

    /// Number of its morsels.
    pub fn morsels(&self) -> usize {
        self.shared.morsels
    }

    /// The place of a morsel's rows among those of all morsels.
    pub fn place(&self, morsel: usize) -> u64 {
        self.shared.open.place(morsel)
    }

    /// True once some morsel and those before it gave all rows that are wanted.
    pub fn has_enough(&self) -> bool {
        self.shared.enough.load(Ordering::Relaxed)
    }

    /// The first morsel that no worker has begun, after a window that ended before `end`.
    pub fn next_morsel(&self, end: usize) -> usize {
        self.shared.next.load(Ordering::Relaxed).min(end)
    }

    /// Has the workers of the next window pause at `bytes` of rows: they begin no further morsel, and leave the
    /// one that they are at.
    pub fn pause_at(&self, bytes: usize) {
        self.shared.pause_at.store(bytes, Ordering::Relaxed);
    }

    /// Goes on with the morsel of a paused worker on this thread. The errors of the pipeline and of its flag.
    pub fn go_on(&self, worker: &mut Worker, pause_at: usize) -> Result<Flow> {
        self.shared.stop.check()?;
        worker.pause_at(pause_at);
        let flow = self.shared.stop.during(|| worker.go_on())?;
        match flow {
            Flow::Enough => self.shared.enough.store(true, Ordering::Relaxed),
            Flow::Done | Flow::Paused => {}
        }
        if flow != Flow::Paused {
            self.shared.progress.advance(1);
        }
        Ok(flow)
    }

    fn metrics(&self, done: &Done) -> PipelineMetrics {
        PipelineMetrics {
            morsels: self.shared.morsels,
            workers: done.workers,
            rows_in: done.rows,
            handed: done.handed,
            moved_stages: done.moved_stages,
            scan: self.shared.open.scan().map(|s| s.counters()),
            index: self.shared.open.index().map(str::to_string),
            looked_up: (self.shared.open.scan()).and_then(|s| s.looked_up()),
            ..PipelineMetrics::default()
        }
    }

    /// Runs some morsels, or runs of them, on all workers, and ends these.
    pub fn window(&self, morsels: Range<usize>, environment: &Environment<'_>) -> Result<Done> {
        let shared = &self.shared;
        let workers = match shared.open.keeps_order() {
            true => 1,
            false => environment.threads.min(morsels.len()).max(1),
        };
        shared.next.store(morsels.start, Ordering::Relaxed);
        shared.end.store(morsels.end, Ordering::Relaxed);
        let task = shared.clone();
        environment.pool.run(workers, Arc::new(move |_| task.work()));
        let mut done = std::mem::take(&mut *shared.done());
        if let Some(error) = done.error.take() {
            return Err(error);
        }
        if done.began != done.workers {
            return Err(Error::internal("a worker ended without a result"));
        }
        Ok(done)
    }
}

impl Shared {
    fn done(&self) -> MutexGuard<'_, Done> {
        self.done.lock().unwrap_or_else(|e| e.into_inner())
    }

    /// What each worker does.
    fn work(&self) {
        let Some(first) = self.take() else { return };
        self.done().began += 1;
        // What a panic left half-done is the worker's own, and dropped with it.
        let ran = catch_unwind(AssertUnwindSafe(|| self.stop.during(|| self.run_from(first))));
        let ran = ran.unwrap_or_else(|panic| Err(panicked("a worker", panic.as_ref())));
        if let Err(error) = ran {
            let mut done = self.done();
            // The first error is the reason; the siblings only hear that they are to stop.
            done.error.get_or_insert(error);
            self.stop.stop_siblings();
        }
    }

    fn run_from(&self, first: Range<usize>) -> Result<()> {
        let mut worker = self.open.worker()?;
        let most = self.pause_at.load(Ordering::Relaxed);
        worker.pause_at(most);
        let mut taken = Some(first);
        while let Some(morsels) = taken {
            for m in morsels {
                self.stop.check()?;
                match worker.run(m)? {
                    Flow::Done => {}
                    Flow::Enough => self.enough.store(true, Ordering::Relaxed),
                    Flow::Paused => return self.pause(m, worker),
                }
                self.progress.advance(1);
            }
            let has_room = worker.bytes_written() < most;
            taken = has_room.then(|| self.take()).flatten();
        }
        worker.end()?;
        let (rows, handed, moved_stages) = (worker.rows(), worker.handed(), worker.moved_stages());
        let partial = worker.finish();
        let mut done = self.done();
        done.rows += rows;
        done.handed.0 += handed.0;
        done.handed.1 += handed.1;
        done.moved_stages = done.moved_stages.max(moved_stages);
        done.workers += 1;
        done.partials.extend(partial);
        Ok(())
    }

    /// Leaves what a worker has put into the sink, and the worker to go on with its morsel.
    fn pause(&self, morsel: usize, mut worker: Worker) -> Result<()> {
        let writer = worker.take_written()?;
        let mut done = self.done();
        done.workers += 1;
        done.partials.push(Box::new(writer));
        done.paused.push((morsel, worker));
        Ok(())
    }

    /// The next morsels, which are one unless workers take runs: a worker runs all that it takes.
    fn take(&self) -> Option<Range<usize>> {
        if self.enough.load(Ordering::Relaxed) {
            return None;
        }
        let next = self.next.fetch_add(1, Ordering::Relaxed);
        if next >= self.end.load(Ordering::Relaxed) {
            return None;
        }
        match &self.runs {
            Some(runs) if self.takes_runs.load(Ordering::Relaxed) => runs.get(next).cloned(),
            _ => Some(next..next + 1),
        }
    }
}

/// The morsels of a pipeline as runs that one worker best takes whole; `None` if there are none, or too few to keep all workers busy.
fn runs(open: &OpenPipeline, threads: usize) -> Option<Vec<Range<usize>>> {
    let scan = open.scan()?;
    let morsels = open.morsels();
    let starts: Vec<usize> = (0..morsels).filter(|&m| m == 0 || !scan.reads_on(m)).collect();
    let ends = starts.iter().copied().skip(1).chain([morsels]);
    let enough = threads > 1 && starts.len() < morsels && starts.len() >= RUNS_PER_WORKER * threads;
    enough.then(|| starts.iter().zip(ends).map(|(&start, end)| start..end).collect())
}
