//! One pipeline on all its workers: they take morsel after morsel from one counter until there are
//! none, one fails, or the sink has enough.

use crate::Progress;
use crate::metrics::PipelineMetrics;
use crate::run_plan::Environment;
use crate::sinks::Sinks;
use frazil_codegen::{CompiledPlan, Finished, Flow, OpenPipeline, Opening, Partial};
use frazil_plan::pipeline::PipelinePlan;
use frazil_storage::TableSnapshot;
use frazil_types::{Cancel, Error, Result};
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, MutexGuard};

/// A pipeline that is running.
pub struct PipelineRun {
    shared: Arc<Shared>,
}

struct Shared {
    open: Arc<OpenPipeline>,
    morsels: usize,
    next: AtomicUsize,
    enough: AtomicBool,
    cancel: Cancel,
    progress: Arc<Progress>,
    done: Mutex<Done>,
}

/// What workers leave behind.
#[derive(Default)]
struct Done {
    partials: Vec<Partial>,
    rows: u64,
    workers: usize,
    began: usize,
    error: Option<Error>,
}

impl PipelineRun {
    /// Opens pipeline `index`.
    pub fn open(
        plan: &Arc<PipelinePlan>,
        code: &Arc<CompiledPlan>,
        index: usize,
        finished: &Arc<Finished>,
        table: Option<Arc<TableSnapshot>>,
        environment: &Environment<'_>,
        sinks: &mut Sinks,
    ) -> Result<PipelineRun> {
        let opening = Opening {
            table,
            scan: environment.scan.clone(),
            finished,
            buffer: sinks.buffer(plan, index, finished)?,
            budget: environment.budget,
            cancel: environment.cancel,
        };
        let open = Arc::new(OpenPipeline::new(plan, code, index, opening)?);
        let morsels = open.morsels();
        environment.progress.expect(morsels as u64);
        Ok(PipelineRun {
            shared: Arc::new(Shared {
                open,
                morsels,
                next: AtomicUsize::new(0),
                enough: AtomicBool::new(false),
                cancel: environment.cancel.clone(),
                progress: environment.progress.clone(),
                done: Mutex::default(),
            }),
        })
    }

    /// Runs all morsels; returns what the workers put into the sink, at least one part.
    pub fn execute(self, environment: &Environment<'_>) -> Result<(Vec<Partial>, PipelineMetrics)> {
        let shared = self.shared;
        let workers = environment.threads.min(shared.morsels).max(1);
        let task = shared.clone();
        environment.pool.run(workers, Arc::new(move |_| task.work()));
        let done = std::mem::take(&mut *shared.done());
        if let Some(error) = done.error {
            return Err(error);
        }
        if done.began != done.workers {
            return Err(Error::internal("a worker ended without a result"));
        }
        let mut partials = done.partials;
        if partials.is_empty() {
            partials.push(shared.open.empty_partial()?);
        }
        let metrics = PipelineMetrics {
            morsels: shared.morsels,
            workers: done.workers,
            rows_in: done.rows,
            scan: shared.open.scan().map(|s| s.counters()),
            ..PipelineMetrics::default()
        };
        Ok((partials, metrics))
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
        if let Err(error) = self.run_from(first) {
            let mut done = self.done();
            // The first error is the reason; the siblings only hear of the cancel.
            done.error.get_or_insert(error);
            self.cancel.cancel();
        }
    }

    fn run_from(&self, first: usize) -> Result<()> {
        let mut worker = self.open.worker()?;
        let mut morsel = Some(first);
        while let Some(m) = morsel {
            self.cancel.check()?;
            if worker.run(m)? == Flow::Enough {
                self.enough.store(true, Ordering::Relaxed);
            }
            self.progress.advance(1);
            morsel = self.take();
        }
        let rows = worker.rows();
        let partial = worker.finish();
        let mut done = self.done();
        done.rows += rows;
        done.workers += 1;
        done.partials.push(partial);
        Ok(())
    }

    fn take(&self) -> Option<usize> {
        if self.enough.load(Ordering::Relaxed) {
            return None;
        }
        let morsel = self.next.fetch_add(1, Ordering::Relaxed);
        (morsel < self.morsels).then_some(morsel)
    }
}
