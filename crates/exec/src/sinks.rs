//! What workers leave in sinks, gathered until the last pipeline that fills a sink has run (UNION ALL
//! and outer joins fill one from several), then made one object for those that read it.

use crate::run_plan::Environment;
use frazil_codegen::{CompiledPlan, Finished, Partial};
use frazil_plan::pipeline::{Pipeline, PipelinePlan, Sink};
use frazil_runtime::caught_panic::panicked;
use frazil_runtime::{
    AggregateTable, BufferBuild, BufferWriter, GroupMerge, Groups, JoinBuild, JoinTable, SortedRows,
    SortedRun, Sorter,
};
use frazil_types::{Error, Result, RowBatch};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};

/// Build rows below this number are linked by one worker: waking others costs more.
const PARALLEL_ROWS: usize = 1 << 15;

/// Unfinished sinks of a plan.
#[derive(Default)]
pub struct Sinks {
    joins: Vec<JoinBuild>,
    groups: Vec<AggregateTable>,
    sorters: Vec<Sorter>,
    writers: Vec<BufferWriter>,
    // The buffer being filled, and those of plans that interleave: by the pipeline's sink.
    buffers: Vec<(Sink, BufferBuild)>,
    waiting: Vec<(Sink, Vec<Partial>)>,
    written: Vec<RowBatch>,
}

/// Whether two pipelines fill the same object.
fn same_sink(a: &Sink, b: &Sink) -> bool {
    match (a, b) {
        (Sink::JoinBuild(a, _), Sink::JoinBuild(b, _)) => a == b,
        (Sink::Aggregate(a), Sink::Aggregate(b)) => a == b,
        (Sink::Sort(a), Sink::Sort(b)) => a == b,
        (Sink::Buffer(a, _), Sink::Buffer(b, _)) => a == b,
        // A plan writes once.
        (Sink::Write(_), Sink::Write(_)) => true,
        _ => false,
    }
}

impl Sinks {
    /// The buffer that a pipeline's sink fills, if it is one; pipelines of one sink share it.
    pub fn buffer(
        &mut self,
        plan: &PipelinePlan,
        pipeline: usize,
        finished: &Finished,
    ) -> Result<Option<BufferBuild>> {
        let sink = &plan.pipelines[pipeline].sink;
        if let Some((_, known)) = self.buffers.iter().find(|(s, _)| same_sink(s, sink)) {
            return Ok(Some(known.clone()));
        }
        let made = frazil_codegen::buffer_build(plan, pipeline, finished)?;
        self.buffers
            .extend(made.iter().map(|made| (sink.clone(), made.clone())));
        Ok(made)
    }

    /// Adds what the workers of a pipeline left.
    pub fn add(&mut self, sink: &Sink, partials: Vec<Partial>) {
        match self.waiting.iter_mut().find(|(s, _)| same_sink(s, sink)) {
            Some((_, waiting)) => waiting.extend(partials),
            None => self.waiting.push((sink.clone(), partials)),
        }
    }

    /// Finishes the sink of pipeline `index` if no later pipeline fills it too; returns its rows.
    pub fn finish(
        &mut self,
        index: usize,
        plan: &PipelinePlan,
        code: &CompiledPlan,
        finished: &mut Arc<Finished>,
        environment: &Environment<'_>,
    ) -> Result<Option<u64>> {
        let sink = &plan.pipelines[index].sink;
        let later = &plan.pipelines[index + 1..];
        if later.iter().any(|p: &Pipeline| same_sink(&p.sink, sink)) {
            return Ok(None);
        }
        let at = self.waiting.iter().position(|(s, _)| same_sink(s, sink));
        let partials = at.map_or_else(Vec::new, |at| self.waiting.swap_remove(at).1);
        self.sort_out(partials);
        // Nobody else holds it between two pipelines; if somebody did, they would keep the old version.
        let finished = Arc::make_mut(finished);
        let rows = match sink {
            Sink::JoinBuild(id, _) => {
                let spec = code.layouts.joins[id.0].spec.clone();
                let table = JoinTable::new(spec, std::mem::take(&mut self.joins), environment.budget)?;
                let table = link(Arc::new(table), environment)?;
                let rows = table.header.rows;
                finished.joins[id.0] = Some(table);
                rows
            }
            Sink::Aggregate(id) => {
                let groups = merge(std::mem::take(&mut self.groups), environment)?;
                let rows = groups.len() as u64;
                finished.groups[id.0] = Some(Arc::new(groups));
                rows
            }
            Sink::Sort(id) => {
                let sorted = sort(std::mem::take(&mut self.sorters), environment)?;
                let rows = sorted.rows().len() as u64;
                finished.sorted[id.0] = Some(Arc::new(sorted));
                rows
            }
            Sink::Buffer(id, _) => {
                let buffer = self.finish_buffer(sink)?;
                let rows = buffer.rows() as u64;
                for (i, subquery) in plan.subqueries.iter().enumerate() {
                    if subquery == id {
                        finished.subqueries[i] = buffer.scalar()?;
                    }
                }
                finished.buffers[id.0] = Some(Arc::new(buffer));
                rows
            }
            Sink::Write(_) => {
                let buffer = self.finish_buffer(sink)?;
                let rows = buffer.rows() as u64;
                self.written = buffer.into_batches();
                rows
            }
            Sink::Mark => return Ok(None),
        };
        Ok(Some(rows))
    }

    fn sort_out(&mut self, partials: Vec<Partial>) {
        for partial in partials {
            match partial {
                Partial::Join(build) => self.joins.push(*build),
                Partial::Groups(table) => self.groups.push(*table),
                Partial::Sort(sorter) => self.sorters.push(*sorter),
                Partial::Buffer(writer) => self.writers.push(*writer),
                Partial::Mark => {}
            }
        }
    }

    fn finish_buffer(&mut self, sink: &Sink) -> Result<frazil_runtime::RowBuffer> {
        let at = self.buffers.iter().position(|(s, _)| same_sink(s, sink));
        let at = at.ok_or_else(|| Error::internal("a buffer that was never opened"))?;
        let (_, build) = self.buffers.swap_remove(at);
        Ok(build.finish(std::mem::take(&mut self.writers)))
    }

    /// The rows the plan is run for: its result, or what it wants to write.
    pub fn into_result(self, plan: &PipelinePlan, finished: Arc<Finished>) -> Vec<RowBatch> {
        let Some(id) = plan.result else {
            return self.written;
        };
        let buffer = Arc::unwrap_or_clone(finished).buffers.swap_remove(id.0);
        match buffer.map(Arc::try_unwrap) {
            Some(Ok(buffer)) => buffer.into_batches(),
            Some(Err(shared)) => shared.batches().to_vec(),
            None => Vec::new(),
        }
    }
}

/// Runs tasks `0..tasks` on all workers; the first error counts, and no task begins after it. 57014 between tasks once
/// the statement is cancelled.
fn for_all(
    environment: &Environment<'_>,
    tasks: usize,
    task: impl Fn(usize) -> Result<()> + Send + Sync + 'static,
) -> Result<()> {
    let next = AtomicUsize::new(0);
    let error: Arc<Mutex<Option<Error>>> = Arc::default();
    let noted = error.clone();
    let stop = environment.cancel.child();
    let workers = environment.threads.min(tasks);
    environment.pool.run(
        workers,
        Arc::new(move |_| {
            loop {
                let t = next.fetch_add(1, Ordering::Relaxed);
                if t >= tasks {
                    return;
                }
                let checked = || stop.check().and_then(|()| task(t));
                let done = catch_unwind(AssertUnwindSafe(checked));
                let done = done.unwrap_or_else(|panic| Err(panicked("a worker", panic.as_ref())));
                if let Err(e) = done {
                    (noted.lock().unwrap_or_else(|e| e.into_inner())).get_or_insert(e);
                    stop.stop_siblings();
                    return;
                }
            }
        }),
    );
    let error = error.lock().unwrap_or_else(|e| e.into_inner()).take();
    error.map_or(Ok(()), Err)
}

/// Links the rows of a join's table into its directory. 57014 once the statement is cancelled.
fn link(table: Arc<JoinTable>, environment: &Environment<'_>) -> Result<Arc<JoinTable>> {
    let parts = table.parts();
    if environment.threads == 1 || (table.header.rows as usize) < PARALLEL_ROWS {
        for part in 0..parts {
            environment.cancel.check()?;
            table.link_alone(part);
        }
        return Ok(table);
    }
    let shared = table.clone();
    for_all(environment, parts, move |part| {
        shared.link(part);
        Ok(())
    })?;
    Ok(table)
}

/// Makes the workers' groups one.
fn merge(tables: Vec<AggregateTable>, environment: &Environment<'_>) -> Result<Groups> {
    let rows: usize = tables.iter().map(AggregateTable::groups).sum();
    if tables.len() <= 1 || environment.threads == 1 || rows < PARALLEL_ROWS {
        return GroupMerge::run(tables);
    }
    let merge = Arc::new(GroupMerge::new(tables));
    let scatter = merge.clone();
    for_all(environment, merge.scatter_tasks(), move |t| {
        scatter.scatter(t);
        Ok(())
    })?;
    let combine = merge.clone();
    for_all(environment, merge.merge_tasks(), move |t| combine.merge(t))?;
    match Arc::try_unwrap(merge) {
        Ok(merge) => Ok(merge.finish()),
        Err(_) => Err(Error::internal("a merge of groups is still in use")),
    }
}

/// Sorts each worker's rows, then merges the runs.
fn sort(sorters: Vec<Sorter>, environment: &Environment<'_>) -> Result<SortedRows> {
    if sorters.len() <= 1 || environment.threads == 1 {
        return SortedRows::run(sorters);
    }
    let tasks = sorters.len();
    let unsorted: Vec<Mutex<Option<Sorter>>> = sorters.into_iter().map(|s| Mutex::new(Some(s))).collect();
    let runs: Arc<Mutex<Vec<SortedRun>>> = Arc::default();
    let out = runs.clone();
    for_all(environment, tasks, move |t| {
        let sorter = unsorted[t].lock().unwrap_or_else(|e| e.into_inner()).take();
        if let Some(sorter) = sorter {
            let run = sorter.sort()?;
            out.lock().unwrap_or_else(|e| e.into_inner()).push(run);
        }
        Ok(())
    })?;
    let runs = std::mem::take(&mut *runs.lock().unwrap_or_else(|e| e.into_inner()));
    SortedRows::merge(runs)
}
